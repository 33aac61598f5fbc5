"""N environments stepped together: equal to N single ones, step by step."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from tests.helpers.learning import SHORT, SINGLE_PATH, VARYING
from tests.sim.test_env import CASES, LEARNING

from subflow_sim import SimulationError, parse_scenario
from subflow_sim.env import IDS
from subflow_sim.vector_env import ConnectionVectorEnv, HostVectorEnv


@pytest.mark.parametrize(("id_", "controller"), CASES)
def test_it_equals_as_many_single_ones(id_, controller):
    count = 3
    # Controllers that choose their epochs make no decisions in the first seconds.
    has_own_epochs = LEARNING[controller].epoch == "own"
    text = SINGLE_PATH if id_ == "Subflow/Path-v0" else SHORT if has_own_epochs else VARYING
    scenario, episode_s = parse_scenario(text), None if has_own_epochs else 1.0
    together = gymnasium.make_vec(
        id_, count, scenario=scenario, controller=controller, threads=2, others="random", episode_s=episode_s
    )
    singles: list[Any] = [
        IDS[id_](scenario, controller, number=number, others="random", episode_s=episode_s) for number in range(count)
    ]
    together.action_space.seed(1)
    observations, _ = together.reset(seed=4)
    for number, single in enumerate(singles):
        np.testing.assert_equal(row(observations, number), single.reset(seed=4)[0])
    ended = [False] * count
    after = 0  # steps since all have started a second episode
    while after < 20:
        actions = together.action_space.sample()
        observations, rewards, terminations, truncations, infos = together.step(actions)
        for number, single in enumerate(singles):
            if ended[number]:  # this step started the next episode
                observation, info = single.reset()
                told: tuple[Any, ...] = (observation, 0.0, False, False)
            else:
                *told_list, info = single.step(actions[number])
                told = tuple(told_list)
            seen = (row(observations, number), rewards[number], terminations[number], truncations[number])
            np.testing.assert_equal(seen, told)
            assert infos["time_s"][number] == info["time_s"]
            ended[number] = bool(told[2] or told[3])
            if ended[number]:
                assert infos["_metrics"][number]
                assert {key: infos["metrics"][key][number] for key in info["metrics"]} == info["metrics"]
        after += all(single.unwrapped._batch.vec.episode[0] > 0 for single in singles)


def row(observations: Any, number: int) -> Any:
    if isinstance(observations, dict):
        return {key: values[number] for key, values in observations.items()}
    return observations[number]


def test_it_says_how_episodes_follow_each_other():
    env = HostVectorEnv(2, parse_scenario(SHORT), seed=1)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, infos = env.reset()
    assert env.observation_space.contains(observations)
    assert infos["episode_number"].tolist() == [0, 0]
    assert env.reset()[1]["episode_number"].tolist() == [1, 1]
    assert env.reset(seed=1)[1]["episode_number"].tolist() == [0, 0]
    np.testing.assert_equal(env.reset(seed=1)[0], observations)


def test_what_was_returned_stays_as_it_is():
    env = ConnectionVectorEnv(2, parse_scenario(SHORT), seed=1)
    env.reset()
    told = env.step(np.zeros((2, 2, 2)))
    kept = [told[0]["subflows"].copy(), *(each.copy() for each in told[1:4]), told[4]["time_s"].copy()]
    env.step(np.zeros((2, 2, 2)))
    np.testing.assert_equal([told[0]["subflows"], *told[1:4], told[4]["time_s"]], kept)


def test_statistics_of_episodes_are_those_of_gymnasium():
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        ConnectionVectorEnv(2, parse_scenario(SHORT), seed=1, episode_s=1.0)
    )
    env.reset()
    returns = np.zeros(2)
    while True:
        _, rewards, _, truncations, infos = env.step(np.zeros((2, 2, 2)))
        returns += rewards
        if truncations.any():
            break
    np.testing.assert_allclose(infos["episode"]["r"][truncations], returns[truncations])


def test_refuses_what_cannot_be():
    scenario = parse_scenario(SHORT)
    with pytest.raises(SimulationError, match='nothing is drawn as "ansi" here'):
        HostVectorEnv(2, scenario, render_mode="ansi")

    env = HostVectorEnv(2, scenario, seed=1)
    with pytest.raises(SimulationError, match=r"call reset\(\) first"):
        env.step(np.zeros((2, 2, 1)))
    env.reset()
    with pytest.raises(SimulationError, match="an action has 4 numbers, not 2"):
        env.step(np.zeros((2, 4, 1)))
