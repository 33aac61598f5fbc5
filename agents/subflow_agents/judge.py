"""Computes the rewards of epochs, and the critic's input, from measurements of the simulator.

The measurements exist only in training: a policy receives none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subflow_sim.truth import TRUTH

_AT = {name: place for place, name in enumerate(TRUTH)}
_LEAST_RATE = 1e-2
_LONGEST = 2.0  # cap on an epoch's length, base RTTs; slow links shared with a TCP would otherwise dominate the reward
_DUE = 0.98  # background flows below this share of their reference rate count as harmed
# averaging time of the rate of background flows, in base RTTs, because the rate of a TCP fluctuates
_MEMORY_RTTS = 40.0


@dataclass(frozen=True, slots=True)
class Prices:
    """Weights of the parts of the reward.

    Attributes:
        delay: weight of ln(1 + queue).
        loss: weight of the loss beyond random loss.
        beside_tcp: factor by which delay and loss are scaled if a TCP contributes to them.
        excess: weight of ln(rate / fair rate) above the fair rate if other flows compete for the capacity.
        harm: weight of ln(reference rate of the background flows / their rate).
    """

    delay: float = 0.5
    loss: float = 5.0
    beside_tcp: float = 0.3
    excess: float = 4.0
    harm: float = 4.0


class Judge:
    """Computes rewards of epochs, and the critic's input of `width` values, for each lane.

    Args:
        prices: weights of the parts of the reward.
        lanes: number of lanes, N times S; each slot of an environment is a lane.
    """

    width = len(TRUTH) + 1

    def __init__(self, prices: Prices, lanes: int) -> None:
        self._prices = prices
        self.beside = np.ones(lanes)  # recent rate of the background flows over their reference rate

    def see(self, truth: NDArray[np.float32], acting: NDArray[np.bool_]) -> None:
        """Processes the measurements of epochs [N, S, T] at acting slots."""
        flat = truth.reshape(-1, len(TRUTH))
        gain = np.clip(flat[:, _AT["length"]] / _MEMORY_RTTS, 0.0, 1.0)
        moved = self.beside + gain * (np.minimum(flat[:, _AT["beside"]], 3.0) - self.beside)
        self.beside = np.where(acting.reshape(-1), moved, self.beside)

    def forget(self, lanes: NDArray[np.bool_]) -> None:
        """Resets lanes whose episode ended."""
        self.beside[lanes] = 1.0

    def rewards(self, truth: NDArray[np.float32]) -> NDArray[np.float64]:
        """Rewards of epochs [N, S, T]: float64 [N * S].

        The reward is ln(rate / fair rate) if this is negative. A positive logarithm is multiplied by `-excess` if other
        flows compete for the capacity, otherwise by 0. The weighted queue, loss and harm to other flows are subtracted;
        the result is clipped and scaled with the length of the epoch.
        """
        prices = self._prices
        t = truth.reshape(-1, len(TRUTH)).astype(np.float64)
        log_rate = np.log(np.maximum(t[:, _AT["rate"]], _LEAST_RATE))
        has_tcp = t[:, _AT["has_tcp"]] > 0
        suffers = has_tcp & (self.beside < 1.0)
        is_wanted = (t[:, _AT["contested"]] > 0) | suffers
        worth = np.where(log_rate < 0, log_rate, np.where(is_wanted, -prices.excess * log_rate, 0.0))
        costs = prices.delay * np.log1p(t[:, _AT["queue"]]) + prices.loss * t[:, _AT["loss"]]
        costs *= np.where(has_tcp, prices.beside_tcp, 1.0)
        harm = np.where(has_tcp, np.log(_DUE / np.clip(self.beside, 0.05, _DUE)), 0.0)
        weight = np.clip(t[:, _AT["length"]], 0.5, _LONGEST) / 2
        return weight * np.clip(worth - costs - prices.harm * harm, -6.0, 1.0)

    def seen(self, truth: NDArray[np.float32]) -> NDArray[np.float32]:
        """The critic's input from epochs [N, S, T], scaled to magnitudes around 1: float32 [N * S, W]."""
        t = truth.reshape(-1, len(TRUTH))
        shown = np.empty((len(t), self.width), np.float32)
        shown[:, 0] = np.log(np.clip(t[:, _AT["length"]], 0.1, 50.0)) / 2
        shown[:, 1] = np.clip(np.log(np.maximum(t[:, _AT["rate"]], _LEAST_RATE)), -5, 3) / 2
        shown[:, 2] = np.log1p(np.minimum(t[:, _AT["queue"]], 20.0))
        shown[:, 3] = np.clip(4 * t[:, _AT["loss"]], -1, 2)
        shown[:, 4] = np.sqrt(np.maximum(t[:, _AT["random_loss"]], 0.0))
        shown[:, 5] = np.log(np.clip(t[:, _AT["beside"]], 0.05, 3.0))
        shown[:, 6] = t[:, _AT["contested"]]
        shown[:, 7] = t[:, _AT["has_tcp"]]
        shown[:, 8] = t[:, _AT["part"]]
        shown[:, 9] = np.log(np.clip(self.beside, 0.05, 3.0))
        return shown
