"""A race: the same scenario twice, with a learned policy and with another controller in the same flows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import Use, check_kept
from subflow_app.features.editor.core.algorithm_choices import (
    AlgorithmChoice,
    name_in,
    other_controllers,
    own_or_named,
    without_defaults,
)
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.features.training.core.training_progress import CLASSICS, Training
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue, read_toml, set_value
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ScenarioError

_KINDS = ("mptcp", "tcp")


def rivals(controller: str, text: str, folder: Path | None) -> list[AlgorithmChoice]:
    """The controllers that a learned one can race against: that of the scenario, the classics, then all others.

    Args:
        controller: that runs the policy.
        text: TOML of the scenario, whose scripts are among them; one with problems brings none.
        folder: where the files are that it names; None: it names none.
    """
    own = AlgorithmChoice("", tr("as in the scenario"), tr("The scenario as it is"), is_own=True)
    try:
        scenario = source_of(Use.RACE, text, folder=folder).scenario
    except (ScenarioError, TomlEditError):
        scenario = None
    others = other_controllers(scenario, is_multipath=_is_coupled(controller), folder=folder)
    return [own, *sorted(others, key=lambda each: each.value not in CLASSICS)]


def _is_coupled(controller: str) -> bool:
    return next((each.is_coupled for each in app_catalog().controllers if each.name == controller), True)


def race_sources(
    text: str, folder: Path | None, training: Training, rival: AlgorithmChoice, *, title: str
) -> tuple[ScenarioSource, ScenarioSource]:
    """Both entrants of a race, ready to run.

    The policy is copied first: the file it is in is written anew while the training goes on, and the run that is stored
    names a file that stays as it was.

    Args:
        text: TOML of the scenario.
        folder: where the files are that it names; None: it names none.
        training: whose newest policy races.
        rival: that it races against.
        title: of the scenario.

    Raises:
        InputError: if no flow of the scenario can race.
        TrainingError: if the policy cannot be copied.
        ScenarioError: with what is wrong with the scenario.
    """
    policy = _kept_policy(training)
    # With the content of the files that it names: the entrants have no folder.
    whole = source_of(Use.RACE, text, file=title, folder=folder)
    texts = race_texts(
        whole.text,
        controller=training.controller,
        policy=str(policy.absolute()),
        rival=rival,
        title=title,
        entrant=training.name,
    )
    entrants = source_of(Use.RACE, texts[0], file=title), source_of(Use.RACE, texts[1], file=title)
    for each in entrants:
        check_kept(Use.RACE, whole.scenario, each.scenario)
    return entrants


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
    text: str, *, controller: str, policy: str, rival: AlgorithmChoice, title: str, entrant: str
) -> tuple[str, str]:
    """The scenario with the policy and with the rival.

    Flows that already have the policy's controller are the racers, and keep their options; without such, all that it
    could serve. The others keep their controllers: the effect of a policy on them is part of the race.

    Args:
        text: TOML of the scenario.
        controller: congestion controller that runs the policy.
        policy: its file, as the scenario names it.
        rival: the controller that it races against.
        title: of the scenario, from which the two runs get their names.
        entrant: name of the run with the policy.

    Raises:
        InputError: if no flow can race.
    """
    try:
        tree = read_toml(text)
    except TomlEditError as error:
        raise InputError(f"the scenario cannot be read: {error}") from error
    flows: Any = tree.get("flows", {})
    needs_paths = _is_coupled(controller) or (not rival.is_own and _is_coupled(name_in(rival.value)))
    own = _racers(flows if isinstance(flows, Mapping) else {}, controller, needs_paths=needs_paths)
    if not own:
        kind = "mptcp" if needs_paths else "mptcp or tcp"
        raise InputError(f"no flow of {title} can race: {controller} needs a flow of kind {kind}")
    learned = {name: _with_policy(value, controller, policy) for name, value in own.items()}
    others = {} if rival.is_own else {name: own_or_named(value, rival.value) for name, value in own.items()}
    return (
        _with_controllers(text, learned, f"{title}: {entrant}"),
        _with_controllers(text, others, f"{title}: {rival.text}"),
    )


def _racers(flows: Mapping[str, Any], controller: str, *, needs_paths: bool) -> dict[str, TomlValue]:
    """The flows that race, with the controllers that they have; an empty name where the scenario leaves it out."""
    kinds = _KINDS[:1] if needs_paths else _KINDS
    able = {
        name: without_defaults(flow.get("controller", ""))
        for name, flow in flows.items()
        if isinstance(flow, Mapping) and flow.get("kind") in kinds
    }
    chosen = {name: value for name, value in able.items() if name_in(value) == controller}
    return chosen or able


def _with_policy(own: TomlValue, controller: str, policy: str) -> TomlValue:
    options = own if isinstance(own, Mapping) and name_in(own) == controller else {}
    return {**options, "name": controller, "policy": policy}


def _with_controllers(text: str, controllers: Mapping[str, TomlValue], title: str) -> str:
    for name, controller in controllers.items():
        text = set_value(text, ("flows", name, "controller"), controller)
    return set_value(text, ("name",), title)
