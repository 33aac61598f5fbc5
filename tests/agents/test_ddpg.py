from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.toy_env import LEVELS, LevelEnv, number

from subflow_agents.ddpg import DdpgLearner
from subflow_agents.ddpg_options import DdpgConfig
from subflow_agents.errors import CheckpointError, ConfigError
from subflow_agents.learner import LearnerSetup
from subflow_agents.nets import to_rows
from subflow_agents.replay import PrioritisedReplay

NOT_SHIPPED = pytest.mark.full("no policy that is shipped is trained so")
SMALL = DdpgConfig(hidden=16, encoder="lstm", encoder_hidden=8, batch=8, warmup=10, replay=1000)


def learner_of(config: DdpgConfig = SMALL, env: LevelEnv | None = None, *, head: str = "target", seed: int = 3):
    env = env or LevelEnv(3)
    return DdpgLearner(config, LearnerSetup(env.info, env.num_envs, env.slots, seed), head), env


def advance(learner: DdpgLearner, env: LevelEnv, steps: int) -> int:
    transitions = 0
    for _ in range(steps):
        transitions += learner.observe(env)
        env.send(learner.act(env))
        while learner.learn(0.5):
            pass
        env.recv()
    return transitions


def advanced(config: DdpgConfig = SMALL, steps: int = 20, env: LevelEnv | None = None, head: str = "target"):
    """A learner after so many steps from the beginning."""
    learner, env = learner_of(config, env, head=head)
    env.reset(1)
    advance(learner, env, steps)
    return learner, env


def sample_of(learner: DdpgLearner):
    return learner.replay.sample(16, np.random.default_rng(9))


def weights_of(module: torch.nn.Module) -> list[torch.Tensor]:
    return [weight.detach().clone() for weight in module.parameters()]


def changed(before: list[torch.Tensor], module: torch.nn.Module) -> bool:
    return any(not torch.equal(old, new) for old, new in zip(before, module.parameters(), strict=True))


@pytest.mark.parametrize("rep_grad", ["actor", "critic", "both"])
def test_the_representation_learns_through_the_loss_that_the_option_names(rep_grad: str) -> None:
    # With a learning rate of 0 for one side, the encoder moves only through the other.
    learner, _ = advanced(replace(SMALL, rep_grad=rep_grad, warmup=1000))
    sample = sample_of(learner)
    columns = sample.columns
    batch = to_rows(columns["rows"], columns["count"], columns["acting"])
    h = learner.networks.encoder(batch)
    actor_only = torch.autograd.grad(
        -learner.networks.values(h.detach(), batch, torch.tanh(learner.networks.before_tanh(h, batch)))[0].mean(),
        list(learner.networks.encoder.parameters()),
    )
    after = to_rows(columns["next_rows"], columns["next_count"], columns["next_acting"])
    target = torch.from_numpy(columns["reward"]) + 0.99 * learner.next_value(after)
    value = learner.networks.values(learner.networks.encoder(batch), batch, torch.from_numpy(columns["action"]))[0]
    critic_only = torch.autograd.grad(((value - target) ** 2).mean(), list(learner.networks.encoder.parameters()))
    # The critic's step comes first; the actor's part uses the updated critic.
    learner.critic_optimiser.param_groups[0]["lr"] = 0.0

    learner.update(sample)

    expected = {
        "actor": actor_only,
        "critic": critic_only,
        "both": tuple(a + b for a, b in zip(actor_only, critic_only, strict=True)),
    }[rep_grad]
    for weight, gradient in zip(learner.networks.encoder.parameters(), expected, strict=True):
        assert weight.grad is not None
        torch.testing.assert_close(weight.grad, gradient, rtol=1e-4, atol=1e-9)


def test_a_critic_that_errs_by_far_does_not_hold_the_actor_back() -> None:
    # Both gradients are clipped, each by its own norm, also where both teach the representation.
    def step(reward: float) -> float:
        learner, _ = advanced(replace(SMALL, rep_grad="both", warmup=1000, grad_norm=1.0))
        learner.critic_optimiser.param_groups[0]["lr"] = 0.0
        sample = sample_of(learner)
        sample.columns["reward"][:] = reward
        learner.update(sample)
        gradients = [weight.grad for weight in learner.networks.actor.parameters() if weight.grad is not None]
        return float(torch.nn.utils.get_total_norm(gradients))

    assert step(1e6) == pytest.approx(step(0.0), rel=1e-5)


def test_critic_and_actor_descend_their_losses_and_targets_follow_softly() -> None:
    learner, _ = advanced(replace(SMALL, warmup=1000, tau=0.1))
    before = weights_of(learner.targets)

    learner.update(sample_of(learner))

    for old, new, followed in zip(before, learner.targets.parameters(), learner.networks.parameters(), strict=True):
        torch.testing.assert_close(new, 0.9 * old + 0.1 * followed)
    assert changed(before, learner.networks)


def test_targets_are_bootstrapped_unless_the_episode_is_over() -> None:
    learner, _ = advanced(replace(SMALL, gamma=0.5, warmup=1000))
    sample = sample_of(learner)
    sample.columns["ends"][:] = 1
    with torch.no_grad():
        columns = sample.columns
        batch = to_rows(columns["rows"], columns["count"], columns["acting"])
        action = torch.from_numpy(columns["action"])
        value = learner.networks.values(learner.networks.encoder(batch), batch, action)[0]
        error = float((value - torch.from_numpy(columns["reward"])).abs().mean())

    learner.update(sample)

    assert learner.metrics()["td_error"] == pytest.approx(error, rel=1e-5)


def test_actions_stay_within_their_bounds_and_are_spread_over_them() -> None:
    spec = replace(LEVELS, actions=(number("push", minimum=0, maximum=10),))
    learner, env = learner_of(replace(SMALL, ou_sigma=5.0), LevelEnv(2, spec=spec))
    env.reset(1)
    seen = []
    for _ in range(20):
        learner.observe(env)
        seen.append(learner.act(env).copy())

    assert (np.min(seen), np.max(seen)) == (0, 10)


def test_without_noise_the_first_actions_are_in_the_middle() -> None:
    learner, env = learner_of(replace(SMALL, ou_sigma=0.0))
    env.reset(1)
    learner.observe(env)
    assert np.abs(learner.act(env)).max() < 0.05


def test_one_update_per_transition_after_the_warm_up() -> None:
    learner, env = learner_of(replace(SMALL, warmup=30, updates_per_step=0.5))
    env.reset(1)
    updates = 0
    transitions = 0
    for _ in range(30):
        transitions += learner.observe(env)
        env.send(learner.act(env))
        while learner.learn(0.0):
            updates += 1
        env.recv()

    # The 30th transition comes with the tenth step of three environments, less those that began an episode.
    assert transitions > 60
    assert updates == pytest.approx((transitions - 30) / 2, abs=2)


@pytest.mark.parametrize(
    ("algorithm", "head", "encoder"),
    [
        ("ddpg", "target", "lstm"),
        ("ddpg", "slot", "none"),
        ("ddpg", "all", "pool"),
        pytest.param("td3", "slot", "pool", marks=NOT_SHIPPED),
        pytest.param("sac", "target", "none", marks=NOT_SHIPPED),
    ],
)
def test_every_algorithm_learns_where_the_levels_should_be(algorithm: str, head: str, encoder: str) -> None:
    rates: dict[str, Any] = {"gamma": 0.5, "tau": 0.1, "actor_lr": 4e-3, "critic_lr": 1e-2, "updates_per_step": 0.35}
    sizes: dict[str, Any] = {"hidden": 24, "encoder": encoder, "encoder_hidden": 8, "batch": 48, "warmup": 100}
    is_prioritised = algorithm == "ddpg" and head == "target"
    config = DdpgConfig(algorithm=algorithm, prioritised=is_prioritised, squash_penalty=0.02, **rates, **sizes)
    learner, env = advanced(replace(config, rep_grad="critic"), 100, LevelEnv(8), head)
    learner.metrics()

    advance(learner, env, 15)

    # The mean reward of random actions is 1 - E(x - 0.5)^2 = 1 - (1/3 + 1/4) = 0.42. The best is close to 1, less the
    # exploration noise and the first steps.
    assert learner.metrics()["return_mean"] > 0.8


def test_a_delayed_actor_waits_for_its_critics() -> None:
    learner, _ = advanced(replace(SMALL, algorithm="td3", policy_delay=3, warmup=1000))
    before = weights_of(learner.networks.actor)

    learner.update(sample_of(learner))
    learner.update(sample_of(learner))
    assert not changed(before, learner.networks.actor)

    learner.update(sample_of(learner))
    assert changed(before, learner.networks.actor)


def test_prioritised_learning_is_corrected_more_towards_the_end() -> None:

    learner, _ = advanced(replace(SMALL, prioritised=True))
    assert isinstance(learner.replay, PrioritisedReplay)
    assert learner.replay.beta == pytest.approx(0.4 + 0.6 * 0.5)


@pytest.mark.parametrize(
    "algorithm", ["ddpg", pytest.param("td3", marks=NOT_SHIPPED), pytest.param("sac", marks=NOT_SHIPPED)]
)
def test_a_learner_goes_on_from_its_state_bit_for_bit(algorithm: str) -> None:
    config = replace(SMALL, algorithm=algorithm, prioritised=algorithm == "td3")
    first, env = advanced(config, 25)
    state = first.state()
    second, _ = learner_of(config, seed=99)

    second.load_state(state)

    twin = LevelEnv(3)
    for name in ("obs", "reward", "truncated", "time_s", "episode", "_level", "team_reward"):
        getattr(twin, name)[...] = getattr(env, name)
    advance(first, env, 15)
    advance(second, twin, 15)
    for old, new in zip(first.networks.parameters(), second.networks.parameters(), strict=True):
        assert torch.equal(old, new)
    np.testing.assert_array_equal(first.act(env), second.act(twin))


def test_a_state_of_another_network_is_refused() -> None:
    learner, _ = advanced(steps=5)
    for changed, message in (({"hidden": 12}, "hidden"), ({"algorithm": "td3"}, "'ddpg', not 'td3'")):
        other, _ = learner_of(replace(SMALL, **changed))
        with pytest.raises(CheckpointError, match=message):
            other.load_state(learner.state())


def test_more_subflows_than_the_network_has_room_for_are_refused_by_name() -> None:
    learner, env = learner_of(SMALL, LevelEnv(1, rows=3))
    env.reset(1)
    with pytest.raises(ConfigError, match=r"options\.slots: .* 3 subflows .* room for 2"):
        learner.observe(env)


def test_choices_are_not_for_this_learner() -> None:
    with pytest.raises(ConfigError, match="choices"):
        learner_of(SMALL, LevelEnv(1, spec=replace(LEVELS, choices=("less", "more"), actions=())))
