"""The common parts of scripts for testbeds: commands for each node, timed changes, traffic, and shortcomings.

Commands are texts for a shell inside the node. All their words are numbers, addresses, and names that consist of
letters, digits, - and _; free text appears only in comments, through `comment`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subflow_app.features.kernel.core.network_plan import CONGESTION_CONTROLS, ECN_MODES, SCHEDULERS
from subflow_app.features.kernel.core.testbed_plan import Endpoint, Interface, Machine, TestbedPlan, plan_testbed
from subflow_app.features.testbed.core.traffic_control import Shaping, lacking, rate_text, shaping, time_text
from subflow_sim.units import Dimension, format_quantity

if TYPE_CHECKING:
    from subflow_sim.scenario import Event, Flow, Link, LinkDirection, Scenario

FIRST_PORT = 5201
_UDP_HEADER_BYTES = 28


@dataclass(frozen=True, slots=True)
class Command:
    """A command in a node, with a comment for the first of several.

    Attributes:
        node: name of the node.
        text: the command.
        comment: comment before the command; may be empty.
    """

    node: str
    text: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """The disciplines of a direction of a link.

    Attributes:
        interface: interface at which packets leave.
        shaping: the disciplines; None while the link is down, and drops all packets.
    """

    interface: Interface
    shaping: Shaping | None


@dataclass(frozen=True, slots=True)
class Change:
    """Changes at one time.

    Attributes:
        at_s: time after the start, s.
        comment: the event in words.
        shapes: new disciplines.
        commands: further commands.
    """

    at_s: float
    comment: str
    shapes: tuple[Shape, ...] = ()
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Traffic:
    """A flow as a run of iperf3.

    Attributes:
        flow: name of the flow.
        source: node of the client, which sends the data.
        destination: node of the server.
        port: port of the server.
        start_s: start of the client, s.
        client: arguments of the client.
        is_mptcp: whether both ends use MPTCP.
    """

    flow: str
    source: str
    destination: str
    port: int
    start_s: float
    client: str
    is_mptcp: bool


@dataclass(frozen=True, slots=True)
class Testbed:
    """A scenario with all that a script for a testbed needs.

    Attributes:
        plan: nodes, addresses and routes.
        shapes: disciplines of each direction at the start, in the order of the links.
        changes: timed changes, in order.
        traffic: the flows.
        shortcomings: parts of the scenario that no testbed of Linux has, one sentence each.
    """

    __test__ = False  # not a test, although pytest would think so by the name

    plan: TestbedPlan
    shapes: tuple[Shape, ...]
    changes: tuple[Change, ...]
    traffic: tuple[Traffic, ...]
    shortcomings: tuple[str, ...]

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return self.plan.scenario

    @property
    def needed_kinds(self) -> tuple[str, ...]:
        """Names of the queueing disciplines that occur at any time, sorted."""
        shapes = [*self.shapes, *(shape for change in self.changes for shape in change.shapes)]
        return tuple(sorted({kind for shape in shapes if shape.shaping is not None for kind in shape.shaping.kinds}))


def make_testbed(scenario: Scenario) -> Testbed:
    """Plan a scenario for testbeds of Linux.

    Raises:
        InputError: if the scenario is too large, or has no link.
    """
    plan = plan_testbed(scenario)
    changes = _Changes(plan)
    shortcomings = list(plan.shortcomings)
    for link in scenario.links.values():
        sides = {"forward": link.forward, "reverse": link.reverse}
        found = [tuple(lacking("", side)) for side in sides.values()]
        if found[0] == found[1]:  # one sentence is enough for both directions
            shortcomings += [f"links.{link.name}{text}" for text in found[0]]
        else:
            for direction, texts in zip(sides, found, strict=True):
                shortcomings += [f"links.{link.name} ({direction}){text}" for text in texts]
        if link.drops:
            shortcomings.append(f"links.{link.name}: scripted drops of single packets are left out")
    shortcomings += changes.shortcomings
    traffic = []
    for number, flow in enumerate(scenario.flows.values()):
        shortcomings += _flow_lacking(flow)
        if (flow.name, 1) in plan.route_of:
            traffic.append(_traffic(plan, flow, FIRST_PORT + number))
    if scenario.start_jitter_s > 0:
        shortcomings.append("flows start at their times, without random delay")
    ecn = scenario.transport.get("ecn", "off")
    if ecn not in ECN_MODES:
        shortcomings.append(f"ecn = {ecn}: Linux has {', '.join(ECN_MODES)}; the script leaves ECN off")
    return Testbed(plan, changes.first, tuple(changes.found), tuple(traffic), tuple(shortcomings))


# ---- texts ----


def comment(text: str) -> str:
    """A text on one line without control characters, for a comment in a script."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def link_text(link: Link) -> str:
    """A link in words: "wifi: server - phone, 8Mbit/s, 20ms, 1 % loss; back 2Mbit/s"."""
    forward, reverse = _side_words(link.forward), _side_words(link.reverse)
    text = f"{link.name}: {link.ends[0]} - {link.ends[1]}, {', '.join(forward.values())}"
    other = [words for key, words in reverse.items() if forward.get(key) != words]
    return f"{text}; back {', '.join(other)}" if other else text


def _side_words(side: LinkDirection) -> dict[str, str]:
    words = {
        "rate": "unlimited" if side.rate_bps is None else format_quantity(side.rate_bps, Dimension.RATE),
        "delay": format_quantity(side.delay_s, Dimension.TIME),
    }
    if side.loss:
        words["loss"] = f"{100 * side.loss:.3g} % loss"
    if side.rate_bps is not None:
        queue = side.queue
        limit = (
            f"{queue.limit_pkts} packets"
            if queue.limit_pkts is not None
            else f"{queue.limit_bytes} bytes"
            if queue.limit_bytes is not None
            else "any number of packets"
        )
        words["queue"] = f"queue {'' if queue.discipline == 'droptail' else f'{queue.discipline} '}of {limit}"
    return words


# ---- nodes ----


def settings(testbed: Testbed, machine: Machine) -> Mapping[str, str]:
    """Kernel parameters of a node."""
    found = {"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.default.rp_filter": "0"}
    if machine.is_router:
        found["net.ipv4.ip_forward"] = "1"
        if machine.interfaces and machine.interfaces[0].address.ipv6:
            found["net.ipv6.conf.all.forwarding"] = "1"
    elif machine.subflow_limit:
        found["net.mptcp.enabled"] = "1"
    ecn = ECN_MODES.get(str(testbed.scenario.transport.get("ecn", "off")), 0)
    if ecn and not machine.is_router:
        found["net.ipv4.tcp_ecn"] = str(ecn)
    return found


def address_commands(machine: Machine) -> Iterator[str]:
    """Commands of `ip` that give each interface of a node its addresses."""
    for interface in machine.interfaces:
        for address in interface.addresses:
            yield f"address add {address.ipv4}/28 dev {interface.name}"
            if address.ipv6:
                yield f"address add {address.ipv6}/64 dev {interface.name} nodad"


def interface_commands(testbed: Testbed, interface: Interface) -> Iterator[str]:
    """Commands of `ip` that bring an interface up.

    The disciplines count packets, so the interface must not pass several packets as one.
    """
    mtu = "" if testbed.plan.mtu_bytes == 1500 else f" mtu {testbed.plan.mtu_bytes}"
    yield f"link set dev {interface.name}{mtu} gso_max_segs 1 up"


def route_commands(machine: Machine) -> Iterator[str]:
    """Commands of `ip` for the main table of a node."""
    for route in machine.routes:
        source = "" if route.source is None else f" src {route.source.ipv4}"
        yield f"route add {route.destination} via {route.via.ipv4} dev {route.interface}{source}"
        if route.destination6:
            source = "" if route.source is None else f" src {route.source.ipv6}"
            yield f"-6 route add {route.destination6} via {route.via.ipv6} dev {route.interface}{source}"


def path_commands(testbed: Testbed) -> Iterator[Command]:
    """Rules and tables that lead the packets of each path over its links, there and back."""
    for route in testbed.plan.routes:
        links = ", ".join(hop.link for hop in route.hops)
        for way, table in zip(("there", "back"), route.tables, strict=True):
            is_back = way == "back"
            chain = [hop.back for hop in reversed(route.hops)] if is_back else route.hops
            ends = (route.destination, route.source) if is_back else (route.source, route.destination)
            note = f"{', '.join(route.uses)} {way} over {links}"
            for hop in chain:
                interface, via = testbed.plan.next_hop(hop)
                for (option, source, bits), (_, destination, _) in zip(*(end.families for end in ends), strict=True):
                    next_hop = via.ipv6 if option == "-6" else via.ipv4
                    rule = f"{option} rule add from {source}/{bits} to {destination}/{bits} lookup {table}"
                    yield Command(hop.source, rule, note)
                    note = ""
                    text = f"{option} route add default via {next_hop} dev {interface.name} table {table}"
                    yield Command(hop.source, text)


def endpoint_commands(machine: Machine) -> Iterator[tuple[str, str]]:
    """Commands of `ip` for MPTCP, each with a comment."""
    if not machine.subflow_limit:
        return
    yield f"mptcp limits set subflows {min(machine.subflow_limit, 8)} add_addr_accepted 0", ""
    for endpoint in machine.endpoints:
        if not endpoint.is_late:
            yield _add_endpoint(endpoint), ", ".join(endpoint.uses)


def _add_endpoint(endpoint: Endpoint) -> str:
    backup = " backup" if endpoint.is_backup else ""
    return f"mptcp endpoint add {endpoint.address.ipv4} id {endpoint.number} dev {endpoint.interface} subflow{backup}"


# ---- events ----


class _Changes:
    """Disciplines of all directions during the run."""

    def __init__(self, plan: TestbedPlan) -> None:
        self._plan = plan
        scenario = plan.scenario
        self.shortcomings: list[str] = []
        self._sides = {
            (interface.link, interface.direction): (interface, side) for interface, side in plan.directions()
        }
        self._is_up = dict.fromkeys(self._sides, True)
        self._has_netem, self._has_tbf = self._needed(scenario)
        self._is_there = {
            (flow.name, number): number not in flow.late
            for flow in scenario.flows.values()
            for number in range(1, len(flow.paths) + 1)
        }
        self.first = tuple(self._shape(key) for key in self._sides)
        self.found: list[Change] = []
        for number, event in enumerate(scenario.events):
            change = self._link_change(event) if event.link is not None else self._flow_change(number, event)
            if change is not None:
                self.found.append(change)
        if any(event.up is False for event in scenario.events):
            self.shortcomings.append("an outage of a link drops the packets on the wire, too")

    def _needed(self, scenario: Scenario) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """The directions that need netem, and those that need a token bucket, at any time."""
        has_netem, has_tbf = set(), set()
        for event in scenario.events:
            for key in self._keys(event):
                if event.delay_s is not None or event.loss is not None:
                    has_netem.add(key)
                if event.rate_bps is not None:
                    has_tbf.add(key)
        return has_netem, has_tbf

    def _keys(self, event: Event) -> list[tuple[str, str]]:
        """The directions that an event changes."""
        ways = ("forward", "reverse") if event.direction == "both" else (event.direction,)
        return [] if event.link is None else [(event.link, way) for way in ways]

    def _shape(self, key: tuple[str, str]) -> Shape:
        interface, side = self._sides[key]
        made = shaping(side, self._plan.mtu_bytes, has_netem=key in self._has_netem, has_tbf=key in self._has_tbf)
        return Shape(interface, made if self._is_up[key] else None)

    def _link_change(self, event: Event) -> Change:
        words = []
        if event.up is not None:
            words.append("up" if event.up else "down")
        if event.rate_bps is not None:
            words.append(rate_text(event.rate_bps) if math.isfinite(event.rate_bps) else "unlimited")
        if event.delay_s is not None:
            words.append(f"delay {time_text(event.delay_s)}")
        if event.loss is not None:
            words.append(f"loss {format_quantity(event.loss, Dimension.RATIO)}")
        if event.queue is not None:
            words.append("queue")
        shapes = []
        for key in self._keys(event):
            interface, side = self._sides[key]
            if event.rate_bps is not None:
                rate_bps = event.rate_bps if math.isfinite(event.rate_bps) else None
                side = replace(side, rate_bps=rate_bps, trace=None)
            if event.delay_s is not None:
                side = replace(side, delay_s=event.delay_s, delay_trace=None)
            if event.loss is not None:
                side = replace(side, loss=event.loss, loss_model=event.loss_model)
            if event.queue is not None:
                limits = replace(side.queue, limit_pkts=event.queue.limit_pkts, limit_bytes=event.queue.limit_bytes)
                side = replace(side, queue=limits)
            self._sides[key] = interface, side
            was_up = self._is_up[key]
            if event.up is not None:
                self._is_up[key] = event.up
            if was_up or self._is_up[key]:
                shapes.append(self._shape(key))
        way = "" if event.direction == "both" else f" ({event.direction})"
        return Change(event.at_s, f"{event.link}{way}: {', '.join(words)}", tuple(shapes))

    def _flow_change(self, number: int, event: Event) -> Change | None:
        where = f"events[{number}] at {event.at_s:g} s"
        flow = next(
            each for each in self._plan.scenario.flows.values() if event.flow and event.flow.split(".")[0] == each.name
        )
        if event.refuse is not None:
            self.shortcomings.append(f"{where}: refusals of subflows are left out")
            return None
        if event.controller is not None:
            self.shortcomings.append(f"{where}: the change of the controller is left out")
            return None
        ordinals = range(1, len(flow.paths) + 1) if event.subflow is None else (event.subflow,)
        commands: list[Command] = []
        words: list[str] = []
        for ordinal in ordinals:
            route = self._plan.route_of.get((flow.name, ordinal))
            machine = self._plan.machines[flow.source]
            endpoint = next(
                (each for each in machine.endpoints if route is not None and each.address == route.source), None
            )
            if endpoint is None or f"{flow.name}/{ordinal}" not in endpoint.uses:
                self.shortcomings.append(
                    f"{where}: subflow {ordinal} of {event.flow} does not change, because it has no MPTCP endpoint"
                )
                continue
            is_open = event.open if event.open is not None else event.announce
            if is_open is not None and is_open != self._is_there[flow.name, ordinal]:
                self._is_there[flow.name, ordinal] = is_open
                text = _add_endpoint(endpoint) if is_open else f"mptcp endpoint delete id {endpoint.number}"
                commands.append(Command(flow.source, text))
                words.append(f"subflow {ordinal} {'opens' if is_open else 'closes'}")
            if event.announce is not None and event.open is None:
                self.shortcomings.append(
                    f"{where}: the sender opens or closes subflow {ordinal}, without an announcement of its receiver"
                )
            if event.backup is not None:
                state = "backup" if event.backup else "nobackup"
                commands.append(Command(flow.source, f"mptcp endpoint change id {endpoint.number} {state}"))
                words.append(f"subflow {ordinal} becomes {'a backup' if event.backup else 'a normal subflow'}")
        if not commands:
            return None
        return Change(event.at_s, f"{event.flow}: {', '.join(words)}", commands=tuple(commands))


# ---- traffic ----


def _traffic(plan: TestbedPlan, flow: Flow, port: int) -> Traffic:
    """A flow as a run of iperf3."""
    route = plan.route_of[flow.name, 1]
    words = [f"-c {route.destination.ipv4} -B {route.source.ipv4} -p {port}"]
    stop_s = plan.scenario.duration_s if flow.stop_s is None else flow.stop_s
    if flow.size_bytes is not None:
        words.append(f"-n {flow.size_bytes}")
    else:
        words.append(f"-t {max(1, math.ceil(stop_s - flow.start_s))}")
    if flow.count > 1:
        words.append(f"-P {flow.count}")
    if flow.sends_datagrams:
        words.append(f"-u -b {round(flow.rate_bps or 0.0)} -l {max(16, flow.packet_bytes - _UDP_HEADER_BYTES)}")
    else:
        control = _congestion_control(flow)
        words += [f"-C {control}"] if control is not None else []
        words += [f"-w {flow.recv_buffer_bytes}"] if flow.recv_buffer_bytes is not None else []
    is_mptcp = flow.kind == "mptcp"
    return Traffic(flow.name, flow.source, flow.destination, port, flow.start_s, " ".join(words), is_mptcp)


def _congestion_control(flow: Flow) -> str | None:
    """The kernel's name of a flow's controller; None if Linux has no such controller."""
    name = flow.controller.name
    if name == "uncoupled":
        name = str(flow.controller.options.get("base", "newreno"))
    return CONGESTION_CONTROLS.get(name)


def _flow_lacking(flow: Flow) -> Iterator[str]:
    where = f"flows.{flow.name}"
    if flow.arrivals is not None:
        yield f"{where}: random arrivals become one connection"
    if flow.kind == "onoff":
        yield f"{where}: bursts and pauses become datagrams at the rate of the bursts"
    if flow.sends_datagrams and flow.spacing == "poisson":
        yield f"{where}: datagrams have equal gaps"
    if not flow.sends_datagrams and _congestion_control(flow) is None:
        name = flow.controller.name
        yield f"{where}: Linux has no controller {name}; the flow uses that of the system, often cubic"
    if flow.kind == "mptcp" and flow.scheduler.name not in SCHEDULERS:
        yield f"{where}: Linux has no scheduler {flow.scheduler.name}; MPTCP uses its own"
    if flow.stop_s is not None and flow.size_bytes is not None:
        yield f"{where}: the transfer ends at its size, even after the stop"
    if flow.send_buffer_bytes is not None:
        yield f"{where}: the limit of the send buffer is left out"
    if flow.subflow_limit is not None or flow.address_limit is not None:
        yield f"{where}: limits of subflows and addresses are those of the host"
