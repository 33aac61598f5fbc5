"""Outcomes of the checks of a self-test, and the file that reports them to scripts."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

from subflow_app import __version__
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import json_text
from subflow_app.foundation.paths import is_frozen

ANSWER_FILE = "answer.json"
"""File in which the process of a check writes its result."""


class State(Enum):
    """Result of a check."""

    OK = "ok"
    FAILED = "FAILED"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a check.

    Attributes:
        name: name of the check.
        state: its result.
        told: the finding, the problem, or the reason for skipping; one line.
        duration_s: wall-clock time, s.
        cpu_s: processor time of its process and its finished child processes, s; 0 if it did not complete.
        details: a traceback, and the raw output of the process.
    """

    name: str
    state: State
    told: str
    duration_s: float
    cpu_s: float = 0.0
    details: str = ""

    @property
    def line(self) -> str:
        """Line for the terminal: ``ok core signature: demo 6dec78914440212e (0.4 s)``."""
        return f"{self.state.value:8}{self.name}: {self.told} ({self.duration_s:.1f} s)"


def write_report(path: Path, outcomes: Sequence[Outcome], duration_s: float) -> None:
    """Write the report as JSON; an empty list of outcomes means an incomplete self-test, which counts as failed.

    Raises:
        InputError: if the report cannot be written.
    """
    document = {
        "version": __version__,
        "frozen": is_frozen(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "passed": bool(outcomes) and all(outcome.state is not State.FAILED for outcome in outcomes),
        "duration_s": duration_s,
        "checks": [{**asdict(outcome), "state": outcome.state.value} for outcome in outcomes],
    }
    try:
        path.write_text(json_text(document), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {path} cannot be written: {error.strerror or error}") from error
