"""The controllers and schedulers of the compiled core, read from its declarations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from subflow_sim import _core
from subflow_sim.decisions import rule_of
from subflow_sim.gate import is_file
from subflow_sim.params import Algorithm, AlgorithmCatalog, Dimension, Param
from subflow_sim.policy_choice import choose_policy
from subflow_sim.policy_library import NEUTRAL, SUFFIX, PolicyLibrary, shipped_policies
from subflow_sim.scenario_model import Choice
from subflow_sim.script_reader import algorithm_of
from subflow_sim.whole_scenario import Scenario

_DIMENSIONS = {
    _core.OptionKind.NUMBER: Dimension.NUMBER,
    _core.OptionKind.RATIO: Dimension.RATIO,
    _core.OptionKind.TIME: Dimension.TIME,
    _core.OptionKind.RATE: Dimension.RATE,
    _core.OptionKind.FLAG: Dimension.FLAG,
    _core.OptionKind.CHOICE: Dimension.CHOICE,
    _core.OptionKind.POLICY: Dimension.POLICY,
}


@cache
def catalog() -> AlgorithmCatalog:
    """All controllers and schedulers that a scenario file may name."""
    return AlgorithmCatalog(
        controllers=tuple(_algorithm(info) for info in _core.controller_infos()),
        schedulers=tuple(_algorithm(info) for info in _core.scheduler_infos()),
        policies=PolicyLibrary((shipped_policies(),)),
    )


def catalog_with(policies: PolicyLibrary) -> AlgorithmCatalog:
    """The catalog with these trained policies in place of the shipped policies."""
    return replace(catalog(), policies=policies)


def catalog_of(scenario: Scenario, algorithms: AlgorithmCatalog | None = None) -> AlgorithmCatalog:
    """The algorithms available to the flows of a scenario, including the scripts of the scenario.

    Args:
        scenario: the scenario; its scripts must compile.
        algorithms: the algorithms without scripts; None: the algorithms of `catalog`.
    """
    return (algorithms or catalog()).with_scripts(map(algorithm_of, scenario.scripts))


def controllers() -> tuple[Algorithm, ...]:
    """The congestion controllers, in the order of the core's list."""
    return catalog().controllers


def schedulers() -> tuple[Algorithm, ...]:
    """The packet schedulers, in the order of the core's list."""
    return catalog().schedulers


@cache
def _by_name() -> dict[str, Algorithm]:
    return {each.name: each for each in (*controllers(), *schedulers())}


def resolved(choice: Choice, profile: str) -> Choice:
    """A controller or scheduler of a scenario with all options, in the order of their declaration.

    Options that the choice omits take their defaults in the transport profile `profile`. A choice whose algorithm or
    options are unknown is returned unchanged, and the core refuses it. A trained policy given only by name must be
    shipped with the program.

    Raises:
        ParamError: if the trained policy is missing or does not fit the algorithm.
    """
    if choice.script is not None:
        return algorithm_of(choice.script).with_defaults(choice.options, profile)
    known = _by_name().get(choice.name)
    if known is None or not choice.options.keys() <= {option.key for option in known.options}:
        return choice
    if choice.policy is not None:
        return replace(known.with_defaults(choice.options, profile), policy=choice.policy)
    return choose_policy(known, choice.options, profile, catalog().policies)


def _algorithm(info: _core.AlgorithmInfo) -> Algorithm:
    return Algorithm(
        name=info.name,
        summary=info.summary,
        source=info.source,
        options=tuple(_param(option, info.name) for option in info.options),
        is_coupled=info.is_coupled,
        scheduler=info.scheduler,
        rules=tuple(rule_of(rule) for rule in info.rules),
    )


def _param(option: _core.OptionInfo, algorithm: str) -> Param:
    bases = (option.base,) if option.base else ()
    if option.kind == _core.OptionKind.CHOICE:
        return Param(
            option.key,
            Dimension.CHOICE,
            option.help,
            default=option.default_choice,
            textbook_default=option.textbook_choice or None,
            choices=tuple(option.choices),
            applies_to=bases,
        )
    if option.kind == _core.OptionKind.POLICY:
        learner = option.base or algorithm
        default = learner if is_file(shipped_policies() / f"{learner}{SUFFIX}") else NEUTRAL
        return Param(option.key, Dimension.POLICY, option.help, default=default, applies_to=bases)
    if option.kind == _core.OptionKind.FLAG:
        return Param(option.key, Dimension.FLAG, option.help, default=bool(option.default_number), applies_to=bases)
    return Param(
        option.key,
        _DIMENSIONS[option.kind],
        option.help,
        default=option.default_number,
        minimum=option.minimum,
        maximum=option.maximum,
        applies_to=bases,
        symbol=option.unit,
    )
