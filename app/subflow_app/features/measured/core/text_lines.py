"""Reads lines and times from text files of measurements, of any size and content.

Times may be numbers in any unit, epochs or dates. Times that go back are repaired or refused. If samples have the same
time, only the last one is kept.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.measured.core.measured_table import MOST_LINE_BYTES, Clock
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import MOST_SECONDS, open_file


def text_lines(path: Path, encoding: str, watch: Callable[[float], None] | None = None) -> Iterator[str]:
    """Yield the lines of a file with their line ends. Undecodable bytes are replaced.

    Args:
        path: path of the file.
        encoding: encoding of the text.
        watch: called now and then with the fraction of the file that is read.

    Raises:
        InputError: if a line exceeds `MOST_LINE_BYTES`.
        OSError: if the file cannot be read.
    """
    with open_file(path) as file, io.TextIOWrapper(file, encoding, errors="replace", newline="") as text:
        number = 0
        size = max(1, os.fstat(file.fileno()).st_size)
        while line := text.readline(MOST_LINE_BYTES + 1):
            number += 1
            if watch is not None and number % _WATCH_EVERY == 0:
                watch(min(1.0, file.tell() / size))
            if len(line) > MOST_LINE_BYTES:
                raise InputError(f"{path.name}: line {number} is longer than {MOST_LINE_BYTES / 1e6:g} MB")
            yield line


_WATCH_EVERY = 4096  # lines between two reports of the progress

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}

_CLOCK_TIME = re.compile(r"(\d{1,2}):(\d{2}):(\d{2}(?:[.,]\d+)?)\Z")
# Longest plausible measurement, s: about 10 years. A number that exceeds it in ns, us or ms (tried in this order) must
# be a time since 1970 in that unit.
_EPOCH_S = 3e8


def guess_time_unit(first: float) -> str:
    """Unit of times like `first`: "ns", "us" or "ms" for times since 1970 in these units, otherwise "s"."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if abs(first) * scale > _EPOCH_S:
            return unit
    return "s"


def time_of(text: str) -> float | None:
    """Seconds since 1970 for a date (ISO 8601), or since midnight for a time (``HH:MM:SS``); None for other texts."""
    clock = _CLOCK_TIME.match(text.strip())
    if clock is not None:
        return int(clock[1]) * 3600.0 + int(clock[2]) * 60.0 + float(clock[3].replace(",", "."))
    try:
        moment = datetime.fromisoformat(text.strip().replace(",", "."))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    # OverflowError: the first day of the calendar, with a time zone east of Greenwich
    except (ValueError, OverflowError):
        return None


class Steps:
    """Times without backward steps, repaired as the user chose.

    Attributes:
        time_s: float64 [m], s, strictly increasing.
        kept: int [m], indices of the samples that belong to these times.
        notices: notes for the user, one sentence each.
    """

    def __init__(self, time_s: NDArray[np.float64], clock: Clock, where: Sequence[int] | None = None) -> None:
        """Repairs the times.

        Args:
            time_s: float64 [n], s, finite.
            clock: treatment of times that go back.
            where: line number of each time in the file; None to count from 1.

        Raises:
            InputError: if a time exceeds `MOST_SECONDS`, or goes back while `clock` is "refuse".
        """
        beyond = np.flatnonzero(np.abs(time_s) > MOST_SECONDS)
        if len(beyond):
            line = int(where[beyond[0]]) if where is not None else int(beyond[0]) + 1
            raise InputError(
                f"line {line}: a time of {time_s[beyond[0]]:.9g} s; allowed: up to {MOST_SECONDS:g} s (is the unit of"
                " the times right?)"
            )
        self.time_s = time_s
        self.kept: NDArray[np.intp] = np.arange(len(time_s))
        self.notices: list[str] = []
        back = np.flatnonzero(np.diff(time_s) < 0) + 1
        if len(back) == 0:
            self._drop_repeated()
            return
        line = int(where[back[0]]) if where is not None else int(back[0]) + 1
        text = (
            f"times go back {len(back)} time{'s' if len(back) > 1 else ''}, first in line {line}:"
            f" from {time_s[back[0] - 1]:.9g} s to {time_s[back[0]]:.9g} s"
        )
        if clock == "refuse":
            raise InputError(
                f"{text}. The clock was set, or files were joined: choose --clock sort (put the samples in"
                " order), drop (leave out what goes back) or join (shift the following samples)"
            )
        if clock == "sort":
            self.kept = np.argsort(time_s, kind="stable")
            self.time_s = time_s[self.kept]
            done = "the samples were put in order"
        elif clock == "drop":
            highest = np.maximum.accumulate(time_s)
            self.kept = np.flatnonzero(time_s >= highest)
            self.time_s = time_s[self.kept]
            done = f"{len(time_s) - len(self.kept)} samples were left out"
        else:
            step = np.diff(time_s)
            usual = float(np.median(step[step > 0])) if np.any(step > 0) else 0.0
            shift = np.zeros(len(time_s))
            shift[back] = usual - step[back - 1]
            self.time_s = time_s + np.cumsum(shift)
            done = "the samples after each were shifted to continue"
        self.notices.append(f"{text}; {done}.")
        self._drop_repeated()

    def _drop_repeated(self) -> None:
        """Keeps the last of several samples at the same time."""
        last = np.append(np.diff(self.time_s) > 0, True) if len(self.time_s) else np.empty(0, bool)
        repeated = int(np.count_nonzero(~last))
        if repeated:
            first = float(self.time_s[np.flatnonzero(~last)[0]])
            self.notices.append(
                f"{repeated} sample{'s' if repeated > 1 else ''} at a time that comes again, first at {first:.9g} s:"
                " the last at each time is kept."
            )
            self.time_s, self.kept = self.time_s[last], self.kept[last]
