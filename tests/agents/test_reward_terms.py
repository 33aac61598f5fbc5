"""The parts of rewards add up to the core's rewards, and agree with the formulas of the controllers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.helpers.present import present

from subflow_agents.evaluation import contender_scenario, evaluate, read_contender, run_once
from subflow_agents.reward_terms import TERMS, prices_of, reward_terms
from subflow_sim import Simulation, load_scenario
from subflow_sim.shipped import shipped_scenarios

AGENTS = ("drl-cc", "dql-mptcp", "ddpg-mpcc", "mplibra", "clean-slate", "confluence")
PRICED = 'loss_weight = 10, delay_weight = 0.3, policy = "random"'


def terms_of(controller: str) -> dict[str, float]:
    overrides = ["duration=6s", "warmup=0s", f"flows.download.controller={controller}"]
    scenario = load_scenario("drlcc-sc1", overrides=overrides)
    simulation = Simulation(scenario)
    simulation.run_until(6.0)
    options = {flow.controller.name: flow.controller.options for flow in scenario.flows.values()}
    return reward_terms(present(simulation.take_agent_steps()), options)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_parts_add_up_to_the_reward(agent: str) -> None:
    found = terms_of(f'{{ name = "{agent}", policy = "random" }}')
    assert math.isfinite(found["reward"])
    if agent == "ddpg-mpcc":  # its reward is a normalised utility
        assert set(found) == {"reward"}
    else:
        assert math.fsum(found[name] for name in TERMS) == pytest.approx(found["reward"])
        assert found["loss"] <= 0


def test_the_worth_of_goodput_is_that_of_the_formula() -> None:
    overrides = ["duration=6s", f'flows.download.controller={{ name = "dql-mptcp", {PRICED} }}']
    scenario = load_scenario("drlcc-sc1", overrides=overrides)
    simulation = Simulation(scenario)
    simulation.run_until(6.0)
    steps = present(simulation.take_agent_steps())
    options = {"dql-mptcp": scenario.flows["download"].controller.options}
    found = reward_terms(steps, options)

    rewarded = np.isfinite(steps.reward)
    goodputs = np.maximum(steps.goodput_bps[rewarded] / 1e6, 0.01)
    decisions = len(np.unique(np.stack([steps.agent[rewarded], steps.number[rewarded]]), axis=1).T)
    # A subflow that delivers less than a packet per epoch counts as one packet, so the sum is a lower bound.
    worth = float(np.log(goodputs).sum()) / decisions
    assert worth - 0.02 * abs(worth) <= found["goodput"] <= worth + 0.5
    loss = 10 * float(steps.loss_ratio[rewarded].sum()) / decisions
    assert found["loss"] == pytest.approx(-loss, rel=1e-4)
    assert found["delay"] < 0


def test_printed_rewards_have_no_prices() -> None:
    prices = present(prices_of("drl-cc", {"loss_weight": 0, "delay_weight": 0, "free_delay": 0, "delay_price": "log"}))
    assert prices.loss == 0
    assert not prices.delay(np.array([3.0]), np.array([0.1])).any()
    assert prices_of("ddpg-mpcc", {}) is None


def test_an_evaluation_reports_the_reward_of_agents_alone() -> None:
    text = shipped_scenarios()["drlcc-sc1"].read_text(encoding="utf-8")
    told = evaluate(["drl-cc"], text, [1_000_000], baselines=["lia"], overrides=["duration=4s"]).to_json()
    agent, classic = told["controllers"]
    assert set(agent["reward"]) == {"reward", *TERMS}
    assert classic["reward"] == {}
    scenario, names = contender_scenario(read_contender("lia"), text, "sc1", "", ["duration=4s"])
    assert run_once(scenario, names, 1_000_000).reward == {}
