"""Paths that a flow could take: proposed by graph search, or put together link by link.

Links may be parallel, and hosts do not forward. For the graph library every link is a node of its own between its two
ends: parallel links then are different ways, and paths that share no edge there share no link here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from subflow_sim.routes import Topology
from subflow_sim.scenario import Scenario

if TYPE_CHECKING:
    from networkx import Graph

Path: TypeAlias = tuple[str, ...]

MOST_DISJOINT = 8
"""Disjoint paths that are proposed at most."""
MOST_SHORTEST = 8
"""Shortest paths that are looked at for further proposals."""


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What a path is like in the direction of the data.

    Attributes:
        rate_bps: of its slowest link; infinite if none has a rate.
        delay_s: one way.
        loss: probability that a packet is lost on one of its links.
    """

    rate_bps: float
    delay_s: float
    loss: float


def topology_of(scenario: Scenario) -> Topology:
    """Return who is joined to whom."""
    hosts = frozenset(name for name, node in scenario.nodes.items() if node.kind == "host")
    return Topology({name: link.ends for name, link in scenario.links.items()}, hosts)


def facts_of(scenario: Scenario, source: str, path: Sequence[str]) -> PathFacts:
    """Return what a connected path from `source` is like."""
    here = source
    rate_bps, delay_s, kept = math.inf, 0.0, 1.0
    for name in path:
        link = scenario.links[name]
        is_forward = here == link.ends[0]
        direction = link.forward if is_forward else link.reverse
        rate_bps = min(rate_bps, math.inf if direction.rate_bps is None else direction.rate_bps)
        delay_s += direction.delay_s
        kept *= 1 - direction.loss
        here = link.ends[1] if is_forward else link.ends[0]
    return PathFacts(rate_bps, delay_s, 1 - kept)


def propose_paths(scenario: Scenario, source: str, destination: str) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Propose paths from one host to another.

    Returns:
        As many paths as possible that share no link, and further ones with few links; each group has those with the
        fewest links first, then those with the least delay.

    Source: edge-disjoint paths by maximum flow (Menger 1927); k shortest simple paths by Yen 1971.
    """
    import networkx as nx

    graph = _graph_of(scenario, source, destination)
    start, end = ("node", source), ("node", destination)
    if start not in graph or end not in graph or not nx.has_path(graph, start, end):
        return (), ()

    def order(path: Path) -> tuple[int, float, Path]:
        return len(path), facts_of(scenario, source, path).delay_s, path

    found = islice(nx.edge_disjoint_paths(graph, start, end, cutoff=MOST_DISJOINT), MOST_DISJOINT)
    disjoint = sorted((_links_of(nodes) for nodes in found), key=order)
    shortest = [
        _links_of(nodes) for nodes in islice(nx.shortest_simple_paths(graph, start, end, "weight"), MOST_SHORTEST)
    ]
    return tuple(disjoint), tuple(sorted((path for path in shortest if path not in disjoint), key=order))


def why_not_next(topology: Topology, source: str, destination: str, path: Sequence[str], link: str) -> str:
    """Say why a path cannot go on over a link; empty if it can.

    Args:
        topology: who is joined to whom.
        source: where the path begins.
        destination: where it has to end.
        path: the links so far, connected and in order.
        link: that would come next.
    """
    if link not in topology.ends:
        return f"unknown link {link}"
    walk = list(nodes_on(topology, source, path))
    here = walk[-1]
    ends = topology.ends[link]
    if here == destination:
        return f"the path has reached {destination} already"
    if here not in ends:
        return f"the path has reached {here}, where {link} does not start"
    there = ends[1] if here == ends[0] else ends[0]
    if there in walk:
        return f"the way over {link} leads back to {there}"
    if there in topology.hosts and there != destination:
        return f"the way over {link} leads to {there}, a host: only routers forward"
    return ""


def nodes_on(topology: Topology, source: str, path: Sequence[str]) -> Iterator[str]:
    """Yield the nodes that a connected path passes, its source first."""
    here = source
    yield here
    for name in path:
        first, second = topology.ends[name]
        here = second if here == first else first
        yield here


def _graph_of(scenario: Scenario, source: str, destination: str) -> Graph[Any]:
    import networkx as nx

    graph: Graph[Any] = nx.Graph()
    forwarding = {name for name, node in scenario.nodes.items() if node.kind == "router"} | {source, destination}
    # A link weighs a little more than one by its delay: that decides among paths of as many links.
    longest = sum(link.forward.delay_s + link.reverse.delay_s for link in scenario.links.values()) or 1.0
    for name, link in scenario.links.items():
        if forwarding.issuperset(link.ends):
            half = 0.5 + 0.25 * (link.forward.delay_s + link.reverse.delay_s) / longest
            for end in link.ends:
                graph.add_edge(("node", end), ("link", name), weight=half)
    return graph


def _links_of(nodes: Sequence[tuple[str, str]]) -> Path:
    return tuple(name for kind, name in nodes if kind == "link")
