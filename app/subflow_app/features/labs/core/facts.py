"""Numbers that the texts of a lab state: whether the runs of its solution give them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from subflow_app.features.labs.core import checks
from subflow_app.features.labs.core.evidence import Evidence
from subflow_app.features.labs.core.lab import Fact, Prediction, Question, Step
from subflow_app.foundation.expressions import UNIT_WORTH, Missing

_ABOUT = 0.05


def fact_problems(step: Step, evidence: Evidence) -> Iterator[str]:
    """What is wrong with the facts of a step, once it was done.

    Args:
        step: of a lab.
        evidence: as it was judged by.
    """
    texts = "\n".join(texts_of(step))
    for fact in step.facts:
        told = f"{'about ' if fact.is_about else ''}{fact.number} {fact.unit}".strip()
        if not _states(texts, fact.number):
            yield f"none of its texts contains the fact {told}"
        found = checks.number(fact.expression, evidence)
        if isinstance(found, Missing):
            yield f"the fact {told} = {fact.expression} is not known: {found.reason}"
            continue
        value = found / UNIT_WORTH.get(fact.unit, 1.0)
        if abs(value - float(fact.number)) > _leeway(fact):
            yield f"its texts state {told}, and {fact.expression} is {value:.6g} {fact.unit}".rstrip()


def texts_of(step: Step) -> Iterator[str]:
    """All that a step says to a student."""
    yield from (step.title, step.text, step.not_yet, *step.hints)
    every: list[Prediction | Question] = [*step.questions, *([step.prediction] if step.prediction is not None else [])]
    for asked in every:
        yield from (asked.ask, asked.why, *asked.options, *(mistake.why for mistake in asked.mistakes))


def _states(texts: str, number: str) -> bool:
    """Whether texts have a number as it is written; German ones have a comma where English ones have a point."""
    written = re.escape(number).replace(r"\.", "[.,]")
    return re.search(rf"(?<![\d.,]){written}(?!\d|[.,]\d)", texts) is not None


def _leeway(fact: Fact) -> float:
    """Half of the last digit, or 5 % of a number that is meant roughly."""
    if fact.is_about:
        return _ABOUT * abs(float(fact.number))
    mantissa, _, exponent = fact.number.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return 0.5 * 10.0**-digits * (1 + 1e-9)
