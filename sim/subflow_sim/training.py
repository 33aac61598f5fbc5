"""Distributions of scenarios, from which the episodes of a learning agent are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any

from subflow_sim.draws import Independent, uniform
from subflow_sim.episodes import Drawn, build, draw_episode_s, draw_events, draw_values
from subflow_sim.errors import ParamError, Problem, ScenarioError
from subflow_sim.scenario_model import Flow
from subflow_sim.section_reader import toml_text
from subflow_sim.training_model import Training
from subflow_sim.vec_env import agent_slots, episode_seed, with_learner
from subflow_sim.whole_scenario import Scenario

__all__ = ["Distribution"]

_MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class Distribution:
    """The scenarios of episodes: a scenario file with the draws of its `[training]` block.

    Each episode depends only on (seed, environment, episode), not on the order and number of requests. Each draw also
    depends on its key, so that adding a key to the block leaves the values of the other keys unchanged.

    Attributes:
        scenario: the file without draws, which is itself a valid episode.
    """

    scenario: Scenario

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> Distribution:
        """The distribution that a scenario file describes; without a `[training]` block only the seed varies.

        Raises:
            ValueError: if the scenario has a block but was changed after reading, because the draws apply to the text
                of its file.
        """
        if scenario.training is not None:
            as_read = build(scenario.training, Drawn(None, {}))
            if replace(scenario, training=None) != as_read:
                raise ValueError("the scenario was changed after it was read: its [training] block belongs to the file")
        return cls(scenario)

    def largest(self) -> Scenario:
        """The episode with the largest number of subflows; all other draws take their middle value."""

        def choose(key: str, draw: Independent) -> Any:
            if key.endswith(".count"):
                return max(draw.trials())
            return max(draw.trials(), key=len) if key.endswith(".paths") else draw.value(_MIDDLE)

        training = self.scenario.training
        scenario = self.scenario
        if training is not None:
            scenario = build(training, Drawn(draw_episode_s(training, choose), draw_values(training, choose)))
        flows = {name: _all_at_once(flow, scenario.duration_s) for name, flow in scenario.flows.items()}
        return replace(scenario, flows=flows)

    def slots(self, controller: str, options: Mapping[str, Any] | None = None, flows: Sequence[str] = ()) -> int:
        """Largest number of subflows of the controller's agents in any episode; see `slots` of `VecEnv`.

        Args:
            controller: learning controller; see `with_learner`.
            options: options of the controller.
            flows: learning flows of the file.

        Raises:
            SimulationError: if no flow can have the controller.
        """
        scenario = with_learner(self.largest(), controller, options, flows)
        return agent_slots(scenario, controller)

    def draw(self, seed: int, env: int, episode: int) -> Scenario:
        """The scenario of an episode, with the seed of the episode.

        Args:
            seed: seed of the training run, at least 0.
            env: number of the environment.
            episode: number of the episode in the environment, from 0.

        Raises:
            ScenarioError: if the drawn values contradict one another. This affects only draws that are checked against
                one another; all other checks take place when the file is read.
        """
        own_seed = episode_seed(seed, env, episode)
        training = self.scenario.training
        if training is None:
            return replace(self.scenario, seed=own_seed)
        drawn = self._drawn(training, seed, env, episode)
        try:
            return replace(build(training, drawn), seed=own_seed)
        except ScenarioError as error:
            where = f"episode {episode} of environment {env} with seed {seed}"
            shown = ", ".join(f"{key} = {toml_text(value)}" for key, value in drawn.values.items())
            problems = [replace(problem, message=f"{problem.message} ({where}: {shown})") for problem in error.problems]
            raise ScenarioError(problems) from error

    def values(self, seed: int, env: int, episode: int) -> Mapping[str, Any]:
        """Values drawn by `draw`, by dotted key, in the notation of a scenario file (numbers are SI).

        A queue or a buffer given as a bandwidth-delay multiple appears with its factor; changes at random times are
        omitted.
        """
        training = self.scenario.training
        return {} if training is None else self._drawn(training, seed, env, episode).values

    def _drawn(self, training: Training, seed: int, env: int, episode: int) -> Drawn:
        def chance(key: str) -> float:
            return uniform(seed, env, episode, key)

        def choose(key: str, draw: Independent) -> Any:
            return draw.value(chance(key))

        try:
            values = draw_values(training, choose)
        except ParamError as error:  # a choice without a number, used as the base of a multiple
            problem = Problem(training.template.file, None, "training", "", error.message, error.allowed)
            raise ScenarioError([problem]) from error
        episode_s = draw_episode_s(training, choose)
        end_s = self.scenario.duration_s if episode_s is None else episode_s
        return Drawn(episode_s, values, tuple(draw_events(training, choose, chance, end_s)))


def _all_at_once(flow: Flow, duration_s: float) -> Flow:
    """The flow with its arrivals replaced by simultaneous copies; unchanged without arrivals.

    The copies suffice for all but about one episode in a billion.
    """
    if flow.arrivals is None:
        return flow
    end_s = duration_s if flow.stop_s is None else min(flow.stop_s, duration_s)
    mean = max(end_s - flow.start_s, 0.0) / flow.arrivals.mean_gap_s
    copies = ceil(mean + 6 * sqrt(mean)) + 6
    return replace(flow, arrivals=None, count=max(min(copies, flow.most_copies), 1))
