"""Rules with their numbers filled in: what the formula gives, beside what was recorded.

The formulas that rules carry are written for people, conditions and all. What of them can be computed stands beside
them, as expressions over the recorded numbers; a rule without one depends on more than a decision records (a count that
was carried over, a choice among candidates).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from subflow_app.foundation.expressions import Evaluated, Expression, Function, Missing, Value
from subflow_sim.decisions import Explanation, expressions

# Bytes of headers on the wire besides the payload: 20 of IP, 32 of TCP with timestamps.
_HEADER_BYTES = 52
_TOLERANCE = 1e-9
# What rules of the sender compute that carry out a decision of the controller, whose ssthresh they do not record.
_CARRIED_OUT = "cwnd = ssthresh"

_SIGNS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", 1),
    ast.Sub: ("−", 1),
    ast.Mult: ("·", 2),
    ast.Div: ("/", 2),
    ast.Pow: ("^", 3),
}
RATE_UNITS: dict[str, float] = {"bit/s": 1.0, "Mbit/s": 1e6}
"""Rates of rules have a unit of their own: bit/s per unit; of pkt/s it is the size of a packet."""


@dataclass(frozen=True, slots=True)
class WorkedRule:
    """A rule, computed.

    Attributes:
        result: what comes out of it: "cwnd", "rate" or "ssthresh".
        filled: the expression with the numbers: "36.45 + 2 · min(1.095 / 214.5, 1 / 36.45)".
        value: what it gives, packets or bit/s.
        recorded: what the run had after the decision, likewise.
    """

    result: str
    filled: str
    value: float
    recorded: float

    @property
    def is_same(self) -> bool:
        """Whether the formula gives what the run had, but for rounding in the last digits."""
        return math.isclose(self.value, self.recorded, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def packet_bits(mss_bytes: int) -> float:
    """Size of a packet on the wire, bit."""
    return 8.0 * (mss_bytes + _HEADER_BYTES)


def formulas() -> dict[str, tuple[str, Expression]]:
    """By rule, the result and the expression that gives it; rules that cannot be computed are left out."""
    parts = {name: text.partition(" = ") for name, text in expressions().items()}
    return {name: (result, _formula(expression)) for name, (result, _, expression) in parts.items()}


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
        candidates = list(reversed(earlier)) if _computed(told) == _CARRIED_OUT else []
    return next((each for each in candidates if _decides_ssthresh(each)), None)


def worked(told: Explanation, mss_bytes: int, reduction: WorkedRule | None = None) -> WorkedRule | None:
    """The rule of a decision with its numbers filled in; None: it depends on more than what was recorded.

    Args:
        told: the decision.
        mss_bytes: payload of a packet, for what is counted in packets and shown in bits.
        reduction: how ssthresh came about, for a decision that takes the window there.
    """
    result, _, expression = _computed(told).partition(" = ")
    if reduction is not None and _computed(told) == _CARRIED_OUT:
        return WorkedRule(result, f"ssthresh = {reduction.filled}", reduction.value, told.cwnd_pkts[1])
    if not expression:
        return None
    bits = packet_bits(mss_bytes)
    values = {number.name: number.value for number in told.numbers}
    values |= {"before": told.cwnd_pkts[0], "packet_bits": bits}

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
        units = {number.unit for number in told.numbers} & {"pkt/s", *RATE_UNITS}
        if len(units) != 1:
            return None
        value *= (RATE_UNITS | {"pkt/s": bits})[units.pop()]
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


def _decides_ssthresh(told: Explanation) -> bool:
    return _computed(told).startswith("ssthresh = ") or any(
        step.kind == "set" and step.name == "w.ssthresh" for step in told.steps
    )


def _computed(told: Explanation) -> str:
    return expressions().get(told.rule.name, "")


class _Formula(Expression):
    """A rule's expression, which is shown with its numbers in place of their names."""

    is_formula = True

    def shown(self, node: ast.expr, told: Sequence[Evaluated], value: Value, unit: str) -> str:
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
