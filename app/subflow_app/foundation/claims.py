"""Claims about measured numbers, as used by recipes, experiments and labs.

Claims use the language of `foundation.expressions`:

goodput('DRL-CC', '8MB') / goodput('LIA', '8MB') in 3.51 .. 4.75
rtt('wVegas') < 20 ms and not rises(loss('LIA'))
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from subflow_app.foundation.expressions import COMPARISONS, Call, Evaluated, Expression, Missing, Resolver, number_pairs

LARGEST_MARGIN = 5.0
"""Largest absolute value of a margin. Margins are natural logarithms of ratios, so 5 means a factor of about 150."""

_SLACK = 1e-9  # largest logarithm of the ratio of two numbers that count as equal in a margin


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of evaluating a claim.

    Attributes:
        holds: whether the claim holds; None if it could not be evaluated.
        is_band: whether the claim only places numbers in bands.
        left: the number before the first comparison as text; empty if the claim is not a comparison.
        right: the text after the first comparison operator, with values in place of function calls: "3.51 .. 4.75",
            "0.91 Mbit/s > 0.85 Mbit/s".
        told: the whole claim with values in place of function calls. A call that is true or false is kept, with the
            values of its arguments.
        reason: why the claim could not be evaluated; otherwise empty.
    """

    holds: bool | None
    is_band: bool
    left: str
    right: str
    told: str
    reason: str = ""


class Claim(Expression):
    """An expression that is true or false."""

    @property
    def is_band(self) -> bool:
        """True if the claim only places numbers in bands."""
        return _is_band(self.root)

    def compared(self) -> Iterator[tuple[Call, Call]]:
        """Pairs of calls of the same function, one on each side of a comparison; bands are skipped."""
        for node in ast.walk(self.root):
            if isinstance(node, ast.Compare) and not _is_band(node):
                for left, right in pairwise((node.left, *node.comparators)):
                    calls = ((one, other) for one in self.calls(left) for other in self.calls(right))
                    yield from ((one, other) for one, other in calls if one.name == other.name)

    def evaluate(self, resolver: Resolver) -> Outcome:
        """Evaluate the claim.

        Args:
            resolver: returns the value of a function call, or `Missing` for an unknown value.
        """
        root = self.tell(self.root, resolver)
        left = right = ""
        if isinstance(self.root, ast.Compare):
            left, _, right = root.text.partition(f" {COMPARISONS[type(self.root.ops[0])][0]} ")
        if isinstance(root.value, Missing):
            return Outcome(None, self.is_band, left, right, root.text, root.value.reason)
        return Outcome(bool(root.value), self.is_band, left, right, root.text)

    def margin(self, resolver: Resolver) -> float | Missing:
        """The margin by which the claim holds; negative if it fails, `Missing` if a needed value is unknown.

        The margin of a comparison is the logarithm of the ratio of its sides: -0.69 means half of the required value. A
        band uses the ratio to its nearer end, `and` the smallest margin, `or` the largest. A call that is true or
        false, a comparison of strings, or a comparison with a number that is not positive has the margin plus or minus
        `LARGEST_MARGIN`.

        Args:
            resolver: returns the value of a function call, or `Missing` for an unknown value.
        """
        return self._margin(self.root, resolver)

    def _margin(self, node: ast.expr, resolver: Resolver) -> float | Missing:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                margin = self._margin(inner, resolver)
                return margin if isinstance(margin, Missing) else -margin
            case ast.BoolOp(op=op, values=nodes):
                margins = [self._margin(each, resolver) for each in nodes]
                missing = next((each for each in margins if isinstance(each, Missing)), None)
                known = [each for each in margins if not isinstance(each, Missing)]
                if missing is not None:
                    # If an operand is unknown, the result is known only for an `or` with another operand that holds.
                    return max(known) if isinstance(op, ast.Or) and any(each >= 0 for each in known) else missing
                return min(known) if isinstance(op, ast.And) else max(known)
            case ast.Compare(left=left, ops=ops, comparators=others):
                parts = [self.tell(each, resolver) for each in (left, *others)]
                is_band = isinstance(ops[0], ast.In)
                operands = [(parts[0], parts[1]), (parts[0], parts[2])] if is_band else list(pairwise(parts))
                margins = [_compared_margin(op, *pair) for op, pair in zip(ops, operands, strict=True)]
                return next((each for each in margins if isinstance(each, Missing)), None) or min(margins)  # type: ignore[type-var]
        value = self.tell(node, resolver).value
        return value if isinstance(value, Missing) else LARGEST_MARGIN if value else -LARGEST_MARGIN

    def check(self, parts: Evaluated) -> None:
        """Raise ClaimError unless the expression is true or false."""
        if parts.kind != "truth":
            allowed = "a comparison, or a band: x in 1 .. 2"
            raise self.error(1, "this states nothing that could be true or false", allowed)


def _is_band(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.And) and all(map(_is_band, node.values))
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In)


def _compared_margin(op: ast.cmpop, left: Evaluated, right: Evaluated) -> float | Missing:
    for each in (left, right):
        if isinstance(each.value, Missing):
            return each.value
    if isinstance(left.value, str):
        return LARGEST_MARGIN if left.value == right.value else -LARGEST_MARGIN
    pairs = number_pairs(left.value, right.value)
    if isinstance(pairs, Missing):
        return pairs
    if isinstance(op, ast.Eq):
        return min(_SLACK - abs(_log_ratio(one, other)) for one, other in pairs)
    if isinstance(op, ast.Lt | ast.LtE | ast.Is):
        pairs = [(other, one) for one, other in pairs]
    return min(_log_ratio(one, other) for one, other in pairs)


def _log_ratio(above: float, below: float) -> float:
    """Natural logarithm of above / below, between -`LARGEST_MARGIN` and `LARGEST_MARGIN`.

    The result is 0 for equal numbers. Otherwise, if a number is not positive, the result is one of the two limits.
    """
    if above == below:
        return 0.0
    if above > 0 and below > 0:
        return min(max(math.log(above / below), -LARGEST_MARGIN), LARGEST_MARGIN)
    return math.copysign(LARGEST_MARGIN, above - below)
