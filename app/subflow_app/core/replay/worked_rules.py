"""Rules with their numbers filled in: what the formula gives, beside what was recorded.

The formulas that rules carry are written for people, conditions and all. Here stands what of them can be computed, as
expressions over the recorded numbers, under the names that people see; a rule that is not here depends on more than a
decision records (a count that was carried over, a choice among candidates).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from subflow_app.core.expressions import Expression, Function, Missing, Told, Value

if TYPE_CHECKING:
    from subflow_sim.decisions import Explanation

Result = Literal["cwnd", "rate", "ssthresh"]

# Bytes of headers on the wire besides the payload: 20 of IP, 32 of TCP with timestamps.
_HEADER_BYTES = 52
_TOLERANCE = 1e-9

# The window before is `before`, `packet_bits` is the size of a packet on the wire; every other name is a number of the
# rule without its unit. Windows are packets, rates what `_RATE_UNITS` says.
_EXPRESSIONS: Mapping[str, tuple[Result, str]] = {
    "initial_window": ("cwnd", "initial_cwnd"),
    "proportional_rate_reduction": ("cwnd", "pipe + send"),
    "retransmission_timeout": ("cwnd", "pipe + 1"),
    "unused_window": ("cwnd", "(before + used) / 2"),
    "penalised": ("cwnd", "max(cwnd / 2, 1)"),
    "slow_start": ("cwnd", "min(before + acked, max(before, ssthresh))"),
    "additive_increase": ("cwnd", "cwnd + acked / cwnd"),
    "halving": ("ssthresh", "max(basis / 2, floor)"),
    "hystart_plus_plus_slow_start": ("cwnd", "min(before + growth, max(before, ssthresh))"),
    "cubic_reno_friendly": ("cwnd", "max(cwnd, W_est)"),
    "cubic_concave": ("cwnd", "cwnd + acked * (target - cwnd) / cwnd"),
    "cubic_convex": ("cwnd", "cwnd + acked * (target - cwnd) / cwnd"),
    "cubic_decrease": ("ssthresh", "max(beta * cwnd, 2)"),
    "linux_cubic_decrease": ("ssthresh", "max(whole(beta * cwnd), 2)"),
    "vegas_slow_start_exit": ("cwnd", "max(min(cwnd, cwnd - diff + 1), 2)"),
    "vegas_round_trip": ("cwnd", "max(cwnd + 1 if diff < alpha else cwnd - 1 if diff > beta else cwnd, 2)"),
    "bbr_drain": ("rate", "pacing_gain * 0.99 * max_rate"),
    "bbr_probe_bw": ("rate", "pacing_gain * 0.99 * max_rate"),
    "bbr_probe_rtt": ("cwnd", "4"),
    "safety_cap": ("cwnd", "max(2.5 * rate * srtt, 4)"),
    "interval": ("rate", "rate"),
    "doubling": ("rate", "rate"),
    "end_of_doubling": ("rate", "rate"),
    "undone_step": ("rate", "rate"),
    "weighted_increase": ("cwnd", "cwnd + acked * a / cwnd"),
    "linked_increase": ("cwnd", "cwnd + acked * min(alpha / cwnd_total, 1 / cwnd)"),
    "opportunistic_linked_increase": ("cwnd", "max(cwnd + acked * (coupled + alpha / cwnd), 1)"),
    "balanced_increase": ("cwnd", "cwnd + acked * x_r / srtt / total_rate**2 * (1 + alpha) / 2 * (4 + alpha) / 5"),
    "balanced_decrease": ("ssthresh", "max(cwnd - cwnd / 2 * min(alpha, 1.5), 1)"),
    "wvegas_round_trip": ("cwnd", "max(cwnd + 1 if diff < alpha else cwnd - 1 if diff > alpha else cwnd, 2)"),
    "wvegas_drain": ("cwnd", "max(cwnd * base_rtt / (2 * rtt), 2)"),
    "initial_rate": ("rate", "rate"),
    "double": ("rate", "2 * tried"),
    "try": ("rate", "tried"),
    "wait": ("rate", "rate"),
    "emergency_brake": ("rate", "tried / 2"),
    "window_of_rate": ("cwnd", "max(4, 2 * rate * srtt / packet_bits)"),
    "agent_first_loss": ("cwnd", "cwnd / 2"),
    "agent_keeps_window": ("cwnd", "cwnd"),
    "agent_window_change": ("cwnd", "min(max(cwnd + action * max(cwnd / 2, 2), 1), 10 * reference_bdp)"),
    "agent_window_factor": ("cwnd", "min(max(cwnd * 2**(action_range * action), 2), 4 * reference_bdp)"),
    "libra_explore": ("cwnd", "x_prev * srtt"),
    "libra_try": ("rate", "rate"),
    "libra_await": ("rate", "x_prev"),
    "libra_exploit": ("rate", "x_prev"),
    "libra_rate_stays": ("rate", "rate"),
    "libra_inconclusive": ("rate", "x_cl"),
    "libra_choice": ("rate", "x_cl if choice == 0 else x_rl if choice == 1 else x_prev"),
    "agent_rate_cap": ("cwnd", "max(2.5 * rate * srtt, 4)"),
    "agent_silence": ("rate", "rate / 2"),
    "agent_keeps_rate": ("rate", "rate"),
}

# Rules of the sender that take the window to the ssthresh of the controller, of which they record nothing.
_TO_SSTHRESH = ("sack_recovery", "probe_repaired", "recovery_exit")

_SIGNS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", 1),
    ast.Sub: ("−", 1),
    ast.Mult: ("·", 2),
    ast.Div: ("/", 2),
    ast.Pow: ("^", 3),
}
# Rates come with a unit of their own; bit/s per unit, of pkt/s it is the size of a packet.
_RATE_UNITS = {"bit/s": 1.0, "Mbit/s": 1e6}


@dataclass(frozen=True, slots=True)
class WorkedRule:
    """A rule, computed.

    Attributes:
        result: what comes out of it.
        filled: the expression with the numbers: "36.45 + 2 · min(1.095 / 214.5, 1 / 36.45)".
        value: what it gives, packets or bit/s.
        recorded: what the run had after the decision, likewise.
    """

    result: Result
    filled: str
    value: float
    recorded: float

    @property
    def is_same(self) -> bool:
        """Whether the formula gives what the run had, but for rounding in the last digits."""
        return math.isclose(self.value, self.recorded, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def computable_rules() -> Mapping[str, str]:
    """The expressions by the names of their rules."""
    return {name: expression for name, (_result, expression) in _EXPRESSIONS.items()}


def reduction_behind(told: Explanation, earlier: Sequence[Explanation]) -> Explanation | None:
    """The controller's decision on ssthresh that a decision of the sender carries out; None: there is none.

    On a loss or timeout the controller says how low the window shall be, and the sender takes it there by rules of its
    own: at once, with what is delivered, or when the recovery ends.

    Args:
        told: the sender's decision.
        earlier: decisions of the same owner before it, in order of time.
    """
    if told.cause in ("loss", "rto"):
        # At the same instant: the acknowledgements of a recovery that goes on reduce nothing anew.
        candidates = [each for each in earlier[-1:] if each.time_s == told.time_s]
    else:
        candidates = list(reversed(earlier)) if told.rule.name in _TO_SSTHRESH else []
    return next((each for each in candidates if _EXPRESSIONS.get(each.rule.name, ("",))[0] == "ssthresh"), None)


def worked(told: Explanation, mss_bytes: int, reduction: WorkedRule | None = None) -> WorkedRule | None:
    """The rule of a decision with its numbers filled in; None: it depends on more than what was recorded.

    Args:
        told: the decision.
        mss_bytes: payload of a packet, for what is counted in packets and shown in bits.
        reduction: how ssthresh came about, for a decision that takes the window there.
    """
    if told.rule.name in _TO_SSTHRESH and reduction is not None:
        return WorkedRule("cwnd", f"ssthresh = {reduction.filled}", reduction.value, told.cwnd_pkts[1])
    entry = _EXPRESSIONS.get(told.rule.name)
    if entry is None:
        return None
    result, expression = entry
    packet_bits = 8.0 * (mss_bytes + _HEADER_BYTES)
    values = {number.name: number.value for number in told.numbers}
    values |= {"before": told.cwnd_pkts[0], "packet_bits": packet_bits}

    def resolve(name: str, arguments: tuple[Value, ...]) -> Value:
        if name == "whole":
            return float(math.floor(arguments[0])) if isinstance(arguments[0], float) else arguments[0]
        return values.get(name, Missing("another version's rule of that name has other numbers"))

    formula = _formula(expression)
    term = formula.tell(formula.root, resolve)
    value = term.value
    if not isinstance(value, float):
        return None
    recorded = told.cwnd_pkts[1]
    if result == "rate":
        units = {number.unit for number in told.numbers} & {"pkt/s", *_RATE_UNITS}
        if len(units) != 1:
            return None
        value *= (_RATE_UNITS | {"pkt/s": packet_bits})[units.pop()]
        recorded = told.rate_bps[1]
    elif result == "ssthresh":
        recorded = values.get("ssthresh", math.nan)
    return WorkedRule(result, term.text, value, recorded) if math.isfinite(value) else None


def all_worked(told: Explanation, earlier: Sequence[Explanation], mss_bytes: int) -> tuple[WorkedRule, ...]:
    """The rule of a decision after that of the reduction which it carries out, as far as they can be computed.

    Args:
        told: the decision.
        earlier: decisions of the same owner before it, in order of time.
        mss_bytes: payload of a packet.
    """
    reduced_by = reduction_behind(told, earlier)
    reduction = worked(reduced_by, mss_bytes) if reduced_by is not None else None
    own = worked(told, mss_bytes, reduction)
    is_in_own = own is not None and reduction is not None and reduction.filled in own.filled
    return tuple(each for each in (None if is_in_own else reduction, own) if each is not None)


class _Formula(Expression):
    """A rule's expression, which is shown with its numbers in place of their names."""

    is_formula = True

    def shown(self, node: ast.expr, told: Sequence[Told], value: Value, unit: str) -> str:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                sign, strength = _SIGNS[type(op)]
                first, second = (each.text for each in told)
                return f"{_in_brackets(left, first, strength)} {sign} {_in_brackets(right, second, strength + 1)}"
            case ast.Call():
                return f"{self.at(node).text}({', '.join(each.text for each in told)})"
        return f"{value:.6g}".replace("-", "−") if isinstance(value, float) else "?"


@cache
def _formula(expression: str) -> _Formula:
    return _Formula(expression, {"whole": Function(("number",))})


def _in_brackets(node: ast.expr, text: str, strength: int) -> str:
    own = _SIGNS[type(node.op)][1] if isinstance(node, ast.BinOp) else 0 if isinstance(node, ast.IfExp) else strength
    return f"({text})" if own < strength else text
