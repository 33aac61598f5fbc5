"""Data for drawing a run at one instant: samples of its links and subflows, and positions of packets on the links.

Samples are used for instants that have not been replayed. Each packet is drawn in the lane of its subflow.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.traces import LINK, SUBFLOW, SeriesKey, Traces
from subflow_app.vocabulary.palette import split_owner

if TYPE_CHECKING:
    from subflow_sim.instant import Instant


class LinkSample(NamedTuple):
    """Utilisation, queue and state of one direction of a link at one instant."""

    owner: str
    utilisation: float
    queue_pkts: float
    is_up: bool


class SubflowGauge(NamedTuple):
    """The windows of a subflow at one instant, in packets. Unknown values are NaN, and an unknown state is empty."""

    owner: str
    state: str
    cwnd_pkts: float
    ssthresh_pkts: float
    inflight_pkts: float


_GAUGED = ("cwnd_pkts", "ssthresh_pkts", "inflight_pkts")


class RunSamples:
    """Reads the samples of one run. If the run is active, new samples may appear between two calls."""

    def __init__(self, traces: Traces) -> None:
        """Collect the keys of the link and subflow traces."""
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
        self._largest: dict[SeriesKey, tuple[int, float]] = {}  # number of samples searched, and their maximum
        self._marks_taken = 0
        self._switches: dict[str, tuple[list[float], list[bool]]] = {}

    @property
    def link_owners(self) -> tuple[str, ...]:
        """The link directions that have samples, e.g. "wifi/forward"."""
        return tuple(self._links)

    @property
    def interval_s(self) -> float:
        """Sample interval in seconds; 0 before the second sample."""
        for key in self._traces.keys():  # noqa: SIM118 - a sequence
            times, _ = self._traces.read(key)
            return float(times[1] - times[0]) if len(times) > 1 else 0.0
        return 0.0

    @property
    def known_s(self) -> float:
        """Time of the latest sample in seconds; 0 before the first."""
        for key in self._traces.keys():  # noqa: SIM118 - a sequence
            times, _ = self._traces.read(key)
            return float(times[-1]) if len(times) else 0.0
        return 0.0

    @property
    def largest_cwnd_pkts(self) -> float:
        """Largest congestion window of any subflow in all samples, in packets; 0 before the first sample."""
        largest = 0.0
        for cwnd, *_ in self._subflows.values():
            if cwnd is None:
                continue
            _, values = self._traces.read(cwnd)
            count, known_pkts = self._largest.get(cwnd, (0, 0.0))
            if len(values) > count:
                # Search only new samples: searching all of them again would take too long for one frame of the
                # animation.
                new = values[count:]
                new = new[np.isfinite(new)]
                known_pkts = max(known_pkts, float(new.max()) if len(new) else 0.0)
                self._largest[cwnd] = len(values), known_pkts
            largest = max(largest, known_pkts)
        return largest

    def links_at(self, time_s: float) -> Iterator[LinkSample]:
        """State of every link direction at a given time. Each sample describes the interval that precedes it."""
        self._take_switches()
        for owner, (utilisation, queue) in self._links.items():
            share, length = self._value(utilisation, time_s), self._value(queue, time_s)
            yield LinkSample(
                owner, float(np.nan_to_num(share)), float(np.nan_to_num(length)), self._is_up(owner, time_s)
            )

    def gauges_at(self, time_s: float) -> list[SubflowGauge]:
        """The windows of the subflows at a given time, from the samples."""
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
    """The value of the sample whose interval contains a time, or else of the latest; NaN if both arrays are empty."""
    count = min(len(times), len(values))
    if count == 0:
        return float("nan")
    place = int(np.searchsorted(times[:count], time_s - 0.5e-9, side="left"))
    return float(values[min(place, count - 1)])


Floats = NDArray[np.float64]

MOST_PER_DIRECTION = 400
"""Maximum number of packets drawn on the wire of one direction; more would form a solid line."""


@dataclass(frozen=True, slots=True)
class Track:
    """The line along which a link is drawn, from its first end to its second, and the lanes parallel to it.

    Attributes:
        points: float64 [n, 2], n >= 2, scene units.
        normals: float64 [n, 2], unit vectors to the left of the line.
        lanes: distance of each lane to the left of the line, by subflow ("download/1") or datagram flow ("cross").
        half_width: half the width of the drawn link.
        first_reach: length that the first node covers at the beginning of the line.
        second_reach: length that the second node covers at the end of the line.
        side: distance of packets to the right of their lane, seen in their direction of travel.
    """

    points: Floats
    normals: Floats
    lanes: Mapping[str, float]
    half_width: float
    first_reach: float
    second_reach: float
    side: float = 0.0


class QueueMark(NamedTuple):
    """Position of the label with the number of queued packets."""

    owner: str
    x: float
    y: float
    waiting: int


@dataclass(frozen=True, slots=True)
class PacketPlaces:
    """Positions of the drawn packets; arrays have shape [n].

    Attributes:
        x: float64, scene units.
        y: float64, scene units.
        across_x: float64, x of the unit vector across the packet's direction of travel.
        across_y: float64, y of this vector.
        kind: uint8, kind of packet as in `Instant`.
        subflow: int32, index into the names of the instant's subflows.
        is_queued: bool, whether the packet is queued, and therefore drawn next to the link instead of on it.
        left_out: number of packets omitted because too many propagate in one direction of a link.
        queues: labels of the queues that are not empty.
    """

    x: Floats
    y: Floats
    across_x: Floats
    across_y: Floats
    kind: NDArray[np.uint8]
    subflow: NDArray[np.int32]
    is_queued: NDArray[np.bool_]
    left_out: int
    queues: tuple[QueueMark, ...] = ()

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True, slots=True)
class QueueStack:
    """Geometry of drawn queues: rows of dots next to the link, starting at the sending node.

    Attributes:
        pitch: distance between dots, scene units.
        rows: number of rows.
        gap: distance between the link and the nearest row, scene units.
        most_share: maximum fraction of a link's length that a queue covers.
    """

    pitch: float = 4.6
    rows: int = 3
    gap: float = 5.5
    most_share: float = 0.42


def packet_places(
    instant: Instant, tracks: Mapping[str, Track], *, most: int = MOST_PER_DIRECTION, stack: QueueStack | None = None
) -> PacketPlaces:
    """Compute the positions of packets on drawn links, but only of a subset if a wire or queue contains too many.

    Args:
        instant: the state of a simulation.
        tracks: lines of the links, by name of the link.
        most: maximum number of packets drawn on the wire of one direction.
        stack: geometry of drawn queues; None for the default.
    """
    packets, stack = instant.packets, stack or QueueStack()
    bases = [_lane_owner(name) for name in instant.subflows.names]
    found: list[PacketPlaces] = []
    # Packets are sorted by link, so each link has one slice.
    bounds = np.searchsorted(packets.link, np.arange(len(instant.links.names) + 1))
    for number, name in enumerate(instant.links.names):
        first, last = int(bounds[number]), int(bounds[number + 1])
        link, _, direction = name.partition("/")
        track = tracks.get(link)
        if first == last or track is None:
            continue
        rows = np.arange(first, last)
        on_wire = rows[packets.queue_position[rows] < 0]
        queued = rows[packets.queue_position[rows] >= 0]
        is_forward = direction != "reverse"
        shown = _thinned(on_wire, most)
        offsets = np.array([track.lanes.get(base, 0.0) for base in bases], np.float64)
        distance, along = _distances(track, packets.progress[shown].astype(np.float64), is_forward=is_forward)
        side = -track.side if is_forward else track.side
        found.append(
            PacketPlaces(
                *_points(track, distance, along, offsets[packets.subflow[shown]] + side),
                packets.kind[shown],
                packets.subflow[shown],
                np.full(len(shown), False),
                len(on_wire) - len(shown),
            )
        )
        if len(queued):
            found.append(_stacked(track, name, queued, instant, stack))
    return _joined(found)


def _lane_owner(name: str) -> str:
    """Key of a subflow's lane in `Track.lanes`. Copies of a flow share it: "download.3/2" has the key "download/2"."""
    flow, _, ordinal = split_owner(name)
    return f"{flow}/{ordinal}" if ordinal else flow


def _distances(track: Track, progress: Floats, *, is_forward: bool) -> tuple[Floats, Floats]:
    """Distances of the packets, and of the points of the line, from the first end of the line."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track.points, axis=0).T))])
    length = along[-1]
    start, end = track.first_reach, max(length - track.second_reach, track.first_reach)
    share = progress if is_forward else 1.0 - progress
    return start + share * (end - start), along


def _points(track: Track, distance: Floats, along: Floats, offset: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Coordinates x and y at an offset to the left of the line, and of the unit vectors across the line there."""
    x, y = (np.interp(distance, along, track.points[:, axis]) for axis in (0, 1))
    nx, ny = (np.interp(distance, along, track.normals[:, axis]) for axis in (0, 1))
    length = np.maximum(np.hypot(nx, ny), 1e-9)
    nx, ny = nx / length, ny / length
    return x + nx * offset, y + ny * offset, nx, ny


def _stacked(track: Track, owner: str, queued: NDArray[np.int64], instant: Instant, stack: QueueStack) -> PacketPlaces:
    """Positions of queued packets next to the link. The packet to be sent first is nearest to the sending node."""
    is_forward = not owner.endswith("/reverse")
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track.points, axis=0).T))])
    columns = max(1, int(along[-1] * stack.most_share / stack.pitch))
    room = columns * stack.rows
    # A queue longer than the space for its dots is thinned evenly. The label shows the true number.
    shown = queued if len(queued) <= room else queued[np.linspace(0, len(queued) - 1, room).astype(np.int64)]
    # One additional position for the label, after the last dot and in the middle row.
    place = np.append(np.arange(len(shown)), (len(shown) - 1) // stack.rows * stack.rows + stack.rows * 2 + 1)
    reach = track.first_reach if is_forward else track.second_reach
    from_node = reach + 4.0 + (place // stack.rows + 0.5) * stack.pitch
    distance = from_node if is_forward else along[-1] - from_node
    # Draw the queue to the right of the direction of travel, so that each direction of a link has its own side.
    out = track.half_width + stack.gap + (place % stack.rows) * stack.pitch
    x, y, nx, ny = _points(track, distance, along, -out if is_forward else out)
    count = len(shown)
    return PacketPlaces(
        x[:count],
        y[:count],
        nx[:count],
        ny[:count],
        instant.packets.kind[shown],
        instant.packets.subflow[shown],
        np.full(count, True),
        0,
        (QueueMark(owner, float(x[-1]), float(y[-1]), len(queued)),),
    )


def _thinned(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _joined(parts: Sequence[PacketPlaces]) -> PacketPlaces:
    def column(name: str, dtype: type[np.generic]) -> NDArray[Any]:
        return np.concatenate([np.empty(0, dtype), *(getattr(part, name) for part in parts)]).astype(dtype)

    return PacketPlaces(
        column("x", np.float64),
        column("y", np.float64),
        column("across_x", np.float64),
        column("across_y", np.float64),
        column("kind", np.uint8),
        column("subflow", np.int32),
        column("is_queued", np.bool_),
        sum(part.left_out for part in parts),
        tuple(mark for part in parts for mark in part.queues),
    )
