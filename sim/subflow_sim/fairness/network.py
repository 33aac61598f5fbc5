"""The network that connections share at a given time: the usable paths, and the capacities of their links.

All rates are payload rates, like the goodput of connections: a link of 8 Mbit/s carries 1448 bytes of payload in each
1500 bytes, which is 7.72 Mbit/s. The model omits receive buffers, slow start, ACKs that travel in the direction of the
data (52 bytes per one or two packets) and MPTCP's DSS option (24 bytes of each payload in the profile linux, which
leaves 7.59 Mbit/s). Each omission raises the ideal a few percent above the achievable rate.

Loss: a link drops a packet at random before its queue, so a lossy link can still be saturated by the surviving packets.
Loss consumes the capacity of the upstream links: they carry 1 / (1 - loss) bits for each bit that survives.

Datagram flows (cbr, onoff) do not respond to congestion. Their mean rates, reduced by loss, are therefore subtracted
from the capacities of their links first. Connections share the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from subflow_sim.link_state import LiveLink, changed_link
from subflow_sim.params import HEADER_BYTES
from subflow_sim.scenario_model import Event, Flow
from subflow_sim.whole_scenario import Scenario

MOST_STRETCHES = 60
"""Maximum number of stretches; a window with more pieces is divided more coarsely, with mean link rates."""

_FULL_LOSS = 1.0 - 1e-9


@dataclass(frozen=True, slots=True)
class SubflowPath:
    """A path over which a connection may send data.

    Attributes:
        owner: name of the subflow, "download/1".
        links: directions of links in order, "wifi/forward".
        loads: bits carried by each link per delivered bit, at least 1.
    """

    owner: str
    links: tuple[str, ...]
    loads: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """A tcp or mptcp connection.

    Attributes:
        name: "download" or "download.2".
        paths: paths of the subflows that can carry data; empty while the destination is unreachable.
    """

    name: str
    paths: tuple[SubflowPath, ...]


@dataclass(frozen=True, slots=True)
class SharedNetwork:
    """Capacities and active connections at one time.

    Attributes:
        capacities_bps: payload rate available to the connections by link direction, bit/s; infinite: unlimited.
            Contains only link directions on a usable path of a connection.
        connections: active connections.
    """

    capacities_bps: Mapping[str, float]
    connections: tuple[Connection, ...]


class Stretch(NamedTuple):
    """A time interval in s during which the network does not change."""

    from_s: float
    to_s: float
    network: SharedNetwork


class Lifetime(NamedTuple):
    """Active time of a connection, s."""

    from_s: float
    to_s: float


def lifetimes(scenario: Scenario) -> dict[str, Lifetime]:
    """Configured active times of the connections, by name.

    Leaves out flows with arrivals, whose times only a run reveals. Flows with a size may end earlier.
    """
    return {
        name: Lifetime(flow.start_s, math.inf if flow.stop_s is None else flow.stop_s)
        for flow in scenario.flows.values()
        if not flow.sends_datagrams
        for name in flow.instances
    }


def stretches(
    scenario: Scenario, from_s: float, to_s: float, alive: Mapping[str, Lifetime] | None = None
) -> list[Stretch]:
    """The stretches of a window, which is divided where an event changes the network or a flow starts or ends.

    Args:
        scenario: the scenario with all events.
        from_s: start of the window, s.
        to_s: end of the window, s; if not later than the start, the result is one stretch at the start.
        alive: active times of the connections; None: the times of the scenario.
    """
    alive = lifetimes(scenario) if alive is None else alive
    times = {event.at_s for event in scenario.events}
    times |= {time_s for life in alive.values() for time_s in life}  # infinite: until the end
    for flow in scenario.flows.values():
        if flow.sends_datagrams:
            times |= {flow.start_s, math.inf if flow.stop_s is None else flow.stop_s}
    cuts = [from_s, *sorted(time_s for time_s in times if from_s < time_s < to_s), max(from_s, to_s)]
    walk = _Walk(scenario)
    pieces = [_Piece(start, end, walk.at(start)) for start, end in pairwise(cuts)]
    at_once = math.ceil(len(pieces) / MOST_STRETCHES)
    return [
        _stretch(scenario, alive, pieces[first : first + at_once]) for first in range(0, len(pieces), max(1, at_once))
    ]


class _State(NamedTuple):
    """State after events: links by direction, and the open and backup flags of subflows."""

    links: Mapping[str, LiveLink]
    open: Mapping[tuple[str, int], bool]
    backup: Mapping[tuple[str, int], bool]


class _Piece(NamedTuple):
    from_s: float
    to_s: float
    state: _State


class _Walk:
    """Processes the events of a scenario once, in order of time."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._next = 0
        self._links: dict[str, LiveLink] = {}
        for name, link in scenario.links.items():
            self._links[f"{name}/forward"] = LiveLink(link.forward, True)
            self._links[f"{name}/reverse"] = LiveLink(link.reverse, True)
        self._open: dict[tuple[str, int], bool] = {}
        self._backup: dict[tuple[str, int], bool] = {}

    def at(self, time_s: float) -> _State:
        """The state after all events up to and including a time; the times of successive calls must not decrease."""
        events = self._scenario.events
        while self._next < len(events) and events[self._next].at_s <= time_s:
            self._make(events[self._next])
            self._next += 1
        return _State(dict(self._links), dict(self._open), dict(self._backup))

    def _make(self, event: Event) -> None:
        if event.link is not None:
            for direction in ("forward", "reverse"):
                if event.direction in ("both", direction):
                    key = f"{event.link}/{direction}"
                    self._links[key] = changed_link(self._links[key], event)
            return
        for flow in self._scenario.flows.values():
            if flow.sends_datagrams or event.flow is None:
                continue
            named = {flow.name, *flow.instances} if event.flow == flow.name else {event.flow}
            if event.flow != flow.name and not flow.has_copy(event.flow):
                continue
            ordinals = range(1, len(flow.paths) + 1) if event.subflow is None else (event.subflow,)
            for subflow in ((name, ordinal) for name in named for ordinal in ordinals):
                # The announcement of an address opens its subflow; the withdrawal closes the subflow.
                for opens in (event.open, event.announce if subflow[1] > 1 or event.announce is False else None):
                    if opens is not None:
                        self._open[subflow] = opens
                if event.backup is not None:
                    self._backup[subflow] = event.backup


def _stretch(scenario: Scenario, alive: Mapping[str, Lifetime], pieces: Sequence[_Piece]) -> Stretch:
    """Combines pieces into a stretch with their mean capacities and losses and the active flows of the middle piece."""
    from_s, to_s = pieces[0].from_s, pieces[-1].to_s
    if len(pieces) == 1:
        at_s, state = from_s, pieces[0].state
    else:
        at_s, state = (from_s + to_s) / 2, pieces[len(pieces) // 2].state
    spans = [max(piece.to_s - piece.from_s, 0.0) for piece in pieces]
    shares = [span / sum(spans) if sum(spans) > 0 else 1 / len(spans) for span in spans]
    capacities: dict[str, float] = {}
    survival: dict[str, float] = {}
    payload = scenario.mss_bytes / (scenario.mss_bytes + HEADER_BYTES)
    for key in state.links:
        weighed = [(share, piece.state.links[key]) for share, piece in zip(shares, pieces, strict=True) if share > 0]
        capacities[key] = sum(share * _wire_bps(link) for share, link in weighed)
        survival[key] = sum(share * (1.0 - link.side.loss if link.is_up else 0.0) for share, link in weighed)
    for flow in scenario.flows.values():
        stop_s = math.inf if flow.stop_s is None else flow.stop_s
        if flow.sends_datagrams and flow.start_s <= at_s < stop_s:
            _take_off(capacities, survival, flow, scenario)
    connections = tuple(
        Connection(name, _usable(scenario, flow, name, state, capacities, survival))
        for flow in scenario.flows.values()
        if not flow.sends_datagrams
        for name in _copies(flow, alive)
        if alive[name].from_s <= at_s < alive[name].to_s
    )
    crossed = {key for connection in connections for path in connection.paths for key in path.links}
    network = SharedNetwork({key: capacities[key] * payload for key in capacities if key in crossed}, connections)
    return Stretch(from_s, to_s, network)


def _copies(flow: Flow, alive: Mapping[str, Lifetime]) -> Iterable[str]:
    if flow.arrivals is None:
        return (name for name in flow.instances if name in alive)
    return (name for name in alive if flow.has_copy(name))


def _wire_bps(link: LiveLink) -> float:
    if not link.is_up:
        return 0.0
    if link.side.trace is not None:
        return link.side.trace.rate_bps
    return math.inf if link.side.rate_bps is None else link.side.rate_bps


def directions(scenario: Scenario, source: str, path: Iterable[str]) -> tuple[str, ...]:
    """The link directions of a path: ("access/forward", "core/reverse")."""
    here, keys = source, []
    for name in path:
        first, second = scenario.links[name].ends
        keys.append(f"{name}/{'forward' if here == first else 'reverse'}")
        here = second if here == first else first
    return tuple(keys)


def _take_off(capacities: dict[str, float], survival: Mapping[str, float], flow: Flow, scenario: Scenario) -> None:
    """Subtracts the rate of a datagram flow from the capacities of the links on its path."""
    assert flow.rate_bps is not None
    rate_bps = flow.rate_bps * flow.count
    if flow.mean_on_s is not None and flow.mean_off_s is not None:
        rate_bps *= flow.mean_on_s / (flow.mean_on_s + flow.mean_off_s)
    for key in directions(scenario, flow.source, flow.paths[0]):
        rate_bps = min(rate_bps * survival[key], capacities[key])
        if math.isfinite(capacities[key]):
            capacities[key] -= rate_bps


def _usable(
    scenario: Scenario,
    flow: Flow,
    name: str,
    state: _State,
    capacities: Mapping[str, float],
    survival: Mapping[str, float],
) -> tuple[SubflowPath, ...]:
    """The paths that can carry data: open, with all links up; backup paths only if no other path is usable."""
    usable: dict[int, SubflowPath] = {}
    for ordinal, path in enumerate(flow.paths, start=1):
        keys = directions(scenario, flow.source, path)
        is_open = state.open.get((name, ordinal), state.open.get((flow.name, ordinal), ordinal not in flow.late))
        if not is_open or any(survival[key] <= 1.0 - _FULL_LOSS or capacities[key] <= 0 for key in keys):
            continue
        # The last link delivers everything it carries; each upstream link also carries the packets lost downstream.
        loads = [1.0]
        for key in reversed(keys[1:]):
            loads.append(loads[-1] / survival[key])
        usable[ordinal] = SubflowPath(f"{name}/{ordinal}", keys, tuple(reversed(loads)))
    backups = {
        ordinal
        for ordinal in usable
        if state.backup.get((name, ordinal), state.backup.get((flow.name, ordinal), ordinal in flow.backup))
    }
    chosen = usable.keys() - backups or usable.keys()
    return tuple(usable[ordinal] for ordinal in sorted(chosen))
