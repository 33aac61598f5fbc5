"""The state of environments, logged as the numbers of their current episodes and the actions taken in them.

The number of an episode determines its random values, so the same actions lead to the same state. Storing the
simulators' state instead would tie checkpoints to the memory layout of the core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_agents.errors import CheckpointError
from subflow_agents.learner import FloatArray, TrainingEnv


class EpisodeLog:
    """Sends actions to environments and records them until the end of their episodes.

    Args:
        env: the environments.
    """

    def __init__(self, env: TrainingEnv) -> None:
        self._env = env
        self._actions: list[list[FloatArray]] = [[] for _ in range(env.num_envs)]

    def send(self, action: FloatArray) -> None:
        """Starts a step of all environments with `action`, float32 [N, S, A]."""
        begins = self._env.terminated | self._env.truncated  # a new episode begins and ignores the action
        for env, actions in enumerate(self._actions):
            if begins[env]:
                actions.clear()
            else:
                actions.append(action[env].copy())
        self._env.send(action)

    def state(self) -> dict[str, NDArray[Any]]:
        """The state of the environments, including the current step."""
        shape = (0, self._env.slots, self._env.info.action_width)
        actions = [action for each in self._actions for action in each]
        return {
            "episode": np.array(self._env.episode, dtype=np.int64),
            "length": np.array([len(each) for each in self._actions], dtype=np.int64),
            "actions": np.stack(actions) if actions else np.zeros(shape, dtype=np.float32),
        }

    def restore(self, state: dict[str, NDArray[Any]], seed: int) -> None:
        """Restores the environments, and starts the step that was in progress.

        Raises:
            CheckpointError: if the state does not match these environments.
        """
        env = self._env
        lengths = state["length"].tolist()
        shape = (sum(lengths), env.slots, env.info.action_width)
        if len(lengths) != env.num_envs or state["actions"].shape != shape:
            raise CheckpointError(
                f"its environments are {len(lengths)} with actions {state['actions'].shape[1:]}, "
                f"this training's are {env.num_envs} with {shape[1:]}"
            )
        firsts = np.cumsum([0, *lengths[:-1]]).tolist()
        self._actions = [
            [state["actions"][first + step].copy() for step in range(length)]
            for first, length in zip(firsts, lengths, strict=True)
        ]
        env.reset(seed, state["episode"].tolist())
        action = np.zeros((env.num_envs, *shape[1:]), dtype=np.float32)
        for step in range(max(lengths, default=0)):
            # All environments finish together: those with fewer actions start later.
            moving = [n for n, length in enumerate(lengths) if step >= max(lengths) - length]
            for n in moving:
                action[n] = self._actions[n][step - max(lengths) + lengths[n]]
            env.send(action, moving)
            if step < max(lengths) - 1:
                env.recv()
