"""Plain values that go into the store and come out of it: of runs, of trainings and of sweeps.

Those of trainings belong to `Store.trainings`, those of sweeps to `Store.sweeps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_store.liveness import ProcessIdentity

FINAL_STATUSES = ("finished", "stopped", "failed", "interrupted")
"""What a run can end as; `running` is the only other status."""


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One sampled signal of a run.

    Attributes:
        scope: "flow", "subflow" or "link".
        owner: what the signal belongs to, e.g. "download.1/1" or "wifi/forward".
        name: the signal with its unit as suffix, e.g. "cwnd_pkts".
        unit: the unit's symbol, e.g. "pkt", "bit/s", "s".
    """

    scope: str
    owner: str
    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class Records:
    """Runs, sweeps and trainings of a store that belong together.

    Attributes:
        runs: numbers of those that have ended.
        sweeps: numbers of those that they belong to.
        trainings: numbers of those that have ended.
    """

    runs: tuple[int, ...] = ()
    sweeps: tuple[int, ...] = ()
    trainings: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.runs or self.trainings)

    def __add__(self, other: Records) -> Records:
        """Both, each once."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Records(*(tuple(dict.fromkeys((*mine, *theirs))) for mine, theirs in pairs))


@dataclass(frozen=True, slots=True)
class RunFork:
    """Where a run branched off another one, and what was changed there.

    Attributes:
        parent_id: the other run; None if it is not stored, or not any more.
        parent_name: its name at that time.
        forked_at_s: simulated time until which the two are the same.
        difference: what was changed, in English words.
        changes: the same as plain values, for programs; JSON takes them.
    """

    parent_id: int | None
    parent_name: str
    forked_at_s: float
    difference: str
    changes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known when a run begins; all of it stays unchanged afterwards, except the name.

    Attributes:
        name: what the user sees in the list of runs.
        scenario_name: the scenario's own name.
        scenario_text: the scenario file's full text (TOML), so that the run can be repeated.
        seed: 0 <= seed < 2**64.
        duration_s: simulated seconds that were asked for.
        warmup_s: simulated seconds at the start which summaries leave out.
        sample_interval_s: distance of two samples; sample k is at (k + 1) times this.
        mss_bytes: payload bytes of a full packet.
        profile: transport profile, "linux" or "textbook".
        controllers: the congestion controllers used, for the list, e.g. "lia" or "lia, newreno".
        version: version of Subflow that runs it.
        started_at_utc: aware datetime; None stands for now.
        machine: what the run ran on, as name -> text; None lets the store describe this machine.
        fork: where it branches off another run; None: it has a beginning of its own.
    """

    name: str
    scenario_name: str
    scenario_text: str
    seed: int
    duration_s: float
    sample_interval_s: float = 0.1
    warmup_s: float = 0.0
    mss_bytes: int = 1448
    profile: str = "linux"
    controllers: str = ""
    version: str = ""
    started_at_utc: datetime | None = None
    machine: Mapping[str, str] | None = None
    fork: RunFork | None = None


class RunRow(NamedTuple):
    """One run as the list shows it: plain columns only, so that hundreds load in about a millisecond.

    `scenario_text`, `summary` and `machine` are loaded by `Store.run(id)` alone; in `Store.runs()` they are None.
    Metrics are None while the run is running, and where the summary has no such figure.
    """

    id: int
    name: str
    scenario_name: str
    controllers: str
    seed: int
    duration_s: float
    warmup_s: float
    sample_interval_s: float
    mss_bytes: int
    profile: str
    version: str
    status: str
    """running, finished, stopped, failed or interrupted (its process ended without closing it)."""
    signature: str
    started_at: datetime
    ended_at: datetime | None
    wall_s: float | None
    simulated_s: float
    """Simulated time up to which samples are stored."""
    packets: int | None
    goodput_bps: float | None
    """Sum over the flows."""
    mean_rtt_s: float | None
    jain: float | None
    note: str
    deleted: bool
    tags: tuple[str, ...]
    fork: RunFork | None
    """Where it branched off another run; None: it has a beginning of its own."""
    scenario_text: str | None = None
    summary: Mapping[str, Any] | None = None
    machine: Mapping[str, str] | None = None


class SeriesInfo(NamedTuple):
    """One stored signal without its samples: sample k (k = 0..n-1) is at t0_s + k * dt_s.

    `vmin`, `vmax` and `mean` leave NaN samples out and are None where no number remains.
    """

    id: int
    run_id: int
    scope: str
    owner: str
    name: str
    unit: str
    t0_s: float
    dt_s: float
    n: int
    dtype: str
    codec: str
    vmin: float | None
    vmax: float | None
    mean: float | None


@dataclass(frozen=True, slots=True, eq=False)
class SeriesData:
    """Samples of one signal, whole or a window.

    Attributes:
        t0_s: time of the first value here.
        dt_s: distance of two samples.
        values: float32 [n], in the series' unit; NaN where the signal had no value.
    """

    t0_s: float
    dt_s: float
    values: NDArray[np.float32]

    @property
    def times_s(self) -> NDArray[np.float64]:
        """float64 [n]: the time of each value."""
        return self.t0_s + self.dt_s * np.arange(len(self.values), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class PyramidData:
    """Minimum and maximum over groups of samples, for drawing long signals zoomed out.

    Attributes:
        t0_s: time of the first sample of the first group.
        dt_s: distance of two groups.
        vmin: float32 [n_groups], least value in each group; NaN where the group holds no number.
        vmax: float32 [n_groups], greatest value in each group.
    """

    t0_s: float
    dt_s: float
    vmin: NDArray[np.float32]
    vmax: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """Rows of an event stream (see `streams`) in order of time, as columns.

    Attributes:
        columns: an array [n] by field; `time_ns` (int64) and `owner` (int32) are always there.
        names: of the fields whose numbers stand for names, what they stand for: `names["owner"][k]` is owner k.
    """

    columns: Mapping[str, NDArray[Any]]
    names: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.columns["time_ns"])

    def __getitem__(self, field: str) -> NDArray[Any]:
        """One column."""
        return self.columns[field]

    def texts(self, field: str) -> list[str]:
        """A column of numbers that stand for names, as these names."""
        names = self.names[field]
        return [names[number] for number in self.columns[field].tolist()]

    def select(self, rows: slice | NDArray[Any]) -> EventTable:
        """The table with these rows only; a slice shares the memory."""
        return EventTable({field: column[rows] for field, column in self.columns.items()}, self.names)


class EventExtent(NamedTuple):
    """How much of a stream one owner has, and the times of its first and last row."""

    n: int
    t_first_ns: int
    t_last_ns: int


class MarkRow(NamedTuple):
    """One thing that happened at an instant, e.g. a loss or a link going down."""

    time_ns: int
    owner: str
    kind: str
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class MarkTable:
    """The marks of a run by time, as columns.

    Attributes:
        time_ns: int64 [n], never falling.
        owner_index: int32 [n], index into `owners`.
        kind_index: int32 [n], index into `kinds`.
        value: float64 [n], meaning depends on the kind.
        owners: owner names.
        kinds: kind names.
    """

    time_ns: NDArray[np.int64]
    owner_index: NDArray[np.int32]
    kind_index: NDArray[np.int32]
    value: NDArray[np.float64]
    owners: tuple[str, ...] = field(default=())
    kinds: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        """Number of marks."""
        return len(self.time_ns)

    def rows(self) -> Iterator[MarkRow]:
        """The marks one by one, names in place of indices."""
        columns = (self.time_ns, self.owner_index, self.kind_index, self.value)
        for time_ns, owner, kind, value in zip(*(column.tolist() for column in columns), strict=True):
            yield MarkRow(time_ns, self.owners[owner], self.kinds[kind], value)


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
    """One of TRAINING_STATES; an open one whose process has ended shows as interrupted."""
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
