"""Computes what a view shows off the GUI thread: what is asked for last is next, and never two things at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import Workers

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
