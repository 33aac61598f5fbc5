"""Tests for :mod:`subflow_sim.vec_env`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from subflow_sim import Scenario, SimulationError, load_scenario, parse_scenario
from subflow_sim.fairness.ideal import max_min_shares
from subflow_sim.vec_env import VecEnv, agent_spec, episode_seed, with_learner

SC1 = Path(__file__).parents[2] / "assets" / "scenarios" / "drlcc-sc1.toml"

CHANGING = """
format = 1
name = "Flows that come and go"
duration = "4s"
[nodes.a]
[nodes.b]
[links.one]
ends = ["a", "b"]
rate = "8Mbit/s"
delay = "20ms"
queue = "40pkt"
[links.two]
ends = ["a", "b"]
rate = "4Mbit/s"
delay = "30ms"
queue = "40pkt"
[flows.early]
kind = "mptcp"
from = "a"
to = "b"
controller = { name = "drl-cc", policy = "neutral" }
paths = [["one"], ["two"]]
stop = "2s"
[flows.late]
kind = "mptcp"
from = "a"
to = "b"
controller = { name = "drl-cc", policy = "neutral" }
paths = [["one"], ["two"]]
start = "1s"
[flows.reno]
kind = "tcp"
from = "a"
to = "b"
controller = "newreno"
paths = [["one"]]
[[events]]
at = "3s"
flow = "late"
subflow = 2
open = false
"""


def sc1(controller: str = "drl-cc", **options: object) -> Scenario:
    return replace(with_learner(load_scenario(SC1), controller, options), duration_s=5.0)


def random_play(env: VecEnv, steps: int, seed: int = 1) -> NDArray[np.float64]:
    """A digest of everything that each environment shows in so many steps of random actions, [N]."""
    env.reset()
    digest = np.zeros(env.num_envs)
    draws = [np.random.default_rng((seed, n)) for n in range(env.num_envs)]
    for _ in range(steps):
        action = np.stack([d.uniform(-1, 1, (env.slots, env.info.action_width)) for d in draws]).astype(np.float32)
        env.step(action)
        digest = digest * 0.999 + env.obs.sum((1, 2)) + env.reward.sum(1) + env.team_reward + env.acting.sum(1)
    return digest


def test_shows_what_its_spec_says() -> None:
    env = VecEnv(lambda n, k: sc1(), "drl-cc", 3)
    assert (env.info.scope, env.info.history, env.slots) == ("host", 1, 10)
    random_play(env, 200)
    low = np.array([f.minimum for f in env.info.features], np.float32)
    high = np.array([f.maximum for f in env.info.features], np.float32)
    assert env.obs.shape == (3, 10, len(low))
    assert ((env.obs >= low) & (env.obs <= high)).all()
    assert env.mask.all()
    assert (env.acting.sum(1) == 2).all()
    assert (env.reward[env.acting] != 0).all()
    assert (env.reward[~env.acting] == 0).all()


@pytest.mark.parametrize("controller", ["drl-cc", "dql-mptcp", "clean-slate"])
def test_n_environments_are_n_single_ones(controller: str) -> None:
    many = random_play(VecEnv(lambda n, k: sc1(controller), controller, 3, threads=2), 120)
    for number in range(3):  # environment `number` is the last of a batch that ends with it
        env = VecEnv(lambda n, k: sc1(controller), controller, number + 1, threads=0)
        assert random_play(env, 120)[number] == many[number]


def test_luck_is_that_of_seed_environment_and_episode() -> None:
    assert random_play(VecEnv(lambda n, k: sc1(), "drl-cc", 1, seed=5), 50) == random_play(
        VecEnv(lambda n, k: sc1(), "drl-cc", 1, seed=5), 50
    )
    assert random_play(VecEnv(lambda n, k: sc1(), "drl-cc", 1, seed=5), 50) != random_play(
        VecEnv(lambda n, k: sc1(), "drl-cc", 1, seed=6), 50
    )
    assert len({episode_seed(s, n, k) for s in range(3) for n in range(3) for k in range(3)}) == 27


def test_episodes_follow_each_other_with_a_step_between() -> None:
    episodes: list[tuple[int, int]] = []

    def make(env: int, episode: int) -> Scenario:
        episodes.append((env, episode))
        return sc1()

    env = VecEnv(make, "drl-cc", 1, episode_s=1.0)
    env.reset()
    neutral = np.zeros((1, env.slots, 1), np.float32)
    while not env.truncated[0]:
        env.step(neutral)
    assert env.time_s[0] == 1.0
    assert env.acting.any()
    assert env.reward[env.acting].all()  # of the epoch that the end cut short
    metrics = env.episode_metrics(0)
    assert metrics["duration_s"] == 1.0
    assert 1 <= metrics["rtt_inflation"] < 3
    assert 0 < metrics["jain"] <= 1
    # All five flows learn, and all are active from the start.
    assert metrics["flow_goodput_bps"] == pytest.approx(metrics["goodput_bps"] / 5)
    env.step(neutral)
    assert not env.truncated[0]
    assert env.time_s[0] < 1
    assert not env.reward.any()
    assert episodes == [(0, 0), (0, 0), (0, 1)]


def test_flows_and_subflows_come_and_go() -> None:
    env = VecEnv(lambda n, k: parse_scenario(CHANGING), "drl-cc", 1)
    env.reset()
    seen: dict[int, set[int]] = {}
    while not env.truncated[0]:
        seen.setdefault(int(env.time_s[0] * 2), set()).update(np.flatnonzero(env.mask[0]).tolist())
        env.step(np.zeros((1, env.slots, 1), np.float32))
    # slots: early 0 and 1, late 2 and 3, the TCP flow of the host 4
    assert seen[1] == {0, 1, 4}
    assert seen[3] == {0, 1, 2, 3, 4}
    assert seen[5] == {2, 3, 4}
    assert seen[7] == {2, 4}


@pytest.mark.parametrize("controller", ["drl-cc", "dql-mptcp"])
def test_a_subflow_that_opens_again_is_measured_from_then_on(controller: str) -> None:
    """Counted over no time at all, its rate would be huge, and rates and windows relative to it nothing."""
    again = '[[events]]\nat = "3.2s"\nflow = "late"\nsubflow = 2\nopen = true\n'
    env = VecEnv(
        lambda n, k: with_learner(parse_scenario(CHANGING.replace("drl-cc", controller) + again), controller),
        controller,
        1,
    )
    names = [feature.name for feature in env.info.features]
    rate, rtt = names.index("sending_rate"), names.index("rtt")
    env.reset()
    shown = []
    while not env.truncated[0]:
        if env.time_s[0] > 3.3 and env.mask[0, 3]:
            shown.append(env.obs[0, 3, [rate, rtt]].tolist())
        env.step(np.zeros((1, env.slots, env.info.action_width), np.float32))
    assert len(shown) > 2
    for sent, trip in shown:
        assert 0.03 < sent < 1.5  # ln(1 + rate / reference), of at most 4 of 10 Mbit/s and some window to begin with
        assert 0.69 <= trip < 2  # ln(1 + mean / lowest RTT)


def test_what_is_finished_is_no_longer_there() -> None:
    env = VecEnv(
        lambda n, k: with_learner(parse_scenario(CHANGING.replace("drl-cc", "dql-mptcp")), "dql-mptcp"), "dql-mptcp", 1
    )
    env.reset()
    while not env.truncated[0]:
        # slots: early 0 and 1, late 2 and 3; what was in flight at 2 s arrives within some round trips
        early_is_over = env.time_s[0] > 2.5
        assert env.finished[0].tolist() == [early_is_over, early_is_over, False, False] or 2 < env.time_s[0] < 2.5
        assert not (env.finished & env.mask).any()
        assert not env.mask[0, 3] or env.time_s[0] <= 3
        env.step(np.zeros((1, env.slots, 2), np.float32))
    assert env.finished[0].tolist() == [True, True, False, False]


def test_environments_are_numbered_from_any_number_on() -> None:
    numbers: list[int] = []

    def make(env: int, episode: int) -> Scenario:
        numbers.append(env)
        return sc1()

    four = VecEnv(lambda n, k: sc1(), "drl-cc", 4)
    third = VecEnv(make, "drl-cc", 1, first_env=2)
    four.reset()
    third.reset()
    assert set(numbers) == {2}
    for _ in range(50):
        assert (four.obs[2] == third.obs[0]).all()
        four.step(np.zeros((4, four.slots, 1)))
        third.step(np.zeros((1, third.slots, 1)))


def test_the_flows_that_learn_can_be_named() -> None:
    scenario = parse_scenario(CHANGING)
    named = with_learner(scenario, "clean-slate", flows=["late"])
    assert [flow.controller.name for flow in named.flows.values()] == ["drl-cc", "clean-slate", "newreno"]
    with pytest.raises(SimulationError, match='no flow of that name for "clean-slate": "lte"; allowed: early, late'):
        with_learner(scenario, "clean-slate", flows=["lte"])
    with pytest.raises(SimulationError, match='no flow of kind mptcp for "clean-slate": "reno"'):
        with_learner(scenario, "clean-slate", flows=["reno"])


def test_actions_count_where_they_are_asked_for() -> None:
    env = VecEnv(lambda n, k: sc1(), "drl-cc", 1)
    env.reset()
    twin = VecEnv(lambda n, k: sc1(), "drl-cc", 1)
    twin.reset()
    for _ in range(50):
        action = np.full((1, env.slots, 1), 0.5, np.float32)
        env.step(action)
        twin.step(np.where(twin.acting[..., None], action, np.float32(-1)))
        assert (env.obs == twin.obs).all()


def test_send_and_recv_do_not_wait_for_all() -> None:
    env = VecEnv(lambda n, k: sc1(), "drl-cc", 4, threads=2)
    env.reset()
    env.send(np.zeros((4, env.slots, 1), np.float32))
    got: list[int] = []
    while len(got) < 4:
        got += env.recv(1)
    assert sorted(got) == [0, 1, 2, 3]
    env.send(np.zeros((4, env.slots, 1), np.float32), [2])
    assert env.recv() == [2]


def test_options_change_what_is_seen() -> None:
    spec = agent_spec("drl-cc", {"history": 3})
    assert spec is not None
    assert spec.width == 3 * len(spec.features)
    assert agent_spec("lia") is None
    env = VecEnv(lambda n, k: sc1(history=3), "drl-cc", 1)
    random_play(env, 100)
    assert env.obs.shape[2] == spec.width


def test_tells_the_fair_shares_of_the_flows_that_are_seen() -> None:
    scenario = parse_scenario(CHANGING)
    env = VecEnv(lambda n, k: scenario, "drl-cc", 2, fair=True)
    env.reset()
    shares = max_min_shares(scenario, 0.0, scenario.duration_s)
    by_flow = np.array([shares["early"], shares["late"], shares["reno"], 0.0])
    seen = set()
    for _ in range(60):
        env.step(np.zeros((2, env.slots, 1), np.float32))
        np.testing.assert_array_equal(env.fair_bps, by_flow[env.flow])
        seen |= set(env.flow[env.mask].tolist())
    assert seen == {0, 1, 2}
    unasked = VecEnv(lambda n, k: scenario, "drl-cc", 1)
    unasked.reset()
    assert not unasked.fair_bps.any()


def test_refuses_what_cannot_be() -> None:
    with pytest.raises(SimulationError, match='unknown controller "drl"'):
        with_learner(load_scenario(SC1), "drl")
    with pytest.raises(SimulationError, match="no learning agent"):
        VecEnv(lambda n, k: load_scenario(SC1), "lia", 1)
    with pytest.raises(SimulationError, match="no flow"):
        VecEnv(lambda n, k: load_scenario(SC1), "drl-cc", 1)
    env = VecEnv(lambda n, k: sc1(), "drl-cc", 1)
    env.reset()
    with pytest.raises(SimulationError, match="shape"):
        env.step(np.zeros((1, env.slots, 2)))
    with pytest.raises(SimulationError, match="finite"):
        env.step(np.full((1, env.slots, 1), np.nan))
    small = VecEnv(lambda n, k: sc1(), "drl-cc", 1, slots=4)
    with pytest.raises(SimulationError, match=r"10 subflows.*4 slots"):
        small.reset()
