"""The rate that the link emulator carries in real time: one CUBIC connection of the kernel over a link of each rate.

Needs Linux, and root or unprivileged user namespaces.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from subflow_app.features.kernel.core.plan import plan_network
from subflow_app.features.kernel.core.worker_process import ask_worker
from subflow_sim.portable import links_document
from subflow_sim.scenario import parse_scenario

_RATES_MBIT = (100, 300, 500, 800)
_DURATION_S = 8
_WARMUP_S = 2
_SLOWEST_MBIT = 1
_PACKET_BITS = 1500 * 8
_SCENARIO = f"""\
format = 1
name = "ceiling"
duration = "{_DURATION_S}s"
warmup = "{_WARMUP_S}s"
nodes = {{ sender = {{}}, receiver = {{}} }}
[links.link]
ends = ["sender", "receiver"]
rate = "{_SLOWEST_MBIT}Mbit/s"
delay = "5ms"
reverse = {{ queue = "10000pkt" }}
[flows.flow]
kind = "tcp"
from = "sender"
to = "receiver"
controller = "cubic"
paths = [["link"]]
"""


def document() -> dict[str, Any]:
    """Goodput, share of a core, packets per second and lateness at each rate."""
    return {f"{rate} Mbit/s": _carried(rate) for rate in _RATES_MBIT}


def _carried(rate_mbit: int) -> dict[str, float]:
    queue_pkts = round(rate_mbit * 1e6 * 0.012 / _PACKET_BITS) + 50
    queue = f"links.link.queue={queue_pkts}pkt"
    scenario = parse_scenario(_SCENARIO, overrides=(f"links.link.rate={rate_mbit}Mbit/s", queue))
    # The plan limits the total rate of networks that run side by side, so it is made for a slow link.
    slow = plan_network(parse_scenario(_SCENARIO, overrides=(queue,)), seed=1)
    plan = replace(slow, document=links_document(scenario, 1))
    answer = ask_worker({"networks": [plan.to_json()]}, timeout_s=_DURATION_S + 30)
    emulator = answer["emulator"]
    return {
        "goodput_mbit_per_s": answer["networks"][0]["flows"][0]["goodput_bps"] / 1e6,
        "cores": emulator["cpu_s"] / _DURATION_S,
        "packets_per_s": emulator["packets"] / _DURATION_S,
        "late_p99_ms": emulator["lateness"]["p99_s"] * 1e3,
        "late_max_ms": emulator["lateness"]["max_s"] * 1e3,
    }
