"""Controllers and schedulers written as text, and a scenario that contains them."""

from __future__ import annotations

from pathlib import Path

CONTROLLER = '''\
"""So many packets more per round trip, half the window on loss."""
gain = option(1, min=0, max=10, unit="pkt", help="Packets more per round trip.")


def on_ack(w, ack):
    left = slow_start(w, ack)
    w.cwnd += gain * left / w.cwnd


def on_loss(w, loss):
    w.ssthresh = max(w.cwnd / 2, 2)
'''
SCHEDULER = '''\
"""The subflow with the least round-trip time."""


def select(subflows, packet):
    return best(subflows, by=lambda s: s.srtt, where=lambda s: s.is_available)
'''
SCENARIO = """\
format = 1
duration = "3s"
[nodes.a]
[nodes.b]
[links.x]
ends = ["a", "b"]
rate = "8Mbit/s"
delay = "20ms"
[links.y]
ends = ["a", "b"]
rate = "8Mbit/s"
delay = "20ms"
[controllers.mine]
script = "mine.py"  # my own
[schedulers.nearest]
script = "nearest.py"
[flows.f]
kind = "mptcp"
from = "a"
to = "b"
paths = [["x"], ["y"]]
controller = { name = "mine", gain = 2 }
scheduler = "nearest"
[[events]]
at = "1s"
flow = "f"
controller = "mine"
"""


def write_scenario(folder: Path, text: str = SCENARIO) -> Path:
    """Writes the scenario with its scripts beside it and returns its path."""
    (folder / "mine.py").write_text(CONTROLLER, encoding="utf-8")
    (folder / "nearest.py").write_text(SCHEDULER, encoding="utf-8")
    path = folder / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    return path
