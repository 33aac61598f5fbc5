"""A table of text for views."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from subflow_app.toolkit.models.table_model import TableModel
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary.tables import TextTable

_EMPTY = TextTable("", (), ())


class TextTableModel(TableModel[tuple[str, ...]]):
    """Shows a `TextTable` as it is, and how things went in colour."""

    translates = False

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__((), parent)
        self.table = _EMPTY

    def show_table(self, table: TextTable | None) -> None:
        """Shows this table; None: nothing."""
        self.table = table or _EMPTY
        self.show_rows(self.table.rows, self.table.readers)

    def other_data(self, row: tuple[str, ...], column: int, role: int) -> object | None:
        """The text of a cell is its tool tip, too: there may be no room for all of it."""
        if role == Qt.ItemDataRole.ToolTipRole:
            return row[column]
        if role == Qt.ItemDataRole.ForegroundRole and self.columns[column].is_mark:
            tokens = current_tokens()
            colour = {"✓": tokens.ok, "✗": tokens.error}.get(row[column][:1])
            return QColor(colour) if colour else None
        return None
