"""A PettingZoo environment in which each connection, or each subflow, of a scenario is an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from subflow_sim.env import action_space, row_space, set_space
from subflow_sim.env_scenarios import EnvScenarios, ScenarioLike, first_seed
from subflow_sim.errors import SimulationError
from subflow_sim.learner_batch import simple_action
from subflow_sim.vec_env import AgentSpec, VecEnv

_MOST_EMPTY_EPISODES = 100


class SubflowParallelEnv(ParallelEnv):  # type: ignore[misc]
    """Multi-agent environment: every connection, or every subflow, of a controller is an agent.

    An agent is named after its connection ("download.3") or subflow ("download.3/2"). If a flow may have several
    copies, its agents are numbered even in episodes with one copy.

    Agents do not decide in lockstep. A step ends at the next decision of any agent, and `infos[agent]["acting"]` marks
    the deciding agents: only their actions count in the next step, and only they receive the reward of the epoch that
    ended. An agent joins with its first decision and is terminated when its flow has delivered all its data; while its
    subflow is closed, the agent remains and does not act. All remaining agents are truncated at the end of the
    episode's time.

    Args:
        scenario: a file, the name of a shipped scenario, a `Scenario` or a `Distribution`.
        controller: controller whose agents learn, per connection (dql-mptcp, clean-slate) or per subflow (mplibra,
            ddpg-mpcc, rl-explore, confluence). It replaces the controllers of the flows; see `with_learner`.
        options: options of the controller, in SI units.
        seed: seed of the first `reset` without a seed.
        number: number of the environment among several with the same seed.
        episode_s: maximum duration of an episode, s; None: the duration of the scenario.
        flow: the only learning flow of the file; None: all eligible flows.
        render_mode: None or "ansi".

    Spaces, rewards and the meanings of the numbers are those of `ConnectionEnv`, `SubflowEnv` and `PathEnv`.

    Raises:
        ScenarioError: if the scenario has problems.
        SimulationError: if the controller has no agents of connections or subflows, or no flow can use it.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "subflow_v0", "render_modes": ["ansi"], "is_parallelizable": True}

    def __init__(
        self,
        scenario: ScenarioLike = "train-lossy-paths",
        controller: str = "dql-mptcp",
        *,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        number: int = 0,
        episode_s: float | None = None,
        flow: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise SimulationError(f'nothing is drawn as "{render_mode}"; render_mode: "ansi"')
        self.render_mode = render_mode
        self._scenarios = EnvScenarios(scenario, controller, options, flow)
        self.info: AgentSpec = self._scenarios.spec
        if self.info.scope == "host":
            raise SimulationError(f'one agent of "{controller}" steers all flows of a host: use HostEnv')
        self._number = number
        self._seed = seed
        self._vec = VecEnv(
            self._scenarios.make,
            controller,
            1,
            threads=0,
            slots=self._scenarios.slots,
            episode_s=episode_s,
            first_env=number,
        )
        self._is_joint = self.info.scope == "connection"
        self._width = self._scenarios.most_paths if self._is_joint else 1
        self._space: spaces.Space[Any] = set_space(self.info, self._width) if self._is_joint else row_space(self.info)
        self.possible_agents = self._possible_agents()
        self._action_spaces = {
            agent: action_space(self.info, self._width if self._is_joint else None) for agent in self.possible_agents
        }
        self.agents: list[str] = []
        self._slots: dict[str, NDArray[np.intp]] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Observation space, which is the same for all agents."""
        return self._space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Action space of an agent: a separate object for each agent, so that each has a separate random generator."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begins an episode: the first one of `seed` if given, otherwise the next one.

        Episodes that end before any agent decides are skipped. `options` is ignored.

        Raises:
            SimulationError: if a hundred successive episodes end before any agent decides.
        """
        vec = self._vec
        episode = int(vec.episode[0]) + 1
        if seed is None and episode == 0:
            seed = first_seed(self._seed)
        if seed is not None:
            self._scenarios.seed = seed
            episode = 0
        for empty in range(_MOST_EMPTY_EPISODES):
            vec.reset(seed, [episode + empty])
            if not self._is_over():
                break
        else:
            raise SimulationError("episodes end before an agent has anything to decide: let them last longer")
        self._slots = self._find_agents()
        self.agents = []
        self._join()
        return self._observations(self.agents), self._infos(self.agents)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Applies the actions of the deciding agents, and simulates until the next decision of any agent.

        Raises:
            SimulationError: if a deciding agent has no action, or an action has the wrong shape or is not finite.
        """
        vec = self._vec
        if not self.agents:
            raise SimulationError("no episode to make a step in: call reset() first")
        vec.step(self._gathered(actions))
        # An agent that joins in this step has no reward yet, and receives its first observation.
        self._join()
        told = self.agents
        is_over = self._is_over()
        terminations = {agent: bool(vec.terminated[0] or vec.finished[0, self._slots[agent][0]]) for agent in told}
        truncations = {agent: is_over and not terminations[agent] for agent in told}
        rewards = {agent: self._reward(agent) for agent in told}
        self.agents = [agent for agent in told if not (terminations[agent] or truncations[agent])]
        return self._observations(told), rewards, terminations, truncations, self._infos(told)

    def render(self) -> str | None:
        """The time and the agents, as text; None without a render mode."""
        if self.render_mode is None:
            return None
        acting = (f"{agent}{' *' if self._acts(agent) else ''}" for agent in self.agents)
        return "\n".join([f"episode {self._vec.episode[0]}, t = {self._vec.time_s[0]:.3f} s", *acting])

    def close(self) -> None:
        """Does nothing, because the environment holds no resources."""

    def _is_over(self) -> bool:
        return bool(self._vec.terminated[0] or self._vec.truncated[0])

    def _possible_agents(self) -> list[str]:
        learning = (
            flow for flow in self._scenarios.largest.flows.values() if flow.controller.name == self.info.controller
        )
        return [
            name for flow in learning for instance in flow.instances for name in self._names(instance, len(flow.paths))
        ]

    def _names(self, instance: str, paths: int) -> list[str]:
        """Names of the agents of a connection."""
        return [instance] if self._is_joint else [f"{instance}/{ordinal}" for ordinal in range(1, paths + 1)]

    def _find_agents(self) -> dict[str, NDArray[np.intp]]:
        """The slots of each agent of the episode, in the order of the scenario."""
        vec = self._vec
        largest = self._scenarios.largest.flows
        names = self._scenarios.flow_names(self._number, int(vec.episode[0]))
        found: dict[str, NDArray[np.intp]] = {}
        for index, name in enumerate(names):
            slots = np.flatnonzero(vec.flow[0] == index)
            # If only one copy of a flow with several possible copies exists, it counts as the first copy.
            instance = f"{name}.1" if name in largest and largest[name].count > 1 else name
            if len(slots):
                agents = self._names(instance, len(slots))
                found |= dict(zip(agents, [slots] if self._is_joint else slots[:, np.newaxis], strict=True))
        return found

    def _acts(self, agent: str) -> bool:
        return bool(self._vec.acting[0, self._slots[agent]].any())

    def _join(self) -> None:
        present = set(self.agents)
        self.agents += [agent for agent in self._slots if agent not in present and self._acts(agent)]

    def _reward(self, agent: str) -> float:
        slots = self._slots[agent]
        acting = slots[self._vec.acting[0, slots]]
        return float(self._vec.reward[0, acting[0]]) if len(acting) else 0.0

    def _gathered(self, actions: Mapping[str, Any]) -> NDArray[np.float32]:
        vec, info = self._vec, self.info
        gathered = np.zeros((1, vec.slots, info.action_width), np.float32)
        gathered[0] = simple_action(info, vec.slots, None)
        for agent in self.agents:
            slots = self._slots[agent]
            acting = slots[vec.acting[0, slots]]
            if not len(acting):
                continue
            if agent not in actions:
                raise SimulationError(f'the agent "{agent}" has to act, but no action was given for it')
            given = np.asarray(actions[agent], np.float32)
            if given.size != self._width * info.action_width:
                wanted = self._width * info.action_width
                raise SimulationError(f'the action of "{agent}" has {given.size} numbers, not {wanted}')
            gathered[0, acting] = given.reshape(self._width, -1)[: len(acting)]
        return gathered

    def _observations(self, agents: list[str]) -> dict[str, Any]:
        return {agent: self._observation(self._slots[agent]) for agent in agents}

    def _observation(self, slots: NDArray[np.intp]) -> Any:
        vec = self._vec
        rows = np.zeros((self._width, self.info.width), np.float32)
        mask, acting = np.zeros(self._width, np.int8), np.zeros(self._width, np.int8)
        count = len(slots)
        mask[:count], acting[:count] = vec.mask[0, slots], vec.acting[0, slots]
        rows[:count] = vec.obs[0, slots] * vec.mask[0, slots, np.newaxis]
        return {"subflows": rows, "mask": mask, "acting": acting} if self._is_joint else rows[0]

    def _infos(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        vec = self._vec
        metrics = {"metrics": vec.episode_metrics(0)} if self._is_over() else {}
        return {
            agent: {
                "acting": self._acts(agent),
                "time_s": float(vec.time_s[0]),
                "episode_number": int(vec.episode[0]),
                **metrics,
            }
            for agent in agents
        }
