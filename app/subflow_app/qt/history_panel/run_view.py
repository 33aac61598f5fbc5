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
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from subflow_app.core.history.run_columns import NOTE, STARTED
from subflow_app.core.history.run_groups import RunGroup
from subflow_app.core.language import tr
from subflow_app.qt.models.run_table import RunTable, heading
from subflow_app.qt.widgets.tables import set_up_table, set_widths
from subflow_store.values import RunRow


class _Names(QStyledItemDelegate):
    """Names that are too long keep beginning and end: those of a run and its forks differ at the end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """As usual, with the dots in the middle."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideMiddle


class RunView(QTableView):
    """Whole rows of equal height; several can be selected."""

    opened = Signal()  # the selected runs, by double-click
    note_wanted = Signal()  # of the selected run: too long for a cell

    def __init__(self, model: RunTable, parent: QWidget) -> None:
        """Shows ``model``."""
        super().__init__(parent)
        self._runs = model
        set_up_table(self, "history_table", tr("Stored runs"))
        self.setModel(model)
        self.setItemDelegateForColumn(0, _Names(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
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
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(self._on_double_clicked)

    def set_default_widths(self) -> None:
        """Gives all columns the widths that fit what they hold as a rule."""
        set_widths(self, ((heading(column), column.widest) for column in self._runs.columns))

    def selected(self) -> list[RunRow]:
        """The selected runs, from top to bottom, each once."""
        # By ranges: an index for each of thousands of rows takes ten times as long.
        parts: Iterable[QItemSelectionRange] = self.selectionModel().selection()  # type: ignore[assignment] # a list
        numbers = sorted({number for part in parts for number in range(part.top(), part.bottom() + 1)})
        rows = (self._runs.row_at(number) for number in numbers)
        return list({row.id: row for row in rows if isinstance(row, RunRow)}.values())

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
            is_folded = self._runs.is_folded(row.label)
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
        self._runs.fold(group.label, is_folded)
        self.select(kept)
        # The heading stays where it is: what is above it has not changed.
        self.selectionModel().setCurrentIndex(
            self._runs.index(index.row(), 0), QItemSelectionModel.SelectionFlag.NoUpdate
        )
        self.verticalScrollBar().setValue(place)

    def _on_clicked(self, index: QModelIndex) -> None:
        group = self._runs.row_at(index.row())
        if isinstance(group, RunGroup):
            self._fold(index, not self._runs.is_folded(group.label))

    def _on_double_clicked(self, index: QModelIndex) -> None:
        row = self._runs.row_at(index.row())
        if not isinstance(row, RunRow):
            return
        if self._runs.columns[index.column()].key == NOTE and index.flags() & Qt.ItemFlag.ItemIsEditable:
            if "\n" in row.note:
                self.note_wanted.emit()
            else:
                self.edit(index)
            return
        self.opened.emit()
