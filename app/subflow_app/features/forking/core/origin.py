"""The run to fork, and a new simulation of it, which provides the state at the time of the fork.

The past is simulated with its samples, marks and events, because a fork is stored as a whole run. Snapshots of this
simulation speed up further forks of the run. The snapshots of `replay` are unsuitable: a replay records no samples,
because they would slow down its jumps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import subflow_app
from subflow_app.features.catalog.core.uses import Use, open_stored
from subflow_app.features.traces.core.events import (
    AGENT,
    DECISION,
    INTERVAL,
    agent_table,
    decision_table,
    interval_table,
)
from subflow_app.features.traces.core.measured import is_measured
from subflow_app.features.traces.core.traces import NANOSECONDS, StoredTraces, TraceMark, Traces
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ScenarioError
from subflow_store.values import EventTable

if TYPE_CHECKING:
    from subflow_app.features.catalog.core.former_policies import FormerPolicy
    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.decisions import DecisionLimits
    from subflow_sim.scenario import Event, Scenario
    from subflow_sim.simulation import Simulation, Snapshot
    from subflow_store import Store

# Simulated seconds between two checks for cancellation.
_SLICE_S = 0.05
# Number of the latest samples that are compared with the stored run.
_COMPARED_SAMPLES = 64


class ForkCancelledError(AppError):
    """Raised when the caller cancels the simulation that leads to a fork."""


@dataclass(frozen=True, slots=True)
class ForkOrigin:
    """A run that can be forked.

    Attributes:
        title: name of the run in messages: "run 7".
        name: name of the run.
        run_id: number of the run in the store; None if it is not stored.
        scenario: the simulated scenario, including changes made during the run.
        text: TOML text of the scenario.
        seed: seed of the run.
        sample_interval_s: sample interval in simulated seconds.
        known_until_s: simulated time in seconds up to which the run is known.
        version: version of Subflow that created the run; empty if unknown.
        traces: traces of the run.
        past: new simulation of the past, shared by all forks of the run.
        policy_notice: explanation of policies that have another name now; empty if all have the names of the run.
    """

    title: str
    name: str
    run_id: int | None
    scenario: Scenario
    text: str
    seed: int
    sample_interval_s: float
    known_until_s: float
    version: str
    traces: Traces
    past: ForkPast = field(default_factory=lambda: ForkPast(), compare=False, repr=False)
    policy_notice: str = ""

    @classmethod
    def stored(cls, store: Store, run_id: int) -> ForkOrigin:
        """Read a run from the database.

        Raises:
            InputError: if the run was measured, not simulated, or if this version cannot read its scenario.
            StoreError: if the run does not exist or the database cannot be read.
        """
        row = store.run(run_id)
        title = tr("run {number}", number=run_id)
        text = row.scenario_text or ""
        if is_measured(row) or (row.status == "finished" and not row.signature):
            raise InputError(tr("{run} was measured, not simulated: it cannot be forked", run=title))
        simulated_s = (row.summary or {}).get("simulated_s")
        scenario, renamed = _readable(text, title, row.version, row.summary)
        return cls(
            title=title,
            name=row.name,
            run_id=run_id,
            scenario=scenario,
            policy_notice=" ".join(each.text(title) for each in renamed),
            text=text,
            seed=row.seed,
            sample_interval_s=row.sample_interval_s,
            known_until_s=float(simulated_s) if isinstance(simulated_s, int | float) else row.simulated_s,
            version=row.version,
            traces=StoredTraces(store, run_id),
        )

    @classmethod
    def live(cls, job: RunJob) -> ForkOrigin:
        """The current state of a run in this process, active or ended."""
        changes = [change.event for change in job.live_changes]
        return cls(
            title=tr('run "{name}"', name=job.name),
            name=job.name,
            run_id=job.run_id,
            scenario=with_events(job.scenario, changes),
            text=job.scenario_text,
            seed=job.seed,
            sample_interval_s=job.sample_interval_s,
            known_until_s=job.progress.sim_time_s,
            version=subflow_app.__version__,
            traces=job.traces,
        )

    def sharing_past(self, other: ForkOrigin | None) -> ForkOrigin:
        """Return a copy that shares the simulated past of ``other`` if both are the same run; otherwise return self."""
        if other is None or (self.text, self.seed, self.sample_interval_s) != (
            other.text,
            other.seed,
            other.sample_interval_s,
        ):
            return self
        return replace(self, past=other.past)

    @property
    def notice(self) -> str:
        """Warnings about renamed policies and about a different version that created the run; usually empty."""
        return " ".join(part for part in (self.policy_notice, self._version_notice()) if part)

    def _version_notice(self) -> str:
        this = subflow_app.__version__
        if self.version == this:
            return ""
        return tr(
            "{run} was made by version {made_by}. Version {this} simulates its past again, and may differ; the "
            "original is shown as it was stored.",
            run=self.title,
            made_by=self.version or tr("unknown"),
            this=this,
        )

    @property
    def latest_fork_s(self) -> float:
        """The latest possible time of a fork in seconds: the time reached, but at least a nanosecond before the end."""
        return min(self.known_until_s, self.scenario.duration_s - 1 / NANOSECONDS)


def with_events(scenario: Scenario, events: Iterable[Event]) -> Scenario:
    """Add events to a scenario. At the same nanosecond, they follow the scenario's own events."""
    merged = sorted((*scenario.events, *events), key=lambda event: round(event.at_s * NANOSECONDS))
    return replace(scenario, events=tuple(merged))


@dataclass(frozen=True, slots=True, eq=False)
class ForkState:
    """A simulation at the time of a fork, with the records of its past.

    Attributes:
        simulation: an independent simulation.
        marks: marks up to this time.
        events: events up to this time, by stream.
        is_same: whether the latest samples equal those of the original run bit for bit.
    """

    simulation: Simulation
    marks: Sequence[TraceMark]
    events: Mapping[str, EventTable]
    is_same: bool


class ForkPast:
    """The past of a run, simulated with all records. Forks start from its snapshots.

    Several threads may use it; each waits until the previous one has finished.
    """

    def __init__(self) -> None:
        """Start without a simulation."""
        self._lock = threading.Lock()
        self._simulation: Simulation | None = None
        self._snapshots: list[Snapshot] = []  # at the start and at the times of forks, in order of time
        self._marks: list[TraceMark] = []
        self._tables: dict[str, list[EventTable]] = {}
        self._decisions: DecisionLimits | None = None

    def state_at(
        self, origin: ForkOrigin, at_s: float, decisions: DecisionLimits | None, is_cancelled: Callable[[], bool]
    ) -> ForkState:
        """Simulate a run up to a time, and return its state with the records of its past.

        Args:
            origin: the run.
            at_s: simulated time, s.
            decisions: limits for recording decisions from the start on; None records no decisions.
            is_cancelled: returns True to cancel.

        Raises:
            ForkCancelledError: if the caller cancels.
            SimError: if the simulator refuses the scenario, or the run fails before that time.
        """
        with self._lock:
            simulation = self._go_back(origin, at_s, decisions)
            try:
                while simulation.now_s < at_s:
                    if is_cancelled():
                        raise ForkCancelledError(tr("Cancelled at {time} s.", time=f"{simulation.now_s:g}"))
                    simulation.run_until(min(at_s, simulation.now_s + _SLICE_S))
                    self._take(simulation)
                snapshot = simulation.snapshot()
                forked = simulation.fork(snapshot)
            except BaseException:
                self._simulation = None  # the state is undefined, so the next call starts a new simulation
                raise
            if snapshot.now_ns > self._snapshots[-1].now_ns:
                self._snapshots.append(snapshot)
            events = {stream: _joined(tables) for stream, tables in self._tables.items()}
            return ForkState(forked, tuple(self._marks), events, _is_same(forked, origin.traces))

    def _go_back(self, origin: ForkOrigin, at_s: float, decisions: DecisionLimits | None) -> Simulation:
        """Return the simulation at or before a time; if necessary, restore it from a snapshot or create a new one."""
        from subflow_sim.simulation import Simulation

        if self._simulation is None or decisions != self._decisions:
            made = Simulation(origin.scenario, seed=origin.seed, sample_interval_s=origin.sample_interval_s)
            if decisions is not None:
                made.record_decisions(decisions)
            self._simulation, self._decisions = made, decisions
            self._marks, self._tables = [], {}
            made.run_until(0.0)  # events at 0 s precede every snapshot
            self._take(made)
            self._snapshots = [made.snapshot()]
            return made
        simulation, at_ns = self._simulation, round(at_s * NANOSECONDS)
        if round(simulation.now_s * NANOSECONDS) > at_ns:
            self._snapshots = [each for each in self._snapshots if each.now_ns <= at_ns]
            simulation.restore(self._snapshots[-1])
            self._forget_after(self._snapshots[-1].now_ns)
        return simulation

    def _take(self, simulation: Simulation) -> None:
        """Move the records out of the simulation, because every snapshot would copy them."""
        self._marks += [TraceMark(mark.time_s, mark.owner, mark.kind, mark.value) for mark in simulation.take_marks()]
        tables = {INTERVAL.name: interval_table(simulation.take_intervals())}
        steps = simulation.take_agent_steps()
        if steps is not None:
            tables[AGENT.name] = agent_table(steps)
        if self._decisions is not None:
            tables[DECISION.name] = decision_table(simulation.take_decisions())
        for stream, table in tables.items():
            if len(table):
                self._tables.setdefault(stream, []).append(table)

    def _forget_after(self, time_ns: int) -> None:
        self._marks = [mark for mark in self._marks if round(mark.time_s * NANOSECONDS) <= time_ns]
        for stream, tables in self._tables.items():
            whole = _joined(tables)
            self._tables[stream] = [whole.select(whole["time_ns"] <= time_ns)]


def _joined(tables: Sequence[EventTable]) -> EventTable:
    columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns}
    return EventTable(columns, tables[-1].names)


def _is_same(simulation: Simulation, traces: Traces) -> bool:
    known = {(key.scope, key.owner, key.name): key for key in traces.keys()}  # noqa: SIM118 - a sequence, not a mapping
    for index, column in enumerate(simulation.columns):
        key = known.get((column.scope, column.owner, column.name))
        if key is None:
            return False
        made = simulation.values(index)
        _times, stored = traces.read(key)
        end = min(len(made), len(stored))
        # The store may lack the latest samples of an active run.
        compared = slice(max(0, end - _COMPARED_SAMPLES), end)
        # After the end of a flow, older versions stored its last value, and newer versions store NaN.
        is_known = ~np.isnan(made[compared])
        if not np.array_equal(made[compared][is_known], stored[compared][is_known]):
            return False
    return True


def _readable(
    text: str, title: str, version: str, summary: Mapping[str, Any] | None
) -> tuple[Scenario, tuple[FormerPolicy, ...]]:
    if not text.strip():
        raise InputError(tr("{run} cannot be forked: the text of its scenario was not kept", run=title))
    try:
        return open_stored(Use.FORK, text, summary, file=title)
    except ScenarioError as error:
        raise InputError(
            tr(
                "{run} cannot be forked: version {made_by} made it, and this one ({this}) cannot read its scenario: "
                "{reason}",
                run=title,
                made_by=version or tr("unknown"),
                this=subflow_app.__version__,
                reason=error,
            )
        ) from error
