"""Plain values of runs, trainings and sweeps that the store writes and returns.

Values of trainings belong to `Store.trainings`, those of sweeps to `Store.sweeps`.
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
"""Final statuses of a run; `running` is the only other status."""


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One sampled signal of a run.

    Attributes:
        scope: "flow", "subflow" or "link".
        owner: owner of the signal, e.g. "download.1/1" or "wifi/forward".
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
        runs: numbers of ended runs.
        sweeps: numbers of the sweeps of these runs.
        trainings: numbers of ended trainings.
    """

    runs: tuple[int, ...] = ()
    sweeps: tuple[int, ...] = ()
    trainings: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """True if any runs or trainings are listed."""
        return bool(self.runs or self.trainings)

    def __add__(self, other: Records) -> Records:
        """The union of two sets of records, without duplicates."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Records(*(tuple(dict.fromkeys((*mine, *theirs))) for mine, theirs in pairs))


@dataclass(frozen=True, slots=True)
class RunFork:
    """The parent run and time of a fork, and its changes.

    Attributes:
        parent_id: number of the parent run; None if it is not stored any more.
        parent_name: name of the parent run at that time.
        forked_at_s: simulated time up to which the fork equals its parent run, s.
        difference: the changes in English words.
        changes: the changes as plain values that JSON can represent.
    """

    parent_id: int | None
    parent_name: str
    forked_at_s: float
    difference: str
    changes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RunStart:
    """Data known at the start of a run; only the name may change afterwards.

    Attributes:
        name: name in the list of runs.
        scenario_name: name of the scenario.
        scenario_text: full text of the scenario file (TOML), so that the run can be repeated.
        seed: 0 <= seed < 2**64.
        duration_s: requested simulated time, s.
        warmup_s: simulated time at the start that summaries exclude, s.
        sample_interval_s: time between two samples, s; sample k (from 0) is at (k + 1) times this interval.
        mss_bytes: payload bytes of a full packet.
        profile: transport profile, "linux" or "textbook".
        controllers: the congestion controllers, for the list, e.g. "lia" or "lia, newreno".
        version: version of Subflow.
        started_at_utc: aware datetime; None means now.
        machine: description of the machine, as name -> text; None: the store describes this machine.
        fork: origin of a fork; None for a run from time zero.
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
    """One run of the list, with plain columns only, so that hundreds load in about a millisecond.

    Only `Store.run(id)` loads `scenario_text`, `summary` and `machine`; in `Store.runs()` they are None. Figures such
    as `goodput_bps` are None during the run, or if the summary lacks them.
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
    """Origin of a fork; None for a run from time zero."""
    scenario_text: str | None = None
    summary: Mapping[str, Any] | None = None
    machine: Mapping[str, str] | None = None


class SeriesInfo(NamedTuple):
    """One stored signal without its samples: sample k (k = 0..n-1) is at t0_s + k * dt_s.

    `vmin`, `vmax` and `mean` ignore NaN samples and are None if all samples are NaN.
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
    """Samples of one signal, over the whole run or a window of time.

    Attributes:
        t0_s: time of the first value, s.
        dt_s: time between two samples, s.
        values: float32 [n], in the unit of the series; NaN for a missing value.
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
        t0_s: time of the first sample of the first group, s.
        dt_s: time between two groups, s.
        vmin: float32 [n_groups], least value in each group; NaN for a group of NaN only.
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
        columns: an array [n] by field, always including `time_ns` (int64) and `owner` (int32).
        names: names for fields with indices: `names["owner"][k]` is owner k.
    """

    columns: Mapping[str, NDArray[Any]]
    names: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.columns["time_ns"])

    def __getitem__(self, field: str) -> NDArray[Any]:
        """The column of a field."""
        return self.columns[field]

    def texts(self, field: str) -> list[str]:
        """A column of indices, converted to their names."""
        names = self.names[field]
        return [names[number] for number in self.columns[field].tolist()]

    def select(self, rows: slice | NDArray[Any]) -> EventTable:
        """The table with these rows only; a slice shares memory."""
        return EventTable({field: column[rows] for field, column in self.columns.items()}, self.names)


class EventExtent(NamedTuple):
    """Number of rows of one owner in a stream, and times of the first and last row."""

    n: int
    t_first_ns: int
    t_last_ns: int


class MarkRow(NamedTuple):
    """An event at an instant, e.g. a loss or a link failure."""

    time_ns: int
    owner: str
    kind: str
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class MarkTable:
    """The marks of a run by time, as columns.

    Attributes:
        time_ns: int64 [n], never decreasing.
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
        """The marks one by one, with names in place of indices."""
        columns = (self.time_ns, self.owner_index, self.kind_index, self.value)
        for time_ns, owner, kind, value in zip(*(column.tolist() for column in columns), strict=True):
            yield MarkRow(time_ns, self.owners[owner], self.kinds[kind], value)


TRAINING_STATES = ("waiting", "running", "paused", "finished", "stopped", "failed", "interrupted")
"""States of a training or a sweep, both open and ended ones."""

OPEN_STATES = TRAINING_STATES[:3]


@dataclass(frozen=True, slots=True)
class TrainingStart:
    """Data known at the start of a training.

    Attributes:
        name: name in the list of trainings.
        agent: the learning agent, e.g. "drl-cc".
        scenario_name: name of the scenario or distribution for the training.
        scenario_text: text of that scenario (TOML).
        config: all settings of the training, as plain values for JSON.
        seed: 0 <= seed < 2**64.
        folder: folder of its checkpoints and policies.
        version: version of Subflow.
        parent_id: the training from whose policy this one continues; None for a new policy.
        started_at_utc: aware datetime; None means now.
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
    """One training of the list; only `get` loads `scenario_text` and `config`."""

    id: int
    name: str
    agent: str
    scenario_name: str
    seed: int
    state: str
    """One of TRAINING_STATES; a running or paused training whose process has ended shows as interrupted."""
    message: str
    folder: str
    version: str
    note: str
    started_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    elapsed_s: float
    """Training time without pauses."""
    steps: int
    best_step: int | None
    best_score: float | None
    best_goodput_bps: float | None
    policy_hash: str
    parent_id: int | None
    reports_read: int
    process_pid: int
    """Id of the training process on its machine; 0 without a process."""
    scenario_text: str | None = None
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MetricCurve:
    """One metric over a training; a step repeated after a crash appears once.

    Attributes:
        step: float64 [n], whole numbers, rising.
        elapsed_s: float64 [n], training time, s.
        values: float64 [n]; NaN where the metric was not reported.
    """

    step: NDArray[np.float64]
    elapsed_s: NDArray[np.float64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of points."""
        return len(self.step)


class TrainingMoment(NamedTuple):
    """Current state of a training."""

    state: str
    """One of TRAINING_STATES."""
    message: str = ""
    """Reason of a failure."""
    process: ProcessIdentity | None = None
    """Process that carries out an open training; None without a process."""


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
    """Number of seeds."""


_TAG = "sweep "


def sweep_tag(sweep_id: int) -> str:
    """The tag of the runs that a sweep created."""
    return f"{_TAG}{sweep_id}"


def is_sweep_tag(tag: str) -> bool:
    """True for the tag of runs made by a sweep."""
    return tag.startswith(_TAG) and tag[len(_TAG) :].isdecimal()


class SweepRunPlace(NamedTuple):
    """A run that a sweep needs.

    Attributes:
        point: index of its combination of values.
        seed: seed of the run.
        key: runs with the same key are equal bit for bit.
    """

    point: int
    seed: int
    key: str


class SweepRunRow(NamedTuple):
    """A run of a sweep.

    Attributes:
        point: index of its combination of values.
        seed: seed of the run.
        key: runs with the same key are equal bit for bit.
        run_id: number of the finished run; None if it is missing.
        message: reason why it is missing; empty before the first attempt.
    """

    point: int
    seed: int
    key: str
    run_id: int | None
    message: str


@dataclass(frozen=True, slots=True)
class SweepStart:
    """Data known at the start of a sweep.

    Attributes:
        name: name in the list of sweeps.
        plan: text of the plan.
        version: version of Subflow.
        points: the values of each point by key, as text, in order.
        runs: all runs that the sweep needs.
    """

    name: str
    plan: str
    version: str
    points: Sequence[Mapping[str, str]]
    runs: Sequence[SweepRunPlace]


class SweepRecord(NamedTuple):
    """One sweep of the list; only `get` loads `plan`."""

    id: int
    name: str
    version: str
    state: str
    """One of TRAINING_STATES; a running or paused sweep whose process has ended shows as interrupted."""
    message: str
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    process_pid: int
    """Id of the living process of the sweep; 0 without a process."""
    points: int
    runs: int
    finished: int
    """Number of finished runs."""
    failed: int
    """Number of runs that were attempted but are missing."""
    plan: str | None = None
