"""Compares the scenario of a run with the scenario of the lab and the changes that the steps of the lab ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.labs.core.lab import Lab, Step
from subflow_app.features.labs.core.scenario_values import differences
from subflow_app.features.labs.core.solution import parse_order

OPEN = "open "
"""Beginning of an entry of `Step.allows` that allows another scenario."""
EVENTS = "events"

_KEY = re.compile(r"'((?:links|flows|transport|nodes|controllers|schedulers)\.[\w./-]+|duration|warmup|mss|profile)'")


def allowances(step: Step) -> tuple[str, ...]:
    """Changes of the scenario that a step asks for: dotted keys, `EVENTS`, or ``open SCENARIO``; sorted.

    They are those of its solution, of its check, and of the fields that it shows.
    """
    return tuple(sorted({*step.allows, *_asked_for(step)}))


def _asked_for(step: Step) -> Iterator[str]:
    for text in step.do:
        order = parse_order(text)
        match order.verb:
            case "set" | "sweep":
                yield from (key for key in order.values if key != "seeds")
            case "unset":
                yield from order.words
            case "event" | "fork":
                yield EVENTS
            case "open":
                yield f"{OPEN}{order.words[0]}"
            case "script":
                yield f"controllers.{order.words[0]}"
                yield f"schedulers.{order.words[0]}"
    yield from _KEY.findall(step.check)
    yield from (target.name for target in step.shows if target.kind == "field")


def odd_changes(lab: Lab, doc: ScenarioDoc) -> list[str]:
    """The dotted keys in which a scenario differs from the lab although no step asks for it.

    The scenario is compared with the lab's, and with the scenarios that steps open; the nearest counts. Returns an
    empty list for a published lab without a list of allowed changes: see `has_allowances`.

    Raises:
        ScenarioError: if a scenario of the lab is invalid.
    """
    allowed = {each for step in lab.steps for each in allowances(step)}
    keys = tuple(each for each in allowed if not each.startswith(OPEN))
    opened = [each.removeprefix(OPEN) for each in allowed if each.startswith(OPEN)]
    found = [
        [key for key in differences(base, doc) if not _is_allowed(key, keys)]
        for base in (ScenarioDoc(lab.scenario_text()), *map(_opened, sorted(opened)))
    ]
    return min(found, key=len)


def has_allowances(lab: Lab) -> bool:
    """False for a lab that was published by an older version, without a list of the changes that its steps ask for."""
    return not lab.is_published or any(step.allows for step in lab.steps)


def _is_allowed(key: str, keys: tuple[str, ...]) -> bool:
    return any(key == each or key.startswith(f"{each}.") or each.startswith(f"{key}.") for each in keys)


@cache
def _opened(name: str) -> ScenarioDoc:
    return ScenarioDoc(open_scenario(name, use=Use.LAB).text)
