"""A table of text for views."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.text_table import TextTable

Index = QModelIndex | QPersistentModelIndex
_EMPTY = TextTable("", (), ())


class TextTableModel(QAbstractTableModel):
    """Shows a `TextTable` as it is; numbers stand at the right."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__(parent)
        self.table = _EMPTY

    def show_table(self, table: TextTable | None) -> None:
        """Shows this table; None: nothing."""
        self.beginResetModel()
        self.table = table or _EMPTY
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self.table.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Heading of a column with its unit."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        column = self.table.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{column.title}, {column.unit}" if column.unit else column.title
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell, which is its tool tip too: there may be no room for all of it."""
        if not index.isValid():
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self.table.rows[index.row()][index.column()]
        return self._alignment(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _alignment(self, section: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self.table.columns[section].is_number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
