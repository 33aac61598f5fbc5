"""Turns events of packets into columns with one row per interval, and names the flows and subflows of a file."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.measured.core.measured_table import (
    BY_NAME,
    LEAST_INTERVAL_S,
    MOST_SAMPLES,
    RawColumn,
    ReadingOptions,
    Target,
)
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import count_text, counted
from subflow_sim.gate import MOST_SECONDS

_SHORTEST_S, _USUAL_S = 0.001, 0.1
_RELATIVE_S = 1e6  # clocks that show more count from 1970, or from the start of a machine
_MOST_AMOUNT = 1e15  # bytes of a packet, far more than any has
_MOST_MADE = 10_000_000  # figures; those of a file may be twice as many, but here times and sums take memory, too
_MOST_SHORT = 100  # samples after which a shorter interval than the usual one becomes ten times as long


class FlowNames:
    """Names of the flows and subflows of a file: ``measured/1``, ``measured/2``, ``measured.2/1``."""

    def __init__(self, flow: str) -> None:
        """Names the first connection `flow`, and the following ones `flow`.2, `flow`.3, ..."""
        self._flow = flow
        self._flows: dict[Hashable, str] = {}
        self._counts: dict[str, int] = {}

    def flow_of(self, connection: Hashable) -> str:
        """Name of the flow of a connection, which any hashable value identifies."""
        if connection not in self._flows:
            number = len(self._flows) + 1
            self._flows[connection] = self._flow if number == 1 else f"{self._flow}.{number}"
        return self._flows[connection]

    def subflow_of(self, connection: Hashable) -> str:
        """Name of the next subflow of a connection."""
        flow = self.flow_of(connection)
        self._counts[flow] = self._counts.get(flow, 0) + 1
        return f"{flow}/{self._counts[flow]}"


def titled(owner: str, addressed: str, trace: str, options: ReadingOptions) -> tuple[str, str]:
    """Title and alias of a column: the title contains addresses only if the options ask for them.

    Args:
        owner: name of the subflow.
        addressed: the two ends of the connection, such as "10.0.0.1:5001 > 10.0.0.2:40001".
        trace: last part of the title.
        options: choices of the user.
    """
    alias = f"{addressed}: {trace}"
    return (alias if options.is_addressed else f"{owner}: {trace}"), alias


class Named(NamedTuple):
    """Names of a subflow.

    Attributes:
        owner: name in the run.
        title: beginning of the titles of its columns.
        alias: beginning of their aliases, with addresses; empty without aliases.
    """

    owner: str
    title: str
    alias: str = ""


@dataclass(slots=True)
class _Series:
    """Events of one subflow by trace and interval: `sums` of bytes and packets, and the last `states`."""

    sums: dict[str, dict[int, float]] = field(default_factory=dict)
    states: dict[str, dict[int, float]] = field(default_factory=dict)


class Bins:
    """Collects events of packets, and returns a column for each subflow and trace.

    Without a chosen interval, files of at least 1 s have samples every 100 ms like simulated runs, shorter ones every
    10 or 1 ms.
    """

    def __init__(self, interval_s: float | None) -> None:
        """Collects events in intervals of `interval_s` seconds; None to choose the interval by the duration.

        Raises:
            InputError: if the interval is not allowed.
        """
        if interval_s is not None and not LEAST_INTERVAL_S <= interval_s <= MOST_SECONDS:
            raise InputError(
                f"an interval of {interval_s:g} s; allowed: from {LEAST_INTERVAL_S:g} s to {MOST_SECONDS:g} s"
            )
        self.interval_s = interval_s or _SHORTEST_S
        self._is_chosen = interval_s is not None
        self.first_s: float | None = None
        self._last = 0
        self._series: dict[str, _Series] = {}
        self._latest_s = 0.0
        self._gap = (0.0, 0.0)  # length and start of the longest gap, s

    def place_of(self, at_s: float) -> int:
        """Index of the interval of a time. Times before the first one belong to the first interval.

        Raises:
            InputError: if the time is not allowed.
        """
        if not abs(at_s) <= MOST_SECONDS:
            raise InputError(
                f"a time of {at_s:g} s; allowed: up to {MOST_SECONDS:g} s (is the unit of the times right?)"
            )
        if self.first_s is None:
            self._latest_s = at_s
            step_s = self.interval_s if self._is_chosen else _USUAL_S
            # Times on a clock that began with the measurement keep their meaning: their intervals begin at multiples.
            is_relative = 0 <= at_s < _RELATIVE_S
            self.first_s = math.floor(at_s / step_s + 1e-9) * step_s if is_relative else at_s
        self._gap = max(self._gap, (at_s - self._latest_s, self._latest_s - self.first_s))
        self._latest_s = max(self._latest_s, at_s)
        place = max(0, int((at_s - self.first_s) / self.interval_s))
        while place >= _MOST_SHORT and not self._is_chosen and self.interval_s < 0.5 * _USUAL_S:
            self._coarsen()
            place = max(0, int((at_s - self.first_s) / self.interval_s))
        self._last = max(self._last, place)
        return place

    def _coarsen(self) -> None:
        """Make the intervals ten times as long."""
        self.interval_s *= 10
        self._last //= 10
        for series in self._series.values():
            for trace, sums in series.sums.items():
                merged: dict[int, float] = {}
                for place, amount in sums.items():
                    merged[place // 10] = merged.get(place // 10, 0.0) + amount
                series.sums[trace] = merged
            for trace, states in series.states.items():
                series.states[trace] = {place // 10: states[place] for place in sorted(states)}

    def add(self, key: str, trace: str, place: int, amount: float) -> None:
        """Add bytes (for traces in bit/s) or packets to an interval of a subflow, which any text identifies.

        Raises:
            InputError: if the number is beyond all that a packet may have.
        """
        if not abs(amount) <= _MOST_AMOUNT:
            raise InputError(f"a packet of {amount:g} bytes; allowed: at most {_MOST_AMOUNT:g}")
        sums = self._series.setdefault(key, _Series()).sums.setdefault(trace, {})
        sums[place] = sums.get(place, 0.0) + amount

    def hold(self, key: str, trace: str, place: int, value: float) -> None:
        """Set the value of a state of a subflow, which lasts until the next one."""
        self._series.setdefault(key, _Series()).states.setdefault(trace, {})[place] = value

    @property
    def keys(self) -> tuple[str, ...]:
        """The subflows with events, in the order of their first events."""
        return tuple(self._series)

    def total(self, key: str, trace: str) -> float:
        """Sum of all amounts added for a trace."""
        return sum(self._series[key].sums.get(trace, {}).values()) if key in self._series else 0.0

    def drop(self, key: str, trace: str) -> None:
        """Forget a trace of a subflow."""
        self._series[key].sums.pop(trace, None)

    def rename(self, key: str, trace: str, name: str) -> None:
        """Give a trace of a subflow another name."""
        self._series[key].sums[name] = self._series[key].sums.pop(trace)

    def columns(self, file: str, named: Mapping[str, Named], units: Mapping[str, str]) -> list[RawColumn]:
        """The columns of some subflows.

        Args:
            file: name of the file, for messages.
            named: names of the subflows by key.
            units: unit in which states were held, by trace. Sums of traces in bit/s are bytes.

        Raises:
            InputError: if the columns would have too many rows or values.
        """
        count = self._last + 1
        chosen = {key: self._series[key] for key in named}
        wanted = sum(len(each.sums) + len(each.states) for each in chosen.values())
        _check_size(file, count, len(chosen), wanted, self.interval_s, self._gap)
        time_s = (self.first_s or 0.0) + self.interval_s * np.arange(1, count + 1, dtype=np.float64)
        columns = []
        for key, series in chosen.items():
            for trace in (name for name in BY_NAME if name in series.sums or name in series.states):
                if trace in series.states:
                    values, unit = _held(series.states[trace], count), units[trace]
                elif trace.endswith("_bps"):
                    values, unit = _counts(series.sums[trace], count) * 8 / self.interval_s, "bit/s"
                else:
                    values, unit = _counts(series.sums[trace], count), "pkt"
                what = trace.rpartition("_")[0]
                owner, title, alias = named[key]
                columns.append(
                    RawColumn(
                        f"{title}: {what}",
                        time_s,
                        values,
                        unit,
                        Target(SUBFLOW, owner, trace),
                        alias=f"{alias}: {what}" if alias else "",
                    )
                )
        return columns


def _check_size(file: str, samples: int, flows: int, columns: int, interval_s: float, gap: tuple[float, float]) -> None:
    """Refuses packets that would become too many samples.

    Args:
        file: name of the file.
        samples: number of intervals.
        flows: number of connections.
        columns: number of columns of all connections.
        interval_s: sampling interval, s.
        gap: length and start of the longest gap between packets, s.

    Raises:
        InputError: if the numbers exceed `MOST_SAMPLES` or `_MOST_MADE`.
    """
    if samples * columns > _MOST_MADE or samples > MOST_SAMPLES:
        raise InputError(
            f"{file}: {counted(flows, 'connection')} over {samples * interval_s:.6g} s, every"
            f" {interval_s:g} s, would be {count_text(samples)} samples of {columns} traces; at most"
            f" {count_text(MOST_SAMPLES)} samples and {count_text(_MOST_MADE)} figures are made. The longest"
            f" gap without a packet is {gap[0]:.6g} s, {gap[1]:.6g} s after the first: choose a longer interval,"
            " or cut the capture (editcap -A START -B STOP)"
        )


def _counts(by_place: Mapping[int, float], count: int) -> NDArray[np.float64]:
    """Amounts by interval as float64 [count]; 0 without an event."""
    values = np.zeros(count)
    values[list(by_place)] = list(by_place.values())
    return values


def _held(by_place: Mapping[int, float], count: int) -> NDArray[np.float64]:
    """Series, float64 [count], that holds each value until the next one; NaN before the first."""
    values = np.full(count, np.nan)
    values[list(by_place)] = list(by_place.values())
    places = np.where(np.isfinite(values), np.arange(count), -1)
    last = np.maximum.accumulate(places)
    return np.where(last >= 0, values[np.maximum(last, 0)], np.nan)
