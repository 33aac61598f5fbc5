"""The sweeps listed in a window: those in the store, and those that were started in this window."""

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
    """A sweep that was started in this window.

    Attributes:
        number: identifies the sweep before it has an id in the store.
        job: job of the sweep.
        began_at: time at which the sweep was started, with time zone.
    """

    number: int
    job: SweepJob
    began_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class SweepEntry:
    """A row of the list.

    Attributes:
        id: number of the sweep in the store; None while its points are being read.
        number: `HereSweep.number` if the sweep was started in this window, else 0.
        name: name of the sweep.
        state: value of a `JobState`.
        runs: number of required runs.
        finished: number of finished runs.
        failed: number of failed runs.
        checked: during the check, number of points that have been read.
        eta_s: remaining time, s; NaN while unknown.
        created_at: time of creation, with time zone.
        message: reason for a failure; otherwise empty.
        is_elsewhere: whether the sweep runs in a different process.
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
        """Identifier of the sweep, made from its id in the store, or else from its number in this window."""
        return (self.id, 0) if self.id is not None else (0, self.number)

    def is_of(self, entries: Sequence[SweepEntry]) -> bool:
        """True if one of the entries is the same sweep, even if a sweep of this window has received its id since."""
        return any(self.key == each.key or 0 < self.number == each.number for each in entries)

    @property
    def fraction(self) -> float:
        """Share of the runs that have ended, 0 to 1."""
        return (self.finished + self.failed) / self.runs if self.runs else 0.0

    @property
    def goes_on(self) -> bool:
        """True if the sweep runs in this window, even while it is paused."""
        return self.number > 0 and self.state in _GOES_ON

    @property
    def can_resume(self) -> bool:
        """True if runs are missing and no process runs the sweep."""
        return self.id is not None and not self.goes_on and not self.is_elsewhere and self.finished < self.runs


def sweep_entries(records: Sequence[SweepRecord], here: Sequence[HereSweep]) -> list[SweepEntry]:
    """Combine the sweeps of the store and of this window; returns all sweeps, newest first.

    Args:
        records: sweeps in the store, newest first.
        here: sweeps started in this window, whose state is more recent than in the store.
    """
    by_id = {sweep.job.sweep_id: sweep for sweep in here if sweep.job.sweep_id is not None}
    known = {record.id for record in records}
    # The store contains a resumed sweep from the beginning, but a new sweep only after its points have been read.
    entries = [_of_job(sweep) for sweep in reversed(here) if sweep.job.sweep_id not in known]
    for record in records:
        sweep = by_id.get(record.id)
        entries.append(_of_record(record) if sweep is None else _of_job(sweep, record.created_at))
    return entries


def possible(selected: Sequence[SweepEntry], *, can_write: bool) -> frozenset[str]:
    """Those of the actions TOGGLE, STOP and DELETE that are possible for any of these sweeps."""
    found = set()
    if any(entry.goes_on or (can_write and entry.can_resume) for entry in selected):
        found.add(TOGGLE)
    if any(entry.goes_on for entry in selected):
        found.add(STOP)
    if can_write and any(entry.id is not None and not entry.goes_on and not entry.is_elsewhere for entry in selected):
        found.add(DELETE)
    return frozenset(found)


def interrupted(entries: Sequence[SweepEntry]) -> list[SweepEntry]:
    """Sweeps that were interrupted and can be resumed."""
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
