"""Learners of other libraries train in our environments without changes."""

from __future__ import annotations

import gymnasium
import numpy as np
from stable_baselines3 import PPO
from tests.helpers.learning import SINGLE_PATH

import subflow_sim.env  # noqa: F401 - registers the environments
from subflow_sim import parse_scenario


def test_ppo_of_stable_baselines_trains_on_a_path() -> None:
    env = gymnasium.make("Subflow/Path-v0", scenario=parse_scenario(SINGLE_PATH), episode_s=2.0)
    learner = PPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=4, seed=1, device="cpu")
    before = [parameter.detach().clone() for parameter in learner.policy.parameters()]

    learner.learn(512)

    after = [parameter.detach() for parameter in learner.policy.parameters()]
    changes = [float((old - new).abs().max()) for old, new in zip(before, after, strict=True)]
    assert learner.num_timesteps == 512
    assert max(changes) > 1e-4
    assert np.isfinite(changes).all()
    observation, _ = env.reset(seed=5)
    choice, _ = learner.predict(observation, deterministic=True)
    assert env.action_space.contains(choice)
    # Several episodes ended, each with its own return.
    assert learner.ep_info_buffer is not None
    assert len({each["r"] for each in learner.ep_info_buffer}) > 1
