"""The recorder that streams a run into the store, and the protocol that a simulation implements for it.

If the store fails, the run continues in memory.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

import subflow_app
from subflow_app.features.traces.core.events import (
    AGENT,
    DECISION,
    INTERVAL,
    agent_table,
    decision_table,
    interval_table,
)
from subflow_app.features.traces.core.traces import NANOSECONDS, ColumnLike, LiveTraces, TraceMark, Traces
from subflow_store.errors import StoreError
from subflow_store.run_values import headline
from subflow_store.streams import StreamSpec
from subflow_store.values import ColumnSpec, EventTable, RunFork, RunRow, RunStart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from subflow_sim.agent_steps import AgentSteps
    from subflow_sim.decisions import DecisionLimits, Decisions
    from subflow_sim.scenario import Event, Scenario
    from subflow_sim.trace import Intervals
    from subflow_store import RunWriter, Store


_log = logging.getLogger(__name__)

# Samples are written in blocks of this many rows, or after this wall time (s), so that little is lost in a crash.
_BLOCK_SAMPLES = 512
BLOCK_WALL_S = 0.5
# If this many decisions, intervals and agent steps are waiting, a block is written before it is full.
BLOCK_EVENTS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class RunPast:
    """History of a fork, i.e. of a run that branches off from an earlier run at a time after 0.

    Attributes:
        fork: branch point as stored.
        marks: marks before the branch point.
        events: events before the branch point, by stream; the tables number names as the simulation does.
        origin: the traces of the original run.
    """

    fork: RunFork
    origin: Traces
    marks: Sequence[TraceMark] = ()
    events: Mapping[str, EventTable] = field(default_factory=dict)


class RunRecorder:
    """Transfers the samples and events of one run to the traces and the store. Used by the simulation thread.

    With many flows or a busy disk, the store can take seconds to begin a run. It therefore does so in a separate
    thread, and the simulation does not wait for it.

    Marks, monitor intervals, decisions and agent steps always go to the live traces. If a store is used, they are also
    stored, together with the samples. After the first `StoreError`, which is kept in `error`, nothing more is stored,
    but the run continues. The traces in memory are complete, except that the oldest intervals, decisions and steps are
    dropped if they become very many.

    Attributes:
        has_begun: whether the store has begun the run, even if it failed later.
    """

    def __init__(
        self,
        store: Store | None,
        simulation: RunnableSimulation,
        traces: LiveTraces,
        *,
        scenario: Scenario,
        scenario_text: str,
        name: str,
        sample_interval_s: float,
        decisions: DecisionLimits | None = None,
        began_at: datetime | None = None,
        past: RunPast | None = None,
    ) -> None:
        is_over = began_at is not None
        self._simulation = simulation
        self._traces = traces
        self._starting: Future[RunWriter] | None = None  # set until the store has begun the run
        self._writer: RunWriter | None = None
        self.error: StoreError | None = None  # first failure of the store
        self.has_begun = False
        self._stored_samples = 0
        self._decisions = decisions
        self._is_live = not is_over
        self._waiting_marks: list[TraceMark] = []
        self._waiting_events: list[tuple[str, EventTable]] = []
        if is_over:
            # The run is stored after its end. The simulation no longer holds the marks and events, but the traces do.
            self._waiting_marks.extend(traces.marks())
            self._waiting_events.extend((spec.name, traces.events(spec.name)) for spec in (DECISION, INTERVAL, AGENT))
        elif past is not None:
            traces.add_marks(past.marks)
            self._waiting_marks.extend(past.marks)
            for stream, table in past.events.items():
                if len(table):
                    traces.add_events(stream, table)
                    self._waiting_events.append((stream, table))
        self._last_block = time.perf_counter()
        if store is not None:
            start = run_start(
                scenario,
                scenario_text,
                name=name,
                seed=simulation.seed,
                sample_interval_s=sample_interval_s,
                fork=past.fork if past is not None else None,
            )
            if began_at is not None:
                start = replace(start, started_at_utc=began_at)
            columns = [ColumnSpec(c.scope, c.owner, c.name, c.unit) for c in simulation.columns]
            starter = ThreadPoolExecutor(1, "subflow-run-start")
            self._starting = starter.submit(store.start_run, start, columns)
            starter.shutdown(wait=False)

    @property
    def run_id(self) -> int | None:
        """Number of the run in the store; None if it is not stored. Waits until the store has begun the run."""
        self._take_writer(wait=True)
        return self._writer.run_id if self._writer is not None else None

    def record(self, *, everything: bool = False) -> None:
        """Transfer new samples, marks and events to the traces and the store.

        Args:
            everything: whether to write even a short block to the store, e.g. because the run is about to pause.
        """
        marks = [TraceMark(mark.time_s, mark.owner, mark.kind, mark.value) for mark in self._simulation.take_marks()]
        self._traces.add_marks(marks)
        if self._is_storing:
            self._waiting_marks.extend(marks)
        intervals = self._simulation.take_intervals()
        if intervals is not None:
            self._add_events(INTERVAL, interval_table(intervals))
        steps = self._simulation.take_agent_steps()
        if steps is not None:
            self._add_events(AGENT, agent_table(steps))
        # If only a window of decisions is wanted, the simulation keeps them until the end, when the window is known.
        if self._decisions is not None and self._decisions.window_s is None:
            self._take_decisions(None)
        self._take_writer(wait=everything)
        if self._writer is None:
            return
        waiting = self._simulation.sample_count - self._stored_samples
        overdue = time.perf_counter() - self._last_block > BLOCK_WALL_S
        many = sum(len(table) for _, table in self._waiting_events) >= BLOCK_EVENTS
        if (
            everything
            or many
            or waiting >= _BLOCK_SAMPLES
            or (overdue and (waiting or self._waiting_marks or self._waiting_events))
        ):
            self._write_block()

    def replace_scenario(self, text: str) -> None:
        """Replace the scenario text stored with the run, after a live change."""
        self._take_writer(wait=True)
        if self._writer is None:
            return
        try:
            self._writer.replace_scenario(text)
        except StoreError as error:
            self._give_up(error)

    def finish(self, status: str, summary: dict[str, Any], signature: str) -> None:
        """Write the remaining data and close the run in the store."""
        if self._decisions is not None:
            self._take_decisions(self._decisions.window_s)
        self.record(everything=True)
        if self._writer is None:
            return
        try:
            self._writer.finish(status, summary, signature)
        except StoreError as error:
            self._give_up(error)

    @property
    def _is_storing(self) -> bool:
        return self._writer is not None or self._starting is not None

    def _take_writer(self, *, wait: bool) -> None:
        """Get the writer from the store; unless `wait` is true, only if it is ready."""
        starting = self._starting
        if starting is None or not (wait or starting.done()):
            return
        self._starting = None
        try:
            self._writer = starting.result()
            self.has_begun = True
        except StoreError as error:
            self._give_up(error)
            return
        if self._is_live:
            self._traces.run_id = self._writer.run_id

    def _take_decisions(self, window_s: float | None) -> None:
        decisions = self._simulation.take_decisions()
        if decisions is None:
            return
        table = decision_table(decisions)
        if window_s is not None:
            # In the simulation, the window of each owner ends at the owner's last decision; here it ends with the run.
            first_ns = (self._simulation.now_s - window_s) * NANOSECONDS
            table = table.select(slice(int(np.searchsorted(table["time_ns"], first_ns)), None))
        self._add_events(DECISION, table)

    def _add_events(self, stream: StreamSpec, table: EventTable) -> None:
        if not len(table):
            return
        self._traces.add_events(stream.name, table)
        if self._is_storing:
            self._waiting_events.append((stream.name, table))

    def _write_block(self) -> None:
        """Write a block with all samples that are not stored yet, in all columns."""
        assert self._writer is not None
        first, end = self._stored_samples, self._simulation.sample_count
        try:
            if end > first:
                columns = range(len(self._simulation.columns))
                samples = [self._simulation.values(index, first)[: end - first] for index in columns]
                self._writer.append(first, np.column_stack(samples))
                self._stored_samples = end
            if self._waiting_marks:
                rows = [(round(m.time_s * NANOSECONDS), m.owner, m.kind, m.value) for m in self._waiting_marks]
                self._writer.add_marks(rows)
                self._waiting_marks.clear()
            while self._waiting_events:
                self._writer.add_events(*self._waiting_events[0])
                del self._waiting_events[0]
        except StoreError as error:
            self._give_up(error)
        self._last_block = time.perf_counter()

    def _give_up(self, error: StoreError) -> None:
        _log.error("the run continues in memory only: %s", error)
        self.error = error
        if self._writer is not None:
            self._writer.abandon()  # otherwise the store would list the run as running until it is closed
            self._writer = None
        self._waiting_marks.clear()
        self._waiting_events.clear()


def run_start(
    scenario: Scenario,
    scenario_text: str,
    *,
    name: str,
    seed: int,
    sample_interval_s: float,
    fork: RunFork | None = None,
) -> RunStart:
    """Describe a run that starts now, for the store."""
    return RunStart(
        name=name,
        scenario_name=scenario.name,
        scenario_text=scenario_text,
        seed=seed,
        duration_s=scenario.duration_s,
        warmup_s=scenario.warmup_s,
        sample_interval_s=sample_interval_s,
        mss_bytes=scenario.mss_bytes,
        profile=scenario.profile,
        controllers=controllers_text(scenario, () if fork is None else fork.changes),
        version=subflow_app.__version__,
        started_at_utc=datetime.now(UTC),
        fork=fork,
    )


def finished_row(
    start: RunStart, *, run_id: int | None, status: str, summary: Mapping[str, Any], signature: str
) -> RunRow:
    """Row of an ended run in the list of runs; a run that is not stored has number 0."""
    figures = headline(summary)
    assert start.started_at_utc is not None
    return RunRow(
        id=run_id or 0,
        name=start.name,
        scenario_name=start.scenario_name,
        controllers=start.controllers,
        seed=start.seed,
        duration_s=start.duration_s,
        warmup_s=start.warmup_s,
        sample_interval_s=start.sample_interval_s,
        mss_bytes=start.mss_bytes,
        profile=start.profile,
        version=start.version,
        status=status,
        signature=signature,
        started_at=start.started_at_utc,
        ended_at=datetime.now(UTC),
        wall_s=figures.wall_s,
        simulated_s=float(summary.get("simulated_s", 0.0)),
        packets=figures.packets,
        goodput_bps=figures.goodput_bps,
        mean_rtt_s=figures.mean_rtt_s,
        jain=figures.jain,
        note="",
        deleted=False,
        tags=(),
        fork=start.fork,
        scenario_text=start.scenario_text,
        summary=summary,
    )


def controllers_text(scenario: Scenario, changes: Iterable[Mapping[str, Any]] = ()) -> str:
    """The names of a scenario's controllers, without repetition, e.g. ``"lia, newreno"``.

    Args:
        scenario: scenario of the run.
        changes: changes at the branch point of a fork, which can replace controllers.
    """
    names = [flow.controller.name for flow in scenario.flows.values()]
    for change in changes:
        controller = change.get("controller", "")
        names.append(str(controller["name"] if isinstance(controller, Mapping) else controller))
    return ", ".join(dict.fromkeys(name for name in names if name))


class RunnableSimulation(Protocol):
    """The methods of a simulation that a run uses; `subflow_sim.Simulation` implements them."""

    @property
    def seed(self) -> int:
        """Seed of all random draws."""

    @property
    def now_s(self) -> float:
        """Current simulated time, s."""

    @property
    def duration_s(self) -> float:
        """Simulated time at which the run ends, s."""

    @property
    def finished(self) -> bool:
        """True when `now_s` has reached `duration_s`."""

    @property
    def packets(self) -> int:
        """Number of data packets delivered."""

    @property
    def columns(self) -> Sequence[ColumnLike]:
        """All trace columns, in the order of the indices that `values` takes."""

    @property
    def sample_count(self) -> int:
        """Number of samples that are available."""

    def run_until(self, t_s: float) -> bool:
        """Simulate up to `t_s`; False if `interrupt` ended the call early."""

    def apply(self, event: Event) -> Event:
        """Make a change now; returns the event as a scenario would contain it."""

    def interrupt(self) -> None:
        """Make the current call of `run_until`, or else the next call, return within a few milliseconds."""

    def values(self, index: int, first: int = 0) -> NDArray[np.float32]:
        """Samples of the column with this index from the sample `first` on, float32 [sample_count - first]."""

    def take_marks(self) -> Sequence[Any]:
        """Marks since the last call, with attributes as in `TraceMark`."""

    def take_intervals(self) -> Intervals | None:
        """Monitor intervals finished since the last call; None if the simulation does not record them."""

    def take_agent_steps(self) -> AgentSteps | None:
        """Observations, actions and rewards of agents since the last call; None if they are not recorded."""

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        """Record decisions from now on, if the simulation supports it."""

    def take_decisions(self) -> Decisions | None:
        """Decisions since the last call; None if the simulation does not record them."""

    @property
    def decisions_lost(self) -> int:
        """Number of decisions dropped because the buffer was full."""

    def signature(self) -> str:
        """Signature of the simulated part of the run, 16 hex digits."""

    def summary(self) -> dict[str, Any]:
        """JSON document with the figures of the simulated part of the run."""
