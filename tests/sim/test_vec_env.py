"""Environments stepped together in the core: masks, rewards, episodes, and slots of subflows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from subflow_sim import Scenario, SimulationError, load_scenario, parse_scenario
from subflow_sim.fairness.ideal import max_min_shares
from subflow_sim.vec_env import VecEnv, agent_spec, with_learner

SC1 = Path(__file__).parents[2] / "assets" / "scenarios" / "drlcc-sc1.toml"

CHANGING = """
format = 1
name = "Flows that come and go"
duration = "4s"
nodes = { a = {}, b = {} }
events = [{ at = "3s", flow = "late", subflow = 2, open = false }]
[links]
one = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms", queue = "40pkt" }
two = { ends = ["a", "b"], rate = "4Mbit/s", delay = "30ms", queue = "40pkt" }
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
"""


def changing(controller: str = "drl-cc", text: str = CHANGING) -> VecEnv:
    scenario = with_learner(parse_scenario(text.replace("drl-cc", controller)), controller)
    env = VecEnv(lambda n, k: scenario, controller, 1)
    env.reset()
    return env


def sc1(controller: str = "drl-cc", **options: object) -> Scenario:
    return replace(with_learner(load_scenario(SC1), controller, options), duration_s=5.0)


def random_play(env: VecEnv, steps: int, seed: int = 1) -> NDArray[np.float64]:
    """A digest of all arrays of each environment over so many steps of random actions, [N]."""
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
    assert env.reward[env.acting].all()  # reward of the epoch that the end cuts short
    metrics = env.episode_metrics(0)
    assert metrics["duration_s"] == 1.0
    assert 1 <= metrics["rtt_inflation"] < 3
    assert 0.01 < metrics["rtt_s"] < 1
    assert 0 < metrics["jain"] <= 1
    # All five flows learn, and all are active from the start.
    assert metrics["flow_goodput_bps"] == pytest.approx(metrics["goodput_bps"] / 5)
    env.step(neutral)
    assert not env.truncated[0]
    assert env.time_s[0] < 1
    assert not env.reward.any()
    assert episodes == [(0, 0), (0, 0), (0, 1)]


def test_flows_and_subflows_come_and_go() -> None:
    env = changing()
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
    """Measured over no time at all, its rate would be huge, and values relative to it 0."""
    env = changing(controller, CHANGING.replace("false }]", 'false }, { at = "3.2s", flow = "late", open = true }]'))
    names = [feature.name for feature in env.info.features]
    rate, rtt = names.index("sending_rate"), names.index("rtt")
    shown = []
    while not env.truncated[0]:
        if env.time_s[0] > 3.3 and env.mask[0, 3]:
            shown.append(env.obs[0, 3, [rate, rtt]].tolist())
        env.step(np.zeros((1, env.slots, env.info.action_width), np.float32))
    assert len(shown) > 2
    for sent, trip in shown:
        assert 0.03 < sent < 1.5  # ln(1 + rate / reference), of at most 4 of 10 Mbit/s and the initial window
        assert 0.69 <= trip < 2  # ln(1 + mean / lowest RTT)


def test_what_is_finished_is_no_longer_there() -> None:
    env = changing("dql-mptcp")
    while not env.truncated[0]:
        # slots: early 0 and 1, late 2 and 3; what was in flight at 2 s arrives within some round trips
        early_is_over = env.time_s[0] > 2.5
        assert env.finished[0].tolist() == [early_is_over, early_is_over, False, False] or 2 < env.time_s[0] < 2.5
        assert not (env.finished & env.mask).any()
        assert not env.mask[0, 3] or env.time_s[0] <= 3
        env.step(np.zeros((1, env.slots, 2), np.float32))
    assert env.finished[0].tolist() == [True, True, False, False]


def test_the_flows_that_learn_can_be_named() -> None:
    scenario = parse_scenario(CHANGING)
    named = with_learner(scenario, "clean-slate", flows=["late"])
    assert [flow.controller.name for flow in named.flows.values()] == ["drl-cc", "clean-slate", "newreno"]
    with pytest.raises(SimulationError, match='no flow of that name for "clean-slate": "lte"; allowed: early, late'):
        with_learner(scenario, "clean-slate", flows=["lte"])


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
    assert agent_spec("lia") is None
    env = VecEnv(lambda n, k: sc1(history=3), "drl-cc", 1)
    env.reset()
    assert env.obs.shape[2] == spec.width == 3 * len(spec.features)


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

    with pytest.raises(SimulationError, match="no flow"):
        VecEnv(lambda n, k: load_scenario(SC1), "drl-cc", 1)
    env = VecEnv(lambda n, k: sc1(), "drl-cc", 1)
    env.reset()
    with pytest.raises(SimulationError, match="shape"):
        env.step(np.zeros((1, env.slots, 2)))
    small = VecEnv(lambda n, k: sc1(), "drl-cc", 1, slots=4)
    with pytest.raises(SimulationError, match=r"10 subflows.*4 slots"):
        small.reset()
