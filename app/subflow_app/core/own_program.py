"""This very program as a command, for the processes that it starts of itself."""

from __future__ import annotations

import sys

FIGURE_WORKER = "figure-worker"
"""The command of the process that draws."""
PROBE = "probe"
"""Its first word in the processes in which `subflow bench` measures the window."""
SELFTEST_CHECK = "selftest-check"
"""The first word in a process that carries out one check of the self-test."""


def own_command(*words: str) -> list[str]:
    """The words that start Subflow with one of its commands, frozen or not; without any, the window."""
    program = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "subflow_app"]
    return [*program, *words]
