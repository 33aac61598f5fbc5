"""Forking runs from the window: which run and when, the dialog, and the fork over its original."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_app.core.errors import InputError
from subflow_app.core.running.runs import RunJob, RunResult
from subflow_app.core.traces import StoredTraces, Traces
from subflow_app.qt.feature import Feature
from subflow_app.qt.playhead.feature import PlayheadFeature
from subflow_app.qt.playhead.playhead import Playhead
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import SimError

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint

    from subflow_app.core.forking.origin import ForkOrigin, ForkState
    from subflow_app.core.forking.plan import ForkPlan
    from subflow_app.qt.forking.dialog import ForkDialog
    from subflow_app.qt.main_window import MainWindow
    from subflow_store import Store

_PATIENCE_MS = 40  # what is read quicker than this opens the dialog at once
_MESSAGE_MS = 6000


class ForkFeature(Feature):
    """What if, at that time, something had been different?"""

    def __init__(self, window: MainWindow) -> None:
        """Nothing is asked yet."""
        super().__init__()
        self.window = window
        self.dialog: ForkDialog | None = None
        self._jobs: list[RunJob] = []  # of the runs shown that were made in this session
        self._origin: ForkOrigin | None = None  # the run that was forked last, with its past
        self._clicked_s: float | None = None  # where the person has clicked into the plots
        self._given_up = threading.Event()

    def connect_parts(self) -> None:
        """Follows the runs, the clicks into the plots, and what is chosen on the canvas."""
        window = self.window
        window.runs.started.connect(self._on_started)
        window.runs.state_changed.connect(self.changed)
        window.plots.runs_changed.connect(self._on_runs_changed)
        window.plots.time_clicked.connect(self._on_time_clicked)
        window.plots.menu_requested.connect(self._on_menu_requested)
        window.queue_session.fork_began.connect(self._on_queued_fork_began)
        window.queue_session.fork_ticked.connect(self._on_queued_fork_ticked)
        window.queue_session.fork_ended.connect(self._on_queued_fork_ended)

    def possible(self) -> frozenset[str]:
        """Forking a run that is shown."""
        return frozenset({"fork.new"}) if self.window.plots.runs else frozenset()

    def close(self) -> None:
        """Gives up what is being prepared."""
        self._given_up.set()
        if self.dialog is not None:
            self.dialog.reject()

    # ---- what actions call ----

    def fork_shown(self) -> None:
        """Asks what shall be different in the run that is shown, from the time that is marked in the plots on."""
        from subflow_app.core.forking.origin import ForkOrigin

        runs = self.window.plots.runs
        traces = runs[self._run_looked_at()]
        at_s = self._time_s()
        jobs = [job for job in self._jobs if job.traces is traces]
        if jobs:
            # It goes on, or was made here: all of it is in memory, whether a database has it or not.
            self._ask(lambda: ForkOrigin.live(jobs[0]), at_s)
        elif isinstance(traces, StoredTraces):
            self._fork_stored(traces.run_id, at_s)
        else:
            raise InputError(tr("This run was measured, not simulated: it cannot be forked."))

    def fork_selected(self) -> None:
        """Asks what shall be different in the run that is selected in the history."""
        rows = self.window.history.selected()
        if len(rows) == 1:
            self._fork_stored(rows[0].id, None)

    # ---- inside ----

    def _time_s(self) -> float | None:
        """The time that the person looks at: of the playhead, or clicked, under the mouse, or marked."""
        stack = self.window.plots.stack
        marked = (self._playhead.time_s, self._clicked_s, stack.cursor_s, stack.pin_s)
        return next((time_s for time_s in marked if time_s is not None), None)

    @property
    def _playhead(self) -> Playhead:
        return self.window.features[PlayheadFeature].playhead

    def _run_looked_at(self) -> int:
        """Position of the run that the playhead goes through, or else of the curve that was chosen, or the first."""
        curve = self.window.plots.current_curve
        chosen = (
            self._playhead.run_shown if self._playhead.time_s is not None else curve.run if curve is not None else 0
        )
        return chosen if 0 <= chosen < len(self.window.plots.runs) else 0

    def _key_looked_at(self) -> str:
        """What is chosen on the canvas, or else the link or flow of the chosen curve; empty: neither."""
        chosen, curve = self.window.topology.scene.chosen, self.window.plots.current_curve
        if chosen or curve is None:
            return chosen[-1] if chosen else ""
        section = "links" if curve.kind == "link" else "flows"
        return f"{section}.{curve.owner.partition('/')[0]}"

    def _fork_stored(self, run_id: int, at_s: float | None) -> None:
        from subflow_app.core.forking.origin import ForkOrigin

        store = self.window.database.store
        if store is not None:
            self._ask(lambda: ForkOrigin.stored(store, run_id), at_s)

    def _ask(self, read: Callable[[], ForkOrigin], at_s: float | None) -> None:
        """Reads the run off the GUI thread, and opens the dialog."""
        self.window.workers.start(
            "read run to fork",
            read,
            succeeded=lambda origin: self._open(origin, at_s),
            failed=self._tell,
            patience_ms=_PATIENCE_MS,
        )

    def _open(self, origin: ForkOrigin, at_s: float | None) -> None:
        from subflow_app.core.forking.draft import ForkDraft
        from subflow_app.qt.forking.dialog import ForkDialog

        if self.dialog is not None:
            self.dialog.reject()
        origin = self._origin = origin.sharing_past(self._origin)
        dialog = ForkDialog(ForkDraft.at(origin, at_s), self._key_looked_at(), self.window)
        dialog.started.connect(self.start)
        dialog.finished.connect(lambda _result: self._on_closed(dialog))
        self.dialog = dialog
        dialog.open()

    def _on_closed(self, dialog: ForkDialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
        dialog.deleteLater()

    def start(self, plan: ForkPlan) -> None:
        """Runs a fork: at once, or in the queue while another run goes on, which then goes on beside it."""
        window = self.window
        store = window.database.writable
        records = window.preferences.settings.record_decisions
        if window.runs.is_running:
            self._queue(plan, records_decisions=records)
            return
        self._given_up.set()
        given_up = self._given_up = threading.Event()
        window.statusBar().showMessage(tr("Going to {time} of {run}…", time=f"{plan.at_s:g} s", run=plan.origin.title))

        def run(state: ForkState) -> None:
            if given_up.is_set():
                return
            try:
                job = plan.job(state, store=store, records_decisions=records)
            except SimError as error:
                self._tell(error)
                return
            if not state.is_same:
                self.window.notices.action_failed(
                    tr("{run}, simulated again, differs from what was stored.", run=plan.origin.title)
                )
            window.runs.start_job(job)

        window.workers.start(
            "fork",
            lambda: plan.state(records_decisions=records, is_cancelled=given_up.is_set),
            succeeded=run,
            failed=self._tell,
            cancel=given_up.set,
            patience_ms=_PATIENCE_MS,
        )

    def _queue(self, plan: ForkPlan, *, records_decisions: bool) -> None:
        from subflow_app.core.running.run_queue import QueuedRun
        from subflow_app.core.scenarios.scenario_source import ScenarioSource
        from subflow_app.core.uses import Use

        given_up = self._given_up

        def make(store: Store | None) -> RunJob:
            state = plan.state(records_decisions=records_decisions, is_cancelled=given_up.is_set)
            return plan.job(state, store=store, records_decisions=records_decisions)

        self.window.queue_session.add_run(
            QueuedRun(ScenarioSource(plan.scenario, plan.text, Use.FORK), plan.name, make)
        )
        told = tr("The fork grows in the plots, next to the run in progress; the queue shows its progress.")
        self.window.statusBar().showMessage(told, _MESSAGE_MS)

    def _on_queued_fork_began(self, job: RunJob) -> None:
        assert job.past is not None
        # Whatever has come into the plots meanwhile stays there.
        if self._is_shown(job.past.origin) or job.past.fork.parent_id in self.window.shown.ids:
            self._keep(job)
            self.window.shown.show_over_original(job, None)

    def _on_queued_fork_ticked(self) -> None:
        """Draws what forks of the queue have got; a run that goes on beside them may be paused, and draw nothing."""
        if any(self._is_shown(job.traces) for job in self._jobs):
            self.window.plots.refresh()

    def _on_queued_fork_ended(self, job: RunJob, result: RunResult) -> None:
        if self._is_shown(job.traces):
            self.window.plots.refresh()
            self.window.shown.job_stored(job, result.run_id)

    def _is_shown(self, traces: Traces) -> bool:
        return any(traces is each for each in self.window.plots.runs)

    def _on_started(self, job: RunJob) -> None:
        self._keep(job)

    def _keep(self, job: RunJob) -> None:
        self._jobs.append(job)

    def _on_runs_changed(self) -> None:
        shown: tuple[Traces, ...] = self.window.plots.runs
        self._jobs = [job for job in self._jobs if any(job.traces is traces for traces in shown)]
        self._clicked_s = None
        self.changed.emit()

    def _on_time_clicked(self, time_s: float) -> None:
        self._clicked_s = time_s

    def _on_menu_requested(self, _position: QPoint) -> None:
        # With the menu the mouse leaves the plots, and takes the crosshair along.
        cursor_s = self.window.plots.stack.cursor_s
        self._clicked_s = cursor_s if cursor_s is not None else self._clicked_s

    def _tell(self, error: Exception) -> None:
        from subflow_app.core.forking.origin import ForkCancelledError

        if isinstance(error, ForkCancelledError):
            return
        self.window.tell_failure(error)
