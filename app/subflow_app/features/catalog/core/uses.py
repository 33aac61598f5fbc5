"""Reader of scenarios for the whole program. Each call names its use, which limits the parts that may be replaced.

`Use` lists all uses. A test fails if a module reads scenarios without this reader. A use keeps the controller (with
policy, options and script), the scheduler and all other keys of each flow, except for the parts in `Use.replaces`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.catalog.core.catalog import app_catalog, policy_library
from subflow_app.features.catalog.core.former_policies import FormerPolicy, former_policies
from subflow_app.foundation.errors import InputError, ReplacedError
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ScenarioError
from subflow_sim.overrides import override_value
from subflow_sim.params import AlgorithmCatalog
from subflow_sim.policy_choice import choose_policy, with_policy
from subflow_sim.scenario import load_scenario, parse_scenario
from subflow_sim.scenario_model import Choice, Flow, OptionValue, PolicyFile
from subflow_sim.section_reader import Report
from subflow_sim.whole_scenario import Scenario

if TYPE_CHECKING:
    from subflow_app.foundation.toml_edit import TomlValue


class Part(Enum):
    """A part of a flow that a use keeps or replaces. EXTRAS are all keys except for controller and scheduler."""

    CONTROLLER = "controller"
    SCHEDULER = "scheduler"
    EXTRAS = "extras"


_NOTHING: frozenset[Part] = frozenset()
_CONTROLLER = frozenset({Part.CONTROLLER})
_ALGORITHMS = frozenset({Part.CONTROLLER, Part.SCHEDULER})
_ANYTHING = frozenset(Part)


class Use(Enum):
    """A way in which a scenario is used.

    Attributes:
        label: short name.
        replaces: parts of flows that may be replaced in this use; all other parts are kept.
    """

    DOCUMENT = ("document", _ANYTHING)
    """The open scenario, which the user edits."""
    RUN = ("run", _ANYTHING)
    """One run, for which `--set` may replace any value."""
    QUEUE = ("queue", _NOTHING)
    SWEEP = ("sweep", _ANYTHING)
    """Sweeps on this machine and on a cluster."""
    REPRODUCE = ("reproduce", _ANYTHING)
    """Experiments of papers. Their recipes may set any value."""
    RACE = ("race", _CONTROLLER)
    ARENA = ("arena", _ALGORITHMS)
    ASSESS = ("assess", _ALGORITHMS)
    BREAK = ("break", _ANYTHING)
    """Tests of claims; the cases of some claims, such as `improve`, also change paths."""
    TRAIN = ("train", _ALGORITHMS)
    EVALUATE = ("evaluate", _ALGORITHMS)
    FORK = ("what-if", _NOTHING)
    """A change during a run is an event and leaves the flow unchanged."""
    REPLAY = ("replay", _NOTHING)
    """Explanations, packet captures and exports that simulate a run again."""
    REPORT = ("report", _NOTHING)
    """Reports, plots and comparisons, which name the origin of their curves."""
    KERNEL = ("kernel comparison", _NOTHING)
    EMULATE = ("programs on the network", _NOTHING)
    FAIRNESS = ("fairness", _NOTHING)
    EXPORT = ("export", _NOTHING)
    BUNDLE = ("bundle", _NOTHING)
    PAGE = ("web page", _NOTHING)
    GRAPH = ("topology file", _NOTHING)
    TEMPLATE = ("template", _NOTHING)
    """Templates, examples and lists of shipped scenarios."""
    NOTEBOOK = ("notebook", _NOTHING)
    """Scenario files that `subflow_sim` reads in Python."""
    LAB = ("lab", _ANYTHING)
    """Guided labs. Their steps may set any value."""
    SELF_TEST = ("self-test", _ANYTHING)

    def __init__(self, label: str, replaces: frozenset[Part]) -> None:
        self.label = label
        self.replaces = replaces


def read_scenario(
    use: Use,
    text: str,
    *,
    file: str = "<scenario>",
    overrides: Sequence[str] = (),
    folder: Path | None = None,
    tree: dict[str, Any] | None = None,
    algorithms: AlgorithmCatalog | None = None,
) -> Scenario:
    """Read the text of a scenario.

    Unless `algorithms` is given, the scenario may name shipped policies and policies of the user.

    Args:
        use: purpose of reading.
        text: TOML.
        file: name of the scenario in messages.
        overrides: ``KEY=VALUE`` strings.
        folder: folder of the files that the scenario names; None if it names no files.
        tree: tables of the text as returned by `tomllib`; None to parse the text. Overrides change the tables.
        algorithms: controllers, schedulers and policies that the scenario may name; None for those of `app_catalog`.

    Raises:
        ScenarioError: if the scenario is invalid; the error lists all problems.
    """
    _check(use)
    return parse_scenario(
        text, file=file, overrides=overrides, algorithms=algorithms or app_catalog(), folder=folder, tree=tree
    )


def scenario_at(use: Use, path: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """Read a scenario file, which may name shipped policies and policies of the user.

    Raises:
        ScenarioError: if the scenario is invalid; the error lists all problems.
    """
    _check(use)
    return load_scenario(path, overrides=overrides, algorithms=app_catalog())


def read_tables(use: Use, tree: dict[str, Any], *, file: str) -> Scenario:
    """Read a scenario from tables that contain the content of all files that the scenario names.

    Args:
        use: purpose of reading.
        tree: tables as returned by `tomllib`.
        file: name of the scenario in messages.

    Raises:
        ScenarioError: if the scenario is invalid; the error lists all problems.
    """
    from subflow_sim.scenario_reader import read_tree

    _check(use)
    report = Report(file, dict, tree)
    scenario = read_tree(tree, file, report, app_catalog(), None)
    if report.problems:
        raise ScenarioError(report.problems)
    return scenario


def read_stored(use: Use, text: str, summary: Mapping[str, Any] | None, *, file: str) -> Scenario:
    """Read the scenario of a stored run with the policies that the run used.

    Args:
        use: purpose of reading.
        text: stored TOML.
        summary: summary of the run, with content hashes of the policies; None if lost.
        file: name of the run in messages.

    Raises:
        InputError: if a policy has changed since the run, and the library lacks the content that the run used.
        ScenarioError: if the scenario is invalid; the error lists all problems.
    """
    return open_stored(use, text, summary, file=file)[0]


def open_stored(
    use: Use, text: str, summary: Mapping[str, Any] | None, *, file: str
) -> tuple[Scenario, tuple[FormerPolicy, ...]]:
    """As `read_stored`; also returns the policies whose names in the run mean other policies now.

    Raises:
        InputError: if a policy has changed since the run, and the library lacks the content that the run used.
        ScenarioError: if the scenario is invalid; the error lists all problems.
    """
    found = former_policies(recorded_policies(summary).items(), policy_library())
    kept = tuple(each.file for each in found)
    algorithms = replace(app_catalog(), policies=replace(policy_library(), kept=kept)) if kept else None
    scenario = read_scenario(use, text, file=file, algorithms=algorithms)
    for described in (summary or {}).get("flows", ()):
        decided = described.get("policy") or {}
        name = str(described.get("name", ""))
        flow = scenario.flows.get(name) or scenario.flows.get(name.rpartition(".")[0])
        policy = None if flow is None else flow.controller.policy
        wanted = decided.get("content_hash")
        if wanted and policy is not None and policy.content_hash != wanted:
            raise InputError(
                f'{file}: the policy "{decided.get("name", policy.name)}" of the flow {name} has changed since the '
                f"run: it was {wanted[:12]}, and {policy.path or policy.name} holds {policy.content_hash[:12]}; no "
                f"policy here equals the former one"
            )
    return scenario, found


def recorded_policies(summary: Mapping[str, Any] | None) -> dict[str, str]:
    """Content hashes of the policies that a run used, by their names in its scenario.

    Args:
        summary: summary of the run; None if lost.
    """
    policies = [flow.get("policy") or {} for flow in (summary or {}).get("flows", ())]
    return {str(each["name"]): str(each["content_hash"]) for each in policies if {"name", "content_hash"} <= set(each)}


def _check(use: Use) -> None:
    if not isinstance(use, Use):
        raise TypeError(f"{use!r} is not a way of using scenarios: `Use` lists all of them")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A part of a flow that differs between two scenarios.

    Attributes:
        flow: name of the flow.
        part: part that differs.
        was: text in the first scenario.
        becomes: text in the second scenario.
    """

    flow: str
    part: Part
    was: str
    becomes: str

    def __str__(self) -> str:
        """The replacement as a line for messages."""
        return f"flows.{self.flow}: {self.part.value} {self.becomes} replaces {self.was}"


def replacements(before: Scenario, after: Scenario) -> list[Replacement]:
    """The parts in which common flows of two scenarios differ; policies are compared by content, not by name."""
    found = []
    for name, flow in before.flows.items():
        other = after.flows.get(name)
        if other is None:
            continue
        for part in Part:
            was, becomes = _facts(flow, part), _facts(other, part)
            if was != becomes:
                found.append(Replacement(name, part, _told(flow, part), _told(other, part)))
    return found


def check_kept(use: Use, before: Scenario, after: Scenario, flows: Collection[str] | None = None) -> None:
    """Refuse a scenario in which a use has replaced a part of a flow that it must keep.

    Args:
        use: use to check.
        before: scenario of the user.
        after: scenario to run.
        flows: flows in which parts may be replaced; None for all flows.

    Raises:
        ReplacedError: if a part that the use must keep was replaced; the message names the flow and the part.
    """
    lost = [
        each
        for each in replacements(before, after)
        if each.part not in use.replaces or (flows is not None and each.flow not in flows)
    ]
    if lost:
        raise ReplacedError(f"{use.label} would change the scenario: " + "; ".join(map(str, lost)))


def told_replacements(before: Scenario, after: Scenario) -> list[str]:
    """A line for each replaced controller or scheduler with options, a policy or a script of its own."""
    lines = []
    for each in replacements(before, after):
        flow = before.flows[each.flow]
        choice = flow.controller if each.part is Part.CONTROLLER else flow.scheduler
        if each.part is Part.EXTRAS or not (own_options(choice, before) or choice.script is not None):
            continue
        new = after.flows[each.flow]
        other = new.controller if each.part is Part.CONTROLLER else new.scheduler
        was, becomes = _own_text(choice, before), _own_text(other, after)
        text = tr("flows.{flow}: {other} runs in place of {own}", flow=each.flow, other=becomes, own=was)
        lines.append(text)
    return lines


def own_options(choice: Choice, scenario: Scenario) -> dict[str, OptionValue]:
    """The options of a controller or scheduler that differ from its defaults; empty for an unknown algorithm."""
    catalog = app_catalog(scenario)
    algorithm = next((a for a in (*catalog.controllers, *catalog.schedulers) if a.name == choice.name), None)
    if algorithm is None:
        return {}
    # The choice of a base is an option of `uncoupled`. All its other options belong to the base.
    bases = {option.key: option.default for option in algorithm.options if option.key == "base"}
    base = {key: choice.options[key] for key in bases if key in choice.options}
    chosen = {key: value for key, value in base.items() if value != bases[key]}
    usual = choose_policy(algorithm, base, scenario.profile, catalog.policies)
    if usual.policy == choice.policy:
        return chosen | {key: value for key, value in choice.options.items() if usual.options.get(key) != value}
    # The options that a different policy was trained with do not count as differences.
    assert choice.policy is not None or choice.options.get("policy") is not None
    trained = usual if choice.policy is None else with_policy(algorithm, base, scenario.profile, choice.policy)
    others = chosen | {key: value for key, value in choice.options.items() if trained.options.get(key) != value}
    return {"policy": choice.options["policy"], **others}


def written_choice(choice: Choice, scenario: Scenario) -> TomlValue:
    """Value of a controller or scheduler in a scenario file: its name, with options that differ from its defaults."""
    catalog = app_catalog(scenario)
    params = {
        param.key: param
        for algorithm in (*catalog.controllers, *catalog.schedulers)
        if algorithm.name == choice.name
        for param in algorithm.options
    }
    options: dict[str, Any] = {
        key: value if isinstance(value, str) else override_value(params[key].format(value))
        for key, value in own_options(choice, scenario).items()
    }
    return {"name": choice.name, **options} if options else choice.name


def option_texts(options: Mapping[str, OptionValue]) -> list[str]:
    """Options as in scenario files, e.g. "safety = false"; numbers are in SI units."""
    words = {True: "true", False: "false"}
    return [f"{key} = {words[value] if isinstance(value, bool) else value}" for key, value in options.items()]


def policies_of(scenario: Scenario) -> list[tuple[str, PolicyFile]]:
    """Policies that flows use from the start or after a change, each with the name of the flow."""
    found = [(name, flow.controller.policy) for name, flow in scenario.flows.items()]
    found += [(each.flow or "", each.controller.policy) for each in scenario.events if each.controller is not None]
    return [(name, policy) for name, policy in found if policy is not None]


def _own_text(choice: Choice, scenario: Scenario) -> str:
    options = option_texts(own_options(choice, scenario))
    return f"{choice.name} ({', '.join(options)})" if options else choice.name


def choice_text(choice: Choice) -> str:
    """A controller or scheduler with its options, policy and script, on one line."""
    options = option_texts(choice.options)
    options += ["its script"] if choice.script is not None else []
    return f"{choice.name} ({', '.join(options)})" if options else choice.name or "none"


def _facts(flow: Flow, part: Part) -> object:
    if part is Part.EXTRAS:
        return replace(flow, controller=Choice(""), scheduler=Choice(""))
    choice = flow.controller if part is Part.CONTROLLER else flow.scheduler
    options = dict(choice.options)
    if choice.policy is not None:
        options["policy"] = choice.policy.content_hash
    return choice.name, options, None if choice.script is None else choice.script.text


def _told(flow: Flow, part: Part) -> str:
    if part is Part.CONTROLLER:
        return choice_text(flow.controller)
    if part is Part.SCHEDULER:
        return choice_text(flow.scheduler)
    values: Mapping[str, Any] = {each.name: getattr(flow, each.name) for each in fields(flow)}
    return ", ".join(
        f"{key} = {value}" for key, value in values.items() if key not in ("controller", "scheduler", "name")
    )
