"""Playhead of a window: the chosen run, the chosen time, and the state of the simulation at that time."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal

from subflow_app.features.explain.core.transport import Transport, neighbour_s
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.toolkit.workers import Workers

if TYPE_CHECKING:
    from subflow_app.features.explain.core.instants import RunSamples
    from subflow_app.features.explain.core.run_events import RunEvents
    from subflow_app.features.explain.core.seek_loop import SeekableRun, SeekLoop
    from subflow_app.features.running.core.live_changes import LiveChange
    from subflow_app.features.traces.core.traces import Traces
    from subflow_sim.instant import Instant

_log = logging.getLogger(__name__)

FRAME_MS = 33
_POINTING_MS = 16  # least interval between two previews
FAST_S = 0.030  # a preview shows packets if a replayed state takes less than this
_DEFAULT_STEP_S = 0.1
_EVENTS_S = 0.5  # interval between reads of new events of a running simulation, s


@dataclass(frozen=True)
class ScrubbedRun:
    """A run in which the playhead can move.

    Attributes:
        traces: samples and marks of the run.
        open_replay: opens the replay in a worker thread; None: only samples are available.
        read_events: reads the events of the run in a worker thread.
        changes: returns the live changes made to a running simulation.
        known_s: returns the time that has been simulated, s; None for a finished run.
    """

    traces: Traces
    open_replay: Callable[[], SeekableRun] | None
    read_events: Callable[[], RunEvents]
    changes: Callable[[], Sequence[LiveChange]] = lambda: ()
    known_s: Callable[[], float] | None = None

    @property
    def goes_on(self) -> bool:
        """True while the simulation is running."""
        return self.known_s is not None


class Playhead(QObject):
    """The time that all views of the window show."""

    moved = Signal(float)  # the time now shown, s
    left = Signal()  # the playhead no longer shows a time
    changed = Signal()  # run, playback, following, speed or simulated time has changed
    arrived = Signal()  # `instant` has changed
    events_changed = Signal()
    failed = Signal(str)  # reason why the replay is unavailable

    def __init__(self, workers: Workers, parent: QObject, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts without a run."""
        super().__init__(parent)
        self._workers = workers
        self._clock = clock
        self.runs: tuple[ScrubbedRun, ...] = ()  # runs with a playhead, in the order of the plots
        self.run_shown = 0  # position of the chosen run in `runs`
        self.transport = Transport()  # time and motion of the playhead; read-only for other classes
        self._loop: SeekLoop | None = None
        self.events: RunEvents | None = None  # events of the run; None until they are read
        self.samples: RunSamples | None = None
        # State of the simulation near the time shown; None while only samples are available.
        self.instant: Instant | None = None
        self.preview_s: float | None = None  # time under the mouse, s, shown until the mouse leaves
        self._pointed_s: float | None = None
        self._pointing = timer(self, self._show_pointed, _POINTING_MS, is_single=True)
        self._ticked_at = 0.0
        self._event_kinds: frozenset[str] | None = None  # None: the default kinds
        self.event_owner = ""  # owner of the listed events; empty: all owners
        # Rows of the listed events in order of time, also for "next event" and "previous event".
        self.event_rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._events_taken_at = -math.inf
        self._timer = timer(self, self.tick, FRAME_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)

    # ---- state ----

    @property
    def time_s(self) -> float | None:
        """The time shown, s; None while the playhead is not in use."""
        return self.transport.time_s

    @property
    def looked_s(self) -> float | None:
        """The time that all views show, s: that under the mouse, else that of the playhead; None without either."""
        return self.preview_s if self.preview_s is not None else self.transport.time_s

    @property
    def shown_s(self) -> float:
        """Position of the playhead on the time track, s."""
        return self.transport.shown_s

    @property
    def run(self) -> ScrubbedRun | None:
        """The chosen run; None if no runs are shown."""
        return self.runs[self.run_shown] if self.runs else None

    @property
    def notice(self) -> str:
        """Message about the replay of this run; may be empty."""
        return self._loop.notice if self._loop is not None else ""

    @property
    def progress(self) -> float:
        """Share of the run covered by snapshots, 0 to 1; 1 if the replay is idle."""
        return self._loop.progress if self._loop is not None and self._loop.is_working else 1.0

    @property
    def is_waiting(self) -> bool:
        """True while the replay is simulating."""
        return self._loop is not None and self._loop.is_working

    # ---- choice of the run ----

    def set_runs(self, runs: Sequence[ScrubbedRun], show: int = 0) -> None:
        """Sets the available runs. Keeps the chosen run if it is among them, or else chooses run number ``show``."""
        before = self.run
        self.runs = tuple(runs)
        same = [place for place, run in enumerate(runs) if before is not None and run.traces is before.traces]
        if same and before is not None:
            self.run_shown = same[0]
            if before.goes_on and not runs[same[0]].goes_on:
                self._on_run_ended()
            self.changed.emit()
            return
        self.run_shown = -1
        self._open(min(show, max(0, len(runs) - 1)))

    def set_run(self, run: int) -> None:
        """Chooses the run at this position in the plots."""
        if run != self.run_shown and 0 <= run < len(self.runs):
            self._open(run)

    def _open(self, number: int) -> None:
        self._drop_replay()
        had_time = self.looked_s is not None
        self._forget_pointed()
        self._timer.stop()
        self.run_shown, self.events, self.samples = number, None, None
        self.event_owner = ""
        run = self.run
        if run is None:
            self.transport.set_run(0.0, 0.0)
        else:
            # Imported here, like the seek loop below, because a window without runs needs neither.
            from subflow_app.features.explain.core.instants import RunSamples

            self.samples = RunSamples(run.traces)
            self.transport.set_run(run.traces.duration_s, self._known_s(), follows=run.goes_on)
        if had_time:
            self.left.emit()
        self._choose_events()
        self.changed.emit()
        if run is not None:
            self._read_events(run)

    def _known_s(self) -> float:
        run = self.run
        assert run is not None
        if run.known_s is not None:
            return run.known_s()
        assert self.samples is not None
        # A complete run may end an interval after its last sample. A run that was stopped early ends with its last
        # sample.
        known_s = self.samples.known_s
        is_whole = run.traces.duration_s - known_s <= 1.5 * max(self.samples.interval_s, 1e-9)
        return run.traces.duration_s if is_whole or known_s == 0.0 else known_s

    def _read_events(self, run: ScrubbedRun) -> None:
        def on_read(events: RunEvents) -> None:
            if self.run is not None and self.run.traces is run.traces:
                self.events = events
                self._choose_events()

        def on_failed(error: Exception) -> None:
            _log.info("the events of a run cannot be read: %s", error)

        if run.goes_on:
            on_read(run.read_events())
        else:
            self._workers.start("events", run.read_events, succeeded=on_read, failed=on_failed)

    # ---- seeking ----

    def seek(self, time_s: float) -> None:
        """Moves to a time, limited to the simulated part of the run."""
        if self.run is None:
            return
        self._forget_pointed()
        self.transport.go_to(time_s)
        self._show()
        self.changed.emit()

    def _forget_pointed(self) -> None:
        self._pointing.stop()
        self._pointed_s = self.preview_s = None

    def point_at(self, time_s: float | None) -> None:
        """Shows the time under the mouse in all views until the mouse leaves (None); the playhead stays in place."""
        self._pointed_s = time_s
        if not self._pointing.isActive():
            self._pointing.start()

    def _show_pointed(self) -> None:
        time_s = self._pointed_s
        if self.run is None or self.transport.is_playing or (time_s is None and self.preview_s is None):
            return
        if time_s is not None:
            time_s = min(max(time_s, 0.0), self.transport.known_s)
        if time_s == self.preview_s:
            return
        self.preview_s = time_s
        looked_s = self.looked_s
        if looked_s is None:
            self.instant = None
            self.left.emit()
            return
        if time_s is None or self.is_fast:
            self._want(looked_s)
        else:
            self.instant = None
        self.moved.emit(looked_s)

    @property
    def is_fast(self) -> bool:
        """True if the latest replayed state took so short that previews can show packets, too."""
        return self._loop is not None and self._loop.took_s is not None and self._loop.took_s < FAST_S

    def step(self, by: int) -> None:
        """Moves to the next (1) or previous (-1) sample."""
        if self.run is not None:
            self.transport.step(by, self.step_s)
            self._show()
            self.changed.emit()

    @property
    def step_s(self) -> float:
        """Length of a step, s: the sampling interval of the run."""
        return (self.samples.interval_s if self.samples is not None else 0.0) or _DEFAULT_STEP_S

    def go_to_event(self, by: int) -> None:
        """Moves to the next (1) or previous (-1) listed event."""
        if self.events is None:
            return
        found = neighbour_s(self.events.times_s[self.event_rows], self.shown_s, by)
        if found is not None and found <= self.transport.known_s:
            self.transport.stop()
            self.seek(found)

    def go_to_start(self) -> None:
        """Moves to the beginning of the run."""
        self.seek(0.0)

    def go_to_end(self) -> None:
        """Moves to the end of the run, or follows the latest time of a running simulation."""
        run = self.run
        if run is not None and run.goes_on:
            self.follow()
        else:
            self.seek(self.transport.known_s)

    def follow(self) -> None:
        """Follows the latest time of a running simulation."""
        self.transport.follow()
        self._rest()

    def leave(self) -> None:
        """Stops showing a chosen time, and follows a running simulation again."""
        run = self.run
        self.transport.leave(follows=run is not None and run.goes_on)
        self._rest()

    def _rest(self) -> None:
        self._forget_pointed()
        self.instant = None
        self.left.emit()
        self.changed.emit()

    # ---- playing ----

    def toggle(self, direction: int = 1) -> None:
        """Plays forwards (1) or backwards (-1), or pauses if it already plays in this direction."""
        if self.run is None:
            return
        if self.transport.direction == direction:
            self.transport.stop()
        else:
            self._forget_pointed()
            self.transport.play(direction)
            self._ticked_at = self._clock()
            self._show()
        self.changed.emit()

    def set_speed(self, speed: float) -> None:
        """Sets the speed of playback in simulated seconds per second."""
        self.transport.speed = speed
        self.changed.emit()

    def tick(self) -> None:
        """Advances playback by the elapsed time, and fetches states from the replay."""
        now = self._clock()
        passed_s, self._ticked_at = now - self._ticked_at, now
        was_playing = self.transport.is_playing
        if self.transport.advance(passed_s) is not None:
            self._show()
        self._take_found()
        if was_playing != self.transport.is_playing or self.is_waiting:
            self.changed.emit()
        if not self.transport.is_playing and not self.is_waiting:
            self._timer.stop()
            self._take_found()
            self.changed.emit()

    # ---- running simulations ----

    def on_run_grew(self) -> None:
        """Updates the simulated time of a running simulation."""
        run = self.run
        if run is None or not run.goes_on:
            return
        self.transport.set_known(self._known_s())
        if self._loop is not None:
            self._loop.grow()
        if self._clock() - self._events_taken_at > _EVENTS_S:
            self._take_events()
        self.changed.emit()

    def _on_run_ended(self) -> None:
        """Keeps time and replay, because the replay of a run in memory remains valid after the run has ended."""
        self.transport.set_known(self._known_s())
        self.transport.follows = False
        if self._loop is not None:
            self._loop.grow()
        self._take_events()

    def _take_events(self) -> None:
        self._events_taken_at = self._clock()
        run = self.run
        if run is not None and self.events is not None and self.events.take_new(run.changes()):
            self._choose_events()

    # ---- events ----

    def set_event_filter(self, kinds: Collection[str], owner: str) -> None:
        """Filters the events by these kinds, and by this owner unless it is empty."""
        self._event_kinds, self.event_owner = frozenset(kinds), owner
        self._choose_events()

    def _choose_events(self) -> None:
        events = self.events
        self.event_rows = (
            np.empty(0, np.int64) if events is None else events.rows_of(self._event_kinds, self.event_owner)
        )
        self.events_changed.emit()

    # ---- internals ----

    def _show(self) -> None:
        """Announces the time, and requests the state at this time from the replay."""
        time_s = self.transport.time_s
        if time_s is None:
            return
        self.moved.emit(time_s)
        self._want(time_s)

    def _want(self, time_s: float) -> None:
        """Requests the state at a time from the replay, and looks for the answer."""
        self._ask(time_s)
        if not self._timer.isActive():
            self._ticked_at = self._clock()
            self._timer.start()

    def _ask(self, time_s: float) -> None:
        run = self.run
        if run is None or run.open_replay is None:
            return
        if self._loop is None:
            from subflow_app.features.explain.core.seek_loop import SeekLoop

            self._loop = SeekLoop(run.open_replay)
        loop = self._loop
        if loop.ask(time_s):
            self._workers.start(
                "replay",
                loop.work,
                succeeded=lambda _none: self._take_found(),
                failed=lambda error: self._on_failed(loop, error),
                cancel=loop.stop,
            )

    def _take_found(self) -> None:
        found = self._loop.take() if self._loop is not None else None
        if found is not None and self.looked_s is not None:
            self.instant = found[1]
            self.arrived.emit()

    def _on_failed(self, loop: SeekLoop, error: Exception) -> None:
        if loop is self._loop:
            self.instant = None
            self.failed.emit(error_text(error))
            self.changed.emit()

    def _drop_replay(self) -> None:
        if self._loop is not None:
            self._loop.stop()
        self._loop = self.instant = None

    def close(self) -> None:
        """Ends playback and replay."""
        self._pointing.stop()
        self._timer.stop()
        self._drop_replay()
