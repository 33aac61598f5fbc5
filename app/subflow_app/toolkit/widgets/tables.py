"""Tables, lists and trees of the window: models of rows with declared columns, and the views that show them.

A list is a table with one column. Tables select whole rows. Rows are as high as their text, and the user can resize
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QEvent,
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

SORT_ROLE = Qt.ItemDataRole.UserRole  # key by which a proxy sorts rows
ROW_ROLE = Qt.ItemDataRole.UserRole + 1  # the object of a row
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_KEPT_ROWS = 2048


class LazyRows(Sequence[RowT]):
    """Rows that are read when they come into view; recently read rows are cached."""

    def __init__(self, count: int, read: Callable[[int], RowT]) -> None:
        """Make `count` rows; ``read`` returns a row by its number."""
        self._count = count
        self._read = lru_cache(_KEPT_ROWS)(read)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> RowT:  # type: ignore[override] # never sliced
        return self._read(number)


class TableModel(QAbstractTableModel, Generic[RowT]):
    """Shows rows in the given order.

    Attributes:
        columns: the columns; each reads its text from a row.
        rows: the rows shown.
        translates: whether titles and tips of columns are English and must be translated.
        aligns_headings: whether headings of numbers are right-aligned like the numbers.
        left: alignment of cells with text.
        right: alignment of cells with numbers.
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
        """Make an empty table; ``tip`` returns the tool tip of a row."""
        super().__init__(parent)
        self.columns = columns
        self.rows: Sequence[RowT] = ()
        self._tip = tip

    def show_rows(self, rows: Sequence[RowT], columns: Sequence[Column[RowT]] | None = None) -> None:
        """Show other rows, with other columns if given."""
        self.beginResetModel()
        self.rows = rows
        if columns is not None:
            self.columns = columns
        self.endResetModel()

    def add_rows(self, rows: Sequence[RowT]) -> None:
        """Append rows: ``rows`` must begin with the rows that are already shown."""
        self.beginInsertRows(QModelIndex(), len(self.rows), len(rows) - 1)
        self.rows = rows
        self.endInsertRows()

    def row_at(self, number: int) -> RowT:
        """The object of a row."""
        return self.rows[number]

    def other_data(self, row: RowT, column: int, role: int) -> object | None:
        """Further properties of a cell besides text, alignment and the tool tip of its row; None by default."""

    def say_changed(self) -> None:
        """Redraw all cells."""
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
        """Title with unit, tool tip and alignment of a column."""
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
        """Text and appearance of a cell."""
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
    """A table whose rows are updated repeatedly, and which redraws only cells that have changed.

    A mark column shows an icon for the state of a row.
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
        """Make an empty table; ``key`` identifies a row across updates, and ``state`` selects its icon."""
        super().__init__(columns, parent, tip=tip)
        self._key = key
        self._state = state
        self._texts: list[list[str]] = []

    def update_rows(self, rows: Sequence[RowT]) -> None:
        """Show these rows; if their keys are unchanged, only changed cells are redrawn."""
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
        """The icon for the state of a row."""
        if role != Qt.ItemDataRole.DecorationRole or self._state is None or not self.columns[column].is_mark:
            return None
        return icon(STATE_ICONS[self._state(row)])


class ListModel(TableModel[RowT]):
    """A list with one text per row."""

    def __init__(
        self,
        text: Callable[[RowT], str],
        parent: QObject | None = None,
        *,
        tip: Callable[[RowT], str | None] | None = None,
    ) -> None:
        """Make an empty list; ``text`` and ``tip`` return the text and the tool tip of a row."""
        super().__init__((Column("", text),), parent, tip=tip)


def bold() -> QFont:
    """The font of the application, bold."""
    font = QFont()
    font.setBold(True)
    return font


_EMPTY = TextTable("", (), ())


class TextTableModel(TableModel[tuple[str, ...]]):
    """Shows a `TextTable`, with the colours of success and failure for marks."""

    translates = False

    def __init__(self, parent: QObject | None = None) -> None:
        """Start without a table."""
        super().__init__((), parent)
        self.table = _EMPTY

    def show_table(self, table: TextTable | None) -> None:
        """Show this table; None shows an empty one."""
        self.table = table or _EMPTY
        self.show_rows(self.table.rows, self.table.readers)

    def other_data(self, row: tuple[str, ...], column: int, role: int) -> object | None:
        """Tool tip and colour of a cell; the tip repeats the text, because the cell may be too narrow."""
        if role == Qt.ItemDataRole.ToolTipRole:
            return row[column]
        if role == Qt.ItemDataRole.ForegroundRole and self.columns[column].is_mark:
            tokens = current_tokens()
            colour = {"✓": tokens.ok, "✗": tokens.error}.get(row[column][:1])
            return QColor(colour) if colour else None
        return None


class TreeModel(QAbstractItemModel):
    """A tree of two levels. The id of an index is 0 for an upper row, else 1 + the number of its upper row."""

    def count(self, above: int | None) -> int:
        """Number of rows below the upper row ``above``; for None, the number of upper rows."""
        raise NotImplementedError

    # ---- QAbstractItemModel ----

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's default
        """The index of a cell; invalid if the cell does not exist."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override] # noqa: B008
        """The upper row of a lower row; invalid for an upper row."""
        above = index.internalId() if index.isValid() else 0
        return self.createIndex(above - 1, 0, 0) if above else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of upper rows, or of rows below the upper row ``parent``."""
        if not parent.isValid():
            return self.count(None)
        return 0 if parent.internalId() or parent.column() > 0 else self.count(parent.row())


# Width of a header in addition to its text, px: margins and the sort arrow.
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
    """Set the object name, the accessible name, the model and the behaviour of a table; returns the table.

    Columns with a declared widest text get the width of this text.

    Args:
        table: the table to set up.
        name: object name.
        text: accessible name for screen readers.
        model: model of the table; None: already set, or set later.
        style: style sheet of the table; None: the style sheet of the application.
        is_single: whether only one row can be selected at a time.
        copy: called by the shortcut for copying while the table has the focus.
        menu: shows the menu of the rows at a screen position.
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
    """A proxy that sorts rows by the sort keys of cells, and filters by the first column, ignoring case."""
    made = QSortFilterProxyModel(parent)
    made.setSourceModel(model)
    made.setSortRole(SORT_ROLE)
    made.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    if filter_role is not None:
        made.setFilterRole(filter_role)
    return made


def set_widths(table: QTableView, columns: Iterable[tuple[str, str]]) -> None:
    """Set the initial width of each column to that of its title or its widest usual cell, whichever is wider."""
    metrics = table.fontMetrics()
    for number, texts in enumerate(columns):
        width = max(map(metrics.horizontalAdvance, texts))
        table.horizontalHeader().resizeSection(number, width + _CELL_PADDING)


class FittedColumns(QObject):
    """Keeps the columns of a table within its width: columns narrower than an equal share stay, the others share.

    The last column receives the room that is left. The model should have tooltips for texts that are cut.
    """

    def __init__(self, table: QTableView) -> None:
        """Fits the present widths, and again after each change of the width of the table."""
        super().__init__(table)
        self._table, self._wanted = table, list[int]()
        table.horizontalHeader().setStretchLastSection(False)
        table.viewport().installEventFilter(self)
        self.want()

    def want(self) -> None:
        """Takes the present widths of the columns as those of a table that is wide enough."""
        header = self._table.horizontalHeader()
        self._wanted = [header.sectionSize(column) for column in range(header.count())]
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fits the columns after a change of the width."""
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        header = self._table.horizontalHeader()
        shown = [
            column for column in range(min(header.count(), len(self._wanted))) if not header.isSectionHidden(column)
        ]
        room = self._table.viewport().width()
        # From the narrowest on, each column receives its width, but at most an equal share of the rest.
        for place, column in enumerate(sorted(shown, key=self._wanted.__getitem__)):
            size = min(self._wanted[column], room // (len(shown) - place))
            header.resizeSection(column, size)
            room -= size
        if shown and room > 0:
            header.resizeSection(shown[-1], header.sectionSize(shown[-1]) + room)


def select_rows(table: QTableView, is_wanted: Callable[[QModelIndex], bool]) -> None:
    """Select exactly the rows whose first cell satisfies a condition; the last one becomes the current row."""
    model, selection = table.model(), table.selectionModel()
    selection.clearSelection()
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        if is_wanted(index):
            selection.select(index, flags)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
