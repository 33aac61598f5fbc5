"""One run from start to end, in short chunks and readable all along, with its steps and the scale of its speed.

Samples and marks are streamed to the store: a run is a stream of start, columns, blocks, stop. A failing view cannot
reach in here. A failing store cannot stop the simulation either: the run continues in memory, and
`RunResult.store_error` describes the failure, so that the traces can be exported or saved elsewhere.

A step ends at the next planned event, at the next sample, or after a length of time. The scale of speeds is
logarithmic.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from subflow_app.features.running.core.live_changes import LiveChange, Wanted, with_change
from subflow_app.features.running.core.run_recorder import (
    RunnableSimulation,
    RunPast,
    RunRecorder,
    finished_row,
    run_start,
)
from subflow_app.features.traces.core.traces import NANOSECONDS, LiveTraces
from subflow_app.foundation.expected_errors import is_expected, message_of
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.toml_edit import TomlValue
from subflow_sim.errors import SimulationError
from subflow_sim.scenario import Scenario
from subflow_store.errors import StoreError, StoreLocked

if TYPE_CHECKING:
    from subflow_sim.decisions import DecisionLimits
    from subflow_sim.limits import Limits
    from subflow_store import Store


_log = logging.getLogger(__name__)

DEFAULT_SAMPLE_INTERVAL_S = 0.1

# Decisions of one subflow or connection that there is room for: several times what a chunk of a fast run makes.
_MOST_DECISIONS = 1 << 18
# With a window it is kept full until the end; then all of them together stay below a gigabyte.
_LEAST_DECISIONS = 1 << 12
_DECISIONS_TOGETHER = 1 << 22

# A chunk of simulation takes about this long, s: pause and stop answer at once, and the overhead stays below 1 %.
_CHUNK_WALL_S = 0.015
# The first chunk is short, because nothing is known yet about the speed of this scenario.
_FIRST_CHUNK_S = 0.001
# A chunk grows or shrinks at most by this factor, so that one slow or empty stretch does not swing it.
_CHUNK_GROWTH = 4.0
_SHORTEST_CHUNK_S = 1e-6
# With a speed limit the run is handed out in slices of this wall time, s: 60 a second look continuous.
_PACED_SLICE_WALL_S = 1 / 60
# As late as this a paced run may be and still catch up, s of wall time.
_LATEST_S = 0.25


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is.

    Attributes:
        state: where the run stands.
        sim_time_s: simulated time so far, s.
        duration_s: simulated time asked for, s.
        speed: simulated seconds per second of wall time, pauses left out and the waits of a
            speed limit included; measured since the limit last changed, 0 before the first chunk.
        eta_s: wall time still to go, s; NaN while unknown.
        packets: data packets delivered so far.
        wall_s: wall time spent simulating, pauses left out, s.
    """

    state: JobState
    sim_time_s: float
    duration_s: float
    speed: float
    eta_s: float
    packets: int
    wall_s: float

    @property
    def fraction(self) -> float:
        """Share of the duration that is simulated, 0 to 1."""
        return min(1.0, self.sim_time_s / self.duration_s) if self.duration_s > 0 else 1.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Attributes:
        status: ``"finished"``, ``"stopped"`` or ``"failed"``.
        summary: the JSON document of a run, for the time that was simulated; empty if not even that could be had.
        run_id: number of the run in the store, or None if it is not (completely) there.
        store_error: why the store does not hold the run; None if it does or was not asked to.
        error: what made the simulation fail; None unless status is ``"failed"``.
        signature: the run signature, 16 hex digits; empty after a failure that left none.
    """

    status: JobState
    summary: dict[str, Any]
    run_id: int | None
    store_error: StoreError | None
    error: Exception | None
    signature: str


def decision_limits(scenario: Scenario, window_s: float | None = None) -> DecisionLimits:
    """What to record where decisions are asked for: everything, or what is within a window at the end, s."""
    from subflow_sim.decisions import DecisionLimits

    capacity = _MOST_DECISIONS
    if window_s is not None:
        flows = [flow for flow in scenario.flows.values() if not flow.sends_datagrams]
        deciding = sum(flow.most_copies * (len(flow.paths) + 1) for flow in flows)
        capacity = min(capacity, max(_LEAST_DECISIONS, _DECISIONS_TOGETHER // max(1, deciding)))
    return DecisionLimits(capacity, window_s)


SimulationMaker = Callable[["Scenario", int | None, float], RunnableSimulation]


def make_simulation(
    scenario: Scenario, seed: int | None, sample_interval_s: float, limits: Limits | None = None
) -> RunnableSimulation:
    """A simulation of the real core."""
    from subflow_sim.simulation import Simulation

    return Simulation(scenario, seed=seed, sample_interval_s=sample_interval_s, limits=limits)


class RunJob:
    """One run. `run` blocks and belongs into a worker thread; everything else is safe to call from any thread.

    Args:
        scenario: what to simulate.
        scenario_text: the TOML text of exactly this scenario; it is stored, so that the run can be repeated. Each live
            change becomes an event in it.
        seed: overrides the scenario's seed.
        store: where the run is kept; None keeps it in memory only.
        sample_interval_s: simulated time between two samples, s.
        name: name of the run; the scenario's name if left out.
        simulation_maker: makes the simulation; left out: `make_simulation`, the real core.
        limits: what the run may take at most; left out: the defaults, or what the environment says.
        decisions: record what controllers and schedulers decide, and why: within a window all that is in it at the end
            of the run, else everything.
        past: what lies behind it, if the simulation does not stand at its beginning; such a run is a fork of another.

    Attributes:
        traces: traces so far.

    Raises:
        SimError: if the simulator refuses the scenario, also because it would take too much.
    """

    def __init__(
        self,
        scenario: Scenario,
        scenario_text: str,
        *,
        seed: int | None = None,
        store: Store | None = None,
        sample_interval_s: float = DEFAULT_SAMPLE_INTERVAL_S,
        name: str | None = None,
        simulation_maker: SimulationMaker | None = None,
        speed_limit: float | None = None,
        limits: Limits | None = None,
        decisions: DecisionLimits | None = None,
        past: RunPast | None = None,
    ) -> None:
        self.scenario = scenario
        self.scenario_text = scenario_text
        self.name = name or scenario.name
        self.sample_interval_s = sample_interval_s
        self._store = store
        self.past = past
        maker = simulation_maker or (make_simulation if limits is None else partial(make_simulation, limits=limits))
        self._simulation = maker(scenario, seed, sample_interval_s)
        self._decisions = decisions
        if decisions is not None:
            self._simulation.record_decisions(decisions)
        self.traces = LiveTraces(self._simulation, scenario, title=self.name, sample_interval_s=sample_interval_s)
        if past is not None:
            self.traces.fork, self.traces.origin = past.fork, past.origin
        self._go = threading.Event()
        self._go.set()
        # Ends the wait of a paused run: it goes on, ends, or makes a change.
        self._wake = threading.Event()
        self._until_ns: int | None = None
        self._wanted: deque[Wanted] = deque()
        self.live_changes: tuple[LiveChange, ...] = ()  # changes made since the run began, in order
        self._stop = threading.Event()
        self._started = False
        self._started_at = datetime.now(UTC)
        self._result: RunResult | None = None
        self._speed_limit = speed_limit
        # Ends the wait of a paced run early: stop, pause and a new limit act at once.
        self._hurry = threading.Event()
        self._wall_s = 0.0
        self._paused_s = 0.0
        # Simulated time, and time on the clock that stands still in pauses, from which on the speed is measured, s.
        self._speed_since = (self._simulation.now_s, self._clock())
        # Read by other threads, replaced as a whole by this one: no lock needed.
        self._progress = self._measure(JobState.WAITING)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the scenario is likely to disappoint with, each a sentence without its full stop."""
        from subflow_sim.scenario_warnings import scenario_warnings  # which loads the compiled core

        return scenario_warnings(self.scenario)

    @property
    def seed(self) -> int:
        """Seed in use."""
        return self._simulation.seed

    @property
    def run_id(self) -> int | None:
        """Number of the run in its store, known soon after its start; None without one."""
        return self.traces.run_id

    @property
    def decisions_lost(self) -> int:
        """Decisions that came too fast or, with a window, were too many to be kept."""
        return self._simulation.decisions_lost

    @property
    def progress(self) -> RunProgress:
        """How far the run is; cheap enough to ask for at every frame."""
        return self._progress

    @property
    def is_held(self) -> bool:
        """Whether the run holds: after `pause`, or where `run_to` has sent it."""
        return not self._go.is_set()

    def pause(self) -> None:
        """Hold the simulation at once; without effect once the run is over."""
        self._until_ns = None
        self._go.clear()
        self._hurry.set()
        self._simulation.interrupt()

    def unpause(self) -> None:
        """Go on, to the end if nothing is said before."""
        self._until_ns = None
        self._set_going()

    def run_to(self, t_s: float) -> None:
        """Go on and hold exactly at `t_s`, s; at once if that has passed. What is simulated stays the same."""
        self._until_ns = round(t_s * NANOSECONDS)
        self._set_going()

    def _set_going(self) -> None:
        self._go.set()
        self._wake.set()

    def apply(self, values: Mapping[str, TomlValue]) -> Future[LiveChange]:
        """Change a link or a flow now, paused or not, and record that as an event of this run.

        Args:
            values: the keys of an `[[events]]` entry, without `at`.

        Returns:
            Has the change within milliseconds, or raises why nothing changes: ScenarioError for what the format does
            not allow, SimulationError for what the simulator refuses, also because the run is over, and TomlEditError.
        """
        wanted = Wanted(dict(values))
        self._wanted.append(wanted)
        self._simulation.interrupt()
        self._hurry.set()
        self._wake.set()
        if self._result is not None:
            self._refuse_waiting()
        return wanted.answer

    def stop(self) -> None:
        """End the run at once; what is simulated so far is kept, with status ``"stopped"``."""
        self._stop.set()
        self._set_going()
        self._hurry.set()
        self._simulation.interrupt()

    @property
    def speed_limit(self) -> float | None:
        """Simulated seconds per second of wall time at most; None is full speed."""
        return self._speed_limit

    def set_speed_limit(self, speed_limit: float | None) -> None:
        """Run at most this fast from now on; never changes what is simulated, only when."""
        self._speed_limit = speed_limit
        self._hurry.set()

    def run(self) -> RunResult:
        """Simulate to the end, or until `stop`.

        A failure of the store or of the simulation is part of the result, never raised.
        """
        if self._started:
            raise RuntimeError("a RunJob runs once")
        self._started = True
        self._started_at = datetime.now(UTC)
        recorder = self._recorder(self._store, is_over=False)
        error: Exception | None = None
        try:
            status = self._simulate(recorder)
        except Exception as exception:
            # Whatever went wrong inside the simulator, the samples up to here are sound and worth keeping.
            _log_failure(exception, f'run "{self.name}" failed at t = {self._simulation.now_s:.3f} s')
            status, error = JobState.FAILED, exception
        result = self._result = self._finish(recorder, status, error)
        self._progress = self._measure(result.status)
        self._refuse_waiting()
        return result

    def save_to(self, store: Store) -> int:
        """Store the whole run from memory once it is over, e.g. because the store it went to has failed.

        Returns:
            Its number in that store.

        Raises:
            StoreError: if that store cannot hold it either.
        """
        result = self._result
        if result is None:
            raise RuntimeError("the run is not over yet")
        recorder = self._recorder(store, is_over=True)
        recorder.finish(result.status.value, result.summary | {"run_id": recorder.run_id}, result.signature)
        if recorder.error is not None:
            raise recorder.error
        assert recorder.run_id is not None
        return recorder.run_id

    def _recorder(self, store: Store | None, *, is_over: bool) -> RunRecorder:
        return RunRecorder(
            store,
            self._simulation,
            self.traces,
            scenario=self.scenario,
            scenario_text=self.scenario_text,
            name=self.name,
            sample_interval_s=self.sample_interval_s,
            decisions=self._decisions,
            began_at=self._started_at if is_over else None,
            past=self.past,
        )

    def _simulate(self, recorder: RunRecorder) -> JobState:
        """Run chunk by chunk; each takes about `_CHUNK_WALL_S` of wall time, whatever the scenario."""
        simulation = self._simulation
        chunk_s = _FIRST_CHUNK_S
        limit = self._speed_limit
        due = time.perf_counter()
        self._speed_since = (simulation.now_s, self._clock())
        while not simulation.finished:
            self._make_changes(recorder)
            if self._has_come_to_hold():
                self._until_ns = None
                self._go.clear()
            if not self._go.is_set():
                self._progress = self._measure(JobState.PAUSED)
                recorder.record(everything=True)
                paused = time.perf_counter()
                while not self._go.is_set():
                    self._wake.wait()
                    self._wake.clear()
                    self._make_changes(recorder)
                due = time.perf_counter()
                self._paused_s += due - paused
                continue  # it may hold where it stands, too
            if self._stop.is_set():
                return JobState.STOPPED
            self._hurry.clear()
            if self._speed_limit != limit:
                # The speed so far tells nothing about the time to go.
                limit = self._speed_limit
                self._speed_since = (simulation.now_s, self._clock())
                due = time.perf_counter()
            slice_s = chunk_s if limit is None else min(chunk_s, limit * _PACED_SLICE_WALL_S)
            started = time.perf_counter()
            started_s = simulation.now_s
            target_s = min(started_s + slice_s, simulation.duration_s)
            until_ns = self._until_ns
            if until_ns is not None and until_ns / NANOSECONDS < target_s:
                target_s = until_ns / NANOSECONDS
                slice_s = target_s - started_s
            was_whole = simulation.run_until(target_s)
            chunk_wall_s = time.perf_counter() - started
            self._wall_s += chunk_wall_s
            self._progress = self._measure(JobState.RUNNING)
            recorder.record()
            if limit is not None:
                # A slice that came late is made up for by shorter waits; after a long hold-up that would look like a
                # jump.
                due = max(due, started - _LATEST_S) + (simulation.now_s - started_s) / limit
                self._wait_until(due)
            growth = _CHUNK_WALL_S / max(chunk_wall_s, 1e-9)
            if not was_whole or (slice_s < chunk_s and growth > 1.0):
                # A slice that was cut short or is a quick one says nothing about how much could be simulated in one go.
                continue
            chunk_s = max(_SHORTEST_CHUNK_S, slice_s * min(_CHUNK_GROWTH, max(1.0 / _CHUNK_GROWTH, growth)))
        return JobState.FINISHED

    def _has_come_to_hold(self) -> bool:
        until_ns = self._until_ns
        return until_ns is not None and round(self._simulation.now_s * NANOSECONDS) >= until_ns

    def _make_changes(self, recorder: RunRecorder) -> None:
        """Make the changes that were asked for, in their order."""
        while self._wanted:
            wanted = self._wanted.popleft()
            try:
                change = self._change(wanted.values)
            except Exception as error:
                # Of the person who asked: the run goes on without the change.
                wanted.answer.set_exception(error)
                continue
            self.live_changes = (*self.live_changes, change)
            self.traces.add_change(change.event)
            recorder.replace_scenario(self.scenario_text)
            _log.info('run "%s": live change %s at %.9f s', self.name, dict(change.values), change.event.at_s)
            wanted.answer.set_result(change)

    def _change(self, values: Mapping[str, TomlValue]) -> LiveChange:
        from subflow_sim.scenario_reader import read_change

        at_s = (round(self._simulation.now_s * NANOSECONDS) + 1) / NANOSECONDS
        event = read_change(self.scenario, {**values, "at": at_s})
        text = with_change(self.scenario_text, values, at_s)
        event = self._simulation.apply(event)
        self.scenario_text = text
        return LiveChange(event, values)

    def _refuse_waiting(self) -> None:

        while self._wanted:
            with contextlib.suppress(IndexError):  # another thread may have the same in mind
                self._wanted.popleft().answer.set_exception(SimulationError("the run is over"))

    def _wait_until(self, due: float) -> None:
        """Wait until then (perf_counter), so that a paced run does not get ahead."""
        remaining_s = due - time.perf_counter()
        # Stop, pause or a new limit may have come during the slice: then the event is set and this returns at once.
        if remaining_s > 0 and self._go.is_set() and not self._stop.is_set() and not self._wanted:
            self._hurry.wait(remaining_s)

    def _clock(self) -> float:
        """Seconds of wall time, pauses left out; only differences mean something."""
        return time.perf_counter() - self._paused_s

    def _finish(self, recorder: RunRecorder, status: JobState, error: Exception | None) -> RunResult:
        """Close the books: summary and signature of what was simulated, and the end of the stream to the store."""
        try:
            summary, signature = self._simulation.summary(), self._simulation.signature()
        except Exception as exception:
            # After a failure inside the core there may be no summary either; the samples are kept all the same.
            _log_failure(exception, f'run "{self.name}" has no summary')
            summary = {"scenario": self.scenario.name, "seed": self.seed, "duration_s": self._simulation.now_s}
            signature, status, error = "", JobState.FAILED, error or exception
        summary |= {"status": status.value, "wall_s": self._wall_s, "run_id": recorder.run_id}
        recorder.finish(status.value, summary, signature)
        if isinstance(recorder.error, StoreLocked) and not recorder.has_begun:
            # Whoever kept the database locked when the run began may have let go of it by now.
            recorder = self._recorder(self._store, is_over=True)
            recorder.finish(status.value, summary | {"run_id": recorder.run_id}, signature)
            self.traces.run_id = recorder.run_id
        # A run that the store lost on the way has no number there that anyone could use.
        summary["run_id"] = recorder.run_id
        start = run_start(
            self.scenario,
            self.scenario_text,
            name=self.name,
            seed=self.seed,
            sample_interval_s=self.sample_interval_s,
            fork=self.past.fork if self.past is not None else None,
        )
        row = finished_row(
            replace(start, started_at_utc=self._started_at),
            run_id=recorder.run_id,
            status=status.value,
            summary=summary,
            signature=signature,
        )
        self.traces.close(row)
        return RunResult(status, summary, recorder.run_id, recorder.error, error, signature)

    def _measure(self, state: JobState) -> RunProgress:
        now_s, duration_s = self._simulation.now_s, self._simulation.duration_s
        since_s, since_clock_s = self._speed_since
        elapsed_s = self._clock() - since_clock_s
        speed = (now_s - since_s) / elapsed_s if elapsed_s > 0 else 0.0
        eta_s = (duration_s - now_s) / speed if speed > 0 else math.nan
        return RunProgress(state, now_s, duration_s, speed, eta_s, self._simulation.packets, self._wall_s)


def _log_failure(error: Exception, what: str) -> None:
    """With its traceback, if it is a bug; the terminal shows what is logged."""
    if is_expected(error):
        _log.error("%s: %s", what, message_of(error))
    else:
        _log.error("%s", what, exc_info=error)


StepSize = Literal["sample", "event", "1ms", "100ms"]

_NANOSECONDS = 1_000_000_000
_LENGTHS_S: dict[StepSize, float] = {"1ms": 0.001, "100ms": 0.1}

SLOWEST = 0.01
FASTEST = 1000.0
_STEPS_PER_DECADE = 10
MOST_SPEED_STEPS = round(math.log10(FASTEST / SLOWEST) * _STEPS_PER_DECADE) + 1
"""The last position of the scale: as fast as it goes."""


def next_event_s(scenario: Scenario, now_s: float) -> float | None:
    """When something is next to happen that the scenario plans, s: an event, or a flow that starts or stops.

    Flows that arrive at random, and starts with a random delay, are known to the simulator alone.
    """
    times = [event.at_s for event in scenario.events]
    for flow in scenario.flows.values():
        if flow.arrivals is None and scenario.start_jitter_s == 0:
            times.append(flow.start_s)
        if flow.stop_s is not None:
            times.append(flow.stop_s)
    now_ns = round(now_s * _NANOSECONDS)
    to_come = (at_s for at_s in times if now_ns < round(at_s * _NANOSECONDS) and at_s < scenario.duration_s)
    return min(to_come, default=None)


def step_end_s(size: StepSize, scenario: Scenario, now_s: float, sample_interval_s: float) -> float:
    """Where a step from `now_s` ends, s: at the end of the run at the latest."""
    end_s = scenario.duration_s
    if size == "event":
        at_s = next_event_s(scenario, now_s)
        return end_s if at_s is None else at_s
    if size == "sample":
        # In whole nanoseconds: a sum of tenths of seconds would come to stand a little before a sample.
        interval_ns = max(1, round(sample_interval_s * _NANOSECONDS))
        return min(end_s, (round(now_s * _NANOSECONDS) // interval_ns + 1) * interval_ns / _NANOSECONDS)
    return min(end_s, (round(now_s * _NANOSECONDS) + round(_LENGTHS_S[size] * _NANOSECONDS)) / _NANOSECONDS)


def speed_at(position: int) -> float | None:
    """The speed limit at a position of the logarithmic scale from 0 to `MOST_SPEED_STEPS`; None: no limit."""
    if position >= MOST_SPEED_STEPS:
        return None
    exact = SLOWEST * 10.0 ** (max(0, position) / _STEPS_PER_DECADE)
    # Two digits: 0.1, 0.13, 0.16 and so on.
    return float(f"{exact:.2g}")


def position_of(limit: float | None) -> int:
    """The nearest position of a speed limit."""
    if limit is None:
        return MOST_SPEED_STEPS
    position = round(math.log10(max(limit, SLOWEST) / SLOWEST) * _STEPS_PER_DECADE)
    return min(MOST_SPEED_STEPS - 1, position)


def speed_text(limit: float | None) -> str:
    """A speed limit as a button says it: ``0.1×``; empty without a limit."""
    return "" if limit is None else f"{limit:g}×"
