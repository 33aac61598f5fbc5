"""Tables as the window has them: whole rows, as high as their text, columns that a person can drag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from subflow_app.core.language import tr
from subflow_app.core.tables import Column
from subflow_app.qt.theme import Style, set_style, table_style

# What a header needs besides its text, px: margins and the sort arrow.
_CELL_PADDING = 24


def set_up_table(table: QTableView, name: str, text: str, style: Style | None = table_style) -> None:
    """Gives a table its object name, its accessible name and its ways; how many rows can be selected is its owner's."""
    if style is not None:
        set_style(table, style)
    table.setObjectName(name)
    table.setAccessibleName(text)
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


def set_widths(table: QTableView, columns: Iterable[tuple[str, str]]) -> None:
    """Gives columns their first widths: of each its title, and what its cells hold at most as a rule."""
    metrics = table.fontMetrics()
    for number, texts in enumerate(columns):
        width = max(map(metrics.horizontalAdvance, texts))
        table.horizontalHeader().resizeSection(number, width + _CELL_PADDING)


def set_column_widths(table: QTableView, columns: Iterable[Column[Any]]) -> None:
    """The same of columns that say themselves what they hold at most."""
    set_widths(table, ((tr(column.title), column.widest) for column in columns))


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
