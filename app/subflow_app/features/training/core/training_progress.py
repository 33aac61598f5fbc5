"""A training as the window shows it: how far it is, how it compares with classic controllers, what can be done with it.

Plain values without Qt and without the child process behind them, so that one table and one set of curves serve
trainings that run, that ran, and that a test makes up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subflow_agents import CLASSICS
from subflow_app.features.training.core.training_folder import best_policy, latest_policy
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
        step: transitions learned from when it was made.
        elapsed_s: training time then, s.
        goodput_bps: of a flow that the agent steers, bit/s.
        classics: the same of each classic controller on the same seeds, by name.
        jain: fairness between the agent's flows; NaN if unknown.
    """

    step: float
    elapsed_s: float
    goodput_bps: Estimate
    classics: Mapping[str, Estimate] = field(default_factory=dict)
    jain: float = math.nan

    @property
    def best_classic(self) -> str:
        """Name of the classic controller with the highest mean; empty without any."""
        known = {name: each.mean for name, each in self.classics.items() if math.isfinite(each.mean)}
        return max(known, key=lambda name: known[name]) if known else ""

    @property
    def gain(self) -> float:
        """Goodput of the agent over that of the best classic controller; NaN without one."""
        best = self.classics[self.best_classic].mean if self.best_classic else math.nan
        return self.goodput_bps.mean / best if best > 0 else math.nan


@dataclass(slots=True, eq=False)
class Training:
    """One training.

    Attributes:
        id: unique among all that are listed.
        name: what the person sees.
        agent: name in the registry of agents.
        controller: congestion controller that runs what it learns.
        scenario: title of the scenario or distribution.
        scenario_text: its TOML text, which a race starts from.
        seed: from which all its luck is derived.
        budget: in words, "20 min" or "50 000 decisions".
        folder: where checkpoints and policies are written; None before it has one.
        state: where it stands.
        fraction: share of the budget that is used, 0 to 1; NaN while unknown.
        message: what went wrong, or what it is doing; empty if there is nothing to say.
        log: its metrics.
        comparisons: its evaluations, oldest first.
        policy_version: counts policy files that were written.
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

    @property
    def policy_path(self) -> Path | None:
        """The file with the newest policy; None before the first was written."""
        return None if self.folder is None else latest_policy(self.folder)

    @property
    def best_policy_path(self) -> Path | None:
        """The policy that evaluated best; the newest one where none was evaluated."""
        return None if self.folder is None else best_policy(self.folder)

    @property
    def comparison(self) -> Comparison | None:
        """The newest evaluation."""
        return self.comparisons[-1] if self.comparisons else None


# What can be done, by the last part of the id of its action.
TRAINING_ACTIONS = ("toggle", "stop", "checkpoint", "evaluate", "race", "promote")
TOGGLE, STOP, CHECKPOINT, EVALUATE, RACE, PROMOTE = TRAINING_ACTIONS


def possible(trainings: Sequence[Training]) -> frozenset[str]:
    """What can be done with all of these trainings together; nothing with none."""
    if not trainings:
        return frozenset()
    return frozenset.intersection(*(_possible_with(training, alone=len(trainings) == 1) for training in trainings))


# What pausing or resuming is called in a menu.
TOGGLE_WORDS = (translatable("&Pause"), translatable("&Resume"), translatable("&Continue"))


def toggle_word(trainings: Sequence[Training]) -> str:
    """What pausing or resuming these trainings means now, one of `TOGGLE_WORDS`."""
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
    # A race shows two runs and a promotion makes one name: of one training each.
    if alone and training.policy_path is not None:
        can |= {RACE, PROMOTE}
    return frozenset(can)
