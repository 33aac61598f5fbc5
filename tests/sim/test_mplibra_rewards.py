"""Rewards of MPLibra's agent: an action is charged for the trial of its rate, although the agent sees no trial."""

import numpy as np
from tests.helpers.networks import link, mptcp, scenario

from subflow_sim.decisions import DecisionLimits
from subflow_sim.scenario_model import Choice
from subflow_sim.simulation import Simulation

LINK = link("one", rate_bps=5e6, delay_s=0.02, queue_pkts=20)


def _mean_rewards(**options: str) -> tuple[float, str]:
    """The mean reward of an action and the signature of a run with random proposals of up to 32 times the rate."""
    learned = mptcp("learned", ["one"], Choice("mplibra", {"policy": "random", "rtt": "mean", **options}))
    simulation = Simulation(scenario([LINK], [learned], duration_s=20), decisions=DecisionLimits())
    simulation.run_until(simulation.duration_s)
    steps = simulation.take_agent_steps()
    assert steps is not None
    rewards = steps.reward[np.isfinite(steps.reward)]
    assert len(rewards) > 50
    return float(rewards.mean()), simulation.signature()


def test_a_reward_covers_the_trial_of_both_rates_or_the_exploration_alone() -> None:
    charged, signature = _mean_rewards(sees="exploration", reward_over="all")
    spared, same_signature = _mean_rewards(sees="exploration", reward_over="exploration")
    assert signature == same_signature  # rewards only matter in training
    assert charged < spared - 0.3  # proposals above the capacity overflow the queue in their trial


def test_a_reward_covers_all_stages_if_the_record_does() -> None:
    assert _mean_rewards(sees="all", reward_over="exploration") == _mean_rewards(sees="all", reward_over="all")
