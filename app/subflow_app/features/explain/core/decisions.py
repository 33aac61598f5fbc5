"""The decisions around a given time, with links to the sources of their rules and with numbers filled into the rules.

A recomputed rule shows the result of its formula next to the recorded result. The formulas of the rules are text for
human readers and may contain conditions. A computable rule also has an expression, which this module evaluates with
the recorded numbers. Other rules depend on more than a decision records, such as a carried-over count or a choice
among candidates.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from subflow_app.features.traces.core.traces import listed
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import Evaluated, Expression, Function, Missing, Value
from subflow_app.vocabulary.number_text import typeset
from subflow_sim.decisions import Decisions, Explanation, detected, expressions
from subflow_sim.transport_params import effective_transport

if TYPE_CHECKING:
    from subflow_sim.scenario_model import Choice, Event
    from subflow_sim.whole_scenario import Scenario


# Web addresses of papers and programs, by the first words of a source. Any other paper is shown without a link.
_ADDRESSES: Mapping[str, str] = {
    "Arun": "https://www.usenix.org/conference/nsdi18/presentation/arun",
    "Brakmo": "https://doi.org/10.1145/190314.190317",
    "Cardwell": "https://doi.org/10.1145/3012426.3022184",
    "Dong et al.": "https://www.usenix.org/conference/nsdi18/presentation/dong",
    "Ferlin": "https://doi.org/10.1109/IFIPNetworking.2016.7497206",
    "Gilad": "https://doi.org/10.1145/3386367.3432030",
    "Khalili": "https://doi.org/10.1145/2413176.2413178",
    "Lim": "https://doi.org/10.1145/3143361.3143376",
    "Raiciu": "https://www.usenix.org/conference/nsdi12/technical-sessions/presentation/raiciu",
    "Xu et al.": "https://doi.org/10.1109/JSAC.2019.2904358",
    "PCC-Uspace": "https://github.com/PCCproject/PCC-Uspace",
    "as in vivace": "https://github.com/PCCproject/PCC-Uspace",
    "multipath-tcp.org": "https://github.com/multipath-tcp/mptcp",
    "Linux MPTCP": "https://github.com/multipath-tcp/mptcp",
    "Linux mptcp_subflow": "https://github.com/torvalds/linux/blob/master/net/mptcp/protocol.c",
    "Linux __subflow": "https://github.com/torvalds/linux/blob/master/net/mptcp/protocol.c",
    "Linux sk_stream": "https://github.com/torvalds/linux/blob/master/include/net/sock.h",
    "Linux mptcp_": "https://github.com/multipath-tcp/mptcp",
    "Linux tcp_reno": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_cong.c",
    "Linux tcp_bbr": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_bbr.c",
    "Linux tcp_prague": "https://github.com/L4STeam/linux",
    "Linux tcp_cubic": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_cubic.c",
    "Linux tcp_vegas": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_vegas.c",
    "Linux tcp_end": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_input.c",
    "Linux tcp_enter": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_input.c",
    "Linux tcp_reinit": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_cong.c",
    "Linux tcp_cwnd": "https://github.com/torvalds/linux/blob/master/net/ipv4/tcp_output.c",
}
_RFC = re.compile(r"RFC (\d+)(?: sections? (\d+(?:\.\d+)*))?")
_DRAFT = re.compile(r"(draft-[a-z0-9-]+)(?: section (\d+(?:\.\d+)*))?")
# A source is a list of parts, separated by semicolons. A comma separates two parts only before an RFC.
_SEPARATOR = re.compile(r"; |, (?=RFC )")


@dataclass(frozen=True, slots=True)
class ToldDecisions:
    """Decisions of one subflow or flow around a given time, in chronological order.

    Attributes:
        before: decisions at or before the time; at least one.
        after: decisions after the time.
        is_resimulated: whether a replay computed these decisions, because the run kept no records of them.
        worked: the recomputable rules of each decision, in the order of `before` and `after`; empty if not requested.
    """

    before: tuple[Explanation, ...]
    after: tuple[Explanation, ...]
    is_resimulated: bool
    worked: tuple[tuple[WorkedRule, ...], ...] = ()

    def of_run(self, scenario: Scenario) -> ToldDecisions:
        """Return a copy in which decisions on losses name the loss detection that the scenario uses."""
        way = str(effective_transport(scenario.profile, scenario.transport)["loss_detection"])
        found = detected([*self.before, *self.after], way)
        count = len(self.before)
        return replace(self, before=found[:count], after=found[count:])

    @property
    def current(self) -> Explanation:
        """The last decision at or before the time."""
        return self.before[-1]


def recorded_decisions(
    decisions: Decisions, owner: str, at_s: float, before: int, after: int, *, may_be_fewer: bool = False
) -> ToldDecisions | None:
    """Select the decisions around a time from a run's records; None if too few decisions before it were recorded.

    Args:
        decisions: recorded decisions, at least those of the owner around the time.
        owner: a subflow or flow.
        at_s: the time, s.
        before: number of decisions at or before the time; fewer only at the beginning of the run.
        after: number of decisions after the time; fewer at the end of the run.
        may_be_fewer: whether to accept fewer decisions before the time, as long as at least one was recorded.
    """
    if owner not in decisions.owners:
        return None
    rows = decisions.rows(owner)
    current = decisions.at(owner, at_s)
    if current is None:
        return None
    position = int((rows <= current).sum())
    told = [decisions.explain(int(row)) for row in rows[max(0, position - before) : position + after]]
    count = min(position, before)
    # Only the first decision of the run proves that no earlier one is missing.
    if count < before and told[0].cause != "start" and not may_be_fewer:
        return None
    return ToldDecisions(tuple(told[:count]), tuple(told[count:]), is_resimulated=False)


def check_owner(subflows: Sequence[str], owner: str, title: str) -> None:
    """Raise InputError unless the owner makes decisions, as a subflow or as a flow with several subflows.

    Args:
        subflows: names of the subflows of the run ("download.1/2"), without constant-rate flows.
        owner: subflow or flow whose decisions are requested.
        title: name of the run in the message.
    """
    counts = Counter(name.rpartition("/")[0] for name in subflows)
    deciding = [*subflows, *(flow for flow, count in counts.items() if count > 1)]
    if owner in deciding:
        return
    raise InputError(f'{title} has no decisions of "{owner}"; allowed: {listed(deciding) or "no owner"}')


def deciding_algorithm(scenario: Scenario, changes: Sequence[Event], decision: Explanation) -> str:
    """The guide topic of the algorithm that made a decision: ``"controller/lia"`` or ``"scheduler/blest"``.

    For a script, the topic is ``"section/script"``; for ``uncoupled``, it names the controller of the individual
    subflows. If a change replaced the controller during the run, the time of the decision determines the algorithm.

    Args:
        scenario: scenario of the run.
        changes: changes made during the run.
        decision: the decision.
    """
    choice = [choice for at_s, choice in _choices(scenario, changes, decision.owner) if at_s <= decision.time_s][-1]
    if choice.script is not None:
        return "section/script"
    decides = str(choice.options.get("base", "newreno")) if choice.name == "uncoupled" else choice.name
    return f"{'controller' if decision.scope == 'subflow' else 'scheduler'}/{decides}"


def is_scripted(scenario: Scenario, changes: Sequence[Event], owner: str) -> bool:
    """True if a script makes the decisions of a subflow or flow at any time of the run.

    Such decisions must be replayed, because records do not contain the executed lines.

    Args:
        scenario: scenario of the run.
        changes: changes made during the run.
        owner: subflow or flow whose decisions are requested.
    """
    return any(choice.script is not None for _at_s, choice in _choices(scenario, changes, owner))


def _choices(scenario: Scenario, changes: Sequence[Event], owner: str) -> list[tuple[float, Choice]]:
    """The scheduler of a flow, or the successive controllers of a subflow, each with its start time in seconds."""
    copy, _, subflow = owner.partition("/")
    name = copy if copy in scenario.flows else copy.rpartition(".")[0]
    flow = scenario.flows[name]
    if not subflow:
        return [(0.0, flow.scheduler)]
    changed = [
        (event.at_s, event.controller)
        for event in sorted((*scenario.events, *changes), key=lambda event: event.at_s)
        if event.controller is not None and event.flow in (name, copy)
    ]
    return [(0.0, flow.controller), *changed]


@dataclass(frozen=True, slots=True)
class RuleSource:
    """A part of the source of a rule, such as one RFC.

    Attributes:
        text: name of the part, e.g. "RFC 6356 section 3".
        url: web address of the source; empty if unknown.
    """

    text: str
    url: str


def rule_sources(source: str) -> tuple[RuleSource, ...]:
    """The parts of the source of a rule, in order; empty for a rule without a source."""
    return tuple(RuleSource(part, _address(part)) for part in _SEPARATOR.split(source) if part)


def _address(part: str) -> str:
    if rfc := _RFC.match(part):
        section = f"#section-{rfc[2]}" if rfc[2] else ""
        return f"https://www.rfc-editor.org/rfc/rfc{rfc[1]}{section}"
    if draft := _DRAFT.match(part):
        section = f"#section-{draft[2]}" if draft[2] else ""
        return f"https://datatracker.ietf.org/doc/html/{draft[1]}{section}"
    return next((url for start, url in _ADDRESSES.items() if part.startswith(start)), "")


# Header bytes of a packet on the wire: 20 for IP, 32 for TCP with timestamps.
_HEADER_BYTES = 52
_TOLERANCE = 1e-9
# The expression of those sender rules that carry out a controller's decision. They do not record the controller's
# ssthresh.
_CARRIED_OUT = "cwnd = ssthresh"

_SIGNS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", 1),
    ast.Sub: ("−", 1),
    ast.Mult: ("·", 2),
    ast.Div: ("/", 2),
    ast.Pow: ("^", 3),
}
RATE_UNITS: dict[str, float] = {"bit/s": 1.0, "Mbit/s": 1e6}
"""Factors that convert the rates in rules to bit/s. For rates in pkt/s, the factor is the packet size in bits."""


@dataclass(frozen=True, slots=True)
class WorkedRule:
    """A rule with the numbers of a decision filled in, and its result.

    Attributes:
        result: name of the result: "cwnd", "rate" or "ssthresh".
        filled: the expression with numbers in place of names, e.g. "36.45 + 2 · min(1.095 / 214.5, 1 / 36.45)".
        value: result of the expression, packets or bit/s.
        recorded: value in the run after the decision, in the same unit.
    """

    result: str
    filled: str
    value: float
    recorded: float

    @property
    def is_same(self) -> bool:
        """True if the computed value equals the recorded value, except for rounding in the last digits."""
        return math.isclose(self.value, self.recorded, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def packet_bits(mss_bytes: int) -> float:
    """Size of a full packet on the wire in bits."""
    return 8.0 * (mss_bytes + _HEADER_BYTES)


def formulas() -> dict[str, tuple[str, Expression]]:
    """Computable rules by name, each with the name of its result and its expression."""
    parts = {name: text.partition(" = ") for name, text in expressions().items()}
    return {name: (result, _formula(expression)) for name, (result, _, expression) in parts.items()}


def reduction_behind(decision: Explanation, earlier: Sequence[Explanation]) -> Explanation | None:
    """Find the controller's decision on ssthresh that the sender carries out; None if `earlier` does not contain it.

    After a loss or timeout, the controller sets a target for the window. The sender reaches the target by rules of its
    own: immediately, gradually as packets are delivered, or at the end of the recovery.

    Args:
        decision: the sender's decision.
        earlier: decisions of the same owner before it, in order of time.
    """
    if decision.cause in ("loss", "rto"):
        # The controller sets ssthresh at the same instant. Later decisions with this cause, in the same recovery, do
        # not reduce it again.
        candidates = [each for each in earlier[-1:] if each.time_s == decision.time_s]
    else:
        candidates = list(reversed(earlier)) if _computed(decision) == _CARRIED_OUT else []
    return next((each for each in candidates if _decides_ssthresh(each)), None)


def worked(decision: Explanation, mss_bytes: int, reduction: WorkedRule | None = None) -> WorkedRule | None:
    """Fill the numbers of a decision into its rule and compute the result; None if it cannot be computed.

    Args:
        decision: the decision.
        mss_bytes: payload of a packet in bytes, to convert packets into bits.
        reduction: computed rule for ssthresh, used only if the decision sets the window to ssthresh; None if unknown.
    """
    result, _, expression = _computed(decision).partition(" = ")
    if reduction is not None and _computed(decision) == _CARRIED_OUT:
        return WorkedRule(result, f"ssthresh = {reduction.filled}", reduction.value, decision.cwnd_pkts[1])
    if not expression:
        return None
    bits = packet_bits(mss_bytes)
    values = {number.name: number.value for number in decision.numbers}
    values |= {"before": decision.cwnd_pkts[0], "packet_bits": bits}

    def resolve(name: str, arguments: tuple[Value, ...]) -> Value:
        if name == "whole":
            return float(math.floor(arguments[0])) if isinstance(arguments[0], float) else arguments[0]
        return values.get(name, Missing("another version's rule of that name has other numbers"))

    formula = _formula(expression)
    term = formula.tell(formula.root, resolve)
    value = term.value
    if not isinstance(value, float):
        return None
    recorded = decision.cwnd_pkts[1]
    if result == "rate":
        units = {number.unit for number in decision.numbers} & {"pkt/s", *RATE_UNITS}
        if len(units) != 1:
            return None
        value *= (RATE_UNITS | {"pkt/s": bits})[units.pop()]
        recorded = decision.rate_bps[1]
    elif result == "ssthresh":
        recorded = values.get("ssthresh", math.nan)
    return WorkedRule(result, term.text, value, recorded) if math.isfinite(value) else None


def all_worked(decision: Explanation, earlier: Sequence[Explanation], mss_bytes: int) -> tuple[WorkedRule, ...]:
    """The computable rules behind a decision: the controller's reduction of ssthresh, then the decision's own rule.

    The reduction is omitted if the decision's own rule includes it.

    Args:
        decision: the decision.
        earlier: decisions of the same owner before it, in order of time.
        mss_bytes: payload of a packet in bytes.
    """
    reduced_by = reduction_behind(decision, earlier)
    reduction = worked(reduced_by, mss_bytes) if reduced_by is not None else None
    own = worked(decision, mss_bytes, reduction)
    is_in_own = own is not None and reduction is not None and reduction.filled in own.filled
    return tuple(each for each in (None if is_in_own else reduction, own) if each is not None)


def _decides_ssthresh(decision: Explanation) -> bool:
    return _computed(decision).startswith("ssthresh = ") or any(
        step.kind == "set" and step.name == "w.ssthresh" for step in decision.steps
    )


def _computed(decision: Explanation) -> str:
    return expressions().get(decision.rule.name, "")


class _Formula(Expression):
    """A rule's expression that is shown with numbers in place of names."""

    is_formula = True

    def shown(self, node: ast.expr, parts: Sequence[Evaluated], value: Value, unit: str) -> str:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                sign, strength = _SIGNS[type(op)]
                first, second = (each.text for each in parts)
                return f"{_in_brackets(left, first, strength)} {sign} {_in_brackets(right, second, strength + 1)}"
            case ast.Call():
                return f"{self.at(node).text}({', '.join(each.text for each in parts)})"
        return typeset(f"{value:.6g}") if isinstance(value, float) else "?"


@cache
def _formula(expression: str) -> _Formula:
    return _Formula(expression, {"whole": Function(("number",))})


def _in_brackets(node: ast.expr, text: str, strength: int) -> str:
    own = _SIGNS[type(node.op)][1] if isinstance(node, ast.BinOp) else 0 if isinstance(node, ast.IfExp) else strength
    return f"({text})" if own < strength else text
