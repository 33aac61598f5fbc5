"""Putting nodes in order on the canvas: aligned, evenly spaced, on a grid, or laid out anew.

Every function takes places by name and returns those that change; nothing here knows of documents or pixels.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from subflow_app.features.editor.core.layout import LAYER_WIDTH, ROW_HEIGHT, Point, place_nodes

Edge: TypeAlias = Literal["left", "right", "top", "bottom", "centre_x", "centre_y"]
Axis: TypeAlias = Literal["x", "y"]
EDGES: tuple[Edge, ...] = get_args(Edge)

GRID = 20.0
"""Distance of the lines that nodes snap to, in canvas units."""

_MOST_LAYERED = 40
_MOST_FORCED = 1200
_FORCE_ITERATIONS = 120
_SLACK = 0.2  # of a cell


def aligned(places: Mapping[str, Point], edge: Edge) -> dict[str, Point]:
    """Return the places with one coordinate in common: the least, the greatest, or the middle of both."""
    if not places:
        return {}
    axis = 0 if edge in ("left", "right", "centre_x") else 1
    values = [place[axis] for place in places.values()]
    low, high = min(values), max(values)
    value = low if edge in ("left", "top") else high if edge in ("right", "bottom") else round((low + high) / 2)
    return {name: (value, y) if axis == 0 else (x, value) for name, (x, y) in places.items()}


def distributed(places: Mapping[str, Point], axis: Axis) -> dict[str, Point]:
    """Return the places with equal distances between the outermost two, in the order in which they stand."""
    index = 0 if axis == "x" else 1
    order = sorted(places, key=lambda name: places[name][index])
    if len(order) < 3:
        return dict(places)
    first, last = places[order[0]][index], places[order[-1]][index]
    step = (last - first) / (len(order) - 1)
    found: dict[str, Point] = {}
    for rank, name in enumerate(order):
        x, y = places[name]
        value = last if rank == len(order) - 1 else round(first + rank * step)
        found[name] = (value, y) if axis == "x" else (x, value)
    return found


def snapped_shift(origin: Point, shift: Point, grid: float = GRID) -> Point:
    """Return how far a group moves so that the node that is held, which stood at `origin`, lands on the grid."""
    x, y = (round((at + by) / grid) * grid - at for at, by in zip(origin, shift, strict=True))
    return (x, y)


def laid_out(
    nodes: Sequence[str],
    links: Collection[tuple[str, str]],
    sources: Collection[str] = (),
    destinations: Collection[str] = (),
    at: Mapping[str, Point] | None = None,
) -> dict[str, Point]:
    """Return new places for nodes, the same on every machine.

    Small pictures are layered from sources to destinations. Meshes too large to be read that way are laid out by
    forces, which keep what is linked together; beyond what forces can do in a moment they are layered again.

    Args:
        nodes: which to place; links to other nodes are ignored.
        links: pairs of node names.
        sources: nodes where flows start; they come to stand left.
        destinations: nodes where flows end; they come to stand right.
        at: where the nodes are; the new places have the same middle.
    """
    wanted = set(nodes)
    own = [(a, b) for a, b in links if a in wanted and b in wanted and a != b]
    if _MOST_LAYERED < len(nodes) <= _MOST_FORCED and own:
        places = _by_forces(nodes, own, sources, destinations)
    else:
        places = place_nodes(nodes, own, sources, destinations)
    dx, dy = 0.0, 0.0
    if at:
        (old_x, old_y), (new_x, new_y) = _middle([at[name] for name in nodes]), _middle(list(places.values()))
        dx, dy = old_x - new_x, old_y - new_y
    return {name: (round(x + dx), round(y + dy)) for name, (x, y) in places.items()}


def _by_forces(
    nodes: Sequence[str],
    links: Collection[tuple[str, str]],
    sources: Collection[str],
    destinations: Collection[str],
) -> dict[str, Point]:
    import networkx as nx
    import numpy as np

    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(links)
    # From the layered picture, so that the forces begin with an order and end the same every time.
    layered = place_nodes(nodes, links, sources, destinations)
    start = {name: np.array(place) for name, place in layered.items()}
    found = nx.forceatlas2_layout(
        graph, pos=start, max_iter=_FORCE_ITERATIONS, scaling_ratio=4.0, strong_gravity=False, seed=1
    )
    places = {name: (float(x), float(y)) for name, (x, y) in found.items()}
    lengths = sorted(_distance(places[a], places[b]) for a, b in links)
    scale = 0.7 * LAYER_WIDTH / max(lengths[len(lengths) // 2], 1e-9)
    ours, theirs = [places[n][0] for n in nodes if n in sources], [places[n][0] for n in nodes if n in destinations]
    if ours and theirs and sum(ours) / len(ours) > sum(theirs) / len(theirs):
        places = {name: (-x, y) for name, (x, y) in places.items()}
    return apart({name: (x * scale, y * scale) for name, (x, y) in places.items()})


def apart(places: Mapping[str, Point]) -> dict[str, Point]:
    """Give every node a cell of its own, the nearest free one, so that none covers another."""
    width, height = LAYER_WIDTH * 0.4, ROW_HEIGHT * 0.7
    taken: set[tuple[int, int]] = set()
    result: dict[str, Point] = {}
    for name, (x, y) in places.items():
        home = (round(x / width), round(y / height))
        cell = next(free for free in _cells_around(home) if free not in taken)
        taken.add(cell)
        # Near the middle of the cell, so that neighbours keep apart without standing like soldiers.
        result[name] = (
            min(max(x / width, cell[0] - _SLACK), cell[0] + _SLACK) * width,
            min(max(y / height, cell[1] - _SLACK), cell[1] + _SLACK) * height,
        )
    return result


def _cells_around(home: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield a cell, then the ring of cells around it, then the next ring."""
    for ring in itertools.count():
        span = range(-ring, ring + 1)
        for i in span:
            for j in span:
                if max(abs(i), abs(j)) == ring:
                    yield (home[0] + i, home[1] + j)


def _distance(a: Point, b: Point) -> float:
    return float(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5)


def _middle(points: Sequence[Point]) -> Point:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2) if points else (0.0, 0.0)
