"""The declaration of every key of a scenario file.

The parser, the JSON Schema, the document for the core, the window's forms and the docs are built from the declarations.
A new key needs a row here and a value in `scenario_model` and in `sim/core/scenario.h`: see docs/extending.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from subflow_sim.link_params import LINK
from subflow_sim.parameter import Param
from subflow_sim.policy_library import PolicyLibrary
from subflow_sim.queue_params import QUEUE_TABLE
from subflow_sim.scenario_model import DATAGRAM_KINDS, MAX_COPIES, Choice, OptionValue, ScriptFile, ScriptKind
from subflow_sim.transport_params import TRANSPORT
from subflow_sim.units import Dimension

__all__ = [
    "ARRIVALS_TABLE",
    "HEADER_BYTES",
    "MAX_PATHS",
    "QUEUE_TABLE",
    "SCRIPT_SECTIONS",
    "SCRIPT_TABLE",
    "SECTIONS",
    "Algorithm",
    "AlgorithmCatalog",
    "Dimension",
    "Param",
    "params_by_key",
]

HEADER_BYTES = 52
"""Header bytes of a packet: IPv4, TCP and timestamps."""

MAX_PATHS = 32
"""Maximum number of subflows of a flow: the core stores sets of subflows in a 32-bit mask."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A decision rule of an algorithm.

    Attributes:
        name: "linked_increase".
        formula: displayed formula, in the terms of `numbers`.
        source: RFC or paper, with section; may be empty.
        numbers: numbers used by the rule, with units as suffixes: "acked_pkts". A name with the suffix "_mask" is a set
            of the connection's subflows: bit 0 is the first. A name with the prefix "is_" is 1 for yes and 0 for no.
    """

    name: str
    formula: str
    source: str
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A congestion controller or packet scheduler of this version.

    Attributes:
        name: name in scenario files.
        summary: one line for lists and tool tips.
        source: RFC or paper.
        options: options, as keys of the table `{ name = "...", option = ... }`.
        is_coupled: whether it controls the subflows of a connection jointly, and thus requires an mptcp flow.
        scheduler: scheduler for which a multipath controller was designed; empty: any scheduler.
        rules: decision rules; `subflow_sim.decisions` contains the decisions.
        script: source script; None for built-in algorithms.
    """

    name: str
    summary: str
    source: str
    options: tuple[Param, ...] = ()
    is_coupled: bool = False
    scheduler: str = ""
    rules: tuple[Rule, ...] = ()
    script: ScriptFile | None = None

    def with_defaults(self, given: Mapping[str, OptionValue], profile: str) -> Choice:
        """The choice of this algorithm with all applicable options: those given, otherwise the profile's defaults.

        An option that belongs to certain bases applies if the option `base` names one of them.
        """
        options: dict[str, Any] = {}
        for option in self.options:
            if option.key in given:
                options[option.key] = given[option.key]
            elif not option.applies_to or options.get("base") in option.applies_to:
                options[option.key] = option.default_in(profile)
        return Choice(self.name, options, script=self.script)


@dataclass(frozen=True, slots=True)
class AlgorithmCatalog:
    """The algorithms available to a scenario, in display order, and the trained policies."""

    controllers: tuple[Algorithm, ...]
    schedulers: tuple[Algorithm, ...]
    policies: PolicyLibrary = field(default_factory=PolicyLibrary)

    @property
    def learners(self) -> frozenset[str]:
        """Names of the controllers driven by agents, except `uncoupled`, for which this depends on the base."""
        # The options of `uncoupled` include the policies of its bases.
        return frozenset(
            each.name
            for each in self.controllers
            if each.name != "uncoupled" and any(option.key == "policy" for option in each.options)
        )

    def learns(self, choice: Choice) -> bool:
        """True if an agent drives this controller."""
        return (choice.options.get("base", "") if choice.name == "uncoupled" else choice.name) in self.learners

    def controllers_for(self, *, is_multipath: bool) -> tuple[str, ...]:
        """Names of the controllers for flows with several paths, or with one.

        For several paths the coupled controllers come first; all other controllers run on each subflow separately.
        Scripts come last.
        """
        offered = [each for each in self.controllers if is_multipath or not each.is_coupled]
        return tuple(each.name for each in sorted(offered, key=lambda e: (e.script is not None, not e.is_coupled)))

    def successors(self, controller: Choice, *, is_multipath: bool) -> tuple[str, ...]:
        """The controllers that may take over a flow during a run, including the initial one.

        Args:
            controller: initial controller of the flow.
            is_multipath: whether the flow has several paths, as coupled controllers require.

        Returns:
            Names in display order; empty for agents, which drive a flow until the end of the run.
        """
        if self.learns(controller):
            return ()
        suited = {e.name for e in self.controllers if e.is_coupled == is_multipath or (is_multipath and e.script)}
        names = suited - self.learners | {controller.name}
        return tuple(each.name for each in self.controllers if each.name in names)

    def with_scripts(self, scripts: Iterable[Algorithm]) -> AlgorithmCatalog:
        """The catalog with the scripts of a scenario, after the other algorithms."""
        added: dict[ScriptKind, list[Algorithm]] = {"controller": [], "scheduler": []}
        for each in scripts:
            assert each.script is not None
            added[each.script.kind].append(each)
        if not any(added.values()):
            return self
        controllers = (*self.controllers, *added["controller"])
        return replace(self, controllers=controllers, schedulers=(*self.schedulers, *added["scheduler"]))


_SCENARIO = (
    Param(
        "format",
        Dimension.COUNT,
        "Version of the file format. Always 1.",
        required=True,
        minimum=1,
        maximum=1,
    ),
    Param("name", Dimension.TEXT, "Title of the scenario. Default: the name of the file."),
    Param(
        "duration",
        Dimension.TIME,
        "How much time to simulate.",
        required=True,
        minimum=0.0,
        exclusive_minimum=True,
        maximum=1e6,
    ),
    Param(
        "warmup",
        Dimension.TIME,
        "Beginning of the run that is left out of all summary figures, so that slow start does not count.",
        default=0.0,
        minimum=0.0,
        maximum=1e6,
    ),
    Param(
        "seed",
        Dimension.COUNT,
        "Seed of all random numbers: the same scenario and seed give the same run, packet for packet.",
        default=1,
        minimum=0,
        maximum=2**63 - 1,
    ),
    Param(
        "mss",
        Dimension.SIZE,
        "Payload bytes of a full packet. On the wire, headers add 52 bytes: 1448 become 1500. In packets of "
        "mptcp flows, transport.dss_option comes off this payload.",
        default=1448,
        minimum=1,
        maximum=65000,
    ),
    Param(
        "profile",
        Dimension.CHOICE,
        'Transport defaults. "linux" does what a current kernel does; "textbook" is what the closed forms of papers '
        "assume: an ACK per packet, no proportional rate reduction, no HyStart.",
        default="linux",
        choices=("linux", "textbook"),
    ),
    Param(
        "start_jitter",
        Dimension.TIME,
        "Each flow starts later by a random time up to this. Breaks the lockstep of flows that would start together.",
        default=0.0,
        minimum=0.0,
        maximum=1e6,
    ),
)

_NODE = (
    Param(
        "kind",
        Dimension.CHOICE,
        "Hosts send and receive data and never forward; routers only forward.",
        default="host",
        choices=("host", "router"),
    ),
    Param(
        "at",
        Dimension.POINT,
        "Position on the canvas in pixels, x to the right and y down. Default: laid out automatically.",
        minimum=-1e6,
        maximum=1e6,
    ),
)

_TRANSPORT = ("tcp", "mptcp")
_FLOW = (
    Param(
        "kind",
        Dimension.CHOICE,
        '"mptcp" has a subflow on each path, "tcp" has one path, "cbr" sends at a constant rate regardless of '
        'loss, "onoff" does so in bursts.',
        required=True,
        choices=("tcp", "mptcp", "cbr", "onoff"),
    ),
    Param("from", Dimension.NAME, "Host that sends the data.", required=True, field="source"),
    Param("to", Dimension.NAME, "Host that receives the data.", required=True, field="destination"),
    Param(
        "controller",
        Dimension.CHOICE,
        "Congestion controller: how the sender finds its rate. Default: lia for mptcp, newreno for tcp.",
        reserved=(
            *("vivace", "mpcc-loss", "mpcc-latency", "drl-cc", "dql-mptcp", "ddpg-mpcc", "mplibra"),
            *("rl-explore", "clean-slate", "confluence"),
        ),
        applies_to=_TRANSPORT,
    ),
    Param(
        "scheduler",
        Dimension.CHOICE,
        "Packet scheduler: chooses the subflow for the next packet.",
        default="minrtt",
        reserved=("minrtt", "linux-mptcp", "roundrobin", "redundant", "blest", "ecf", "goodput", "mpcc-rate"),
        applies_to=("mptcp",),
    ),
    Param(
        "ecn",
        Dimension.CHOICE,
        "ECN mode that its two ends negotiate, see ecn of the transport; off: one end does not support ECN, so "
        "its packets are dropped where others are marked. Default: as in the transport, or as its controller needs.",
        choices=("off", "rfc3168", "accecn"),
        applies_to=_TRANSPORT,
    ),
    Param(
        "paths",
        Dimension.PATHS,
        "The links from sender to receiver, one list per subflow; a path may occur twice. Default: all shortest "
        "paths for mptcp, the first of them for the other kinds.",
    ),
    Param(
        "count",
        Dimension.COUNT,
        "Number of identical flows, named with .1, .2 and so on.",
        default=1,
        minimum=1,
        maximum=MAX_COPIES,
    ),
    Param(
        "start",
        Dimension.TIME,
        "When it starts, counted from the beginning of the run.",
        default=0.0,
        minimum=0.0,
        maximum=1e6,
    ),
    Param("stop", Dimension.TIME, "When it stops sending. Default: at the end of the run.", minimum=0.0, maximum=1e6),
    Param(
        "size",
        Dimension.SIZE,
        "Bytes to transfer; the flow is complete when the last one has arrived. Default: it never runs out of data.",
        minimum=1,
        maximum=10**15,
        applies_to=_TRANSPORT,
    ),
    Param(
        "recv_buffer",
        Dimension.SIZE,
        "Receive buffer of the connection, shared by its subflows. A small one stalls fast paths behind slow ones.",
        default=math.inf,
        minimum=1,
        maximum=10**12,
        allows_unlimited=True,
        applies_to=_TRANSPORT,
    ),
    Param(
        "send_buffer",
        Dimension.SIZE,
        "Send buffer of the connection: it holds data until the receiver has everything before it, so a small one "
        "also lets a slow path stall fast ones. The scheduler linux-mptcp derives the default from the windows.",
        default=math.inf,
        minimum=1,
        maximum=10**12,
        allows_unlimited=True,
        applies_to=_TRANSPORT,
    ),
    Param(
        "backup",
        Dimension.COUNTS,
        "Subflows that carry data only while no other is usable, counted from 1 in the order of the paths. Default: "
        "none.",
        minimum=1,
        maximum=MAX_PATHS,
        applies_to=("mptcp",),
    ),
    Param(
        "late",
        Dimension.COUNTS,
        "Subflows whose path does not exist at the start, counted like backups: each waits for an event that opens "
        "or announces it. Default: none.",
        minimum=1,
        maximum=MAX_PATHS,
        applies_to=("mptcp",),
    ),
    Param(
        "subflow_limit",
        Dimension.COUNT,
        "How many additional subflows at a time at most (ip mptcp limits set subflows). Default: one for each path.",
        minimum=0,
        maximum=MAX_PATHS,
        applies_to=("mptcp",),
    ),
    Param(
        "address_limit",
        Dimension.COUNT,
        "How many addresses announced by the peer are accepted at most (ip mptcp limits set add_addr_accepted). "
        "Default: all.",
        minimum=0,
        maximum=MAX_PATHS,
        applies_to=("mptcp",),
    ),
    Param(
        "rate",
        Dimension.RATE,
        "Rate at which it sends, headers included; for onoff while it is on.",
        required=True,
        minimum=1.0,
        maximum=1e12,
        applies_to=DATAGRAM_KINDS,
    ),
    Param(
        "packet",
        Dimension.SIZE,
        "Size of its packets on the wire.",
        default=1500,
        minimum=64,
        maximum=65052,
        applies_to=DATAGRAM_KINDS,
    ),
    Param(
        "spacing",
        Dimension.CHOICE,
        '"constant" spaces packets evenly; "poisson" draws exponential gaps with the same mean.',
        default="constant",
        choices=("constant", "poisson"),
        applies_to=DATAGRAM_KINDS,
    ),
    Param(
        "on",
        Dimension.TIME,
        "Mean length of its bursts, drawn from an exponential distribution. The first begins at its start.",
        required=True,
        minimum=1e-6,
        maximum=1e6,
        field="mean_on",
        applies_to=("onoff",),
    ),
    Param(
        "off",
        Dimension.TIME,
        "Mean length of the silences between its bursts, drawn in the same way.",
        required=True,
        minimum=1e-6,
        maximum=1e6,
        field="mean_off",
        applies_to=("onoff",),
    ),
    Param(
        "one_way_delay",
        Dimension.FLAG,
        "Measures the one-way delay of its packets and ACKs on each path, and jitter and reordering at the receiver.",
        default=False,
    ),
)

_EVENT = (
    Param(
        "at",
        Dimension.TIME,
        "When it happens, counted from the beginning of the run.",
        required=True,
        minimum=0.0,
        maximum=1e6,
    ),
    Param("link", Dimension.NAME, "The link that changes."),
    Param(
        "flow",
        Dimension.NAME,
        "The flow of which subflows close or open: all its copies, or one of them as in download.3.",
        allows_copy=True,
    ),
    Param(
        "direction",
        Dimension.CHOICE,
        "Direction of the link that changes.",
        default="both",
        choices=("both", "forward", "reverse"),
        applies_to=("link",),
    ),
    Param(
        "rate",
        Dimension.RATE,
        "New rate of the link, from the next packet on; what is queued stays.",
        minimum=1.0,
        maximum=1e12,
        applies_to=("link",),
    ),
    Param(
        "delay",
        Dimension.TIME,
        "New one-way delay of the link.",
        minimum=0.0,
        maximum=1000.0,
        applies_to=("link",),
    ),
    Param(
        "loss",
        Dimension.RATIO,
        "New random loss of the link, or a new loss model.",
        minimum=0.0,
        maximum=1.0,
        applies_to=("link",),
    ),
    Param(
        "queue",
        Dimension.QUEUE,
        "New queue limit of the link; its discipline stays.",
        minimum=1,
        maximum=10_000_000,
        allows_unlimited=True,
        applies_to=("link",),
    ),
    Param(
        "up",
        Dimension.FLAG,
        "false takes the link out of service and loses what is in its queue; true brings it back.",
        applies_to=("link",),
        states=("up", "down"),
    ),
    Param(
        "subflow",
        Dimension.COUNT,
        "Number of the subflow, counted from 1 in the order of its paths. Default: all of them.",
        minimum=1,
        maximum=MAX_PATHS,
        applies_to=("flow",),
    ),
    Param(
        "open",
        Dimension.FLAG,
        "false closes the subflow, and its undelivered data goes over the others; true opens a new one.",
        applies_to=("flow",),
        states=("open", "closed"),
    ),
    Param(
        "backup",
        Dimension.FLAG,
        "true makes the subflow a backup, which carries data only while no other is usable; false makes it a normal "
        "subflow. Only for mptcp flows.",
        applies_to=("flow",),
        states=("backup", "no backup"),
    ),
    Param(
        "announce",
        Dimension.FLAG,
        "true: the receiver announces the subflow's address (ADD_ADDR, RFC 8684) over an existing subflow, until it "
        "gets through or was repeated three times; then the subflow joins. false: the address is withdrawn "
        "(REMOVE_ADDR), which closes the subflow. Only for mptcp flows; their first subflow is not announced.",
        applies_to=("flow",),
        states=("announced", "withdrawn"),
    ),
    Param(
        "refuse",
        Dimension.FLAG,
        "true: the receiver answers attempts to open the subflow with a reset; false: it can be opened again. Only "
        "for mptcp flows.",
        applies_to=("flow",),
        states=("refused", "not refused"),
    ),
    Param(
        "controller",
        Dimension.CHOICE,
        "Congestion controller that takes over all subflows of the flow, as a program can ask of Linux: its own "
        "state starts fresh, while cwnd, threshold and RTT estimates stay. Learned and agent-driven controllers "
        "cannot take over.",
        applies_to=("flow",),
    ),
)

_NOTE = (
    Param(
        "at",
        Dimension.POINT,
        "Position of its upper left corner on the canvas in pixels, x to the right and y down.",
        required=True,
        minimum=-1e6,
        maximum=1e6,
    ),
    Param("text", Dimension.TEXT, "Its text, which may have several lines.", required=True, allows_lines=True),
)

SECTIONS: Mapping[str, tuple[Param, ...]] = MappingProxyType(
    {
        "scenario": _SCENARIO,
        "node": _NODE,
        "link": LINK,
        "flow": _FLOW,
        "event": _EVENT,
        "transport": TRANSPORT,
        "note": _NOTE,
    }
)
"""The keys of a scenario file by section, in the order of forms."""

EVENT_CHANGES: Mapping[str, tuple[Param, ...]] = MappingProxyType(
    {
        target: tuple(each for each in _EVENT if target in each.applies_to and each.key not in ("direction", "subflow"))
        for target in ("link", "flow")
    }
)
"""Keys that an event can change, by its target, "link" or "flow", in the order in which messages list them."""

SCRIPT_SECTIONS: Mapping[ScriptKind, str] = MappingProxyType({"controller": "controllers", "scheduler": "schedulers"})
"""The sections of a scenario file for scripts, by kind."""

SCRIPT_TABLE: tuple[Param, ...] = (
    Param(
        "script",
        Dimension.TEXT,
        "File with the script, which ends in .py, beside the scenario or in a folder below; or the name of one that "
        "ships.",
        required=True,
    ),
    Param(
        "content",
        Dimension.TEXT,
        "Content of the file. Written with a stored run, so that it can be repeated without the file.",
        allows_lines=True,
    ),
)
"""The keys of `[controllers.NAME]` and `[schedulers.NAME]`."""

ARRIVALS_TABLE: tuple[Param, ...] = (
    Param(
        "gap",
        Dimension.TIME,
        "Mean time between two arrivals. The gaps are exponential: a Poisson process from start to stop.",
        required=True,
        minimum=1e-6,
        maximum=1e6,
        field="mean_gap",
    ),
    Param(
        "lifetime",
        Dimension.TIME,
        "How long each of them sends. Default: until its size is transferred, or to the end.",
        minimum=1e-6,
        maximum=1e6,
    ),
    Param(
        "lifetime_distribution",
        Dimension.CHOICE,
        '"fixed" gives every flow this lifetime, "exponential" this one on average.',
        default="fixed",
        choices=("fixed", "exponential"),
    ),
    Param(
        "limit",
        Dimension.COUNT,
        "How many arrive at most. Default: as many as come before the end.",
        minimum=1,
        maximum=MAX_COPIES,
    ),
)
"""The keys of `arrivals = { gap = "10s", lifetime = "30s" }`, which creates many flows from one declaration."""


def params_by_key(section: str) -> Mapping[str, Param]:
    """The parameters of a section of `SECTIONS`, by key."""
    return {param.key: param for param in SECTIONS[section]}
