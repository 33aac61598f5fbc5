"""Tasks in worker threads, with results on the GUI thread, and a reader that computes only the latest request.

All work off the GUI thread uses this module. A task is a plain callable without Qt. Progress is polled (by the display
timer of ``run_control``), never emitted as a signal per step. The reader computes the content of a view: it runs one
computation at a time, and continues with the latest request.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThread, Signal

from subflow_app.foundation.expected_errors import is_expected
from subflow_app.toolkit.widgets.shorthand import timer

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Task(QThread):
    """One piece of work in a separate thread; created by :meth:`Workers.start`.

    One thread per task rather than a pool: a run may take minutes, and opening a database must not wait for it.
    """

    def __init__(self, name: str, work: Callable[[], Any], cancel: Callable[[], None] | None, parent: QObject) -> None:
        """``cancel`` is called on the GUI thread and makes ``work`` return soon."""
        super().__init__(parent)
        self.setObjectName(name)
        self._work = work
        self._cancel = cancel
        self.outcome: tuple[object, Exception | None] | None = None  # result, or the exception

    def run(self) -> None:
        """Run the work; called by Qt in the new thread."""
        try:
            result = self._work()
        except Exception as error:
            # Keep the exception for the `failed` callback, which runs on the GUI thread.
            _log.info("task %s failed", self.objectName(), exc_info=True)
            self.outcome = (None, error)
        else:
            self.outcome = (result, None)

    def cancel(self) -> None:
        """Make the work return soon; without a `cancel` function, it runs to its end."""
        if self._cancel is not None:
            self._cancel()


class Workers(QObject):
    """The tasks of one window.

    Signals:
        failed: the exception of a task that has no `failed` callback.
    """

    failed = Signal(Exception)

    def __init__(self, parent: QObject) -> None:
        """Make ``parent`` the owner, which must call :meth:`finish_all` before it is deleted."""
        super().__init__(parent)
        self._tasks: list[Task] = []
        self._turns = _Turns()
        self._is_finished = False

    def start(
        self,
        name: str,
        work: Callable[[], T],
        *,
        succeeded: Callable[[T], None],
        failed: Callable[[Exception], None] | None = None,
        cancel: Callable[[], None] | None = None,
        patience_ms: int = 0,
        in_turn: bool = False,
    ) -> Task:
        """Start ``work`` in a separate thread; ignored after :meth:`finish_all`.

        Args:
            name: name in lists of threads and the log.
            work: runs in the thread; must not use widgets.
            succeeded: called on the GUI thread with the return value.
            failed: called on the GUI thread with the exception, to clean up and report the error; None: `failed` is
                emitted. An unexpected exception is also raised again there, and thus reported as a bug.
            cancel: makes ``work`` return soon; called on the GUI thread.
            patience_ms: longest time, ms, that this method waits for the work. If the work ends in time, its callback
                runs before the method returns; otherwise the work continues without blocking the window.
            in_turn: whether the work waits for all earlier work that was also started with `in_turn`.
        """
        task = Task(name, self._turns.after_all(work) if in_turn else work, cancel, self)
        if self._is_finished:
            return task  # called by a timer or a late event; a thread that outlives its window would crash the program
        self._tasks.append(task)
        # The receiver lives on the GUI thread, so Qt delivers the signal there.
        receiver = _Receiver(self, task, succeeded, failed or self.failed.emit)
        task.finished.connect(receiver.on_finished)
        task.start()
        if patience_ms > 0 and task.wait(patience_ms):
            receiver.take_outcome()
        return task

    @property
    def is_busy(self) -> bool:
        """True if a task is still running, or its end has not been processed yet."""
        return any(task.isRunning() or (task.outcome and not self._is_finished) for task in self._tasks)

    def finish_all(self) -> None:
        """Cancel all tasks and wait for their end; later results are dropped."""
        # A callback of an ended task might otherwise start the next task, for which no code would wait.
        self._is_finished = True
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            task.wait()

    def _forget(self, task: Task) -> None:
        self._tasks.remove(task)
        task.deleteLater()


class _Receiver(QObject):
    """Turns the signals of one task into calls on the GUI thread."""

    def __init__(
        self, workers: Workers, task: Task, succeeded: Callable[[Any], None], failed: Callable[[Exception], None]
    ) -> None:
        super().__init__(workers)
        self._workers = workers
        self._task = task
        self._succeeded = succeeded
        self._failed = failed

    def take_outcome(self) -> None:
        """Call the callback for the outcome, once."""
        outcome, self._task.outcome = self._task.outcome, None
        if outcome is None or self._workers._is_finished:
            return
        result, error = outcome
        if error is None:
            self._succeeded(result)
        else:
            self._failed(error)
            # An OSError is not a bug, either: the system refused an operation.
            if not is_expected(error) and not isinstance(error, OSError):
                raise error

    def on_finished(self) -> None:
        try:
            self.take_outcome()
        finally:
            self._workers._forget(self._task)
            self.deleteLater()


class _Turns:
    """Makes work in different threads run one piece at a time, in the order of the requests."""

    def __init__(self) -> None:
        """Start with an empty queue."""
        self._last = threading.Event()
        self._last.set()

    def after_all(self, work: Callable[[], T]) -> Callable[[], T]:
        """A function that waits for its turn and then does the work, to be called in another thread."""
        before, done = self._last, threading.Event()
        self._last = done

        def wait_and_work() -> T:
            before.wait()
            try:
                return work()
            finally:
                done.set()

        return wait_and_work


Work = Callable[[Callable[[], bool]], object]
"""Computes a result; receives a function that returns True once the result is no longer needed."""


class LatestReader(QObject):
    """Computes one request at a time, always the latest, and cancels computations that are no longer needed."""

    read = Signal(object)  # result of the work
    failed = Signal(object)  # the exception that the work raised

    def __init__(self, workers: Workers, parent: QObject, name: str, *, pause_ms: int = 0) -> None:
        """Start without a request.

        Args:
            workers: runs the computation.
            parent: owns this object.
            name: name of the computation in lists of threads.
            pause_ms: pause before a result is recomputed for data that have only grown, ms.
        """
        super().__init__(parent)
        self.patience_ms = 0  # `ask` waits this long for a computation, so that a fast one completes within the call
        self._workers = workers
        self._name = name
        self._wanted: Work | None = None
        self._given_up: threading.Event | None = None  # cancels the current computation
        self._pause = timer(self, self._start, pause_ms, is_single=True)

    @property
    def is_busy(self) -> bool:
        """True if a computation is running or pending."""
        return self._wanted is not None or self._given_up is not None

    def ask(self, work: Work, *, is_other: bool) -> None:
        """Compute this request next.

        Args:
            work: the computation.
            is_other: whether the request differs from the previous one in more than additional data. If so, it replaces
                earlier requests and runs without the pause.
        """
        self._wanted = work
        if is_other:
            if self._given_up is not None:
                self._given_up.set()
            self._pause.stop()
        if self._given_up is None and not self._pause.isActive():
            self._start()

    def forget(self) -> None:
        """Cancel the current computation and the pending request."""
        self._wanted = None
        self._pause.stop()
        if self._given_up is not None:
            self._given_up.set()

    def _start(self) -> None:
        work, self._wanted = self._wanted, None
        if work is None:
            return
        given_up = self._given_up = threading.Event()

        def on_read(result: object) -> None:
            self._end()
            if not given_up.is_set():
                self.read.emit(result)

        def on_failed(error: Exception) -> None:
            self._end()
            if given_up.is_set() or isinstance(error, InterruptedError):
                return
            self.failed.emit(error)

        self._workers.start(
            self._name,
            lambda: work(given_up.is_set),
            succeeded=on_read,
            failed=on_failed,
            cancel=given_up.set,
            patience_ms=self.patience_ms,
        )

    def _end(self) -> None:
        was_given_up = self._given_up is not None and self._given_up.is_set()
        self._given_up = None
        if self._wanted is None:
            return
        if was_given_up:
            self._start()
        else:
            self._pause.start()
