"""Environments with the interface of the simulator's, for learners: small enough for a known optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from subflow_sim.vec_env import AgentNumber, AgentSpec


def number(name: str, minimum: float = -1.0, maximum: float = 1.0) -> AgentNumber:
    """A number that an agent observes or sets, without a description."""
    return AgentNumber(name, "1", "", minimum, maximum)


LEVELS = AgentSpec(
    controller="toy",
    scope="connection",
    features=(number("level"), number("is_second")),
    actions=(number("push"),),
    choices=(),
    neutral_choice=0,
    reward="1 - (level - 0.5)^2",
    history=1,
    epoch="time",
    epoch_time_s=1.0,
    epoch_packets=0,
)


class LevelEnv:
    """Each agent moves the levels of its subflows; the reward is highest if all are 0.5.

    An agent has `rows` subflows, each with a level x in [-1, 1]; its action a moves x by 0.3 a. The reward is the mean
    of 1 - (x - 0.5)^2. An episode begins at random levels and is truncated after `episode_steps` decisions.
    """

    def __init__(
        self,
        num_envs: int = 4,
        *,
        rows: int = 2,
        agents: int = 1,
        episode_steps: int = 20,
        seed: int = 1,
        spec: AgentSpec = LEVELS,
        on_step: Callable[[LevelEnv], None] | None = None,
    ) -> None:
        self.info = spec
        self.num_envs = num_envs
        self.slots = rows * agents
        self._rows = rows
        self._episode_steps = episode_steps
        self._seed = seed
        self._on_step = on_step
        shape = (num_envs, self.slots)
        self.obs = np.zeros((*shape, self.info.width), dtype=np.float32)
        self.mask = np.ones(shape, dtype=np.bool_)
        self.acting = np.ones(shape, dtype=np.bool_)
        self.agent = np.tile(np.repeat(np.arange(agents, dtype=np.int32), rows), (num_envs, 1))
        self.flow = self.agent.copy()
        self.reward = np.zeros(shape, dtype=np.float32)
        self.team_reward = np.zeros(num_envs, dtype=np.float32)
        self.terminated = np.zeros(num_envs, dtype=np.bool_)
        self.truncated = np.zeros(num_envs, dtype=np.bool_)
        self.time_s = np.zeros(num_envs)
        self.episode = np.zeros(num_envs, dtype=np.int64)
        self.fair_bps = np.zeros(shape)
        self.truth: NDArray[np.float32] | None = None
        self._level = np.zeros(shape)
        self._sent: tuple[np.ndarray, list[int]] | None = None

    def reset(self, seed: int | None = None, episodes: Sequence[int] | None = None) -> None:
        self._seed = self._seed if seed is None else seed
        self.episode[:] = 0 if episodes is None else episodes
        for env in range(self.num_envs):
            self._begin(env)
        self._show(range(self.num_envs))

    def _begin(self, env: int) -> None:
        rng = np.random.default_rng((self._seed, env, int(self.episode[env])))
        self._level[env] = rng.uniform(-1, 1, self.slots)
        self.time_s[env] = 0
        self.reward[env] = 0
        self.truncated[env] = False

    def send(self, action, envs: Sequence[int] | None = None) -> None:
        assert self._sent is None
        self._sent = (np.array(action), list(range(self.num_envs) if envs is None else envs))
        for env in self._sent[1]:
            self.episode[env] += self.truncated[env]

    def recv(self) -> None:
        if self._sent is None:
            return
        action, envs = self._sent
        self._sent = None
        for env in envs:
            if self.truncated[env]:
                self._begin(env)
                continue
            self._level[env] = np.clip(self._level[env] + 0.3 * np.clip(action[env, :, 0], -1, 1), -1, 1)
            self.time_s[env] += 1
            worth = 1 - (self._level[env] - 0.5) ** 2
            by_agent = worth.reshape(-1, self._rows).mean(1)
            self.reward[env] = np.repeat(by_agent, self._rows)
            self.team_reward[env] = by_agent.sum()
            # The first episodes end at different times.
            limit = self._episode_steps if self.episode[env] else self._episode_steps - env % 3
            self.truncated[env] = self.time_s[env] >= limit
        self._show(envs)
        if self._on_step is not None:
            self._on_step(self)

    def _show(self, envs) -> None:
        for env in envs:
            self.obs[env, :, 0] = self._level[env]
            self.obs[env, :, 1] = np.arange(self.slots) % self._rows

    def episode_metrics(self, env: int) -> dict[str, float]:
        goodput_bps = 1e6 * float(1 - ((self._level[env] - 0.5) ** 2).mean())
        return {
            "goodput_bps": goodput_bps,
            "flow_goodput_bps": goodput_bps,
            "rtt_inflation": 1.0,
            "rtt_s": 0.05,
            "loss_ratio": 0.0,
            "jain": 1.0,
            "duration_s": float(self.time_s[env]),
        }
