"""This very program as a command, for the processes that it starts of itself."""

from __future__ import annotations

import sys

FIGURE_WORKER = "figure-worker"
"""The command of the process that draws."""
PROBE = "probe"
"""Its first word in the processes in which `subflow bench` measures the window."""


def own_command(name: str) -> list[str]:
    """The words that start Subflow with one of its commands, frozen or not."""
    program = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "subflow_app"]
    return [*program, name]
