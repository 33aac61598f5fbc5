"""How long the window does not answer while a hundred flows run: what ``subflow bench run-window`` tells."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_app.bench.probe import ask_probe

FLOWS = 100
TARGET_MS = 100.0
"""From here on a person notices that a window does not answer."""

_PATIENCE_S = 180.0
_PROBE = "many_flows"


@dataclass(frozen=True, slots=True)
class ManyFlowsFigure:
    """The longest time without an answer in one run, with plots, legend, topology and history in view."""

    speed: str
    cpu_ms: float  # of the thread that answers
    wall_ms: float  # other work of the machine is in it
    turns: int


def many_flows_text(flows: int = FLOWS, duration_s: float = 4.0) -> str:
    """Write a scenario of that many flows over the same two links."""
    return f"""\
format = 1
name = "A crowd"
duration = "{duration_s:g}s"
seed = 3

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "40Mbit/s"
delay = "10ms"
queue = "200pkt"

[links.lte]
ends = ["client", "server"]
rate = "20Mbit/s"
delay = "30ms"
queue = "200pkt"

[flows.crowd]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
count = {flows}
paths = [["wifi"], ["lte"]]
"""


def measure_many_flows() -> tuple[ManyFlowsFigure, ...]:
    """Run many flows in a window on a screen of memory, in a process of its own, and look at its heartbeat.

    Raises:
        AppError: if the window cannot be shown.
    """
    told = ask_probe(_PROBE, "the window cannot be measured", _PATIENCE_S)
    return tuple(ManyFlowsFigure(**figure) for figure in told)
