"""The list of sweeps on its own: stored sweeps, running sweeps, and the possible actions on each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from tests.helpers.members import for_each

from subflow_app.features.sweeps.core.sweep_list import (
    DELETE,
    STOP,
    TOGGLE,
    HereSweep,
    interrupted,
    possible,
    sweep_entries,
)
from subflow_app.foundation.jobs.progress import JobProgress, JobState
from subflow_store.values import SweepRecord

MORNING = datetime(2026, 11, 22, 9, tzinfo=UTC)


@dataclass
class MadeJob:
    """A job with a given progress."""

    sweep_id: int | None
    progress: JobProgress
    plan: Any = field(default_factory=lambda: SimpleNamespace(name="Here"))


def record(number: int, state: str, finished: int = 2, **changes: Any) -> SweepRecord:
    kept = SweepRecord(
        id=number,
        name=f"Stored {number}",
        version="1",
        state=state,
        message="",
        created_at=MORNING,
        updated_at=MORNING,
        ended_at=None,
        process_pid=0,
        points=2,
        runs=4,
        finished=finished,
        failed=0,
    )
    return kept._replace(**changes)


def here(number: int, sweep_id: int | None, state: JobState, **progress: Any) -> HereSweep:
    job = MadeJob(sweep_id, JobProgress(4, state=state, **progress))
    return HereSweep(number, cast(Any, job), MORNING)


def test_what_goes_on_here_is_newer_than_what_the_store_says() -> None:
    going = here(1, 2, JobState.RUNNING, finished=3, eta_s=5.0)
    checking = here(2, None, JobState.CHECKING, checked=7)
    entries = sweep_entries([record(3, "finished", 4), record(2, "running", 1)], [going, checking])
    # The newest sweep has no id yet, and comes first.
    assert [(entry.id, entry.number, entry.name) for entry in entries] == [
        (None, 2, "Here"),
        (3, 0, "Stored 3"),
        (2, 1, "Here"),
    ]
    assert [entry.key for entry in entries] == [(0, 2), (3, 0), (2, 0)]
    assert (entries[2].finished, entries[2].eta_s, entries[2].fraction) == (3, 5.0, 0.75)
    assert entries[0].checked == 7
    assert entries[2].goes_on
    assert not entries[1].can_resume  # no run is missing


def test_sweep_that_is_over_has_no_time_left() -> None:
    entry = sweep_entries([], [here(1, 5, JobState.STOPPED, finished=2, eta_s=9.0)])[0]
    assert math.isnan(entry.eta_s)
    assert entry.can_resume
    assert sweep_entries([], [here(1, 5, JobState.RUNNING)])[0].can_resume is False


def test_sweep_of_another_process_is_left_alone() -> None:
    entry = sweep_entries([record(1, "running", process_pid=77)], [])[0]
    assert entry.is_elsewhere
    assert not entry.can_resume
    assert possible([entry], can_write=True) == frozenset()


@for_each(
    ("records", "sweeps", "can_write", "expected"),
    [
        ([], [], True, set()),
        ([record(1, "finished", 4)], [], True, {DELETE}),
        ([record(1, "interrupted")], [], True, {TOGGLE, DELETE}),
        ([record(1, "interrupted")], [], False, set()),
        ([record(1, "running")], [here(1, 1, JobState.PAUSED)], True, {TOGGLE, STOP}),
        ([record(1, "failed"), record(2, "running")], [here(1, 2, JobState.RUNNING)], True, {TOGGLE, STOP, DELETE}),
    ],
)
def test_what_can_be_done(
    records: Sequence[SweepRecord], sweeps: Sequence[HereSweep], can_write: bool, expected: set[str]
) -> None:
    assert possible(sweep_entries(records, sweeps), can_write=can_write) == expected


def test_only_what_was_cut_off_is_offered() -> None:
    records = [record(1, "stopped"), record(2, "interrupted"), record(3, "interrupted", 4), record(4, "failed")]
    assert [entry.id for entry in interrupted(sweep_entries(records, []))] == [2]
