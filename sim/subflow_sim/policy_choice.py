"""Resolves a controller's trained policy, and the options whose defaults are their values in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_sim.errors import ParamError, PolicyError
from subflow_sim.plain_text import did_you_mean
from subflow_sim.policy_library import NEUTRAL, RANDOM, PolicyLibrary
from subflow_sim.scenario_model import Choice, OptionValue, PolicyFile

if TYPE_CHECKING:
    from subflow_sim.params import Algorithm
    from subflow_sim.policy import Policy


def choose_policy(
    algorithm: Algorithm,
    given: Mapping[str, OptionValue],
    profile: str,
    library: PolicyLibrary,
    folder: Path | None = None,
) -> Choice:
    """The choice of an algorithm with all its options, and with the policy named by its option `policy`.

    Omitted options take their values in the policy's training, otherwise the profile's defaults. For an algorithm
    without a policy, the result equals `Algorithm.with_defaults`.

    Args:
        algorithm: a controller or scheduler.
        given: options from the scenario, SI.
        profile: profile of the transport.
        library: policies by name.
        folder: folder of the scenario; None if the scenario is not a file.

    Raises:
        ParamError: if the policy is missing, unusable, or does not fit the algorithm.
    """
    choice = algorithm.with_defaults(given, profile)
    name = choice.options.get("policy")
    if not isinstance(name, str) or name in (NEUTRAL, RANDOM):
        return choice
    file = library.read(name, folder)
    return with_policy(algorithm, given, profile, file)


def with_policy(algorithm: Algorithm, given: Mapping[str, OptionValue], profile: str, file: PolicyFile) -> Choice:
    """As `choose_policy`, with a loaded policy file.

    Raises:
        ParamError: if the policy is unusable or does not fit the algorithm.
    """
    policy = _policy(file)
    shown = f'"{file.name}"'
    # `uncoupled` runs its base on each subflow; for other algorithms the option `base` has a different meaning.
    learner = str(given.get("base", algorithm.name)) if algorithm.name == "uncoupled" else algorithm.name
    if policy.controller != learner:
        raise ParamError(f"{shown} was trained for {policy.controller}", f"a policy for {learner}")
    wanted = given.get("history", policy.history)
    if wanted != policy.history:
        message = f"{shown} was trained with history = {policy.history}, not {wanted:g}"
        raise ParamError(message, f"history = {policy.history}, or leave it out")
    params = {param.key: param for param in algorithm.options if param.key != "policy"}
    trained: dict[str, OptionValue] = {"history": float(policy.history)}
    for key, value in policy.options.items():
        if key not in params:
            hint = did_you_mean(key, list(params))
            raise ParamError(
                f'{shown} was trained with the option "{key}", which {algorithm.name} does not have{hint}', ""
            )
        try:
            trained[key] = params[key].parse(value)  # type: ignore[assignment]  # options are numbers, flags and names
        except ParamError as error:
            raise ParamError(f"{shown} was trained with {key} = {value!r}: {error.message}", error.allowed) from error
    return replace(algorithm.with_defaults({**trained, **given}, profile), policy=file)


def policy_slots(file: PolicyFile) -> int | None:
    """Maximum number of subflows for joint actions of a policy; None: no limit.

    Raises:
        ParamError: if the policy is unusable.
    """
    return _policy(file).slots


def _policy(file: PolicyFile) -> Policy:
    from subflow_sim.policy import Policy  # loads the compiled core, which scenarios without policies do not need

    try:
        return Policy.from_bytes(file.content)
    except PolicyError as error:
        raise ParamError(f'"{file.name}": {error}', "a policy file of this version") from error
