"""Handles seeks that arrive faster than a replay can answer them: the latest is answered, and older ones are dropped.

Between seeks, a first pass through the run takes snapshots. All replaying happens in `work`, which only one thread at a
time may call. Any thread may call the other methods.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from subflow_sim.instant import Instant

# Seconds without a seek before the first pass continues. During playback, thirty seeks arrive per second.
_REST_S = 0.15
# Seconds after which a newer seek cancels the current seek. Snapshots taken until then shorten the next seek.
_PATIENCE_S = 0.15


class SeekableRun(Protocol):
    """Methods of a replay that the loop needs; `replay.Replay` provides them."""

    @property
    def notice(self) -> str:
        """Warnings about the replay, as one text; may be empty."""

    def prepare(self, is_cancelled: Callable[[], bool], progress: Callable[[float], None]) -> bool:
        """Take snapshots throughout the run, continuing where an earlier call was cancelled; False if cancelled."""

    def seek(self, t_s: float, is_cancelled: Callable[[], bool]) -> Instant:
        """The state of the run at a time; raises ReplayCancelledError if cancelled."""


class SeekLoop:
    """Answers the seeks in one run, on the thread that calls `work`."""

    def __init__(self, open_run: Callable[[], SeekableRun], *, rest_s: float = _REST_S) -> None:
        """Store the function that opens the run; `work` calls it at the first seek."""
        self._open_run = open_run
        self._rest_s = rest_s
        self._run: SeekableRun | None = None
        self._changed = threading.Condition()
        self._wanted_s: float | None = None
        self._is_stopped = False
        self._is_prepared = False
        self.is_working = False  # True from the request that starts `work` until `work` returns
        self._found: tuple[float, Instant] | None = None
        self.progress = 0.0  # completed fraction of the first pass, 0 to 1
        # Warning about the replay of this run; empty before the first seek, and if no problem was found.
        self.notice = ""
        self._began = 0.0
        self.took_s: float | None = None  # duration of the latest answered seek, s

    def ask(self, time_s: float) -> bool:
        """Request the state at a time and drop older requests; True if the caller must call `work`."""
        with self._changed:
            if self._is_stopped:
                return False
            self._wanted_s = time_s
            self._changed.notify()
            has_to = not self.is_working
            # Set this before the caller starts `work`, so that no second caller starts it, too.
            self.is_working = True
            return has_to

    def take(self) -> tuple[float, Instant] | None:
        """Take the latest answer, with the time for which it was requested; None if no new answer has arrived."""
        with self._changed:
            found, self._found = self._found, None
        return found

    def grow(self) -> None:
        """Mark the first pass as incomplete, because the run has advanced."""
        self._is_prepared = False

    def stop(self) -> None:
        """Make `work` return soon; later requests are ignored."""
        with self._changed:
            self._is_stopped = True
            self._wanted_s = None
            self._changed.notify()

    def work(self) -> None:
        """Answer seeks until no request remains and the first pass is complete.

        Raises:
            Exception: any exception from opening or replaying the run; the loop cannot be used afterwards.
        """
        try:
            while True:
                with self._changed:
                    if self._wanted_s is None and not self._is_stopped:
                        self._changed.wait(self._rest_s)
                    wanted_s, self._wanted_s = self._wanted_s, None
                    # Reset under the lock, so that a later request starts another call of `work`.
                    if self._is_stopped or (wanted_s is None and self._is_prepared):
                        self.is_working = False
                        return
                self._do(wanted_s)
        except Exception:
            with self._changed:
                self.is_working, self._wanted_s, self._is_stopped = False, None, True
            raise

    def _do(self, wanted_s: float | None) -> None:
        from subflow_app.features.explain.core.replay import ReplayCancelledError

        if self._run is None:
            self._run = self._open_run()
            self.notice = self._run.notice
        if wanted_s is None:
            self._is_prepared = self._run.prepare(self._is_interrupted, self._take_progress)
            self.notice = self._run.notice
            return
        self._began = time.monotonic()
        try:
            instant = self._run.seek(wanted_s, self._is_overtaken)
        except ReplayCancelledError:
            return
        with self._changed:
            self._found = wanted_s, instant
            self.took_s = time.monotonic() - self._began

    def _is_interrupted(self) -> bool:
        return self._is_stopped or self._wanted_s is not None

    def _is_overtaken(self) -> bool:
        return self._is_stopped or (self._wanted_s is not None and time.monotonic() - self._began > _PATIENCE_S)

    def _take_progress(self, share: float) -> None:
        self.progress = share
