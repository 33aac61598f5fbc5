"""Tables as the window has them: whole rows, as high as their text, columns that a person can drag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from subflow_app.toolkit.models import SORT_ROLE, TableModel
from subflow_app.toolkit.theme import Style, set_style, table_style
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

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
