"""The numbers that went into a decision, as a table."""

from __future__ import annotations

import math

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.language import tr, translatable
from subflow_sim.decisions import Explanation, Number, meanings

Index = QModelIndex | QPersistentModelIndex

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CLAIM = "is_"


class NumberTable(QAbstractTableModel):
    """A row per number, in the order of the rule."""

    COLUMNS = (translatable("Number"), translatable("Value"), translatable("Unit"), translatable("Meaning"))
    VALUE = 1

    def __init__(self, parent: QObject | None = None) -> None:
        """No numbers."""
        super().__init__(parent)
        self._numbers: tuple[Number, ...] = ()

    def set_decision(self, told: Explanation | None) -> None:
        """Shows the numbers of a decision."""
        self.beginResetModel()
        self._numbers = () if told is None else told.numbers
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """One per number."""
        return 0 if parent.isValid() else len(self._numbers)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Name, value, unit, meaning."""
        return 0 if parent.isValid() else len(self.COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The titles."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return tr(self.COLUMNS[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A cell."""
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == self.VALUE:
            return _RIGHT
        number = self._numbers[index.row()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _meaning(number) or None
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        name = number.name.removeprefix(_CLAIM)
        return (name, value_text(number), number.unit, _meaning(number))[index.column()]


def _meaning(number: Number) -> str:
    """Empty: an older version's number, whose name has to do."""
    return tr(meanings().get(number.name, ""))


def value_text(number: Number) -> str:
    """The value of a number without its name and unit."""
    if number.subflows is not None:
        return "{" + ", ".join(map(str, number.subflows)) + "}"
    if number.name.startswith(_CLAIM):
        return tr("yes") if number.value else tr("no")
    if math.isnan(number.value):
        return "–"
    return f"{number.value:.6g}".replace("inf", "∞")
