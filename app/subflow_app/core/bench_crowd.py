"""How long the window does not answer while a hundred flows run: what ``subflow bench run-window`` tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from subflow_app.core.errors import AppError

FLOWS = 100
TARGET_MS = 100.0
"""From here on a person notices that a window does not answer."""

_PATIENCE_S = 180.0
_MODULE = "subflow_app.qt.crowd_probe"


@dataclass(frozen=True, slots=True)
class CrowdFigure:
    """The longest time without an answer in one run, with plots, legend, topology and history in view."""

    speed: str
    cpu_ms: float  # of the thread that answers
    wall_ms: float  # other work of the machine is in it
    turns: int


def crowd_text(flows: int = FLOWS, duration_s: float = 4.0) -> str:
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


def measure_crowd() -> tuple[CrowdFigure, ...]:
    """Run the crowd in a window on a screen of memory, in a process of its own, and look at its heartbeat.

    Raises:
        AppError: if the window cannot be shown.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", _MODULE],
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=True,
        )
        return tuple(CrowdFigure(**figure) for figure in json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise AppError(f"the window cannot be measured: {said.strip()}") from error
