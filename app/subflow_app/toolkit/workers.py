"""Tasks off the GUI thread: start, end reported on the GUI thread, wait for all, and reader of the latest request.

All work off the GUI thread goes through this module. A task is a plain callable without Qt. Progress is pulled (the
display timer of ``run_control`` reads it), never pushed as a signal per step. The reader computes what a view shows:
the latest request comes next, and never two at once.
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
    """One piece of work in its own thread; made by :meth:`Workers.start`.

    A thread each rather than a pool: a run may take minutes, and opening a database must not queue behind it.
    """

    def __init__(self, name: str, work: Callable[[], Any], cancel: Callable[[], None] | None, parent: QObject) -> None:
        """``cancel`` is called on the GUI thread and makes ``work`` return soon."""
        super().__init__(parent)
        self.setObjectName(name)
        self._work = work
        self._cancel = cancel
        self.outcome: tuple[object, Exception | None] | None = None  # what it returned, or the exception

    def run(self) -> None:
        """Runs the work; called by Qt in the new thread."""
        try:
            result = self._work()
        except Exception as error:
            # Not swallowed: the owner decides on the GUI thread what the person is told.
            _log.info("task %s failed", self.objectName(), exc_info=True)
            self.outcome = (None, error)
        else:
            self.outcome = (result, None)

    def cancel(self) -> None:
        """Asks the work to return soon; without a way to do so it just runs to its end."""
        if self._cancel is not None:
            self._cancel()


class Workers(QObject):
    """The tasks of one window.

    Signals:
        failed: an exception of a task that nobody else hears of.
    """

    failed = Signal(Exception)

    def __init__(self, parent: QObject) -> None:
        """Owned by ``parent``, which must call :meth:`finish_all` before it goes."""
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
        """Starts ``work`` in a thread of its own; nothing after :meth:`finish_all`.

        Args:
            name: what shows up in thread lists and the log.
            work: runs in the thread; must not touch widgets.
            succeeded: called on the GUI thread with the return value.
            failed: called on the GUI thread with the exception, to tidy up and to show it where it belongs; None: it is
                emitted by `failed`. An exception that is a fault of the program is reported besides.
            cancel: makes ``work`` return soon; called on the GUI thread.
            patience_ms: so long the GUI thread waits for the end, which is then heard before this returns: what is
                quick as a rule happens in one go, and what is not never holds up the window.
            in_turn: whether the work waits for all that was started in turn before it.
        """
        task = Task(name, self._turns.after_all(work) if in_turn else work, cancel, self)
        if self._is_finished:
            return task  # a timer or a late event asks for it: a thread that outlives its window ends the program
        self._tasks.append(task)
        # The receiver object lives on the GUI thread, so Qt queues these calls over to it.
        receiver = _Receiver(self, task, succeeded, failed or self.failed.emit)
        task.finished.connect(receiver.on_finished)
        task.start()
        if patience_ms > 0 and task.wait(patience_ms):
            receiver.take_outcome()
        return task

    @property
    def is_busy(self) -> bool:
        """Whether any task is still at work, or its end has not been heard yet."""
        return any(task.isRunning() or (task.outcome and not self._is_finished) for task in self._tasks)

    def finish_all(self) -> None:
        """Cancels what can be cancelled and waits for every task; results that arrive later are dropped."""
        # What hears of an end might start the next task, which nobody would wait for any more.
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
        """Tells how it ended, once."""
        outcome, self._task.outcome = self._task.outcome, None
        if outcome is None or self._workers._is_finished:
            return
        result, error = outcome
        if error is None:
            self._succeeded(result)
        else:
            self._failed(error)
            # What the system refuses is not a fault of ours either.
            if not is_expected(error) and not isinstance(error, OSError):
                raise error

    def on_finished(self) -> None:
        try:
            self.take_outcome()
        finally:
            self._workers._forget(self._task)
            self.deleteLater()


class _Turns:
    """Makes pieces of work, each with a thread of its own, wait for those that were asked for before them."""

    def __init__(self) -> None:
        """Nothing to wait for."""
        self._last = threading.Event()
        self._last.set()

    def after_all(self, work: Callable[[], T]) -> Callable[[], T]:
        """The work, to be called in another thread, where it waits for its turn."""
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
"""Computes; is given what tells whether that is in vain by now."""


class LatestReader(QObject):
    """What is asked for last is computed next; what nobody waits for any more is given up."""

    read = Signal(object)  # what the work returned
    failed = Signal(object)  # AppError or StoreError

    def __init__(self, workers: Workers, parent: QObject, name: str, *, pause_ms: int = 0) -> None:
        """Nothing to compute.

        Args:
            workers: compute.
            parent: owns it.
            name: of what is computed, in lists of threads.
            pause_ms: before what has only grown further is computed again.
        """
        super().__init__(parent)
        self.patience_ms = 0  # what is computed quicker than this is there at once
        self._workers = workers
        self._name = name
        self._wanted: Work | None = None
        self._given_up: threading.Event | None = None  # of what is being computed
        self._pause = timer(self, self._start, pause_ms, is_single=True)

    @property
    def is_busy(self) -> bool:
        """Whether something is being computed, or will be."""
        return self._wanted is not None or self._given_up is not None

    def ask(self, work: Work, *, is_other: bool) -> None:
        """Computes that next.

        Args:
            work: what to compute.
            is_other: it is not the same grown further, but something else: at once, and instead of what was asked for
                before.
        """
        self._wanted = work
        if is_other:
            if self._given_up is not None:
                self._given_up.set()
            self._pause.stop()
        if self._given_up is None and not self._pause.isActive():
            self._start()

    def forget(self) -> None:
        """Gives up what is being computed, and what would be."""
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
