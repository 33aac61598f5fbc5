"""A Python script that builds the network of a scenario in Mininet, with `TCLink` for the links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from subflow_app.features.editor.core.tc_reader import ETHERNET_BYTES
from subflow_app.features.testbed.core.testbed import (
    Change,
    Command,
    Testbed,
    address_commands,
    comment,
    endpoint_commands,
    interface_commands,
    link_text,
    path_commands,
    route_commands,
    settings,
)
from subflow_app.features.testbed.core.traffic_control import (
    MANY_PACKETS,
    time_text,
)

if TYPE_CHECKING:
    from subflow_sim.scenario import LinkDirection

MAX_RATE_BPS = 1e9
"""Mininet ignores a higher rate."""

_MAX_NAME = 15

_CLASSES = '''\
class Router(Node):
    """A node that forwards packets."""


class Drawn(Topo):
    """The nodes and links of the scenario."""

    def build(self):
'''

_MAIN = '''\
def run(net, node, text):
    """Run a command in a node, and stop if it fails."""
    output = net[node].cmd(text + " || echo FAILED")
    if "FAILED" in output:
        raise SystemExit(f"{node}: {text}: {output}")


def main():
    net = Mininet(topo=Drawn(), controller=None, waitConnected=False)
    net.start()
    for node, text in SETUP:
        run(net, node, text)
    timers = [threading.Timer(at, net[node].popen, [["sh", "-c", text]]) for at, node, text in CHANGES]
    for timer in timers:
        timer.daemon = True
        timer.start()
    print("Flows, each as commands of two nodes:")
    for line in FLOWS:
        print("  " + line)
    CLI(net)
    for timer in timers:
        timer.cancel()
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    main()
'''


def mininet_script(testbed: Testbed) -> str:
    """The script as text."""
    names = node_names(list(testbed.plan.machines))
    return "\n".join(
        [*_head(testbed), *_topology(testbed, names), *_setup(testbed, names), *_events(testbed, names), _MAIN]
    )


def limits(testbed: Testbed) -> tuple[str, ...]:
    """Parts of a scenario that Mininet cannot have, one sentence each."""
    found = [*testbed.shortcomings]
    for link in testbed.scenario.links.values():
        for direction, side in (("forward", link.forward), ("reverse", link.reverse)):
            found += [f"links.{link.name} ({direction}): {text}" for text in _link_limits(side)]
    found.append("Mininet gives netem the length of the queue, which then also counts the packets on the wire")
    found.append(f"Mininet counts {ETHERNET_BYTES} bytes of the Ethernet header as part of each packet")
    if any(change.shapes for change in testbed.changes):
        found.append("the first change of a link replaces Mininet's disciplines, and drops the packets that wait")
    if testbed.traffic:
        found.append("flows are commands that the script shows; MPTCP takes mptcpize (package mptcpd)")
    return tuple(found)


def node_names(nodes: list[str]) -> dict[str, str]:
    """Names for Mininet, whose shell prompts and interfaces take short names that begin with a letter."""
    names: dict[str, str] = {}
    for number, node in enumerate(nodes):
        fits = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", node) and len(node) <= _MAX_NAME - 5
        names[node] = node if fits else f"n{number}"
        while list(names.values()).count(names[node]) > 1 or (not fits and names[node] in nodes):
            names[node] += "x"
    return names


def _link_limits(side: LinkDirection) -> Iterator[str]:
    """Parts of a direction that Linux has, but `TCLink` does not."""
    if side.rate_bps is not None and side.rate_bps > MAX_RATE_BPS:
        yield f"no limit of the rate, because Mininet ignores those above {MAX_RATE_BPS / 1e6:g} Mbit/s"
    if side.loss_model is not None:
        yield "losses are independent, at their mean rate"
    if side.bucket is not None:
        yield "the token bucket saves up no bursts"
    if side.jitter is not None and side.jitter.kind != "normal":
        # TCIntf passes `distribution normal` with any jitter.
        yield f"{side.jitter.kind} jitter becomes normal"
    if side.rate_bps is not None and side.queue.discipline != "droptail":
        yield f"the queue is droptail instead of {side.queue.discipline}"
    if side.queue.limit_bytes is not None:
        yield f"the limit of {side.queue.limit_bytes} B becomes one in packets"


def link_options(side: LinkDirection, mtu_bytes: int) -> dict[str, Any]:
    """Arguments of `TCLink` for a direction."""
    options: dict[str, Any] = {}
    if side.rate_bps is not None and side.rate_bps <= MAX_RATE_BPS:
        options["bw"] = _number(side.rate_bps / 1e6)
    if side.delay_s > 0 or side.jitter is not None:
        options["delay"] = time_text(side.delay_s)
    if side.jitter is not None:
        options["jitter"] = time_text(side.jitter.spread_s)
    if side.loss > 0:
        options["loss"] = _number(float(f"{100 * side.loss:.12g}"))
    if "bw" in options:
        packets = side.queue.limit_pkts
        if packets is None:
            limit_bytes = side.queue.limit_bytes
            packets = MANY_PACKETS if limit_bytes is None else max(1, limit_bytes // (mtu_bytes + ETHERNET_BYTES))
        options["max_queue_size"] = packets
    return options


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _head(testbed: Testbed) -> Iterator[str]:
    yield "#!/usr/bin/env python3"
    yield f"# {comment(testbed.scenario.name)}: the network of a scenario of Subflow, in Mininet."
    yield "#"
    yield "# As root: python3 SCRIPT builds the network and opens the prompt of Mininet. Links change at their times"
    yield "# after the start; leaving the prompt removes everything."
    yield "#"
    yield "# Other than in the simulation:"
    yield from (f"#  - {comment(text)}" for text in limits(testbed))
    yield ""
    yield "import threading"
    yield ""
    yield "from mininet.cli import CLI"
    yield "from mininet.link import TCLink"
    yield "from mininet.log import setLogLevel"
    yield "from mininet.net import Mininet"
    yield "from mininet.node import Node"
    yield "from mininet.topo import Topo"
    yield ""
    yield ""


def _topology(testbed: Testbed, names: dict[str, str]) -> Iterator[str]:
    yield _CLASSES.rstrip("\n")
    indent = " " * 8
    for name, machine in testbed.plan.machines.items():
        kind = ", cls=Router" if machine.is_router else ""
        note = "" if names[name] == name else f"  # {name}"
        yield f"{indent}self.addHost({names[name]!r}, ip=None{kind}){note}"
    mtu_bytes = testbed.plan.mtu_bytes
    for number, link in enumerate(testbed.scenario.links.values()):
        forward, reverse = link_options(link.forward, mtu_bytes), link_options(link.reverse, mtu_bytes)
        if forward == reverse:
            words = [f"{key}={value!r}" for key, value in forward.items()]
        else:
            words = [f"params1={forward!r}", f"params2={reverse!r}"]
        ends = ", ".join(repr(names[node]) for node in link.ends)
        first, second = (_interface(number, position) for position in (1, 2))
        yield ""
        yield f"{indent}# {comment(link_text(link))}"
        interfaces = f"intfName1={first!r}, intfName2={second!r}, cls=TCLink"
        yield f"{indent}self.addLink({', '.join([ends, *words, interfaces])})"
    yield ""
    yield ""


def _interface(link: int, end: int) -> str:
    """Name of an interface in Mininet, unique on the machine, because pairs are made outside the nodes."""
    return f"l{link}-eth{end}"


def _renamed(testbed: Testbed, node: str, text: str) -> str:
    """A command with the names of Mininet's interfaces in place of the plan's."""
    numbers = {link: number for number, link in enumerate(testbed.scenario.links)}
    names = {
        interface.name: _interface(numbers[interface.link], 1 if interface.direction == "forward" else 2)
        for interface in testbed.plan.machines[node].interfaces
    }
    words = text.split(" ")
    for place, word in enumerate(words[:-1]):
        if word == "dev" and words[place + 1] in names:
            words[place + 1] = names[words[place + 1]]
    return " ".join(words)


def _setup(testbed: Testbed, names: dict[str, str]) -> Iterator[str]:
    yield "# Commands of the nodes after the start: settings, addresses, routes, subflows of MPTCP."
    yield "SETUP = ["
    commands: list[Command] = []
    for name, machine in testbed.plan.machines.items():
        values = [f"{key}={value}" for key, value in settings(testbed, machine).items()]
        commands.append(Command(name, f"sysctl -qw {' '.join(values)}", f"{name}"))
        for interface in machine.interfaces:
            commands += [Command(name, f"ip {text}") for text in interface_commands(testbed, interface)]
        commands += [Command(name, f"ip {text}") for text in address_commands(machine)]
    for name, machine in testbed.plan.machines.items():
        commands += [Command(name, f"ip {text}") for text in route_commands(machine)]
    commands += [Command(each.node, f"ip {each.text}", each.comment) for each in path_commands(testbed)]
    for name, machine in testbed.plan.machines.items():
        commands += [Command(name, f"ip {text}", note) for text, note in endpoint_commands(machine)]
    for command in commands:
        if command.comment:
            yield f"    # {comment(command.comment)}"
        yield f"    ({names[command.node]!r}, {_renamed(testbed, command.node, command.text)!r}),"
    yield "]"
    yield ""


def _events(testbed: Testbed, names: dict[str, str]) -> Iterator[str]:
    yield "# Changes: seconds after the start, node, command."
    yield "CHANGES = ["
    for change in testbed.changes:
        yield f"    # {comment(change.comment)}"
        for node, text in _change_commands(testbed, change):
            yield f"    ({change.at_s!r}, {names[node]!r}, {_renamed(testbed, node, text)!r}),"
    yield "]"
    yield ""
    yield "FLOWS = ["
    for traffic in testbed.traffic:
        program = "mptcpize run iperf3" if traffic.is_mptcp else "iperf3"
        start = f", {traffic.start_s:g} s later" if traffic.start_s else ""
        server = f"{names[traffic.destination]} {program} -s -1 -D -p {traffic.port}"
        yield f"    {f'{traffic.flow}: {server}; then{start} {names[traffic.source]} {program} {traffic.client}'!r},"
    yield "]"
    yield ""
    yield ""


def _change_commands(testbed: Testbed, change: Change) -> Iterator[tuple[str, str]]:
    """Commands of a change: for a link, the disciplines of Linux replace those of Mininet."""
    for shape in change.shapes:
        device = shape.interface.name
        lines = ("root blackhole",) if shape.shaping is None else shape.shaping.lines
        # Mininet's own disciplines begin with htb; ours cannot replace its children.
        remove = f"if tc qdisc show dev {device} | grep -q htb; then tc qdisc del dev {device} root; fi; "
        commands = [f"tc qdisc replace dev {device} {line}" for line in lines]
        yield shape.interface.node, remove + " && ".join(commands)
    for command in change.commands:
        yield command.node, f"ip {command.text}"
