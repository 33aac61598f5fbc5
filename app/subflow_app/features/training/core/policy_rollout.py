"""Lets a policy act on its scenario for a moment and keeps what it saw: the ground on which its picture is drawn."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.training.core.policy_surface import (
    MOST_OBSERVATIONS,
    Feature,
    FloatArray,
    Observations,
    PolicyOutput,
    SeenPolicy,
)
from subflow_app.foundation.errors import InputError
from subflow_sim.policy import Policy
from subflow_sim.scenario import Scenario
from subflow_sim.training import Distribution
from subflow_sim.vec_env import AgentSpec, VecEnv, with_learner

# Apart from the seeds of trainings and evaluations, so that neither gains nor loses by being looked at.
_SEED = 7_777_777
# Before that, queues and estimates are still those of an empty network.
_SETTLING = 20
_LONGEST_S = 1.0


def observe_policy(path: Path, scenario_text: str, folder: Path | None = None) -> SeenPolicy:
    """Run a policy until it has decided some hundred times, or for a second at most.

    Args:
        path: of the policy file.
        scenario_text: TOML of the scenario or distribution that it learns on.
        folder: where the files are that it names; None: it names none.

    Raises:
        InputError: if it makes no decision there.
        PolicyError: if the file is none.
        ScenarioError: with what is wrong with the scenario.
        SimulationError: if the scenario has no flow for it.
    """
    policy = Policy.load(path)
    distribution = Distribution.from_scenario(read_scenario(Use.TRAIN, scenario_text, folder=folder))
    options = {**policy.options, "history": float(policy.history)}

    def make_scenario(env: int, episode: int) -> Scenario:
        return with_learner(distribution.draw(_SEED, env, episode), policy.controller, options)

    env = VecEnv(make_scenario, policy.controller, 1, seed=_SEED, slots=distribution.slots(policy.controller, options))
    seen = _watch(env, policy)
    if len(seen) == 0:
        raise InputError(f"{policy.controller} makes no decision on this scenario")
    return SeenPolicy(policy, _features(env.info), _outputs(env.info), seen)


def _watch(env: VecEnv, policy: Policy) -> Observations:
    rows: list[FloatArray] = []
    masks: list[NDArray[np.bool_]] = []
    actings: list[NDArray[np.bool_]] = []
    action = np.zeros((1, env.slots, env.info.action_width), np.float32)
    env.reset()
    deadline = time.monotonic() + _LONGEST_S
    steps = 0
    while len(rows) < MOST_OBSERVATIONS and time.monotonic() < deadline:
        # All that one agent sees is one observation; several agents may decide at the same instant.
        for agent in np.unique(env.agent[0][env.acting[0]]).tolist():
            own = env.agent[0] == agent
            row, mask, acting = env.obs[0][own][None], env.mask[0][own][None], env.acting[0][own][None]
            chosen, _values = policy.act_many(row, acting, mask)
            action[0][own] = chosen[0]
            if steps >= _SETTLING:
                rows.append(row[0].copy())
                masks.append(mask[0].copy())
                actings.append(acting[0].copy())
        env.step(action)
        steps += 1
    return _together(rows, masks, actings, env.info.width)


def _together(
    rows: list[FloatArray], masks: list[NDArray[np.bool_]], actings: list[NDArray[np.bool_]], width: int
) -> Observations:
    """Agents may see different numbers of subflows: padded to the most."""
    slots = max((len(row) for row in rows), default=0)
    seen = Observations(
        np.zeros((len(rows), slots, width), np.float32),
        np.zeros((len(rows), slots), np.bool_),
        np.zeros((len(rows), slots), np.bool_),
    )
    for number, (row, mask, acting) in enumerate(zip(rows, masks, actings, strict=True)):
        seen.rows[number, : len(row)] = row
        seen.mask[number, : len(row)] = mask
        seen.acting[number, : len(row)] = acting & mask
    return seen


def _features(spec: AgentSpec) -> tuple[Feature, ...]:
    return tuple(Feature(each.name, each.unit, each.help, each.minimum, each.maximum) for each in spec.features)


def _outputs(spec: AgentSpec) -> tuple[PolicyOutput, ...]:
    if spec.choices:
        return (PolicyOutput("choice", "", 0.0, len(spec.choices) - 1.0, spec.choices),)
    return tuple(PolicyOutput(each.name, each.unit, each.minimum, each.maximum) for each in spec.actions)
