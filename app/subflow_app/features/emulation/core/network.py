"""The network of a scenario as namespaces, cables and wires: plain values that the worker gets as JSON.

Each link is two pairs of connected interfaces. One end of each pair belongs to a node; the other ends lie in a
namespace of the link emulator, which carries packets between them. Both ends of a link have the same MAC address and
ask no neighbours, so the emulator passes frames unchanged, and no packet waits for a resolution of addresses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from subflow_app.features.kernel.core.network_plan import CONGESTION_CONTROLS, ECN_MODES
from subflow_app.features.kernel.core.testbed_plan import (
    MAX_ENDPOINTS,
    Address,
    Machine,
    PathRoute,
    TestbedPlan,
    plan_testbed,
)
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import counted

if TYPE_CHECKING:
    from subflow_sim.scenario import Flow, Scenario

MAX_NODES = 200
"""Each node is a namespace, which takes the kernel about a hundredth of a second to make and to remove."""
CEILING_BPS = 300e6
"""Traffic up to which the link emulator keeps time on one core, bit/s."""

_SOCKET_BUFFER_BYTES = 32 << 20
_IPV4_BITS, _IPV6_BITS = 28, 64


@dataclass(frozen=True, slots=True)
class NodeInterface:
    """An interface of a node.

    Attributes:
        name: name in the node.
        cable: name of the other end in the namespace of the emulator.
        mac: MAC address, equal at both ends of a link.
        addresses: (address, prefix length), IPv4 and IPv6.
    """

    name: str
    cable: str
    mac: str
    addresses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class NodeRoute:
    """A route of a node.

    Attributes:
        destination: network with prefix length; "0.0.0.0/0" or "::/0" for the rest.
        via: address of the next hop.
        interface: name of the interface.
        source: preferred source address; empty for the kernel's choice.
        table: number of the table; 0 for the main table.
    """

    destination: str
    via: str
    interface: str
    source: str = ""
    table: int = 0


@dataclass(frozen=True, slots=True)
class NodeRule:
    """A rule that selects a routing table for packets between two addresses."""

    source: str
    destination: str
    table: int


@dataclass(frozen=True, slots=True)
class NodeEndpoint:
    """An address from which MPTCP opens a further subflow.

    Attributes:
        number: identifier, from 1.
        interface: name of the interface.
        address: IPv4 or IPv6 address.
        is_backup: whether the subflow carries data only while no other is usable.
        is_late: whether only a later change adds the address.
    """

    number: int
    interface: str
    address: str
    is_backup: bool = False
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class NamespaceOfNode:
    """A node as a namespace.

    Attributes:
        name: name of the node.
        is_router: whether it forwards packets.
        settings: kernel parameters, by name.
        interfaces: one for each link.
        routes: routes of all tables.
        rules: rules, in order.
        endpoints: MPTCP endpoints.
        subflow_limit: most additional subflows of an MPTCP connection.
        hosts: content of /etc/hosts.
    """

    name: str
    is_router: bool
    settings: Mapping[str, str]
    interfaces: tuple[NodeInterface, ...]
    routes: tuple[NodeRoute, ...]
    rules: tuple[NodeRule, ...]
    endpoints: tuple[NodeEndpoint, ...]
    subflow_limit: int
    hosts: str


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """A change of an MPTCP endpoint during the run.

    Attributes:
        at_s: time, s.
        node: name of the node.
        endpoint: the endpoint after the change.
        is_there: whether it exists after the change.
        is_new: whether it is added.
    """

    at_s: float
    node: str
    endpoint: NodeEndpoint
    is_there: bool
    is_new: bool


@dataclass(frozen=True, slots=True)
class EmulatedNetwork:
    """A scenario as namespaces.

    Attributes:
        scenario: the scenario.
        plan: addresses and routes, also for connections from the destination of a flow to its source.
        nodes: the namespaces, in the order of the file.
        changes: changes of MPTCP endpoints, in time order.
        notes: differences from the scenario that users should know, one sentence each.
    """

    scenario: Scenario
    plan: TestbedPlan
    nodes: tuple[NamespaceOfNode, ...]
    changes: tuple[EndpointChange, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The network as JSON values for the worker."""
        return {
            "mtu_bytes": self.plan.mtu_bytes,
            "links": list(self.scenario.links),
            "nodes": [asdict(node) for node in self.nodes],
            "changes": [asdict(change) for change in self.changes],
        }

    def node_of(self) -> dict[str, str]:
        """Name of the node of each address."""
        return {
            text: name
            for name, machine in self.plan.machines.items()
            for interface in machine.interfaces
            for address in interface.addresses
            for text in (address.ipv4, address.ipv6)
            if text
        }


def cables(link: int) -> tuple[str, str]:
    """Names of the emulator's ends of a link: that at the first node, and that at the second node."""
    return f"a{link}", f"b{link}"


def plan_emulation(scenario: Scenario, uplink: str | None = None) -> EmulatedNetwork:
    """Plan a scenario as namespaces.

    Args:
        scenario: a checked scenario.
        uplink: node whose routes leave everything else to the network of this machine.

    Raises:
        InputError: with every part of the scenario that the emulator lacks; or if the scenario has no link, or is too
            large.
    """
    problems = list(_problems(scenario))
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise InputError(f"programs cannot run on this scenario:\n{lines}")
    shortcomings = plan_testbed(scenario).shortcomings
    # A connection may also be opened by the destination of a flow, as by a browser. It then needs the same paths.
    back = {name: _back(flow) for name, flow in ((f"{flow.name} back", flow) for flow in scenario.flows.values())}
    plan = plan_testbed(replace(scenario, flows={**scenario.flows, **back}))
    numbers = {name: number for number, name in enumerate(scenario.links)}
    nodes = tuple(_node(plan, machine, numbers) for machine in plan.machines.values())
    nodes = tuple(_with_uplink(node) if node.name == uplink else node for node in nodes)
    notes = (*shortcomings, *_notes(scenario))
    return EmulatedNetwork(scenario, plan, nodes, tuple(_changes(plan)), notes)


def _back(flow: Flow) -> Flow:
    """A flow in the opposite direction over the same paths."""
    paths = tuple(tuple(reversed(path)) for path in flow.paths)
    return replace(flow, name=f"{flow.name} back", source=flow.destination, destination=flow.source, paths=paths)


def _problems(scenario: Scenario) -> Iterator[str]:
    """Parts of a scenario that cannot be emulated, one line each."""
    if len(scenario.nodes) > MAX_NODES:
        yield f"{len(scenario.nodes)} nodes: supported: up to {MAX_NODES}"
    for link in scenario.links.values():
        accesses = [side.access for side in (link.forward, link.reverse) if side.access is not None]
        if accesses:
            yield f'links.{link.name}: access to the medium "{accesses[0].medium}"; supported: links without `access`'
        if link.drops:
            yield f"links.{link.name}: scripted drops of single packets; supported: loss by probability, model or trace"


def _notes(scenario: Scenario) -> Iterator[str]:
    for flow in scenario.flows.values():
        name = flow.controller.name if flow.controller.name != "uncoupled" else flow.controller.options.get("base", "")
        if not flow.sends_datagrams and name not in CONGESTION_CONTROLS:
            yield (
                f"flows.{flow.name}: programs at {flow.source} use the kernel's default congestion control, because "
                f"Linux has no {name}"
            )
        possible_bps = sum(min((_rate(scenario, name) for name in path), default=0.0) for path in flow.paths)
        if possible_bps > CEILING_BPS:
            possible = "an unlimited rate" if possible_bps == float("inf") else f"{possible_bps / 1e6:g} Mbit/s"
            yield (
                f"flows.{flow.name} could carry {possible}; above about {CEILING_BPS / 1e6:g} Mbit/s, the emulator may "
                "be late, which the run then reports"
            )


def _rate(scenario: Scenario, link: str) -> float:
    rates = (scenario.links[link].forward.rate_bps, scenario.links[link].reverse.rate_bps)
    return max(float("inf") if rate is None else rate for rate in rates)


# ---- nodes ----


def _node(plan: TestbedPlan, machine: Machine, numbers: Mapping[str, int]) -> NamespaceOfNode:
    routes: list[NodeRoute] = []
    for route in machine.routes:
        source = route.source or Address("", "")
        routes.append(NodeRoute(_network(route.destination, 4), route.via.ipv4, route.interface, source.ipv4))
        if route.destination6:
            routes.append(NodeRoute(_network(route.destination6, 6), route.via.ipv6, route.interface, source.ipv6))
    rules: list[NodeRule] = []
    for path in plan.routes:
        for rule, table_route in _path_steps(plan, path, machine.node.name):
            rules.append(rule)
            routes.append(table_route)
    return NamespaceOfNode(
        name=machine.node.name,
        is_router=machine.is_router,
        settings=_settings(plan.scenario, machine),
        interfaces=tuple(_interface(machine, place, numbers) for place in range(len(machine.interfaces))),
        routes=tuple(routes),
        rules=tuple(rules),
        endpoints=tuple(_endpoints(machine)),
        subflow_limit=min(machine.subflow_limit, MAX_ENDPOINTS),
        hosts=_hosts(plan, machine.node.name),
    )


def _with_uplink(node: NamespaceOfNode) -> NamespaceOfNode:
    """The node with routes to the drawn network alone, so that its default route can lead elsewhere."""
    own = {"0.0.0.0/0": "10.0.0.0/16", "::/0": "fd00::/48"}
    routes = (
        route if route.table else replace(route, destination=own.get(route.destination, route.destination))
        for route in node.routes
    )
    return replace(node, routes=tuple(routes))


def _network(text: str, version: int) -> str:
    if text == "default":
        return "0.0.0.0/0" if version == 4 else "::/0"
    return text


def _interface(machine: Machine, place: int, numbers: Mapping[str, int]) -> NodeInterface:
    interface = machine.interfaces[place]
    number = numbers[interface.link]
    addresses = [(address.ipv4, _IPV4_BITS) for address in interface.addresses]
    addresses += [(address.ipv6, _IPV6_BITS) for address in interface.addresses if address.ipv6]
    cable = cables(number)[1 if interface.direction == "reverse" else 0]
    return NodeInterface(interface.name, cable, f"02:00:00:00:{number // 256:02x}:{number % 256:02x}", tuple(addresses))


def _path_steps(plan: TestbedPlan, path: PathRoute, node: str) -> Iterator[tuple[NodeRule, NodeRoute]]:
    """Rules and routes by which a node leads the packets of a path, there and back."""
    for table, is_back in zip(path.tables, (False, True), strict=True):
        chain = [hop.back for hop in reversed(path.hops)] if is_back else path.hops
        ends = (path.destination, path.source) if is_back else (path.source, path.destination)
        for hop in chain:
            if hop.source != node:
                continue
            interface, via = plan.next_hop(hop)
            yield (
                NodeRule(ends[0].ipv4, ends[1].ipv4, table),
                NodeRoute("0.0.0.0/0", via.ipv4, interface.name, "", table),
            )
            if ends[0].ipv6:
                yield (
                    NodeRule(ends[0].ipv6, ends[1].ipv6, table),
                    NodeRoute("::/0", via.ipv6, interface.name, "", table),
                )


def _endpoints(machine: Machine) -> Iterator[NodeEndpoint]:
    """Endpoints of both families, as long as the kernel has room for them."""
    planned = machine.endpoints
    families = ("ipv4", "ipv6") if 2 * len(planned) <= MAX_ENDPOINTS else ("ipv4",)
    for family_number, family in enumerate(families):
        for endpoint in planned:
            address = str(getattr(endpoint.address, family))
            if address:
                number = endpoint.number + family_number * len(planned)
                yield NodeEndpoint(number, endpoint.interface, address, endpoint.is_backup, endpoint.is_late)


def _settings(scenario: Scenario, machine: Machine) -> dict[str, str]:
    """Kernel parameters of a node. Those of "default" apply to interfaces that are made later."""
    found = {
        # Packets of a path arrive for the address of another interface.
        "net.ipv4.conf.all.rp_filter": "0",
        "net.ipv4.conf.default.rp_filter": "0",
        # No packets of the node's own: addresses are given, and the interfaces have no others.
        "net.ipv6.conf.default.accept_dad": "0",
        "net.ipv6.conf.default.accept_ra": "0",
        "net.ipv6.conf.default.router_solicitations": "0",
        "net.ipv6.conf.default.addr_gen_mode": "1",
        "net.ipv6.conf.lo.addr_gen_mode": "1",
        "net.ipv4.ping_group_range": "0 2147483647",
        # Connections must not depend on earlier ones.
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.mptcp.enabled": "1",
    }
    if machine.is_router:
        found["net.ipv4.ip_forward"] = "1"
        found["net.ipv6.conf.all.forwarding"] = "1"
        return found
    ecn = ECN_MODES.get(str(scenario.transport.get("ecn", "off")), 0)
    if ecn:
        found["net.ipv4.tcp_ecn"] = str(ecn)
    found["net.ipv4.tcp_rmem"] = f"4096 131072 {_SOCKET_BUFFER_BYTES}"
    found["net.ipv4.tcp_wmem"] = f"4096 16384 {_SOCKET_BUFFER_BYTES}"
    for flow in scenario.flows.values():
        base = flow.controller.options.get("base", "newreno") if flow.controller.name == "uncoupled" else ""
        name = CONGESTION_CONTROLS.get(str(base or flow.controller.name))
        if flow.source == machine.node.name and name is not None:
            found.setdefault("net.ipv4.tcp_congestion_control", name)
    return found


def _hosts(plan: TestbedPlan, node: str) -> str:
    """Content of /etc/hosts: each reachable node by the address to which the first path of a flow leads."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    known = _nearest(plan, node)
    for flow in plan.scenario.flows.values():
        route = plan.route_of.get((flow.name, 1))
        if flow.source == node and route is not None and flow.destination != node:
            known[flow.destination] = route.destination
    for name in plan.machines:
        if name in known:
            lines.append(f"{known[name].ipv4} {name}")
            if known[name].ipv6:
                lines.append(f"{known[name].ipv6} {name}")
    return "\n".join([*lines, ""])


def _nearest(plan: TestbedPlan, start: str) -> dict[str, Address]:
    """Address by which each reachable node is nearest, and an own address of the node itself."""
    found: dict[str, Address] = {}
    own = plan.machines[start].interfaces
    if own:
        found[start] = own[0].address
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here != start and not plan.machines[here].is_router:
            continue
        for interface in plan.machines[here].interfaces:
            if interface.peer not in found:
                found[interface.peer] = plan.machines[interface.peer].interface(interface.link).address
                waiting.append(interface.peer)
    return found


def _changes(plan: TestbedPlan) -> Iterator[EndpointChange]:
    """Changes of endpoints by the scenario's events, at both ends of a connection."""
    scenario = plan.scenario
    for flow in scenario.flows.values():
        is_there = {ordinal: ordinal not in flow.late for ordinal in range(1, len(flow.paths) + 1)}
        is_backup = {ordinal: ordinal in flow.backup for ordinal in is_there}
        for event in sorted(scenario.events, key=lambda each: each.at_s):
            named = flow.name.removesuffix(" back")
            ordinal = event.subflow
            if event.flow not in (named, *(f"{named}.{copy}" for copy in range(1, flow.count + 1))) or ordinal is None:
                continue
            was_there = is_there[ordinal]
            is_there[ordinal] = was_there if event.open is None else event.open
            is_backup[ordinal] = is_backup[ordinal] if event.backup is None else event.backup
            route = plan.route_of.get((flow.name, ordinal))
            if route is None:
                continue
            addresses = (route.source.ipv4, route.source.ipv6)
            for endpoint in _endpoints(plan.machines[flow.source]):
                if endpoint.address in addresses:
                    changed = replace(endpoint, is_backup=is_backup[ordinal])
                    is_new = is_there[ordinal] and not was_there
                    yield EndpointChange(event.at_s, flow.source, changed, is_there[ordinal], is_new)


def check_router(network: EmulatedNetwork, node: str) -> str | None:
    """A note on a program at a router; None for hosts."""
    if not network.plan.machines[node].is_router:
        return None
    count = len(network.plan.machines[node].interfaces)
    return f"{node} is a router with {counted(count, 'interface')}: programs there use its nearest address"
