"""Tables, lists and trees of the window: models of rows with declared columns, and the tables that show them.

A list is a table of one column. Tables select whole rows, as high as their text; a person can drag their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from subflow_app.toolkit.icons import STATE_ICONS, icon
from subflow_app.toolkit.theme import Style, current_tokens, set_style, table_style
from subflow_app.toolkit.widgets.shorthand import as_written, named
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import Column, RowT, TextTable

Index = QModelIndex | QPersistentModelIndex

SORT_ROLE = Qt.ItemDataRole.UserRole  # what a proxy orders rows by
ROW_ROLE = Qt.ItemDataRole.UserRole + 1  # the thing that a row shows
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_KEPT_ROWS = 2048


class LazyRows(Sequence[RowT]):
    """Rows that are read when they come into view; those seen lately are kept."""

    def __init__(self, count: int, read: Callable[[int], RowT]) -> None:
        """So many, of which ``read`` returns one by its number."""
        self._count = count
        self._read = lru_cache(_KEPT_ROWS)(read)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> RowT:  # type: ignore[override] # nobody asks for a part of them
        return self._read(number)


class TableModel(QAbstractTableModel, Generic[RowT]):
    """Shows rows in the order in which it is given them.

    Attributes:
        columns: read the rows.
        rows: what is shown.
        translates: whether titles and tips of columns are English; else they are in the language of the window already.
        aligns_headings: whether headings of numbers stand at the right, as the numbers do.
        left: where text stands in its cell.
        right: where numbers stand.
    """

    translates = True
    aligns_headings = True
    left, right = LEFT, RIGHT

    def __init__(
        self,
        columns: Sequence[Column[RowT]] = (),
        parent: QObject | None = None,
        *,
        tip: Callable[[RowT], str | None] | None = None,
    ) -> None:
        """An empty table; ``tip`` is the tool tip of a row."""
        super().__init__(parent)
        self.columns = columns
        self.rows: Sequence[RowT] = ()
        self._tip = tip

    def show_rows(self, rows: Sequence[RowT], columns: Sequence[Column[RowT]] | None = None) -> None:
        """Shows these, by other columns if any are given."""
        self.beginResetModel()
        self.rows = rows
        if columns is not None:
            self.columns = columns
        self.endResetModel()

    def add_rows(self, rows: Sequence[RowT]) -> None:
        """Shows these, which begin with the rows shown so far."""
        self.beginInsertRows(QModelIndex(), len(self.rows), len(rows) - 1)
        self.rows = rows
        self.endInsertRows()

    def row_at(self, number: int) -> RowT:
        """The object of a row."""
        return self.rows[number]

    def other_data(self, row: RowT, column: int, role: int) -> object | None:
        """Further properties of a cell: neither text nor alignment nor the tool tip of its row."""

    def say_changed(self) -> None:
        """Has all cells drawn again."""
        if self.rowCount() and self.columns:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(self.columns) - 1))

    # ---- QAbstractTableModel ----

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title with the unit, tool tip and alignment of a column."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            title = tr(column.title) if self.translates else column.title
            return f"{title}, {column.unit}" if column.unit else title
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.tip) if column.tip and self.translates else column.tip or None
        if role == Qt.ItemDataRole.TextAlignmentRole and self.aligns_headings:
            return RIGHT if column.is_number else LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text and look of a cell."""
        if not index.isValid() or index.row() >= self.rowCount():
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.right if column.is_number else self.left
        row = self.row_at(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            tip = self.other_data(row, index.column(), role) if self._tip is None else self._tip(row)
            return as_written(tip) if isinstance(tip, str) else tip
        if role == SORT_ROLE:
            return column.sort_key(row)
        return row if role == ROW_ROLE else self.other_data(row, index.column(), role)


class FollowedTable(TableModel[RowT]):
    """Things that go on: told what they are again and again, it draws only the cells that changed.

    In a column of marks there is the sign of where a thing stands.
    """

    def __init__(
        self,
        columns: Sequence[Column[RowT]],
        key: Callable[[RowT], Hashable],
        parent: QObject | None = None,
        *,
        tip: Callable[[RowT], str | None] | None = None,
        state: Callable[[RowT], str] | None = None,
    ) -> None:
        """An empty table; rows with the same ``key`` are the same, and ``state`` chooses the icon of a row."""
        super().__init__(columns, parent, tip=tip)
        self._key = key
        self._state = state
        self._texts: list[list[str]] = []

    def update_rows(self, rows: Sequence[RowT]) -> None:
        """Shows these; where they are the same as before, only cells that changed are drawn again."""
        before, self._texts = self._texts, [[column.text(row) for column in self.columns] for row in rows]
        if [self._key(row) for row in rows] != [self._key(row) for row in self.rows]:
            self.show_rows(list(rows))
            return
        self.rows = list(rows)
        for number, (old, new) in enumerate(zip(before, self._texts, strict=True)):
            changed = [column for column in range(len(self.columns)) if old[column] != new[column]]
            if changed:
                self.dataChanged.emit(self.index(number, changed[0]), self.index(number, changed[-1]))

    def other_data(self, row: RowT, column: int, role: int) -> object | None:
        """The sign of where a thing stands."""
        if role != Qt.ItemDataRole.DecorationRole or self._state is None or not self.columns[column].is_mark:
            return None
        return icon(STATE_ICONS[self._state(row)])


class ListModel(TableModel[RowT]):
    """A list: a text of each row."""

    def __init__(
        self,
        text: Callable[[RowT], str],
        parent: QObject | None = None,
        *,
        tip: Callable[[RowT], str | None] | None = None,
    ) -> None:
        """An empty list."""
        super().__init__((Column("", text),), parent, tip=tip)


def bold() -> QFont:
    """The font of the application, bold."""
    font = QFont()
    font.setBold(True)
    return font


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


class TreeModel(QAbstractItemModel):
    """The id of an index is 0 for an upper row, else one more than the number of the row that it is below."""

    def count(self, above: int | None) -> int:
        """Number of the rows below an upper row; None: of the upper rows."""
        raise NotImplementedError

    # ---- QAbstractItemModel ----

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's default
        """The index of a cell; invalid if there is none."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override] # noqa: B008
        """The upper row of one below."""
        above = index.internalId() if index.isValid() else 0
        return self.createIndex(above - 1, 0, 0) if above else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of upper rows, or of those below one."""
        if not parent.isValid():
            return self.count(None)
        return 0 if parent.internalId() or parent.column() > 0 else self.count(parent.row())


# What a header needs besides its text, px: margins and the sort arrow.
_CELL_PADDING = 24


T = TypeVar("T", bound=QTableView)


def set_up_table(
    table: T,
    name: str,
    text: str,
    model: QAbstractItemModel | None = None,
    *,
    style: Style | None = table_style,
    is_single: bool = False,
    copy: Callable[[], None] | None = None,
    menu: Callable[[QPoint], None] | None = None,
) -> T:
    """Gives a table its object name, its accessible name, its model and its ways; returns it.

    Columns that say what they hold at most get the widths for it.

    Args:
        table: what is set up.
        name: of the object.
        text: what it is, for screen readers.
        model: what it shows; None: it has one, or gets one later.
        style: its style sheet; None: that of the application.
        is_single: whether one row can be selected alone.
        copy: what its keys for copying do; the window has its own copying.
        menu: shows the menu of the rows at a place of the screen.
    """
    if style is not None:
        set_style(table, style)
    named(table, name, text)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 8)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setStretchLastSection(True)
    if model is not None:
        table.setModel(model)
    if isinstance(model, TableModel) and any(column.widest for column in model.columns):
        set_widths(table, ((tr(column.title), column.widest) for column in model.columns))
    if is_single:
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    if copy is not None:
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), table)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(copy)
    if menu is not None:
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(lambda at: menu(table.viewport().mapToGlobal(at)))
    return table


def sorting(model: QAbstractItemModel, parent: QObject, filter_role: int | None = None) -> QSortFilterProxyModel:
    """Lets rows be sorted by what cells are worth, and be found, in their first column, whatever the case."""
    made = QSortFilterProxyModel(parent)
    made.setSourceModel(model)
    made.setSortRole(SORT_ROLE)
    made.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    if filter_role is not None:
        made.setFilterRole(filter_role)
    return made


def set_widths(table: QTableView, columns: Iterable[tuple[str, str]]) -> None:
    """Gives columns their first widths: of each its title, and what its cells hold at most as a rule."""
    metrics = table.fontMetrics()
    for number, texts in enumerate(columns):
        width = max(map(metrics.horizontalAdvance, texts))
        table.horizontalHeader().resizeSection(number, width + _CELL_PADDING)


def select_rows(table: QTableView, is_wanted: Callable[[QModelIndex], bool]) -> None:
    """Selects these rows, told by their first cells, and no others; the last one becomes the current one."""
    model, selection = table.model(), table.selectionModel()
    selection.clearSelection()
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        if is_wanted(index):
            selection.select(index, flags)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
