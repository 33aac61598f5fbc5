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
"""Where the process of a check leaves what came of it."""


class State(Enum):
    """How a check ended."""

    OK = "ok"
    FAILED = "FAILED"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a check.

    Attributes:
        name: of the check.
        state: how it ended.
        told: what was found, what is wrong, or why it was left out; one line.
        duration_s: how long it took, s.
        cpu_s: processor time of its process and of those that it waited for, s; 0 if it did not come to its end.
        details: a traceback, and what the process wrote, as it came.
    """

    name: str
    state: State
    told: str
    duration_s: float
    cpu_s: float = 0.0
    details: str = ""

    @property
    def line(self) -> str:
        """For people: ``ok      core signature: demo 6dec78914440212e (0.4 s)``."""
        return f"{self.state.value:8}{self.name}: {self.told} ({self.duration_s:.1f} s)"


def write_report(path: Path, outcomes: Sequence[Outcome], duration_s: float) -> None:
    """Writes it, as JSON; without outcomes the self-test has not come to its end, which is not a success.

    Raises:
        InputError: if it cannot be written.
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
