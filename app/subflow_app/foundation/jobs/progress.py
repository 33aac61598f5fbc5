"""State and progress of a job, common to runs, sweeps, experiments, trainings and builds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from subflow_app.vocabulary.language import translatable


class JobState(StrEnum):
    """State of a job as a translatable word; not every job passes through all states."""

    WAITING = translatable("waiting")
    CHECKING = translatable("checking")
    """Its input is being read."""
    STARTING = translatable("starting")
    RUNNING = translatable("running")
    PAUSED = translatable("paused")
    STOPPING = translatable("stopping")
    FINISHED = translatable("finished")
    STOPPED = translatable("stopped")
    """The user ended it; finished results are kept."""
    FAILED = translatable("failed")
    """An item could not be made, or the job could not continue."""
    CANCELLED = translatable("cancelled")
    """It was withdrawn before it began, or abandoned."""
    INTERRUPTED = translatable("interrupted")
    """Its process ended without a message: it was killed, or the machine went down."""

    @property
    def is_over(self) -> bool:
        """True if the state can no longer change without a new start."""
        return self in _OVER

    @property
    def can_be_resumed(self) -> bool:
        """True if the job may have results from which it can continue."""
        return self in (JobState.STOPPED, JobState.FAILED, JobState.INTERRUPTED)


_OVER = (JobState.FINISHED, JobState.STOPPED, JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress of a job.

    Attributes:
        runs: number of all runs, trainings or measurements; 0 if they differ in kind.
        finished: number of available runs, reused or made.
        reused: number of finished runs that existed before.
        failed: number of runs that could not be made.
        eta_s: remaining time, s; NaN while unknown.
        doing: current activity; may be empty.
        state: state of the job.
        under_way: number of runs being made.
        checked: number of points read, while `state` is checking.
        elapsed_s: time spent on runs, excluding pauses, s.
        jobs: number of runs made in parallel; 0 while unknown.
        share: finished share of the work, 0 to 1, if runs differ in cost; NaN if all runs count alike.
        part: progress of the current job in a series; None for a single job.
    """

    runs: int
    finished: int = 0
    reused: int = 0
    failed: int = 0
    eta_s: float = math.nan
    doing: str = ""
    state: JobState = JobState.RUNNING
    under_way: int = 0
    checked: int = 0
    elapsed_s: float = 0.0
    jobs: int = 0
    share: float = math.nan
    part: JobProgress | None = None

    @property
    def fraction(self) -> float:
        """Share of finished and failed runs, 0 to 1, or `share` if it is known; 1 for a job without runs."""
        if not math.isnan(self.share):
            return self.share
        return (self.finished + self.failed) / self.runs if self.runs else 1.0
