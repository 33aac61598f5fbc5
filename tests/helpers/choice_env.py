"""A small environment of choices with the interface of the simulator's, for tests of learners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subflow_sim.vec_env import AgentNumber, AgentSpec

SHOWN_CHOICE = AgentSpec(
    controller="rl-explore",
    scope="subflow",
    features=tuple(AgentNumber(name, "1", "the choice is right", 0.0, 1.0) for name in "abc"),
    actions=(),
    choices=("decrease", "keep", "increase"),
    neutral_choice=1,
    reward="1 for the right choice",
    history=1,
    epoch="time",
    epoch_time_s=1.0,
    epoch_packets=0,
)


class ChoiceEnv:
    """Shows which of three choices is right, and rewards that choice, plus `offset`. Episodes are truncated."""

    def __init__(self, num_envs: int, *, slots: int = 1, seed: int = 1, episode_steps: int = 20, offset: float = 0.0):
        self.info = SHOWN_CHOICE
        self.num_envs = num_envs
        self.slots = slots
        self.episode_steps = episode_steps
        self.offset = offset
        self._rng = np.random.default_rng(seed)
        shape = (num_envs, slots)
        self.obs = np.zeros((*shape, 3), dtype=np.float32)
        self.mask = np.ones(shape, dtype=np.bool_)
        self.acting = np.ones(shape, dtype=np.bool_)
        self.agent = np.tile(np.arange(slots, dtype=np.int32), (num_envs, 1))
        self.flow = self.agent.copy()
        self.reward = np.zeros(shape, dtype=np.float32)
        self.team_reward = np.zeros(num_envs, dtype=np.float32)
        self.terminated = np.zeros(num_envs, dtype=np.bool_)
        self.truncated = np.zeros(num_envs, dtype=np.bool_)
        self.time_s = np.zeros(num_envs)
        self.episode = np.zeros(num_envs, dtype=np.int64)
        self.fair_bps = np.zeros(shape)
        self.truth: NDArray[np.float32] | None = None
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._right = np.zeros(shape, dtype=np.int64)

    def reset(self, seed: int | None = None, episodes: Sequence[int] | None = None) -> None:
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._steps[:] = 0
        self.reward[:] = 0
        self.truncated[:] = False
        self._show()

    def send(self, action: NDArray[np.float32], envs: Sequence[int] | None = None) -> None:
        assert envs is None, "all step together"
        over = self.truncated.copy()
        self.episode[over] += 1
        self.reward[:] = self.offset + (action[:, :, 0] == self._right)
        self._steps += 1
        self.reward[over] = 0
        self._steps[over] = 0
        self.truncated[:] = self._steps >= self.episode_steps
        self._show()

    def recv(self) -> None:
        pass

    def episode_metrics(self, env: int) -> dict[str, float]:
        return {}

    def _show(self) -> None:
        self._right[:] = self._rng.integers(3, size=self._right.shape)
        self.obs[:] = np.eye(3, dtype=np.float32)[self._right]
