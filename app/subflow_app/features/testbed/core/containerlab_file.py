"""A topology file of containerlab for a scenario, with a container of Linux for each node."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from subflow_app.features.editor.core.tc_reader import ETHERNET_BYTES
from subflow_app.features.testbed.core.testbed import (
    Shape,
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

IMAGE = "ghcr.io/srl-labs/network-multitool:latest"
"""Image of all nodes, with ip, tc and iperf3."""


def containerlab_file(testbed: Testbed) -> str:
    """The file as YAML. Texts are in double quotes as in JSON, which YAML reads alike."""
    return "\n".join([*_head(testbed), *_nodes(testbed), *_links(testbed), ""])


def limits(testbed: Testbed) -> tuple[str, ...]:
    """Parts of a scenario that containerlab cannot have, one sentence each."""
    found = [*testbed.shortcomings]
    if testbed.changes:
        found.append("changes count their times from the start of each container's commands, not from one clock")
    if testbed.traffic:
        found.append("flows are commands in the comments at the end; MPTCP takes mptcpize in the image")
    found.append("the image must have ip with mptcp, tc and sysctl, and the machine's kernel the queueing disciplines")
    found.append(f"tc counts {ETHERNET_BYTES} bytes of the Ethernet header as part of each packet")
    return tuple(found)


def lab_name(title: str) -> str:
    """Name of the lab, of letters, digits and -, which is part of the names of the containers."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "subflow"


def node_names(nodes: Sequence[str]) -> dict[str, str]:
    """Names for containerlab, which begin with a letter or a digit."""
    names: dict[str, str] = {}
    for node in nodes:
        name = node if node[:1].isalnum() else f"n{node}"
        while name in names.values() or (name != node and name in nodes):
            name = f"n{name}"
        names[node] = name
    return names


def _head(testbed: Testbed) -> Iterator[str]:
    yield f"# {comment(testbed.scenario.name)}: the network of a scenario of Subflow, for containerlab."
    yield "#"
    yield "# containerlab deploy -t FILE builds the network, containerlab destroy -t FILE removes it."
    yield "#"
    yield "# Other than in the simulation:"
    yield from (f"#  - {comment(text)}" for text in limits(testbed))
    yield ""
    yield f"name: {json.dumps(lab_name(testbed.scenario.name))}"
    yield "topology:"
    yield "  defaults:"
    yield "    kind: linux"
    yield f"    image: {IMAGE}"
    yield "  nodes:"


def _nodes(testbed: Testbed) -> Iterator[str]:
    devices = _devices(testbed)
    shapes: dict[str, list[Shape]] = {}
    for shape in testbed.shapes:
        shapes.setdefault(shape.interface.node, []).append(shape)
    paths: dict[str, list[tuple[str, str]]] = {}
    for command in path_commands(testbed):
        paths.setdefault(command.node, []).append((f"ip {command.text}", command.comment))
    names = node_names(list(testbed.plan.machines))
    for name, machine in testbed.plan.machines.items():
        notes = [note for note, is_true in ((name, names[name] != name), ("a router", machine.is_router)) if is_true]
        yield f"    {json.dumps(names[name])}:" + (f"  # {', '.join(notes)}" if notes else "")
        values = settings(testbed, machine)
        yield "      sysctls:"
        yield from (f"        {key}: {json.dumps(value)}" for key, value in values.items())
        commands = []
        for interface in machine.interfaces:
            commands += [(f"ip {text}", "") for text in interface_commands(testbed, interface)]
        commands += [(text, "") for shape in shapes.get(name, []) for text in _shape_commands(shape)]
        commands += [(f"ip {text}", "") for text in (*address_commands(machine), *route_commands(machine))]
        commands += paths.get(name, [])
        commands += [(f"ip {text}", note) for text, note in endpoint_commands(machine)]
        yield "      exec:"
        for text, note in commands:
            if note:
                yield f"        # {comment(note)}"
            yield f"        - {json.dumps(_renamed(text, devices[name]))}"
        for change in testbed.changes:
            texts = [text for shape in change.shapes if shape.interface.node == name for text in _shape_commands(shape)]
            texts += [f"ip {command.text}" for command in change.commands if command.node == name]
            if texts:
                # In the background, so that the deployment does not wait.
                text = f"sleep {change.at_s:.9g}; " + "; ".join(_renamed(each, devices[name]) for each in texts)
                yield f"        # at {change.at_s:g} s: {comment(change.comment)}"
                text = f"sh -c '({text}) >/dev/null 2>&1 &'"
                yield f"        - {json.dumps(text)}"


def _shape_commands(shape: Shape) -> Iterator[str]:
    lines = ("root blackhole",) if shape.shaping is None else shape.shaping.lines
    for line in lines:
        if line != "root noqueue":
            yield f"tc qdisc replace dev {shape.interface.name} {line}"


def _devices(testbed: Testbed) -> dict[str, dict[str, str]]:
    """Name of each interface in its container, by node and name in the plan: from eth1; eth0 is containerlab's."""
    return {
        name: {interface.name: f"eth{number}" for number, interface in enumerate(machine.interfaces, 1)}
        for name, machine in testbed.plan.machines.items()
    }


def _renamed(text: str, devices: dict[str, str]) -> str:
    words = text.split(" ")
    for place, word in enumerate(words[:-1]):
        if word == "dev":
            words[place + 1] = devices.get(words[place + 1], words[place + 1])
    return " ".join(words)


def _links(testbed: Testbed) -> Iterator[str]:
    devices, names = _devices(testbed), node_names(list(testbed.plan.machines))
    yield "  links:"
    for link in testbed.scenario.links.values():
        ends = [f"{names[end.node]}:{devices[end.node][end.name]}" for end in testbed.plan.ends(link.name)]
        yield f"    # {comment(link_text(link))}"
        yield f"    - endpoints: {json.dumps(ends)}"
    if testbed.traffic:
        yield ""
        yield "# Flows:"
    name = lab_name(testbed.scenario.name)
    for traffic in testbed.traffic:
        program = "mptcpize run iperf3" if traffic.is_mptcp else "iperf3"
        yield f"# {traffic.flow}, at {traffic.start_s:g} s"
        yield f"#   docker exec -d clab-{name}-{names[traffic.destination]} {program} -s -1 -p {traffic.port}"
        yield f"#   docker exec clab-{name}-{names[traffic.source]} {program} {traffic.client}"
