"""Computes what the panel shows off the GUI thread: at most twice a second, and never two things at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from subflow_app.qt.workers import Workers

Work = Callable[[Callable[[], bool]], object]
"""Computes; is given what tells whether that is in vain by now."""

_PAUSE_MS = 500


class LatestReader(QObject):
    """What is asked for last is computed next; what nobody waits for any more is given up."""

    read = Signal(object)  # what the work returned
    failed = Signal(object)  # AppError or StoreError

    def __init__(self, workers: Workers, parent: QObject) -> None:
        """Nothing to compute."""
        super().__init__(parent)
        self._workers = workers
        self._wanted: Work | None = None
        self._given_up: threading.Event | None = None  # of what is being computed
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._start)

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
            "fairness",
            lambda: work(given_up.is_set),
            succeeded=on_read,
            failed=on_failed,
            cancel=given_up.set,
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
