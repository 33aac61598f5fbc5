"""Interfaces of environments and learners for the training loop, independent of the algorithm.

The loop: `observe` the results of the environments, `act` on them, send the actions, `learn` while the environments
simulate, receive. The results never depend on the clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from subflow_sim import AgentSpec

FloatArray: TypeAlias = NDArray[np.float32]
IntArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]


class TrainingEnv(Protocol):
    """N parallel simulations: `subflow_sim.VecEnv` or an equivalent.

    The arrays are allocated once and overwritten by each `recv`. An episode's last step delivers the outcome of every
    open decision (`acting`, with `terminated` or `truncated`); the next step ignores that environment's action and
    begins the next episode with rewards of 0 (Gymnasium's autoreset mode NEXT_STEP).

    Attributes:
        info: description of the agents.
        num_envs: number of environments, N.
        slots: number of slots, S: largest number of subflows of the agents in one simulation; unused slots are padding.
        obs: float32 [N, S, F], observation of each slot's subflow.
        mask: bool [N, S], whether the slot holds a subflow.
        acting: bool [N, S], whether the subflow needs an action.
        agent: int32 [N, S], number of the slot's agent; -1: padding.
        flow: int32 [N, S], number of the slot's flow.
        reward: float32 [N, S], reward of the epoch that ended, equal for all acting slots of one agent; otherwise 0.
        team_reward: float32 [N], sum over flows of ln(goodput in Mbit/s) since the last step.
        terminated: bool [N], whether every learning flow has delivered all its data.
        truncated: bool [N], whether the time limit ended the episode; the final state still has a value.
        time_s: float64 [N], simulated time of the episode.
        episode: int64 [N], number of the current episode; changes with the `send` that begins the next one.
        fair_bps: float64 [N, S], fair share of the slot's flow, bit/s; 0: unknown.
        truth: float32 [N, S, T], measurements of the epoch that agents cannot observe; None unless requested.
    """

    @property
    def info(self) -> AgentSpec: ...  # noqa: D102

    num_envs: int
    slots: int
    obs: FloatArray
    mask: BoolArray
    acting: BoolArray
    agent: IntArray
    flow: IntArray
    reward: FloatArray
    team_reward: FloatArray
    terminated: BoolArray
    truncated: BoolArray
    time_s: NDArray[np.float64]
    episode: NDArray[np.int64]
    fair_bps: NDArray[np.float64]
    truth: FloatArray | None

    def reset(self, seed: int | None = None, episodes: Sequence[int] | None = None) -> object:
        """Begins an episode in each environment, by default the first; (seed, env, episode) determine all draws."""
        ...

    def send(self, action: FloatArray, envs: Sequence[int] | None = None) -> object:
        """Starts a step with action float32 [N, S, A]; environments not in `envs` do not change."""
        ...

    def recv(self) -> object:
        """Waits for the end of the step; the arrays then contain its results."""
        ...

    def episode_metrics(self, env: int) -> Mapping[str, float]:
        """Metrics of the last finished episode of an environment.

        The keys are goodput_bps, flow_goodput_bps, rtt_inflation, rtt_s, loss_ratio, jain and duration_s.
        """
        ...


@dataclass(slots=True)
class LearnerState:
    """The complete state of a learner: weights, optimisers, memories, noise, random numbers.

    Attributes:
        tensors: arrays of any numeric dtype and shape, by dotted name.
        values: plain JSON; integers of any size are preserved exactly.
    """

    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class PolicyParts:
    """Content of a policy file except its card.

    Attributes:
        document: "observation", "action", "options", "actor" and "critic" of the policy document.
        tensors: float32 arrays, by the names in the document's networks.
    """

    document: dict[str, Any]
    tensors: dict[str, FloatArray]


class Learner(Protocol):
    """A learning algorithm with its networks, memory and random numbers. It is independent of the clock."""

    def observe(self, env: TrainingEnv) -> int:
        """Processes the results of the environments; returns the number of completed transitions."""
        ...

    def act(self, env: TrainingEnv) -> FloatArray:
        """Actions for all acting slots, with exploration: float32 [N, S, A], valid until the next call."""
        ...

    def learn(self, progress: float) -> int:
        """Makes some of the gradient steps that are due: one, or as many as fit into a few milliseconds.

        Args:
            progress: share of the budget spent so far, in [0, 1], for schedules.

        Returns:
            Number of gradient steps; 0 if no step is due before the next observation.
        """
        ...

    def metrics(self) -> dict[str, float]:
        """Means since the last call, for those METRICS that the algorithm supports: return_mean, td_error, …."""
        ...

    def policy(self) -> PolicyParts:
        """The learned policy, without exploration."""
        ...

    def state(self) -> LearnerState:
        """A copy of the complete state."""
        ...

    def load_state(self, state: LearnerState) -> None:
        """Replaces the complete state by a result of `state()`.

        Raises:
            CheckpointError: if the state belongs to another network or algorithm.
        """
        ...


@dataclass(frozen=True, slots=True)
class LearnerSetup:
    """Agent, environments and seed of a learner.

    Attributes:
        spec: description of the agents.
        num_envs: number of environments, N.
        slots: number of slots of an environment, S.
        seed: seed of the learner's weights, noise and sampling.
    """

    spec: AgentSpec
    num_envs: int
    slots: int
    seed: int
