"""Runs of the window: start, pause, stop, at the chosen speed, off the GUI thread; one timer pulls what is new."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from subflow_app.features.running.core.live_changes import LiveChange
from subflow_app.features.running.core.runs import RunJob, RunProgress, RunResult, decision_limits
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.problem_texts import error_text, problem_text
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ScenarioError, SimError
from subflow_sim.scenario import Scenario

if TYPE_CHECKING:
    from subflow_store import Store

_log = logging.getLogger(__name__)

# 30 pictures a second at most; the simulation drops none of its samples for it.
DISPLAY_INTERVAL_MS = 33


class RunControl(QObject):
    """At most one run at a time."""

    started = Signal(object)  # RunJob
    ticked = Signal(object)  # RunProgress, at display rate while the run goes on
    state_changed = Signal()  # running, paused, nothing running
    ended = Signal(object, object)  # RunJob, RunResult
    refused = Signal(str)  # the simulator does not take the scenario
    live_changed = Signal(object)  # LiveChange, made in the run that goes on
    live_refused = Signal(str)  # why a change was not made
    _answered = Signal(object)  # Future[LiveChange], from the thread that simulates

    def __init__(self, workers: Workers, parent: QObject) -> None:
        """Nothing runs yet."""
        super().__init__(parent)
        self._workers = workers
        self.job: RunJob | None = None  # the run that is going on
        self._speed_limit: float | None = None
        self.is_paused = False  # whether the run holds
        self._timer = timer(self, self._on_tick, DISPLAY_INTERVAL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._answered.connect(self._on_answered)

    @property
    def is_running(self) -> bool:
        """Whether a run is going on, paused or not."""
        return self.job is not None

    @property
    def progress(self) -> RunProgress | None:
        """How far the run is."""
        return self.job.progress if self.job is not None else None

    def start(
        self,
        scenario: Scenario,
        text: str,
        store: Store | None,
        sample_interval_s: float,
        *,
        records_decisions: bool = False,
        until_s: float | None = None,
        is_unlimited: bool = False,
    ) -> None:
        """Starts a run; does nothing while another goes on.

        Args:
            scenario: what to simulate.
            text: its TOML text, stored with the run.
            store: where to keep it; None keeps it in memory.
            sample_interval_s: simulated time between two samples, s.
            records_decisions: whether to keep what controllers and schedulers decide, and why.
            until_s: simulated time at which it holds, s; None: it goes on to the end.
            is_unlimited: whether it goes as fast as it can, whatever limit is set.
        """
        if self.job is not None:
            return
        try:
            job = RunJob(
                scenario,
                text,
                store=store,
                sample_interval_s=sample_interval_s,
                speed_limit=self._speed_limit,
                decisions=decision_limits(scenario) if records_decisions else None,
            )
        except SimError as error:
            self.refused.emit(str(error))
            return
        self.start_job(job, until_s, is_unlimited=is_unlimited)

    def start_job(self, job: RunJob, until_s: float | None = None, *, is_unlimited: bool = False) -> None:
        """Starts a run that is made already; does nothing while another goes on.

        Args:
            job: the run.
            until_s: simulated time at which it holds, s; None: it goes on to the end.
            is_unlimited: whether it goes as fast as it can, whatever limit is set.
        """
        if self.job is not None:
            return
        self.job = job
        self.is_paused = False
        job.set_speed_limit(None if is_unlimited else self._speed_limit)
        if until_s is not None:
            job.run_to(until_s)
        self.started.emit(job)
        self._workers.start(
            "run",
            job.run,
            succeeded=lambda result: self._on_ended(job, result),
            failed=self._on_bug,
            cancel=job.stop,
        )
        self._timer.start()
        self.state_changed.emit()

    def toggle_pause(self) -> None:
        """Holds the run, or lets it go on."""
        if self.job is None:
            return
        self.is_paused = not self.is_paused
        if self.is_paused:
            self.job.pause()
        else:
            self.job.unpause()
        self.state_changed.emit()

    def run_to(self, until_s: float) -> None:
        """Lets the run go on and hold exactly at that simulated time, s."""
        if self.job is None:
            return
        self.job.run_to(until_s)
        self.is_paused = False
        self.state_changed.emit()

    def change(self, values: Mapping[str, TomlValue]) -> None:
        """Changes a link or a flow of the run now; :attr:`live_changed` or :attr:`live_refused` tells what came of it.

        Args:
            values: keys of an ``[[events]]`` entry, without the time.
        """
        if self.job is not None:
            # The thread that simulates answers; the signal brings that over to this one.
            self.job.apply(values).add_done_callback(self._answered.emit)

    def stop(self) -> None:
        """Ends the run soon; what was simulated so far is kept."""
        if self.job is not None:
            self.job.stop()

    def set_speed_limit(self, speed_limit: float | None) -> None:
        """Lets this run and those to come go at most this fast, in simulated seconds per second."""
        self._speed_limit = speed_limit
        if self.job is not None:
            self.job.set_speed_limit(speed_limit)

    # ---- inside ----

    def _on_tick(self) -> None:
        if self.job is None:
            return
        progress = self.job.progress
        if self.job.is_held and not self.is_paused:
            # It has come to where it was sent.
            self.is_paused = True
            self.state_changed.emit()
        self.ticked.emit(progress)

    def _on_answered(self, answer: Future[LiveChange]) -> None:
        error = answer.exception()
        if error is None:
            self.live_changed.emit(answer.result())
        elif isinstance(error, ScenarioError):
            # Without the place in a file, which there is none of.
            told = [
                tr("{problem}; allowed: {what}", problem=problem_text(each.message), what=problem_text(each.allowed))
                for each in error.problems
            ]
            self.live_refused.emit("\n".join(told))
        elif isinstance(error, (SimError, AppError)):
            self.live_refused.emit(error_text(error))
        else:
            raise error

    def _on_ended(self, job: RunJob, result: RunResult) -> None:
        self._timer.stop()
        # Once more at the very end: a run that was over before the first tick still has to show its curves.
        self.ticked.emit(job.progress)
        self.job = None
        self.is_paused = False
        _log.info('run "%s" %s at t = %.3f s', job.name, result.status.value, job.progress.sim_time_s)
        self.ended.emit(job, result)
        self.state_changed.emit()

    def _on_bug(self, error: Exception) -> None:
        # RunJob.run never raises for what can go wrong in the world: this is ours, and the program says so.
        self._timer.stop()
        self.job = None
        self.state_changed.emit()
        raise error


def is_kept(result: RunResult) -> bool:
    """Whether the run is in the store, as far as it went."""
    return result.run_id is not None and result.store_error is None


def ended_text(job: RunJob, result: RunResult) -> str:
    """One sentence on how a run ended, for the status bar."""
    run, time = job.name, f"{job.progress.sim_time_s:.1f}"
    if result.status is JobState.FINISHED:
        if is_kept(result):
            return tr("{run}: finished, kept as run {number}", run=run, number=result.run_id)
        return tr("{run}: finished, in memory only", run=run)
    if result.status is JobState.STOPPED:
        if is_kept(result):
            return tr("{run}: stopped at {time} s, kept", run=run, time=time)
        return tr("{run}: stopped at {time} s, in memory only", run=run, time=time)
    return tr("{run}: failed at {time} s", run=run, time=time)
