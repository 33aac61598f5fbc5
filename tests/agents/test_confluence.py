"""Training of Confluence: the random networks, the reward, and a policy that uses neither of them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from subflow_agents import TrainingConfig, agent
from subflow_agents.confluence import ConfluenceConfig, controller_options
from subflow_agents.judge import Judge, Prices
from subflow_agents.learner import LearnerSetup
from subflow_agents.scenarios import make_environment
from subflow_agents.wide_draws import wide_text
from subflow_sim import parse_scenario
from subflow_sim.truth import TRUTH, TruthComputer
from subflow_sim.vec_env import VecEnv, with_learner

INFO = agent("confluence")

TWO_WAYS = """
format = 1
duration = "12s"
nodes = { server = {}, client = {}, hub = { kind = "router" } }
[links]
way1 = { ends = ["server", "hub"], rate = "2Gbit/s", delay = "8ms" }
way2 = { ends = ["server", "hub"], rate = "2Gbit/s", delay = "8ms" }
own = { ends = ["server", "client"], rate = "4Mbit/s", delay = "10ms" }
[links.both]
ends = ["hub", "client"]
rate = "12Mbit/s"
delay = "2ms"
queue = "20pkt"
loss = "1%"
reverse.loss = 0
[flows]
user = { kind = "mptcp", from = "server", to = "client", paths = [["way1", "both"], ["way2", "both"], ["own"]] }
tcp = { kind = "tcp", from = "server", to = "client", controller = "newreno", paths = [["way1", "both"]] }
"""


def truth(**values: float) -> NDArray[np.float32]:
    told = {"length": 2.0, "rate": 1.0, "beside": 1.0, "part": 1.0, **values}
    return np.array([[[told.get(name, 0.0) for name in TRUTH]]], np.float32)


def reward(judge: Judge, **values: float) -> float:
    return float(judge.rewards(truth(**values))[0])


def test_networks_are_drawn_widely_and_can_be_read() -> None:
    kinds: Counter[str] = Counter()
    for number in range(1, 121):
        scenario = parse_scenario(wide_text("test", number))
        assert scenario.flows["user0"].kind == "mptcp"
        kinds.update({flow.controller.name for name, flow in scenario.flows.items() if name.startswith("beside")})
        kinds["marks"] += scenario.transport.get("ecn", "off") != "off"
        kinds["alike"] += "user1" in scenario.flows
        kinds[f"{len(scenario.flows['user0'].paths)} paths"] += 1
    assert {"newreno", "cubic", "bbr", "marks", "alike", "1 paths", "2 paths", "3 paths", "4 paths"} <= set(+kinds)
    assert wide_text("test", 7) == wide_text("test", 7) != wide_text("test", 8)
    assert "beside" not in "".join(wide_text("test", number, kind="alone") for number in range(1, 30))


def test_some_networks_are_like_the_counterexamples() -> None:
    cramped = 0
    for number in range(1, 41):
        text = wide_text("test", number, kind="cramped")
        if text != wide_text("test", number):
            cramped += 1
            scenario = parse_scenario(text)
            assert scenario.flows["beside0"].controller.name == "newreno"
            bottleneck = scenario.links["b0"].forward
            path = next(path for path in scenario.flows["user0"].paths if "b0" in path)
            rtt_s = 2 * sum(scenario.links[link].forward.delay_s for link in path)
            assert bottleneck.queue.limit_pkts is not None
            assert bottleneck.rate_bps is not None
            assert bottleneck.queue.limit_pkts <= max(3, 0.3 * bottleneck.rate_bps * rtt_s / 12_000)
    assert 6 <= cramped <= 18


def test_an_epoch_is_worth_its_share_less_queue_loss_and_harm() -> None:
    judge = Judge(Prices(delay=0.5, loss=5, beside_tcp=0.5, excess=2, harm=3), 1)
    assert reward(judge) == 0
    assert reward(judge, rate=0.5) == pytest.approx(math.log(0.5))
    assert reward(judge, rate=0.5, length=1) == pytest.approx(0.5 * math.log(0.5))
    assert reward(judge, rate=2) == 0
    assert reward(judge, rate=2, contested=1) == pytest.approx(-2 * math.log(2))
    assert reward(judge, queue=1) == pytest.approx(-0.5 * math.log(2))
    assert reward(judge, queue=1, has_tcp=1) == pytest.approx(-0.25 * math.log(2))
    assert reward(judge, loss=-0.01, random_loss=0.01) == pytest.approx(0.05)  # random losses, which average out
    for _ in range(400):
        judge.see(truth(beside=0.5), np.array([[True]]))
    assert reward(judge, has_tcp=1) == pytest.approx(-3 * math.log(0.98 / 0.5), rel=1e-3)
    assert reward(judge, has_tcp=1, rate=1.1) < reward(judge, has_tcp=1)
    judge.forget(np.array([True]))
    assert reward(judge, has_tcp=1) == 0


def test_the_simulator_tells_what_no_agent_sees() -> None:
    scenario = parse_scenario(TWO_WAYS)
    env = VecEnv(lambda *_: with_learner(scenario, "confluence", {}, ["user"]), "confluence", 1, truth=TruthComputer)
    env.reset(1)
    keep = np.full((1, env.slots, 1), 3.0, np.float32)
    seen: list[list[NDArray[np.float32]]] = [[], [], []]
    while not env.truncated[0]:
        env.step(keep)
        for slot in np.flatnonzero(env.acting[0]):
            assert env.truth is not None
            if env.time_s[0] > 4:
                seen[slot].append(env.truth[0, slot].copy())
    one, two, own = (dict(zip(TRUTH, np.mean(rows, axis=0), strict=True)) for rows in seen)
    assert one["random_loss"] == pytest.approx(0.01)
    assert one["has_tcp"] == two["has_tcp"] == 1
    assert own["has_tcp"] == own["random_loss"] == own["contested"] == 0
    assert own["rate"] == pytest.approx(1.0, abs=0.1)
    assert own["part"] == pytest.approx(1.0)
    assert one["part"] + two["part"] == pytest.approx(1.0, abs=0.1)
    assert 0 < one["beside"] < 1  # a NewReno with lost packets, beside a sender that ignores losses
    assert one["queue"] > 0


def test_the_window_is_that_of_the_policy_and_otherwise_the_subflows_own() -> None:
    controllers = ('"confluence"', '{ name = "confluence", policy = "neutral" }')
    flows = [
        parse_scenario(TWO_WAYS.replace('from = "server"', f'controller = {each}, from = "server"', 1)).flows["user"]
        for each in controllers
    ]
    assert [flow.controller.options["window"] for flow in flows] == ["model", "own"]
    config = INFO.config({"window": "model"})
    assert isinstance(config, ConfluenceConfig)
    assert controller_options(config)["window"] == "model"


@pytest.mark.parametrize("window", ["own", "model"])
def test_what_is_learned_is_a_function_of_what_the_agent_sees(window: str) -> None:
    config = TrainingConfig(agent="confluence", scenario="", steps=1, num_envs=4, folder="x", episode_s=2.0)
    options = INFO.config({"rollout": 64, "minibatches": 2, "window": window})
    env = make_environment(config, INFO, options)
    learner = INFO.make_learner(options, LearnerSetup(env.info, env.num_envs, env.slots, 1))
    env.reset(1)
    closed = steps = 0
    for _ in range(150):
        closed += learner.observe(env)
        env.send(learner.act(env))
        while learner.learn(0.0):
            steps += 1
        env.recv()

    assert closed > 50
    assert steps > 0
    parts = learner.policy()
    assert "critic" not in parts.document
    assert parts.tensors["actor.layers.0.weight"].shape == (64, env.info.width)
    again = INFO.make_learner(options, LearnerSetup(env.info, env.num_envs, env.slots, 2))
    again.load_state(learner.state())
    assert np.array_equal(again.act(env), learner.act(env))
    blind = INFO.make_learner(INFO.config({"critic": "blind"}), LearnerSetup(env.info, 4, env.slots, 1))
    assert "critic" in blind.policy().document
