"""Places for nodes that the scenario file does not place: sources left, destinations right, layers between.

A layered drawing was preferred to a force-directed one because traffic then reads from left to right and the result is
the same on every machine. The places depend on the graph alone, not on nodes that a person has moved: moving one node
must not make the others jump.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

Point = tuple[float, float]

LAYER_WIDTH = 300.0
"""Distance of two layers in canvas units: room for a link with its label."""
ROW_HEIGHT = 150.0
"""Distance of two nodes of a layer: room for the names below them and for parallel links."""

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
        links: pairs of node names; links between unknown nodes are ignored.
        sources: nodes where flows start; they stand left.
        destinations: nodes where flows end; they stand right.
        fixed: places that are given and stay as they are. The rest is moved as a whole to them if it lies elsewhere.
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
    """Split into connected parts, each in file order."""
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
    """Count the links from the nearest start to every node that can be reached."""
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
    """Sort the nodes of a connected part into columns; the names of long links' waypoints are not node names."""
    starts = [name for name in component if name in sources and name not in destinations]
    starts = starts or [name for name in component if name in sources]
    if not starts:
        # Without flows, the end of a longest shortest path makes the drawing wide rather than deep.
        distances = _distances([component[0]], neighbours)
        starts = [max(component, key=lambda name: distances[name])]
    column = _distances(starts, neighbours)
    ends = [name for name in component if name in destinations and name not in starts]
    inner = [name for name in component if name not in ends]
    for name in ends:
        # A destination stands right of everything that leads to it, also of the longer of two paths.
        column[name] = max(column[name], *(column[other] + 1 for other in neighbours[name] if other in inner), 0)
    layers: list[list[str]] = [[] for _ in range(max(column.values()) + 1)]
    for name in component:
        layers[column[name]].append(name)
    # A link across several columns takes up a row in each, so that it does not run through a node.
    for a in component:
        for b in neighbours[a]:
            for between in range(column[a] + 1, column[b]):
                layers[between].append(f"{a} {b}")
    return [layer for wide in layers for layer in _wrapped(wide)]


def _wrapped(layer: list[str]) -> list[list[str]]:
    """Split a column that is too high to look at into several."""
    parts = -(-len(layer) // _MAX_ROWS) or 1
    return [layer[part::parts] for part in range(parts)]


def _order(layers: list[list[str]], neighbours: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Order each column by the mean place of its neighbours, back and forth: few crossings (Sugiyama's heuristic)."""
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
    """Return how far the free nodes must move to be seen together with the fixed ones; nothing if they already are."""
    if not fixed or not places:
        return (0.0, 0.0)
    margin = (LAYER_WIDTH, ROW_HEIGHT)
    shift = []
    for axis in (0, 1):
        ours, theirs = [p[axis] for p in places.values()], [p[axis] for p in fixed.values()]
        apart = min(theirs) > max(ours) + margin[axis] or max(theirs) < min(ours) - margin[axis]
        shift.append((min(theirs) + max(theirs) - min(ours) - max(ours)) / 2 if apart else 0.0)
    return (shift[0], shift[1])
