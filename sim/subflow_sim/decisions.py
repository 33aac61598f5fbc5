"""Causes of the decisions of controllers and schedulers: decisions in columns, found by owner and time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_sim import _core
from subflow_sim.errors import ParamError
from subflow_sim.params import Rule
from subflow_sim.script_steps import ExecutedLine, Program, Step, executed_lines
from subflow_sim.trace import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

Ints: TypeAlias = NDArray[np.int64]

CAUSES: tuple[str, ...] = tuple(
    cause.name.lower() for cause in sorted(_core.Cause.__members__.values(), key=lambda cause: cause.value)
)
"""Events that cause a decision; a decision's `cause` is a position in this tuple."""

NOBODY = 0xFF
"""`Decisions.chosen` of a scheduler that chose no subflow, and of all decisions of controllers."""

DETECTIONS: Mapping[str, str] = {
    "duplicate_acks": "third duplicate ACK",
    "reordering_window": "RACK reordering window passed",
    "tail_loss_probe": "a tail loss probe repaired a loss",
    "recovery": "an acknowledgement during fast recovery",
}
"""Mechanisms by which a sender detects a loss, with their displayed names; they refine the cause "loss"."""

_DETECTED_BY: Mapping[str, str] = {"dupack": "duplicate_acks", "rack": "reordering_window"}
_CAUSE_TEXTS: Mapping[str, str] = {
    "start": "the subflow begins",
    "ack": "an acknowledgement",
    "loss": "a loss",
    "rto": "the retransmission timeout",
    "recovery_exit": "the end of a recovery",
    "interval": "a monitor interval",
    "idle": "the end of a pause",
    "schedule": "the scheduler chose a subflow",
    "action": "a learning agent acted",
    "mark": "queues marked packets",
}
NUMBER_UNITS: Mapping[str, str] = {
    "pkts_per_s2": "pkt/s²",
    "pkts": "pkt",
    "pps": "pkt/s",
    "bps": "bit/s",
    "mbps": "Mbit/s",
    "bytes": "B",
    "ms": "ms",
    "s": "s",
}
"""Endings of the names of numbers, and the symbols of their units; the first ending that fits counts."""

_MASK = "_mask"
_CLAIM = "is_"
_LARGEST_CAPACITY = 1 << 24


@dataclass(frozen=True, slots=True)
class DecisionLimits:
    """How many decisions are kept until they are taken.

    Attributes:
        capacity: per subflow, and per connection with several subflows; the oldest make room, and are counted as lost.
        window_s: decisions older than this before their owner's latest are forgotten, s; None: all are kept.

    Raises:
        ParamError: if the capacity is not within 1 and 2^24 or the window is not above 0.
    """

    capacity: int = 50_000
    window_s: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.capacity <= _LARGEST_CAPACITY:
            raise ParamError(f"the capacity of decisions is {self.capacity}", f"1 to {_LARGEST_CAPACITY}")
        if self.window_s is not None and not 1e-9 <= self.window_s <= 1e9:
            raise ParamError(f"the window of decisions is {self.window_s} s", "1 ns or more, or none")


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule of this version; a decision's `rule` is a position in it."""
    return tuple(rule_of(info) for info in _core.all_rules())


def rule_of(info: _core.RuleInfo) -> Rule:
    """A rule as the core declares it."""
    return Rule(info.name, info.formula, info.source, tuple(number.name for number in info.numbers))


@cache
def expressions() -> Mapping[str, str]:
    """What can be computed from rules, by their names: "ssthresh = max(basis / 2, floor)".

    The result is cwnd in packets, a rate in the unit of the rule's rates, or ssthresh in packets. It is computed from
    the numbers of the rule (named without their units), the window `before`, and `packet_bits`, the size of a packet on
    the wire.
    """
    return {info.name: info.computed for info in _core.all_rules() if info.computed}


@cache
def meanings() -> Mapping[str, str]:
    """What the numbers of rules are, in a few words, by their names without units: "acked", "is_capped"."""
    numbers = [number for info in _core.all_rules() for number in info.numbers]
    return {_number(number.name, 0.0).name: number.meaning for number in numbers}


@dataclass(frozen=True, slots=True)
class Number:
    """One of the numbers that went into a decision.

    Attributes:
        name: without its unit: "acked".
        unit: symbol of it, empty for a ratio or a count.
        value: NaN: it was not defined then.
        subflows: of a set of subflows, their numbers from 1 on; else None.
    """

    name: str
    unit: str
    value: float
    subflows: tuple[int, ...] | None = None

    @property
    def text(self) -> str:
        """For people: "acked = 2 pkt", "M = {1, 3}", "capped: yes"."""
        if self.subflows is not None:
            return f"{self.name} = {_set_text(self.subflows)}"
        if self.name.startswith(_CLAIM):
            return f"{self.name.removeprefix(_CLAIM)}: {'yes' if self.value else 'no'}"
        has_unit = self.unit and math.isfinite(self.value)
        return f"{self.name} = {_value_text(self.value)}{' ' + self.unit if has_unit else ''}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision in words and numbers.

    Attributes:
        time_s: when.
        owner: "download.1/2" (a subflow's window) or "download.1" (a connection's scheduler).
        scope: which of the two.
        cause: one of `CAUSES`.
        rule: by which it was decided.
        numbers: that went into it, in the rule's order.
        cwnd_pkts: window before and after, packets; of subflows.
        rate_bps: pacing rate before and after, bit/s on the wire; 0: unpaced; of subflows.
        data_seq: number of the packet in question in the connection's data; of schedulers.
        chosen: the subflow it went to, from 1 on; None: it was to wait, or this is not a scheduler's decision.
        available: the subflows that had room for it, from 1 on; of schedulers.
        usable: the subflows that were established and not presumed dead, from 1 on; of schedulers.
        detection: of the cause "loss", one of `DETECTIONS`; empty where it is not known or there is none.
        steps: of a script that decided, what it read and which lines it executed, in order.
        script: that decided; None: none did.
    """

    time_s: float
    owner: str
    scope: Scope
    cause: str
    rule: Rule
    numbers: tuple[Number, ...]
    cwnd_pkts: tuple[float, float]
    rate_bps: tuple[float, float]
    data_seq: int
    chosen: int | None
    available: tuple[int, ...]
    usable: tuple[int, ...]
    detection: str = ""
    steps: tuple[Step, ...] = ()
    script: Program | None = None

    @property
    def cause_text(self) -> str:
        """The cause for people: "an acknowledgement", "third duplicate ACK"."""
        if self.scope == "flow" and self.chosen is None:
            return "the scheduler chose no subflow"
        return DETECTIONS.get(self.detection) or _CAUSE_TEXTS[self.cause]

    def value(self, name: str) -> float | None:
        """One of its numbers by the name without a unit; None if its rule has none of that name."""
        return next((number.value for number in self.numbers if number.name == name), None)

    @property
    def effect(self) -> str:
        """Effect of the decision: "cwnd 10 -> 10.1 pkt", "packet 17 on subflow 2; available: 1, 2"."""
        if self.scope == "flow":
            where = "waits" if self.chosen is None else f"on subflow {self.chosen}"
            return f"packet {self.data_seq} {where}; available: {', '.join(map(str, self.available)) or 'none'}"
        parts = [_change_text("cwnd", *self.cwnd_pkts, "pkt")]
        before_bps, after_bps = self.rate_bps
        if before_bps or after_bps:
            parts.append(_change_text("rate", before_bps / 1e6, after_bps / 1e6, "Mbit/s"))
        return ", ".join(parts)

    @property
    def lines(self) -> tuple[ExecutedLine, ...]:
        """The lines of the script that were executed, with their numbers."""
        return () if self.script is None else executed_lines(self.steps, self.script.parameters(self.rule.name))

    @property
    def text(self) -> str:
        """The whole decision in a sentence."""
        numbers = ", ".join(number.text for number in self.numbers)
        source = f" ({self.rule.source})" if self.rule.source else ""
        return (
            f"{self.owner} at {self.time_s:.6f} s, {self.cause_text}: {self.effect}, "
            f"by {self.rule.name}: {self.rule.formula}{source}{'; ' + numbers if numbers else ''}"
        )


@dataclass(frozen=True)
class Steps:
    """What scripts did, decision by decision.

    Attributes:
        begin: int64 [n + 1], where the steps of a decision begin.
        note: uint32 [m], what each of them is about, a number of its program.
        value: float64 [m].
        programs: scripts by the position of their rules.
    """

    begin: Ints
    note: NDArray[np.uint32]
    value: NDArray[np.float64]
    programs: Mapping[int, Program]

    def of(self, row: int, rule: int) -> tuple[Step, ...]:
        """The steps of a decision by that rule."""
        program = self.programs.get(rule)
        if program is None:
            return ()
        span = slice(int(self.begin[row]), int(self.begin[row + 1]))
        return tuple(
            program.step(int(note), float(value)) for note, value in zip(self.note[span], self.value[span], strict=True)
        )

    @classmethod
    def joined(cls, batches: Sequence[Decisions]) -> Steps | None:
        """Those of batches one after the other; None if no script decided in any."""
        if all(each.steps is None for each in batches):
            return None
        counts, notes, values = [np.zeros(1, np.int64)], [], []
        programs: dict[int, Program] = {}
        for each in batches:
            if each.steps is None:
                counts.append(np.zeros(len(each), np.int64))
                continue
            counts.append(np.diff(each.steps.begin))
            notes.append(each.steps.note)
            values.append(each.steps.value)
            programs |= each.steps.programs
        return cls(np.cumsum(np.concatenate(counts)), np.concatenate(notes), np.concatenate(values), programs)


@dataclass(frozen=True)
class Decisions:
    """Decisions in order of time, a column per quantity: all arrays have the same length n.

    A subflow's decisions are those of its controller and sender, on its window and rate; a flow's are those of its
    scheduler. Only flows of several subflows have a scheduler that is asked.

    Attributes:
        owners: names of all subflows ("download.1/2"), then of all flows ("download.1").
        scopes: what each of them is.
        rules: what `rule` refers to.
        time_ns: int64 [n], simulated time in ns.
        owner: uint32 [n], position in `owners`.
        cause: uint8 [n], position in `CAUSES`.
        rule: uint16 [n], position in `rules`.
        cwnd_before_pkts: float64 [n], packets; NaN at the start of a subflow and for flows.
        cwnd_after_pkts: float64 [n], packets; NaN for flows.
        rate_before_bps: float64 [n], pacing rate on the wire in bit/s; 0: unpaced.
        rate_after_bps: float64 [n], likewise.
        numbers: float64 [n, 8], in the order of the rule's `numbers`; NaN beyond them and where undefined.
        chosen: uint8 [n], of flows: the subflow chosen, from 0 on, or `NOBODY`.
        available: uint32 [n], of flows: a bit per subflow that had room for the packet, the first is bit 0.
        usable: uint32 [n], of flows: a bit per subflow that was established and not presumed dead.
        data_seq: uint32 [n], of flows: number of the packet in the connection's data.
        steps: what scripts did; None: none decided here, or nobody knows any more.
    """

    owners: tuple[str, ...]
    scopes: tuple[Scope, ...]
    rules: tuple[Rule, ...]
    time_ns: Ints
    owner: NDArray[np.uint32]
    cause: NDArray[np.uint8]
    rule: NDArray[np.uint16]
    cwnd_before_pkts: NDArray[np.float64]
    cwnd_after_pkts: NDArray[np.float64]
    rate_before_bps: NDArray[np.float64]
    rate_after_bps: NDArray[np.float64]
    numbers: NDArray[np.float64]
    chosen: NDArray[np.uint8]
    available: NDArray[np.uint32]
    usable: NDArray[np.uint32]
    data_seq: NDArray[np.uint32]
    steps: Steps | None = field(default=None, compare=False)
    _rows: dict[str, Ints] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.time_ns)

    def rows(self, owner: str) -> Ints:
        """The rows of one owner in order of time, int64: found once, then remembered.

        Raises:
            KeyError: if there is no such owner.
        """
        if owner not in self._rows:
            if owner not in self.owners:
                raise KeyError(owner)
            self._rows[owner] = np.flatnonzero(self.owner == self.owners.index(owner))
        return self._rows[owner]

    def at(self, owner: str, time_s: float) -> int | None:
        """The row of the owner's last decision at or before a time; None: there is none so early.

        Raises:
            KeyError: if there is no such owner.
        """
        rows = self.rows(owner)
        position = rows_until(self.time_ns, rows, time_s) - 1
        return int(rows[position]) if position >= 0 else None

    def between(self, owner: str, from_s: float, until_s: float) -> Ints:
        """The rows of the owner's decisions from `from_s` to `until_s`, both included, in order of time.

        Raises:
            KeyError: if there is no such owner.
        """
        rows = self.rows(owner)
        return rows[rows_until(self.time_ns, rows, from_s, "left") : rows_until(self.time_ns, rows, until_s)]

    def explain(self, row: int) -> Explanation:
        """One decision with all names, for people.

        Raises:
            IndexError: if there is no such row.
        """
        owner = int(self.owner[row])
        rule = self.rules[int(self.rule[row])]
        chosen = int(self.chosen[row])
        return Explanation(
            time_s=int(self.time_ns[row]) / 1e9,
            owner=self.owners[owner],
            scope=self.scopes[owner],
            cause=CAUSES[int(self.cause[row])],
            rule=rule,
            numbers=tuple(
                _number(name, float(value)) for name, value in zip(rule.numbers, self.numbers[row], strict=False)
            ),
            cwnd_pkts=(float(self.cwnd_before_pkts[row]), float(self.cwnd_after_pkts[row])),
            rate_bps=(float(self.rate_before_bps[row]), float(self.rate_after_bps[row])),
            data_seq=int(self.data_seq[row]),
            chosen=None if chosen == NOBODY else chosen + 1,
            available=_subflows(int(self.available[row])),
            usable=_subflows(int(self.usable[row])),
            steps=() if self.steps is None else self.steps.of(row, int(self.rule[row])),
            script=None if self.steps is None else self.steps.programs.get(int(self.rule[row])),
        )

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(each.name for each in fields(cls) if each.init)[3:-1]

    @classmethod
    def joined(cls, batches: Sequence[Decisions]) -> Decisions:
        """Batches taken one after the other from one simulation, as one.

        Raises:
            ValueError: if there is no batch or they are not of the same owners and rules.
        """
        if not batches:
            raise ValueError("no batches to be joined")
        first = batches[0]
        # A controller that was changed to during the run brings rules of its own, behind those that there are.
        longest = max((each.rules for each in batches), key=len)
        if any(each.owners != first.owners or each.rules != longest[: len(each.rules)] for each in batches):
            raise ValueError("batches of different simulations cannot be joined")
        arrays = {name: np.concatenate([getattr(each, name) for each in batches]) for name in cls.columns()}
        return cls(first.owners, first.scopes, longest, **arrays, steps=Steps.joined(batches))


def rows_until(time_ns: Ints, rows: Ints, time_s: float, side: Literal["left", "right"] = "right") -> int:
    """How many rows of one owner are before a time or, with the side "right", at it.

    Args:
        time_ns: int64 [n], of the rows of all owners, in order.
        rows: int64 [m], those of the owner, in order.
        time_s: the time.
        side: as NumPy has it.
    """
    wanted_ns = round(min(max(time_s * 1e9, -(2.0**62)), 2.0**62))
    return int(np.searchsorted(rows, np.searchsorted(time_ns, wanted_ns, side)))


def detected(told: Sequence[Explanation], loss_detection: str) -> tuple[Explanation, ...]:
    """The same decisions of one owner, with how their losses were found.

    A run finds all its losses in one way, the option `loss_detection` of its scenario: "dupack" or "rack". What the
    decisions tell beyond that is whether a recovery began or went on, and whether a probe had repaired the loss.

    Args:
        told: in order of time; of those at the same instant, all or none.
        loss_detection: of the sender.
    """
    found = []
    for position, each in enumerate(told):
        detection = ""
        if each.cause == "loss":
            # What a probe repaired is told to the controller first.
            instant = [later for later in told[position : position + 2] if later.time_s == each.time_s]
            if any(later.rule.name == "probe_repaired" for later in instant):
                detection = "tail_loss_probe"
            elif each.value("prr_out"):
                detection = "recovery"  # its first packet is sent when it begins
            else:
                detection = _DETECTED_BY[loss_detection]
        found.append(replace(each, detection=detection))
    return tuple(found)


def from_core(
    table: _core.DecisionTable,
    subflow_names: tuple[str, ...],
    flow_names: tuple[str, ...],
    scripts: Sequence[_core.ScriptProgram] = (),
    script_rules: Sequence[_core.RuleInfo] = (),
) -> Decisions:
    """The decisions of a table, which the arrays keep alive; with the scripts of the run and their rules."""
    subflow: Scope = "subflow"
    flow: Scope = "flow"
    scopes = (subflow,) * len(subflow_names) + (flow,) * len(flow_names)
    arrays = {name: getattr(table, name) for name in Decisions.columns()}
    known = (*rules(), *(rule_of(each) for each in script_rules)) if script_rules else rules()
    return Decisions((*subflow_names, *flow_names), scopes, known, **arrays, steps=_steps(table, scripts))


def _steps(table: _core.DecisionTable, scripts: Sequence[_core.ScriptProgram]) -> Steps | None:
    if not scripts:
        return None
    begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(table.step_count, dtype=np.int64)])
    first, hooks = len(rules()), len(_core.script_hooks())
    programs: dict[int, Program] = {}
    for position, each in enumerate(scripts):
        program = Program(each.name, each.text, tuple(each.told))
        programs |= dict.fromkeys(range(first + position * hooks, first + (position + 1) * hooks), program)
    return Steps(begin, table.step_notes, table.step_values, programs)


def _number(name: str, value: float) -> Number:
    if name.endswith(_MASK):
        return Number(name.removesuffix(_MASK), "", value, _subflows(int(value)))
    for ending, symbol in NUMBER_UNITS.items():
        if name.endswith(f"_{ending}"):
            return Number(name.removesuffix(f"_{ending}"), symbol, value)
    return Number(name, "", value)


def _subflows(mask: int) -> tuple[int, ...]:
    """The numbers, from 1 on, of the subflows whose bits are set."""
    return tuple(bit + 1 for bit in range(mask.bit_length()) if mask >> bit & 1)


def _set_text(subflows: tuple[int, ...]) -> str:
    return f"{{{', '.join(map(str, subflows))}}}" if subflows else "none"


def _value_text(value: float) -> str:
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:.6g}"


def _change_text(name: str, before: float, after: float, unit: str) -> str:
    if math.isnan(before):
        return f"{name} {_value_text(after)} {unit}"
    if before == after:
        return f"{name} stays {_value_text(after)} {unit}"
    return f"{name} {_value_text(before)} -> {_value_text(after)} {unit}"
