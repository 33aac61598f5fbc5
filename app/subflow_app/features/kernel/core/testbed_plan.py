"""Plans a scenario as a network of real hosts: namespaces, interfaces, addresses, routes, MPTCP endpoints.

Scripts for testbeds are written from this plan; programs that run over a drawn network can be started from it. The
comparison with the kernel shares `hops`, but needs no more of it: its emulator stands for all links and routers at
once, so that its hosts have one interface each.

Routing. Each subflow has a source address of its own on the interface of its first link, and all subflows of a flow
lead to one destination address, that of the first path. A rule for the pair of addresses in each node selects a table
with the next hop. A packet thus arrives for an address of another interface; Linux accepts this. Destination addresses
that belong to each path would need announcements (ADD_ADDR), with which the kernel chooses its own source addresses.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from subflow_app.features.kernel.core.network_plan import HEADER_BYTES
from subflow_app.foundation.errors import InputError

if TYPE_CHECKING:
    from subflow_sim.scenario import Link, LinkDirection, Node, Scenario

MAX_ENDPOINTS = 8
"""The in-kernel path manager keeps at most eight addresses per namespace (MPTCP_PM_ADDR_MAX)."""
MAX_LINKS = 4096
"""Number of networks of 16 addresses between 10.0.0.0 and 10.0.255.255."""
MAX_PATHS = 10_000
"""Number of routing tables for each direction: 1000 to 10 999, and 11 000 to 20 999."""

_NETWORK_ADDRESSES = 16
_HOSTS_IN_NETWORK = 14
_FIRST_TABLE = 1000
_MAX_INTERFACE_NAME = 15
# Names that the kernel uses for itself: the loopback, and the folders of settings for all interfaces.
_TAKEN_NAMES = ("lo", "all", "default")
_INTERFACE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_MIN_IPV6_MTU_BYTES = 1280
_MOST_ROUTES = 4000


@dataclass(frozen=True, slots=True)
class Hop:
    """One link of a path.

    Attributes:
        link: name of the link.
        direction: "forward" or "reverse".
        source: node at which the hop begins.
        target: node at which the hop ends.
    """

    link: str
    direction: str
    source: str
    target: str

    @property
    def back(self) -> Hop:
        """The same link in the other direction."""
        return Hop(self.link, "reverse" if self.direction == "forward" else "forward", self.target, self.source)


@dataclass(frozen=True, slots=True)
class Address:
    """An IPv4 address and the IPv6 address with the same number.

    Attributes:
        ipv4: for example "10.0.0.1".
        ipv6: for example "fd00:0:0:1::1"; empty if the MTU is too small for IPv6.
    """

    ipv4: str
    ipv6: str

    @property
    def families(self) -> tuple[tuple[str, str, int], ...]:
        """Option of `ip`, address and full prefix length, for each family."""
        return (("-4", self.ipv4, 32), *((("-6", self.ipv6, 128),) if self.ipv6 else ()))


@dataclass(slots=True)
class Interface:
    """One end of a link.

    Attributes:
        node: name of the node.
        name: name of the interface, equal at both ends of a link.
        link: name of the link.
        peer: name of the node at the other end.
        direction: direction of the link in which packets leave here, "forward" or "reverse".
        addresses: the address, then those of further subflows that begin here.
    """

    node: str
    name: str
    link: str
    peer: str
    direction: str
    addresses: list[Address]

    @property
    def address(self) -> Address:
        """The first address."""
        return self.addresses[0]


@dataclass(frozen=True, slots=True)
class PathRoute:
    """The route of a subflow's packets.

    Attributes:
        number: ordinal among all routes, from 0.
        hops: links from source to destination.
        source: address of the sender.
        destination: address of the receiver.
        uses: the subflows, as "download/1".
    """

    number: int
    hops: tuple[Hop, ...]
    source: Address
    destination: Address
    uses: list[str] = field(default_factory=list)

    @property
    def tables(self) -> tuple[int, int]:
        """Numbers of the routing tables there and back."""
        return _FIRST_TABLE + self.number, _FIRST_TABLE + MAX_PATHS + self.number


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address from which MPTCP opens a further subflow.

    Attributes:
        number: identifier of the address, from 1.
        interface: name of the interface.
        address: the address.
        is_backup: whether the subflow carries data only while no other is usable.
        is_late: whether an event adds the endpoint.
        uses: the subflows, as "download/2".
    """

    number: int
    interface: str
    address: Address
    is_backup: bool
    is_late: bool
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the main table, for traffic other than that of the flows.

    Attributes:
        destination: "default", or a network or an address of IPv4 with its prefix length.
        destination6: the same for IPv6; empty without IPv6.
        via: address of the next hop.
        interface: name of the interface.
        source: preferred source address; None for the kernel's choice.
    """

    destination: str
    destination6: str
    via: Address
    interface: str
    source: Address | None = None


@dataclass(slots=True)
class Machine:
    """A node of the scenario as a namespace, container or host.

    Attributes:
        node: the node.
        interfaces: one for each link.
        routes: main table.
        endpoints: MPTCP endpoints.
        subflow_limit: most additional subflows of a connection that begins or ends here.
    """

    node: Node
    interfaces: list[Interface] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    endpoints: list[Endpoint] = field(default_factory=list)
    subflow_limit: int = 0

    @property
    def is_router(self) -> bool:
        """True if the machine forwards packets."""
        return self.node.kind == "router"

    def interface(self, link: str) -> Interface:
        """The interface of a link."""
        return next(each for each in self.interfaces if each.link == link)


@dataclass(frozen=True, slots=True)
class TestbedPlan:
    """A scenario as a network of real hosts.

    Attributes:
        scenario: the scenario.
        machines: by name of the node, in the order of the file.
        routes: routes of the subflows.
        route_of: route of each subflow by (name of the flow, ordinal from 1).
        mtu_bytes: size of the largest IP packet, bytes.
        shortcomings: parts of the scenario that the plan cannot express, one sentence each.
    """

    __test__ = False  # not a test, although pytest would think so by the name

    scenario: Scenario
    machines: Mapping[str, Machine]
    routes: tuple[PathRoute, ...]
    route_of: Mapping[tuple[str, int], PathRoute]
    mtu_bytes: int
    shortcomings: tuple[str, ...]

    def ends(self, link: str) -> tuple[Interface, Interface]:
        """Interfaces of a link, in the order of its ends."""
        first, second = self.scenario.links[link].ends
        return self.machines[first].interface(link), self.machines[second].interface(link)

    def directions(self) -> Iterator[tuple[Interface, LinkDirection]]:
        """Each direction of each link, with the interface at which packets leave for it."""
        for link in self.scenario.links.values():
            first, second = self.ends(link.name)
            yield first, link.forward
            yield second, link.reverse

    def next_hop(self, hop: Hop) -> tuple[Interface, Address]:
        """Interface at which packets of a hop leave, and the address of the next node."""
        return self.machines[hop.source].interface(hop.link), self.machines[hop.target].interface(hop.link).address


def hops(links: Mapping[str, Link], source: str, path: Sequence[str]) -> tuple[Hop, ...]:
    """The links of a path with their directions.

    Args:
        links: links by name.
        source: node at which the path begins.
        path: names of the links in order; each must continue the path.
    """
    found: list[Hop] = []
    here = source
    for name in path:
        first, second = links[name].ends
        there = second if here == first else first
        found.append(Hop(name, "forward" if here == first else "reverse", here, there))
        here = there
    return tuple(found)


def plan_testbed(scenario: Scenario) -> TestbedPlan:
    """Plan a scenario as a network of real hosts.

    Raises:
        InputError: if the scenario has no link, or too many links or paths for the addresses and tables.
    """
    paths = sum(len(flow.paths) for flow in scenario.flows.values())
    if not scenario.links:
        raise InputError("a testbed needs at least one link, which this scenario lacks")
    if len(scenario.links) > MAX_LINKS:
        raise InputError(f"{len(scenario.links)} links: a testbed has addresses for at most {MAX_LINKS}")
    if paths > MAX_PATHS:
        raise InputError(f"{paths} paths: a testbed has routing tables for at most {MAX_PATHS}")
    return _Planner(scenario).plan()


class _Planner:
    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._mtu_bytes = scenario.mss_bytes + HEADER_BYTES
        self._machines = {name: Machine(node) for name, node in scenario.nodes.items()}
        self._shortcomings: list[str] = []
        self._networks = {name: number for number, name in enumerate(scenario.links)}
        self._routes: list[PathRoute] = []
        self._route_of: dict[tuple[str, int], PathRoute] = {}

    def plan(self) -> TestbedPlan:
        names = interface_names(list(self._scenario.links))
        for link in self._scenario.links.values():
            for position, (node, peer) in enumerate((link.ends, link.ends[::-1])):
                direction = "reverse" if position else "forward"
                address = self._address(link.name, position + 1)
                self._machines[node].interfaces.append(
                    Interface(node, names[link.name], link.name, peer, direction, [address])
                )
        if self._mtu_bytes < _MIN_IPV6_MTU_BYTES:
            self._shortcomings.append(
                f"no IPv6: its packets have at least {_MIN_IPV6_MTU_BYTES} bytes, those here {self._mtu_bytes}"
            )
        self._plan_flows()
        self._plan_endpoints()
        self._plan_main_routes()
        return TestbedPlan(
            self._scenario,
            self._machines,
            tuple(self._routes),
            self._route_of,
            self._mtu_bytes,
            tuple(self._shortcomings),
        )

    def _address(self, link: str, host: int) -> Address:
        number = self._networks[link] * _NETWORK_ADDRESSES + host
        ipv6 = f"fd00:0:0:{self._networks[link] + 1:x}::{host:x}" if self._mtu_bytes >= _MIN_IPV6_MTU_BYTES else ""
        return Address(f"10.0.{number // 256}.{number % 256}", ipv6)

    def _network(self, link: str) -> tuple[str, str]:
        """IPv4 and IPv6 network of a link."""
        base = self._address(link, 0)
        return f"{base.ipv4}/28", f"{base.ipv6.removesuffix('0')}/64" if base.ipv6 else ""

    # ---- flows ----

    def _plan_flows(self) -> None:
        for flow in self._scenario.flows.values():
            taken: set[int] = set()
            destination = self._destination(flow.destination, flow.paths[0])
            for ordinal, path in enumerate(flow.paths, 1):
                chain = hops(self._scenario.links, flow.source, path)
                route = self._known(chain, destination, taken) or self._new_route(chain, destination)
                if route is None:
                    self._shortcomings.append(
                        f"flows.{flow.name}: path {ordinal} has no address left on the interface of its first link, "
                        f"which has room for {_HOSTS_IN_NETWORK}"
                    )
                    continue
                taken.add(route.number)
                route.uses.append(f"{flow.name}/{ordinal}")
                self._route_of[flow.name, ordinal] = route

    def _destination(self, node: str, path: Sequence[str]) -> Address:
        return self._machines[node].interface(path[-1]).address

    def _known(self, chain: tuple[Hop, ...], destination: Address, taken: set[int]) -> PathRoute | None:
        """A route that another flow uses already."""
        return next(
            (
                route
                for route in self._routes
                if route.hops == chain and route.destination == destination and route.number not in taken
            ),
            None,
        )

    def _new_route(self, chain: tuple[Hop, ...], destination: Address) -> PathRoute | None:
        interface = self._machines[chain[0].source].interface(chain[0].link)
        used = {route.source for route in self._routes if route.destination == destination}
        source = next((address for address in interface.addresses if address not in used), None)
        if source is None:
            # The other end of the link may also have further addresses: even numbers are those of the second node.
            host = 2 * len(interface.addresses) + (1 if interface.direction == "forward" else 2)
            if host > _HOSTS_IN_NETWORK:
                return None
            source = self._address(interface.link, host)
            interface.addresses.append(source)
        route = PathRoute(len(self._routes), chain, source, destination)
        self._routes.append(route)
        return route

    # ---- MPTCP ----

    def _plan_endpoints(self) -> None:
        flows = [flow for flow in self._scenario.flows.values() if flow.kind == "mptcp"]
        by_source: dict[str, list[str]] = {}
        for flow in flows:
            ordinals = [number for number in range(2, len(flow.paths) + 1) if (flow.name, number) in self._route_of]
            for node in (flow.source, flow.destination):
                machine = self._machines[node]
                machine.subflow_limit = max(machine.subflow_limit, len(ordinals))
            by_source.setdefault(flow.source, []).append(flow.name)
            if 1 in flow.backup:
                self._shortcomings.append(
                    f"flows.{flow.name}: subflow 1 begins as a normal subflow, because the connection is opened on it"
                )
            for ordinal in ordinals:
                self._add_endpoint(flow.name, ordinal, is_backup=ordinal in flow.backup, is_late=ordinal in flow.late)
        for node, names in by_source.items():
            sets = {tuple(self._scenario.flows[name].paths) for name in names}
            if len(sets) > 1:
                self._shortcomings.append(
                    f"nodes.{node}: Linux opens the subflows of all endpoints of a host for each of its MPTCP "
                    f"connections, so {', '.join(names)} use each other's paths, too"
                )

    def _add_endpoint(self, flow: str, ordinal: int, *, is_backup: bool, is_late: bool) -> None:
        route = self._route_of[flow, ordinal]
        machine = self._machines[route.hops[0].source]
        known = next((each for each in machine.endpoints if each.address == route.source), None)
        use = f"{flow}/{ordinal}"
        if known is not None:
            machine.endpoints[known.number - 1] = replace(
                known,
                is_backup=known.is_backup and is_backup,
                is_late=known.is_late and is_late,
                uses=(*known.uses, use),
            )
        elif len(machine.endpoints) >= MAX_ENDPOINTS:
            self._shortcomings.append(
                f"flows.{flow}: subflow {ordinal} has no MPTCP endpoint, because Linux keeps at most {MAX_ENDPOINTS}"
            )
        else:
            interface = machine.interface(route.hops[0].link).name
            number = len(machine.endpoints) + 1
            machine.endpoints.append(Endpoint(number, interface, route.source, is_backup, is_late, (use,)))

    # ---- other traffic ----

    def _plan_main_routes(self) -> None:
        """Routes for any two nodes by the least number of links; the first path of a flow has priority."""
        chosen: set[tuple[str, str]] = set()
        for flow in self._scenario.flows.values():
            route = self._route_of.get((flow.name, 1))
            if route is None or (flow.source, route.destination.ipv4) in chosen:
                continue
            chosen.add((flow.source, route.destination.ipv4))
            interface, via = self._first_hop(route)
            if via == route.destination and route.source == interface.address:
                continue  # as for all neighbours
            target6 = f"{route.destination.ipv6}/128" if route.destination.ipv6 else ""
            self._machines[flow.source].routes.append(
                Route(f"{route.destination.ipv4}/32", target6, via, interface.name, route.source)
            )
        far = {name: self._next_links(name) for name in self._machines}
        if sum(map(len, far.values())) > _MOST_ROUTES:
            self._shortcomings.append(
                f"only the flows have routes: routes between any two nodes would be more than {_MOST_ROUTES}"
            )
            return
        for name, next_links in far.items():
            machine = self._machines[name]
            if len(machine.interfaces) == 1 and next_links:
                only = machine.interfaces[0]
                via = self._machines[only.peer].interface(only.link).address
                machine.routes.append(Route("default", "default" if via.ipv6 else "", via, only.name))
                continue
            for link, first in next_links.items():
                interface = machine.interface(first)
                via = self._machines[interface.peer].interface(first).address
                network, network6 = self._network(link)
                machine.routes.append(Route(network, network6, via, interface.name))

    def _first_hop(self, route: PathRoute) -> tuple[Interface, Address]:
        first = route.hops[0]
        interface = self._machines[first.source].interface(first.link)
        return interface, self._machines[first.target].interface(first.link).address

    def _next_links(self, start: str) -> dict[str, str]:
        """For each link that does not end at a node: the first link of the shortest way there. Only routers forward."""
        first_of: dict[str, str | None] = {start: None}
        found: dict[str, str] = {}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            if here != start and not self._machines[here].is_router:
                continue
            for interface in self._machines[here].interfaces:
                first = first_of[here] or interface.link
                if here != start and start != interface.peer:
                    found.setdefault(interface.link, first)
                if interface.peer not in first_of:
                    first_of[interface.peer] = first
                    waiting.append(interface.peer)
        return found


def interface_names(links: Sequence[str]) -> dict[str, str]:
    """Names of interfaces by link: the link's own name where Linux allows it, otherwise its number and beginning."""
    names: dict[str, str] = {}
    fitting = [
        link
        for link in links
        if len(link) <= _MAX_INTERFACE_NAME and _INTERFACE_NAME.match(link) and link not in _TAKEN_NAMES
    ]
    taken = set(fitting)
    for number, link in enumerate(links):
        name = link
        if link not in fitting:
            beginning = re.sub(r"[^A-Za-z0-9]", "", link)
            name = f"l{number}-{beginning}"[:_MAX_INTERFACE_NAME]
            while name in taken:
                name = f"l{number}x{len(taken)}"
            taken.add(name)
        names[link] = name
    return names
