"""Carries out the runs of the window in a worker thread: starts, pauses and stops them, and limits their speed.

A timer polls for new samples.
"""

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

# At most 30 updates of the display per second. The simulation keeps all its samples nevertheless.
DISPLAY_INTERVAL_MS = 33


class RunControl(QObject):
    """Controls at most one run at a time."""

    started = Signal(object)  # RunJob
    ticked = Signal(object)  # RunProgress, at display rate during the run
    state_changed = Signal()  # a run was started, paused or resumed, or has ended
    ended = Signal(object, object)  # RunJob, RunResult
    refused = Signal(str)  # the simulator's reason for refusing the scenario
    live_changed = Signal(object)  # LiveChange, made in the current run
    live_refused = Signal(str)  # reason why a change was not made
    _answered = Signal(object)  # Future[LiveChange], from the simulation thread

    def __init__(self, workers: Workers, parent: QObject) -> None:
        super().__init__(parent)
        self._workers = workers
        self.job: RunJob | None = None
        self._speed_limit: float | None = None
        self.is_paused = False
        self._timer = timer(self, self._on_tick, DISPLAY_INTERVAL_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._answered.connect(self._on_answered)

    @property
    def is_running(self) -> bool:
        """True during a run, even while it is paused."""
        return self.job is not None

    @property
    def progress(self) -> RunProgress | None:
        """Progress of the current run; None if no run is active."""
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
        """Starts a run; no effect if a run is active.

        Args:
            scenario: scenario to simulate.
            text: TOML text of the scenario, stored with the run.
            store: store for the run; None keeps the run in memory.
            sample_interval_s: simulated time between two samples, s.
            records_decisions: whether to record decisions of controllers and schedulers with their reasons.
            until_s: simulated time at which the run pauses, s; None: no pause.
            is_unlimited: whether to ignore the speed limit.
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
        """Starts a prepared run; no effect if a run is active.

        Args:
            job: the run.
            until_s: simulated time at which the run pauses, s; None: no pause.
            is_unlimited: whether to ignore the speed limit.
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
        """Pauses or resumes the run; no effect on a measured run."""
        if self.job is None or self.job.is_measured:
            return
        self.is_paused = not self.is_paused
        if self.is_paused:
            self.job.pause()
        else:
            self.job.unpause()
        self.state_changed.emit()

    def run_to(self, until_s: float) -> None:
        """Continues the run and pauses it exactly at the simulated time ``until_s``, s."""
        if self.job is None:
            return
        self.job.run_to(until_s)
        self.is_paused = False
        self.state_changed.emit()

    def change(self, values: Mapping[str, TomlValue]) -> None:
        """Changes a link or a flow of the run now; :attr:`live_changed` or :attr:`live_refused` reports the result.

        Args:
            values: keys of an ``[[events]]`` entry, without the time.
        """
        if self.job is not None:
            # The callback is called in the simulation thread. The signal passes the result on to the GUI thread.
            self.job.apply(values).add_done_callback(self._answered.emit)

    def stop(self) -> None:
        """Makes the run end soon. The simulated part is kept."""
        if self.job is not None:
            self.job.stop()

    def set_speed_limit(self, speed_limit: float | None) -> None:
        """Limits the speed of this and future runs, in simulated seconds per second."""
        self._speed_limit = speed_limit
        if self.job is not None:
            self.job.set_speed_limit(speed_limit)

    # ---- internals ----

    def _on_tick(self) -> None:
        if self.job is None:
            return
        progress = self.job.progress
        if self.job.is_held and not self.is_paused:
            # The run has reached the time given to `run_to`.
            self.is_paused = True
            self.state_changed.emit()
        self.ticked.emit(progress)

    def _on_answered(self, answer: Future[LiveChange]) -> None:
        error = answer.exception()
        if error is None:
            self.live_changed.emit(answer.result())
        elif isinstance(error, ScenarioError):
            # The message names no place in a file, because live changes come from no file.
            lines = [
                tr("{problem}; allowed: {what}", problem=problem_text(each.message), what=problem_text(each.allowed))
                for each in error.problems
            ]
            self.live_refused.emit("\n".join(lines))
        elif isinstance(error, (SimError, AppError)):
            self.live_refused.emit(error_text(error))
        else:
            raise error

    def _on_ended(self, job: RunJob, result: RunResult) -> None:
        self._timer.stop()
        # One last tick, so that the curves are shown even if the run ended before the first tick.
        self.ticked.emit(job.progress)
        self.job = None
        self.is_paused = False
        _log.info('run "%s" %s at t = %.3f s', job.name, result.status.value, job.progress.sim_time_s)
        self.ended.emit(job, result)
        self.state_changed.emit()

    def _on_bug(self, error: Exception) -> None:
        # RunJob.run reports failures of the store and the simulation in its result, so an exception is a bug.
        self._timer.stop()
        self.job = None
        self.state_changed.emit()
        raise error


def is_kept(result: RunResult) -> bool:
    """True if the whole simulated part of the run is stored."""
    return result.run_id is not None and result.store_error is None


def ended_text(job: RunJob, result: RunResult) -> str:
    """Message about how a run ended."""
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
