"""Draft of a flow in the flow dialog: its ends, kind, algorithms and paths.

Paths are proposed by a graph search, or picked link by link by the user.

Links may be parallel, and hosts do not forward packets. The graph therefore represents every link as a node between its
two ends. Parallel links form different paths, and edge-disjoint paths of the graph share no link of the scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from subflow_app.features.editor.core.form_text import with_unit
from subflow_app.foundation.toml_edit import TomlValue
from subflow_sim.errors import ParamError
from subflow_sim.flow_reader import DEFAULT_CONTROLLERS
from subflow_sim.params import MAX_PATHS, AlgorithmCatalog, Dimension
from subflow_sim.routes import Topology
from subflow_sim.scenario import Scenario
from subflow_sim.units import parse_quantity

if TYPE_CHECKING:
    from networkx import Graph


Path: TypeAlias = tuple[str, ...]

MOST_DISJOINT = 8
"""Maximum number of proposed disjoint paths."""
MOST_SHORTEST = 8
"""Maximum number of shortest paths considered as further proposals."""


@dataclass(frozen=True, slots=True)
class PathFacts:
    """Properties of a path in the direction of the data.

    Attributes:
        rate_bps: rate of the slowest link in bit/s; infinite if no link limits the rate.
        delay_s: one-way delay in seconds.
        loss: probability that a packet is lost on the path.
    """

    rate_bps: float
    delay_s: float
    loss: float


def topology_of(scenario: Scenario) -> Topology:
    """Return the scenario's links with their ends, and its hosts."""
    hosts = frozenset(name for name, node in scenario.nodes.items() if node.kind == "host")
    return Topology({name: link.ends for name, link in scenario.links.items()}, hosts)


def facts_of(scenario: Scenario, source: str, path: Sequence[str]) -> PathFacts:
    """Return the properties of a connected path from `source`."""
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
        The largest set of paths that share no link, then further paths with few links. Each group has a maximum size
        and is sorted by number of links, then by delay. Both are empty if no path exists.

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
    """Return why a link cannot extend a path; empty if it can.

    Args:
        topology: links with their ends, and the hosts.
        source: first node of the path.
        destination: last node of a complete path.
        path: the links picked before, connected and in order.
        link: the next link.
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
        return f"the path over {link} leads back to {there}"
    if there in topology.hosts and there != destination:
        return f"the path over {link} leads to {there}, a host: only routers forward"
    return ""


def nodes_on(topology: Topology, source: str, path: Sequence[str]) -> Iterator[str]:
    """Yield the nodes on a connected path, its source first."""
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
    # A link weighs 1 plus a small share for its delay, which breaks ties between paths with equally many links.
    longest = sum(link.forward.delay_s + link.reverse.delay_s for link in scenario.links.values()) or 1.0
    for name, link in scenario.links.items():
        if forwarding.issuperset(link.ends):
            half = 0.5 + 0.25 * (link.forward.delay_s + link.reverse.delay_s) / longest
            for end in link.ends:
                graph.add_edge(("node", end), ("link", name), weight=half)
    return graph


def _links_of(nodes: Sequence[tuple[str, str]]) -> Path:
    return tuple(name for kind, name in nodes if kind == "link")


def _read_size(text: str) -> float | None:
    """Parse a typed size in bytes; a number without a unit is in MB. None for an empty text."""
    return parse_quantity(with_unit(text.strip(), "MB"), Dimension.SIZE) if text.strip() else None


KINDS = ("mptcp", "tcp", "cbr", "onoff")
"""Kinds of flows, the most common first."""

_DEFAULT_SCHEDULER = "minrtt"
# Required keys of a kind besides its ends, with initial values that the user changes in the inspector.
_NEEDED: dict[str, dict[str, TomlValue]] = {
    "cbr": {"rate": "1Mbit/s"},
    "onoff": {"rate": "1Mbit/s", "on": "1s", "off": "1s"},
}


@dataclass(frozen=True, slots=True)
class DraftPath:
    """A path offered in the dialog.

    Attributes:
        links: names of the links from source to destination.
        facts: properties of the path.
        is_wanted: whether the path is chosen.
        is_disjoint: whether the path belongs to the proposed set of paths that share no link.
    """

    links: Path
    facts: PathFacts
    is_wanted: bool
    is_disjoint: bool


class FlowDraft:
    """State of the flow dialog. Changes to the draft leave the scenario untouched.

    Args:
        scenario: the scenario or its drawable part.
        source: the sending host.
        destination: the receiving host.
        catalog: controllers and schedulers to choose from.
        flow: the flow whose paths are edited; empty for a new flow.
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
        self.controller = DEFAULT_CONTROLLERS["mptcp"]
        self.scheduler = _DEFAULT_SCHEDULER
        self.count = 1
        self.size = ""  # as typed; empty for a flow that lasts to the end
        self.picked: list[str] | None = None  # links of the path being picked, in order; otherwise None
        self.paths: list[DraftPath] = []  # all selectable paths, in the order of the dialog
        present = scenario.flows.get(flow)
        if present is not None:
            self.kind = present.kind
        self._disjoint, further = propose_paths(scenario, source, destination)
        self._add(present.paths if present is not None else (), is_wanted=True)
        self._add(self._disjoint, is_wanted=present is None)
        self._add(further)
        if self.has_one_path:
            self._keep_one()

    # --- content ----------------------------------------------------------------------------------------------------

    @property
    def wanted(self) -> list[Path]:
        """The chosen paths."""
        return [path.links for path in self.paths if path.is_wanted]

    @property
    def has_one_path(self) -> bool:
        """True if this kind of flow has only one path."""
        return self.kind != "mptcp"

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of the available controllers; empty for flows without feedback."""
        if self.kind not in DEFAULT_CONTROLLERS:
            return ()
        return self._catalog.controllers_for(is_multipath=self.kind == "mptcp")

    @property
    def schedulers(self) -> tuple[str, ...]:
        """Names of the available schedulers; empty for flows with only one path."""
        return () if self.has_one_path else tuple(each.name for each in self._catalog.schedulers)

    @property
    def problem(self) -> str:
        """Reason why the draft is not a valid flow yet; empty if it is valid."""
        if not self.paths:
            return f"no path leads from {self.source} to {self.destination}: connect them by links and routers first"
        try:
            _read_size(self.size)
        except ParamError as error:
            return f"size {self.size}: {error.message}, allowed: {error.allowed or 'a size such as 50MB'}"
        count = len(self.wanted)
        if not count:
            return "choose at least one path"
        return f"{count} paths are too many: at most {MAX_PATHS}" if count > MAX_PATHS else ""

    def values(self) -> dict[str, TomlValue]:
        """Return the keys of the new flow, except its ends."""
        values: dict[str, TomlValue] = {"kind": self.kind, **_NEEDED.get(self.kind, {})}
        if self.controllers:
            values["controller"] = self.controller
        if self.schedulers and self.scheduler != _DEFAULT_SCHEDULER:
            values["scheduler"] = self.scheduler
        values["paths"] = [list(path) for path in self.wanted]
        if self.count > 1:
            values["count"] = self.count
        if self.size.strip():
            values["size"] = with_unit(self.size, "MB")
        return values

    # --- changes ----------------------------------------------------------------------------------------------------

    def set_kind(self, kind: str) -> None:
        """Change the kind, set its default algorithms, and keep only one chosen path if the kind allows only one."""
        if kind == self.kind:
            return
        self.kind = kind
        self.controller = DEFAULT_CONTROLLERS.get(kind, "")
        self.scheduler = _DEFAULT_SCHEDULER
        if self.has_one_path:
            self._keep_one()

    def set_wanted(self, index: int, is_wanted: bool) -> None:
        """Choose or deselect a path; choosing one deselects the others if the flow has only one path."""
        for position, path in enumerate(self.paths):
            if position == index:
                self.paths[position] = replace(path, is_wanted=is_wanted)
            elif is_wanted and self.has_one_path:
                self.paths[position] = replace(path, is_wanted=False)

    def start_picking(self) -> None:
        """Start picking a path link by link, from the source."""
        self.picked = []

    def stop_picking(self) -> None:
        """Discard the path being picked."""
        self.picked = None

    def why_not(self, link: str) -> str:
        """Return the reason why a link cannot come next in the path being picked; empty if it can.

        The last link is always allowed: picking it again removes it.
        """
        if self.picked is None:
            return "no path is being put together"
        if self.picked and link == self.picked[-1]:
            return ""
        return why_not_next(self._topology, self.source, self.destination, self.picked, link)

    def open_links(self) -> frozenset[str]:
        """Return the links that can come next, and the last link, which can be removed."""
        return frozenset(name for name in self._topology.ends if not self.why_not(name))

    def pick(self, link: str) -> str:
        """Append a link to the path being picked, or remove it if it is the last; choose the path once it is complete.

        Returns:
            The reason for a refusal; empty on success.
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
        """The last node on the path being picked, or the source if no link has been picked."""
        return list(nodes_on(self._topology, self.source, self.picked or ()))[-1]

    # --- internals --------------------------------------------------------------------------------------------------

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
