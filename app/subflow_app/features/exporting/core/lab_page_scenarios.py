"""The scenarios of a lab as its page has them, with what a student can change in each.

A change is worked out here, where scenarios can be read: as a patch of the document that the core reads, as a splice of
the file's text, and as what checks find then. The page puts them together; so what it simulates is what its text says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc, split_key
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.features.exporting.core.bundle import with_plain_policies
from subflow_app.features.exporting.core.lab_page_checks import facts
from subflow_app.features.exporting.core.web_page import EDITED_KEYS, run_document
from subflow_app.features.labs.core.lab import Lab, Step
from subflow_app.features.labs.core.solution import Order, parse_order
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.toml_edit import get_value, read_toml, set_value
from subflow_sim.errors import SimError
from subflow_sim.portable import portable, portable_choices
from subflow_sim.scenario import Scenario

Changes: TypeAlias = tuple[tuple[str, str], ...]
"""Keys with their values, in the order in which they are set."""

_MARK = "\ue000"  # in the place of a number that the page puts in
_PARTS = ("links", "flows", "nodes")
_EVENT_KEYS = frozenset({"at", "link", "up", *EDITED_KEYS})
_DEEPEST = 5  # of a patch: below that a value is replaced whole
_BEYOND = {
    "train": "agents are trained in the program",
    "promote": "policies are kept in the program",
    "script": "scripts of controllers are compiled by the program",
}


@dataclass(slots=True)
class LabScenarios:
    """What a lab's page simulates.

    Attributes:
        documents: of each scenario, the one that the student begins with first.
        policies: trained policies that they name by their numbers.
        beyond: by the id of a step, what of it pages cannot do; empty for those that they can.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    policies: list[bytes] = field(default_factory=list)
    beyond: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Place:
    """A scenario, and what the lab's solution sets in it: by what it belongs to, each way once."""

    name: str
    text: str
    wanted: dict[str, dict[Changes, str]] = field(default_factory=dict)  # with the step that sets it first


def lab_scenarios(lab: Lab, fact_names: Sequence[str], sample_interval_s: float) -> LabScenarios:
    """The scenarios that a lab's solution uses.

    Raises:
        ScenarioError: if one is not usable.
    """
    made = LabScenarios()
    for place in _walk(lab, made.beyond):
        made.documents.append(_document(place, fact_names, sample_interval_s, made))
    return made


def _walk(lab: Lab, beyond: dict[str, str]) -> list[_Place]:
    """Follow the solution: which scenarios it opens, and which values it sets in each."""
    here = _Place(lab.scenario.stem, lab.scenario_text())
    places = {here.name: here}
    assigned: dict[str, str] = {}
    for step in lab.steps:
        for order in map(parse_order, step.do):
            if order.verb == "open":
                name = order.words[0]
                here, assigned = places.get(name) or _Place(name, open_scenario(name, use=Use.LAB).text), {}
                places[name] = here
            elif order.verb in ("set", "sweep"):
                _note(order, step, here, assigned)
            elif order.verb in _BEYOND or (
                order.verb in ("event", "fork") and not _EVENT_KEYS.issuperset(order.values)
            ):
                beyond.setdefault(step.id, _BEYOND.get(order.verb, "its event is set in the program"))
    return list(places.values())


def _note(order: Order, step: Step, here: _Place, assigned: dict[str, str]) -> None:
    for key, values in order.values.items():
        if key == "seeds":
            continue
        group = group_of(key)
        for value in values.split(",") if order.verb == "sweep" else [values]:
            if key == group:  # the short form takes the place of all that stood below
                for other in [each for each in assigned if group_of(each) == group]:
                    del assigned[other]
            assigned[key] = value
            changes = tuple((name, said) for name, said in assigned.items() if group_of(name) == group)
            here.wanted.setdefault(group, {}).setdefault(changes, step.id)


def group_of(key: str) -> str:
    """What is changed together: `links.wifi.jitter` of `links.wifi.jitter.spread`."""
    path = [str(each) for each in split_key(key)]
    return ".".join(path[: 3 if path[0] in _PARTS else 2])


def _document(place: _Place, fact_names: Sequence[str], sample_interval_s: float, made: LabScenarios) -> dict[str, Any]:
    scenario = read_scenario(Use.LAB, place.text, file=place.name)
    place.text, _ = with_plain_policies(place.text, scenario)
    seed = scenario.seed
    info = run_document(scenario, seed, place.text, sample_interval_s, made.policies)
    base = _Base(place.text, info, facts(ScenarioDoc(place.text), fact_names), sample_interval_s)
    settings = [*_numbers(place.text, info)]
    numbers = {each["key"] for each in settings}
    menus: dict[str, dict[Changes, str]] = {key: {} for key in _algorithm_keys(scenario)}
    for group, ways in place.wanted.items():
        if group not in numbers:
            menus[group] = dict(ways)
    for group, ways in menus.items():
        wanted = len(ways)
        for changes in _algorithms(group, scenario):
            ways.setdefault(changes, "")
        options: list[dict[str, Any]] = []
        for rank, (changes, step_id) in enumerate(ways.items()):
            option = _option(base, changes, made.policies)
            if option is None and rank < wanted:
                made.beyond.setdefault(step_id, f"{group} is set in the program")
            if option is not None and option["patch"] and option not in options:
                options.append(option)
        if options:
            options.sort(key=lambda option: option["label"])
            said = _present(place.text, group, scenario)
            settings.append({"key": group, "kind": "menu", "options": [{"label": said, "patch": []}, *options]})
    is_drawn = portable(scenario, seed).document != portable(scenario, seed + 1).document
    return {
        "name": place.name,
        "title": scenario.name,
        "info": {name: value for name, value in info.items() if name != "toml"},
        "toml": place.text,
        "facts": base.facts,
        "settings": settings,
        "takes_seeds": not is_drawn,
    }


@dataclass(frozen=True, slots=True)
class _Base:
    """What options are compared with."""

    text: str
    info: Mapping[str, Any]
    facts: Mapping[str, Any]
    sample_interval_s: float


def _numbers(text: str, info: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Numbers of links that can be anything."""
    tree = read_toml(text)
    for index, link in enumerate(info["links"]):
        for key in (key for key in EDITED_KEYS if link["edit"][key]):
            path: tuple[str, ...] = ("links", link["name"], key)
            if isinstance(get_value(tree, path), dict):
                path = (*path, "limit")
            with_mark = set_value(text, path, _MARK)
            quoted = f'"{_MARK}"'
            at = with_mark.index(quoted)
            before, after = with_mark[:at], with_mark[at + len(quoted) :]
            begin = _common(text, before)
            end = len(text) - _common(text[begin:][::-1], after[::-1])
            yield {
                "key": f"links.{link['name']}.{key}",
                "kind": "number",
                "link": index,
                "what": key,
                "splice": [
                    _units(text[:begin]),
                    _units(text[:end]),
                    before[begin:],
                    after[: len(after) - len(text) + end],
                ],
            }


def _algorithm_keys(scenario: Scenario) -> Iterator[str]:
    for flow in scenario.flows.values():
        if not flow.sends_datagrams:
            yield f"flows.{flow.name}.controller"
            if flow.kind == "mptcp":
                yield f"flows.{flow.name}.scheduler"


def _algorithms(group: str, scenario: Scenario) -> Iterator[Changes]:
    """The built-in algorithms that a flow of that kind may have."""
    part, _, rest = group.partition(".")
    name, _, key = rest.rpartition(".")
    if part != "flows" or name not in scenario.flows:
        return
    is_multipath = scenario.flows[name].kind == "mptcp"
    if key == "scheduler":
        yield from (((group, each.name),) for each in portable_choices("scheduler", scenario.profile))
    elif key == "controller":
        for each in portable_choices("controller", scenario.profile):
            if is_multipath or not each.is_coupled:
                yield ((group, each.name),)


def _option(base: _Base, changes: Changes, policies: list[bytes]) -> dict[str, Any] | None:
    """What changes make of a scenario; None: they are not for it, or not for a page."""
    try:
        text = with_overrides(base.text, [f"{key}={value}" for key, value in changes])
        scenario = read_scenario(Use.LAB, text)
        info = run_document(scenario, scenario.seed, text, base.sample_interval_s, policies)
    except (AppError, SimError):
        return None
    patch = list(_differences(base.info, info))
    begin = _common(base.text, text)
    end = len(base.text) - _common(base.text[begin:][::-1], text[begin:][::-1])
    found = facts(ScenarioDoc(text), base.facts)
    return {
        "label": label_of(changes),
        "patch": patch,
        "splice": [_units(base.text[:begin]), _units(base.text[:end]), text[begin : len(text) - len(base.text) + end]],
        "facts": {name: value for name, value in found.items() if value != base.facts[name]},
    }


def label_of(changes: Changes) -> str:
    """How a menu calls changes: the first value, and what else stands below the same key."""
    group = group_of(changes[0][0])
    parts = [value if key == group else f"{key.removeprefix(group + '.')} = {value}" for key, value in changes]
    return ", ".join(parts)


def _present(text: str, group: str, scenario: Scenario) -> str:
    """How a menu calls what the scenario has."""
    value = get_value(read_toml(text), split_key(group))
    part, _, rest = group.partition(".")
    name, _, key = rest.rpartition(".")
    if part == "flows" and key in ("controller", "scheduler"):
        chosen = getattr(scenario.flows[name], key).name
        options = value if isinstance(value, dict) else {}
        return label_of(
            ((group, chosen), *((f"{group}.{k}", json.dumps(v)) for k, v in options.items() if k != "name"))
        )
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value)


def _differences(before: Any, after: Any, at: tuple[str | int, ...] = ()) -> Iterator[list[Any]]:
    """[path, value] of what is other; [path] of what is gone."""
    if before == after or at in (("toml",), ("name",)):
        return
    if isinstance(before, dict) and isinstance(after, dict) and len(at) < _DEEPEST:
        for key in dict.fromkeys((*before, *after)):
            if key not in after:
                yield [[*at, key]]
            elif key not in before:
                yield [[*at, key], after[key]]
            else:
                yield from _differences(before[key], after[key], (*at, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and len(at) < _DEEPEST:
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(*pair, (*at, index))
    else:
        yield [[*at], after]


def _common(first: str, second: str) -> int:
    """How many characters two texts begin with together."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _units(text: str) -> int:
    """Its length as JavaScript counts it."""
    return len(text.encode("utf-16-le")) // 2


def beyond_pages(lab: Lab) -> str:
    """Why a lab cannot be a page; empty: it can."""
    if "train" in lab.needs:
        return "its students train an agent, which needs the program and PyTorch"
    if lab.scripts:
        return "its students write a controller, and scripts are compiled by the program"
    return ""


def used_policies(documents: Iterable[Mapping[str, Any]]) -> set[int]:
    """Numbers of the policies that documents name."""
    found: set[int] = set()

    def look(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("policy"), int) and not isinstance(part["policy"], bool):
                found.add(part["policy"])
            for each in part.values():
                look(each)
        elif isinstance(part, list):
            for each in part:
                look(each)

    for document in documents:
        look(document)
    return found
