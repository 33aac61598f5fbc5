"""Parts of the rewards of learning agents in a run: the worth of goodput, and the prices of delay and loss.

Each reward is a worth of goodput minus prices of delay and loss, whose weights are options of the controller. The
prices are computed from the measurements of each decision, and the worth of goodput is the remainder of the reward.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from subflow_sim.agent_steps import AgentSteps, RunAgent

FloatArray: TypeAlias = NDArray[np.float64]

TERMS = ("goodput", "delay", "loss")
"""Parts of a reward, in the order of display; prices are negative."""

_LATENCY_WEIGHT = _LOSS_WEIGHT = 10.0  # RL-explore, equation (4): per second of latency, and of the loss ratio
_OWN_DELAY, _OWN_LOSS = 0.5, 5.0  # reward of confluence in a run
# Feature with the RTT over the lowest RTT, and the number that the controller subtracts from it
_RTT_FEATURES = {"rtt": 0.0, "latency": 1.0, "queue": 1.0}
_LOG_MAXIMUM = math.log(11.0)


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of delay and loss in a reward.

    Attributes:
        delay: (RTT over lowest RTT [n], lowest RTT in s [n]) -> price of the delay of each subflow [n].
        loss: price of a loss ratio of 1.
    """

    delay: Callable[[FloatArray, FloatArray], FloatArray]
    loss: float


def prices_of(controller: str, options: Mapping[str, Any]) -> Prices | None:
    """The prices in the reward of a controller with these options; None if its reward is no sum of such parts."""
    if "loss_weight" in options:
        weight, free = float(options["delay_weight"]), float(options["free_delay"])
        grows = np.log1p if options["delay_price"] == "log" else np.positive
        return Prices(lambda ratio, _s: weight * grows(np.maximum(ratio - 1 - free, 0)), float(options["loss_weight"]))
    if controller == "mplibra":
        weight, is_log = float(options["reward_delay"]), options["reward"] == "log"
        return Prices(lambda ratio, _s: weight * (np.log(ratio) if is_log else ratio), float(options["reward_loss"]))
    if controller == "rl-explore":
        return Prices(lambda ratio, min_rtt_s: _LATENCY_WEIGHT * ratio * min_rtt_s, _LOSS_WEIGHT)
    if controller == "confluence":
        return Prices(lambda ratio, _s: _OWN_DELAY * np.log(np.maximum(ratio, 1)), _OWN_LOSS)
    return None


def reward_terms(steps: AgentSteps, options: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Mean reward of a decision, and its parts, over all decisions of the agents in a run.

    Args:
        steps: the decisions.
        options: options of each learning controller, by its name.

    Returns:
        "reward", and the `TERMS` if the rewards of all agents are sums of them; empty without a rewarded decision.
    """
    rewards: list[FloatArray] = []
    delays: list[FloatArray] = []
    losses: list[FloatArray] = []
    is_known = True
    for position, agent in enumerate(steps.agents):
        rows = np.flatnonzero((steps.agent == position) & np.isfinite(steps.reward))
        if agent.scope == "subflow":
            rows = rows[steps.is_acting[rows]]
        if not len(rows):
            continue
        decisions, first, place = np.unique(steps.number[rows], return_index=True, return_inverse=True)
        rewards.append(steps.reward[rows[first]].astype(np.float64))
        prices = prices_of(agent.controller, options.get(agent.controller, {}))
        if prices is None:
            is_known = False
            continue
        delay = prices.delay(_rtt_ratio(steps, agent, rows), steps.min_rtt_s[rows].astype(np.float64))
        loss = prices.loss * steps.loss_ratio[rows].astype(np.float64)
        # Without an RTT sample, a subflow pays no price.
        for sums, price in ((delays, delay), (losses, loss)):
            sums.append(np.bincount(place, np.nan_to_num(price), len(decisions)).astype(np.float64))
    if not rewards:
        return {}
    mean = float(np.concatenate(rewards).mean())
    if not is_known:
        return {"reward": mean}
    delay_mean, loss_mean = float(np.concatenate(delays).mean()), float(np.concatenate(losses).mean())
    return {"reward": mean, "goodput": mean + delay_mean + loss_mean, "delay": -delay_mean, "loss": -loss_mean}


def _rtt_ratio(steps: AgentSteps, agent: RunAgent, rows: NDArray[np.int64]) -> FloatArray:
    """RTT over lowest RTT as the agent observes it, otherwise from the measurements of the epoch: [n], NaN: unknown."""
    for index, feature in enumerate(agent.features):
        if feature.name in _RTT_FEATURES and abs(feature.maximum - _LOG_MAXIMUM) < 1e-5:
            ratio = np.expm1(steps.observation[rows, index].astype(np.float64)) + _RTT_FEATURES[feature.name]
            return np.where(np.isfinite(steps.min_rtt_s[rows]), ratio, math.nan)
    return steps.rtt_s[rows].astype(np.float64) / steps.min_rtt_s[rows]
