"""A job of the window: started, watched, paused, stopped and ended in one way, whatever it computes."""

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

_REFRESH_MS = 300


class Study(QObject, Generic[J]):
    """One job at a time in a worker thread.

    Attributes:
        job: the job in progress; None: nothing runs, or its preparation has not ended yet.
    """

    changed = Signal()  # `is_running` or `is_paused`
    ticked = Signal()  # progress may have changed; also emitted when a job starts
    ended = Signal(object)  # the job, or None if it was stopped before it was made; errors were reported already

    def __init__(self, workers: Workers, parent: QObject, name: str, report: Callable[[Exception], object]) -> None:
        """Nothing runs.

        Args:
            workers: run the job.
            parent: owns it.
            name: of the job, in lists of threads.
            report: shows an error to the user.
        """
        super().__init__(parent)
        self.job: J | None = None
        self.is_running = False
        self.is_paused = False
        self._workers = workers
        self._name = name
        self._report = report
        self._stopped = threading.Event()
        self._timer = timer(self, self.ticked.emit, _REFRESH_MS)

    def start(self, make: Callable[[], J]) -> None:
        """Makes a job and runs it, both in a worker thread; ignored while another one runs."""
        if self.is_running:
            return
        self.is_running, self.is_paused = True, False
        self._stopped.clear()

        def work() -> JobOutcome | None:
            self.job = make()
            return None if self._stopped.is_set() else self.job.run()

        self._workers.start(self._name, work, succeeded=self._on_ended, failed=self._on_failed, cancel=self.stop)
        self._timer.start()
        self.ticked.emit()
        self.changed.emit()

    def toggle_pause(self) -> None:
        """Pauses the job, or continues it."""
        if self.job is not None and self.is_running:
            self.is_paused = not self.is_paused
            (self.job.pause if self.is_paused else self.job.unpause)()
            self.ticked.emit()

    def stop(self) -> None:
        """Ends the job soon; completed work is kept."""
        self._stopped.set()
        if self.job is not None:
            self.job.stop()

    def _on_ended(self, outcome: JobOutcome | None) -> None:
        self._end()
        if outcome is not None and (outcome.error is not None or outcome.problems):
            self._report(outcome.error or InputError(outcome.problems[0]))

    def _on_failed(self, error: Exception) -> None:
        self._end()
        self._report(error)

    def _end(self) -> None:
        self._timer.stop()
        job, self.job = self.job, None
        self.is_running, self.is_paused = False, False
        self.ended.emit(job)
        self.changed.emit()
