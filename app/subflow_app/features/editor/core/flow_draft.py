"""A flow while its panel is open: its ends, kind, algorithms, and its proposed or chosen paths.

Paths come from a graph search or are put together link by link.

Links may be parallel, and hosts do not forward. For the graph library every link is a node of its own between its two
ends: parallel links then are different ways, and paths that share no edge in that graph share no link here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from subflow_app.foundation.toml_edit import TomlValue
from subflow_sim.params import MAX_PATHS, AlgorithmCatalog
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


KINDS = ("mptcp", "tcp", "cbr", "onoff")
"""Kinds of flows, the most usual first."""

_DEFAULT_CONTROLLERS = {"mptcp": "lia", "tcp": "newreno"}
_DEFAULT_SCHEDULER = "minrtt"
# What a kind needs beside its ends: values to start from, which the inspector changes.
_NEEDED: dict[str, dict[str, TomlValue]] = {
    "cbr": {"rate": "1Mbit/s"},
    "onoff": {"rate": "1Mbit/s", "on": "1s", "off": "1s"},
}


@dataclass(frozen=True, slots=True)
class DraftPath:
    """A path that can be chosen.

    Attributes:
        links: from source to destination.
        facts: what it is like.
        is_wanted: it is chosen.
        is_disjoint: it is one of the proposed paths that share no link with each other.
    """

    links: Path
    facts: PathFacts
    is_wanted: bool
    is_disjoint: bool


class FlowDraft:
    """What the panel of a flow shows and changes; nothing of it is in the scenario yet.

    Args:
        scenario: as much of it as can be drawn.
        source: host that sends.
        destination: host that receives.
        catalog: what can be chosen as controller and scheduler.
        flow: the flow whose paths are edited; empty for a new one.
    """

    def __init__(
        self, scenario: Scenario, source: str, destination: str, catalog: AlgorithmCatalog, flow: str = ""
    ) -> None:
        self._scenario = scenario
        self._catalog = catalog
        self._topology = topology_of(scenario)
        self.source = source
        self.destination = destination
        self.flow = flow
        self.kind = "mptcp"
        self.controller = _DEFAULT_CONTROLLERS["mptcp"]
        self.scheduler = _DEFAULT_SCHEDULER
        self.count = 1
        self.picked: list[str] | None = None  # the path that is being put together; None: none is
        self.paths: list[DraftPath] = []  # all that can be chosen, in the order of the panel
        present = scenario.flows.get(flow)
        if present is not None:
            self.kind = present.kind
        self._disjoint, further = propose_paths(scenario, source, destination)
        self._add(present.paths if present is not None else (), is_wanted=True)
        self._add(self._disjoint, is_wanted=present is None)
        self._add(further)
        if self.has_one_path:
            self._keep_one()

    # --- what it shows ----------------------------------------------------------------------------------------------

    @property
    def wanted(self) -> list[Path]:
        """The paths that are chosen."""
        return [path.links for path in self.paths if path.is_wanted]

    @property
    def has_one_path(self) -> bool:
        """Whether this kind of flow takes a single path."""
        return self.kind != "mptcp"

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names that can be chosen as controller; none for flows that have no feedback."""
        if self.kind not in _DEFAULT_CONTROLLERS:
            return ()
        return self._catalog.controllers_for(is_multipath=self.kind == "mptcp")

    @property
    def schedulers(self) -> tuple[str, ...]:
        """Names that can be chosen as scheduler; none where there is nothing to schedule."""
        return () if self.has_one_path else tuple(each.name for each in self._catalog.schedulers)

    @property
    def problem(self) -> str:
        """Why there is no flow to be had of it yet; empty if there is."""
        if not self.paths:
            return f"no way leads from {self.source} to {self.destination}: connect them by links and routers first"
        count = len(self.wanted)
        if not count:
            return "choose at least one path"
        return f"{count} paths are too many: at most {MAX_PATHS}" if count > MAX_PATHS else ""

    def values(self) -> dict[str, TomlValue]:
        """What the new flow says beside its ends."""
        values: dict[str, TomlValue] = {"kind": self.kind, **_NEEDED.get(self.kind, {})}
        if self.controllers:
            values["controller"] = self.controller
        if self.schedulers and self.scheduler != _DEFAULT_SCHEDULER:
            values["scheduler"] = self.scheduler
        values["paths"] = [list(path) for path in self.wanted]
        if self.count > 1:
            values["count"] = self.count
        return values

    # --- what it changes --------------------------------------------------------------------------------------------

    def set_kind(self, kind: str) -> None:
        """Make it another kind of flow, with the algorithms and as many paths as that has."""
        if kind == self.kind:
            return
        self.kind = kind
        self.controller = _DEFAULT_CONTROLLERS.get(kind, "")
        self.scheduler = _DEFAULT_SCHEDULER
        if self.has_one_path:
            self._keep_one()

    def set_wanted(self, index: int, is_wanted: bool) -> None:
        """Choose a path or not; where there can be one only, the others are given up."""
        for position, path in enumerate(self.paths):
            if position == index:
                self.paths[position] = replace(path, is_wanted=is_wanted)
            elif is_wanted and self.has_one_path:
                self.paths[position] = replace(path, is_wanted=False)

    def start_picking(self) -> None:
        """Begin to put a path together at the source."""
        self.picked = []

    def stop_picking(self) -> None:
        """Give up the path that is being put together."""
        self.picked = None

    def why_not(self, link: str) -> str:
        """Say why a link cannot come next in the path that is being put together; empty if it can.

        The last link can always be clicked again: that takes it back.
        """
        if self.picked is None:
            return "no path is being put together"
        if self.picked and link == self.picked[-1]:
            return ""
        return why_not_next(self._topology, self.source, self.destination, self.picked, link)

    def open_links(self) -> frozenset[str]:
        """The links that can come next, and the last one, which can be taken back."""
        return frozenset(name for name in self._topology.ends if not self.why_not(name))

    def pick(self, link: str) -> str:
        """Go on over a link, or take the last one back; at the destination the path is complete and chosen.

        Returns:
            Why that is not possible; empty if it is done.
        """
        why = self.why_not(link)
        if why or self.picked is None:
            return why
        if self.picked and link == self.picked[-1]:
            self.picked.pop()
            return ""
        self.picked.append(link)
        if self.stands_at == self.destination:
            path, self.picked = tuple(self.picked), None
            self._add([path])
            position = next(i for i, each in enumerate(self.paths) if each.links == path)
            self.set_wanted(position, True)
        return ""

    @property
    def stands_at(self) -> str:
        """The node that the path which is being put together has reached."""
        return list(nodes_on(self._topology, self.source, self.picked or ()))[-1]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _add(self, paths: Sequence[Path], *, is_wanted: bool = False) -> None:
        known = {path.links for path in self.paths}
        for path in paths:
            if path in known and not is_wanted:
                continue
            facts = facts_of(self._scenario, self.source, path)
            self.paths.append(DraftPath(path, facts, is_wanted, path in self._disjoint))

    def _keep_one(self) -> None:
        first = next((i for i, path in enumerate(self.paths) if path.is_wanted), None)
        if first is not None:
            self.set_wanted(first, True)
