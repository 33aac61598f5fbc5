"""A training run as the window shows it: progress, comparisons with classic controllers, and possible actions.

The classes contain plain values and need neither Qt nor a child process. The same table and curves therefore show
running, ended and simulated training runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subflow_agents import CLASSICS
from subflow_app.features.training.core.training_folder import best_policy, latest_policy
from subflow_app.features.training.core.training_grounds import TrainingGrounds
from subflow_app.features.training.core.training_metrics import MetricLog
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.vocabulary.language import translatable
from subflow_sim.stats import Estimate

__all__ = [
    "CLASSICS",
    "TOGGLE_WORDS",
    "TRAINING_ACTIONS",
    "Comparison",
    "JobState",
    "Training",
    "possible",
    "toggle_word",
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One evaluation on held-out seeds.

    Attributes:
        step: number of transitions before the evaluation.
        elapsed_s: training time before the evaluation, s.
        goodput_bps: goodput of a flow controlled by the agent, bit/s.
        classics: goodput of each classic controller on the same seeds, by name.
        jain: Jain's index of the agent's flows; NaN if unknown.
        figures: all results by controller and metric, the agent under its name.
        reward: mean reward of the agent's decisions and its parts, by the names of `subflow_agents.reward_terms`; empty
            if they are unknown.
    """

    step: float
    elapsed_s: float
    goodput_bps: Estimate
    classics: Mapping[str, Estimate] = field(default_factory=dict)
    jain: float = math.nan
    figures: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    reward: Mapping[str, float] = field(default_factory=dict)

    @property
    def best_classic(self) -> str:
        """Name of the classic controller with the highest mean goodput; empty if no mean is known."""
        known = {name: each.mean for name, each in self.classics.items() if math.isfinite(each.mean)}
        return max(known, key=lambda name: known[name]) if known else ""

    @property
    def gain(self) -> float:
        """Goodput of the agent divided by that of the best classic controller; NaN if that is unknown or 0."""
        best = self.classics[self.best_classic].mean if self.best_classic else math.nan
        return self.goodput_bps.mean / best if best > 0 else math.nan


@dataclass(slots=True, eq=False)
class Training:
    """One training run, with the values that the window shows.

    Attributes:
        id: identifier, unique within the list.
        name: displayed name.
        agent: name in the registry of agents.
        controller: congestion controller that runs the policy.
        scenario: title of the scenario or distribution.
        scenario_text: TOML text of the scenario.
        seed: seed of all random numbers.
        budget: budget as text, e.g. "20 min" or "50 000 decisions".
        folder: folder for checkpoints and policies; None before it exists.
        state: state of the process.
        fraction: used share of the budget, 0 to 1; NaN while unknown.
        message: problem or current activity; may be empty.
        log: the reported metrics.
        comparisons: evaluations, oldest first.
        policy_version: number that increases with each new policy file.
        remaining_s: estimated time until the training ends, s; NaN while unknown.
        grounds: networks on which it takes place; None if unknown.
    """

    id: str
    name: str
    agent: str
    controller: str
    scenario: str
    scenario_text: str = ""
    seed: int = 1
    budget: str = ""
    folder: Path | None = None
    state: JobState = JobState.WAITING
    fraction: float = math.nan
    message: str = ""
    log: MetricLog = field(default_factory=MetricLog)
    comparisons: list[Comparison] = field(default_factory=list)
    policy_version: int = 0
    remaining_s: float = math.nan
    grounds: TrainingGrounds | None = None

    @property
    def policy_path(self) -> Path | None:
        """File of the latest policy; None before the first policy is written."""
        return None if self.folder is None else latest_policy(self.folder)

    @property
    def best_policy_path(self) -> Path | None:
        """File of the policy with the best evaluation, or of the latest if no policy was evaluated; may be None."""
        return None if self.folder is None else best_policy(self.folder)

    @property
    def comparison(self) -> Comparison | None:
        """The latest evaluation; None before the first."""
        return self.comparisons[-1] if self.comparisons else None


# Possible actions, named by the last part of their ids.
TRAINING_ACTIONS = ("toggle", "stop", "checkpoint", "evaluate", "race", "promote", "use")
TOGGLE, STOP, CHECKPOINT, EVALUATE, RACE, PROMOTE, USE = TRAINING_ACTIONS


def possible(trainings: Sequence[Training]) -> frozenset[str]:
    """The actions that are possible on all of these training runs; empty for an empty sequence."""
    if not trainings:
        return frozenset()
    return frozenset.intersection(*(_possible_with(training, alone=len(trainings) == 1) for training in trainings))


# Menu texts of the toggle action: pause a training run, resume a paused one, continue an ended one.
TOGGLE_WORDS = (translatable("&Pause"), translatable("&Resume"), translatable("&Continue"))


def toggle_word(trainings: Sequence[Training]) -> str:
    """Menu text of the toggle action for these training runs, one of `TOGGLE_WORDS`."""
    states = {training.state for training in trainings}
    if states and all(state.can_be_resumed for state in states):
        return "&Continue"
    return "&Resume" if states == {JobState.PAUSED} else "&Pause"


def _possible_with(training: Training, *, alone: bool) -> frozenset[str]:
    can: set[str] = set()
    state = training.state
    if state in (JobState.RUNNING, JobState.PAUSED) or state.can_be_resumed:
        can.add(TOGGLE)
    if not state.is_over and state is not JobState.STOPPING:
        can.add(STOP)
    if state in (JobState.RUNNING, JobState.PAUSED):
        can |= {CHECKPOINT, EVALUATE}
    # A race shows two runs, and a policy has one name, so these require exactly one training run.
    if alone and training.policy_path is not None:
        can |= {RACE, PROMOTE, USE}
    return frozenset(can)
