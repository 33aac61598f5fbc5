"""A scenario that runs in a few milliseconds, and sweep plans over it."""

from __future__ import annotations

from typing import Any

from subflow_app.features.sweeps.core.plan_file import read_plan
from subflow_app.features.sweeps.core.sweep_plan import SweepPlan

SCENARIO = """\
format = 1
name = "Short"
duration = "1s"  # so that it takes milliseconds

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["server", "client"]
rate = "4Mbit/s"
delay = "10ms"
queue = "20pkt"
loss = "1%"

[links.lte]
ends = ["server", "client"]
rate = "2Mbit/s"
delay = "30ms"
queue = "20pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]
"""

LOSS = "links.wifi.loss"
CONTROLLER = "flows.download.controller"


def plan(**changes: Any) -> SweepPlan:
    """Three losses, two controllers and two seeds, unless changed; None removes a key."""
    tree = {
        "format": 1,
        "name": "Loss",
        "scenario_text": SCENARIO,
        "seeds": "1..2",
        "axes": {LOSS: ["0%", "1%", "2%"], CONTROLLER: ["lia", "olia"]},
    }
    return read_plan({key: value for key, value in (tree | changes).items() if value is not None})
