"""The table of runs: leaves letters to the window's actions, folds groups by click and by arrow keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from subflow_app.features.history.core.run_columns import NOTE, STARTED
from subflow_app.features.history.core.run_groups import RunGroup
from subflow_app.features.history.qt.run_table import GROUP_ROLE, SHARED_ROLE, RunTable, short_heading
from subflow_app.toolkit.theme import CELL_PADDING
from subflow_app.toolkit.widgets.tables import set_up_table, set_widths
from subflow_app.vocabulary.language import tr
from subflow_store.values import RunRow


class _Names(QStyledItemDelegate):
    """Names that are too long are cut where they agree with those above and below, and keep what tells them apart."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """As usual, with the dots in what is shared; without any, in the middle."""
        super().initStyleOption(option, index)
        if index.data(GROUP_ROLE) is not None:
            # What tells groups apart, such as the number of a sweep, comes first.
            option.textElideMode = Qt.TextElideMode.ElideRight
            return
        option.textElideMode = Qt.TextElideMode.ElideMiddle
        # Without a place it is asked how wide the whole text is.
        if option.rect.width() <= 0:
            return
        room = option.widget.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
        margin = option.widget.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
        width = room.width() - 2 * (margin + CELL_PADDING)
        if option.fontMetrics.horizontalAdvance(option.text) > width:
            option.text = shortened(option.text, index.data(SHARED_ROLE) or 0, option.fontMetrics, width)


def shortened(name: str, shared: int, metrics: QFontMetrics, width: int) -> str:
    """A name that is too long for its cell, cut in what it shares with its neighbours as far as that is enough.

    Args:
        name: the name.
        shared: how many of its characters a neighbour's begins with.
        metrics: of the font.
        width: of the cell, px.
    """
    own = name[shared:]
    room = width - metrics.horizontalAdvance(own)
    if not shared or room < metrics.horizontalAdvance("…"):
        return metrics.elidedText(f"…{own}" if shared else name, Qt.TextElideMode.ElideMiddle, width)
    return metrics.elidedText(name[:shared], Qt.TextElideMode.ElideRight, room) + own


class RunView(QTableView):
    """Whole rows of equal height; several can be selected."""

    opened = Signal()  # the selected runs, by double-click
    note_wanted = Signal()  # of the selected run: too long for a cell

    def __init__(self, model: RunTable, parent: QWidget) -> None:
        """Shows ``model``."""
        super().__init__(parent)
        self._runs = model
        set_up_table(self, "history_table", tr("Stored runs"), model)
        self.setItemDelegateForColumn(0, _Names(self))
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setIconSize(QSize(14, 14))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.set_default_widths()
        started = [each.key for each in model.columns].index(STARTED)
        header.setSortIndicator(started, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.doubleClicked.connect(self._on_double_clicked)

    def set_default_widths(self) -> None:
        """Gives all columns the widths that fit what they hold as a rule."""
        set_widths(self, ((short_heading(column), column.widest) for column in self._runs.columns))

    @property
    def is_editing(self) -> bool:
        """True while a cell is being edited, which a new list would end."""
        return self.state() == QTableView.State.EditingState

    def selected(self) -> list[RunRow]:
        """The selected runs, from top to bottom, each once."""
        # By ranges: an index for each of thousands of rows takes ten times as long.
        parts: Iterable[QItemSelectionRange] = self.selectionModel().selection()  # type: ignore[assignment] # a list
        numbers = sorted({number for part in parts for number in range(part.top(), part.bottom() + 1)})
        rows = (self._runs.row_at(number) for number in numbers)
        # A group stands for all of its runs.
        runs = (run for row in rows for run in (row.rows if isinstance(row, RunGroup) else (row,)))
        return list({run.id: run for run in runs}.values())

    def select(self, run_ids: Collection[int]) -> None:
        """Selects these runs and no others, in one step however many they are; the last one becomes current."""
        numbers = self._runs.row_numbers(set(run_ids))
        selection, last = QItemSelection(), self._runs.columnCount() - 1
        start = 0
        for end in range(1, len(numbers) + 1):
            if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
                selection.select(self._runs.index(numbers[start], 0), self._runs.index(numbers[end - 1], last))
                start = end
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        if numbers:
            self.selectionModel().setCurrentIndex(self._runs.index(numbers[-1], 0), flags.NoUpdate)

    def reveal(self, run_id: int) -> None:
        """Scrolls to a run."""
        numbers = self._runs.row_numbers({run_id})
        if numbers:
            self.scrollTo(self._runs.index(numbers[0], 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Folds groups; keeps typing from jumping to rows: the search field is for that, and letters are shortcuts."""
        index = self.currentIndex()
        row = self._runs.row_at(index.row()) if index.isValid() else None
        if isinstance(row, RunGroup) and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Return):
            is_folded = self._runs.is_folded(row.key)
            folds = not is_folded if event.key() == Qt.Key.Key_Return else event.key() == Qt.Key.Key_Left
            self._fold(index, folds)
            return
        if event.text().isprintable() and event.text() and not event.modifiers():
            event.ignore()
            return
        super().keyPressEvent(event)

    def _fold(self, index: QModelIndex, is_folded: bool) -> None:
        group = self._runs.row_at(index.row())
        assert isinstance(group, RunGroup)
        kept = {row.id for row in self.selected()}
        place = self.verticalScrollBar().value()
        self._runs.fold([group.key], is_folded)
        self.select(kept)
        # The heading stays where it is: what is above it has not changed.
        self.selectionModel().setCurrentIndex(
            self._runs.index(index.row(), 0), QItemSelectionModel.SelectionFlag.NoUpdate
        )
        self.verticalScrollBar().setValue(place)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the arrow of a group folds it; one beside it selects the runs of the group."""
        index = self.indexAt(event.position().toPoint())
        group = self._runs.row_at(index.row()) if index.isValid() else None
        is_on_arrow = index.column() == 0 and event.position().x() - self.visualRect(index).left() < self._arrow_width()
        if isinstance(group, RunGroup) and is_on_arrow and event.button() == Qt.MouseButton.LeftButton:
            self._fold(index, not self._runs.is_folded(group.key))
            event.accept()
            return
        super().mousePressEvent(event)

    def _arrow_width(self) -> int:
        return self.iconSize().width() + 4 * self.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 8

    def _on_double_clicked(self, index: QModelIndex) -> None:
        row = self._runs.row_at(index.row())
        if isinstance(row, RunGroup):
            self._fold(index, not self._runs.is_folded(row.key))
            return
        if self._runs.columns[index.column()].key == NOTE and index.flags() & Qt.ItemFlag.ItemIsEditable:
            if "\n" in row.note:
                self.note_wanted.emit()
            else:
                self.edit(index)
            return
        self.opened.emit()
