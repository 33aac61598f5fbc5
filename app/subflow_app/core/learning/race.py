"""A race: the same scenario twice, with a learned policy and with a classic controller in the same flows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from subflow_app.core.catalog import app_catalog
from subflow_app.core.errors import InputError, TrainingError
from subflow_app.core.learning.training_progress import CLASSICS, Training
from subflow_app.core.scenarios.scenario_source import ScenarioSource, with_contents
from subflow_app.core.scenarios.toml_edit import TomlEditError, TomlValue, read_toml, set_value
from subflow_sim.catalog import catalog
from subflow_sim.scenario import parse_scenario
from subflow_sim.vec_env import agent_spec

_KINDS = ("mptcp", "tcp")


def rivals(controller: str) -> tuple[str, ...]:
    """The classic controllers that a learned one can race against: of whole connections, or of single paths."""
    known = {each.name: each.is_coupled for each in catalog().controllers}
    if known.get(controller, True):
        return CLASSICS
    return tuple(name for name, is_coupled in known.items() if not is_coupled and agent_spec(name) is None)


def race_sources(
    text: str, folder: Path | None, training: Training, classic: str, *, title: str
) -> tuple[ScenarioSource, ScenarioSource]:
    """Both entrants of a race, ready to run.

    The policy is copied first: the file it is in is written anew while the training goes on, and the run that is stored
    names a file that stays as it was.

    Args:
        text: TOML of the scenario.
        folder: where the files are that it names; None: it names none.
        training: whose newest policy races.
        classic: name of the controller that it races against.
        title: of the scenario.

    Raises:
        InputError: if no flow of the scenario can race.
        TrainingError: if the policy cannot be copied.
        ScenarioError: with what is wrong with the scenario.
    """
    policy = _kept_policy(training)
    coupled = {each.name: each.is_coupled for each in catalog().controllers}
    # With the content of the files that it names: a policy has to lie beside the scenario, and these lie elsewhere.
    whole = with_contents(text, parse_scenario(text, file=title, folder=folder, algorithms=app_catalog()))
    texts = race_texts(
        whole,
        controller=training.controller,
        policy=policy.name,
        classic=classic,
        needs_paths=coupled.get(training.controller, True) or coupled.get(classic, True),
        title=title,
        entrant=training.name,
    )
    first, second = (parse_scenario(each, file=title, folder=policy.parent, algorithms=app_catalog()) for each in texts)
    return ScenarioSource(first, texts[0]), ScenarioSource(second, texts[1])


def _kept_policy(training: Training) -> Path:
    path = training.policy_path
    if path is None:
        raise TrainingError(f"{training.name} has no policy yet")
    kept = path.with_name(f"raced-{training.policy_version}{path.suffix}")
    try:
        shutil.copyfile(path, kept)
    except OSError as error:
        raise TrainingError(f"{kept} cannot be written: {error.strerror or error}") from error
    return kept


def race_texts(
    text: str, *, controller: str, policy: str, classic: str, needs_paths: bool, title: str, entrant: str
) -> tuple[str, str]:
    """The scenario with the policy and with the classic controller.

    Flows that already have the policy's controller are the racers; without such, all that it could serve. The others
    keep their controllers: what a policy does to them is part of the race.

    Args:
        text: TOML of the scenario.
        controller: congestion controller that runs the policy.
        policy: its file, as the scenario names it.
        classic: name of the controller that it races against.
        needs_paths: only connections with several paths can race.
        title: of the scenario, from which the two runs get their names.
        entrant: what the run with the policy is called after.

    Raises:
        InputError: if no flow can race.
    """
    try:
        tree = read_toml(text)
    except TomlEditError as error:
        raise InputError(f"the scenario cannot be read: {error}") from error
    flows: Any = tree.get("flows", {})
    names = _racers(flows if isinstance(flows, Mapping) else {}, controller, needs_paths=needs_paths)
    if not names:
        kind = "mptcp" if needs_paths else "mptcp or tcp"
        raise InputError(f"no flow of {title} can race: {controller} needs a flow of kind {kind}")
    learned = _with_controllers(text, names, {"name": controller, "policy": policy}, f"{title}: {entrant}")
    return learned, _with_controllers(text, names, classic, f"{title}: {classic}")


def _racers(flows: Mapping[str, Any], controller: str, *, needs_paths: bool) -> list[str]:
    kinds = _KINDS[:1] if needs_paths else _KINDS
    able = {name: flow for name, flow in flows.items() if isinstance(flow, Mapping) and flow.get("kind") in kinds}
    chosen = [name for name, flow in able.items() if _controller_of(flow) == controller]
    return chosen or list(able)


def _controller_of(flow: Mapping[str, Any]) -> object:
    given = flow.get("controller")
    return given.get("name") if isinstance(given, Mapping) else given


def _with_controllers(text: str, names: list[str], controller: TomlValue, title: str) -> str:
    for name in names:
        text = set_value(text, ("flows", name, "controller"), controller)
    return set_value(text, ("name",), title)
