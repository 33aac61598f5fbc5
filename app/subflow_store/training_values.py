"""The plain values of trainings: what goes in and comes out of `Store.trainings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_store.liveness import ProcessIdentity

TRAINING_STATES = ("waiting", "running", "paused", "finished", "stopped", "failed", "interrupted")
"""Where a training can stand; any but the first three can be taken up again."""

OPEN_STATES = TRAINING_STATES[:3]


@dataclass(frozen=True, slots=True)
class TrainingStart:
    """What is known when a training begins.

    Attributes:
        name: what the user sees in the list.
        agent: what learns, e.g. "drl-cc".
        scenario_name: name of the scenario or distribution it learns on.
        scenario_text: that scenario's text (TOML).
        config: everything the training was asked for, JSON-able.
        seed: 0 <= seed < 2**64.
        folder: where its checkpoints and policies are.
        version: version of Subflow that trains.
        parent_id: the training whose policy it goes on from.
        started_at_utc: aware datetime; None stands for now.
    """

    name: str
    agent: str
    scenario_name: str
    scenario_text: str
    config: Mapping[str, Any]
    seed: int
    folder: str = ""
    version: str = ""
    parent_id: int | None = None
    started_at_utc: datetime | None = None


class TrainingRow(NamedTuple):
    """One training as the list shows it; `scenario_text` and `config` are loaded by `get` alone."""

    id: int
    name: str
    agent: str
    scenario_name: str
    seed: int
    state: str
    """One of TRAINING_STATES; an open one whose process has ended shows as interrupted."""
    message: str
    folder: str
    version: str
    note: str
    started_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    elapsed_s: float
    """Time it has learned, pauses left out."""
    steps: int
    best_step: int | None
    best_score: float | None
    best_goodput_bps: float | None
    policy_hash: str
    parent_id: int | None
    reports_read: int
    process_pid: int
    """The process that trains, on this machine; 0 if there is none."""
    scenario_text: str | None = None
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MetricCurve:
    """One metric over a training; what was learned again after a crash stands once.

    Attributes:
        step: float64 [n], whole numbers, rising.
        elapsed_s: float64 [n].
        values: float64 [n]; NaN where the metric was not reported.
    """

    step: NDArray[np.float64]
    elapsed_s: NDArray[np.float64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of points."""
        return len(self.step)


class TrainingMoment(NamedTuple):
    """Where a training stands."""

    state: str
    """One of TRAINING_STATES."""
    message: str = ""
    """Why, for one that failed."""
    process: ProcessIdentity | None = None
    """Who trains, for an open state."""


class BestPolicy(NamedTuple):
    """The best policy of a training so far."""

    step: int
    score: float | None
    goodput_bps: float | None
    policy_hash: str


class EvaluationFigure(NamedTuple):
    """One figure of an evaluation: a metric of a controller, mean over the seeds with its 95 % confidence interval."""

    step: int
    controller: str
    metric: str
    mean: float | None
    ci95: float | None
    """Half width of the interval."""
    n: int
    """Seeds."""
