"""Places new nodes on the canvas in layers, and rearranges existing nodes.

Sources are at the left, destinations at the right, with layers between them. A layered drawing was preferred to a
force-directed one for two reasons: traffic reads from left to right, and the result is the same on every machine. The
relative positions depend only on the graph, not on nodes that the user has moved, so moving one node never makes the
others jump.

Other functions align nodes, space them evenly, put them on a grid, or lay them out again. Each returns new positions in
canvas units. The module does not depend on documents or pixels.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

Point = tuple[float, float]

LAYER_WIDTH = 300.0
"""Distance between two layers in canvas units: room for a link with its label."""
ROW_HEIGHT = 150.0
"""Distance between two nodes of a layer in canvas units: room for the names below them and for parallel links."""

_SWEEPS = 6
_MAX_ROWS = 12


def place_nodes(
    nodes: Sequence[str],
    links: Iterable[tuple[str, str]],
    sources: Collection[str] = (),
    destinations: Collection[str] = (),
    fixed: Mapping[str, Point] | None = None,
) -> dict[str, Point]:
    """Return a place on the canvas for every node.

    Args:
        nodes: names, in file order; the order breaks ties.
        links: pairs of node names; pairs with unknown nodes are ignored.
        sources: nodes where flows start, placed at the left.
        destinations: nodes where flows end, placed at the right.
        fixed: positions to keep. Other nodes that would end up far from them are shifted towards them as a group.
    """
    fixed = dict(fixed or {})
    neighbours: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in links:
        if a in neighbours and b in neighbours and a != b and b not in neighbours[a]:
            neighbours[a].append(b)
            neighbours[b].append(a)
    places: dict[str, Point] = {}
    top = 0.0
    for component in _components(nodes, neighbours):
        layers = _order(_layers(component, neighbours, sources, destinations), neighbours)
        height = max((len(layer) - 1) * ROW_HEIGHT for layer in layers)
        for column, layer in enumerate(layers):
            for row, name in enumerate(layer):
                if name in neighbours:
                    y = top + height / 2 + (row - (len(layer) - 1) / 2) * ROW_HEIGHT
                    places[name] = (column * LAYER_WIDTH, y)
        top += height + ROW_HEIGHT * 1.5
    dx, dy = _shift_to(fixed, places)
    return {name: fixed.get(name, (places[name][0] + dx, places[name][1] + dy)) for name in nodes}


def _components(nodes: Sequence[str], neighbours: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Split the nodes into connected components, each in file order."""
    position = {name: index for index, name in enumerate(nodes)}
    seen: set[str] = set()
    parts: list[list[str]] = []
    for start in nodes:
        if start not in seen:
            part = set(_distances([start], neighbours))
            seen |= part
            parts.append(sorted(part, key=position.__getitem__))
    return parts


def _distances(starts: Iterable[str], neighbours: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of links from the nearest start to every reachable node."""
    found = dict.fromkeys(starts, 0)
    queue = deque(found)
    while queue:
        here = queue.popleft()
        for other in neighbours[here]:
            if other not in found:
                found[other] = found[here] + 1
                queue.append(other)
    return found


def _layers(
    component: Sequence[str],
    neighbours: Mapping[str, Sequence[str]],
    sources: Collection[str],
    destinations: Collection[str],
) -> list[list[str]]:
    """Sort the nodes of a connected part into columns.

    A long link adds a waypoint to each column that it crosses; a waypoint's name contains a space.
    """
    starts = [name for name in component if name in sources and name not in destinations]
    starts = starts or [name for name in component if name in sources]
    if not starts:
        # Without flows, start from the node farthest from the first, so that the drawing is wide rather than tall.
        distances = _distances([component[0]], neighbours)
        starts = [max(component, key=lambda name: distances[name])]
    column = _distances(starts, neighbours)
    ends = [name for name in component if name in destinations and name not in starts]
    inner = [name for name in component if name not in ends]
    for name in ends:
        # A destination is to the right of all nodes that lead to it, also on the longer of two paths.
        column[name] = max(column[name], *(column[other] + 1 for other in neighbours[name] if other in inner), 0)
    layers: list[list[str]] = [[] for _ in range(max(column.values()) + 1)]
    for name in component:
        layers[column[name]].append(name)
    # A link across several columns occupies a row in each, so that it crosses no node.
    for a in component:
        for b in neighbours[a]:
            for between in range(column[a] + 1, column[b]):
                layers[between].append(f"{a} {b}")
    return [layer for wide in layers for layer in _wrapped(wide)]


def _wrapped(layer: list[str]) -> list[list[str]]:
    """Split a column into several if it is too tall to read."""
    parts = -(-len(layer) // _MAX_ROWS) or 1
    return [layer[part::parts] for part in range(parts)]


def _order(layers: list[list[str]], neighbours: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Order each column by the mean row of its neighbours, to reduce crossings (Sugiyama's heuristic)."""
    around: dict[str, list[str]] = {name: list(neighbours.get(name, ())) for layer in layers for name in layer}
    for name in [name for name in around if " " in name]:
        ends = name.split(" ")
        around[name] = ends
        for end in ends:
            around[end].append(name)
    for sweep in range(_SWEEPS):
        height = {name: row - (len(layer) - 1) / 2 for layer in layers for row, name in enumerate(layer)}
        for index in range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers))):
            layer = layers[index]
            mean = {n: sum(height[o] for o in around[n]) / len(around[n]) if around[n] else height[n] for n in layer}
            layers[index] = sorted(layer, key=mean.__getitem__)
            for row, name in enumerate(layers[index]):
                height[name] = row - (len(layer) - 1) / 2
    return layers


def _shift_to(fixed: Mapping[str, Point], places: Mapping[str, Point]) -> Point:
    """Return the shift that brings the free nodes close to the fixed nodes; (0, 0) if they are close already."""
    if not fixed or not places:
        return (0.0, 0.0)
    margin = (LAYER_WIDTH, ROW_HEIGHT)
    shift = []
    for axis in (0, 1):
        ours, theirs = [p[axis] for p in places.values()], [p[axis] for p in fixed.values()]
        apart = min(theirs) > max(ours) + margin[axis] or max(theirs) < min(ours) - margin[axis]
        shift.append((min(theirs) + max(theirs) - min(ours) - max(ours)) / 2 if apart else 0.0)
    return (shift[0], shift[1])


Edge: TypeAlias = Literal["left", "right", "top", "bottom", "centre_x", "centre_y"]
Axis: TypeAlias = Literal["x", "y"]
EDGES: tuple[Edge, ...] = get_args(Edge)

GRID = 20.0
"""Spacing of the grid that nodes snap to, in canvas units."""

_MOST_LAYERED = 40
_MOST_FORCED = 1200
_FORCE_ITERATIONS = 120
_SLACK = 0.2  # largest offset from the middle of a cell, as a share of the cell


def aligned(places: Mapping[str, Point], edge: Edge) -> dict[str, Point]:
    """Align places along one axis, at their minimum, maximum or midpoint."""
    if not places:
        return {}
    axis = 0 if edge in ("left", "right", "centre_x") else 1
    values = [place[axis] for place in places.values()]
    low, high = min(values), max(values)
    value = low if edge in ("left", "top") else high if edge in ("right", "bottom") else round((low + high) / 2)
    return {name: (value, y) if axis == 0 else (x, value) for name, (x, y) in places.items()}


def distributed(places: Mapping[str, Point], axis: Axis) -> dict[str, Point]:
    """Return the places spaced evenly between the outermost two, in their current order along the axis."""
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
    """Adjust the shift of a dragged group so that the node dragged from `origin` lands on the grid."""
    x, y = (round((at + by) / grid) * grid - at for at, by in zip(origin, shift, strict=True))
    return (x, y)


def laid_out(
    nodes: Sequence[str],
    links: Collection[tuple[str, str]],
    sources: Collection[str] = (),
    destinations: Collection[str] = (),
    at: Mapping[str, Point] | None = None,
) -> dict[str, Point]:
    """Return new positions for nodes; the result is the same on every machine.

    Small graphs are layered from sources to destinations. Larger meshes would be unreadable in layers, so they get a
    force-directed layout, which keeps linked nodes together. Graphs too large for a quick force-directed layout are
    layered too.

    Args:
        nodes: names of the nodes to place; links to other nodes are ignored.
        links: pairs of node names.
        sources: nodes where flows start, placed at the left.
        destinations: nodes where flows end, placed at the right.
        at: current positions of the nodes, whose centre the new layout keeps; None to ignore them.
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
    # The layered start makes the result reproducible.
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
    """Move every node to the nearest free cell of a grid, so that no node covers another."""
    width, height = LAYER_WIDTH * 0.4, ROW_HEIGHT * 0.7
    taken: set[tuple[int, int]] = set()
    result: dict[str, Point] = {}
    for name, (x, y) in places.items():
        home = (round(x / width), round(y / height))
        cell = next(free for free in _cells_around(home) if free not in taken)
        taken.add(cell)
        # Nodes stay near the middle of their cells, so that neighbours keep a distance without forming a strict grid.
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
