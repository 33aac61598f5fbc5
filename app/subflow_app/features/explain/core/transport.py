"""The playhead of a run, which moves by hand, during playback, or along with an active run.

The module also formats times of a run with a suitable number of digits, and parses typed times.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity

SPEEDS: tuple[float, ...] = (
    *(mantissa * 10.0**exponent for exponent in range(-3, 2) for mantissa in (1.0, 2.0, 5.0)),
    100.0,
)
"""Playback speeds, in simulated seconds per second, from a thousandth to a hundred."""

_LONGEST_FRAME_S = 0.25
# Times of a run are whole nanoseconds, so times closer together than this are equal.
_SAME_S = 0.5e-9


@dataclass
class Transport:
    """One playhead; the caller provides the clock.

    Attributes:
        end_s: duration of the scenario, s.
        known_s: time up to which the run is known, s; less than `end_s` for an active or stopped run.
        time_s: time of the playhead, s; None before the first seek, and while the playhead follows the run.
        speed: simulated seconds per second while playing.
        direction: 1 while playing forwards, -1 backwards, 0 while stopped.
        follows: whether the playhead stays at the latest time of an active run.
    """

    end_s: float = 0.0
    known_s: float = 0.0
    time_s: float | None = None
    speed: float = 1.0
    direction: int = 0
    follows: bool = False

    @property
    def is_playing(self) -> bool:
        """True while the playhead plays."""
        return self.direction != 0

    @property
    def shown_s(self) -> float:
        """Displayed time of the playhead, s; the latest time of the run before the first seek or while following."""
        return self.known_s if self.time_s is None or self.follows else self.time_s

    def set_run(self, end_s: float, known_s: float, *, follows: bool = False) -> None:
        """Reset the playhead for a different run: playback is stopped, and the time is None."""
        self.end_s, self.known_s = end_s, min(known_s, end_s)
        self.time_s, self.direction, self.follows = None, 0, follows

    def set_known(self, known_s: float) -> bool:
        """Set the known time of the run; True if the playhead moved with it."""
        self.known_s = min(known_s, self.end_s)
        return self.follows

    def go_to(self, time_s: float) -> float:
        """Move to a time, limited to the known part, and stop following the run.

        Playback, if active, continues from there.
        """
        self.follows = False
        self.time_s = min(max(time_s, 0.0), self.known_s)
        return self.time_s

    def follow(self) -> None:
        """Stop playback, and follow the latest time from now on."""
        self.direction, self.follows, self.time_s = 0, True, None

    def leave(self, *, follows: bool) -> None:
        """Stop playback and forget the time; with ``follows``, follow the latest time of the run from now on."""
        self.direction, self.follows, self.time_s = 0, follows, None

    def play(self, direction: int) -> None:
        """Play forwards (1) or backwards (-1). If the playhead is at the end in that direction, start at the other end.

        Before the first seek, forward playback starts at 0.
        """
        here = self.shown_s
        if direction > 0 and (self.time_s is None or here >= self.known_s - _SAME_S):
            here = 0.0
        elif direction < 0 and here <= _SAME_S:
            here = self.known_s
        self.go_to(here)
        self.direction = direction

    def stop(self) -> None:
        """Stop playback, and leave the playhead at its time."""
        self.direction = 0

    def advance(self, wall_s: float) -> float | None:
        """Advance playback by ``wall_s`` seconds of real time; return the new time, s, or None if it is stopped.

        A frame longer than 0.25 s counts as 0.25 s, so that the playhead does not jump if the window was delayed.
        """
        if not self.direction or self.time_s is None:
            return None
        step_s = self.direction * self.speed * min(max(wall_s, 0.0), _LONGEST_FRAME_S)
        time_s = min(max(self.time_s + step_s, 0.0), self.known_s)
        # Playback ends at the end of the scenario. At the latest time of an active run, it waits for more samples.
        if self.direction > 0 and time_s >= self.known_s - _SAME_S >= self.end_s - 2 * _SAME_S:
            self.direction, time_s = 0, self.known_s
        elif self.direction < 0 and time_s <= 0.0:
            self.direction = 0
        self.time_s = time_s
        return time_s

    def step(self, by: int, interval_s: float) -> float:
        """Move to the next (1) or previous (-1) multiple of an interval, and stop playback."""
        self.direction = 0
        ns, interval_ns = round(self.shown_s * 1e9), max(1, round(interval_s * 1e9))
        number = ns // interval_ns + 1 if by > 0 else -(-ns // interval_ns) - 1
        return self.go_to(number * interval_ns / 1e9)


def neighbour_s(times_s: NDArray[np.float64], time_s: float, by: int) -> float | None:
    """The next (1) or previous (-1) time in an ascending array, float64 [n], s; None beyond its last or first time."""
    if by > 0:
        place = int(np.searchsorted(times_s, time_s + _SAME_S, side="right"))
        return float(times_s[place]) if place < len(times_s) else None
    place = int(np.searchsorted(times_s, time_s - _SAME_S, side="left"))
    return float(times_s[place - 1]) if place else None


def speed_label(speed: float) -> str:
    """Label of a speed in the list: ``1/1000×``, ``10×``."""
    return f"{speed:g}×" if speed >= 1.0 else f"1/{1.0 / speed:g}×"


_BARE = re.compile(r"\s*\d+(\.\d*)?\s*")
_LEAST_DECIMALS, _MOST_DECIMALS = 2, 9
_FRAMES_PER_S = 30.0


def decimals_for(resolution_s: float) -> int:
    """Number of decimals, 2 to 9, needed to distinguish times that are ``resolution_s`` apart."""
    if resolution_s <= 0:
        return _MOST_DECIMALS
    return min(_MOST_DECIMALS, max(_LEAST_DECIMALS, math.ceil(-math.log10(resolution_s) - 1e-9)))


def shown_time(time_s: float, speed: float = 1.0) -> str:
    """A time with as many digits as change between frames of playback: 12.34 s, or 12.34567 s at speed 1/1000."""
    return f"{time_s:.{decimals_for(speed / _FRAMES_PER_S)}f} s"


def parse_time(text: str, end_s: float) -> float:
    """Parse a typed time of a run. A number without a unit is in seconds.

    Raises:
        InputError: if the text is not a time, or the time lies outside the run.
    """
    try:
        time_s = float(text) if _BARE.fullmatch(text) else parse_quantity(text, Dimension.TIME)
    except ParamError as error:
        raise InputError(tr('"{text}" is not a time: write 12.5s or 12500ms', text=text.strip())) from error
    if not 0.0 <= time_s <= end_s:
        raise InputError(
            tr('"{text}" is not in this run, which goes from 0 s to {end} s', text=text.strip(), end=f"{end_s:.6g}")
        )
    return time_s
