"""What a run ran on, for the record that makes a result reproducible."""

from __future__ import annotations

import os
import platform
import socket
from functools import cache
from pathlib import Path


@cache
def describe_machine() -> dict[str, str]:
    """Host, operating system, processor, number of cores and Python version of this machine, as text."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or 0),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """The processor's marketing name where the system tells it, else its architecture."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return platform.machine()
