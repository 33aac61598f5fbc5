"""The playhead of a window: which run is looked into, at what time, and what there was then."""

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
_DEFAULT_STEP_S = 0.1
_EVENTS_S = 0.5  # a run that goes on is asked this often what has happened


@dataclass(frozen=True)
class ScrubbedRun:
    """A run that can be looked into.

    Attributes:
        traces: its samples and marks.
        open_replay: makes its replay, in a worker thread; None: it has none, and its samples must do.
        read_events: reads what happened in it, in a worker thread.
        changes: live changes of a run that goes on, so far.
        known_s: how far it is, s; None: to its end.
    """

    traces: Traces
    open_replay: Callable[[], SeekableRun] | None
    read_events: Callable[[], RunEvents]
    changes: Callable[[], Sequence[LiveChange]] = lambda: ()
    known_s: Callable[[], float] | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it is not over yet."""
        return self.known_s is not None


class Playhead(QObject):
    """The time that everything in the window shows."""

    moved = Signal(float)  # the time shown now, s
    left = Signal()  # no time is looked at any more
    changed = Signal()  # run, playing, following, speed, how far the run is
    arrived = Signal()  # `instant` is another
    events_changed = Signal()
    failed = Signal(str)  # why there is no replay

    def __init__(self, workers: Workers, parent: QObject, clock: Callable[[], float] = time.monotonic) -> None:
        """Looks at nothing."""
        super().__init__(parent)
        self._workers = workers
        self._clock = clock
        self.runs: tuple[ScrubbedRun, ...] = ()  # those that can be looked into, in the order of the plots
        self.run_shown = 0  # position of the run among those that the plots show
        self.transport = Transport()  # where it stands and how it moves; to be read
        self._loop: SeekLoop | None = None
        self.events: RunEvents | None = None  # what happened in the run; None until it is read
        self.samples: RunSamples | None = None  # the samples of the run
        # The state of the simulation at a time near the one shown; None while only samples are known.
        self.instant: Instant | None = None
        self._ticked_at = 0.0
        self._event_kinds: frozenset[str] | None = None  # nobody has chosen any
        self.event_owner = ""  # whose events the list shows; everybody's if it is empty
        # The events that the list shows, and that next and previous go through: their rows, in order of time.
        self.event_rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._events_taken_at = -math.inf
        self._timer = timer(self, self.tick, FRAME_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)

    # ---- what is looked at ----

    @property
    def time_s(self) -> float | None:
        """The time that is looked at, s; None while nobody has gone to one."""
        return self.transport.time_s

    @property
    def shown_s(self) -> float:
        """Where the playhead is drawn, s."""
        return self.transport.shown_s

    @property
    def run(self) -> ScrubbedRun | None:
        """The run that is looked into."""
        return self.runs[self.run_shown] if self.runs else None

    @property
    def notice(self) -> str:
        """What is to be known about the replay of this run."""
        return self._loop.notice if self._loop is not None else ""

    @property
    def progress(self) -> float:
        """Share of the run for which snapshots are there, 0 to 1; 1 if none are being taken."""
        return self._loop.progress if self._loop is not None and self._loop.is_working else 1.0

    @property
    def is_waiting(self) -> bool:
        """Whether a replay is at work."""
        return self._loop is not None and self._loop.is_working

    # ---- which run ----

    def set_runs(self, runs: Sequence[ScrubbedRun], show: int = 0) -> None:
        """Looks into one of these, the same as before if it is among them."""
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
        """Looks into the run at this position among those that the plots show."""
        if run != self.run_shown and 0 <= run < len(self.runs):
            self._open(run)

    def _open(self, number: int) -> None:
        self._drop_replay()
        had_time = self.transport.time_s is not None
        self._timer.stop()
        self.run_shown, self.events, self.samples = number, None, None
        self.event_owner = ""
        run = self.run
        if run is None:
            self.transport.set_run(0.0, 0.0)
        else:
            # Imported here: a window without runs does without; so it is with the loop of seeks.
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
        # A run that was stopped early ends with its last sample, or less than an interval later.
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

    # ---- going to times ----

    def seek(self, time_s: float) -> None:
        """Goes to a time, or as near to it as the run has one."""
        if self.run is None:
            return
        self.transport.go_to(time_s)
        self._show()
        self.changed.emit()

    def step(self, by: int) -> None:
        """Goes to the next (1) or previous (-1) sample."""
        if self.run is not None:
            self.transport.step(by, self.step_s)
            self._show()
            self.changed.emit()

    @property
    def step_s(self) -> float:
        """How far a step goes, s."""
        return (self.samples.interval_s if self.samples is not None else 0.0) or _DEFAULT_STEP_S

    def go_to_event(self, by: int) -> None:
        """Goes to the next (1) or previous (-1) event of those that the list shows."""
        if self.events is None:
            return
        found = neighbour_s(self.events.times_s[self.event_rows], self.shown_s, by)
        if found is not None and found <= self.transport.known_s:
            self.transport.stop()
            self.seek(found)

    def go_to_start(self) -> None:
        """Goes to the beginning of the run."""
        self.seek(0.0)

    def go_to_end(self) -> None:
        """Goes to the end of the run; of one that goes on, stays with its newest time."""
        run = self.run
        if run is not None and run.goes_on:
            self.follow()
        else:
            self.seek(self.transport.known_s)

    def follow(self) -> None:
        """Stays with the newest time of a run that goes on."""
        self.transport.follow()
        self._rest()

    def leave(self) -> None:
        """Looks at no time any more."""
        run = self.run
        self.transport.leave(follows=run is not None and run.goes_on)
        self._rest()

    def _rest(self) -> None:
        self.instant = None
        self.left.emit()
        self.changed.emit()

    # ---- playing ----

    def toggle(self, direction: int = 1) -> None:
        """Plays forwards (1) or backwards (-1), or stands still if it does so already."""
        if self.run is None:
            return
        if self.transport.direction == direction:
            self.transport.stop()
        else:
            self.transport.play(direction)
            self._ticked_at = self._clock()
            self._show()
        self.changed.emit()

    def set_speed(self, speed: float) -> None:
        """Plays at so many simulated seconds per second."""
        self.transport.speed = speed
        self.changed.emit()

    def tick(self) -> None:
        """Plays on by the time that has passed, and takes over what the replay has found."""
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

    # ---- a run that goes on ----

    def on_run_grew(self) -> None:
        """Takes notice of how far the run is now."""
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
        """What was looked at stays: the replay of a run in memory is the same when it is over."""
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
        """Narrows the events down to these kinds, and to those of an owner unless that is empty."""
        self._event_kinds, self.event_owner = frozenset(kinds), owner
        self._choose_events()

    def _choose_events(self) -> None:
        events = self.events
        self.event_rows = (
            np.empty(0, np.int64) if events is None else events.rows_of(self._event_kinds, self.event_owner)
        )
        self.events_changed.emit()

    # ---- inside ----

    def _show(self) -> None:
        """Tells the time, and asks the replay for the state at it."""
        time_s = self.transport.time_s
        if time_s is None:
            return
        self.moved.emit(time_s)
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
        if found is not None and self.transport.time_s is not None:
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
        """Ends what goes on."""
        self._timer.stop()
        self._drop_replay()
