"""This very program as a command, for the processes that it starts of itself."""

from __future__ import annotations

import sys
from pathlib import Path

FIGURE_WORKER = "figure-worker"
"""The command of the process that draws."""
SELFTEST_CHECK = "selftest-check"
"""The first word in a process that carries out one check of the self-test."""


def is_frozen() -> bool:
    """Whether this is the program as it is delivered, with its own Python."""
    return bool(getattr(sys, "frozen", False))


def bundle_folder() -> Path | None:
    """The folder of the files that came with the frozen program; None if this is not that one."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def own_command(*words: str) -> list[str]:
    """The words that start Subflow with one of its commands, frozen or not; without any, the window."""
    program = [sys.executable] if is_frozen() else [sys.executable, "-m", "subflow_app"]
    return [*program, *words]
