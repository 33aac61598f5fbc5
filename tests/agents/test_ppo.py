from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.helpers.choice_env import SHOWN_CHOICE, ChoiceEnv

from subflow_agents.errors import CheckpointError, ConfigError
from subflow_agents.learner import LearnerSetup
from subflow_agents.options import options_of
from subflow_agents.ppo import PpoLearner, advantages
from subflow_agents.ppo_config import PpoConfig


def learner_of(env: ChoiceEnv, config: PpoConfig | None = None, seed: int = 1) -> PpoLearner:
    setup = LearnerSetup(spec=env.info, num_envs=env.num_envs, slots=env.slots, seed=seed)
    return PpoLearner(config or PpoConfig(rollout=64), setup)


def begun(num_envs: int, config: PpoConfig | None = None, **values: Any) -> tuple[ChoiceEnv, PpoLearner]:
    """An environment after its reset, and a learner."""
    env = ChoiceEnv(num_envs, **values)
    env.reset()
    return env, learner_of(env, config)


def decide(env: ChoiceEnv, learner: PpoLearner) -> int:
    """One step; returns the number of decisions that it closed."""
    closed = learner.observe(env)
    env.send(learner.act(env))
    return closed


def train(env: ChoiceEnv, learner: PpoLearner, steps: int) -> None:
    for _ in range(steps):
        decide(env, learner)
        while learner.learn(0.0):
            pass
        env.recv()


# ---------------------------------------------------------------------------------------------- generalised advantages


def test_advantages_are_the_discounted_sums_of_errors() -> None:
    # Three lanes of at most five decisions; one episode ends in the middle of the first lane, another at the end of the
    # third.
    rng = np.random.default_rng(3)
    reward, value = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    boundary = np.zeros((5, 3), dtype=np.bool_)
    boundary[2, 0] = boundary[3, 2] = True
    bootstrap = np.where(boundary, rng.normal(size=(5, 3)), 0.0)
    count = np.array([5, 2, 4])
    last_value = np.array([0.7, -0.3, 9.0])
    gamma, decay = 0.9, 0.8

    found = advantages(reward, value, boundary, bootstrap, count, last_value, gamma, decay)

    for lane in range(3):
        for start in range(5):
            expected, weight = 0.0, 1.0
            for t in range(start, count[lane]):
                if boundary[t, lane]:
                    following = bootstrap[t, lane]
                else:
                    following = value[t + 1, lane] if t + 1 < count[lane] else last_value[lane]
                expected += weight * (reward[t, lane] + gamma * following - value[t, lane])
                weight *= gamma * decay
                if boundary[t, lane]:
                    break
            assert found[start, lane] == pytest.approx(expected, abs=1e-12)


def test_a_constant_reward_without_an_end_is_worth_its_geometric_series() -> None:
    # With the right value of every state, all advantages are 0: V = 1 / (1 - gamma).
    none, worth = np.zeros((4, 2)), np.full((4, 2), 10.0)
    found = advantages(none + 1, worth, none > 0, none, np.full(2, 4), worth[0], 0.9, 0.95)
    assert found == pytest.approx(none, abs=1e-12)


# ------------------------------------------------------------------------------------------------------ bookkeeping


def test_the_first_observation_closes_nothing_and_every_later_one_closes_one_decision_per_lane() -> None:
    env, learner = begun(4, slots=2)
    assert decide(env, learner) == 0
    assert learner.observe(env) == 8


def test_a_decision_whose_agent_has_gone_is_forgotten() -> None:
    env, learner = begun(2)
    decide(env, learner)
    env.agent[0, 0] = 7  # another subflow has taken the slot

    assert learner.observe(env) == 1
    learner.act(env)
    env.acting[1, 0] = False  # this subflow does not act
    assert learner.observe(env) == 1


def test_what_follows_a_decision_whose_agent_went_is_not_what_comes_of_another() -> None:
    env, learner = begun(1)
    decide(env, learner)
    decide(env, learner)  # the first decision is closed
    worth = learner.state().tensors["open.value"][0]
    env.agent[0, 0] = 7  # another subflow has taken the slot, so the second decision gets no reward
    learner.observe(env)

    state = learner.state().tensors
    assert state["rollout.count"][0] == 1
    assert state["rollout.boundary"][0, 0]
    assert state["rollout.bootstrap"][0, 0] == worth


def test_a_subflow_that_acts_more_often_counts_no_more_than_the_others() -> None:
    env, learner = begun(2, PpoConfig(rollout=8))
    counts = np.zeros(2)
    for turn in range(20):
        learner.observe(env)
        counts = learner.state().tensors["rollout.count"]
        assert counts.max() <= 4
        env.send(learner.act(env))
        if learner.learn(0.0):
            break
        env.recv()
        env.acting[1, 0] = turn % 3 == 2  # a third as often
    assert counts.tolist() == [4, 4]
    assert turn == 12  # the fourth decision of the slow subflow


def test_the_step_after_an_episode_is_nobodys_decision() -> None:
    env, learner = begun(1, episode_steps=2)
    # decide, close, close with the end; then again from the reset
    assert [decide(env, learner) for _ in range(7)] == [0, 1, 1, 0, 1, 1, 0]


@pytest.mark.parametrize("terminated", [False, True])
def test_a_time_limit_has_a_future_and_an_end_has_none(terminated: bool) -> None:
    env, learner = begun(1, episode_steps=1)
    decide(env, learner)
    env.terminated[0] = terminated
    learner.observe(env)

    state = learner.state().tensors
    assert state["rollout.boundary"][0, 0]
    if terminated:
        assert state["rollout.bootstrap"][0, 0] == 0
    else:
        assert state["rollout.bootstrap"][0, 0] == pytest.approx(value_of(learner, env.obs[0, 0]), rel=1e-5)


def value_of(learner: PpoLearner, obs: np.ndarray) -> float:
    """Value of an observation by the exported critic."""
    return float(run_exported(learner, "critic", obs)[0])


def run_exported(learner: PpoLearner, name: str, obs: np.ndarray) -> np.ndarray:
    parts = learner.policy()
    x = obs.astype(np.float64)
    for k, layer in enumerate(parts.document[name]["layers"]):
        if layer["type"] == "linear":
            x = parts.tensors[f"{name}.layers.{k}.weight"] @ x + parts.tensors[f"{name}.layers.{k}.bias"]
        else:
            x = np.tanh(x)
    return x


# ------------------------------------------------------------------------------------------------------- learning


def test_it_learns_what_it_is_shown() -> None:
    env, learner = begun(16, PpoConfig(rollout=256, entropy_weight=0.0), offset=5.0)
    train(env, learner, 250)

    for right in range(3):
        assert run_exported(learner, "actor", np.eye(3)[right]).argmax() == right
    learner.metrics()
    train(env, learner, 64)
    # 6 for a right choice, 5 for a wrong choice: an untrained policy gets 5.33
    assert learner.metrics()["return_mean"] > 5.9


def test_a_new_policy_may_prefer_to_change_nothing() -> None:
    env, learner = begun(4, PpoConfig(rollout=64, keep_logit=2.0))
    logits = run_exported(learner, "actor", np.eye(3)[0])
    assert logits[env.info.neutral_choice] == pytest.approx(2.0, abs=0.1)
    assert np.abs(np.delete(logits, env.info.neutral_choice)).max() < 0.1
    assert np.abs(run_exported(begun(4)[1], "actor", np.eye(3)[0])).max() < 0.1


def test_values_approach_what_rewards_come_to() -> None:
    # Every choice earns between 5 and 6, without end: values are between 5 / (1 - gamma) and 6 / (1 - gamma).
    env, learner = begun(16, PpoConfig(rollout=256, gamma=0.9), offset=5.0)
    train(env, learner, 250)
    for right in range(3):
        assert 55 < value_of(learner, np.eye(3)[right]) < 61


def test_the_first_values_are_what_the_first_rewards_come_to() -> None:
    env, learner = begun(16, PpoConfig(rollout=64, gamma=0.99, learning_rate=1e-7), offset=5.0)
    train(env, learner, 6)
    # (5 + 1/3) / (1 - 0.99), within the error of a mean of 64 rewards
    assert value_of(learner, np.eye(3)[0]) == pytest.approx(533, abs=30)


def test_a_change_of_the_returns_scale_leaves_values_where_they_are() -> None:
    _, learner = begun(4)
    before = value_of(learner, np.eye(3)[0])
    learner._follow_returns(np.array([100.0, 300.0]))
    assert learner._return_mean == pytest.approx(200)
    assert learner._return_std == pytest.approx(100)
    assert value_of(learner, np.eye(3)[0]) == pytest.approx(before, abs=1e-4)


def test_an_update_ends_once_the_policy_has_gone_too_far() -> None:
    def steps_of(kl_stop: float) -> int:
        config = PpoConfig(rollout=64, epochs=10, kl_stop=kl_stop, learning_rate=0.01, minibatches=4)
        env, learner = begun(16, config)
        taken = 0
        for _ in range(6):
            decide(env, learner)
            while learner.learn(0.0):
                taken += 1
        return taken

    assert steps_of(100.0) == 40  # 10 passes over 4 parts
    assert 0 < steps_of(1e-4) < 10


def test_the_learning_rate_falls_to_nothing_over_the_budget() -> None:
    env, learner = begun(16)
    while not learner.learn(1.0):
        decide(env, learner)
    before = learner.policy().tensors
    assert learner.learn(1.0) == 1  # a step of length 0
    after = learner.policy().tensors
    assert all((before[name] == after[name]).all() for name in before)


def test_metrics_are_means_since_the_last_time() -> None:
    env, learner = begun(16)
    train(env, learner, 20)
    metrics = learner.metrics()
    assert {"return_mean", "q_mean", "td_error", "kl", "entropy", "actor_loss", "critic_loss"} <= set(metrics)
    assert metrics["entropy"] == pytest.approx(np.log(3), abs=0.1)
    assert learner.metrics() == {}


# ------------------------------------------------------------------------------------------------------ resuming


def test_it_goes_on_bit_for_bit_from_any_moment() -> None:
    def run(stop_at: int | None) -> dict[str, np.ndarray]:
        env, learner = begun(8)
        for step in range(60):
            learner.observe(env)
            action = learner.act(env)
            learner.learn(step / 60)  # one step of an update at a time, so that some checkpoints lie within an update
            if step == stop_at:
                saved = learner.state()
                saved.values = json.loads(json.dumps(saved.values))
                learner = learner_of(env, seed=99)
                learner.load_state(saved)
            env.send(action)
        return learner.state().tensors

    straight = run(None)
    for stop_at in (0, 9, 33):
        resumed = run(stop_at)
        assert resumed.keys() == straight.keys()
        assert all((resumed[name] == straight[name]).all() for name in straight)


def test_a_checkpoint_of_another_network_is_refused() -> None:
    small, large = ChoiceEnv(2), ChoiceEnv(2)
    state = learner_of(small, PpoConfig(hidden=8, rollout=64)).state()
    with pytest.raises(CheckpointError, match="another network"):
        learner_of(large).load_state(state)
    with pytest.raises(CheckpointError, match="number of environments"):
        learner_of(ChoiceEnv(3), PpoConfig(hidden=8, rollout=64)).load_state(state)


def test_agents_that_act_otherwise_are_refused() -> None:
    for spec in (replace(SHOWN_CHOICE, scope="connection"), replace(SHOWN_CHOICE, choices=())):
        with pytest.raises(ConfigError, match="one subflow"):
            PpoLearner(PpoConfig(), LearnerSetup(spec=spec, num_envs=1, slots=1, seed=1))


def test_every_option_names_its_source() -> None:
    assert all(spec.source and spec.help.endswith(".") for spec in options_of(PpoConfig))
