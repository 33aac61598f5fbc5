"""Measurements of an epoch that are known to the simulator but not to agents, for rewards in training.

After training, no agent has these measurements, because a policy depends only on its agent's observation.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subflow_sim.arena.path_facts import PathFacts, path_facts
from subflow_sim.errors import SimulationError
from subflow_sim.fairness.ideal import max_min_splits
from subflow_sim.fairness.network import Stretch, SubflowPath
from subflow_sim.fairness.splits import Split
from subflow_sim.whole_scenario import Scenario

TRUTH = (
    "length",
    "rate",
    "queue",
    "loss",
    "random_loss",
    "beside",
    "contested",
    "has_tcp",
    "part",
)
"""Measurements of an epoch of a subflow, in this order.

Subflows of a connection with a common bottleneck form a group, whose rates add up.

    length: length of the epoch over the base RTT of the path.
    rate: delivered rate of the group over its part of the max-min fair split.
    queue: mean RTT over the base RTT, less 1, at least 0.
    loss: loss ratio minus the random loss of the path's links.
    random_loss: random loss ratio of the path's links.
    beside: delivered rate of the flows that do not learn, over the smaller of their fair shares and the rate that
        random loss allows a NewReno flow; 1 without such flows.
    contested: 1 if other learning flows share a link of the path, otherwise 0.
    has_tcp: 1 if flows that do not learn share a link of the path, otherwise 0.
    part: rate of the subflow over that of its group.
"""

_EPOCH_S, _LOSS, _RTT_S, _OWN, _GROUP, _BESIDE = range(6)  # columns of the core's EpochTruth
_LEAST_SHARE = 0.05  # minimum share of a bottleneck, because the fair split may give a group nothing
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class _Episode:
    """Values of the used slots: constants of the episode, and values that hold from each time in `starts_s`."""

    groups: list[int]
    base_rtt_s: NDArray[np.float64]
    random_loss: NDArray[np.float64]
    contested: NDArray[np.float64]
    has_tcp: NDArray[np.float64]
    starts_s: list[float]
    fair_pps: list[NDArray[np.float64]]
    due_pps: list[float]


class TruthComputer:
    """Computes TRUTH from the core's counters of epochs.

    Attributes:
        truth: float32 [N, S, T], the measurements `TRUTH` of the latest epochs.

    Args:
        counted: float32 [N, S, 6], the core's counters of epochs.
        num_envs: number of environments, N.
        slots: number of slots, S.
    """

    def __init__(self, counted: NDArray[np.float32], num_envs: int, slots: int) -> None:
        self.truth = np.zeros((num_envs, slots, len(TRUTH)), np.float32)
        self._counted = counted
        self._slots = slots
        shape = (num_envs, slots)
        self._base_rtt_s, self._random_loss, self._fair_pps = np.ones(shape), np.zeros(shape), np.ones(shape)
        self._contested, self._has_tcp = np.zeros(shape), np.zeros(shape)
        self._due_pps = np.full(num_envs, math.inf)
        self._episodes: list[_Episode | None] = [None] * num_envs
        self._next_change_s = np.full(num_envs, math.inf)

    def begin(self, env: int, scenario: Scenario, controller: str, duration_s: float) -> list[int]:
        """Starts an episode, and returns the group of each slot.

        Raises:
            SimulationError: if the scenario has no fair split.
        """
        try:
            episode = _episode(scenario, controller, duration_s)
        except ArithmeticError as error:
            raise SimulationError(f"{scenario.name}: {error}") from error
        used = len(episode.groups)
        self._episodes[env] = episode
        self._base_rtt_s[env, :used] = episode.base_rtt_s[: self._slots]
        self._random_loss[env, :used] = episode.random_loss[: self._slots]
        self._contested[env, :used] = episode.contested[: self._slots]
        self._has_tcp[env, :used] = episode.has_tcp[: self._slots]
        self._enter(env, 0.0)
        return episode.groups

    def tell(self, time_s: NDArray[np.float64]) -> None:
        """Updates `truth` from the core's counters at the simulated times `time_s` [N]."""
        for env in np.flatnonzero(time_s >= self._next_change_s):
            self._enter(int(env), float(time_s[env]))
        counted, truth = self._counted, self.truth
        truth[:, :, 0] = counted[:, :, _EPOCH_S] / self._base_rtt_s
        truth[:, :, 1] = counted[:, :, _GROUP] / self._fair_pps
        truth[:, :, 2] = np.maximum(counted[:, :, _RTT_S] / self._base_rtt_s - 1, 0.0)
        truth[:, :, 3] = counted[:, :, _LOSS] - self._random_loss
        truth[:, :, 4] = self._random_loss
        due = self._due_pps[:, None]
        truth[:, :, 5] = np.where(np.isfinite(due), counted[:, :, _BESIDE] / due, 1.0)
        truth[:, :, 6] = self._contested
        truth[:, :, 7] = self._has_tcp
        truth[:, :, 8] = np.minimum(counted[:, :, _OWN] / np.maximum(counted[:, :, _GROUP], _TINY), 1.0)

    def _enter(self, env: int, time_s: float) -> None:
        episode = self._episodes[env]
        assert episode is not None
        place = max(bisect_right(episode.starts_s, time_s) - 1, 0)
        self._fair_pps[env, : len(episode.groups)] = episode.fair_pps[place][: self._slots]
        self._due_pps[env] = episode.due_pps[place]
        later = episode.starts_s[place + 1 :]
        self._next_change_s[env] = later[0] if later else math.inf


def _episode(scenario: Scenario, controller: str, duration_s: float) -> _Episode:
    flows = [flow for flow in scenario.flows.values() if not flow.sends_datagrams]
    learns = {name: flow.controller.name == controller for flow in flows for name in flow.instances}
    facts = path_facts(scenario)
    splits = max_min_splits(scenario, 0.0, duration_s)
    paths = _paths(splits)
    names, of_slot = [], []
    for flow in flows:
        for name in flow.instances:
            if learns[name]:
                for ordinal in range(1, len(flow.paths) + 1):
                    names.append(f"{name}/{ordinal}")
                    of_slot.append(facts[flow.name, ordinal])
    packet_bits = 8.0 * scenario.mss_bytes
    keys = [(name.partition("/")[0], _bottleneck(paths.get(name), splits)) for name in names]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    groups = [numbers[key] for key in keys]
    crossing: dict[str, set[str]] = {}
    for name, path in paths.items():
        for link in path.links:
            crossing.setdefault(link, set()).add(name.partition("/")[0])

    def shares(name: str, *, with_learner: bool) -> float:
        mine = name.partition("/")[0]
        links = paths[name].links if name in paths else ()
        return float(any(learns[o] is with_learner and o != mine for link in links for o in crossing[link]))

    beside = [(name, flow.name) for flow in flows for name in flow.instances if not learns[name]]
    starts, fair, due = [], [], []
    for stretch, split in splits:
        starts.append(stretch.from_s)
        parts = [split.subflows_bps.get(name, 0.0) for name in names]
        whole = dict.fromkeys(groups, 0.0)
        for group, part in zip(groups, parts, strict=True):
            whole[group] += part if math.isfinite(part) else 0.0
        least = [
            _LEAST_SHARE * _capacity(paths.get(name), stretch.network.capacities_bps, fact)
            for name, fact in zip(names, of_slot, strict=True)
        ]
        fair.append(np.array([max(whole[g], low, 1.0) for g, low in zip(groups, least, strict=True)]) / packet_bits)
        total = math.fsum(min(split.totals_bps.get(name, 0.0), facts[flow, 1].newreno_bps) for name, flow in beside)
        due.append(total / packet_bits if total > 0 else math.inf)
    return _Episode(
        groups,
        np.array([fact.base_rtt_s for fact in of_slot]),
        np.array([fact.loss for fact in of_slot]),
        np.array([shares(name, with_learner=True) for name in names]),
        np.array([shares(name, with_learner=False) for name in names]),
        starts,
        fair,
        due,
    )


def _paths(splits: Sequence[tuple[Stretch, Split]]) -> dict[str, SubflowPath]:
    """The paths of all subflows that can send at some time, by name."""
    paths: dict[str, SubflowPath] = {}
    for stretch, _ in splits:
        for connection in stretch.network.connections:
            for path in connection.paths:
                paths.setdefault(path.owner, path)
    return paths


def _bottleneck(path: SubflowPath | None, splits: Sequence[tuple[Stretch, Split]]) -> str:
    """The link that limits a subflow at the start of the episode.

    Empty without a path, and the subflow's name if no link limits it.
    """
    if path is None:
        return ""
    limits = splits[0][1].bottlenecks.get(path.owner.partition("/")[0], ())
    for link in path.links:
        if link in limits:
            return link
    return path.owner


def _capacity(path: SubflowPath | None, capacities_bps: Mapping[str, float], fact: PathFacts) -> float:
    if path is None:
        return fact.capacity_bps
    return min(capacities_bps.get(link, math.inf) for link in path.links)
