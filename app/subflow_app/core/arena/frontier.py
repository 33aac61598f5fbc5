"""Who is on the frontier of two columns: nobody else is at least as good in both, and better in one.

The frontier is of those who heed the network: the oracle knows it, and who sends blindly has short queues by sending
next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from subflow_app.core.arena.columns import COLUMNS
from subflow_app.core.arena.standings import Standing
from subflow_app.core.pareto import pareto_front
from subflow_sim.arena.blind import BLIND


@dataclass(frozen=True, slots=True)
class Point:
    """An entrant between two columns.

    Attributes:
        name: of it.
        x: along, in the unit shown.
        y: up, in the unit shown.
        is_best: whether it is on the frontier.
    """

    name: str
    x: float
    y: float
    is_best: bool = False


def points(rows: Sequence[Standing], along: str, up: str) -> list[Point]:
    """Those of which both columns are known, in the order of their rank."""
    scale_x, scale_y = COLUMNS[along].scale, COLUMNS[up].scale
    found = [
        Point(row.name, row.columns.get(along, math.nan) * scale_x, row.columns.get(up, math.nan) * scale_y)
        for row in rows
    ]
    known = [point for point in found if math.isfinite(point.x) and math.isfinite(point.y)]
    best = {point.name for point in frontier(known, along, up)}
    return [replace(point, is_best=point.name in best) for point in known]


def frontier(found: Sequence[Point], along: str, up: str) -> list[Point]:
    """Those on the frontier, along the x axis."""
    sign_x, sign_y = COLUMNS[along].better, COLUMNS[up].better
    others = [point for point in found if point.name not in BLIND]
    best = pareto_front([(sign_x * point.x, sign_y * point.y) for point in others])
    return sorted((point for point, is_best in zip(others, best, strict=True) if is_best), key=lambda point: point.x)
