"""The labs as a table: what each is about, and how far the student is."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_app.core.labs.lab import Lab
from subflow_app.core.language import translatable
from subflow_app.core.tables import Column

LEVELS = {
    "beginner": translatable("beginner"),
    "intermediate": translatable("intermediate"),
    "advanced": translatable("advanced"),
}


@dataclass(frozen=True, slots=True)
class ListedLab:
    """A lab, and how many of its steps are passed; None: it was not begun."""

    lab: Lab
    passed: int | None


def _done(listed: ListedLab) -> str:
    steps = len(listed.lab.steps)
    return "" if listed.passed is None else "✓" if listed.passed == steps else f"{listed.passed} / {steps}"


COLUMNS: tuple[Column[ListedLab], ...] = (
    Column(translatable("No."), lambda listed: listed.lab.number, widest="00"),
    Column(translatable("Lab"), lambda listed: listed.lab.title),
    Column(translatable("Done"), _done, widest="0 / 00"),
    Column(translatable("Minutes"), lambda listed: listed.lab.minutes),
)
