"""Training episodes on networks of the arena, from the training split of its families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from subflow_agents.config import ALL_FAMILIES
from subflow_sim.arena.families import FAMILIES
from subflow_sim.arena.networks import Network, network
from subflow_sim.draws import uniform
from subflow_sim.vec_env import agent_slots, episode_seed, with_learner

if TYPE_CHECKING:
    from subflow_agents.config import TrainingConfig
    from subflow_agents.registry import AgentInfo
    from subflow_sim import Scenario


_TRAINING_NETWORKS = 1_000_000


def family_names(asked: Sequence[str]) -> tuple[str, ...]:
    """The named families without duplicates, or every family if "all" is among the names."""
    return tuple(FAMILIES) if ALL_FAMILIES in asked else tuple(dict.fromkeys(asked))


class FamilyEpisodes:
    """Draws training episodes on networks of families; only (seed, environment, episode) determine an episode.

    Args:
        config: configuration of the training.
        info: agent of the training.
        options: options of the controller in training.
    """

    def __init__(self, config: TrainingConfig, info: AgentInfo, options: Mapping[str, Any]) -> None:
        self._families = family_names(config.families)
        self._seed = config.seed
        self._share = config.families_share
        self._info = info
        self._options = options

    def draw(self, env: int, episode: int) -> Scenario | None:
        """The scenario of an episode; None if the episode does not use a network of a family."""
        if not self._families or self._chance(env, episode, "is of a family") >= self._share:
            return None
        family = self._families[int(self._chance(env, episode, "family") * len(self._families))]
        number = 1 + int(self._chance(env, episode, "network") * _TRAINING_NETWORKS)
        scenario = self._learning(network(family, "train", number))
        return replace(scenario, seed=episode_seed(self._seed, env, episode))

    def slots(self) -> int:
        """Largest number of subflows that the agents of a network observe together; 0 without families.

        Consecutive networks of a family cycle through its topologies, so the first cycle contains the maximum.
        """
        return max(
            (
                agent_slots(self._learning(network(name, "train", number)), self._info.controller)
                for name in self._families
                for number in range(1, len(FAMILIES[name].topologies["train"]) + 1)
            ),
            default=0,
        )

    def _learning(self, net: Network) -> Scenario:
        return with_learner(net.scenario, self._info.controller, self._options, net.competes)

    def _chance(self, env: int, episode: int, what: str) -> float:
        return uniform(self._seed, env, episode, f"families: {what}")
