"""One interface to the traces of live and stored runs, for plots and exports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.events import AGENT, DECISION, INTERVAL, EventLog
from subflow_app.features.traces.core.measured import is_measured
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import ordinal
from subflow_app.vocabulary.palette import label_of, trace_owner
from subflow_app.vocabulary.plain_text import readable_line
from subflow_sim.errors import ScenarioError
from subflow_store.values import EventTable, RunRow

if TYPE_CHECKING:
    from subflow_sim.scenario import Event, Scenario
    from subflow_store import EventExtent, RunFork, Store

FLOW = "flow"
SUBFLOW = "subflow"
LINK = "link"
SCOPES = (SUBFLOW, FLOW, LINK)

NANOSECONDS = 1_000_000_000
_MOST_NAMES = 12

TURNS = ("loss", "rto", "penalised")
"""Kinds of marks at which the rate of a subflow may change abruptly."""


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """Key of a trace: scope (``"flow"``, ``"subflow"``, ``"link"``), owner, column name and SI unit."""

    scope: str
    owner: str
    name: str
    unit: str


class TraceMark(NamedTuple):
    """An event at an instant of simulated time, e.g. a loss on a subflow or an outage of a link."""

    time_s: float
    owner: str
    kind: str
    value: float


class Traces(Protocol):
    """Samples and marks of an ended run or of a run in progress."""

    @property
    def title(self) -> str:
        """Name of the run for legends and tabs."""

    @property
    def duration_s(self) -> float:
        """Length of the time axis, s: the duration in the scenario, even during the run."""

    @property
    def warmup_s(self) -> float:
        """Start of the interval that the summary covers, s."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Display text by owner, e.g. ``{"download.1/1": "download.1 · wifi"}``, for every owner of `keys`."""

    @property
    def condition(self) -> str:
        """Identifier shared by the repetitions of an experiment, i.e. by runs that differ only in seed and name."""

    @property
    def controllers(self) -> Mapping[str, str]:
        """Name of the congestion controller by flow, excluding flows without a controller (cbr, onoff)."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Names such as "my-aimd, version 3" of the scripts whose texts differ between the runs shown, by script."""

    @property
    def mss_bytes(self) -> int:
        """Payload of a full packet, bytes."""

    @property
    def row(self) -> RunRow | None:
        """The run as a row of the list of runs, with its documents; None during the run."""

    def keys(self) -> Sequence[SeriesKey]:
        """All traces, in the order of the simulator's columns, which does not change during the run."""

    def read(self, key: SeriesKey) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Times (s) and values (SI) of one trace, both of length n; values may be NaN while unknown.

        Raises:
            InputError: if the run has no such trace.
        """

    def marks(self) -> Sequence[TraceMark]:
        """All marks up to now, in order of time."""

    def events(self, stream: str) -> EventTable:
        """The decisions ("decision"), monitor intervals ("interval") or steps of agents ("agent") up to now.

        A run in memory keeps only the latest rows.
        """


def owner_label(scenario: Scenario, owner: str) -> str:
    """Display text for a flow, subflow or link direction: "download.1 · wifi", "wifi client→server".

    The seed determines which copies of a flow arrive, so each possible name of a copy is accepted. An unknown owner is
    labelled by its name.
    """
    name, _, part = owner.partition("/")
    link = scenario.links.get(name)
    if link is not None and part in ("forward", "reverse"):
        first, second = link.ends if part == "forward" else reversed(link.ends)
        return f"{name} {first}→{second}"
    flow = scenario.flows.get(name.partition(".")[0])
    paths = [path_label(path) for path in flow.paths] if flow is not None and flow.has_copy(name) else []
    number = ordinal(part)
    if number is None or not 1 <= number <= len(paths):
        return label_of(owner)
    path = paths[number - 1]
    # If a path appears twice, the ordinal distinguishes the subflows.
    return f"{name} · {path if paths.count(path) == 1 else f'{path} #{part}'}"


def path_label(path: Sequence[str]) -> str:
    """A path as text: ``wifi`` or ``access→core``."""
    return "→".join(path)


class ColumnLike(Protocol):
    """A trace column as the simulator describes it."""

    @property
    def scope(self) -> str:
        """``"flow"``, ``"subflow"`` or ``"link"``."""

    @property
    def owner(self) -> str:
        """Name of the flow, subflow or link direction, e.g. ``"download/1"``."""

    @property
    def name(self) -> str:
        """Column name, with its unit as suffix if it has one."""

    @property
    def unit(self) -> str:
        """SI unit symbol."""


class SampledSimulation(Protocol):
    """The part of a simulation that live traces read; safe to call while another thread simulates."""

    @property
    def columns(self) -> Sequence[ColumnLike]:
        """All columns, fixed from the start."""

    def values(self, index: int) -> NDArray[np.float32]:
        """Published samples, in SI units, of the column with this index in `columns`."""


def is_measured_run(traces: Traces) -> bool:
    """True if a run, in progress or ended, is measured, not simulated."""
    if isinstance(traces, _RunTraces):
        return traces.is_measured
    return traces.row is not None and is_measured(traces.row)


class _MadeBy(NamedTuple):
    """Properties of a run that follow from its scenario."""

    labels: Mapping[str, str]
    condition: str
    controllers: Mapping[str, str]
    scenario: Scenario | None


class _RunTraces:
    """Common part of live and stored traces.

    Attributes:
        title: name of the run.
        duration_s: duration of the scenario, s.
        warmup_s: warm-up of the scenario, s.
        mss_bytes: payload of a full packet, bytes.
        row: row of the list of runs; None while the run is in progress.
        fork: point at which the run branched off another run; None for a run that starts at 0.
        origin: traces of the original run, if available.
        before: traces of the previous run, which remain visible; None unless the run follows a change of the scenario.
    """

    def __init__(self, title: str, duration_s: float, warmup_s: float, mss_bytes: int, made_by: _MadeBy) -> None:
        self.title = title
        self.duration_s = duration_s
        self.warmup_s = warmup_s
        self.mss_bytes = mss_bytes
        self.versions: Mapping[str, str] = {}  # set by the part that shows several runs
        self._made_by = made_by
        self.fork: RunFork | None = None
        self.origin: Traces | None = None
        self.before: Traces | None = None
        self.row: RunRow | None = None

    @property
    def is_measured(self) -> bool:
        """True if the run is measured, not simulated."""
        return self.row is not None and is_measured(self.row)

    def column(self, scope: str, name: str | None) -> Sequence[SeriesKey]:
        """The traces of a scope, optionally of one column only.

        The traces are grouped only once, because a run may have tens of thousands of them.
        """
        return self._by_column.get((scope, name), ())

    @cached_property
    def _by_column(self) -> Mapping[tuple[str, str | None], Sequence[SeriesKey]]:
        found: dict[tuple[str, str | None], list[SeriesKey]] = {}
        for key in self.keys():
            found.setdefault((key.scope, None), []).append(key)
            found.setdefault((key.scope, key.name), []).append(key)
        return found

    @cached_property
    def transport_owners(self) -> tuple[str, ...]:
        """Flows and subflows with traces, in the order of the labels."""
        return _transport_owners(self.labels, [key for scope in (FLOW, SUBFLOW) for key in self.column(scope, None)])

    def keys(self) -> Sequence[SeriesKey]:
        """All traces, in column order."""
        raise NotImplementedError

    @property
    def labels(self) -> Mapping[str, str]:
        """Display text by owner."""
        return self._made_by.labels

    @property
    def condition(self) -> str:
        """Identifier shared by runs that differ only in seed and name."""
        return self._made_by.condition

    @property
    def controllers(self) -> Mapping[str, str]:
        """Name of the congestion controller by flow."""
        return self._made_by.controllers

    @property
    def scenario(self) -> Scenario | None:
        """The simulated scenario with its live changes; None if this version cannot read it."""
        return self._made_by.scenario


class LiveTraces(_RunTraces):
    """Traces of a run in memory, readable from any thread during the simulation."""

    def __init__(
        self,
        simulation: SampledSimulation,
        scenario: Scenario,
        *,
        title: str,
        sample_interval_s: float,
        is_measured: bool = False,
    ) -> None:
        self._simulation = simulation
        self._is_measured = is_measured
        self._interval_s = sample_interval_s
        self._keys = tuple(SeriesKey(c.scope, c.owner, c.name, c.unit) for c in simulation.columns)
        self._index = {key: index for index, key in enumerate(self._keys)}
        made_by = _made_by(self._keys, scenario)
        super().__init__(title, scenario.duration_s, scenario.warmup_s, scenario.mss_bytes, made_by)
        self._marks: list[TraceMark] = []
        self._marks_lock = threading.Lock()
        self._events = {spec.name: EventLog(spec) for spec in (DECISION, INTERVAL, AGENT)}
        self.run_id: int | None = None  # number in the store
        self._times_s = sample_times(self._interval_s, self._interval_s, 0)  # times of the samples, computed in advance

    @property
    def is_measured(self) -> bool:
        """True if the run is measured, not simulated."""
        return self._is_measured

    def keys(self) -> Sequence[SeriesKey]:
        """All traces, in column order."""
        return self._keys

    def read(self, key: SeriesKey) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """The published times and values; see `Traces.read`."""
        try:
            index = self._index[key]
        except KeyError:
            raise _unknown(key, self.title) from None
        values = self._simulation.values(index)
        return self._times(len(values)), values

    def _times(self, count: int) -> NDArray[np.float64]:
        """Times of `count` samples, s; cached, because drawing a picture reads them for hundreds of traces."""
        times_s = self._times_s
        if len(times_s) < count:
            times_s = sample_times(self._interval_s, self._interval_s, 2 * count)
            times_s.flags.writeable = False
            self._times_s = times_s
        return times_s[:count]

    def marks(self) -> Sequence[TraceMark]:
        """All marks up to now."""
        with self._marks_lock:
            return tuple(self._marks)

    def add_marks(self, marks: Iterable[TraceMark]) -> None:
        """Append marks in order of time; called during the run."""
        with self._marks_lock:
            self._marks.extend(marks)

    def add_change(self, event: Event) -> None:
        """Adds a live change to the events of the scenario; called during the run."""
        scenario = self._made_by.scenario
        assert scenario is not None
        events = sorted([*scenario.events, event], key=lambda each: each.at_s)
        changed = replace(scenario, events=tuple(events))
        self._made_by = self._made_by._replace(scenario=changed, condition=scenario_hash(changed))

    def close(self, row: RunRow) -> None:
        """Set `row` after the end of the run; called by the run."""
        self.row = row

    def events(self, stream: str) -> EventTable:
        """The latest rows of a stream; see `EventLog`."""
        return self._events[stream].table()

    def add_events(self, stream: str, table: EventTable) -> None:
        """Append decisions, monitor intervals or steps of agents in order of time; called during the run."""
        self._events[stream].append(table)


class StoredTraces(_RunTraces):
    """Traces of a run in the database, read on demand.

    Args:
        store: an open store; it must stay open while the traces are used.
        run_id: number of the run.

    Raises:
        StoreError: if the store has no such run, or if the database cannot be read.
    """

    def __init__(self, store: Store, run_id: int) -> None:
        self._store = store
        self.run_id = run_id
        run = store.run(run_id)
        series = store.series(run_id)
        self._is_over = run.status != "running"
        self._kept: dict[str, EventTable] = {}
        self._series: dict[SeriesKey, tuple[NDArray[np.float64], NDArray[np.float32]]] = {}
        self._marks: tuple[TraceMark, ...] | None = None
        self._ids = {SeriesKey(s.scope, trace_owner(s.scope, s.owner), s.name, s.unit): s.id for s in series}
        # Marks and events contain no scope: their owner strings are mapped to owners of traces.
        self._owners = {s.owner: trace_owner(s.scope, s.owner) for s in series}
        # A measured run has no scenario text, so its number identifies it, and it never counts as a repetition.
        unreadable = run.scenario_text or f"run {run_id}"
        made_by = _made_by(self._ids, _stored_scenario(run.scenario_text), unreadable=unreadable)
        super().__init__(readable_line(run.name), float(run.duration_s), float(run.warmup_s), run.mss_bytes, made_by)
        self.fork = store.forks.origin_of(run_id)
        self.row = run if self._is_over else None

    def keep(
        self,
        first: Iterable[SeriesKey] = (),
        *,
        most_bytes: int = 1 << 25,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Reads frequently used data into memory, so that plots need not wait for the database.

        Traces of a run in progress grow, so they are not kept but read from the database each time, like traces beyond
        `most_bytes`.

        Args:
            first: the most important traces.
            most_bytes: maximum memory of the traces.
            is_cancelled: called before each trace; True ends the reading.

        Raises:
            StoreError: if the database cannot be read.
        """
        if not self._is_over:
            return
        self._marks = tuple(self.marks())
        self.events(AGENT.name)
        size = 0
        for key in dict.fromkeys((*first, *self._ids)):
            if size >= most_bytes or is_cancelled():
                return
            self._series[key] = self.read(key)
            size += sum(each.nbytes for each in self._series[key])

    def keys(self) -> Sequence[SeriesKey]:
        """All traces, in column order."""
        return tuple(self._ids)

    def read(self, key: SeriesKey) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Times and values; see `Traces.read`."""
        if key in self._series:
            return self._series[key]
        try:
            series_id = self._ids[key]
        except KeyError:
            raise _unknown(key, self.title) from None
        data = self._store.read(series_id)
        return sample_times(data.t0_s, data.dt_s, len(data.values)), data.values

    def marks(self) -> Sequence[TraceMark]:
        """All marks of the run."""
        if self._marks is not None:
            return self._marks
        rows = self._store.marks(self.run_id).rows()
        return tuple(TraceMark(row.time_ns / NANOSECONDS, self._owner(row.owner), row.kind, row.value) for row in rows)

    def _owner(self, text: str) -> str:
        return self._owners.get(text) or trace_owner(SUBFLOW, text)

    def events(self, stream: str) -> EventTable:
        """All stored rows of a stream of the run."""
        if stream in self._kept:
            return self._kept[stream]
        read = {
            DECISION.name: self._store.decisions,
            INTERVAL.name: self._store.intervals,
            AGENT.name: self._store.agent_steps,
        }[stream]
        table = read(self.run_id)
        # Plots read the steps of agents with every curve; the steps are few, and constant after the end of the run.
        if stream == AGENT.name and self._is_over:
            self._kept[stream] = table
        return table


def sample_times(t0_s: float, dt_s: float, count: int) -> NDArray[np.float64]:
    """Times of `count` samples, s. One product per sample avoids rounding errors: 600 intervals of 0.1 s are 60 s."""
    return dt_s * (np.arange(count, dtype=np.float64) + t0_s / dt_s)


def select_keys(traces: Traces, scope: str, name: str | None = None, owner: str | None = None) -> list[SeriesKey]:
    """The traces of a scope in order, optionally only those of one column or of one owner."""
    if isinstance(traces, _RunTraces):
        found = traces.column(scope, name)
        return list(found) if owner is None else [key for key in found if key.owner == owner]
    return [
        key
        for key in traces.keys()  # noqa: SIM118 - a sequence of traces, not a mapping
        if key.scope == scope and name in (None, key.name) and owner in (None, key.owner)
    ]


def nearest_mark_s(traces: Traces, owner: str, time_s: float, reach_s: float) -> float:
    """Time of a subflow's loss, timeout or penalty that is nearest to a given time, s.

    Returns:
        The time of the mark; the given time if no mark is within ``reach_s`` of it.
    """
    times_s = [mark.time_s for mark in traces.marks() if mark.owner == owner and mark.kind in TURNS]
    nearest_s = min(times_s, key=lambda each: abs(each - time_s), default=time_s)
    return nearest_s if abs(nearest_s - time_s) <= reach_s else time_s


def listed(names: Sequence[str], *, many: str = "") -> str:
    """Join names in one line. More than a dozen become "a, b and 3 more" or, if `many` is given, "15 agents"."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{len(names)} {many}" if many else f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"


def check_time(title: str, at_s: float, end_s: float) -> None:
    """Raise InputError unless the run with this title, which ends at ``end_s``, includes the time ``at_s`` (s)."""
    if not 0 <= at_s <= end_s:
        raise InputError(f"{title} is from 0 s to {end_s:g} s; {at_s:g} s is not in it")


def check_kept(row: RunRow, extents: Mapping[str, EventExtent], owner: str, at_s: float) -> None:
    """Raise InputError unless a stored run includes the time ``at_s`` and a decision of the owner at or before it.

    Args:
        row: the run.
        extents: extents of its decisions, or of the decisions of its agents, by owner.
        owner: key of `extents`.
        at_s: simulated time, s.
    """
    # The last sample may precede the end of the run by less than the sample interval.
    end_s = max(row.simulated_s, *(extent.t_last_ns / NANOSECONDS for extent in extents.values()))
    check_time(f"run {row.id}", at_s, end_s)
    first_ns = extents[owner].t_first_ns
    if round(at_s * NANOSECONDS) < first_ns:
        raise InputError(f"the decisions that run {row.id} has of {owner} begin at {first_ns / NANOSECONDS:.6f} s")


def not_kept(run_id: int, owner: str, at_s: float) -> InputError:
    """The error for a damaged file without the owner's decisions up to ``at_s`` (s), although `check_kept` passes."""
    return InputError(f"run {run_id} keeps no decision of {owner} up to {at_s:g} s, although its list has one")


def transport_owners(traces: Traces) -> Sequence[str]:
    """The flows and subflows with traces in a run, in the order of its labels."""
    if isinstance(traces, _RunTraces):
        return traces.transport_owners
    return _transport_owners(traces.labels, [key for scope in (FLOW, SUBFLOW) for key in select_keys(traces, scope)])


def _transport_owners(labels: Iterable[str], keys: Iterable[SeriesKey]) -> tuple[str, ...]:
    """Owners of traces and their flows, in the order of `labels`."""
    owners = {owner for key in keys for owner in (key.owner, key.owner.partition("/")[0])}
    return tuple(owner for owner in labels if owner in owners)


def _stored_scenario(scenario_text: Any) -> Scenario | None:
    """The stored scenario; None if this version cannot read it."""
    from subflow_app.features.catalog.core.uses import Use, read_scenario

    try:
        return read_scenario(Use.REPORT, str(scenario_text))
    except ScenarioError:
        return None


def _made_by(keys: Collection[SeriesKey], scenario: Scenario | None, *, unreadable: str = "") -> _MadeBy:
    """Derive properties of a run from its scenario. If it cannot be read, `unreadable` becomes the condition."""
    # The flow of a subflow also needs a label, for sums over its subflows, even if it has no traces.
    flows = (key.owner.partition("/")[0] for key in keys if key.scope == SUBFLOW)
    owners = dict.fromkeys((*(key.owner for key in keys), *flows))
    if scenario is None:
        return _MadeBy({owner: label_of(owner) for owner in owners}, unreadable, {}, None)
    labels = {owner: owner_label(scenario, owner) for owner in owners}
    controllers = {
        instance: flow.controller.name
        for flow in scenario.flows.values()
        if not flow.sends_datagrams
        for instance in flow.instances
    }
    return _MadeBy(labels, scenario_hash(scenario), controllers, scenario)


def stored_condition(scenario_text: str | None, run_id: int) -> str:
    """`Traces.condition` of a stored run, computed from its scenario text alone."""
    scenario = _stored_scenario(scenario_text) if scenario_text else None
    return (scenario_text or f"run {run_id}") if scenario is None else scenario_hash(scenario)


def _unknown(key: SeriesKey, title: str) -> InputError:
    return InputError(f'run "{title}" has no trace {key.name} of {key.scope} {label_of(key.owner)}')
