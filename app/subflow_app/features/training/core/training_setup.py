"""Creates the config of a training run from a request or a recipe, and checks it before slow imports and the start.

A recipe is a TOML file, usually written by hand. It contains all settings needed to train an agent's policy again.

format = 1
agent = "drl-cc"               # required, like the scenario and a budget
title = "One sentence"
scenario = "drlcc-sc1"         # name of a shipped scenario, or a file in the same folder
steps = 50000                  # transitions; or minutes = 4, or both
seed = 1
num_envs = 8                   # parallel simulations
threads = 1
episode = "30s"
deterministic = false
checkpoint_every = "1min"
expected = "4min"              # time on two cores
families = ["all"]             # families of arena networks to train on as well
families_share = 0.5           # share of the episodes that take place on these networks

[options]                      # options of the agent
gamma = 0.9

[set]                          # values of the scenario, as with --set
"links.wifi.loss" = "1%"

[training]                     # in place of the scenario's own block

[evaluation]
every = 10000                  # transitions; 0: none
seeds = "1000000-1000004"
baselines = ["lia", "olia"]
scenario = "drlcc-sc1"         # default: the training scenario
networks = 1                   # networks of each family's validation split; the best policy is chosen by the
                               # utilities on these networks and on the scenario
families = ["lossy", "walk"]   # default: all

With `like`, a recipe is a variant of a shipped one and states only the differences:

format = 1
like = "drl-cc"                # a shipped recipe without `like` of its own
title = "One sentence"         # never taken from the other recipe

[set]
"links.path1.rate" = "2Mbit/s"

The variant takes every setting that it does not state. The tables [options], [set] and [evaluation] merge key by key;
[training] replaces the other block as a whole, and a budget replaces the other one, whether of steps or of minutes.
An option of the other recipe returns to the agent's default if the variant states this default.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from subflow_agents import TrainingConfig, agent
from subflow_agents.scenarios import require_paths
from subflow_app.distribution import install_command
from subflow_app.features.catalog.core.uses import Use, read_scenario, scenario_at
from subflow_app.features.editor.core.scenario_source import with_contents, with_overrides
from subflow_app.foundation.errors import InputError, RecipeError, TrainingError
from subflow_app.foundation.resources import file_or_shipped, find_scenario, resource_path, way_on
from subflow_app.foundation.toml_files import checked, read_text, scenario_beside, toml_tree
from subflow_sim.parameter import Param, kind_name
from subflow_sim.scenario import read_scenario_text
from subflow_sim.section_reader import Report, read_section, toml_text
from subflow_sim.units import Dimension

RECIPE_SUFFIX = ".toml"

_MAX_SEEDS = 1000
_SEEDS = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")

_RECIPE = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("like", Dimension.NAME, "Shipped recipe of which this one is a variant."),
    Param("agent", Dimension.NAME, "The agent to train.", required=True),
    Param("title", Dimension.TEXT, "Subject of the training, in a sentence."),
    Param("scenario", Dimension.TEXT, "Scenario to learn on: a shipped one, or a file.", required=True),
    Param("steps", Dimension.COUNT, "Budget of transitions.", minimum=1),
    Param("minutes", Dimension.NUMBER, "Budget of time.", minimum=0, exclusive_minimum=True, maximum=1e5),
    Param("seed", Dimension.COUNT, "Determines everything random.", default=1, minimum=0, maximum=999_999),
    Param("num_envs", Dimension.COUNT, "Simulations side by side.", minimum=1, maximum=4096),
    Param("threads", Dimension.COUNT, "Threads of the simulator.", minimum=1, maximum=256),
    Param("episode", Dimension.TIME, "Length of an episode.", minimum=0, exclusive_minimum=True),
    Param("deterministic", Dimension.FLAG, "Nothing depends on the clock."),
    Param("checkpoint_every", Dimension.TIME, "Time between two checkpoints.", minimum=0, exclusive_minimum=True),
    Param("expected", Dimension.TIME, "Expected time on two cores.", minimum=0, exclusive_minimum=True),
    Param("families", Dimension.LIST, "Families of networks for some episodes; all: every family."),
    Param("families_share", Dimension.NUMBER, "Share of these episodes.", minimum=0, exclusive_minimum=True, maximum=1),
)
_EVALUATION = (
    Param("every", Dimension.COUNT, "Transitions between two evaluations; 0: none.", minimum=0),
    Param("seeds", Dimension.TEXT, 'Seeds of the compared runs, e.g. "1000000-1000004".'),
    Param("baselines", Dimension.LIST, "Controllers to compare with."),
    Param("scenario", Dimension.TEXT, "Scenario of the evaluations; left out: that of the training."),
    Param("networks", Dimension.COUNT, "Networks of each family for choosing the best policy; 0: none.", maximum=100),
    Param("families", Dimension.LIST, "Their families; left out: all."),
    Param("home", Dimension.FLAG, "Count the evaluations' scenario for half of the choice; left out: yes."),
)
_TABLES = ("options", "set", "training", "evaluation")
_BUDGET = ("steps", "minutes")
# Recipes whose names have changed.
_FORMER_NAMES: Mapping[str, str] = {"ddpg-mpcc-offline": "ddpg-mpcc"}
# For each of these keys of a recipe, the field of `TrainingConfig` that it sets.
_SETTINGS = {
    **{key: key for key in (*_BUDGET, "seed", "num_envs", "threads", "deterministic", "families", "families_share")},
    "episode": "episode_s",
}
# The same for keys of [evaluation].
_EVALUATION_SETTINGS = {
    "every": "evaluation_every",
    "baselines": "baselines",
    "networks": "validation_networks",
    "families": "validation_families",
    "home": "validation_home",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe whose values have been checked one by one; `prepare` checks them against the agent and the scenario.

    Attributes:
        name: name of the file without its suffix.
        path: path of the file.
        like: name of the shipped recipe of which this one is a variant; empty: none.
        agent: agent to train.
        title: subject of the training run; may be empty.
        scenario: path of the scenario file.
        training: `[training]` block that replaces the scenario's own; None: no replacement.
        overrides: "KEY=VALUE" for each changed value of the scenario.
        options: options of the agent.
        evaluation_scenario: path of the scenario for evaluations; None: the training scenario.
        settings: fields of `subflow_agents.TrainingConfig` in the recipe.
        expected_s: expected time on two cores, s; None if unknown.
    """

    name: str
    path: Path
    like: str
    agent: str
    title: str
    scenario: Path
    training: Mapping[str, Any] | None
    overrides: tuple[str, ...]
    options: Mapping[str, Any]
    evaluation_scenario: Path | None
    settings: Mapping[str, Any]
    expected_s: float | None


def recipe_names() -> tuple[str, ...]:
    """Names of the shipped recipes, sorted."""
    return tuple(sorted(path.stem for path in resource_path("agents/recipes").glob(f"*{RECIPE_SUFFIX}")))


def load_recipe(name_or_path: str) -> Recipe:
    """Read a recipe file, or a shipped recipe by name.

    Raises:
        InputError: if the file or name does not exist; `RecipeError` if the recipe has problems, which the error lists.
    """
    path = _find(name_or_path)
    return read_recipe(read_text(path, RecipeError, "a recipe"), path)


def read_recipe(text: str, path: Path) -> Recipe:
    """Read the text of a recipe.

    Args:
        text: TOML.
        path: path for messages; its stem is the name of the recipe, and its folder may contain the scenarios.

    Raises:
        RecipeError: if the recipe, or the one that it is like, has problems, which the error lists.
    """
    return checked(text, path, RecipeError, lambda tree, report: _read(path, tree, report))


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds in any of these notations: "1000000-1000004", "3", "1,4,7-9".

    Raises:
        InputError: if the text is not in one of these notations, or if it contains too many seeds.
    """
    allowed = f'allowed: up to {_MAX_SEEDS} of them, e.g. "1-5" or "1,4,7-9"'
    seeds: list[int] = []
    for part in text.split(","):
        match = _SEEDS.fullmatch(part.strip())
        if match is None:
            raise InputError(f'"{text}" are not seeds; {allowed}')
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= _MAX_SEEDS or len(seeds) + last - first >= _MAX_SEEDS:
            raise InputError(f'"{text}" are {"not" if last < first else "too many"} seeds; {allowed}')
        seeds += range(first, last + 1)
    return tuple(dict.fromkeys(seeds))


def _find(name_or_path: str) -> Path:
    names = recipe_names()
    listed = f"shipped recipes: {', '.join(names) or 'none'}"
    missing = "no such recipe file and no shipped recipe of that name"
    known = _FORMER_NAMES.get(name_or_path, name_or_path)
    return file_or_shipped(known, "agents/recipes", RECIPE_SUFFIX, names, missing, listed)


def _read(path: Path, tree: Mapping[str, Any], report: Report) -> Recipe:
    is_variant = "like" in tree
    values = read_section(report, (), tree, _RECIPE, partial=is_variant, also_known=_TABLES)
    base = _base(report, values.get("like"))
    tables = {name: report.expect_table((name,), tree[name], f"a table [{name}]") for name in _TABLES if name in tree}
    evaluation = read_section(report, ("evaluation",), tables.get("evaluation") or {}, _EVALUATION)
    if not is_variant and not any(key in tree for key in _BUDGET):
        report.add(("steps",), "missing", "a budget: steps = 50000, minutes = 4, or both")
    settings = {setting: values[key] for key, setting in _SETTINGS.items() if values.get(key) is not None}
    if values.get("checkpoint_every") is not None:
        settings["checkpoint_minutes"] = values["checkpoint_every"] / 60
    for key, setting in _EVALUATION_SETTINGS.items():
        if evaluation.get(key) is not None:
            settings[setting] = evaluation[key]
    if evaluation.get("seeds") is not None:
        try:
            settings["evaluation_seeds"] = parse_seeds(evaluation["seeds"])
        except InputError as error:
            report.add(("evaluation", "seeds"), str(error))
    overrides = [
        f"{key}={value if isinstance(value, str) else toml_text(value)}"
        for key, value in (tables.get("set") or {}).items()
        if _is_plain(report, key, value)
    ]
    own = Recipe(
        name=path.stem,
        path=path,
        like=values.get("like") or "",
        agent=values.get("agent") or "",
        title=values.get("title") or "",
        scenario=scenario_beside(report, ("scenario",), path, values.get("scenario")) or Path(),
        training=tables.get("training"),
        overrides=tuple(overrides),
        options=tables.get("options") or {},
        evaluation_scenario=scenario_beside(report, ("evaluation", "scenario"), path, evaluation.get("scenario")),
        settings=settings,
        expected_s=values.get("expected"),
    )
    return own if base is None else _variant(base, own, tree)


def _base(report: Report, like: str | None) -> Recipe | None:
    """The shipped recipe that a recipe is like; None after reporting a problem, or if the recipe is not a variant."""
    if like is None:
        return None
    names = recipe_names()
    if like not in names:
        report.add(("like",), f"no shipped recipe of that name; {way_on(like, names, ', '.join(names))}")
        return None
    at = resource_path(f"agents/recipes/{like}{RECIPE_SUFFIX}")
    text = read_text(at, RecipeError, "a recipe")
    further = toml_tree(text, at, RecipeError).get("like")
    if further is not None:
        report.add(("like",), f"this recipe is itself like {further}", "a recipe without `like` of its own")
        return None
    return read_recipe(text, at)


def _variant(base: Recipe, own: Recipe, tree: Mapping[str, Any]) -> Recipe:
    """A recipe with the settings of another one where its file, the parsed `tree`, states none."""
    changed = {override.partition("=")[0] for override in own.overrides}
    kept = [override for override in base.overrides if override.partition("=")[0] not in changed]
    replaced = _BUDGET if any(key in tree for key in _BUDGET) else ()
    inherited = {key: value for key, value in base.settings.items() if key not in replaced}
    return replace(
        own,
        agent=own.agent or base.agent,
        scenario=own.scenario if "scenario" in tree else base.scenario,
        training=base.training if own.training is None else own.training,
        overrides=(*kept, *own.overrides),
        options={**base.options, **own.options},
        evaluation_scenario=own.evaluation_scenario or base.evaluation_scenario,
        settings={**inherited, **own.settings},
        expected_s=base.expected_s if own.expected_s is None else own.expected_s,
    )


def _is_plain(report: Report, key: str, value: object) -> bool:
    if isinstance(value, str | int | float):
        return True
    report.add(("set", key), f"this is {kind_name(value)}", "text, a number, true or false")
    return False


def with_training(text: str, training: Mapping[str, Any] | None) -> str:
    """Replace the `[training]` block in a scenario's text; None leaves the text unchanged."""
    if training is None:
        return text
    import tomlkit

    document = tomlkit.parse(text)
    document.pop("training", None)
    document["training"] = dict(training)
    return tomlkit.dumps(document)


OPTION_PREFIX = "options."
"""Prefix for options of the agent in `--set`, as in `--set options.gamma=0.9`."""


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """Settings for a training run, not checked yet.

    Attributes:
        agent: agent to train.
        scenario: path or name of the scenario file; empty if `scenario_text` is given.
        scenario_text: TOML of a scenario that has no file, e.g. from the window.
        scenario_name: name of the scenario in messages if `scenario_text` is given.
        overrides: "KEY=VALUE" for each changed value of the scenario.
        training: block that replaces the scenario's `[training]`; None: no replacement.
        options: options of the agent.
        evaluation_scenario: path or name of the scenario for evaluations; empty: the training scenario.
        settings: further fields of `TrainingConfig`.
    """

    agent: str
    scenario: str = ""
    scenario_text: str = ""
    scenario_name: str = ""
    overrides: tuple[str, ...] = ()
    training: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    evaluation_scenario: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def request_of(recipe: Recipe) -> TrainingRequest:
    """Convert a recipe to a request."""
    return TrainingRequest(
        agent=recipe.agent,
        scenario=str(recipe.scenario),
        overrides=recipe.overrides,
        training=recipe.training,
        options=recipe.options,
        evaluation_scenario="" if recipe.evaluation_scenario is None else str(recipe.evaluation_scenario),
        settings=recipe.settings,
    )


def with_changes(request: TrainingRequest, changes: Sequence[str], **settings: Any) -> TrainingRequest:
    """Apply the changes given on the command line to a request.

    Args:
        request: request from the recipe or the other options.
        changes: "KEY=VALUE" of `--set`: options of the agent with the prefix "options.", else values of the scenario.
        settings: fields of `TrainingConfig`; None keeps the value of the request.

    Raises:
        InputError: if a change to an option of the agent lacks a value.
    """
    overrides, options = list(request.overrides), dict(request.options)
    for change in changes:
        key, equals, value = change.partition("=")
        if not key.strip().startswith(OPTION_PREFIX):
            overrides.append(change)
        elif equals:
            options[key.strip().removeprefix(OPTION_PREFIX)] = _option_value(value.strip())
        else:
            raise InputError(f'--set "{change}": not of the form KEY=VALUE, e.g. "options.gamma=0.9"')
    given = {key: value for key, value in settings.items() if value is not None}
    if "steps" in given or "minutes" in given:
        # A budget on the command line, in steps or minutes, replaces the budgets in the recipe of either kind.
        given = {"steps": None, "minutes": None} | given
    return replace(request, overrides=tuple(overrides), options=options, settings={**request.settings, **given})


def prepare(request: TrainingRequest, folder: str | Path) -> TrainingConfig:
    """Create the config of a training run, and check as much as possible in advance.

    Args:
        request: settings of the training run.
        folder: folder for the output of the training run.

    Raises:
        InputError: if the scenario does not exist.
        ConfigError: if the agent does not exist, if an option or a setting is invalid, or if the scenario lacks the
            flows or paths that the agent needs.
        ScenarioError: if the scenario has problems, which the error lists.
    """
    info = agent(request.agent)
    info.config(request.options)
    name, text, files = _scenario(request)
    scenario = read_scenario(Use.TRAIN, text, file=name, folder=files)
    require_paths(scenario, info)
    evaluation_text = ""
    if request.evaluation_scenario:
        path = find_scenario(request.evaluation_scenario)
        evaluation = scenario_at(Use.TRAIN, path)
        require_paths(evaluation, info)
        evaluation_text = with_contents(read_scenario_text(path), evaluation, has_library=False)
    return TrainingConfig(
        agent=request.agent,
        scenario=with_contents(text, scenario, has_library=False),
        scenario_name=scenario.name,
        scenario_folder="" if files is None else str(files.resolve()),
        options=dict(request.options),
        evaluation_scenario=evaluation_text,
        folder=str(Path(folder).resolve()),
        **request.settings,
    )


def _scenario(request: TrainingRequest) -> tuple[str, str, Path | None]:
    """Name of the scenario for messages, its text with all changes, and the folder for relative paths."""
    if request.scenario_text:
        name, text, files = request.scenario_name or "<scenario>", request.scenario_text, None
    else:
        path = find_scenario(request.scenario)
        scenario_at(Use.TRAIN, path, request.overrides)  # reports problems with the lines of the file
        name, text, files = str(path), read_scenario_text(path), path.parent
    text = with_training(text, request.training)
    if request.overrides:
        read_scenario(Use.TRAIN, text, file=name, overrides=request.overrides, folder=files)
        text = with_overrides(text, request.overrides)
    return name, text, files


def check_torch() -> None:
    """Check that PyTorch and safetensors are installed, without the slow import.

    Raises:
        TrainingError: if one of them is missing; the message explains the installation.
    """
    missing = [name for name in ("torch", "safetensors") if importlib.util.find_spec(name) is None]
    if missing:
        raise TrainingError(
            f"training needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed: "
            f"{install_command('train')}, or python3 dev.py setup in a checkout"
        )


def _option_value(text: str) -> object:
    """A value parsed as TOML, or the text itself if it is not TOML."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
