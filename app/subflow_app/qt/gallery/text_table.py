"""Tables of a few sentences: columns of wrapped text, rows as high as they need."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from subflow_app.core.language import tr
from subflow_app.core.text_table import TextTable
from subflow_app.qt.gallery.texts import HEADINGS
from subflow_app.qt.theme import Tokens, current_tokens, table_style
from subflow_app.qt.widgets.tables import set_up_table

Index = QModelIndex | QPersistentModelIndex


class TextTableModel(QAbstractTableModel):
    """Shows a `TextTable` of a report; titles are translated, cells are as they are."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._table = TextTable("", (), ())
        self._tokens = current_tokens()

    def show_table(self, table: TextTable) -> None:
        """Shows another one."""
        self.beginResetModel()
        self._table = table
        self.endResetModel()

    @property
    def table(self) -> TextTable:
        """What is shown."""
        return self._table

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours what is met and what is not."""
        self._tokens = tokens
        if self._table.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._table.rows) - 1, len(self._table.columns) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self._table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self._table.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Titles."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._table.columns):
            return None
        return tr(HEADINGS.get(self._table.columns[section].title, "")) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Texts, with the colour of what they say."""
        if not index.isValid() or index.row() >= len(self._table.rows):
            return None
        cell = self._table.rows[index.row()][index.column()]
        column = self._table.columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return cell
        if role == Qt.ItemDataRole.ForegroundRole and column.is_mark:
            colour = {"✓": self._tokens.ok, "✗": self._tokens.error}.get(cell[:1])
            return QColor(colour) if colour else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignTop | (
                Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
            )
        return None


class TextTableView(QTableView):
    """A table whose rows follow the width there is."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """An empty table with this object name and accessible name."""
        super().__init__(parent)
        self.text_model = TextTableModel(self)
        self.setModel(self.text_model)
        set_up_table(self, name, text)
        self.setWordWrap(True)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().sectionResized.connect(lambda *_sizes: self.resizeRowsToContents())
        self.apply_tokens(current_tokens())

    def show_table(self, table: TextTable) -> None:
        """Shows another one."""
        self.text_model.show_table(table)
        self._share_out()

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours."""
        self.setStyleSheet(table_style(tokens))
        self.text_model.apply_tokens(tokens)

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
        needed = [max(self.sizeHintForColumn(column), header.sectionSizeHint(column)) + 12 for column in range(columns)]
        room = self.viewport().width()
        if sum(needed) > room:
            fair = room // columns
            spare = room - sum(width for width in needed if width <= fair)
            long = [width for width in needed if width > fair]
            needed = [width if width <= fair else max(80, spare * width // sum(long)) for width in needed]
        for column, width in enumerate(needed):
            header.resizeSection(column, width)
        self.resizeRowsToContents()
