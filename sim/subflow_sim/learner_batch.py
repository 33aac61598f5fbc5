"""Environments with one learner each; all other agents act automatically."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subflow_sim.catalog import catalog
from subflow_sim.env_scenarios import EnvScenarios, first_seed
from subflow_sim.errors import ParamError, PolicyError, SimulationError
from subflow_sim.policy import Policy
from subflow_sim.policy_library import NEUTRAL, RANDOM
from subflow_sim.vec_env import AgentSpec, VecEnv

_MOST_EMPTY_EPISODES = 100


class Actor(Protocol):
    """Source of an agent's decisions, for example a `Policy`."""

    def act(self, rows: ArrayLike, acting: ArrayLike) -> tuple[NDArray[np.float32], float]:
        """Returns actions [S, A], of which only the rows of acting subflows count, and the estimated value.

        Args:
            rows: float32 [S, F], observations of the existing subflows.
            acting: bool [S], subflows that need an action.
        """


Others: TypeAlias = str | Actor
"""Decisions of agents other than the learner: "neutral" (no change), "random" (uniform actions), a trained policy by
name or file, or an actor.
"""


class LearnerBatch:
    """N environments, each with one learner, whose decision every step applies.

    Other agents of the same controller decide without ending a step. Episodes without a decision of the learner are
    skipped. Each step overwrites the arrays of the previous step.

    Args:
        scenarios: the episodes.
        num_envs: N.
        first_env: number of the first environment.
        seed: seed of all random numbers if the first reset passes none; None: a random seed.
        threads: number of simulating threads; 0: the caller's thread.
        episode_s: maximum duration of an episode, s; None: the duration of the scenario.
        learner: the learning flow ("download.3"), or the learning subflow ("download.3/2") if subflows have separate
            agents; None: the first.
        others: source of the other agents' decisions.
        reward: "own" or "team", the reward returned as `paid`.

    Attributes:
        vec: the environments with all their agents.
        info: description of the agents.
        slots: S, maximum number of subflows of the learner.
        most_acting: K, maximum number of subflows that act at once.
        obs: float32 [N, S, F]; 0 in empty slots.
        mask: bool [N, S], whether the slot holds a subflow.
        acting: bool [N, S], whether the subflow needs an action.
        reward: float32 [N], reward of the epoch that ended; 0 in the first step of an episode.
        team_reward: float32 [N], sum of ln(max(goodput in Mbit/s, 0.01)) over all flows, averaged over the time of the
            step.
        paid: float32 [N], the reward selected by the argument `reward`.
        terminated: bool [N], whether every learning flow has delivered all its data.
        truncated: bool [N], whether the episode has reached the end of its time.

    Raises:
        SimulationError: if the learner, the reward or the source of the other agents' decisions is unknown.
    """

    def __init__(
        self,
        scenarios: EnvScenarios,
        num_envs: int,
        *,
        first_env: int = 0,
        seed: int | None = None,
        threads: int = 0,
        episode_s: float | None = None,
        learner: str | None = None,
        others: Others = "neutral",
        reward: str = "own",
    ) -> None:
        if reward not in ("own", "team"):
            raise SimulationError(f'unknown reward "{reward}"; allowed: "own", "team"')
        self._scenarios = scenarios
        self._seed = seed
        self._first_env = first_env
        self._learner = learner
        self._others = _others(others, scenarios.spec)
        self.vec = VecEnv(
            scenarios.make,
            scenarios.controller,
            num_envs,
            threads=threads,
            slots=scenarios.slots,
            episode_s=episode_s,
            first_env=first_env,
        )
        self.info: AgentSpec = self.vec.info
        most = {"host": self.vec.slots, "connection": scenarios.most_paths, "subflow": 1}
        self.slots = most[self.info.scope]
        self.most_acting = min(scenarios.most_paths, self.slots)
        shape = (num_envs, self.slots)
        self._envs = np.arange(num_envs)[:, np.newaxis]
        self._slot = np.zeros(shape, np.intp)  # slot of `vec` for each slot of the learner
        self._is_mine = np.zeros(shape, np.bool_)  # whether the learner's slot is in use
        # whether the learner decides for the slot of `vec`
        self._is_learner = np.zeros((num_envs, self.vec.slots), np.bool_)
        self._episode = np.full(num_envs, -1, np.int64)
        self._is_fresh = np.ones(num_envs, np.bool_)  # whether the learner has yet to decide in the episode
        self._named: list[tuple[int, list[str]]] = [(-1, [])] * num_envs  # flow names of the latest queried episode
        self._draws = [np.random.default_rng(0)] * num_envs
        self._action = np.tile(simple_action(self.info, self.vec.slots, None), (num_envs, 1, 1))
        self._team = np.zeros(num_envs)
        self._since_s = np.zeros(num_envs)
        self._now_s = np.zeros(num_envs)
        self.obs = np.zeros((*shape, self.info.width), np.float32)
        self.mask = np.zeros(shape, np.bool_)
        self.acting = np.zeros(shape, np.bool_)
        self.reward = np.zeros(num_envs, np.float32)
        self.team_reward = np.zeros(num_envs, np.float32)
        self.paid = self.reward if reward == "own" else self.team_reward
        self.terminated = self.vec.terminated
        self.truncated = self.vec.truncated

    @property
    def num_envs(self) -> int:
        """Number of environments, N."""
        return self.vec.num_envs

    @property
    def is_begun(self) -> bool:
        """True after the first reset."""
        return bool(self.vec.episode[0] >= 0)

    def reset(self, seed: int | None = None, episode: int | None = None) -> None:
        """Begins an episode in all environments: number `episode`, else the first of a given seed, else the next.

        Raises:
            SimulationError: if `episode` is negative, if the learner is unknown, or if every episode ends before the
                learner decides.
        """
        if episode is not None and episode < 0:
            raise SimulationError(f"unknown episode {episode}: episodes are counted from 0")
        if seed is None and not self.is_begun:
            seed = first_seed(self._seed)
        first = episode if episode is not None else None if seed is None else 0
        episodes = (self.vec.episode + 1).tolist() if first is None else [first] * self.num_envs
        if seed is not None:
            self._scenarios.seed = seed
        self.vec.reset(seed, episodes)
        self._episode[:] = -1
        self._named = [(-1, [])] * self.num_envs
        self._begin_step()
        self._go_on()

    def step(self, action: NDArray[np.float32]) -> None:
        """Applies one decision of each learner; begins the next episode instead where the episode has ended.

        Args:
            action: float32 [N, K, A], rows for the acting subflows in order; further rows are ignored.
        """
        rank = np.minimum(np.cumsum(self.acting, axis=1) - 1, self.most_acting - 1)
        env, slot = np.nonzero(self.acting)
        self._action[env, self._slot[env, slot]] = action[env, rank[env, slot]]
        self._decide_for_others(np.arange(self.num_envs))
        self._begin_step()
        self.vec.step(self._action)
        self._go_on()

    def flow_name(self, env: int) -> str:
        """Name of an environment's learner.

        The agent of a connection is named after its flow ("download.3"), the agent of a host after its first flow, and
        the agent of a subflow after the subflow ("download.3/2").
        """
        slot = self._slot[env, 0]
        flow = self.vec.flow[env, slot]
        name: str = self._flow_names(env)[flow]
        if self.info.scope != "subflow":
            return name
        return f"{name}/{1 + np.flatnonzero(self.vec.flow[env] == flow).tolist().index(slot)}"

    def _begin_step(self) -> None:
        self._team[:] = 0
        # The step after an ended episode starts at time 0.
        self._since_s[:] = np.where(self.terminated | self.truncated, 0.0, self.vec.time_s)
        self._now_s[:] = self._since_s

    def _go_on(self) -> None:
        """Advances each environment until its learner must decide or its episode ends."""
        empty = 0
        waiting = self._unsettled(np.arange(self.num_envs))
        while len(waiting):
            ended = waiting[self.terminated[waiting] | self.truncated[waiting]]
            empty += len(ended)
            self._team[ended] = self._now_s[ended] = self._since_s[ended] = 0
            if empty > _MOST_EMPTY_EPISODES * self.num_envs:
                raise SimulationError("episodes end before the learner has anything to decide: let them last longer")
            self._decide_for_others(waiting)
            self.vec.send(self._action, waiting.tolist())
            self.vec.recv()
            waiting = self._unsettled(waiting)
        self._show()

    def _unsettled(self, envs: NDArray[np.intp]) -> NDArray[np.intp]:
        """The stepped environments in which the learner neither decides next nor observes the end of its episode."""
        vec = self.vec
        for env in envs[vec.episode[envs] != self._episode[envs]]:
            self._begin_episode(int(env))
        self._team[envs] += vec.team_reward[envs] * (vec.time_s[envs] - self._now_s[envs])
        self._now_s[envs] = vec.time_s[envs]
        acts = (vec.acting[envs] & self._is_learner[envs]).any(axis=1)
        ended = self.terminated[envs] | self.truncated[envs]
        is_settled = np.where(ended, ~self._is_fresh[envs], acts)
        self._is_fresh[envs[is_settled]] = False
        return envs[~is_settled]

    def _begin_episode(self, env: int) -> None:
        """Finds the learner's slots in an environment's new episode, and resets the environment's actions."""
        vec, episode = self.vec, int(self.vec.episode[env])
        self._episode[env] = episode
        self._is_fresh[env] = True
        number = self._first_env + env
        self._draws[env] = np.random.default_rng((self._scenarios.seed, number, episode))
        first = self._first_slot(env)
        mine = [first]
        if self.info.scope != "subflow":
            mine = np.flatnonzero(vec.agent[env] == vec.agent[env, first]).tolist()
        self._is_learner[env] = False
        # slots may belong to different subflows than in the previous episode
        self._action[env] = simple_action(self.info, self.vec.slots, None)
        self._is_learner[env, mine] = True
        self._is_mine[env] = np.arange(self.slots) < len(mine)
        self._slot[env] = 0
        self._slot[env, : len(mine)] = mine

    def _first_slot(self, env: int) -> int:
        if self._learner is None:
            return 0
        flow, _, ordinal = self._learner.partition("/")
        names = self._flow_names(env)
        wanted = next((name for name in (flow, f"{flow}.1", flow.removesuffix(".1")) if name in names), None)
        slots = [] if wanted is None else np.flatnonzero(self.vec.flow[env] == names.index(wanted)).tolist()
        position = int(ordinal) - 1 if ordinal.isdecimal() else 0
        if (ordinal and not ordinal.isdecimal()) or not 0 <= position < len(slots):
            learning = {names[each] for each in self.vec.flow[env] if each >= 0}
            raise SimulationError(
                f'episode {self.vec.episode[env]} has no learner "{self._learner}"; allowed: '
                f"{', '.join(name for name in names if name in learning)}"
            )
        return int(slots[position])

    def _flow_names(self, env: int) -> list[str]:
        episode = int(self.vec.episode[env])
        if self._named[env][0] != episode:
            self._named[env] = (episode, self._scenarios.flow_names(self._first_env + env, episode))
        return self._named[env][1]

    def _decide_for_others(self, envs: NDArray[np.intp]) -> None:
        if self._others == NEUTRAL:
            return  # all actions are initialised as neutral
        acting = self.vec.acting[envs] & ~self._is_learner[envs]
        for env in envs[acting.any(axis=1)]:
            self._decide_for_others_in(int(env))

    def _decide_for_others_in(self, env: int) -> None:
        acting = self.vec.acting[env] & ~self._is_learner[env]
        if isinstance(self._others, str):
            self._action[env, acting] = simple_action(self.info, int(acting.sum()), self._draws[env])
            return
        for agent in np.unique(self.vec.agent[env, acting]):
            there = (self.vec.agent[env] == agent) & self.vec.mask[env]
            action, _ = self._others.act(self.vec.obs[env, there], acting[there])
            self._action[env, there & acting] = np.asarray(action)[acting[there]]

    def _show(self) -> None:
        vec = self.vec
        np.logical_and(vec.mask[self._envs, self._slot], self._is_mine, out=self.mask)
        np.logical_and(vec.acting[self._envs, self._slot], self._is_mine, out=self.acting)
        np.multiply(vec.obs[self._envs, self._slot], self.mask[..., np.newaxis], out=self.obs)
        first = self.acting.argmax(axis=1)[:, np.newaxis]
        earned = np.take_along_axis(vec.reward[self._envs, self._slot], first, axis=1)[:, 0]
        np.multiply(earned, self.acting.any(axis=1), out=self.reward)
        elapsed_s = self._now_s - self._since_s
        self.team_reward[:] = np.divide(self._team, elapsed_s, out=np.zeros_like(elapsed_s), where=elapsed_s > 0)


def _others(others: Others, info: AgentSpec) -> Others:
    """The source of the other agents' decisions, with a named policy loaded.

    Raises:
        SimulationError: if the policy is unknown or was trained for other agents.
    """
    if not isinstance(others, str) or others in (NEUTRAL, RANDOM):
        return others
    try:
        policy = Policy.from_bytes(catalog().policies.read(others, Path.cwd()).content)
    except (ParamError, PolicyError) as error:
        raise SimulationError(f'"{others}" cannot decide for others: {error}') from error
    if (policy.controller, policy.width) != (info.controller, info.width):
        raise SimulationError(
            f'"{others}" cannot decide for others: it was trained for {policy.controller} with history = '
            f"{policy.history}, and they are {info.controller} with history = {info.history}"
        )
    return policy


def simple_action(info: AgentSpec, count: int, draws: np.random.Generator | None) -> NDArray[np.float32]:
    """Actions on `count` subflows, [count, A]: neutral without `draws`, otherwise uniform over the allowed range."""
    if info.choices:
        chosen = (
            np.full((count, 1), info.neutral_choice)
            if draws is None
            else draws.integers(len(info.choices), size=(count, 1))
        )
        return chosen.astype(np.float32)
    low, high = info.action_bounds()
    values = (
        np.clip(np.zeros((count, len(low))), low, high)
        if draws is None
        else draws.uniform(low, high, (count, len(low)))
    )
    return values.astype(np.float32)
