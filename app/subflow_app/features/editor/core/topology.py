"""What the picture of a scenario shows: nodes with their places, links, and the path of every subflow across them.

This is the picture without pixels: which subflow takes which link in which direction, what colour it has, which timed
events touch what. Shapes and texts are the canvas's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from subflow_app.features.editor.core.layout import Point, place_nodes
from subflow_app.vocabulary.palette import ColourKey, colour_keys
from subflow_sim.scenario import Event, Flow, Link, Note, Scenario


@dataclass(frozen=True, slots=True)
class Hop:
    """One link on the way of a subflow; `forward` if it is crossed from its first to its second end."""

    link: str
    forward: bool


@dataclass(frozen=True, slots=True)
class SubflowPath:
    """The way of one subflow of a flow definition, for all the `count` instances of the flow.

    Attributes:
        owner: `download/1`; for a cbr or onoff flow, which has no subflows, `cross`.
        ordinal: position among the paths of the flow, from 1.
        label: what a legend calls it, e.g. `download · wifi`; the name of the flow if it has one path.
        count: how many identical flows take it.
        arrives: they come one after the other during the run, and their number is not known before.
        hops: the links in the order the data crosses them.
        initially_closed: an event at time zero closes it.
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
        """It is not a subflow, but the way of a cbr or onoff flow."""
        return self.owner == self.flow

    @property
    def route(self) -> str:
        """The links in the order the data crosses them, as text."""
        return " → ".join(hop.link for hop in self.hops)


@dataclass(frozen=True, slots=True)
class PictureLink:
    """A link as drawn.

    Attributes:
        bow: position among the links between the same two nodes, from top to bottom in file order: 0.5 and -0.5 for
            two, 1, 0 and -1 for three; 0 for a single link.
        lanes: owners of the subflow paths that cross it, in drawing order.
        events: the timed changes of this link.
        initially_down: an event at time zero takes it down.
        unread: keys of the link whose values have problems and never had none: `link` holds placeholders there.
    """

    link: Link
    bow: float
    lanes: tuple[str, ...]
    events: tuple[Event, ...]
    initially_down: bool
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TopologyPicture:
    """Everything the canvas draws.

    Attributes:
        places: canvas position of every node.
        routers: names of the nodes that are drawn as routers.
        notes: on the drawing, in file order.
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
        scenario: what to draw.
        positions: places that are newer than the scenario's own, e.g. those of a document that has a problem elsewhere.
        unread: by link, the keys of which the scenario holds placeholders, see `ScenarioDoc.unread`.
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
    """Return a path's links with the direction in which data from `source` crosses each."""
    hops: list[Hop] = []
    here = source
    for name in path:
        first, second = scenario.links[name].ends
        hops.append(Hop(name, here == first))
        here = second if here == first else first
    return tuple(hops)


def _names(event: Event, flow: Flow) -> bool:
    """Whether an event names a flow, either as a whole or one of its instances."""
    return event.flow is not None and (event.flow == flow.name or flow.has_copy(event.flow))


def _label(flow: Flow, path: Sequence[str]) -> str:
    # With one path there is nothing to tell apart.
    return f"{flow.name} · {' → '.join(path)}" if len(flow.paths) > 1 else flow.name


def _bows(links: Mapping[str, Link]) -> dict[str, float]:
    """Spread the links between the same two nodes evenly about the straight line."""
    parallel: dict[tuple[str, str], list[str]] = {}
    for name, link in links.items():
        first, second = sorted(link.ends)
        parallel.setdefault((first, second), []).append(name)
    return {name: (len(names) - 1) / 2 - index for names in parallel.values() for index, name in enumerate(names)}
