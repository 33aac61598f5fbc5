"""Checks given paths through a topology, and finds paths that a scenario omits. Hosts do not forward."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from subflow_sim.scenario_model import Link


@dataclass(frozen=True, slots=True)
class Topology:
    """Links and hosts of a scenario.

    Attributes:
        ends: the two nodes of each link, by link name, in the order of the file.
        hosts: the nodes that do not forward.
    """

    ends: Mapping[str, tuple[str, str]]
    hosts: frozenset[str]


@dataclass(frozen=True, slots=True)
class RouteProblem:
    """An error in a path, at the link with this position from 0; None: at the end of the path."""

    position: int | None
    message: str


def check_path(topology: Topology, source: str, destination: str, links: Sequence[str]) -> RouteProblem | None:
    """Checks a path from source to destination.

    Args:
        topology: must contain every link of the path.
        source: first node.
        destination: last node.
        links: names of the links in order, at least one.

    Returns:
        The first error, or None.
    """
    here = source
    visited = {source}
    for position, name in enumerate(links):
        ends = topology.ends[name]
        if here not in ends:
            came = f'after "{links[position - 1]}" the path is' if position else "the path starts"
            joined = f'"{ends[0]}" and "{ends[1]}"'
            return RouteProblem(position, f'does not connect: {came} at "{here}", but "{name}" joins {joined}')
        if here != source and here in topology.hosts:
            return RouteProblem(position, f'leads through "{here}", which is a host: only routers forward')
        here = ends[1] if here == ends[0] else ends[0]
        if here in visited:
            return RouteProblem(position, f'has a loop: "{name}" leads back to "{here}"')
        visited.add(here)
        if here == destination and position + 1 < len(links):
            return RouteProblem(position + 1, f'continues after it has reached "{destination}"')
    if here != destination:
        return RouteProblem(None, f'ends at "{here}", not at "{destination}"')
    return None


def has_bottleneck(source: str, path: Sequence[Link | None]) -> bool:
    """True if a link of a connected path has a finite rate in the direction of the path, or is unusable (None)."""
    here = source
    for link in path:
        if link is None:
            return True
        is_forward = here == link.ends[0]
        if (link.forward if is_forward else link.reverse).rate_bps is not None:
            return True
        here = link.ends[1] if is_forward else link.ends[0]
    return False


def shortest_paths(topology: Topology, source: str, destination: str, limit: int) -> tuple[tuple[str, ...], ...]:
    """The paths with the fewest links, ordered by the position of their links in the file; empty if no path exists.

    Args:
        topology: the links; parallel links form separate paths.
        source: first node.
        destination: last node, different from the first.
        limit: maximum number of paths.
    """
    distance = _distances(topology, destination)
    if source not in distance:
        return ()
    closer: dict[str, list[tuple[str, str]]] = {}  # by node: links that lead closer, and their far ends
    for name, ends in topology.ends.items():
        for here, there in (ends, ends[::-1]):
            forwards = there == destination or there not in topology.hosts
            if forwards and distance.get(there, -1) == distance.get(here, -1) - 1:
                closer.setdefault(here, []).append((name, there))
    return tuple(islice(_walks(closer, source, destination), limit))


def _walks(closer: Mapping[str, list[tuple[str, str]]], source: str, destination: str) -> Iterator[tuple[str, ...]]:
    """All paths over `closer`, depth first.

    An explicit stack replaces recursion, because long chains would exceed Python's recursion limit.
    """
    walk: list[str] = []
    choices = [iter(closer[source])]
    while choices:
        step = next(choices[-1], None)
        if step is None:
            choices.pop()
            if walk:
                walk.pop()
            continue
        name, there = step
        if there == destination:
            yield (*walk, name)
        else:
            walk.append(name)
            choices.append(iter(closer[there]))


def forwarding_host(topology: Topology, source: str, destination: str) -> str | None:
    """The first host that would have to forward on a shortest path to the destination.

    None if the path contains no such host, or if no path exists.
    """
    as_routers = Topology(topology.ends, frozenset())
    path = next(iter(shortest_paths(as_routers, source, destination, 1)), ())
    here = source
    for name in path[:-1]:
        first, second = topology.ends[name]
        here = second if here == first else first
        if here in topology.hosts:
            return here
    return None


def _distances(topology: Topology, destination: str) -> dict[str, int]:
    """Number of links from each node to the destination on paths on which only routers forward."""
    neighbours: dict[str, list[str]] = {}
    for first, second in topology.ends.values():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    distance = {destination: 0}
    waiting = deque([destination])
    while waiting:
        here = waiting.popleft()
        if here in topology.hosts and here != destination:
            continue
        for there in neighbours.get(here, ()):
            if there not in distance:
                distance[there] = distance[here] + 1
                waiting.append(there)
    return distance
