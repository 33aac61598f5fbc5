"""The panel of sweeps: a list of sweeps with buttons and a progress bar, and the views of the selected sweep.

The list shows the state of each sweep and the number of its finished runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QStackedLayout,
    QTableView,
    QWidget,
)

from subflow_app.features.sweeps.core.sweep_list import SweepEntry
from subflow_app.features.sweeps.qt.study_page import StudyPage
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import ListBeside
from subflow_app.toolkit.widgets.tables import ROW_ROLE, FollowedTable, select_rows, set_up_table
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn


def done_text(entry: SweepEntry) -> str:
    """Text with the numbers of finished, required and failed runs; during the check, with the number of points read."""
    if entry.state == "checking":
        return tr("{count} points read", count=fmt.count(entry.checked))
    done = tr("{done} of {total}", done=fmt.count(entry.finished), total=fmt.count(entry.runs))
    return tr("{done}, {failed} failed", done=done, failed=fmt.count(entry.failed)) if entry.failed else done


COLUMNS: tuple[Column[SweepEntry], ...] = (
    Column(translatable("Sweep"), lambda e: e.name, widest="Two disjoint paths"),
    NumberColumn(translatable("Runs"), done_text, widest="100 of 100"),
    Column(translatable("State"), lambda e: tr(e.state), is_mark=True, widest="      interrupted"),
    NumberColumn(translatable("Time left"), lambda e: fmt.duration(e.eta_s) if e.goes_on else "", widest="00 min 00 s"),
    Column(translatable("Started"), lambda e: fmt.moment(e.created_at), widest="28 Nov 2026 09:12"),
)


def tip_of(entry: SweepEntry) -> str | None:
    """The reason for a failure, or a note that the sweep runs in another program or can be resumed; may be None."""
    if entry.message:
        return entry.message
    if entry.is_elsewhere:
        return tr("Another program is using it")
    return tr("Can be continued: it makes the missing runs") if entry.can_resume else None


_LIST_WIDTHS = (400, 0.3, 170)


class _SweepList(QTableView):
    """Table of sweeps. In a narrow panel, the column of names becomes narrower than the others."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapts the width of the column of names."""
        super().resizeEvent(event)
        header = self.horizontalHeader()
        usual = self.fontMetrics().horizontalAdvance(COLUMNS[0].widest)
        free = self.viewport().width() - header.sectionSize(1) - header.sectionSize(2)
        header.resizeSection(0, max(usual // 2, min(free, max(usual, header.sectionSize(0)))))


class SweepPanel(QWidget):
    """Shows sweeps. User requests are passed on through actions and signals."""

    selection_changed = Signal()
    menu_requested = Signal(QPoint)  # position on the screen

    def __init__(
        self,
        workers: Workers,
        actions: Sequence[QAction],
        view_actions: Sequence[QAction],
        new: QAction,
        parent: QWidget | None = None,
    ) -> None:
        """Starts with an empty list.

        Args:
            workers: runs background jobs.
            actions: actions shown as buttons above the list.
            view_actions: actions shown as buttons above the views.
            new: action offered while the list is empty.
            parent: owner of the panel.
        """
        super().__init__(parent)
        self.page = StudyPage(workers, view_actions, self)
        self._model = FollowedTable(COLUMNS, lambda e: e.key, self, tip=tip_of, state=lambda e: e.state)
        self.table = _SweepList(self)
        set_up_table(self.table, "sweeps_table", tr("Sweeps"), self._model, menu=self.menu_requested.emit)
        self.table.selectionModel().selectionChanged.connect(lambda _new, _old: self._on_selected())
        self._list = ListBeside("sweeps", self.table, self.page, actions, _LIST_WIDTHS)
        self._list.bar.setAccessibleName(tr("Progress of the sweep"))
        self.empty = EmptyState("sweeps", tr("No sweeps yet"), "", new)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._list)

    def update_rows(self, entries: Sequence[SweepEntry]) -> None:
        """Shows the current state of the sweeps. Keeps the selection, or selects the newest if it was lost."""
        chosen = self.selected()
        is_same = [entry.key for entry in entries] == [row.key for row in self._model.rows]
        self._model.update_rows(entries)
        if not is_same:
            wanted = {entry.key for entry in entries if entry.is_of(chosen)}
            wanted = wanted or ({entries[0].key} if entries else set())
            select_rows(self.table, lambda index: index.data(ROW_ROLE).key in wanted)
            # The table does not report that the selection is lost when it becomes empty.
            self.selection_changed.emit()
        self._stack.setCurrentIndex(1 if entries else 0)
        self._show_progress()

    def select(self, key: tuple[int, int]) -> None:
        """Selects the sweep with this `SweepEntry.key`."""
        select_rows(self.table, lambda index: index.data(ROW_ROLE).key == key)

    def selected(self) -> list[SweepEntry]:
        """The selected sweeps, from top to bottom."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self._model.rows[row] for row in rows]

    def _on_selected(self) -> None:
        self._show_progress()
        self.selection_changed.emit()

    def _show_progress(self) -> None:
        """Shows the total progress of all active sweeps, or of the first selected sweep if no sweep is active."""
        going = [entry for entry in self._model.rows if entry.goes_on] or self.selected()[:1]
        runs = sum(entry.runs for entry in going)
        done = sum(entry.finished + entry.failed for entry in going)
        self._list.show_progress(done / runs if runs else 0.0, _progress_text(going[0]) if len(going) == 1 else "")


def _progress_text(entry: SweepEntry) -> str:
    told = done_text(entry)
    if entry.state == "paused":
        return tr("{done}, paused", done=told)
    if entry.goes_on and not math.isnan(entry.eta_s) and entry.eta_s > 0:
        return tr("{done}, {time} left", done=told, time=fmt.duration(entry.eta_s))
    return told
