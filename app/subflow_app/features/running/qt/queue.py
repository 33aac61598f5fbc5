"""The queue of runs of one window: a session, and a panel with a table of the runs.

The session connects the queue to the scenario, the database, the history and the panel. The panel shows the progress of
the whole queue, its runs with their states and failures, and buttons for the actions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QItemSelection, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QSpinBox,
    QStackedLayout,
    QTableView,
    QWidget,
)

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of_document
from subflow_app.features.running.core.run_queue import QueuedRun, QueueEntry, RunQueue, default_parallel
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.progress import JobProgress, JobState
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.action_bar import COMPLETE, VALID, ActionSpec, Scope, possible
from subflow_app.toolkit.feature import Feature, FeatureHolder
from subflow_app.toolkit.ports import StudyPorts
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.list_beside import ShareBar, action_buttons
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, timer, v_box
from subflow_app.toolkit.widgets.tables import ROW_ROLE, FollowedTable, select_rows, set_up_table
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.core.runs import RunJob
    from subflow_app.features.running.qt.unsaved_runs import UnsavedRuns
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.preferences import Preferences
    from subflow_store import Store


def _kept(entry: QueueEntry) -> str:
    kept = "" if entry.run_id is None else tr("run {number}", number=entry.run_id)
    return ", ".join(text for text in (kept, entry.note) if text)


COLUMNS: tuple[Column[QueueEntry], ...] = (
    Column(translatable("Run"), lambda e: e.name, widest="Two disjoint paths, balia"),
    NumberColumn(translatable("Seed"), lambda e: e.seed, widest="12345"),
    Column(translatable("State"), lambda e: tr(e.state), is_mark=True, widest="      cancelled"),
    NumberColumn(translatable("Done"), lambda e: fmt.ratio(e.fraction, 2), widest="100 %"),
    NumberColumn(
        translatable("Time left"),
        lambda e: fmt.duration(e.eta_s) if e.state is JobState.RUNNING else "",
        widest="00 min 00 s",
    ),
    Column(translatable("Kept as"), _kept, widest="run 12345"),
)


_MOST_PARALLEL = 64


class QueuePanel(QWidget):
    """Shows the runs and the progress of the queue. User requests are passed on through actions and signals."""

    selection_changed = Signal()
    menu_requested = Signal(QPoint)  # position on the screen
    parallel_chosen = Signal(int)

    def __init__(self, actions: Sequence[QAction], add: QAction, parallel: int, parent: QWidget | None = None) -> None:
        """Starts with an empty queue.

        Args:
            actions: actions shown as buttons.
            add: action offered while the queue is empty.
            parallel: initial number of simultaneous runs.
            parent: owner of the panel.
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
        self._text = named(muted(ElidedLabel(self)), "queue_text")
        self.parallel = named(QSpinBox(self), "queue_parallel", tr("Runs at once"))
        self.parallel.setRange(1, _MOST_PARALLEL)
        self.parallel.setValue(parallel)
        self.parallel.valueChanged.connect(self.parallel_chosen)
        at_once = Label(tr("At once"), self), self.parallel
        buttons = h_box(None, *action_buttons(actions), 8, (None, 1), *at_once, margins=(6, 4, 6, 0))
        state = h_box(None, (self._bar, 1), (self._text, 1), margins=(6, 2, 6, 4))
        self._empty = EmptyState(
            "queue",
            tr("Nothing is queued"),
            tr("Queue the scenario: its runs continue beside your work. Compare runs controllers over several seeds."),
            add,
        )
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.table)
        v_box(self, buttons, state, (self._stack, 1), margins=0, spacing=0)

    def update_rows(self, entries: Sequence[QueueEntry], progress: JobProgress) -> None:
        """Shows the current state of the queue without changing the selection."""
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
        """Numbers of the selected runs."""
        return [entry.number for entry in self.selected()]

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


QUEUE_BUTTONS = ("add", "toggle", "cancel", "retry", "up", "down", "remove", "clear")
QUEUE_MENU = (
    "queue.cancel",
    "queue.retry",
    "-",
    "queue.up",
    "queue.down",
    "-",
    "queue.remove",
    "queue.clear",
)
"""Menu of the actions on the selected runs of the queue."""

_REFRESH_MS = 250


class QueuePorts(StudyPorts, Protocol):
    """Parts of the window that the queue uses."""

    documents: Documents
    history: History
    unsaved: UnsavedRuns
    dialogs: Dialogs
    preferences: Preferences

    def tell_failure(self, error: Exception) -> None:
        """Shows an error."""


class QueueSession(Feature):
    """The queue of one window, its panel, and the actions on it."""

    panel_name = "queue"
    panel: QueuePanel

    stored = Signal()  # the list of stored runs may have changed
    fork_began = Signal(object)  # RunJob of a fork
    fork_ticked = Signal()  # forks in progress may have more samples
    fork_ended = Signal(object, object)  # RunJob, RunResult of a fork

    def __init__(self, ports: QueuePorts) -> None:
        """Creates the queue and its panel, and connects them to other parts of the window."""
        super().__init__()
        bar, preferences = ports.bar, ports.preferences
        buttons = [bar[f"queue.{name}"] for name in QUEUE_BUTTONS]
        panel = self.panel = QueuePanel(buttons, bar["queue.add"], default_parallel())
        self._documents = ports.documents
        self._database = ports.database
        self._unsaved = ports.unsaved
        self._dialogs = ports.dialogs
        self.queue = RunQueue(
            self._store, lambda: preferences.settings.sample_interval_s, parallel=panel.parallel.value()
        )
        self._state: object = None
        self._forks: list[RunJob] = []  # forks that are still running
        self._timer = timer(self, self.refresh, _REFRESH_MS)
        self._estimator = LatestReader(ports.workers, self, "estimate queue")
        self._estimator.failed.connect(ports.tell_failure)
        panel.parallel_chosen.connect(self.queue.set_parallel)
        panel.selection_changed.connect(self.changed)
        panel.menu_requested.connect(lambda position: bar.pop_up(QUEUE_MENU, position))
        self.stored.connect(ports.history.reload)

    def possible(self) -> frozenset[str]:
        """Names of the possible actions on the queue and its selected runs."""
        found = set()
        entries = self.queue.entries()
        if self.queue.is_busy:
            found.add("toggle")
        if any(entry.state is JobState.FINISHED for entry in entries):
            found.add("clear")
        for entry in self.panel.selected():
            if not entry.state.is_over:
                found.add("cancel")
            if entry.state in (JobState.FAILED, JobState.CANCELLED):
                found.add("retry")
            if entry.state is JobState.WAITING:
                found.add("move")
            if entry.state is not JobState.RUNNING:
                found.add("remove")
        return frozenset(f"queue.{what}" for what in found)

    def add(self) -> None:
        """Queues the open scenario."""
        source = self._source()
        if source is not None:
            self._add([QueuedRun(source, source.scenario.name)])

    def add_run(self, run: QueuedRun) -> None:
        """Queues a prepared run."""
        self._add([run])

    def toggle(self) -> None:
        """Pauses or resumes the whole queue."""
        if self.queue.is_paused:
            self.queue.unpause()
        else:
            self.queue.pause()
        self.refresh()

    def cancel(self) -> None:
        """Cancels the selected runs."""
        self.queue.cancel(self.panel.selected_numbers())
        self.refresh()

    def retry(self) -> None:
        """Queues again the selected runs that failed or were cancelled."""
        self.queue.retry(self.panel.selected_numbers())
        self._follow()

    def move(self, by: int) -> None:
        """Moves the selected runs up (-1) or down (1)."""
        self.queue.move(self.panel.selected_numbers(), by)
        self.refresh()

    def remove(self) -> None:
        """Removes the selected runs from the list, unless they are running."""
        self.queue.remove(self.panel.selected_numbers())
        self.refresh()

    def clear_finished(self) -> None:
        """Removes the finished runs from the list."""
        self.queue.clear_finished()
        self.refresh()

    def refresh(self) -> None:
        """Shows the current state of the queue, and reports the runs that have begun or ended."""
        is_busy = self.queue.is_busy
        if not is_busy:
            self._timer.stop()
        self._settle()
        entries = self.queue.entries()
        self.panel.update_rows(entries, self.queue.progress())
        state = (is_busy, self.queue.is_paused, [(entry.number, entry.state) for entry in entries])
        if state != self._state:
            self._state = state
            self.changed.emit()

    def may_close(self) -> bool:
        """Asks whether to give up unfinished runs, if the queue has any; returns False to keep the window open."""
        left = sum(not entry.state.is_over for entry in self.queue.entries())
        if left == 0:
            return True
        return self._dialogs.confirm(
            tr("Runs are queued"),
            trn("A queued run is not finished.", "{count} queued runs are not finished.", left),
            tr(
                "Runs in progress are stopped, and kept as far as they went. The others do not start, and the queue "
                "is not remembered."
            ),
            tr("Stop and close"),
        )

    def close(self) -> None:
        """Ends the queue, and passes runs that no database contains to :class:`UnsavedRuns`."""
        self._timer.stop()
        self.queue.close()
        self._settle()

    # ---- internals ----

    def _store(self) -> Store | None:
        return self._database.writable

    def _source(self) -> ScenarioSource | None:
        return source_of_document(Use.QUEUE, self._documents.doc)

    def _add(self, runs: list[QueuedRun]) -> None:
        if self._database.is_opening:
            raise InputError(tr("The database is still being opened; try again in a moment."))
        self.queue.add(runs)
        if math.isnan(self.queue.progress().eta_s):
            self._estimator.ask(lambda _is_given_up: self.queue.estimate(), is_other=True)
        self._follow()

    def _follow(self) -> None:
        self._timer.start()
        self.refresh()

    def _settle(self) -> None:
        """Reports the runs that have begun and ended since the last call."""
        # Ended runs are taken first. A run that begins and ends between the two calls is then reported as begun now,
        # and as ended at the next call.
        ended, begun = self.queue.take_ended(), self.queue.take_begun()
        for job in begun:
            if job.past is not None:
                self._forks.append(job)
                self.fork_began.emit(job)
        if self._forks:
            self.fork_ticked.emit()
        for job, result in ended:
            if result.run_id is None:
                self._unsaved.add(job, result)
            if job.past is not None:
                self._forks.remove(job)
                self.fork_ended.emit(job, result)
        if ended:
            self.stored.emit()


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Queue submenu in the Run menu."""
    yield ActionSpec(
        "queue.add",
        "&Queue this scenario",
        "Add a run of the scenario to the queue, which runs while you work",
        "queue",
        ("Ctrl+Shift+F5",),
        lambda w, _: w.features[QueueSession].add(),
        (COMPLETE, VALID),
    )
    yield ActionSpec(
        "queue.toggle",
        "&Pause or resume",
        "Pause or resume all runs of the queue",
        "pause",
        (),
        lambda w, _: w.features[QueueSession].toggle(),
        (possible("queue.toggle", translatable("no run of the queue is running or waiting")),),
    )
    yield ActionSpec(
        "queue.cancel",
        "&Cancel",
        "Stop the selected runs, or take them off the queue; what they have simulated is kept",
        "stop",
        ("Alt+Del",),
        lambda w, _: w.features[QueueSession].cancel(),
        (possible("queue.cancel", translatable("select runs in the queue that are running or waiting")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.retry",
        "&Try again",
        "Queue the selected runs that failed or were cancelled again",
        "retry",
        ("Ctrl+R",),
        lambda w, _: w.features[QueueSession].retry(),
        (possible("queue.retry", translatable("select runs in the queue that failed or were cancelled")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.up",
        "Move &up",
        "Let the selected runs start earlier",
        "up",
        ("Alt+Up",),
        lambda w, _: w.features[QueueSession].move(-1),
        (possible("queue.move", translatable("select waiting runs in the queue")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.down",
        "Move &down",
        "Let the selected runs start later",
        "down",
        ("Alt+Down",),
        lambda w, _: w.features[QueueSession].move(1),
        (possible("queue.move", translatable("select waiting runs in the queue")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.remove",
        "&Remove",
        "Remove the selected runs from the list; stored runs stay stored",
        "delete",
        ("Del",),
        lambda w, _: w.features[QueueSession].remove(),
        (possible("queue.remove", translatable("select runs in the queue that are not running")),),
        scope=Scope.QUEUE,
    )
    yield ActionSpec(
        "queue.clear",
        "Remove &finished",
        "Remove the finished runs from the list; they stay stored",
        "clear",
        ("Shift+Del",),
        lambda w, _: w.features[QueueSession].clear_finished(),
        (possible("queue.clear", translatable("the queue has no finished runs")),),
        scope=Scope.QUEUE,
    )
