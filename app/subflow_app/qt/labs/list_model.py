"""The labs as a table: what each is about, and how far the student is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.labs.lab import Lab
from subflow_app.core.language import tr, translatable

COLUMNS = (
    translatable("No."),
    translatable("Lab"),
    translatable("Done"),
    translatable("Minutes"),
)
LEVELS = {
    "beginner": translatable("beginner"),
    "intermediate": translatable("intermediate"),
    "advanced": translatable("advanced"),
}

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ListedLab:
    """A lab, and how many of its steps are passed; None: it was not begun."""

    lab: Lab
    passed: int | None


class LabListModel(QAbstractTableModel):
    """Row by row a lab."""

    def __init__(self, parent: QObject | None = None) -> None:
        """No labs yet."""
        super().__init__(parent)
        self._labs: tuple[ListedLab, ...] = ()

    @property
    def labs(self) -> tuple[ListedLab, ...]:
        """All of them."""
        return self._labs

    def set_labs(self, labs: Sequence[ListedLab]) -> None:
        """Lists these."""
        self.beginResetModel()
        self._labs = tuple(labs)
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        """How many there are."""
        return 0 if parent is not None and parent.isValid() else len(self._labs)

    def columnCount(self, parent: _Index | None = None) -> int:
        """How much is said of each."""
        return 0 if parent is not None and parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        """Titles of the columns."""
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return tr(COLUMNS[section])
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """What a cell says."""
        if not index.isValid():
            return None
        listed = self._labs[index.row()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(listed.lab.goals)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        lab, steps = listed.lab, len(listed.lab.steps)
        done = "" if listed.passed is None else "✓" if listed.passed == steps else f"{listed.passed} / {steps}"
        return (str(lab.number), lab.title, done, str(lab.minutes))[index.column()]
