"""Exploration noise of deterministic policies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class OrnsteinUhlenbeck:
    """Mean-reverting noise with mean 0, one independent process per slot.

    n <- n + theta (0 - n) + sigma N(0, 1), with one time step per decision. The stationary standard deviation is sigma
    / sqrt(2 theta - theta^2), which is 0.380 for theta = 0.15 and sigma = 0.2.

    Args:
        shape: shape of one process.
        theta: rate of reversion.
        sigma: standard deviation of each step.
        rng: generator of the draws.

    Source: Uhlenbeck, Ornstein 1930; Lillicrap 2015 section 7.
    """

    def __init__(self, shape: tuple[int, ...], *, theta: float, sigma: float, rng: np.random.Generator) -> None:
        self._shape = shape
        self._theta = theta
        self._sigma = sigma
        self._rng = rng
        self.values: NDArray[np.float64] = np.zeros((0, *shape))

    def draw(self, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """The next value of each of these processes, whose numbers must differ: [len(which), *shape]."""
        self._make_room(which)
        before = self.values[which]
        step = self._rng.standard_normal(before.shape)
        after: NDArray[np.float64] = before - self._theta * before + self._sigma * step
        self.values[which] = after
        return after

    def reset(self, which: NDArray[np.int64]) -> None:
        """Sets these processes to 0 at the start of an episode."""
        self._make_room(which)
        self.values[which] = 0

    def _make_room(self, which: NDArray[np.int64]) -> None:
        missing = int(which.max(initial=-1)) + 1 - len(self.values)
        if missing > 0:
            self.values = np.concatenate((self.values, np.zeros((missing, *self._shape))))
