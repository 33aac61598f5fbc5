"""Decisions of agents in many environments, and the transitions between them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_agents.learner import FloatArray, TrainingEnv

LogsOf: TypeAlias = Literal["flow", "subflow"]
"""Level of the goodput logarithms in the reward: per flow or per subflow."""

_LEAST_BPS = 1e4  # the lower bound of goodput in the rewards


@dataclass(slots=True)
class Decisions:
    """D observations of agents that must act or that receive the reward of their last action.

    Attributes:
        env: int64 [D], number of the environment.
        agent: int64 [D], number of the agent in its environment.
        rows: float32 [D, R, F], observed subflows in the order of their slots, zero-padded.
        count: int16 [D], number of subflows.
        acting: int16 [D, K], positions of the acting subflows in `rows`, padded with -1.
        slots: int16 [D, K], slots of the acting subflows in the environment, padded with -1.
        reward: float32 [D], reward of the agent's previous decision.
        terminated: bool [D], whether the episode ends in a terminal state.
    """

    env: NDArray[np.int64]
    agent: NDArray[np.int64]
    rows: FloatArray
    count: NDArray[np.int16]
    acting: NDArray[np.int16]
    slots: NDArray[np.int16]
    reward: FloatArray
    terminated: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.env)

    def take(self, which: NDArray[Any]) -> Decisions:
        """The decisions at these positions."""
        return Decisions(*(getattr(self, field.name)[which] for field in fields(self)))


def read_decisions(env: TrainingEnv, relative_to: LogsOf | None = None) -> Decisions:
    """Copies of the decisions of all agents with acting subflows, ordered by environment and agent.

    Args:
        env: the environments.
        relative_to: whether the rewards contain logarithms of goodput per flow or per subflow. The corresponding
            logarithms of the fair shares are subtracted from the rewards. None: nothing is subtracted.
    """
    agents = int(env.agent.max(initial=-1)) + 1
    keys_of_slots = np.arange(env.num_envs)[:, None] * max(agents, 1) + env.agent  # [N, S]
    acts = env.acting & env.mask
    keys, first = np.unique(keys_of_slots[acts], return_index=True)
    seen = env.mask & (env.agent >= 0) & np.isin(keys_of_slots, keys)
    envs, slots = np.nonzero(seen)  # by environment, then slot
    group = np.searchsorted(keys, keys_of_slots[envs, slots])
    by_group = np.argsort(group, kind="stable")
    envs, slots, group = envs[by_group], slots[by_group], group[by_group]
    count = np.bincount(group, minlength=len(keys))
    position = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)

    width = env.obs.shape[2]
    rows = np.zeros((len(keys), int(count.max(initial=1)), width), dtype=np.float32)
    rows[group, position] = env.obs[envs, slots]
    is_acting = env.acting[envs, slots]
    acting_group = group[is_acting]
    acting_count = np.bincount(acting_group, minlength=len(keys))
    ordinal = np.arange(len(acting_group)) - np.repeat(np.cumsum(acting_count) - acting_count, acting_count)
    acting = np.full((len(keys), int(acting_count.max(initial=1))), -1, dtype=np.int16)
    acting_slots = acting.copy()
    acting[acting_group, ordinal] = position[is_acting]
    acting_slots[acting_group, ordinal] = slots[is_acting]

    reward = env.reward[acts][first]
    if relative_to is not None:
        reward = reward - _fair_reward(env.fair_bps[envs, slots], env.flow[envs, slots], group, relative_to)
    env_of = keys // max(agents, 1)
    return Decisions(
        env=env_of,
        agent=keys % max(agents, 1),
        rows=rows,
        count=count.astype(np.int16),
        acting=acting,
        slots=acting_slots,
        reward=reward,
        terminated=env.terminated[env_of],
    )


def _fair_reward(
    fair_bps: NDArray[np.float64], flow: NDArray[np.int32], group: NDArray[np.int64], logs_of: LogsOf
) -> FloatArray:
    """Sum of the logarithms of fair shares for each group of rows; the rows of a flow are contiguous."""
    begins = np.ones(len(group), dtype=bool)
    begins[1:] = (group[1:] != group[:-1]) | (flow[1:] != flow[:-1])
    subflows = np.diff(np.append(np.flatnonzero(begins), len(group)))
    share_bps = fair_bps[begins] / (subflows if logs_of == "subflow" else 1)
    terms = np.log(np.maximum(share_bps, _LEAST_BPS) / 1e6) * (subflows if logs_of == "subflow" else 1)
    return np.bincount(group[begins], terms).astype(np.float32)


class TransitionBuilder:
    """Joins each decision of an agent with the agent's next decision, by environment and agent.

    An agent without a further decision in its episode produces no further transition.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], tuple[FloatArray, int, NDArray[np.int16], FloatArray]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def close(self, now: Decisions, ended: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        """The transitions that end with these decisions, as columns of a replay buffer, n rows each.

        Args:
            now: decisions of agents, or their observations at the end of an episode.
            ended: bool [N], whether the environment's episode has ended; its open decisions are dropped.

        Returns:
            Arrays rows, count, acting, action, reward, next_rows, next_count, next_acting, and ends, which is 1 for a
            terminal state, but 0 at a time limit, so that such transitions are bootstrapped. Empty if no transition
            ends.
        """
        ending = [
            (before, index)
            for index, key in enumerate(zip(now.env.tolist(), now.agent.tolist(), strict=True))
            if (before := self._open.pop(key, None)) is not None
        ]
        if ended.any():
            over = set(np.flatnonzero(ended).tolist())
            self._open = {key: value for key, value in self._open.items() if key[0] not in over}
        if not ending:
            return {}
        after = now.take(np.array([index for _, index in ending]))
        befores = [before for before, _ in ending]
        return {
            "rows": _stacked([before[0] for before in befores], 0),
            "count": np.array([before[1] for before in befores], dtype=np.int16),
            "acting": _stacked([before[2] for before in befores], -1),
            "action": _stacked([before[3] for before in befores], 0),
            "reward": after.reward,
            "next_rows": after.rows,
            "next_count": after.count,
            "next_acting": after.acting,
            "ends": after.terminated.astype(np.float32),
        }

    def open(self, decisions: Decisions, action: FloatArray) -> None:
        """Stores decisions with their actions, float32 [D, K, A], in [-1, 1]."""
        for index, key in enumerate(zip(decisions.env.tolist(), decisions.agent.tolist(), strict=True)):
            self._open[key] = (
                decisions.rows[index],
                int(decisions.count[index]),
                decisions.acting[index],
                action[index],
            )

    def state(self) -> dict[str, NDArray[Any]]:
        """The open decisions as arrays, for `load`."""
        entries = list(self._open.values())
        return {
            "key": np.array(list(self._open), dtype=np.int64).reshape(-1, 2),
            "rows": _stacked([entry[0] for entry in entries], 0),
            "count": np.array([entry[1] for entry in entries], dtype=np.int16),
            "acting": _stacked([entry[2] for entry in entries], -1),
            "action": _stacked([entry[3] for entry in entries], 0),
        }

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """Replaces the open decisions by those from `state`."""
        self._open = {
            (int(key[0]), int(key[1])): (rows, int(count), acting, action)
            for key, rows, count, acting, action in zip(
                state["key"], state["rows"], state["count"], state["acting"], state["action"], strict=True
            )
        }


def _stacked(arrays: list[NDArray[Any]], filler: int) -> NDArray[Any]:
    """Arrays of equal rank stacked into one, padded to the largest shape."""
    if not arrays:
        return np.zeros((0,), dtype=np.float32)
    shape = np.max([array.shape for array in arrays], axis=0)
    stacked = np.full((len(arrays), *shape), filler, dtype=arrays[0].dtype)
    for index, array in enumerate(arrays):
        stacked[index][tuple(slice(0, width) for width in array.shape)] = array
    return stacked


FILLERS = {"acting": -1, "next_acting": -1}
"""Fillers other than 0 for columns of `TransitionBuilder.close` that vary in width."""
