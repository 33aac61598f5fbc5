"""A sweep from start to end: what is there already is taken over, the rest is made, each run is stored when it ends.

The store is written by the process that has the sweep and by no other. A run counts once it is closed in the store, so
a sweep can be cut off anywhere and taken up again: what is missing is made.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from subflow_app.core.errors import ClusterError, SweepError
from subflow_app.core.jobs.progress import JobProgress, JobState
from subflow_app.core.running.run_key import run_key, simulator_version
from subflow_app.core.sweeps.executors import Executor, ExecutorMaker, executor_maker
from subflow_app.core.sweeps.plan_file import parse_plan, plan_text
from subflow_app.core.sweeps.sweep_estimate import SweepLimits, estimate_sweep
from subflow_app.core.sweeps.sweep_plan import SweepPlan
from subflow_app.core.sweeps.sweep_points import PointReader, check_points
from subflow_app.core.sweeps.sweep_results import stored_table
from subflow_app.core.sweeps.sweep_run import Answer, RunOutcome, RunTask, keep_run
from subflow_app.core.sweeps.sweep_table import SweepTable
from subflow_sim.limits import Limits
from subflow_store.errors import StoreError
from subflow_store.liveness import HEARTBEAT_S, this_process
from subflow_store.sweep_values import SweepRunPlace, SweepStart

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import Store

_log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often a run is tried whose worker dies."""

# How long an executor is waited for before pause and stop are asked for again.
_WAIT_S = 0.1
# Runs that must have ended in this session before their speed says when the rest will be done.
_KNOWN_SPEED = 2


@dataclass(frozen=True, slots=True)
class SweepResult:
    """How a sweep ended.

    Attributes:
        sweep_id: its number in the store; None if it never got there.
        state: finished, stopped or failed.
        progress: the last one.
        problems: what went wrong, a line each; runs that could not be made, and why the sweep did not go on.
        error: what ended the sweep before its time; None if nothing did.
    """

    sweep_id: int | None
    state: JobState
    progress: JobProgress
    problems: tuple[str, ...] = ()
    error: Exception | None = None


@dataclass(slots=True)
class _Pending:
    """Runs of the same key, of which one is made."""

    key: str
    places: list[tuple[int, int]]
    attempts: int = 0
    losses: list[str] = field(default_factory=list)
    scenario: Scenario | None = None  # while it is being made


class SweepJob:
    """One sweep. `run` blocks and belongs into a worker thread; everything else is safe to call from any thread.

    Args:
        plan: what to run.
        store: where runs and sweep are kept; for those that shall not be kept, one in memory.
        jobs: how many runs at once on this machine; 1: in this process.
        cluster: address of a Ray cluster to run on instead.
        executor: makes who makes the runs; None: as the two before say.
        limits: what the sweep may take at most; None: as the environment says.
        sweep_id: of a sweep of the store that goes on; None: a new one.
    """

    def __init__(
        self,
        plan: SweepPlan,
        store: Store,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        executor: ExecutorMaker | None = None,
        limits: SweepLimits | None = None,
        sweep_id: int | None = None,
    ) -> None:
        self.plan = plan
        self._store = store
        self._make_executor = executor or executor_maker(jobs, cluster)
        self._limits = limits
        self._sweep_id = sweep_id
        self._go = threading.Event()
        self._go.set()
        self._stop = threading.Event()
        self._executor: Executor | None = None
        self._executor_lock = threading.Lock()
        self._started = False
        self._began = 0.0
        self._paused_s = 0.0
        self._made = 0
        self._said_at = 0.0
        self._problems: list[str] = []
        # Read by other threads, replaced as a whole by the one that runs: no lock needed.
        self._progress = JobProgress(plan.n_runs, state=JobState.WAITING)

    @classmethod
    def resumed(
        cls,
        store: Store,
        sweep_id: int,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        executor: ExecutorMaker | None = None,
        limits: SweepLimits | None = None,
    ) -> SweepJob:
        """Goes on with a sweep of the store: makes the runs that are missing.

        Raises:
            SweepError: if another process is at it.
            RunNotFound: if there is no such sweep.
            StoreError: if it cannot be read.
        """
        record = store.sweeps.get(sweep_id)
        check_is_free(sweep_id, record.state, record.process_pid)
        plan = parse_plan(record.plan or "", file=f"sweep {sweep_id}")
        return cls(plan, store, jobs=jobs, cluster=cluster, executor=executor, limits=limits, sweep_id=sweep_id)

    @property
    def sweep_id(self) -> int | None:
        """Its number in the store; None until its points have been read."""
        return self._sweep_id

    @property
    def progress(self) -> JobProgress:
        """How far it is; cheap enough to ask for at every frame."""
        return self._progress

    def pause(self) -> None:
        """Begin no more runs; those under way are carried to their end."""
        self._go.clear()

    def resume(self) -> None:
        """Go on after a pause."""
        self._go.set()

    def stop(self) -> None:
        """End the sweep soon; runs that have ended are kept, those under way are given up."""
        self._stop.set()
        self._go.set()
        with self._executor_lock:
            if self._executor is not None:
                self._executor.stop()

    def table(self) -> SweepTable | None:
        """What is known so far; None before the sweep is in the store. Reads the store: not at every frame.

        Raises:
            StoreError: if it cannot be read.
        """
        return None if self._sweep_id is None else stored_table(self._store, self._sweep_id)

    def run(self) -> SweepResult:
        """Carry the sweep out, to its end or until `stop`.

        A store that fails and a cluster that is gone are part of the result.

        Raises:
            SweepError: if the plan has problems or takes more than the limits allow; nothing was begun then.
        """
        if self._started:
            raise RuntimeError("a SweepJob runs once")
        self._started = True
        hashes = self._checked()
        if hashes is None:
            return self._result(JobState.STOPPED)
        error: Exception | None = None
        state = JobState.FAILED
        try:
            pending = self._begin(hashes)
            state = self._make_runs(pending)
        except (StoreError, ClusterError) as exception:
            error = exception
            self._problems.append(str(exception))
        except BaseException as exception:
            self._end(JobState.FAILED, str(exception) or type(exception).__name__)
            raise
        self._end(state, "\n".join(self._problems))
        return self._result(state, error)

    # Before the first run

    def _checked(self) -> list[str] | None:
        """The hash of each point's scenario; None if it was stopped meanwhile.

        Raises:
            SweepError: with all that is wrong.
        """
        self._tell(JobState.CHECKING)
        (self._limits or SweepLimits.parse()).check(estimate_sweep(self.plan), self._store.path)
        hashes = check_points(
            self.plan,
            limits=Limits.from_environment(),
            is_cancelled=self._stop.is_set,
            progress=lambda done: self._tell(JobState.CHECKING, checked=done),
        )
        return None if self._stop.is_set() else hashes

    def _begin(self, hashes: list[str]) -> deque[_Pending]:
        """List the sweep, take over what is there, and tell what is missing."""
        places = [
            SweepRunPlace(point, seed, key)
            for point, scenario in enumerate(hashes)
            for seed in self.plan.seeds
            for key in (self._key(scenario, seed),)
        ]
        sweeps = self._store.sweeps
        if self._sweep_id is None:
            points = [
                {key: value.text for key, value in zip(self.plan.keys, self.plan.swept(point), strict=True)}
                for point in self.plan.points()
            ]
            start = SweepStart(self.plan.name, plan_text(self.plan), simulator_version(), points, places)
            self._sweep_id = sweeps.add(start)
        else:
            sweeps.replace_keys(self._sweep_id, simulator_version(), places)
        sweeps.set_state(self._sweep_id, "running", process=this_process())
        self._said_at = time.monotonic()
        sweeps.link_finished(self._sweep_id, needs_traces=self.plan.keeps_traces)
        pending: dict[str, _Pending] = {}
        n_there = 0
        for row in sweeps.runs(self._sweep_id):
            if row.run_id is not None:
                n_there += 1
            else:
                pending.setdefault(row.key, _Pending(row.key, [])).places.append((row.point, row.seed))
        self._tell(JobState.RUNNING, finished=n_there, reused=n_there)
        return deque(pending.values())

    def _key(self, scenario: str, seed: int) -> str:
        return run_key(
            scenario,
            seed,
            sample_interval_s=self.plan.sample_interval_s,
            records_decisions=self.plan.records_decisions,
        )

    # Making the runs

    def _make_runs(self, pending: deque[_Pending]) -> JobState:
        self._began = time.monotonic()
        if pending and not self._stop.is_set():
            executor = self._make_executor()
            with self._executor_lock:
                self._executor = executor
            try:
                self._carry_out(pending, executor)
            finally:
                with self._executor_lock:
                    self._executor = None
                executor.close()
        if self._stop.is_set() and self._progress.fraction < 1.0:
            return JobState.STOPPED
        return JobState.FAILED if self._progress.failed else JobState.FINISHED

    def _carry_out(self, pending: deque[_Pending], executor: Executor) -> None:
        """Hand out, take back and store, with no more under way than the executor needs."""
        reader = PointReader(self.plan)
        under_way: dict[int, _Pending] = {}
        number = 0
        self._tell(JobState.RUNNING, jobs=executor.jobs)
        while (pending or under_way) and not self._stop.is_set():
            while pending and len(under_way) < executor.slots and self._go.is_set():
                number += 1
                under_way[number] = pending.popleft()
                executor.submit(self._task(reader, number, under_way[number]))
            self._tell_running(under_way, executor)
            if not under_way:  # paused
                began = time.monotonic()
                while not self._go.wait(_WAIT_S):
                    self._say_alive("paused")
                self._paused_s += time.monotonic() - began
                self._say_alive("running", at_once=True)
                continue
            answers = executor.wait(_WAIT_S)
            for answer in answers:
                self._take(reader, pending, under_way.pop(answer.number), answer)
            self._say_alive("running" if self._go.is_set() else "paused")
        self._tell_running({}, executor)

    def _task(self, reader: PointReader, number: int, wanted: _Pending) -> RunTask:
        point, seed = wanted.places[0]
        scenario = wanted.scenario = reader.scenario(self.plan.point(point))
        plan = self.plan
        return RunTask(number, scenario, seed, plan.sample_interval_s, plan.keeps_traces, plan.records_decisions)

    def _take(self, reader: PointReader, pending: deque[_Pending], wanted: _Pending, answer: Answer) -> None:
        if answer.outcome is None:
            wanted.attempts += 1
            wanted.losses.append(answer.loss)
            if wanted.attempts < ATTEMPTS:
                _log.warning("%s is made again: %s", self._label(wanted), answer.loss)
                pending.append(wanted)
            else:
                told = ", ".join(dict.fromkeys(wanted.losses))
                self._give_up(wanted, f"tried {wanted.attempts} times, and each time {told}")
            return
        outcome = answer.outcome
        if outcome.version != simulator_version():
            raise ClusterError(
                f"a worker has another version of Subflow ({outcome.version}) than this machine "
                f"({simulator_version()}): install the same one on all machines of the cluster"
            )
        if outcome.status != "finished":
            self._give_up(wanted, outcome.problem or f"the run was {outcome.status}")
            return
        self._keep(reader, wanted, outcome)

    def _keep(self, reader: PointReader, wanted: _Pending, outcome: RunOutcome) -> None:
        point_number, seed = wanted.places[0]
        point = self.plan.point(point_number)
        scenario, wanted.scenario = wanted.scenario, None
        sweep_id = self._sweep_id
        assert sweep_id is not None
        assert scenario is not None
        keep_run(
            self._store,
            outcome,
            scenario,
            reader.text(point, scenario, seed),
            name=f"{self.plan.name}: {self.plan.label(point)}",
            seed=seed,
            sample_interval_s=self.plan.sample_interval_s,
            on_start=lambda run_id: self._store.sweeps.attach_run(
                sweep_id, wanted.places, run_id, wanted.key, has_traces=self.plan.keeps_traces
            ),
        )
        self._said_at = time.monotonic()
        self._made += 1
        self._tell(JobState.RUNNING, finished=self._progress.finished + len(wanted.places))

    def _give_up(self, wanted: _Pending, problem: str) -> None:
        _log.error("%s could not be made: %s", self._label(wanted), problem)
        self._problems.append(f"{self._label(wanted)}: {problem}")
        assert self._sweep_id is not None
        self._store.sweeps.set_message(self._sweep_id, wanted.places, problem)
        self._tell(JobState.RUNNING, failed=self._progress.failed + len(wanted.places))

    def _label(self, wanted: _Pending) -> str:
        point, seed = wanted.places[0]
        return f"point {point + 1} ({self.plan.label(self.plan.point(point))}), seed {seed}"

    # Telling

    def _tell_running(self, under_way: Iterable[int], executor: Executor) -> None:
        n_under_way = len(list(under_way))
        elapsed_s = time.monotonic() - self._began - self._paused_s
        progress = self._progress
        rest = progress.runs - progress.finished - progress.failed
        eta_s = math.nan
        if self._made >= min(_KNOWN_SPEED, rest) and self._made:
            eta_s = rest * elapsed_s / self._made
        state = JobState.RUNNING if self._go.is_set() else JobState.PAUSED
        self._tell(
            state,
            under_way=min(n_under_way, executor.jobs),
            eta_s=eta_s,
            elapsed_s=elapsed_s,
            jobs=executor.jobs,
        )

    def _tell(self, state: JobState, **changes: Any) -> None:
        self._progress = replace(self._progress, state=state, **changes)

    def _say_alive(self, state: str, *, at_once: bool = False) -> None:
        """Renew the heartbeat, by which others know that somebody is at the sweep."""
        if at_once or time.monotonic() - self._said_at > HEARTBEAT_S:
            assert self._sweep_id is not None
            self._store.sweeps.set_state(self._sweep_id, state, process=this_process())
            self._said_at = time.monotonic()

    def _end(self, state: JobState, message: str) -> None:
        self._tell(state, under_way=0)
        if self._sweep_id is None:
            return
        try:
            self._store.sweeps.set_state(self._sweep_id, state.value, message=message)
        except StoreError as error:
            _log.error("the end of the sweep is not in the database: %s", error)

    def _result(self, state: JobState, error: Exception | None = None) -> SweepResult:
        self._tell(state)
        return SweepResult(self._sweep_id, state, self._progress, tuple(self._problems), error)


def check_is_free(sweep_id: int, state: str, pid: int) -> None:
    """Refuse a sweep that somebody is at.

    Raises:
        SweepError: naming the process.
    """
    if pid and state in ("running", "paused"):
        raise SweepError(f"sweep {sweep_id} is {state} in process {pid}: stop it there first")
