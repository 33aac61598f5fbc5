"""Gymnasium vector environments: N environments of `subflow_sim.env`, stepped together in threads of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from subflow_sim.env import (
    ConnectionEnv,
    HostEnv,
    PathEnv,
    SubflowEnv,
    _LearnerEnv,
    actions_of,
    learner_batch,
    spaces_of,
)
from subflow_sim.env_scenarios import ScenarioLike
from subflow_sim.errors import SimulationError
from subflow_sim.learner_batch import Others
from subflow_sim.vec_env import AgentSpec


class _LearnerVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """N environments; number n makes the same steps as a single environment with `number=n` and the same seed.

    Autoreset mode is Gymnasium's NEXT_STEP: the step after the end of an episode ignores that environment's action and
    begins the next episode, with reward 0.

    Args:
        num_envs: N.
        scenario: as in the environment for one learner, which also describes the parameters not listed here.
        controller: controller whose agents learn.
        threads: number of simulating threads.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    single: ClassVar[type[_LearnerEnv]]

    def __init__(
        self,
        num_envs: int = 1,
        scenario: ScenarioLike | None = None,
        controller: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        threads: int = 1,
        episode_s: float | None = None,
        learner: str | None = None,
        others: Others = "neutral",
        reward: str = "own",
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            raise SimulationError(f'nothing is drawn as "{render_mode}" here; make one environment for that')
        self.num_envs = num_envs
        self._batch = learner_batch(
            self.single.scope,
            self.single.default_controller,
            num_envs,
            scenario=scenario or self.single.default_scenario,
            controller=controller,
            options=options,
            learner=learner,
            seed=seed,
            threads=threads,
            episode_s=episode_s,
            others=others,
            reward=reward,
        )
        self.info: AgentSpec = self._batch.info
        self.single_observation_space, self.single_action_space = spaces_of(self._batch)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in all environments.

        The episode is number `options["episode"]` if given, 0 with a seed or in the first call, otherwise the next.
        """
        super().reset(seed=seed)
        self._batch.reset(seed, (options or {}).get("episode"))
        return self._observation(), self._infos()

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Applies an action of each learner and simulates until its next decision or the end of the episode.

        Raises:
            SimulationError: if actions have the wrong shape or are not finite, or `reset` was never called.
        """
        batch = self._batch
        if not batch.is_begun:
            raise SimulationError("no episode to make a step in: call reset() first")
        batch.step(actions_of(batch, actions))
        return (
            self._observation(),
            batch.paid.astype(np.float64),
            batch.terminated.copy(),
            batch.truncated.copy(),
            self._infos(),
        )

    def _observation(self) -> Any:
        batch = self._batch
        if self.info.scope == "subflow":
            return batch.obs[:, 0].copy()
        acting, mask = batch.acting.astype(np.int8), batch.mask.astype(np.int8)
        return {"acting": acting, "mask": mask, "subflows": batch.obs.copy()}

    def _infos(self) -> dict[str, Any]:
        batch = self._batch
        everywhere = np.ones(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        for key, values in (
            ("time_s", batch.vec.time_s),
            ("episode_number", batch.vec.episode),
            ("team_reward", batch.team_reward),
        ):
            infos[key], infos[f"_{key}"] = values.copy(), everywhere
        for env in np.flatnonzero(batch.terminated | batch.truncated):
            infos = self._add_info(infos, {"metrics": batch.vec.episode_metrics(int(env))}, int(env))
        return infos


class HostVectorEnv(_LearnerVectorEnv):
    """N environments of the class `HostEnv`, which describes spaces, rewards and parameters."""

    single = HostEnv


class ConnectionVectorEnv(_LearnerVectorEnv):
    """N environments of the class `ConnectionEnv`."""

    single = ConnectionEnv


class SubflowVectorEnv(_LearnerVectorEnv):
    """N environments of the class `SubflowEnv`."""

    single = SubflowEnv


class PathVectorEnv(_LearnerVectorEnv):
    """N environments of the class `PathEnv`."""

    single = PathEnv
