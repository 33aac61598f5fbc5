"""From what a person asks for to the config of a training, checked before anything slow is imported or begun."""

from __future__ import annotations

import importlib.util
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
from subflow_app.features.training.core.recipes import Recipe, with_training
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.resources import find_scenario
from subflow_sim.scenario import read_scenario_text

OPTION_PREFIX = "options."
"""How `--set` names options of the agent: options.gamma=0.9."""


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """What to train, before it is checked.

    Attributes:
        agent: what learns.
        scenario: path or name of the scenario file; empty where `scenario_text` is given.
        scenario_text: TOML of a scenario that is in no file, as the window has it.
        scenario_name: what messages call that.
        overrides: "KEY=VALUE" for the scenario.
        training: block in place of the scenario's `[training]`; None: that stays.
        options: of the agent.
        evaluation_scenario: path or name of what to evaluate on; empty: the scenario.
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
    """What a recipe asks for."""
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
    """The request with what the command line says on top.

    Args:
        request: the recipe's, or what the other options say.
        changes: "KEY=VALUE" of `--set`: options of the agent with the prefix "options.", else values of the scenario.
        settings: fields of `TrainingConfig`; None stands for "not given".

    Raises:
        InputError: if an option of the agent has no value.
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
        # A budget on the command line takes the place of the recipe's, also where that is of the other kind.
        given = {"steps": None, "minutes": None} | given
    return replace(request, overrides=tuple(overrides), options=options, settings={**request.settings, **given})


def prepare(request: TrainingRequest, folder: str | Path) -> TrainingConfig:
    """The config of the training, once everything that can be known beforehand is known to be right.

    Args:
        request: what to train.
        folder: where the training writes.

    Raises:
        InputError: if there is no such scenario.
        ConfigError: if there is no such agent, an option or a setting is not acceptable, or the scenario lacks the
            flows or paths that the agent needs.
        ScenarioError: with all problems of the scenario.
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
    """(name for messages, text with everything that was changed, folder of the files it names)."""
    if request.scenario_text:
        name, text, files = request.scenario_name or "<scenario>", request.scenario_text, None
    else:
        path = find_scenario(request.scenario)
        scenario_at(Use.TRAIN, path, request.overrides)  # its problems with their lines in the file
        name, text, files = str(path), read_scenario_text(path), path.parent
    text = with_training(text, request.training)
    if request.overrides:
        read_scenario(Use.TRAIN, text, file=name, overrides=request.overrides, folder=files)
        text = with_overrides(text, request.overrides)
    return name, text, files


def check_torch() -> None:
    """See that PyTorch is installed, without the seconds that importing it takes.

    Raises:
        TrainingError: if it is not; the text says how to get it.
    """
    missing = [name for name in ("torch", "safetensors") if importlib.util.find_spec(name) is None]
    if missing:
        raise TrainingError(
            f"training needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed: "
            f"{install_command('train')}, or python3 dev.py setup in a checkout"
        )


def _option_value(text: str) -> object:
    """A value as TOML, or the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
