"""Seeks that come faster than they can be answered: the newest is answered next, and what it has overtaken is dropped.

While nobody waits, the first pass through the run takes its snapshots. All of this happens in one thread at a time,
which `work` is called in; everything else may be called from any.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from subflow_sim.instant import Instant

# So long nobody has wanted anything when the first pass goes on: playing asks thirty times a second.
_REST_S = 0.15
# A seek that somebody has overtaken is given up after so long; the states that it kept make the next one shorter.
_PATIENCE_S = 0.15


class SeekableRun(Protocol):
    """What a loop asks of a replay; `replay.Replay` has it."""

    @property
    def notice(self) -> str:
        """What a person should know about it; empty if all is well."""

    def prepare(self, is_cancelled: Callable[[], bool], progress: Callable[[float], None]) -> bool:
        """Takes snapshots throughout the run, from where it was cancelled; whether it came to the end."""

    def seek(self, t_s: float, is_cancelled: Callable[[], bool]) -> Instant:
        """The state of the run at a time; raises ReplayCancelledError if it was given up."""


class SeekLoop:
    """The seeks of one run."""

    def __init__(self, open_run: Callable[[], SeekableRun], *, rest_s: float = _REST_S) -> None:
        """Opens the run with the first seek, in the thread that works."""
        self._open_run = open_run
        self._rest_s = rest_s
        self._run: SeekableRun | None = None
        self._changed = threading.Condition()
        self._wanted_s: float | None = None
        self._is_stopped = False
        self._is_prepared = False
        self.is_working = False  # in some thread
        self._found: tuple[float, Instant] | None = None
        self.progress = 0.0  # share of the first pass that is done, 0 to 1
        # Warning about the replay of this run; empty if all is well, or before the first seek.
        self.notice = ""
        self._began = 0.0

    def ask(self, time_s: float) -> bool:
        """Wants the state at a time, and none asked for before; whether somebody has to call `work` for it now."""
        with self._changed:
            if self._is_stopped:
                return False
            self._wanted_s = time_s
            self._changed.notify()
            has_to = not self.is_working
            # Whoever asked calls it: nobody else shall be told the same.
            self.is_working = True
            return has_to

    def take(self) -> tuple[float, Instant] | None:
        """The newest answer, with the time that was asked for; once."""
        with self._changed:
            found, self._found = self._found, None
        return found

    def grow(self) -> None:
        """Takes notice that the run has gone on: the first pass is not complete any more."""
        self._is_prepared = False

    def stop(self) -> None:
        """Lets `work` return soon, for good."""
        with self._changed:
            self._is_stopped = True
            self._wanted_s = None
            self._changed.notify()

    def work(self) -> None:
        """Answers until nothing is asked for and all snapshots are there.

        Raises:
            Exception: whatever opening the run or going through it raises; then this loop is of no use any more.
        """
        try:
            while True:
                with self._changed:
                    if self._wanted_s is None and not self._is_stopped:
                        self._changed.wait(self._rest_s)
                    wanted_s, self._wanted_s = self._wanted_s, None
                    # In the same breath: what is asked for from now on needs another call.
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

    def _is_interrupted(self) -> bool:
        return self._is_stopped or self._wanted_s is not None

    def _is_overtaken(self) -> bool:
        return self._is_stopped or (self._wanted_s is not None and time.monotonic() - self._began > _PATIENCE_S)

    def _take_progress(self, share: float) -> None:
        self.progress = share
