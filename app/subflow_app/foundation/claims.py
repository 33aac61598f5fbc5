"""Claims about measured numbers, as recipes of experiments and labs write them.

They are written in the language of `foundation.expressions`:

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
"""Margins lie between this and its negative: about a factor of 150."""

_SLACK = 1e-9  # of an equality


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a claim.

    Attributes:
        holds: None: it could not be told, `reason` says why.
        is_band: whether it says that numbers lie in bands, and nothing else.
        left: the number before the first comparison as text; empty for what is not a comparison.
        right: what it was compared with, numbers as text: "3.51 .. 4.75", "0.91 Mbit/s > 0.85 Mbit/s".
        told: the whole claim with numbers in place of what was called.
        reason: why it is not known.
    """

    holds: bool | None
    is_band: bool
    left: str
    right: str
    told: str
    reason: str = ""


class Claim(Expression):
    """What holds or fails."""

    @property
    def is_band(self) -> bool:
        """Whether it says that numbers lie in bands, and nothing else."""
        return _is_band(self.root)

    def compared(self) -> Iterator[tuple[Call, Call]]:
        """Pairs of calls of one function that stand on both sides of a comparison."""
        for node in ast.walk(self.root):
            if isinstance(node, ast.Compare) and not _is_band(node):
                for left, right in pairwise((node.left, *node.comparators)):
                    calls = ((one, other) for one in self.calls(left) for other in self.calls(right))
                    yield from ((one, other) for one, other in calls if one.name == other.name)

    def evaluate(self, resolver: Resolver) -> Outcome:
        """What comes of it.

        Args:
            resolver: gives the values of the functions; `Missing` for what is not known.
        """
        told = self.tell(self.root, resolver)
        left = right = ""
        if isinstance(self.root, ast.Compare):
            left, _, right = told.text.partition(f" {COMPARISONS[type(self.root.ops[0])][0]} ")
        if isinstance(told.value, Missing):
            return Outcome(None, self.is_band, left, right, told.text, told.value.reason)
        return Outcome(bool(told.value), self.is_band, left, right, told.text)

    def margin(self, resolver: Resolver) -> float | Missing:
        """By how much it holds; below 0: by how much it fails.

        Of a comparison, the logarithm of the ratio of its sides: -0.69 is half of what it takes. Of a band, that to
        its nearer end; of `and` the least, of `or` the greatest; of a call, and of a comparison with what is not
        positive, plus or minus `LARGEST_MARGIN`.

        Args:
            resolver: gives the values of the functions; `Missing` for what is not known.
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
                    # What is known settles it, or nothing does.
                    return max(known) if isinstance(op, ast.Or) and any(each >= 0 for each in known) else missing
                return min(known) if isinstance(op, ast.And) else max(known)
            case ast.Compare(left=left, ops=ops, comparators=others):
                told = [self.tell(each, resolver) for each in (left, *others)]
                is_band = isinstance(ops[0], ast.In)
                operands = [(told[0], told[1]), (told[0], told[2])] if is_band else list(pairwise(told))
                margins = [_compared_margin(op, *pair) for op, pair in zip(ops, operands, strict=True)]
                return next((each for each in margins if isinstance(each, Missing)), None) or min(margins)  # type: ignore[type-var]
        value = self.tell(node, resolver).value
        return value if isinstance(value, Missing) else LARGEST_MARGIN if value else -LARGEST_MARGIN

    def check(self, told: Evaluated) -> None:
        """Raise ClaimError unless it holds or fails."""
        if told.kind != "truth":
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
    """Of two numbers, as a margin."""
    if above == below:
        return 0.0
    if above > 0 and below > 0:
        return min(max(math.log(above / below), -LARGEST_MARGIN), LARGEST_MARGIN)
    return math.copysign(LARGEST_MARGIN, above - below)
