"""The interface of environments and learners that the training loop uses, whatever the algorithm.

The loop: `observe` what the environments delivered, `act` on it, send the actions, `learn` until nothing is due while
the environments simulate, receive. Nothing in it depends on the clock.
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
    """N simulations side by side: `subflow_sim.VecEnv`, or what looks like it.

    The arrays are allocated once and overwritten by each `recv`. An episode's last step delivers the outcome of
    every open decision (`acting`, with `terminated` or `truncated`); the step after it ignores that environment's
    action and begins the next episode with rewards of 0 (Gymnasium's autoreset mode NEXT_STEP).

    Attributes:
        info: what its agents see and do.
        num_envs: N.
        slots: S: subflows of one simulation that any agent sees, padded.
        obs: float32 [N, S, F].
        mask: bool [N, S], the slot holds a subflow.
        acting: bool [N, S], an action is wanted for it now.
        agent: int32 [N, S], whose slot it is; -1: nobody's.
        flow: int32 [N, S].
        reward: float32 [N, S] of the epoch that ended, the same for all acting slots of one agent; else 0.
        team_reward: float32 [N], sum over flows of ln(goodput in Mbit/s) since the last step.
        terminated: bool [N].
        truncated: bool [N], the time limit: what would have followed has a value.
        time_s: float64 [N], simulated time of the episode.
        episode: int64 [N], number of the current episode; of the next one from the `send` on that begins it.
        fair_bps: float64 [N, S], fair share of the slot's flow; 0: not known.
        truth: float32 [N, S, T], what the simulator knows of the epoch that ended; None: nobody asked for it.
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
        """Begin an episode in each environment: the first, or that number; (seed, env, episode) determine it."""
        ...

    def send(self, action: FloatArray, envs: Sequence[int] | None = None) -> object:
        """Begin a step with action float32 [N, S, A]; environments that are not among `envs` stay as they are."""
        ...

    def recv(self) -> object:
        """Wait for the step that was sent; the arrays then hold what it delivered."""
        ...

    def episode_metrics(self, env: int) -> Mapping[str, float]:
        """Of the episode that just ended there.

        goodput_bps, flow_goodput_bps, rtt_inflation, loss_ratio, jain, duration_s.
        """
        ...


@dataclass(slots=True)
class LearnerState:
    """All that a learner needs to continue bit for bit: weights, optimisers, memories, noise, random numbers.

    Attributes:
        tensors: by dotted name, of any numeric dtype and shape.
        values: plain JSON; whole numbers of any size are kept exactly.
    """

    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class PolicyParts:
    """What a policy file holds, except its card.

    Attributes:
        document: "observation", "action", "options", "actor" and "critic" of the policy document.
        tensors: float32, by the names that document's networks give them.
    """

    document: dict[str, Any]
    tensors: dict[str, FloatArray]


class Learner(Protocol):
    """A learning algorithm with its networks, memory and random numbers. It never looks at the clock."""

    def observe(self, env: TrainingEnv) -> int:
        """Take in what the environments delivered; the number of transitions that this completed."""
        ...

    def act(self, env: TrainingEnv) -> FloatArray:
        """Actions for all acting slots, with exploration: float32 [N, S, A], valid until the next call."""
        ...

    def learn(self, progress: float) -> int:
        """Make some of the gradient steps that are due: one, or as many as take a few milliseconds.

        Args:
            progress: share of the budget that is spent, in [0, 1], for schedules.

        Returns:
            How many gradient steps were made; 0: none is due until more has been observed.
        """
        ...

    def metrics(self) -> dict[str, float]:
        """Means since the last call of those of METRICS that the algorithm knows: return_mean, td_error, …."""
        ...

    def policy(self) -> PolicyParts:
        """What it has learned, without exploration."""
        ...

    def state(self) -> LearnerState:
        """A copy of all it needs to continue."""
        ...

    def load_state(self, state: LearnerState) -> None:
        """Go on from there.

        Raises:
            CheckpointError: if the state is another network's or algorithm's.
        """
        ...


@dataclass(frozen=True, slots=True)
class LearnerSetup:
    """What a learner is made for.

    Attributes:
        spec: what its agents see and do.
        num_envs: N.
        slots: S.
        seed: of its weights, noise and sampling.
    """

    spec: AgentSpec
    num_envs: int
    slots: int
    seed: int
