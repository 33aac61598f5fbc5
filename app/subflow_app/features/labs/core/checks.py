"""Checks of labs: whether one holds for what a student has done, and if not, why not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from subflow_app.features.labs.core.evidence import Evidence
from subflow_app.features.labs.core.functions import functions, resolver_of
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.expressions import Expression, Missing
from subflow_app.vocabulary.language import tr


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What came of a check.

    Attributes:
        holds: whether it does.
        why: for people, while it does not: what is missing, or the numbers that do not fit.
    """

    holds: bool
    why: str = ""


def check(text: str, evidence: Evidence) -> CheckResult:
    """Whether a check holds.

    Raises:
        ClaimError: if it cannot be read.
    """
    outcome = _claim(text).evaluate(resolver_of(evidence))
    if outcome.holds:
        return CheckResult(True)
    if outcome.holds is None:
        return CheckResult(False, outcome.reason)
    return CheckResult(False, tr("this does not hold: {claim}", claim=outcome.told))


def number(text: str, evidence: Evidence) -> float | Missing:
    """The number of an expression; of several the first.

    Raises:
        ClaimError: if it cannot be read.
    """
    found = _expression(text).value(resolver_of(evidence))
    if isinstance(found, tuple):
        return found[0] if found else Missing(tr("no numbers"))
    return found if isinstance(found, Missing) else float(found)


@cache
def _claim(text: str) -> Claim:
    return Claim(text, functions())


@cache
def _expression(text: str) -> Expression:
    return Expression(text, functions())
