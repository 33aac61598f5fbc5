"""Carries out one run in short chunks, and reports its progress; also steps and the scale of the speed limit.

Samples and marks are streamed to the store while the run is active. If the store fails, the run continues in memory.
`RunResult.store_error` then describes the failure, so that the traces can be exported or saved elsewhere. Errors in the
display do not affect the run.

A step ends at the next planned event, at the next sample, or after a fixed time. The scale of speeds is logarithmic.
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

# Maximum number of buffered decisions per subflow or connection, several times as many as in a chunk of a fast run.
_MOST_DECISIONS = 1 << 18
# If only a window of decisions is recorded, the buffers are kept until the end of the run. These are the minimum
# capacity of each buffer, and the total capacity of all buffers, which needs less than a gigabyte. If a scenario has
# very many flows, the minimum takes precedence.
_LEAST_DECISIONS = 1 << 12
_DECISIONS_TOGETHER = 1 << 22

# Wall time of a chunk of simulation, s: short enough for pause and stop to act soon, and long enough for an overhead
# below 1 %.
_CHUNK_WALL_S = 0.015
# The first chunk is short, because the speed of this scenario is still unknown.
_FIRST_CHUNK_S = 0.001
# Maximum factor by which a chunk grows or shrinks, so that one slow or idle period has little influence.
_CHUNK_GROWTH = 4.0
_SHORTEST_CHUNK_S = 1e-6
# With a speed limit, the run is simulated in slices of this wall time, s: 60 slices per second look continuous.
_PACED_SLICE_WALL_S = 1 / 60
# Maximum delay that a run with a speed limit makes up for, s of wall time.
_LATEST_S = 0.25


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Progress of a run.

    Attributes:
        state: waiting, running, paused or a final state.
        sim_time_s: current simulated time, s.
        duration_s: simulated time at which the run ends, s.
        speed: simulated seconds per second of wall time since the speed limit last changed, excluding pauses but
            including the waits that the limit causes; 0 before the first chunk.
        eta_s: remaining wall time, s; NaN while unknown.
        packets: number of data packets delivered.
        wall_s: wall time spent simulating, without pauses, s.
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
        """Simulated share of the duration, 0 to 1."""
        return min(1.0, self.sim_time_s / self.duration_s) if self.duration_s > 0 else 1.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a run.

    Attributes:
        status: ``"finished"``, ``"stopped"`` or ``"failed"``.
        summary: the JSON document about the simulated part of the run; reduced to a few keys if the core fails to
            compute it.
        run_id: number of the run in the store, or None if it is not (completely) stored.
        store_error: why the store does not contain the run; None if it does, or if no store was given.
        error: the failure of the simulation; None unless status is ``"failed"``.
        signature: the run signature, 16 hex digits; empty if a failure prevented it.
    """

    status: JobState
    summary: dict[str, Any]
    run_id: int | None
    store_error: StoreError | None
    error: Exception | None
    signature: str


def decision_limits(scenario: Scenario, window_s: float | None = None) -> DecisionLimits:
    """Limits for recording the decisions of the whole run, or of its last `window_s` seconds."""
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
    """Create a simulation in the compiled core. If `limits` is None, they come from the environment or are built in."""
    from subflow_sim.simulation import Simulation

    return Simulation(scenario, seed=seed, sample_interval_s=sample_interval_s, limits=limits)


class RunJob:
    """One run. `run` blocks and belongs on a worker thread; all other methods may be called from any thread.

    Args:
        scenario: scenario to simulate.
        scenario_text: the TOML text of exactly this scenario. It is stored, so that the run can be repeated. Each live
            change is appended to it as an event.
        seed: replaces the seed of the scenario; None keeps it.
        store: store for the run; None keeps it in memory only.
        sample_interval_s: simulated time between two samples, s.
        name: name of the run; default: the name of the scenario.
        simulation_maker: creates the simulation; default: `make_simulation`, with the compiled core.
        speed_limit: maximum speed in simulated seconds per second of wall time; None: no limit.
        limits: limits on the resources of the run; default: from the environment, else the built-in limits.
        decisions: limits of the recorded decisions of controllers and schedulers, for the whole run or for a window at
            its end; None: no recording.
        past: history of the simulation if it starts later than 0 as a fork of another run; else None.
        is_measured: whether `simulation_maker` makes a measurement in real time, which can be neither paused nor
            slowed.

    Attributes:
        traces: the traces, which grow during the run.

    Raises:
        SimError: if the simulator refuses the scenario, e.g. because it would exceed the limits.
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
        is_measured: bool = False,
    ) -> None:
        self.is_measured = is_measured
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
        self.traces = LiveTraces(
            self._simulation,
            scenario,
            title=self.name,
            sample_interval_s=sample_interval_s,
            is_measured=is_measured,
        )
        if past is not None:
            self.traces.fork, self.traces.origin = past.fork, past.origin
        self._go = threading.Event()
        self._go.set()
        # Wakes a paused run, which then continues, stops or makes a change.
        self._wake = threading.Event()
        self._until_ns: int | None = None
        self._wanted: deque[Wanted] = deque()
        self.live_changes: tuple[LiveChange, ...] = ()  # changes made since the run began, in order
        self._stop = threading.Event()
        self._started = False
        self._started_at = datetime.now(UTC)
        self._result: RunResult | None = None
        self._speed_limit = None if is_measured else speed_limit
        # Wakes a run that waits because of its speed limit, so that stop, pause and a new limit act immediately.
        self._hurry = threading.Event()
        self._wall_s = 0.0
        self._paused_s = 0.0
        # Simulated time, and wall time without pauses, at which the speed measurement began, s.
        self._speed_since = (self._simulation.now_s, self._clock())
        # Replaced as a whole by the simulation thread, so that other threads can read it without a lock.
        self._progress = self._measure(JobState.WAITING)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Likely problems of the scenario, each a sentence without its full stop."""
        from subflow_sim.scenario_warnings import scenario_warnings  # loads the compiled core

        return scenario_warnings(self.scenario)

    @property
    def seed(self) -> int:
        """Seed of the run, from the argument `seed` or else from the scenario."""
        return self._simulation.seed

    @property
    def run_id(self) -> int | None:
        """Number of the run in its store, known soon after its start; None if it is not stored."""
        return self.traces.run_id

    @property
    def store(self) -> Store | None:
        """Store for the run; None if it is kept in memory only."""
        return self._store

    @property
    def decisions_lost(self) -> int:
        """Number of decisions that were dropped because a buffer was full."""
        return self._simulation.decisions_lost

    @property
    def progress(self) -> RunProgress:
        """The current progress, cheap enough to read at every frame."""
        return self._progress

    @property
    def is_held(self) -> bool:
        """True while the run is paused, after `pause` or at the end of `run_to`."""
        return not self._go.is_set()

    def pause(self) -> None:
        """Pause the simulation immediately; no effect after the run has ended, or on a measured run."""
        if self.is_measured:
            return
        self._until_ns = None
        self._go.clear()
        self._hurry.set()
        self._simulation.interrupt()

    def unpause(self) -> None:
        """Continue to the end of the run, without the pause requested by `run_to`."""
        self._until_ns = None
        self._set_going()

    def run_to(self, t_s: float) -> None:
        """Continue, and pause exactly at `t_s`, s, or immediately if that has passed. Pauses do not affect results.

        No effect on a measured run.
        """
        if self.is_measured:
            return
        self._until_ns = round(t_s * NANOSECONDS)
        self._set_going()

    def _set_going(self) -> None:
        self._go.set()
        self._wake.set()

    def apply(self, values: Mapping[str, TomlValue]) -> Future[LiveChange]:
        """Change a link or a flow now, even while paused, and record the change as an event of this run.

        Args:
            values: the keys of an `[[events]]` entry, without `at`.

        Returns:
            A future that resolves to the change within milliseconds, or raises an exception if nothing changes:
            ScenarioError if the format does not permit the change, SimulationError if the simulator refuses it or the
            run has ended, or TomlEditError if no event can be appended to the scenario text.
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
        """End the run immediately. The simulated part is kept, with status ``"stopped"``."""
        self._stop.set()
        self._set_going()
        self._hurry.set()
        self._simulation.interrupt()

    @property
    def speed_limit(self) -> float | None:
        """Maximum speed in simulated seconds per second of wall time; None: no limit."""
        return self._speed_limit

    def set_speed_limit(self, speed_limit: float | None) -> None:
        """Limit the speed from now on. Limits do not affect results, and have no effect on a measured run."""
        self._speed_limit = None if self.is_measured else speed_limit
        self._hurry.set()

    def run(self) -> RunResult:
        """Simulate to the end, or until `stop`.

        Failures of the store or of the simulation are reported in the result, never raised.

        Raises:
            RuntimeError: if the method was called before.
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
            # The samples before a failure of the simulator are valid and worth keeping.
            _log_failure(exception, f'run "{self.name}" failed at t = {self._simulation.now_s:.3f} s')
            status, error = JobState.FAILED, exception
        result = self._result = self._finish(recorder, status, error)
        self._progress = self._measure(result.status)
        self._refuse_waiting()
        return result

    def save_to(self, store: Store) -> int:
        """Store the whole run from memory after its end, e.g. because its original store has failed.

        Returns:
            Number of the run in the given store.

        Raises:
            RuntimeError: if the run has not ended.
            StoreError: if the given store fails.
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
        """Simulate in chunks, each of which takes about `_CHUNK_WALL_S` of wall time unless the speed is limited."""
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
                continue  # in the meantime, another pause, stop or change may have been requested
            if self._stop.is_set():
                return JobState.STOPPED
            self._hurry.clear()
            if self._speed_limit != limit:
                # The speed under the old limit does not predict the remaining time.
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
                # Shorter waits make up for a late slice. After a long delay, this would look like a jump.
                due = max(due, started - _LATEST_S) + (simulation.now_s - started_s) / limit
                self._wait_until(due)
            growth = _CHUNK_WALL_S / max(chunk_wall_s, 1e-9)
            if not was_whole or (slice_s < chunk_s and growth > 1.0):
                # An interrupted or shortened slice does not show how much simulated time fits into a chunk.
                continue
            chunk_s = max(_SHORTEST_CHUNK_S, slice_s * min(_CHUNK_GROWTH, max(1.0 / _CHUNK_GROWTH, growth)))
        return JobState.FINISHED

    def _has_come_to_hold(self) -> bool:
        until_ns = self._until_ns
        return until_ns is not None and round(self._simulation.now_s * NANOSECONDS) >= until_ns

    def _make_changes(self, recorder: RunRecorder) -> None:
        """Make the requested changes in order."""
        while self._wanted:
            wanted = self._wanted.popleft()
            try:
                change = self._change(wanted.values)
            except Exception as error:
                # A refused change affects only its caller. The run continues without the change.
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
            with contextlib.suppress(IndexError):  # another thread may empty the queue at the same time
                self._wanted.popleft().answer.set_exception(SimulationError("the run is over"))

    def _wait_until(self, due: float) -> None:
        """Wait until `due` (a time of perf_counter), so that the run does not exceed its speed limit."""
        remaining_s = due - time.perf_counter()
        # If a stop, pause or new limit was requested during the slice, `_hurry` is set and the wait ends immediately.
        if remaining_s > 0 and self._go.is_set() and not self._stop.is_set() and not self._wanted:
            self._hurry.wait(remaining_s)

    def _clock(self) -> float:
        """Wall time without pauses, from an arbitrary origin, s."""
        return time.perf_counter() - self._paused_s

    def _finish(self, recorder: RunRecorder, status: JobState, error: Exception | None) -> RunResult:
        """Compute the summary and signature of the simulated part, and complete the run in the store."""
        try:
            summary, signature = self._simulation.summary(), self._simulation.signature()
        except Exception as exception:
            # After a failure of the core, computing the summary may fail as well. The samples are kept nevertheless.
            _log_failure(exception, f'run "{self.name}" has no summary')
            summary = {"scenario": self.scenario.name, "seed": self.seed, "duration_s": self._simulation.now_s}
            signature, status, error = "", JobState.FAILED, error or exception
        summary |= {"status": status.value, "wall_s": self._wall_s, "run_id": recorder.run_id}
        recorder.finish(status.value, summary, signature)
        if isinstance(recorder.error, StoreLocked) and not recorder.has_begun:
            # The process that had locked the database at the start of the run may have released it by now.
            recorder = self._recorder(self._store, is_over=True)
            recorder.finish(status.value, summary | {"run_id": recorder.run_id}, signature)
            self.traces.run_id = recorder.run_id
        # A run that the store failed to complete has no usable number in it.
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
        if self.is_measured:
            speed = 1.0 if now_s > 0 else 0.0  # it begins some time after the job
        eta_s = (duration_s - now_s) / speed if speed > 0 else math.nan
        return RunProgress(state, now_s, duration_s, speed, eta_s, self._simulation.packets, self._wall_s)


def _log_failure(error: Exception, what: str) -> None:
    """Log a failure, with a traceback only if it is a bug."""
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
"""The last position of the scale: no limit."""


def next_event_s(scenario: Scenario, now_s: float) -> float | None:
    """Time of the next planned event, flow start or flow stop before the end of the run, s; None if nothing is left.

    Flow starts at random times are not included, because only the simulator draws these times.
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
    """Time at which a step from `now_s` ends, s; at most the end of the run."""
    end_s = scenario.duration_s
    if size == "event":
        at_s = next_event_s(scenario, now_s)
        return end_s if at_s is None else at_s
    if size == "sample":
        # Computed in whole nanoseconds, because a sum of tenths of seconds could end slightly before a sample.
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
    """The position on the scale nearest to a speed limit; `MOST_SPEED_STEPS` for no limit."""
    if limit is None:
        return MOST_SPEED_STEPS
    position = round(math.log10(max(limit, SLOWEST) / SLOWEST) * _STEPS_PER_DECADE)
    return min(MOST_SPEED_STEPS - 1, position)


def speed_text(limit: float | None) -> str:
    """A speed limit as text, e.g. ``0.1×``; empty for no limit."""
    return "" if limit is None else f"{limit:g}×"
