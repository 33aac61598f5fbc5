"""The episodes of environments, as scenarios in which a controller learns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from subflow_sim.errors import SimulationError
from subflow_sim.gate import is_file
from subflow_sim.lowering import lower
from subflow_sim.scenario import load_scenario
from subflow_sim.shipped import shipped_folder
from subflow_sim.training import Distribution
from subflow_sim.vec_env import AgentSpec, episode_seed, learner_spec, with_learner
from subflow_sim.whole_scenario import Scenario

_MAX_SEED = 2**31 - 1  # upper bound of random seeds, exclusive

ScenarioLike: TypeAlias = str | Path | Scenario | Distribution
"""Possible sources of episodes: a file, the name of a shipped scenario, a scenario or a distribution."""


def distribution_of(scenario: ScenarioLike) -> Distribution:
    """Converts a file, the name of a shipped scenario, a scenario or a distribution to a distribution.

    Raises:
        ScenarioError: if the file has problems.
        SimulationError: if neither a file nor a shipped scenario has this name.
    """
    if isinstance(scenario, Distribution):
        return scenario
    if isinstance(scenario, Scenario):
        return Distribution.from_scenario(scenario)
    if is_file(Path(scenario)):
        return Distribution.from_scenario(load_scenario(scenario))
    shipped = {path.stem: path for path in _shipped_scenarios()}
    if str(scenario) not in shipped:
        raise SimulationError(
            f"{scenario}: no such scenario file and no shipped scenario of that name; allowed: {', '.join(shipped)}"
        )
    return Distribution.from_scenario(load_scenario(shipped[str(scenario)]))


@lru_cache(maxsize=1)
def _shipped_scenarios() -> tuple[Path, ...]:
    return tuple(sorted(shipped_folder("scenarios").glob("*.toml")))


def first_seed(own: int | None) -> int:
    """The seed of an environment whose first `reset` passes no seed: `own` if set, otherwise a random seed."""
    return int(np.random.default_rng().integers(_MAX_SEED)) if own is None else own


class EnvScenarios:
    """Episodes in which a controller learns.

    Args:
        scenario: source of the episodes.
        controller: the learning controller, which replaces those of the flows; see `with_learner`.
        options: options of the controller.
        flow: the flow that receives the controller; None: the flows that already use it, otherwise all eligible flows.

    Attributes:
        controller: the learning controller.
        largest: an episode with the largest possible number of subflows, with the controller.
        spec: description of the agents.
        slots: largest number of subflows that the agents of an episode observe together.
        most_paths: largest number of subflows of a flow with the controller.
        seed: seed of the draws.

    Raises:
        ScenarioError: if the scenario has problems.
        SimulationError: if the controller has no agent, or no flow of the scenario can use it.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        controller: str,
        options: Mapping[str, Any] | None = None,
        flow: str | None = None,
    ) -> None:
        self.controller = controller
        self.seed = 0
        self._options = dict(options or {})
        self._flows = () if flow is None else (flow,)
        self._distribution = distribution_of(scenario)
        self.largest = self._with_learner(self._distribution.largest())
        having = [flow for flow in self.largest.flows.values() if flow.controller.name == controller]
        self.spec: AgentSpec = learner_spec(controller, having[0].controller.options)
        self.slots = self._distribution.slots(controller, self._options, self._flows)
        self.most_paths = max(len(flow.paths) for flow in having)

    def make(self, env: int, episode: int) -> Scenario:
        """The scenario of an episode with the learning controller; `VecEnv` takes this method as `make_scenario`."""
        return self._with_learner(self._distribution.draw(self.seed, env, episode))

    def flow_names(self, env: int, episode: int) -> list[str]:
        """The flow names of an episode, in the order in which the core numbers the flows."""
        lowered = lower(self.make(env, episode), episode_seed(self.seed, env, episode))
        return [name for name, _ in lowered.flows]

    def _with_learner(self, scenario: Scenario) -> Scenario:
        return with_learner(scenario, self.controller, self._options, self._flows)
