"""A Bash script that builds the network of a scenario in network namespaces of one Linux machine."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.editor.core.tc_reader import ETHERNET_BYTES, NAMESPACE_PREFIX
from subflow_app.features.testbed.core.testbed import (
    Change,
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

# Arguments with which the script tries a queueing discipline.
_TRIALS = {
    "netem": "netem delay 1ms",
    "tbf": "tbf rate 1mbit burst 5000 limit 5000",
    "red": "red limit 50000 min 5000 max 15000 avpkt 1500 burst 5 probability 0.1",
}

_FUNCTIONS = """\
made=()  # the namespaces of this script

cleanup() {
  trap - EXIT INT TERM HUP
  local name process
  for process in $(jobs -p); do kill "$process" 2>/dev/null || true; done
  for name in ${made[@]+"${made[@]}"}; do
    for process in $(ip netns pids "$name" 2>/dev/null); do kill "$process" 2>/dev/null || true; done
    ip netns del "$name" || true
  done
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

namespace() {  # namespace NAME: a new namespace, which is removed at the end
  ip netns add "$1"
  made+=("$1")
}

lacking=()
try() {  # try WHAT COMMAND...: remembers what this machine lacks if the command fails
  local what=$1
  shift
  "$@" >/dev/null 2>&1 || lacking+=("$what")
}

has() {  # has WHAT: true unless this machine lacks it
  local each
  for each in ${lacking[@]+"${lacking[@]}"}; do [ "$each" != "$1" ] || return 1; done
}

shape() {  # shape NAMESPACE INTERFACE NETEM TBF QUEUE: sets or changes the disciplines; an empty one is left out
  local parent=root
  if [ -n "$3" ] && has netem; then
    tc -n "$1" qdisc replace dev "$2" root handle 1: netem $3
    parent='parent 1:1'
  fi
  if [ -n "$4" ] && has tbf; then
    tc -n "$1" qdisc replace dev "$2" $parent handle 2: tbf $4
    if [ -n "$5" ] && has "${5%% *}"; then
      tc -n "$1" qdisc replace dev "$2" parent 2:1 handle 3: $5
    fi
  fi
}

down() {  # down NAMESPACE INTERFACE: drops all packets that wait, and all that come
  tc -n "$1" qdisc replace dev "$2" root blackhole
}

begin=$(date +%s%N)
at() {  # at MILLISECONDS: waits for this time after the start
  local rest=$((begin / 1000000 + $1 - $(date +%s%N) / 1000000))
  if [ "$rest" -gt 0 ]; then
    sleep "$((rest / 1000)).$(printf %03d $((rest % 1000)))" &
    wait $!
  fi
}

later() {  # later MILLISECONDS COMMAND...: runs a command at this time after the start
  trap 'kill $! 2>/dev/null; exit' TERM
  at "$1"
  shift
  "$@" &
  wait $!
}
"""


def netns_script(testbed: Testbed) -> str:
    """The script as text."""
    return "\n".join([*_head(testbed), *_checks(testbed), *_network(testbed), *_times(testbed), ""])


def limits(testbed: Testbed) -> tuple[str, ...]:
    """Parts of a scenario that namespaces cannot have, one sentence each."""
    found = [*testbed.shortcomings]
    if testbed.traffic:
        found.append(
            "flows are runs of iperf3, which end at whole seconds; an MPTCP flow takes mptcpize (package mptcpd)"
        )
    found.append(f"tc counts {ETHERNET_BYTES} bytes of the Ethernet header as part of each packet")
    return tuple(found)


def _head(testbed: Testbed) -> Iterator[str]:
    scenario = testbed.scenario
    example = next((flow.source for flow in scenario.flows.values()), next(iter(scenario.nodes)))
    yield "#!/usr/bin/env bash"
    yield f"# {comment(scenario.name)}: the network of a scenario of Subflow, in network namespaces of Linux."
    yield "#"
    yield "# As root:  ./SCRIPT [--anyway] [COMMAND [ARGUMENT...]]"
    yield f"#   Without a command, the flows run for {scenario.duration_s:g} s. A command runs in their place, for"
    yield f"#   example ./SCRIPT ip netns exec {NAMESPACE_PREFIX}{example} bash"
    yield "#   Either way, links change at their times after the start. In the end the script removes what it made."
    yield "#   --anyway continues without the parts that this machine lacks."
    yield "#"
    yield "# Other than in the simulation:"
    yield from (f"#  - {comment(text)}" for text in limits(testbed))
    yield ""
    yield "set -eu"
    yield ""
    yield "anyway="
    yield 'if [ "${1-}" = --anyway ]; then anyway=yes; shift; fi'
    yield 'if [ "$(id -u)" != 0 ]; then echo "$0: only root can make network namespaces: sudo $0" >&2; exit 2; fi'
    yield "for program in ip tc sysctl; do"
    yield '  command -v "$program" >/dev/null || { echo "$0: $program is missing (iproute2, procps)" >&2; exit 2; }'
    yield "done"
    yield ""
    yield _FUNCTIONS


def _checks(testbed: Testbed) -> Iterator[str]:
    yield "# ---- What this machine lacks ----"
    yield ""
    yield f'trial="{NAMESPACE_PREFIX}trial-$$"'
    yield 'namespace "$trial"'
    for kind in testbed.needed_kinds:
        arguments = _TRIALS.get(kind, kind)
        yield f'try {kind} tc -n "$trial" qdisc replace dev lo root handle 1: {arguments}'
        yield 'tc -n "$trial" qdisc del dev lo root 2>/dev/null || true'
    if any(machine.subflow_limit for machine in testbed.plan.machines.values()):
        yield 'try MPTCP ip -n "$trial" mptcp limits'
    if testbed.traffic:
        yield "if [ $# = 0 ]; then"
        yield "  try iperf3 command -v iperf3"
        if any(each.is_mptcp for each in testbed.traffic):
            yield "  try mptcpize command -v mptcpize"
        yield "fi"
    yield "if [ ${#lacking[@]} != 0 ]; then"
    yield '  echo "$0: this machine lacks: ${lacking[*]}" >&2'
    yield '  [ -n "$anyway" ] || { echo "$0: --anyway builds the network without it" >&2; exit 3; }'
    yield "fi"
    yield ""


def _network(testbed: Testbed) -> Iterator[str]:
    plan = testbed.plan
    yield "# ---- Nodes ----"
    yield ""
    for name, machine in plan.machines.items():
        yield f"namespace {NAMESPACE_PREFIX}{name}" + ("  # a router" if machine.is_router else "")
        yield f"ip -n {NAMESPACE_PREFIX}{name} link set dev lo up"
        values = [f"{key}={value}" for key, value in settings(testbed, machine).items()]
        if "net.mptcp.enabled=1" in values:
            values.remove("net.mptcp.enabled=1")
            yield f"! has MPTCP || ip netns exec {NAMESPACE_PREFIX}{name} sysctl -qw net.mptcp.enabled=1"
        yield f"ip netns exec {NAMESPACE_PREFIX}{name} sysctl -qw {' '.join(values)}"
    yield ""
    yield "# ---- Links: pairs of interfaces ----"
    shapes = {(shape.interface.link, shape.interface.direction): shape for shape in testbed.shapes}
    for link in testbed.scenario.links.values():
        first, second = plan.ends(link.name)
        yield ""
        yield f"# {comment(link_text(link))}"
        yield (
            f"ip link add name {first.name} netns {NAMESPACE_PREFIX}{first.node} type veth "
            f"peer name {second.name} netns {NAMESPACE_PREFIX}{second.node}"
        )
        for interface in (first, second):
            yield from (
                f"ip -n {NAMESPACE_PREFIX}{interface.node} {text}" for text in interface_commands(testbed, interface)
            )
            yield from _shape_lines(shapes[link.name, interface.direction])
    yield ""
    yield "# ---- Addresses ----"
    yield ""
    for name, machine in plan.machines.items():
        yield from (f"ip -n {NAMESPACE_PREFIX}{name} {text}" for text in address_commands(machine))
    yield ""
    yield "# ---- Routes between any two nodes ----"
    yield ""
    for name, machine in plan.machines.items():
        yield from (f"ip -n {NAMESPACE_PREFIX}{name} {text}" for text in route_commands(machine))
    yield ""
    yield "# ---- Routes of the paths ----"
    for command in path_commands(testbed):
        if command.comment:
            yield ""
            yield f"# {comment(command.comment)}"
        yield f"ip -n {NAMESPACE_PREFIX}{command.node} {command.text}"
    yield ""
    if any(machine.subflow_limit for machine in plan.machines.values()):
        yield "# ---- Subflows of MPTCP ----"
        yield ""
        yield "if has MPTCP; then"
        for name, machine in plan.machines.items():
            for text, note in endpoint_commands(machine):
                yield f"  ip -n {NAMESPACE_PREFIX}{name} {text}" + (f"  # {comment(note)}" if note else "")
        yield "fi"
        yield ""


def _shape_lines(shape: Shape) -> Iterator[str]:
    place = f"{NAMESPACE_PREFIX}{shape.interface.node} {shape.interface.name}"
    if shape.shaping is None:
        yield f"down {place}"
    elif shape.shaping.kinds:
        words = (shape.shaping.netem, shape.shaping.tbf, shape.shaping.queue)
        yield f"shape {place} " + " ".join(f"'{each}'" for each in words)


def _times(testbed: Testbed) -> Iterator[str]:
    yield "# ---- Changes ----"
    yield ""
    yield "changes() {"
    yield "  trap 'kill $! 2>/dev/null; exit' TERM"
    if not testbed.changes:
        yield "  :"
    for change in testbed.changes:
        yield from (f"  {line}" for line in _change_lines(change))
    yield "}"
    yield ""
    yield "# ---- Flows ----"
    yield ""
    yield "flows() {"
    for traffic in testbed.traffic:
        program = "mptcpize run iperf3" if traffic.is_mptcp else "iperf3"
        yield f"  # {traffic.flow}: {traffic.source} to {traffic.destination}"
        yield f"  ip netns exec {NAMESPACE_PREFIX}{traffic.destination} {program} -s -1 -D -p {traffic.port}"
        start_ms = round(1e3 * traffic.start_s)
        yield f"  later {start_ms} ip netns exec {NAMESPACE_PREFIX}{traffic.source} {program} {traffic.client} &"
    yield f"  at {round(1e3 * testbed.scenario.duration_s)}"
    yield "}"
    yield ""
    yield "begin=$(date +%s%N)"
    yield "changes &"
    yield 'if [ $# = 0 ]; then flows; else "$@"; fi'


def _change_lines(change: Change) -> Iterator[str]:
    yield f"at {round(1e3 * change.at_s)}  # {comment(change.comment)}"
    for shape in change.shapes:
        yield from _shape_lines(shape)
    for command in change.commands:
        yield f"! has MPTCP || ip -n {NAMESPACE_PREFIX}{command.node} {command.text}"
