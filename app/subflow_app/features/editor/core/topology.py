"""Picture of a scenario: nodes with their positions, links, and the path of every subflow across them.

The picture does not depend on pixels: it contains the links and directions of each subflow, its colour, and the timed
events of each part. The canvas adds shapes and texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from subflow_app.features.editor.core.layout import Point, place_nodes
from subflow_app.vocabulary.palette import ColourKey, colour_keys
from subflow_sim.scenario import Event, Flow, Link, Note, Scenario


@dataclass(frozen=True, slots=True)
class Hop:
    """A link on the path of a subflow; `forward` is True if data crosses the link from its first to its second end."""

    link: str
    forward: bool


@dataclass(frozen=True, slots=True)
class SubflowPath:
    """The path of one subflow of a flow definition, shared by all `count` instances of the flow.

    Attributes:
        owner: `download/1`; for a cbr or onoff flow, which has no subflows, just the flow's name, e.g. `cross`.
        ordinal: position among the paths of the flow, from 1.
        label: text in a legend, e.g. `download · wifi`; the name of the flow if the flow uses one path.
        count: number of identical flows on this path.
        arrives: whether flows arrive one after another during the run, so that the number of flows is unknown in
            advance.
        hops: links in the order in which data crosses them.
        initially_closed: whether an event at time zero closes the subflow.
    """

    owner: str
    flow: str
    kind: str
    ordinal: int
    label: str
    count: int
    arrives: bool
    colour: ColourKey
    hops: tuple[Hop, ...]
    events: tuple[Event, ...]
    initially_closed: bool

    @property
    def sends_datagrams(self) -> bool:
        """True for the path of a cbr or onoff flow, which has no subflows."""
        return self.owner == self.flow

    @property
    def route(self) -> str:
        """Names of the links in the order in which data crosses them, joined by arrows."""
        return " → ".join(hop.link for hop in self.hops)


@dataclass(frozen=True, slots=True)
class PictureLink:
    """A link as drawn.

    Attributes:
        bow: position among the links between the same two nodes, from top to bottom in file order: 0.5 and -0.5 for
            two, 1, 0 and -1 for three; 0 for the only link.
        lanes: owners of the subflow paths across the link, in drawing order.
        events: timed changes of the link.
        initially_down: whether an event at time zero takes the link down.
        unread: keys that have never had a valid value; their values in `link` are placeholders.
    """

    link: Link
    bow: float
    lanes: tuple[str, ...]
    events: tuple[Event, ...]
    initially_down: bool
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TopologyPicture:
    """Content of the canvas.

    Attributes:
        places: canvas position of every node.
        routers: names of the nodes that are drawn as routers.
        notes: notes on the canvas, in file order.
    """

    places: Mapping[str, Point]
    routers: frozenset[str]
    links: Mapping[str, PictureLink]
    paths: Mapping[str, SubflowPath]
    notes: tuple[Note, ...] = ()


def picture_of(
    scenario: Scenario,
    positions: Mapping[str, Point] | None = None,
    unread: Mapping[str, frozenset[str]] | None = None,
) -> TopologyPicture:
    """Build the picture of a scenario.

    Args:
        scenario: scenario to draw.
        positions: positions that override those of the scenario, such as the positions in a document with problems
            elsewhere; None to use the scenario's.
        unread: keys with placeholder values by link, see `ScenarioDoc.unread`; None if all values are valid.
    """
    fixed = {name: node.at for name, node in scenario.nodes.items() if node.at is not None}
    fixed.update({name: at for name, at in (positions or {}).items() if name in scenario.nodes})
    places = place_nodes(
        list(scenario.nodes),
        [link.ends for link in scenario.links.values()],
        sources={flow.source for flow in scenario.flows.values()},
        destinations={flow.destination for flow in scenario.flows.values()},
        fixed=fixed,
    )
    paths = {path.owner: path for path in _subflow_paths(scenario)}
    bows = _bows(scenario.links)
    links = {
        name: PictureLink(
            link,
            bows[name],
            tuple(path.owner for path in paths.values() if any(hop.link == name for hop in path.hops)),
            tuple(event for event in scenario.events if event.link == name),
            any(event.link == name and event.at_s == 0 and event.up is False for event in scenario.events),
            (unread or {}).get(name, frozenset()),
        )
        for name, link in scenario.links.items()
    }
    routers = frozenset(name for name, node in scenario.nodes.items() if node.kind == "router")
    return TopologyPicture(places, routers, links, paths, scenario.notes)


def _subflow_paths(scenario: Scenario) -> Iterator[SubflowPath]:
    owners: list[str] = []
    for flow in scenario.flows.values():
        owners.append(flow.name)
        if not flow.sends_datagrams:
            owners.extend(f"{flow.name}/{ordinal}" for ordinal in range(1, len(flow.paths) + 1))
    colours = colour_keys(owners)
    for flow in scenario.flows.values():
        for ordinal, path in enumerate(flow.paths, start=1):
            owner = flow.name if flow.sends_datagrams else f"{flow.name}/{ordinal}"
            events = tuple(e for e in scenario.events if _names(e, flow) and e.subflow in (None, ordinal))
            yield SubflowPath(
                owner,
                flow.name,
                flow.kind,
                ordinal,
                _label(flow, path),
                flow.count,
                flow.arrivals is not None,
                colours[owner],
                hops_of(scenario, flow.source, path),
                events,
                any(e.at_s == 0 and e.open is False for e in events),
            )


def hops_of(scenario: Scenario, source: str, path: Sequence[str]) -> tuple[Hop, ...]:
    """Return the links of a path, each with the direction in which data from `source` crosses it."""
    hops: list[Hop] = []
    here = source
    for name in path:
        first, second = scenario.links[name].ends
        hops.append(Hop(name, here == first))
        here = second if here == first else first
    return tuple(hops)


def _names(event: Event, flow: Flow) -> bool:
    """True if an event refers to a flow or to one of its instances."""
    return event.flow is not None and (event.flow == flow.name or flow.has_copy(event.flow))


def _label(flow: Flow, path: Sequence[str]) -> str:
    # Link names in a label distinguish the paths of a flow, so a flow with one path omits them.
    return f"{flow.name} · {' → '.join(path)}" if len(flow.paths) > 1 else flow.name


def _bows(links: Mapping[str, Link]) -> dict[str, float]:
    """Spread the links between the same two nodes evenly around the straight line."""
    parallel: dict[tuple[str, str], list[str]] = {}
    for name, link in links.items():
        first, second = sorted(link.ends)
        parallel.setdefault((first, second), []).append(name)
    return {name: (len(names) - 1) / 2 - index for names in parallel.values() for index, name in enumerate(names)}
