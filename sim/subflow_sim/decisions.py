"""Decisions of controllers and schedulers with their causes, as arrays that can be searched by owner and time."""

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
"""Unit symbols by suffix of a number's name, without the underscore; the first matching suffix applies."""

_MASK = "_mask"
_CLAIM = "is_"
_LARGEST_CAPACITY = 1 << 24


@dataclass(frozen=True, slots=True)
class DecisionLimits:
    """Limits of the decisions kept in memory until they are taken.

    Attributes:
        capacity: decisions per subflow, and per connection with several subflows; the oldest are dropped and counted as
            lost.
        window_s: maximum age of a decision relative to the latest decision of the same owner, s; None: no limit.

    Raises:
        ParamError: if the capacity is outside 1 to 2^24 or the window outside 1e-9 to 1e9 s.
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
    """All rules of built-in algorithms.

    The `rule` of a decision is a position in this tuple, to which a run appends the rules of its scripts.
    """
    return tuple(rule_of(info) for info in _core.all_rules())


def rule_of(info: _core.RuleInfo) -> Rule:
    """A rule from its declaration in the core."""
    return Rule(info.name, info.formula, info.source, tuple(number.name for number in info.numbers))


@cache
def expressions() -> Mapping[str, str]:
    """Computed formulas of rules, by rule name: "ssthresh = max(basis / 2, floor)".

    The result is cwnd in packets, a rate in the unit of the rule's rates, or ssthresh in packets. The inputs are the
    numbers of the rule (named without their units), the window `before`, and `packet_bits`, the size of a packet on the
    wire in bits.
    """
    return {info.name: info.computed for info in _core.all_rules() if info.computed}


@cache
def meanings() -> Mapping[str, str]:
    """Short meanings of the numbers of rules, by their names without units: "acked", "is_capped"."""
    numbers = [number for info in _core.all_rules() for number in info.numbers]
    return {_number(number.name, 0.0).name: number.meaning for number in numbers}


def claim_meaning(meaning: str) -> str:
    """The meaning of a number that is displayed as yes or no: "yes where it decided" for "1 where it decided"."""
    return f"yes {meaning.removeprefix('1 ')}" if meaning.startswith("1 ") else meaning


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a decision used.

    Attributes:
        name: name without the unit: "acked".
        unit: symbol of the unit; empty for a ratio or a count.
        value: the value; NaN if undefined at the decision.
        subflows: for a set of subflows, their numbers from 1; otherwise None.
    """

    name: str
    unit: str
    value: float
    subflows: tuple[int, ...] | None = None

    @property
    def is_claim(self) -> bool:
        """True if the number is 1 for yes and 0 for no."""
        return self.name.rpartition(".")[2].startswith(_CLAIM)

    @property
    def text(self) -> str:
        """The number as displayed text: "acked = 2 pkt", "M = {1, 3}", "capped: yes"."""
        if self.subflows is not None:
            return f"{self.name} = {_set_text(self.subflows)}"
        if self.name.startswith(_CLAIM):
            return f"{self.name.removeprefix(_CLAIM)}: {'yes' if self.value else 'no'}"
        has_unit = self.unit and math.isfinite(self.value)
        return f"{self.name} = {_value_text(self.value)}{' ' + self.unit if has_unit else ''}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with all names resolved.

    Attributes:
        time_s: simulated time of the decision, s.
        owner: "download.1/2" (a subflow's window) or "download.1" (a connection's scheduler).
        scope: whether the owner is a subflow or a flow.
        cause: one of `CAUSES`.
        rule: the rule behind the decision.
        numbers: numbers used by the decision, in the rule's order.
        cwnd_pkts: for subflows, congestion window before and after the decision, packets.
        rate_bps: for subflows, pacing rate before and after the decision, bit/s on the wire; 0: unpaced.
        data_seq: for schedulers, sequence number of the packet in the connection's data.
        chosen: the subflow chosen for the packet, from 1; None if the packet waits or this is a controller's decision.
        available: for schedulers, the subflows with room for the packet, from 1.
        usable: for schedulers, the subflows that were established and not presumed dead, from 1.
        detection: for the cause "loss", one of `DETECTIONS`; empty if unknown or for other causes.
        steps: for a script, the values it read and the lines it executed, in order.
        script: the script that made the decision; None for built-in algorithms.
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
        """The cause as displayed text: "an acknowledgement", "third duplicate ACK"."""
        if self.scope == "flow" and self.chosen is None:
            return "the scheduler chose no subflow"
        return DETECTIONS.get(self.detection) or _CAUSE_TEXTS[self.cause]

    def value(self, name: str) -> float | None:
        """A number by its name without unit; None if the rule has no such number."""
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
        """The executed lines of the script, with their line numbers."""
        return () if self.script is None else executed_lines(self.steps, self.script.parameters(self.rule.name))

    @property
    def text(self) -> str:
        """The whole decision as one displayed sentence."""
        numbers = ", ".join(number.text for number in self.numbers)
        source = f" ({self.rule.source})" if self.rule.source else ""
        return (
            f"{self.owner} at {self.time_s:.6f} s, {self.cause_text}: {self.effect}, "
            f"by {self.rule.name}: {self.rule.formula}{source}{'; ' + numbers if numbers else ''}"
        )


@dataclass(frozen=True)
class Steps:
    """Execution records of scripts, one sequence of steps per decision.

    Attributes:
        begin: int64 [n + 1], position of the first step of each decision.
        note: uint32 [m], number of the step's note in its program.
        value: float64 [m], value of the step.
        programs: programs of the scripts, by the positions of their rules in `Decisions.rules`.
    """

    begin: Ints
    note: NDArray[np.uint32]
    value: NDArray[np.float64]
    programs: Mapping[int, Program]

    def of(self, row: int, rule: int) -> tuple[Step, ...]:
        """The steps of a decision; empty if its rule does not belong to a script."""
        program = self.programs.get(rule)
        if program is None:
            return ()
        span = slice(int(self.begin[row]), int(self.begin[row + 1]))
        return tuple(
            program.step(int(note), float(value)) for note, value in zip(self.note[span], self.value[span], strict=True)
        )

    @classmethod
    def joined(cls, batches: Sequence[Decisions]) -> Steps | None:
        """Concatenates the steps of batches; None if no script made a decision in any of them."""
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
    """Decisions in order of time, one array per quantity; all arrays have the same length n.

    The decisions of a subflow come from its controller and sender and set its window and rate; those of a flow come
    from its scheduler. Only flows with several subflows record scheduler decisions.

    Attributes:
        owners: names of all subflows ("download.1/2"), then of all flows ("download.1").
        scopes: scope of each owner.
        rules: rules to which the column `rule` refers by position.
        time_ns: int64 [n], simulated time in ns.
        owner: uint32 [n], position in `owners`.
        cause: uint8 [n], position in `CAUSES`.
        rule: uint16 [n], position in `rules`.
        cwnd_before_pkts: float64 [n], congestion window, packets; NaN at the start of a subflow and for flows.
        cwnd_after_pkts: float64 [n], congestion window after the decision, packets; NaN for flows.
        rate_before_bps: float64 [n], pacing rate before the decision, on the wire in bit/s; 0: unpaced.
        rate_after_bps: float64 [n], pacing rate after the decision, on the wire in bit/s; 0: unpaced.
        numbers: float64 [n, 8], in the order of the rule's `numbers`; NaN beyond them and where undefined.
        chosen: uint8 [n], for flows: the chosen subflow, from 0, or `NOBODY`.
        available: uint32 [n], for flows: a bit per subflow with room for the packet; bit 0 is the first subflow.
        usable: uint32 [n], for flows: a bit per subflow that was established and not presumed dead.
        data_seq: uint32 [n], for flows: sequence number of the packet in the connection's data.
        steps: execution records of scripts; None if no script made a decision or the records are lost.
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
        """The rows of one owner in order of time, int64; computed once, then cached.

        Raises:
            KeyError: if the owner is unknown.
        """
        if owner not in self._rows:
            if owner not in self.owners:
                raise KeyError(owner)
            self._rows[owner] = np.flatnonzero(self.owner == self.owners.index(owner))
        return self._rows[owner]

    def at(self, owner: str, time_s: float) -> int | None:
        """The row of the owner's last decision at or before a time; None before its first.

        Raises:
            KeyError: if the owner is unknown.
        """
        rows = self.rows(owner)
        position = rows_until(self.time_ns, rows, time_s) - 1
        return int(rows[position]) if position >= 0 else None

    def between(self, owner: str, from_s: float, until_s: float) -> Ints:
        """The rows of the owner's decisions from `from_s` to `until_s`, both included, in order of time.

        Raises:
            KeyError: if the owner is unknown.
        """
        rows = self.rows(owner)
        return rows[rows_until(self.time_ns, rows, from_s, "left") : rows_until(self.time_ns, rows, until_s)]

    def explain(self, row: int) -> Explanation:
        """One decision with all names resolved.

        Raises:
            IndexError: if the row is out of range.
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
        """The names of the array attributes, without the steps of scripts."""
        return tuple(each.name for each in fields(cls) if each.init)[3:-1]

    @classmethod
    def joined(cls, batches: Sequence[Decisions]) -> Decisions:
        """Concatenates successive batches of one simulation.

        Raises:
            ValueError: if the sequence is empty, the batches differ in owners, or the rules of a batch are not the
                first rules of the batch with the most rules.
        """
        if not batches:
            raise ValueError("no batches to be joined")
        first = batches[0]
        # A change of controller during the run appends the rules of the new controller to the existing rules.
        longest = max((each.rules for each in batches), key=len)
        if any(each.owners != first.owners or each.rules != longest[: len(each.rules)] for each in batches):
            raise ValueError("batches of different simulations cannot be joined")
        arrays = {name: np.concatenate([getattr(each, name) for each in batches]) for name in cls.columns()}
        return cls(first.owners, first.scopes, longest, **arrays, steps=Steps.joined(batches))


def rows_until(time_ns: Ints, rows: Ints, time_s: float, side: Literal["left", "right"] = "right") -> int:
    """Number of rows of one owner before a time or, with the side "right", up to and including it.

    Args:
        time_ns: int64 [n], times of the rows of all owners, ascending.
        rows: int64 [m], rows of the owner, ascending.
        time_s: the time, s.
        side: as for `numpy.searchsorted`.
    """
    wanted_ns = round(min(max(time_s * 1e9, -(2.0**62)), 2.0**62))
    return int(np.searchsorted(rows, np.searchsorted(time_ns, wanted_ns, side)))


def detected(explanations: Sequence[Explanation], loss_detection: str) -> tuple[Explanation, ...]:
    """The decisions of one owner, with `detection` set for each loss.

    A run detects all losses by one mechanism, the option `loss_detection` of its scenario. The decisions also show
    whether a recovery began or continued, and whether a probe had repaired the loss.

    Args:
        explanations: decisions in order of time, with all decisions of each instant.
        loss_detection: "dupack" or "rack".
    """
    found = []
    for position, each in enumerate(explanations):
        detection = ""
        if each.cause == "loss":
            # The decision of the controller precedes the sender's decision on the probe's repair.
            instant = [later for later in explanations[position : position + 2] if later.time_s == each.time_s]
            if any(later.rule.name == "probe_repaired" for later in instant):
                detection = "tail_loss_probe"
            elif each.value("prr_out"):
                detection = "recovery"  # packets were sent since the recovery began, so it began earlier
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
    """The decisions of a core table, with the run's scripts and their rules; the arrays share the table's memory."""
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
    """The numbers, from 1, of the subflows whose bits are set."""
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
