"""The panel of the queue: how far it is as a whole, its runs, and what can be done with them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QSpinBox,
    QStackedLayout,
    QTableView,
    QWidget,
)

from subflow_app.features.running.core.run_queue import QueueEntry
from subflow_app.features.running.qt.queue.table_model import COLUMNS
from subflow_app.foundation.jobs.progress import JobProgress, JobState
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.models.table_model import ROW_ROLE, FollowedTable
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.action_buttons import action_buttons
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.share_bar import ShareBar
from subflow_app.toolkit.widgets.shorthand import h_box, named, v_box
from subflow_app.toolkit.widgets.tables import select_rows, set_up_table
from subflow_app.vocabulary.language import tr

_MOST_PARALLEL = 64


class QueuePanel(QWidget):
    """Shows a queue; what it is asked goes out as actions and signals."""

    selection_changed = Signal()
    menu_requested = Signal(QPoint)  # where, on the screen
    parallel_chosen = Signal(int)

    def __init__(self, actions: Sequence[QAction], add: QAction, parallel: int, parent: QWidget | None = None) -> None:
        """An empty queue.

        Args:
            actions: become buttons.
            add: offered while the queue is empty.
            parallel: how many runs go on at once.
            parent: owns it.
        """
        super().__init__(parent)
        self.setObjectName("queue_panel")
        self._model = FollowedTable(
            COLUMNS, lambda e: e.number, self, tip=lambda e: e.note or None, state=lambda e: e.state
        )
        self.table = QTableView(self)
        set_up_table(
            self.table, "queue_table", tr("Queued runs"), self._model, style=None, menu=self.menu_requested.emit
        )
        self.table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._bar = named(ShareBar(self), "queue_progress", tr("Progress of the queue"))
        self._text = named(muted(Label(self)), "queue_text")
        self.parallel = named(QSpinBox(self), "queue_parallel", tr("Runs at once"))
        self.parallel.setRange(1, _MOST_PARALLEL)
        self.parallel.setValue(parallel)
        self.parallel.valueChanged.connect(self.parallel_chosen)
        at_once = Label(tr("At once"), self), self.parallel
        top = h_box(None, *action_buttons(actions), 8, (self._bar, 1), self._text, 8, *at_once, margins=(6, 4, 6, 4))
        self._empty = EmptyState(
            "queue",
            tr("Nothing is queued"),
            tr("Queue the scenario with several seeds and controllers; the runs continue beside your work."),
            add,
        )
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.table)
        v_box(self, top, (self._stack, 1), margins=0, spacing=0)

    def update_rows(self, entries: Sequence[QueueEntry], progress: JobProgress) -> None:
        """Shows the queue as it is now; what is selected stays selected."""
        chosen = set(self.selected_numbers())
        is_same = [entry.number for entry in entries] == [row.number for row in self._model.rows]
        self._model.update_rows(entries)
        if not is_same:
            select_rows(self.table, lambda index: index.data(ROW_ROLE).number in chosen)
        self._stack.setCurrentIndex(1 if entries else 0)
        self._bar.show_share(progress.fraction if entries else 0.0)
        self._text.setText(self._progress_text(progress) if entries else "")

    def selected(self) -> list[QueueEntry]:
        """The selected runs, in the order of the table."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self._model.rows[row] for row in rows]

    def selected_numbers(self) -> list[int]:
        """Their numbers."""
        return [entry.number for entry in self.selected()]

    def select_all(self) -> None:
        """Selects every run."""
        self.table.selectAll()

    @staticmethod
    def _progress_text(progress: JobProgress) -> str:
        done = tr("{done} of {total} runs", done=progress.finished, total=progress.runs)
        is_paused = progress.state is JobState.PAUSED
        if math.isnan(progress.eta_s) or progress.eta_s <= 0:
            return tr("{done}, paused", done=done) if is_paused else done
        if is_paused:
            return tr("{done}, paused, {time} left", done=done, time=fmt.duration(progress.eta_s))
        return tr("{done}, {time} left", done=done, time=fmt.duration(progress.eta_s))

    def _on_selection_changed(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        self.selection_changed.emit()
