"""Claims about measured numbers, as recipes of experiments and labs write them, in the language of `core.expressions`.

goodput('DRL-CC', '8MB') / goodput('LIA', '8MB') in 3.51 .. 4.75
rtt('wVegas') < 20 ms and not rises(loss('LIA'))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from subflow_app.core.expressions import COMPARISONS, Call, Evaluated, Expression, Missing, Resolver


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a claim.

    Attributes:
        holds: None: it could not be told, `reason` says why.
        is_band: whether it says that numbers lie in bands, and nothing else.
        left: the number before the first comparison as text; empty for what is no comparison.
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

    def check(self, told: Evaluated) -> None:
        """Raise ClaimError unless it holds or fails."""
        if told.kind != "truth":
            allowed = "a comparison, or a band: x in 1 .. 2"
            raise self.error(1, "this says nothing that could hold or fail", allowed)


def _is_band(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.And) and all(map(_is_band, node.values))
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In)
