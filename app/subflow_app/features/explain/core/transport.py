"""The playhead of a run and its moves: by hand, by playing, or with a run that continues.

Times of a run also become text, with as many digits as can be distinguished, and typed times are read.
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
"""Simulated seconds per second that playing offers, from a thousandth to a hundred times."""

_LONGEST_FRAME_S = 0.25
# Times of a run are whole nanoseconds: nearer than this is the same time.
_SAME_S = 0.5e-9


@dataclass
class Transport:
    """One playhead; the caller has the clock.

    Attributes:
        end_s: length of the run as its scenario has it, s.
        known_s: how far the run is known, s: of one that goes on less than `end_s`.
        time_s: where the playhead stands, s; None until somebody wants to know.
        speed: simulated seconds per second while it plays.
        direction: 1 while it plays forwards, -1 backwards, 0 while it stands.
        follows: stays with the newest time of a run that goes on.
    """

    end_s: float = 0.0
    known_s: float = 0.0
    time_s: float | None = None
    speed: float = 1.0
    direction: int = 0
    follows: bool = False

    @property
    def is_playing(self) -> bool:
        """Whether it moves by itself."""
        return self.direction != 0

    @property
    def shown_s(self) -> float:
        """Where the playhead is drawn, s: of a run that nobody has looked into yet, at its newest time."""
        return self.known_s if self.time_s is None or self.follows else self.time_s

    def set_run(self, end_s: float, known_s: float, *, follows: bool = False) -> None:
        """Begins anew with another run."""
        self.end_s, self.known_s = end_s, min(known_s, end_s)
        self.time_s, self.direction, self.follows = None, 0, follows

    def set_known(self, known_s: float) -> bool:
        """Takes notice of how far the run is now; returns whether the playhead went along."""
        self.known_s = min(known_s, self.end_s)
        return self.follows

    def go_to(self, time_s: float) -> float:
        """Goes to a time, or as near as the run has one; stays there while the run goes on.

        Playing goes on from there.
        """
        self.follows = False
        self.time_s = min(max(time_s, 0.0), self.known_s)
        return self.time_s

    def follow(self) -> None:
        """Stays with the newest time from now on."""
        self.direction, self.follows, self.time_s = 0, True, None

    def leave(self, *, follows: bool) -> None:
        """Looks into the run no more; stays with its newest time if it goes on."""
        self.direction, self.follows, self.time_s = 0, follows, None

    def play(self, direction: int) -> None:
        """Plays forwards (1) or backwards (-1), from the other end if it stands at the one it would run against."""
        here = self.shown_s
        if direction > 0 and (self.time_s is None or here >= self.known_s - _SAME_S):
            here = 0.0
        elif direction < 0 and here <= _SAME_S:
            here = self.known_s
        self.go_to(here)
        self.direction = direction

    def stop(self) -> None:
        """Stands still."""
        self.direction = 0

    def advance(self, wall_s: float) -> float | None:
        """Plays on for a time on the clock, s; returns where the playhead is then, None if it stands.

        After a hold-up it goes on from where it was: a jump would show nothing.
        """
        if not self.direction or self.time_s is None:
            return None
        step_s = self.direction * self.speed * min(max(wall_s, 0.0), _LONGEST_FRAME_S)
        time_s = min(max(self.time_s + step_s, 0.0), self.known_s)
        # At the newest time of a run that goes on it waits for more.
        if self.direction > 0 and time_s >= self.known_s - _SAME_S >= self.end_s - 2 * _SAME_S:
            self.direction, time_s = 0, self.known_s
        elif self.direction < 0 and time_s <= 0.0:
            self.direction = 0
        self.time_s = time_s
        return time_s

    def step(self, by: int, interval_s: float) -> float:
        """Goes to the next (1) or previous (-1) multiple of an interval, and stands there."""
        self.direction = 0
        ns, interval_ns = round(self.shown_s * 1e9), max(1, round(interval_s * 1e9))
        number = ns // interval_ns + 1 if by > 0 else -(-ns // interval_ns) - 1
        return self.go_to(number * interval_ns / 1e9)


def neighbour_s(times_s: NDArray[np.float64], time_s: float, by: int) -> float | None:
    """The next (1) or previous (-1) of some times, float64 [n], s, in order; None if there is none."""
    if by > 0:
        place = int(np.searchsorted(times_s, time_s + _SAME_S, side="right"))
        return float(times_s[place]) if place < len(times_s) else None
    place = int(np.searchsorted(times_s, time_s - _SAME_S, side="left"))
    return float(times_s[place - 1]) if place else None


def speed_label(speed: float) -> str:
    """A speed of playing as a list offers it: ``1/1000×``, ``10×``."""
    return f"{speed:g}×" if speed >= 1.0 else f"1/{1.0 / speed:g}×"


_BARE = re.compile(r"\s*\d+(\.\d*)?\s*")
_LEAST_DECIMALS, _MOST_DECIMALS = 2, 9
_FRAMES_PER_S = 30.0


def decimals_for(resolution_s: float) -> int:
    """How many decimals of a second tell times so far apart from each other."""
    if resolution_s <= 0:
        return _MOST_DECIMALS
    return min(_MOST_DECIMALS, max(_LEAST_DECIMALS, math.ceil(-math.log10(resolution_s) - 1e-9)))


def shown_time(time_s: float, speed: float = 1.0) -> str:
    """A time with the digits that move visibly at a speed of playing: 12.345 s, at 1/1000 12.345678 s."""
    return f"{time_s:.{decimals_for(speed / _FRAMES_PER_S)}f} s"


def parse_time(text: str, end_s: float) -> float:
    """A time of a run that was typed, s; without a unit it is in seconds.

    Raises:
        InputError: if it is not a time, or none of the run.
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
