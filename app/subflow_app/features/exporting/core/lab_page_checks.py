"""Checks of a lab as its page evaluates them: expressions as nested lists, and what they name of scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.exporting.core.expression_document import compiled
from subflow_app.features.labs.core.functions import functions
from subflow_app.features.labs.core.lab import NUMBER, Lab, Step
from subflow_app.features.labs.core.scenario_values import subflow_count, value_of
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.expressions import Call, Expression, Missing

# Of a checked call the arguments from which on keys and values stand by turns.
_PAIRS = {"last": 0, "runs": 0, "seeds": 0, "over": 2}
_OF_SCENARIO = {"value": "", "text": "", "is_on": "", "changed": "", "has": "has:", "count": "count:"}
_OF_FLOW = {"controller": "flows.{}.controller", "scheduler": "flows.{}.scheduler", "subflows": "subflows:{}"}
# What pages cannot find out: of trainings nothing, and these figures the core does not tell them.
_UNKNOWN = frozenset({"trained", "training_steps", "training_return", "hol_blocking"})
_VECTORS = frozenset({"rises", "falls", "spread"})


def unknown_functions(step: Step) -> list[str]:
    """What a step calls that a page cannot tell."""
    return sorted({call.name for each in _expressions(step) for call in each.calls()} & (_UNKNOWN | _VECTORS))


def check_document(text: str) -> Any:
    """A check as `compiled`; null: there is none."""
    return compiled(Claim(text, functions())) if text else None


def number_document(text: str) -> Any:
    """An expression of a number as `compiled`; null: there is none."""
    return compiled(Expression(text, functions())) if text else None


def named_facts(lab: Lab) -> list[str]:
    """All that the checks of a lab ask of scenarios: dotted keys, "has:KEY", "count:PART" and "subflows:FLOW"."""
    calls = (call for step in lab.steps for each in _expressions(step) for call in each.calls())
    return sorted({fact for call in calls for fact in _facts_of(call)} - {"seed"})


def facts(doc: ScenarioDoc, names: Iterable[str]) -> dict[str, Any]:
    """What a scenario says to each; null where it says nothing."""
    return {name: _fact(doc, name) for name in names}


def _fact(doc: ScenarioDoc, name: str) -> Any:
    what, colon, rest = name.partition(":")
    match what if colon else "":
        case "has":
            return doc.value(rest) is not None
        case "count":
            parts = doc.data.get(rest)
            return len(parts) if isinstance(parts, dict | list) else 0
        case "subflows":
            return subflow_count(doc, rest)
    value = value_of(doc, name)
    return None if isinstance(value, Missing) or value in (float("inf"), float("-inf")) else value


def _expressions(step: Step) -> Iterator[Expression]:
    table = functions()
    if step.check:
        yield Claim(step.check, table)
    if step.prediction is not None:
        yield from (Claim(text, table) for text in step.prediction.holds)
        if step.prediction.kind == NUMBER:
            yield Expression(step.prediction.number, table)
    if step.exploration is not None:
        yield from (Expression(text, table) for _, text in step.exploration.measured)
    yield from (Expression(each.answer, table) for each in step.questions if each.answer and not each.options)


def _facts_of(call: Call) -> Iterator[str]:
    texts = call.texts
    last = texts[-1] if texts else None
    if last is not None and call.name in _OF_SCENARIO:
        yield _OF_SCENARIO[call.name] + last
    if last is not None and call.name in _OF_FLOW:
        yield _OF_FLOW[call.name].format(last)
    if call.name in _PAIRS:
        yield from (key for key in texts[_PAIRS[call.name] :: 2] if key is not None)
