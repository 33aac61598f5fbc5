"""Controllers and schedulers as scenario files name them, and the alternatives that a batch can try for a flow.

A file gives a name, or a table with a name and options. The scenario's own choice is listed first, then all others. A
choice with options or a policy is not the same as the algorithm with its defaults, so both are offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.policies.core import PolicyRecord, card_line, policy_records
from subflow_app.foundation.toml_edit import TomlValue, plain, render
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.flow_reader import DEFAULT_CONTROLLERS
from subflow_sim.params import Algorithm, Dimension
from subflow_sim.policy_library import SUFFIX, PolicyLibrary
from subflow_sim.scenario_model import Flow
from subflow_sim.whole_scenario import Scenario

Kind = Literal["controller", "scheduler"]
KINDS: tuple[Kind, ...] = ("controller", "scheduler")

OWN, BUILT_IN = translatable("In the scenario"), translatable("Built in")
SCRIPT, POLICY = translatable("Scripts"), translatable("Policies")
"""Origins of choices, as headings of a list in this order."""


def without_defaults(value: Any) -> TomlValue:
    """Return a controller or scheduler as plain data; a table that contains only the name becomes the name."""
    value = plain(value)
    if isinstance(value, dict) and set(value) == {"name"}:
        value = value["name"]
    found: TomlValue = value
    return found


def name_in(value: object) -> str:
    """Return the name of a controller or scheduler, given as a name or as a table."""
    return str(value.get("name", "")) if isinstance(value, Mapping) else str(value)


def own_or_named(own: TomlValue, value: TomlValue) -> TomlValue:
    """Return `own`, with its options and policy, if `value` is just its name; otherwise return `value`.

    Args:
        own: the scenario's controller or scheduler.
        value: the requested choice, a name or a table.
    """
    return own if isinstance(value, str) and value == name_in(own) else value


def defaults_of(name: str) -> TomlValue:
    """Return a choice with default options, as a table so that `own_or_named` does not replace it."""
    return {"name": name}


def value_text(value: TomlValue) -> str:
    """Format a controller or scheduler as one line: "confluence, policy = mine"."""
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join([name_in(value), *_option_texts(value)])


def _option_texts(value: Mapping[str, TomlValue]) -> list[str]:
    return [
        f"{key} = {each if isinstance(each, str) else render(each)}" for key, each in value.items() if key != "name"
    ]


def replaced_text(key: str, others: Iterable[str], own: TomlValue) -> str:
    """Return a warning that options set for the scenario's own algorithm do not apply to the algorithms replacing it.

    Args:
        key: dotted key of the controller or scheduler: "flows.download.controller".
        others: the replacements, as formatted by `value_text`.
        own: the choice of the scenario, with its options.
    """
    return tr(
        "{key} = {others}: the options set for {own} ({options}) do not apply.",
        key=key,
        others="; ".join(others),
        own=name_in(own),
        options=", ".join(_option_texts(own)) if isinstance(own, Mapping) else "",
    )


_MOST_FILES = 50
"""Maximum number of policy files in a scenario's folder; a larger folder is ignored."""


@dataclass(frozen=True, slots=True)
class AlgorithmChoice:
    """A controller or scheduler that a flow can use.

    Attributes:
        value: the value of the key in a scenario file.
        text: label in a list.
        summary: one-line description.
        is_own: whether this is the scenario's own choice.
        is_reference: whether the own choice is compared with this one at first: the standard beside a script.
        origin: OWN, BUILT_IN, SCRIPT or POLICY.
    """

    value: TomlValue
    text: str
    summary: str = ""
    is_own: bool = False
    is_reference: bool = False
    origin: str = BUILT_IN


def controller_choices(
    tree: Mapping[str, Any], scenario: Scenario, folder: Path | None = None
) -> dict[str, tuple[AlgorithmChoice, ...]]:
    """Return the controllers that each flow can use, the scenario's own first; flows without a controller are omitted.

    Args:
        tree: the scenario file as plain tables.
        scenario: the same file, parsed.
        folder: folder of the file, searched for policies; None for a scenario without a file.
    """
    policies = _policies(folder)
    return {
        name: tuple(_choices(own_value(tree, scenario, name, "controller"), scenario, flow, policies))
        for name, flow in scenario.flows.items()
        if not flow.sends_datagrams
    }


def other_controllers(
    scenario: Scenario | None, *, is_multipath: bool, folder: Path | None = None
) -> list[AlgorithmChoice]:
    """Return every controller for a kind of flow with its defaults, then each with the policies trained for it.

    Args:
        scenario: scenario whose scripts are included; None for no scripts.
        is_multipath: whether the flows have several paths.
        folder: folder of the scenario file, searched for policies; None for a scenario without a file.
    """
    return list(_others(scenario, _policies(folder), is_multipath=is_multipath))


def own_value(tree: Mapping[str, Any], scenario: Scenario, flow: str, kind: Kind) -> TomlValue:
    """Return the controller or scheduler of a flow as written in the file, or the default name if the file omits it."""
    table = tree.get("flows", {}).get(flow, {})
    found = table.get(kind) if isinstance(table, Mapping) else None
    chosen = scenario.flows[flow].controller if kind == "controller" else scenario.flows[flow].scheduler
    return chosen.name if found is None else without_defaults(found)


def _choices(
    own: TomlValue, scenario: Scenario, flow: Flow, policies: Mapping[str, Sequence[PolicyRecord]]
) -> Iterator[AlgorithmChoice]:
    has_options = isinstance(own, Mapping)
    known = {each.name: each for each in app_catalog(scenario).controllers}
    listed = known.get(name_in(own))
    summary = tr("With the options of the scenario") if has_options else tr(listed.summary if listed else "")
    # A script is written to be compared, with the controller that the flow would have without it.
    reference = DEFAULT_CONTROLLERS.get(flow.kind) if listed is not None and listed.script is not None else None
    yield AlgorithmChoice(own, value_text(own), summary, is_own=True, origin=OWN)
    for each in _others(scenario, policies, is_multipath=flow.kind == "mptcp"):
        if each.value == own:
            continue
        if isinstance(each.value, str) and each.value == name_in(own):
            text = tr("{controller}, with its defaults", controller=each.value)
            yield replace(each, value=defaults_of(each.value), text=text)
        else:
            yield replace(each, is_reference=each.value == reference)


def _others(
    scenario: Scenario | None, policies: Mapping[str, Sequence[PolicyRecord]], *, is_multipath: bool
) -> Iterator[AlgorithmChoice]:
    catalog = app_catalog(scenario)
    known = {each.name: each for each in catalog.controllers}
    names = catalog.controllers_for(is_multipath=is_multipath)
    for name in names:
        origin = BUILT_IN if known[name].script is None else SCRIPT
        yield AlgorithmChoice(name, name, tr(known[name].summary), origin=origin)
    for name in names:
        usual = _usual_policy(known[name])
        for record in policies.get(name, ()):
            if record.name != usual:
                value: TomlValue = {"name": name, "policy": record.name}
                summary = card_line(record.card) or tr("trained policy")
                yield AlgorithmChoice(value, value_text(value), summary, origin=POLICY)


def _usual_policy(algorithm: Algorithm) -> str:
    """Return the name of the algorithm's default policy; empty for an algorithm without policies."""
    return next((str(param.default) for param in algorithm.options if param.dimension is Dimension.POLICY), "")


def _policies(folder: Path | None) -> dict[str, list[PolicyRecord]]:
    """Return the usable policies by controller: those of the library, then those in the scenario's folder.

    A folder with more than `_MOST_FILES` policy files is ignored.
    """
    found: dict[str, list[PolicyRecord]] = {}
    for record in policy_records():
        if not record.problem:
            found.setdefault(record.controller, []).append(record)
    beside = PolicyLibrary((folder,)) if folder is not None else PolicyLibrary()
    if len(beside.paths()) <= _MOST_FILES:
        for record in policy_records(beside):
            if not record.problem:
                found.setdefault(record.controller, []).append(replace(record, name=f"{record.name}{SUFFIX}"))
    return found
