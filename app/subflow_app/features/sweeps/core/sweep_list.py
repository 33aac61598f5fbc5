"""The sweeps of a window as its list shows them: those of the store, and those that go on here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.foundation.jobs.progress import JobState

if TYPE_CHECKING:
    from subflow_store.values import SweepRecord

TOGGLE, STOP, DELETE = "sweep.toggle", "sweep.stop", "sweep.delete"

_GOES_ON = ("waiting", "checking", "running", "paused")


@dataclass(frozen=True, slots=True, eq=False)
class HereSweep:
    """A sweep that goes on in this window.

    Attributes:
        number: tells it from others before it has an id.
        job: of the sweep.
        began_at: aware.
    """

    number: int
    job: SweepJob
    began_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class SweepEntry:
    """A line of the list.

    Attributes:
        id: in the store; None while its points are being read.
        number: of one that goes on here; 0: it does not.
        name: of the sweep.
        state: a `JobState`, as the store has it.
        runs: that it needs.
        finished: that are there.
        failed: that could not be made.
        checked: points that were read, while it is being checked.
        eta_s: time still to go, s; NaN while unknown.
        created_at: aware.
        message: why it failed.
        is_elsewhere: whether another process is at it.
    """

    id: int | None
    number: int
    name: str
    state: str
    runs: int
    finished: int
    failed: int
    checked: int
    eta_s: float
    created_at: datetime
    message: str = ""
    is_elsewhere: bool = False

    @property
    def key(self) -> tuple[int, int]:
        """Tells it from others."""
        return (self.id, 0) if self.id is not None else (0, self.number)

    def is_of(self, entries: Sequence[SweepEntry]) -> bool:
        """Whether one of these is the same sweep: one that goes on gets its number in the store after a while."""
        return any(self.key == each.key or 0 < self.number == each.number for each in entries)

    @property
    def fraction(self) -> float:
        """Share of the runs that are done, 0 to 1."""
        return (self.finished + self.failed) / self.runs if self.runs else 0.0

    @property
    def goes_on(self) -> bool:
        """Whether it goes on here, paused or not."""
        return self.number > 0 and self.state in _GOES_ON

    @property
    def can_resume(self) -> bool:
        """Whether runs are missing and nobody is at it."""
        return self.id is not None and not self.goes_on and not self.is_elsewhere and self.finished < self.runs


def sweep_entries(records: Sequence[SweepRecord], here: Sequence[HereSweep]) -> list[SweepEntry]:
    """All sweeps, newest first.

    Args:
        records: of the store, newest first.
        here: those that go on in this window; their own word is newer than that of the store.
    """
    by_id = {sweep.job.sweep_id: sweep for sweep in here if sweep.job.sweep_id is not None}
    known = {record.id for record in records}
    # A resumed one is in the store from the beginning, a new one once its points have been read.
    entries = [_of_job(sweep) for sweep in reversed(here) if sweep.job.sweep_id not in known]
    for record in records:
        sweep = by_id.get(record.id)
        entries.append(_of_record(record) if sweep is None else _of_job(sweep, record.created_at))
    return entries


def possible(selected: Sequence[SweepEntry], *, can_write: bool) -> frozenset[str]:
    """Which of TOGGLE, STOP and DELETE can be done with these."""
    found = set()
    if any(entry.goes_on or (can_write and entry.can_resume) for entry in selected):
        found.add(TOGGLE)
    if any(entry.goes_on for entry in selected):
        found.add(STOP)
    if can_write and any(entry.id is not None and not entry.goes_on and not entry.is_elsewhere for entry in selected):
        found.add(DELETE)
    return frozenset(found)


def interrupted(entries: Sequence[SweepEntry]) -> list[SweepEntry]:
    """Sweeps that were cut off, and can be taken up again."""
    return [entry for entry in entries if entry.state == "interrupted" and entry.can_resume]


def _of_job(sweep: HereSweep, created_at: datetime | None = None) -> SweepEntry:
    job, progress = sweep.job, sweep.job.progress
    return SweepEntry(
        job.sweep_id,
        sweep.number,
        job.plan.name,
        progress.state.value,
        progress.runs,
        progress.finished,
        progress.failed,
        progress.checked if progress.state is JobState.CHECKING else 0,
        math.nan if progress.state.is_over else progress.eta_s,
        created_at or sweep.began_at,
    )


def _of_record(record: SweepRecord) -> SweepEntry:
    return SweepEntry(
        record.id,
        0,
        record.name,
        record.state,
        record.runs,
        record.finished,
        record.failed,
        0,
        math.nan,
        record.created_at,
        record.message,
        is_elsewhere=bool(record.process_pid) and record.state in _GOES_ON,
    )
