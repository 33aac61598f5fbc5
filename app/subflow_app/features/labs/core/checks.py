"""Evaluates the checks of a lab on the work of a student, and computes measured points for explorables.

The result of a failed check includes the reason. An explorable is a formula with draggable numbers and a plot, to which
the runs of the lab add measured points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from subflow_app.features.labs.core.evidence import Evidence
from subflow_app.features.labs.core.explorables import Explorable, Point, load_explorable
from subflow_app.features.labs.core.functions import functions, resolver_of
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.expressions import Expression, Missing
from subflow_app.vocabulary.language import tr


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Outcome of a check.

    Attributes:
        holds: whether the check holds.
        why: reason for a failure: the missing run or value, or the numbers that do not fit; empty if the check holds.
    """

    holds: bool
    why: str = ""


def check(text: str, evidence: Evidence) -> CheckResult:
    """Evaluate a check.

    Raises:
        ClaimError: if the check cannot be parsed.
    """
    outcome = _claim(text).evaluate(resolver_of(evidence))
    if outcome.holds:
        return CheckResult(True)
    if outcome.holds is None:
        return CheckResult(False, outcome.reason)
    return CheckResult(False, tr("this does not hold: {claim}", claim=outcome.told))


def number(text: str, evidence: Evidence) -> float | Missing:
    """Value of an expression, or its first value if it yields several; `Missing` if it is unknown.

    Raises:
        ClaimError: if the expression cannot be parsed.
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


_MOST = 100  # maximum number of runs that yield points, counted back from the latest


@dataclass(frozen=True, slots=True)
class Exploration:
    """An explorable in a step.

    Attributes:
        name: name of the explorable.
        measured: pairs (name, expression) for each input and the drawn equation; expressions refer to `last()`.
    """

    name: str
    measured: tuple[tuple[str, str], ...] = ()

    @property
    def explorable(self) -> Explorable:
        """The explorable, loaded from its file."""
        return load_explorable(self.name)

    def points(self, evidence: Evidence) -> list[Point]:
        """Points measured by the most recent runs, in the order of the runs; runs that lack a value are skipped."""
        found, result = [], self.explorable.result.name
        for place, run in list(enumerate(evidence.runs))[-_MOST:]:
            # Make this run the last one for the expressions.
            alone = replace(evidence, runs=evidence.runs[: place + 1], since=run.id - 1)
            values = {name: number(text, alone) for name, text in self.measured}
            known = {name: value for name, value in values.items() if not isinstance(value, Missing)}
            if result in known and len(known) == len(values):
                found.append(Point({name: value for name, value in known.items() if name != result}, known[result]))
        return found
