"""Networks for real programs, and the reason why this machine cannot run them."""

from __future__ import annotations

import functools
import sys
from shutil import which

TWO_PATHS = """
format = 1
name = "Two paths"
duration = "20s"

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "20ms"
queue = "60pkt"

[links.lte]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "30ms"
queue = "60pkt"

[flows.upload]
kind = "mptcp"
from = "client"
to = "server"
controller = { name = "uncoupled", base = "cubic" }
paths = [["wifi"], ["lte"]]
"""


@functools.cache
def reason_against(*programs: str) -> str:
    """Why real programs cannot run on this machine; empty if they can."""
    from subflow_app.features.kernel.core.probe import probe_machine

    if not sys.platform.startswith("linux"):
        return "needs Linux"
    missing = [program for program in programs if which(program) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    return "; ".join(probe_machine().reasons_against())
