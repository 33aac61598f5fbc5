"""Control of a job in the window, whatever its purpose: start, pause, stop, and signals for progress and end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.widgets.shorthand import timer

if TYPE_CHECKING:
    from subflow_app.foundation.jobs.job import Job, JobOutcome
    from subflow_app.toolkit.workers import Workers

J = TypeVar("J", bound="Job")

_REFRESH_MS = 250


class Study(QObject, Generic[J]):
    """Runs one job at a time in a worker thread."""

    changed = Signal()  # `is_running` or `is_paused` has changed
    ticked = Signal()  # progress may have changed; also emitted when a job starts
    # Carries the job and its `JobOutcome`. The job is None if it could not be created, and the outcome is None if the
    # job did not run or raised an exception. Errors are reported after this signal.
    ended = Signal(object, object)

    def __init__(self, workers: Workers, parent: QObject, name: str, report: Callable[[Exception], object]) -> None:
        """Start without a job.

        Args:
            workers: runs the job in a thread.
            parent: owns this object.
            name: name of the job in lists of threads.
            report: shows an error to the user.
        """
        super().__init__(parent)
        self.is_paused = False
        self.reports_problems = True  # whether to report the first problem of a job that completed despite problems
        self._workers = workers
        self._name = name
        self._report = report
        self._run: _Run[J] | None = None
        self._timer = timer(self, self.ticked.emit, _REFRESH_MS)

    @property
    def is_running(self) -> bool:
        """True while a job is in progress, paused or not."""
        return self._run is not None

    @property
    def job(self) -> J | None:
        """The job in progress; None if no job runs, or the job is still being created."""
        return None if self._run is None else self._run.job

    def start(self, job: J | Callable[[], J]) -> None:
        """Run a job in a worker thread; a job in progress is stopped without a report.

        Args:
            job: the job, or a function that creates it in that thread.
        """
        self.forget()
        run: _Run[J] = _Run(job)
        self._run = run
        self._workers.start(
            self._name,
            run.work,
            succeeded=lambda outcome: self._on_ended(run, outcome),
            failed=lambda error: self._on_ended(run, None, error),
            cancel=run.stop,
        )
        self._timer.start()
        self.ticked.emit()
        self.changed.emit()

    def toggle_pause(self) -> None:
        """Pause the job, or continue it."""
        if self.job is not None:
            self.is_paused = not self.is_paused
            (self.job.pause if self.is_paused else self.job.unpause)()
            self.ticked.emit()

    def stop(self) -> None:
        """End the job soon; completed work is kept."""
        if self._run is not None:
            self._run.stop()

    def forget(self) -> None:
        """Stop the job without reporting its end."""
        self.stop()
        self._clear()

    def _clear(self) -> None:
        self._timer.stop()
        self._run, self.is_paused = None, False

    def _on_ended(self, run: _Run[J], outcome: JobOutcome | None, error: Exception | None = None) -> None:
        if run is not self._run:
            return
        self._clear()
        self.ended.emit(run.job, outcome)
        self.changed.emit()
        if outcome is not None:
            is_problem = self.reports_problems and outcome.problems
            error = outcome.error or (InputError(outcome.problems[0]) if is_problem else None)
        if error is not None:
            self._report(error)


class _Run(Generic[J]):
    """One job from its start to its end; the next job may start before this one has ended."""

    def __init__(self, job: J | Callable[[], J]) -> None:
        self._make = job if callable(job) else lambda: job
        self.job: J | None = None if callable(job) else job
        self._stopped = threading.Event()

    def work(self) -> JobOutcome | None:
        self.job = self._make()
        return None if self._stopped.is_set() else self.job.run()

    def stop(self) -> None:
        self._stopped.set()
        if self.job is not None:
            self.job.stop()
