"""The plain values of sweeps: what goes in and comes out of `Store.sweeps`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from subflow_store.training_values import TRAINING_STATES

SWEEP_STATES = TRAINING_STATES
"""Where a sweep can stand; any but the first three can be taken up again."""

_TAG = "sweep "


def sweep_tag(sweep_id: int) -> str:
    """The tag of the runs that a sweep makes."""
    return f"{_TAG}{sweep_id}"


def is_sweep_tag(tag: str) -> bool:
    """Whether a tag says of a run that a sweep made it."""
    return tag.startswith(_TAG) and tag[len(_TAG) :].isdecimal()


class SweepRunPlace(NamedTuple):
    """A run that a sweep needs.

    Attributes:
        point: number of its combination of values.
        seed: of the run.
        key: runs of the same key are the same, bit for bit.
    """

    point: int
    seed: int
    key: str


class SweepRunRow(NamedTuple):
    """A run of a sweep.

    Attributes:
        point: number of its combination of values.
        seed: of the run.
        key: runs of the same key are the same, bit for bit.
        run_id: of the finished run; None where there is none.
        message: why there is none; empty if nobody has tried yet.
    """

    point: int
    seed: int
    key: str
    run_id: int | None
    message: str


@dataclass(frozen=True, slots=True)
class SweepStart:
    """What is known when a sweep begins.

    Attributes:
        name: what the user sees in the list.
        plan: the plan's text.
        version: of Subflow that makes it.
        points: the values of each point by key, as text, in order.
        runs: all that it needs.
    """

    name: str
    plan: str
    version: str
    points: Sequence[Mapping[str, str]]
    runs: Sequence[SweepRunPlace]


class SweepRecord(NamedTuple):
    """One sweep as the list shows it; `plan` is loaded by `get` alone."""

    id: int
    name: str
    version: str
    state: str
    """One of SWEEP_STATES; an open one whose process has ended shows as interrupted."""
    message: str
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    process_pid: int
    """0 unless a living process is at it."""
    points: int
    runs: int
    finished: int
    """Runs that are there."""
    failed: int
    """Runs that were tried and are not there."""
    plan: str | None = None
