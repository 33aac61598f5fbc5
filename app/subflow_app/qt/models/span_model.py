"""What each curve did between the cursors A and B, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.language import tr, translatable
from subflow_app.core.plots.reading import Stretch
from subflow_app.qt import format as fmt

Index = QModelIndex | QPersistentModelIndex

COLUMNS = (
    translatable("Plot"),
    translatable("Unit"),
    translatable("Line"),
    translatable("At A"),
    translatable("At B"),
    translatable("Difference"),
    translatable("Per second"),
    translatable("Mean"),
    translatable("Lowest"),
    translatable("Highest"),
)
_TEXTS = 3


class SpanRow(NamedTuple):
    """One curve of one plot."""

    plot: str
    unit: str
    line: str
    values: Stretch


class SpanModel(QAbstractTableModel):
    """A row per visible curve of the plots over time."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._rows: tuple[SpanRow, ...] = ()

    def set_rows(self, rows: Sequence[SpanRow]) -> None:
        """Replaces the rows; the selection stays where the lines are the same."""
        if [row[:_TEXTS] for row in rows] == [row[:_TEXTS] for row in self._rows]:
            self._rows = tuple(rows)
            if rows:
                last = self.index(len(rows) - 1, len(COLUMNS) - 1)
                self.dataChanged.emit(self.index(0, _TEXTS), last, [Qt.ItemDataRole.DisplayRole])
            return
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def text(self) -> str:
        """The whole table with tabs between its cells, as spreadsheets take it."""
        lines = [[tr(title) for title in COLUMNS]]
        for row in self._rows:
            numbers = (f"{value:.9g}" for value in row.values)
            lines.append([row.plot, row.unit, row.line, *("" if text == "nan" else text for text in numbers)])
        return "\n".join("\t".join(line) for line in lines) + "\n"

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Curves."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Names and numbers."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Titles of the columns."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return tr(COLUMNS[section])
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section >= _TEXTS else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Names at the left, numbers at the right."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return row[column] if column < _TEXTS else fmt.number(row.values[column - _TEXTS], 4)
        if role == Qt.ItemDataRole.TextAlignmentRole and column >= _TEXTS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole and column < _TEXTS:
            return row[column]
        return None
