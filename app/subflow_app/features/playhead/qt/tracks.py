"""The drawn links as packets follow them; free of everything but the canvas, so that its probe can use it too."""

from __future__ import annotations

import numpy as np

from subflow_app.features.editor.qt.topology.items import LANE_PITCH, LinkItem, node_reach
from subflow_app.features.explain.core.instants import Track

# How far packets keep to the right of the middle of their lane, in shares of the distance of lanes.
_SIDE_SHARE = 0.18


def track_of(item: LinkItem) -> Track:
    """The line of a drawn link, with the lanes on it."""
    curve = item.curve
    assert curve is not None
    points = np.array([(point.x(), point.y()) for point in curve.points])
    normals = np.array([(normal.x(), normal.y()) for normal in curve.normals])
    first, second = item.router_ends
    return Track(
        points,
        normals,
        item.lane_offsets,
        item.half_width,
        _reach(normals[0], is_router=first),
        _reach(normals[-1], is_router=second),
        _SIDE_SHARE * min(LANE_PITCH, 2 * item.half_width),
    )


def _reach(normal: np.ndarray[tuple[int], np.dtype[np.float64]], *, is_router: bool) -> float:
    # The way is the normal turned by a right angle.
    return node_reach(float(normal[1]), float(normal[0]), is_router=is_router)
