"""Forks runs in the window: chooses the run and the time, opens the dialog, and draws the fork over its original."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.features.running.core.run_queue import QueuedRun
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.features.running.qt.queue import QueueSession
from subflow_app.features.traces.core.traces import StoredTraces, Traces
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.action_bar import ONE_SELECTED, ActionSpec, Need, Scope
from subflow_app.toolkit.feature import Feature, FeatureHolder
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QWidget

    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.explain.core.story import Try
    from subflow_app.features.forking.core.origin import ForkOrigin, ForkState
    from subflow_app.features.forking.core.plan import ForkPlan
    from subflow_app.features.forking.qt.dialog import ForkDialog
    from subflow_app.features.history.qt import History
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences
    from subflow_app.toolkit.workers import Workers
    from subflow_store import Store


_PATIENCE_MS = 40  # the window waits this long for a worker, so that short work completes immediately


class ForkPorts(FeatureHolder, Protocol):
    """Parts of the window that forks use."""

    database: DatabaseControl
    history: History
    notices: Notices
    plots: PlotView
    preferences: Preferences
    runs: RunControl
    shown: ShownRuns
    topology: TopologyView
    workers: Workers

    def window(self) -> QWidget:
        """The parent of the dialog."""

    def tell(self, text: str) -> None:
        """Show a message for a while."""

    def tell_failure(self, error: Exception) -> None:
        """Show an error."""


class ForkFeature(Feature):
    """Forks the shown or selected run."""

    def __init__(self, ports: ForkPorts) -> None:
        """Start without a fork."""
        super().__init__()
        self.ports = ports
        self.dialog: ForkDialog | None = None
        self._jobs: list[RunJob] = []  # runs of this session that the plots show
        self._origin: ForkOrigin | None = None  # the last forked run, with its past
        self._clicked_s: float | None = None  # the last clicked time in the plots
        self._given_up = threading.Event()

    def connect_parts(self) -> None:
        """Connect runs, clicks in the plots, and the queue."""
        ports = self.ports
        ports.runs.started.connect(lambda job: self._jobs.append(job))
        ports.runs.state_changed.connect(self.changed)
        ports.plots.runs_changed.connect(self._on_runs_changed)
        ports.plots.time_clicked.connect(self._on_time_clicked)
        ports.plots.menu_requested.connect(self._on_menu_requested)
        ports.features[ExplainFeature].try_wanted.connect(self.try_change)
        queue = ports.features[QueueSession]
        queue.fork_began.connect(self._on_queued_fork_began)
        queue.fork_ticked.connect(self._on_queued_fork_ticked)
        queue.fork_ended.connect(self._on_queued_fork_ended)

    def possible(self) -> frozenset[str]:
        """The action that forks a run, while a run is shown."""
        return frozenset({"fork.new"}) if self.ports.plots.runs else frozenset()

    def close(self) -> None:
        """Cancel the preparation of a fork."""
        self._given_up.set()
        if self.dialog is not None:
            self.dialog.reject()

    # ---- interface for actions ----

    def fork(self) -> None:
        """Fork the shown run, or else the run selected in the history."""
        if self.ports.plots.runs:
            self.fork_shown()
        else:
            self.fork_selected()

    def fork_shown(self) -> None:
        """Open the dialog for the run in view, at the time given by `time_s` or else in the middle of the run."""
        self._fork_traces(self.ports.plots.runs[self._run_looked_at()], self.time_s())

    def _fork_traces(self, traces: Traces, at_s: float | None, change: Try | None = None) -> None:
        from subflow_app.features.forking.core.origin import ForkOrigin

        jobs = [job for job in self._jobs if job.traces is traces and not job.is_measured]
        if jobs:
            # The whole run is in memory, whether active or finished, so the database is not needed.
            self._ask(lambda: ForkOrigin.live(jobs[0]), at_s, change)
        elif isinstance(traces, StoredTraces):
            self._fork_stored(traces.run_id, at_s, change)
        else:
            raise InputError(tr("This run was measured, not simulated: it cannot be forked."))

    def try_change(self, run: int, change: Try) -> None:
        """Open the dialog for a shown run, with a change that Explain proposes.

        Args:
            run: position of the run among the shown runs.
            change: the change, and the time of the fork.
        """
        if 0 <= run < len(self.ports.plots.runs):
            self._fork_traces(self.ports.plots.runs[run], change.at_s, change)

    def fork_selected(self) -> None:
        """Open the dialog for the run selected in the history."""
        rows = self.ports.history.selected()
        if len(rows) == 1:
            self._fork_stored(rows[0].id, None)

    def time_s(self) -> float | None:
        """The time to fork at: the playhead, else the last click, mouse position or mark; None if all are missing."""
        stack = self.ports.plots.stack
        marked = (self._playhead.time_s, self._clicked_s, stack.cursor_s, stack.pin_s)
        return next((time_s for time_s in marked if time_s is not None), None)

    # ---- internals ----

    @property
    def _playhead(self) -> Playhead:
        return self.ports.features[PlayheadFeature].playhead

    def _run_looked_at(self) -> int:
        """Position of the run that the playhead shows, or else of the run with the chosen curve, or else 0."""
        curve = self.ports.plots.current_curve
        chosen = (
            self._playhead.run_shown if self._playhead.time_s is not None else curve.run if curve is not None else 0
        )
        return chosen if 0 <= chosen < len(self.ports.plots.runs) else 0

    def _key_looked_at(self) -> str:
        """Key of the object selected on the canvas, or else of the link or flow of the chosen curve; may be empty."""
        chosen, curve = self.ports.topology.scene.chosen, self.ports.plots.current_curve
        if chosen or curve is None:
            return chosen[-1] if chosen else ""
        section = "links" if curve.kind == "link" else "flows"
        return f"{section}.{curve.owner.partition('/')[0]}"

    def _fork_stored(self, run_id: int, at_s: float | None, change: Try | None = None) -> None:
        from subflow_app.features.forking.core.origin import ForkOrigin

        store = self.ports.database.store
        if store is not None:
            self._ask(lambda: ForkOrigin.stored(store, run_id), at_s, change)

    def _ask(self, read: Callable[[], ForkOrigin], at_s: float | None, change: Try | None) -> None:
        """Read the run in another thread, then open the dialog."""
        self.ports.workers.start(
            "read run to fork",
            read,
            succeeded=lambda origin: self._open(origin, at_s, change),
            failed=self._tell,
            patience_ms=_PATIENCE_MS,
        )

    def _open(self, origin: ForkOrigin, at_s: float | None, change: Try | None) -> None:
        from subflow_app.features.forking.core.draft import LINKS, ForkDraft, Target
        from subflow_app.features.forking.qt.dialog import ForkDialog

        if self.dialog is not None:
            self.dialog.reject()
        origin = self._origin = origin.sharing_past(self._origin)
        draft, key = ForkDraft.at(origin, at_s), self._key_looked_at()
        if change is not None:
            draft.set(Target(LINKS, change.link), change.key, change.value)
            key = f"{LINKS}.{change.link}"
        dialog = ForkDialog(draft, key, self.ports.window())
        dialog.started.connect(self.start)
        dialog.finished.connect(lambda _result: self._on_closed(dialog))
        self.dialog = dialog
        dialog.open()

    def _on_closed(self, dialog: ForkDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    def start(self, plan: ForkPlan) -> None:
        """Start a fork, or add it to the queue while a run is active."""
        ports = self.ports
        store = ports.database.writable
        records = ports.preferences.settings.record_decisions
        if ports.runs.is_running:
            self._queue(plan, records_decisions=records)
            return
        self._given_up.set()
        given_up = self._given_up = threading.Event()
        ports.tell(tr("Going to {time} of {run}…", time=f"{plan.at_s:g} s", run=plan.origin.title))

        def run(state: ForkState) -> None:
            if given_up.is_set():
                return
            try:
                job = plan.job(state, store=store, records_decisions=records)
            except SimError as error:
                self._tell(error)
                return
            if not state.is_same:
                self.ports.notices.action_failed(
                    tr("The new simulation of {run} differs from the stored run.", run=plan.origin.title)
                )
            ports.runs.start_job(job)

        ports.workers.start(
            "fork",
            lambda: plan.state(records_decisions=records, is_cancelled=given_up.is_set),
            succeeded=run,
            failed=self._tell,
            cancel=given_up.set,
            patience_ms=_PATIENCE_MS,
        )

    def _queue(self, plan: ForkPlan, *, records_decisions: bool) -> None:
        given_up = self._given_up

        def make(store: Store | None) -> RunJob:
            state = plan.state(records_decisions=records_decisions, is_cancelled=given_up.is_set)
            return plan.job(state, store=store, records_decisions=records_decisions)

        self.ports.features[QueueSession].add_run(
            QueuedRun(ScenarioSource(plan.scenario, plan.text, Use.FORK), plan.name, make)
        )
        text = tr("The fork grows in the plots, next to the run in progress; the queue shows its progress.")
        self.ports.tell(text)

    def _on_queued_fork_began(self, job: RunJob) -> None:
        assert job.past is not None
        # Leave the plots unchanged if they no longer show the original run.
        if self._is_shown(job.past.origin) or job.past.fork.parent_id in self.ports.shown.ids:
            self._jobs.append(job)
            self.ports.shown.show_over_original(job, None)

    def _on_queued_fork_ticked(self) -> None:
        """Draw the new samples of queued forks, because nothing else would draw them while the other run is paused."""
        if any(self._is_shown(job.traces) for job in self._jobs):
            self.ports.plots.refresh()

    def _on_queued_fork_ended(self, job: RunJob, result: RunResult) -> None:
        if self._is_shown(job.traces):
            self.ports.plots.refresh()
            self.ports.shown.job_stored(job, result.run_id)

    def _is_shown(self, traces: Traces) -> bool:
        return any(traces is each for each in self.ports.plots.runs)

    def _on_runs_changed(self) -> None:
        shown: tuple[Traces, ...] = self.ports.plots.runs
        self._jobs = [job for job in self._jobs if any(job.traces is traces for traces in shown)]
        self._clicked_s = None
        self.changed.emit()

    def _on_time_clicked(self, time_s: float) -> None:
        self._clicked_s = time_s

    def _on_menu_requested(self, _position: QPoint) -> None:
        # The context menu moves the mouse away from the plots, which hides the crosshair.
        cursor_s = self.ports.plots.stack.cursor_s
        self._clicked_s = cursor_s if cursor_s is not None else self._clicked_s

    def _tell(self, error: Exception) -> None:
        from subflow_app.features.forking.core.origin import ForkCancelledError

        if isinstance(error, ForkCancelledError):
            return
        self.ports.tell_failure(error)


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Time menu and the History menu."""
    yield ActionSpec(
        "fork.new",
        "&What if…",
        "Fork the run that is shown, or selected: change a link or a flow from a time on, with the original as a ghost",
        "fork",
        ("Ctrl+Shift+W",),
        lambda w, _: w.features[ForkFeature].fork(),
        (
            Need(
                lambda s: "fork.new" in s.features or s.runs_selected == 1,
                translatable("the plots show no run, and not just one is selected in the history"),
            ),
        ),
    )
    yield ActionSpec(
        "history.fork",
        "Fork the selected r&un…",
        "Fork the selected run: change a link or a flow from a time on, with the original as a ghost",
        "fork",
        ("Ctrl+Shift+Y",),
        lambda w, _: w.features[ForkFeature].fork_selected(),
        (ONE_SELECTED,),
        Scope.HISTORY,
    )
