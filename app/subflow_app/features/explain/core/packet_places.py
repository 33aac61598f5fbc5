"""Where the packets of an instant are in a picture: along the lines of links, each in the lane of its subflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.vocabulary.owners import split_owner

if TYPE_CHECKING:
    from subflow_sim.instant import Instant

Floats = NDArray[np.float64]

MOST_PER_DIRECTION = 400
"""More packets on the wire of one direction are thinned: they would be a solid line."""


@dataclass(frozen=True, slots=True)
class Track:
    """The line of a link from its first end to its second, and the lanes beside it.

    Attributes:
        points: float64 [n, 2], n >= 2, scene units.
        normals: float64 [n, 2], unit vectors to the left of the way.
        lanes: how far to the left of the line a subflow runs, by the owner of its path ("download/1", "cross").
        half_width: how far the drawn link reaches to each side.
        first_reach: how much of the line's beginning the node there covers.
        second_reach: and of its end.
        side: how far packets keep to the right of their lane, in the way they go.
    """

    points: Floats
    normals: Floats
    lanes: Mapping[str, float]
    half_width: float
    first_reach: float
    second_reach: float
    side: float = 0.0


class QueueMark(NamedTuple):
    """Where the number of packets that wait is written, and how many there are."""

    owner: str
    x: float
    y: float
    waiting: int


@dataclass(frozen=True, slots=True)
class PacketPlaces:
    """Packets as a picture shows them; arrays are [n].

    Attributes:
        x: float64, scene units.
        y: float64.
        across_x: float64, unit vector across the way of the packet.
        across_y: float64.
        kind: uint8, as in the instant.
        subflow: int32, index into the names of the instant's subflows.
        is_queued: bool, it stands beside the link rather than on it.
        left_out: packets that are not shown, because there are too many of them on a link.
        queues: those that are not empty.
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
    """How queues are drawn: dots in rows beside the link, from the sending node on.

    Attributes:
        pitch: distance of the dots, scene units.
        rows: side by side.
        gap: between the link and the nearest row.
        most_share: of the length of a link that they take at most.
    """

    pitch: float = 4.6
    rows: int = 3
    gap: float = 5.5
    most_share: float = 0.42


def packet_places(
    instant: Instant, tracks: Mapping[str, Track], *, most: int = MOST_PER_DIRECTION, stack: QueueStack | None = None
) -> PacketPlaces:
    """Places every packet whose link is in the picture.

    Args:
        instant: the state of a simulation.
        tracks: by name of the link.
        most: packets on the wire of one direction that are shown.
        stack: how queues are drawn.
    """
    packets, stack = instant.packets, stack or QueueStack()
    bases = [_lane_owner(name) for name in instant.subflows.names]
    found: list[PacketPlaces] = []
    # Packets are sorted by link: one slice for each.
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
    """The path that a subflow of any copy of a flow takes: "download.3/2" goes where "download/2" does."""
    flow, _, ordinal = split_owner(name)
    return f"{flow}/{ordinal}" if ordinal else flow


def _distances(track: Track, progress: Floats, *, is_forward: bool) -> tuple[Floats, Floats]:
    """How far along the line, from its first end, packets are; and the distances of its points."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track.points, axis=0).T))])
    length = along[-1]
    start, end = track.first_reach, max(length - track.second_reach, track.first_reach)
    share = progress if is_forward else 1.0 - progress
    return start + share * (end - start), along


def _points(track: Track, distance: Floats, along: Floats, offset: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Places beside the line, and the unit vectors across it there."""
    x, y = (np.interp(distance, along, track.points[:, axis]) for axis in (0, 1))
    nx, ny = (np.interp(distance, along, track.normals[:, axis]) for axis in (0, 1))
    length = np.maximum(np.hypot(nx, ny), 1e-9)
    nx, ny = nx / length, ny / length
    return x + nx * offset, y + ny * offset, nx, ny


def _stacked(track: Track, owner: str, queued: NDArray[np.int64], instant: Instant, stack: QueueStack) -> PacketPlaces:
    """The packets that wait: beside the link at the node that sends them, the next to go nearest to it."""
    is_forward = not owner.endswith("/reverse")
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track.points, axis=0).T))])
    columns = max(1, int(along[-1] * stack.most_share / stack.pitch))
    room = columns * stack.rows
    # A queue longer than its room is drawn full, of every so many packets one: the number is written beside it.
    shown = queued if len(queued) <= room else queued[np.linspace(0, len(queued) - 1, room).astype(np.int64)]
    # One place more, behind the last dot and in the middle row: for the number.
    place = np.append(np.arange(len(shown)), (len(shown) - 1) // stack.rows * stack.rows + stack.rows * 2 + 1)
    reach = track.first_reach if is_forward else track.second_reach
    from_node = reach + 4.0 + (place // stack.rows + 0.5) * stack.pitch
    distance = from_node if is_forward else along[-1] - from_node
    # On the right of the way, so that the two directions of a link have a side each.
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
