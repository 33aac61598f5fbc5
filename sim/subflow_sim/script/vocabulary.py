"""The vocabulary of scripts: hooks, their objects and fields, and functions.

The compiler, the editor (completion, syntax colours) and the guide use it. The fields of the core are in
sim/core/script/machine.cpp; a test compares both lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from subflow_sim.scenario_model import ScriptKind

Unit: TypeAlias = Fraction | None
"""Unit of a number as a power of a second: 1 is a time, -1 a rate, 0 a count or a ratio. None: a literal or a value of
unknown unit, which takes the unit of the other operand.
"""

SECONDS, COUNT, PER_SECOND, RATIO = Fraction(1), Fraction(0), Fraction(-1), Fraction(0)

UNITS: Mapping[str, Unit] = {
    "": None,
    "pkt": COUNT,
    "s": SECONDS,
    "pkt/s": PER_SECOND,
    "1/s": PER_SECOND,
    "pkt/s2": Fraction(-2),
    "pkt/s3": Fraction(-3),
    "bit": COUNT,
}
"""Allowed values of `unit=` of an option."""


def unit_name(unit: Unit) -> str:
    """The unit as displayed text: "a time (s)"."""
    if unit is None:
        return "a plain number"
    names = {SECONDS: "a time (s)", COUNT: "a count or a ratio", PER_SECOND: "a rate (1/s)"}
    return names.get(unit, f"a number in s^{unit}")


@dataclass(frozen=True, slots=True)
class Field:
    """A readable field of an object.

    Attributes:
        name: name as written in scripts.
        symbol: displayed unit: "pkt", "s", "pkt/s"; empty for a ratio, a number or a flag.
        help: meaning in one sentence.
        is_flag: whether the value is True or False.
        is_settable: whether scripts may assign the field.
    """

    name: str
    symbol: str
    help: str
    is_flag: bool = False
    is_settable: bool = False

    @property
    def unit(self) -> Unit:
        """Unit as a power of a second."""
        return UNITS.get(self.symbol) if self.symbol else Fraction(0)


def _flag(name: str, text: str) -> Field:
    return Field(name, "", text, is_flag=True)


_NOW = Field("now", "s", "Simulated time.")
_SRTT = Field("srtt", "s", "Smoothed round-trip time of the subflow.")
_INFLIGHT = Field("inflight", "pkt", "Packets believed to be in the network.")

OBJECTS: Mapping[str, tuple[Field, ...]] = {
    "w": (
        Field("cwnd", "pkt", "Congestion window: 1 to 1e6 packets; it may have fractions.", is_settable=True),
        Field("ssthresh", "pkt", "Slow start threshold; infinite until the first loss.", is_settable=True),
        Field("rate", "pkt/s", "Pacing: packets leave evenly at this rate; 0 = as ACKs come.", is_settable=True),
        Field("advertised", "", "A number that the siblings see of this subflow.", is_settable=True),
    ),
    "ack": (
        Field("acked", "pkt", "Packets that this ACK newly acknowledged."),
        Field("rtt", "s", "Round-trip time of the newest packet that it acknowledges."),
        Field("oldest_rtt", "s", "Round-trip time of the oldest one, with the time that a delayed ACK waited."),
        _SRTT,
        Field("min_rtt", "s", "Lowest round-trip time of the subflow so far."),
        _NOW,
        _INFLIGHT,
        _flag("begins_round", "The first ACK of a packet that was sent after the round trip before had ended."),
        _flag("is_cwnd_limited", "The window held packets back, not the application."),
        _flag("in_recovery", "Losses are being repaired."),
        Field("marked", "pkt", "Packets that it newly reports as marked by queues (ECN)."),
    ),
    "sample": (
        _NOW,
        Field("rtt", "s", "Round-trip time of the newest packet that was delivered."),
        _SRTT,
        Field("acked", "pkt", "Packets that this ACK newly acknowledged."),
        Field("lost", "pkt", "Packets that it showed to be lost."),
        Field("marked", "pkt", "Packets that it newly reports as marked by queues (ECN)."),
        _INFLIGHT,
        Field("prior_inflight", "pkt", "Packets that were in the network before it."),
        Field("interval", "s", "The time in which `delivered - prior_delivered` arrived."),
        _flag("is_app_limited", "The packet left while the application had too little to send."),
        _flag("in_recovery", "Losses are being repaired."),
        _flag("in_loss", "A timeout is being repaired."),
        Field("rate", "pkt/s", "Delivery rate; 0 where the interval was too short."),
        Field("delivered", "pkt", "Packets delivered since the subflow began."),
        Field("prior_delivered", "pkt", "Packets delivered by when that packet left."),
    ),
    "loss": (
        _flag("is_timeout", "The retransmission timeout detected the loss; otherwise acknowledgements did."),
        _flag("is_mark", "Nothing was lost: queues have marked packets (ECN)."),
        _INFLIGHT,
        _NOW,
        _SRTT,
    ),
    "moment": (
        _NOW,
        Field("srtt", "s", "Smoothed round-trip time; 0 before the first sample."),
        Field("min_rtt", "s", "Lowest round-trip time so far; 0 before the first sample."),
        Field("packet_bits", "bit", "Size of a full packet on the wire: a rate times this is in bit/s."),
        _INFLIGHT,
    ),
    "record": (
        Field("number", "", "Counts the intervals of the subflow."),
        Field("tag", "", "Tag that `plan` gave the interval."),
        Field("begin", "s", "When its first packet left."),
        Field("end", "s", "When the first packet of the next one left."),
        Field("finished", "s", "When the fate of its last packet was known."),
        Field("length", "s", "From its begin to its end."),
        Field("rate", "pkt/s", "The requested rate."),
        Field("send_rate", "pkt/s", "The rate at which it was sent."),
        Field("throughput", "pkt/s", "The rate at which it was delivered."),
        Field("sent", "pkt", "Packets sent."),
        Field("delivered", "pkt", "Packets delivered."),
        Field("lost", "pkt", "Packets lost."),
        Field("loss_ratio", "", "Lost packets as a share of those sent."),
        Field("rtt", "s", "Mean round-trip time; not known without a sample."),
        Field("min_rtt", "s", "Lowest round-trip time; not known without a sample."),
        Field("rtt_gradient", "", "Slope of the round-trip times, s/s; not known with fewer than three samples."),
        Field("rtt_gradient_error", "", "Standard error of that slope."),
        _flag("is_app_limited", "The application had too little to send for a part of it."),
        Field("utility", "", "Utility of the interval: set it to see it among the curves.", is_settable=True),
    ),
    "sibling": (
        Field("cwnd", "pkt", "Window of that subflow; its ssthresh while losses are repaired."),
        Field("srtt", "s", "Its smoothed round-trip time."),
        Field("rate", "pkt/s", "cwnd / srtt."),
        Field("window", "pkt", "Its window itself, in recovery as well."),
        Field("acked_since_loss", "pkt", "Packets acknowledged since its last loss."),
        Field("acked_between_losses", "pkt", "Packets acknowledged between its last two losses."),
        Field("advertised", "", "The number that it set as w.advertised."),
        _flag("own", "It is the subflow that the function is called for."),
    ),
    "subflow": (
        _flag("is_usable", "Established, not presumed dead, and no backup while another one is usable."),
        _flag("is_available", "Usable, and its window has room for a packet."),
        _flag("has_sent_this", "The packet was sent on it before."),
        _flag("in_slow_start", "Its window is below its slow start threshold."),
        Field("srtt", "s", "Smoothed round-trip time; 0 before the first sample."),
        Field("rttvar", "s", "How much the round-trip times vary."),
        Field("cwnd", "pkt", "Congestion window."),
        Field("ssthresh", "pkt", "Slow start threshold; may be infinite."),
        _INFLIGHT,
        Field("queued", "pkt", "Packets handed to it that wait for their pacing."),
        Field("rate", "pkt/s", "Pacing rate; 0 = as ACKs come."),
        Field("delivered", "pkt", "Packets acknowledged since it was opened."),
    ),
    "packet": (
        _NOW,
        Field("window", "pkt", "Receive window of the connection; may be infinite."),
        Field("outstanding", "pkt", "Packets of it that are handed out."),
        Field("unsent", "pkt", "Packets that wait to be sent, this one included; infinite for an endless flow."),
        _flag("is_reinjection", "The packet was sent before."),
    ),
    "pause": (_NOW,),
}
"""The fields of each kind of object."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A function that a script may define.

    Attributes:
        name: name as written in scripts.
        kind: kind of the scripts that may define the function.
        parameters: parameters in order, each with its default name and its kind of object or collection; a script may
            choose other names. Parameters after the first two are optional, for a scheduler after the first.
        returns: "nothing", "next" (nothing, or `now`), "plan" (a time or `interval(...)`) or "subflow".
        help: meaning in one sentence.
    """

    name: str
    kind: ScriptKind
    parameters: tuple[tuple[str, str], ...]
    returns: Literal["nothing", "next", "plan", "subflow"]
    help: str


_W, _SIBLINGS = ("w", "w"), ("siblings", "siblings")

HOOKS: tuple[Hook, ...] = (
    Hook("on_start", "controller", (_W,), "nothing", "Once, before the first packet."),
    Hook(
        "on_ack",
        "controller",
        (_W, ("ack", "ack"), _SIBLINGS),
        "nothing",
        "An ACK arrived outside recovery, and the window limited sending: increase it.",
    ),
    Hook(
        "on_every_ack",
        "controller",
        (_W, ("ack", "ack"), _SIBLINGS),
        "nothing",
        "Every ACK that reports a delivery, in any state, before on_ack: measure.",
    ),
    Hook(
        "on_delivery",
        "controller",
        (_W, ("sample", "sample"), _SIBLINGS),
        "nothing",
        "Every ACK that reports a delivery, after losses are judged, with the delivery rate.",
    ),
    Hook(
        "on_loss",
        "controller",
        (_W, ("loss", "loss"), _SIBLINGS),
        "nothing",
        "Packets were lost, at most once per window: set w.ssthresh, the window after the loss.",
    ),
    Hook(
        "on_recovery_exit",
        "controller",
        (_W, ("ack", "ack"), _SIBLINGS),
        "nothing",
        "All losses are repaired.",
    ),
    Hook("on_idle", "controller", (_W, ("pause", "pause")), "nothing", "A packet is about to leave after a pause."),
    Hook(
        "plan",
        "controller",
        (_W, ("moment", "moment")),
        "plan",
        "A monitor interval begins: set w.rate, and return how long it lasts.",
    ),
    Hook(
        "on_interval",
        "controller",
        (_W, ("record", "record"), ("moment", "moment"), _SIBLINGS),
        "next",
        "The fate of all packets of an interval is known; `return now` begins the next one at once.",
    ),
    Hook(
        "select",
        "scheduler",
        (("subflows", "subflows"), ("packet", "packet")),
        "subflow",
        "A packet needs a subflow: return one, or `wait`.",
    ),
)
"""All hooks, in the order of the core."""

COLLECTIONS: Mapping[str, str] = {"siblings": "sibling", "subflows": "subflow"}
"""Kind of a collection's elements, by kind of collection."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function available to scripts.

    Attributes:
        name: name as written in scripts.
        call: example of a call.
        help: meaning in one sentence.
    """

    name: str
    call: str
    help: str


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "min", "min(a, b, ...)", "The smallest value; over subflows: min(s.srtt for s in siblings if s.cwnd > 2)."
    ),
    Function("max", "max(a, b, ...)", "The largest value; over subflows: max(s.rate for s in siblings)."),
    Function("sum", "sum(s.rate for s in siblings)", "The sum over subflows."),
    Function("any", "any(s.srtt > 0.1 for s in siblings)", "True if the condition holds for at least one subflow."),
    Function("all", "all(s.srtt > 0.1 for s in siblings)", "True if the condition holds for every subflow."),
    Function("count", "count(s.cwnd > 10 for s in siblings)", "Number of subflows for which the condition holds."),
    Function("len", "len(siblings)", "Number of subflows, the own one included."),
    Function("abs", "abs(x)", "Absolute value."),
    Function("sqrt", "sqrt(x)", "Square root."),
    Function("cbrt", "cbrt(x)", "Cube root."),
    Function("exp", "exp(x)", "e to the power of x."),
    Function("log", "log(x)", "Natural logarithm."),
    Function("pow", "pow(x, y)", "x to the power of y."),
    Function("floor", "floor(x)", "The next whole number below."),
    Function("ceil", "ceil(x)", "The next whole number above."),
    Function("known", "known(x)", "False for a number that could not be measured."),
    Function("random", "random()", "A number from 0 to 1, the same in each run with the seed."),
    Function(
        "slow_start", "slow_start(w, ack)", "Grows the window in slow start; returns the remaining packets of the ACK."
    ),
    Function("interval", "interval(length, min_packets=1, tag=0)", "Result of `plan` with more than a length."),
    Function(
        "best",
        "best(subflows, by=lambda s: s.srtt, where=lambda s: s.is_available)",
        "The subflow with the smallest `by`; lists are compared number by number. `wait` if no subflow matches.",
    ),
)

DECLARATIONS: tuple[Function, ...] = (
    Function("option", 'option(2, min=0, max=10, unit="pkt", help="...")', "A value that scenarios can set."),
    Function("state", "state(base=inf, round=0)", "Values remembered from call to call: my = state(...)."),
    Function("windowed_max", "windowed_max(over=10)", "In state(...): the largest recent value, my.x.update(v, at=t)."),
    Function(
        "windowed_min", "windowed_min(over=10)", "In state(...): the smallest recent value, my.x.update(v, at=t)."
    ),
    Function("ewma", "ewma(weight=0.125)", "In state(...): a moving average, my.x.update(v)."),
    Function("per_subflow", "per_subflow(used=0)", "Values that a scheduler remembers of each subflow: per[s].used."),
)

NAMED_NUMBERS: Mapping[str, float] = {"inf": float("inf"), "True": 1.0, "False": 0.0}

SETTINGS: Mapping[str, tuple[type, ScriptKind | None, str]] = {
    "title": (str, None, "One line for lists."),
    "source": (str, None, "RFC or paper."),
    "work_conserving": (bool, "scheduler", "Take the only subflow that is available without asking."),
    "opportunistic_retransmission": (
        bool,
        "scheduler",
        "Send the packet that blocks a full receive window on the chosen subflow as well.",
    ),
    "penalisation": (bool, "scheduler", "Halve the cwnd of the slower subflow that blocks a full receive window."),
}
"""Module-level names with a predefined meaning: type, kind of script (None: both kinds), and help."""
