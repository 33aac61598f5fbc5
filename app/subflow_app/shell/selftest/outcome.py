"""What came of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

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
