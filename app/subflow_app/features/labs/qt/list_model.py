"""The labs as a table: what each is about, and how far the student is."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.other_text import other_text_notice
from subflow_app.features.labs.core.progress import ProgressFolder
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.tables import Column

LEVELS = {
    "beginner": translatable("beginner"),
    "intermediate": translatable("intermediate"),
    "advanced": translatable("advanced"),
}


@dataclass(frozen=True, slots=True)
class ListedLab:
    """A lab in the list.

    Attributes:
        lab: it.
        passed: how many of its steps are passed; None: it was not begun, or not with this text.
        other_text: why what was begun cannot go on here; empty: it can.
    """

    lab: Lab
    passed: int | None
    other_text: str = ""

    @classmethod
    def of(cls, lab: Lab, folder: ProgressFolder) -> ListedLab:
        """A lab with what is kept of it."""
        progress = folder.peek(lab.name)
        other_text = other_text_notice(lab, progress)
        return cls(lab, None if progress is None or other_text else progress.passed(lab), other_text)


def _done(listed: ListedLab) -> str:
    steps = len(listed.lab.steps)
    return "" if listed.passed is None else "✓" if listed.passed == steps else f"{listed.passed} / {steps}"


COLUMNS: tuple[Column[ListedLab], ...] = (
    Column(translatable("No."), lambda listed: listed.lab.number, widest="00"),
    Column(translatable("Lab"), lambda listed: listed.lab.title),
    Column(translatable("Done"), _done, widest="0 / 00"),
    Column(translatable("Minutes"), lambda listed: listed.lab.minutes),
)
