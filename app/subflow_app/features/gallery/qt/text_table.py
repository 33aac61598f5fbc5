"""Tables of a few sentences: columns of wrapped text, rows as high as they need."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from subflow_app.toolkit.models.text_table_model import TextTableModel
from subflow_app.toolkit.theme import CELL_PADDING
from subflow_app.toolkit.widgets.tables import set_up_table
from subflow_app.vocabulary.tables import TextTable

_MOST_SHARE = 0.4  # of the width


class _WrappedTable(TextTableModel):
    """Cells of several lines begin at the same height."""

    translates = True
    aligns_headings = False
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop


class TextTableView(QTableView):
    """A table whose rows follow the width there is."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """An empty table with this object name and accessible name."""
        super().__init__(parent)
        self.text_model = _WrappedTable(self)
        self.setModel(self.text_model)
        set_up_table(self, name, text)
        self.setWordWrap(True)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().sectionResized.connect(lambda *_sizes: self.resizeRowsToContents())

    def show_table(self, table: TextTable) -> None:
        """Shows another one."""
        self.text_model.show_table(table)
        self._share_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Gives columns their share of the new width."""
        super().resizeEvent(event)
        self._share_out()

    def _share_out(self) -> None:
        """Columns get what their texts need, and those with long texts share what is left."""
        columns = self.text_model.columnCount()
        if not columns:
            return
        header = self.horizontalHeader()
        # A last section that takes what is left would take it from those before it.
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        # Not what the view has in mind, which is how wide a cell is that has been broken into lines already.
        rows, width_of = self.text_model.table.rows, self.fontMetrics().horizontalAdvance
        needed = [
            max([header.sectionSizeHint(column), *(width_of(row[column]) + 2 * CELL_PADDING for row in rows)]) + 12
            for column in range(columns)
        ]
        room = self.viewport().width()
        if sum(needed) > room:
            fair = room // columns
            spare = room - sum(width for width in needed if width <= fair)
            # A single cell of many words would leave the others a word a line.
            most = round(_MOST_SHARE * room)
            long = sum(min(width, most) for width in needed if width > fair)
            needed = [width if width <= fair else max(80, spare * min(width, most) // long) for width in needed]
        for column, width in enumerate(needed):
            header.resizeSection(column, width)
        self.resizeRowsToContents()
