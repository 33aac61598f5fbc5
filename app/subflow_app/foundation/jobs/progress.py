"""Where a job stands and how far it is: runs, sweeps, experiments, trainings and builds tell it in the same words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from subflow_app.vocabulary.language import translatable


class JobState(StrEnum):
    """Where a job stands, in a word that can be translated; not every job has each state."""

    WAITING = translatable("waiting")
    CHECKING = translatable("checking")
    """What it needs is being read."""
    STARTING = translatable("starting")
    RUNNING = translatable("running")
    PAUSED = translatable("paused")
    STOPPING = translatable("stopping")
    FINISHED = translatable("finished")
    STOPPED = translatable("stopped")
    """Somebody ended it; what was made is kept."""
    FAILED = translatable("failed")
    """Something could not be made, or the job could not go on."""
    CANCELLED = translatable("cancelled")
    """It was taken back before it began, or given up."""
    INTERRUPTED = translatable("interrupted")
    """Its process ended without a word: it was killed, or the machine went down."""

    @property
    def is_over(self) -> bool:
        """True when nothing more will happen by itself."""
        return self in _OVER

    @property
    def can_be_resumed(self) -> bool:
        """True if there may be something to go on from."""
        return self in (JobState.STOPPED, JobState.FAILED, JobState.INTERRUPTED)


_OVER = (JobState.FINISHED, JobState.STOPPED, JobState.FAILED, JobState.CANCELLED, JobState.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is.

    Attributes:
        runs: all that it needs; runs, trainings or measurements; 0 where they are not of one kind.
        finished: those that are there, taken over or made.
        reused: those of them that were there already.
        failed: those that could not be made.
        eta_s: time still to go, s; NaN while unknown.
        doing: what goes on; may be empty.
        state: where the job stands.
        under_way: runs that are being made.
        checked: points that have been read, while `state` is checking.
        elapsed_s: time that runs were made, pauses left out, s.
        jobs: how many runs are made at once; 0 until that is known.
        share: of the work that is done, 0 to 1, where runs differ in what they take; NaN: by their number.
        part: how far the job is that goes on, of several; None: it is one.
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
        """Share that is done, 0 to 1."""
        if not math.isnan(self.share):
            return self.share
        return (self.finished + self.failed) / self.runs if self.runs else 1.0
