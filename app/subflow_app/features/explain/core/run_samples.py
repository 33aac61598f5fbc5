"""What the samples of a run say of its links and subflows at a time: for the picture, where nothing finer is known."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.traces import LINK, SUBFLOW, SeriesKey, Traces


class LinkSample(NamedTuple):
    """A direction of a link at a time."""

    owner: str
    utilisation: float
    queue_pkts: float
    is_up: bool


class SubflowGauge(NamedTuple):
    """The window of a subflow at a time; NaN where nothing is known."""

    owner: str
    state: str
    cwnd_pkts: float
    ssthresh_pkts: float
    inflight_pkts: float


_GAUGED = ("cwnd_pkts", "ssthresh_pkts", "inflight_pkts")


class RunSamples:
    """Reads those of one run; a run that goes on has more of them each time."""

    def __init__(self, traces: Traces) -> None:
        """Knows which traces there are."""
        self._traces = traces
        keys = {(key.scope, key.owner, key.name): key for key in traces.keys()}  # noqa: SIM118 - a sequence
        self._links = {
            owner: (key, keys[LINK, owner, "queue_pkts"])
            for (scope, owner, name), key in keys.items()
            if scope == LINK and name == "utilisation" and (LINK, owner, "queue_pkts") in keys
        }
        self._subflows = {
            owner: [keys.get((SUBFLOW, owner, each)) for each in _GAUGED]
            for (scope, owner, name) in keys
            if scope == SUBFLOW and name == "cwnd_pkts"
        }
        self._largest: dict[SeriesKey, tuple[int, float]] = {}  # samples looked at, and their largest
        self._marks_taken = 0
        self._switches: dict[str, tuple[list[float], list[bool]]] = {}

    @property
    def link_owners(self) -> tuple[str, ...]:
        """Directions of links, "wifi/forward"."""
        return tuple(self._links)

    @property
    def interval_s(self) -> float:
        """Time between two samples, s; 0 before the second."""
        for key in self._traces.keys():  # noqa: SIM118 - a sequence
            times, _ = self._traces.read(key)
            return float(times[1] - times[0]) if len(times) > 1 else 0.0
        return 0.0

    @property
    def known_s(self) -> float:
        """Time of the newest sample, s; 0 before the first."""
        for key in self._traces.keys():  # noqa: SIM118 - a sequence
            times, _ = self._traces.read(key)
            return float(times[-1]) if len(times) else 0.0
        return 0.0

    @property
    def largest_cwnd_pkts(self) -> float:
        """Of all subflows so far, packets; 0 before the first sample."""
        largest = 0.0
        for cwnd, *_ in self._subflows.values():
            if cwnd is None:
                continue
            _, values = self._traces.read(cwnd)
            count, known_pkts = self._largest.get(cwnd, (0, 0.0))
            if len(values) > count:
                # Each sample is looked at once: a frame has no time for all of them.
                new = values[count:]
                new = new[np.isfinite(new)]
                known_pkts = max(known_pkts, float(new.max()) if len(new) else 0.0)
                self._largest[cwnd] = len(values), known_pkts
            largest = max(largest, known_pkts)
        return largest

    def links_at(self, time_s: float) -> Iterator[LinkSample]:
        """What every direction does at a time: a sample counts for the interval that it ends."""
        self._take_switches()
        for owner, (utilisation, queue) in self._links.items():
            share, length = self._value(utilisation, time_s), self._value(queue, time_s)
            yield LinkSample(
                owner, float(np.nan_to_num(share)), float(np.nan_to_num(length)), self._is_up(owner, time_s)
            )

    def gauges_at(self, time_s: float) -> list[SubflowGauge]:
        """The windows of the subflows at a time."""
        return [
            SubflowGauge(owner, "", *(np.nan if key is None else self._value(key, time_s) for key in keys))
            for owner, keys in self._subflows.items()
        ]

    def _value(self, key: SeriesKey, time_s: float) -> float:
        times, values = self._traces.read(key)
        return sample_at(times, values, time_s)

    def _take_switches(self) -> None:
        marks = self._traces.marks()
        for mark in marks[self._marks_taken :]:
            if mark.kind in ("link_up", "link_down"):
                times, states = self._switches.setdefault(mark.owner, ([], []))
                times.append(mark.time_s)
                states.append(mark.kind == "link_up")
        self._marks_taken = len(marks)

    def _is_up(self, owner: str, time_s: float) -> bool:
        times, states = self._switches.get(owner) or self._switches.get(owner.partition("/")[0]) or ([], [])
        place = bisect.bisect_right(times, time_s)
        return states[place - 1] if place else True


def sample_at(times: NDArray[np.float64], values: NDArray[np.float32], time_s: float) -> float:
    """The sample whose interval a time lies in, or the newest; NaN if there is none."""
    count = min(len(times), len(values))
    if count == 0:
        return float("nan")
    place = int(np.searchsorted(times[:count], time_s - 0.5e-9, side="left"))
    return float(values[min(place, count - 1)])
