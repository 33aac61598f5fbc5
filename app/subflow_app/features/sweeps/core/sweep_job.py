"""Carries out a sweep: reuses stored runs, simulates the missing ones, and stores each run when it ends.

Only the process of the sweep writes to the store. A run counts as finished as soon as the store contains it completely.
An interrupted sweep can therefore be resumed at any time, and then simulates only the missing runs.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from subflow_app.features.running.core.run_task import RunOutcome, RunTask, keep_run, make_run
from subflow_app.features.sweeps.core.plan_file import parse_plan, plan_text
from subflow_app.features.sweeps.core.sweep_estimate import SweepLimits, estimate_sweep
from subflow_app.features.sweeps.core.sweep_plan import PointReader, SweepPlan, check_points
from subflow_app.features.sweeps.core.sweep_results import SweepTable, stored_table
from subflow_app.features.traces.core.scenario_hash import run_key, simulator_version
from subflow_app.foundation.errors import SweepError, TooLargeSweepError
from subflow_app.foundation.jobs.executors import ExecutorMaker, executor_maker
from subflow_app.foundation.jobs.job import Batch, JobOutcome
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_sim.limits import Limits
from subflow_store.errors import StoreError
from subflow_store.liveness import HEARTBEAT_S, this_process
from subflow_store.values import SweepRunPlace, SweepStart

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import Store

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Wanted:
    """Identical runs, of which only one is simulated; `places` contains the point and the seed of each run."""

    key: str
    places: list[tuple[int, int]]
    scenario: Scenario | None = None  # only during the simulation


class SweepJob(Batch[_Wanted]):
    """One sweep. `run` blocks and belongs on a worker thread; all other methods may be called from any thread.

    Args:
        plan: plan to run.
        store: store for the sweep and its runs; a store in memory if they are not to be kept.
        jobs: number of simultaneous runs on this machine; if it is 1, runs are simulated in this process.
        cluster: address of a Ray cluster to run on; None: this machine.
        executor: creates the executor for the runs; None: an executor that suits `jobs` and `cluster`.
        limits: limits of the sweep; None: the limits from the environment.
        sweep_id: number of a stored sweep to resume; None: a new sweep.
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
        super().__init__(executor or executor_maker(jobs, cluster), plan.n_runs, plan.name)
        self.plan = plan
        self._store = store
        self._limits = limits
        self.sweep_id = sweep_id  # number of the sweep in the store; None until its points have been read
        self._said_at = 0.0
        self._finished_at = Counter[int]()  # number of finished runs by point
        self._failed_at = Counter[int]()

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
        """Create a job that carries out the missing runs of a stored sweep.

        Raises:
            SweepError: if a process is running the sweep, or if this version cannot read its plan.
            ScenarioError: if this version cannot read its scenario.
            RunNotFound: if the store has no such sweep.
            StoreError: if the sweep cannot be read.
        """
        record = store.sweeps.get(sweep_id)
        check_is_free(sweep_id, record.state, record.process_pid)
        plan = parse_plan(record.plan or "", file=f"sweep {sweep_id}")
        return cls(plan, store, jobs=jobs, cluster=cluster, executor=executor, limits=limits, sweep_id=sweep_id)

    @property
    def is_kept(self) -> bool:
        """True if the sweep can be resumed later; False if its store is only in memory."""
        return self._store.path is not None

    def table(self) -> SweepTable | None:
        """Read the current results from the store, which is too slow for every frame; None before the sweep is stored.

        Raises:
            StoreError: if the sweep cannot be read.
        """
        return None if self.sweep_id is None else stored_table(self._store, self.sweep_id)

    def ended_at(self, points: Iterable[int]) -> tuple[int, int]:
        """Numbers of finished and of failed runs at these points of the plan."""
        numbers = tuple(points)
        return sum(map(self._finished_at.__getitem__, numbers)), sum(map(self._failed_at.__getitem__, numbers))

    def run(self) -> JobOutcome:
        """Carry out the sweep to its end, or until `stop`.

        Failures of the store and of the cluster are reported in the outcome.

        Raises:
            SweepError: if the plan has problems or exceeds the limits; the sweep does not begin then.
        """
        outcome = super().run()
        if isinstance(outcome.error, SweepError):
            raise outcome.error
        return outcome

    def _work(self) -> None:
        hashes = self._checked()
        if hashes is not None:
            self._reader = PointReader(self.plan)
            self._make(self._begin(hashes))

    # ---- before the first run ----

    def _checked(self) -> list[str] | None:
        """Check the plan; returns the hash of each point's scenario, or None after `stop`.

        Raises:
            SweepError: if the plan has problems or exceeds the limits.
        """
        self._tell(state=JobState.CHECKING)
        limits = self._limits or SweepLimits.parse()
        try:
            # The limits apply to the upper bound. Trial runs are made only to state the time in the error message.
            limits.check(estimate_sweep(self.plan, is_tried=False), self._store.path)
        except TooLargeSweepError:
            limits.check(estimate_sweep(self.plan), self._store.path)
            raise
        hashes = check_points(
            self.plan,
            limits=Limits.from_environment(),
            is_cancelled=self._stop.is_set,
            progress=lambda done: self._tell(state=JobState.CHECKING, checked=done),
        )
        return None if self.is_stopped else hashes

    def _begin(self, hashes: Sequence[str]) -> list[_Wanted]:
        """Record the sweep in the store and link finished runs to it; returns the missing runs."""
        places = [
            SweepRunPlace(point, seed, key)
            for point, scenario in enumerate(hashes)
            for seed in self.plan.seeds
            for key in (self._key(scenario, seed),)
        ]
        sweeps = self._store.sweeps
        if self.sweep_id is None:
            points = [
                {key: value.text for key, value in zip(self.plan.keys, self.plan.swept(point), strict=True)}
                for point in self.plan.points()
            ]
            start = SweepStart(self.plan.name, plan_text(self.plan), simulator_version(), points, places)
            self.sweep_id = sweeps.add(start)
        else:
            sweeps.replace_keys(self.sweep_id, simulator_version(), places)
        sweeps.set_state(self.sweep_id, "running", process=this_process())
        self._said_at = time.monotonic()
        sweeps.link_finished(self.sweep_id, needs_traces=self.plan.keeps_traces)
        wanted: dict[str, _Wanted] = {}
        n_there = 0
        for row in sweeps.runs(self.sweep_id):
            if row.run_id is not None:
                n_there += 1
                self._finished_at[row.point] += 1
            else:
                wanted.setdefault(row.key, _Wanted(row.key, [])).places.append((row.point, row.seed))
        self._tell(state=JobState.RUNNING, finished=n_there, reused=n_there)
        return list(wanted.values())

    def _key(self, scenario: str, seed: int) -> str:
        return run_key(
            scenario,
            seed,
            sample_interval_s=self.plan.sample_interval_s,
            records_decisions=self.plan.records_decisions,
        )

    # ---- the runs ----

    def _task(self, wanted: _Wanted) -> Callable[[OnStart], RunOutcome]:
        point, seed = wanted.places[0]
        scenario = wanted.scenario = self._reader.scenario(self.plan.point(point))
        plan = self.plan
        task = RunTask(scenario, seed, plan.sample_interval_s, plan.keeps_traces, plan.records_decisions)
        return partial(make_run, task)

    def _keep(self, wanted: _Wanted, outcome: RunOutcome) -> None:
        if outcome.failure:
            self._give_up(wanted, outcome.failure)
            return
        point_number, seed = wanted.places[0]
        point = self.plan.point(point_number)
        scenario, wanted.scenario = wanted.scenario, None
        sweep_id = self.sweep_id
        assert sweep_id is not None
        assert scenario is not None
        keep_run(
            self._store,
            outcome,
            scenario,
            self._reader.text(point, scenario, seed),
            name=self.plan.run_name(point),
            seed=seed,
            sample_interval_s=self.plan.sample_interval_s,
            on_start=lambda run_id: self._store.sweeps.attach_run(
                sweep_id, wanted.places, run_id, wanted.key, has_traces=self.plan.keeps_traces
            ),
        )
        self._said_at = time.monotonic()
        self._finished_at.update(point for point, _seed in wanted.places)
        self._tell(finished=self._progress.finished + len(wanted.places))

    def _give_up(self, wanted: _Wanted, problem: str) -> None:
        _log.error("%s could not be made: %s", self._label(wanted), problem)
        self._problems.append(f"{self._label(wanted)}: {problem}")
        assert self.sweep_id is not None
        self._store.sweeps.set_message(self.sweep_id, wanted.places, problem)
        self._failed_at.update(point for point, _seed in wanted.places)
        self._tell(failed=self._progress.failed + len(wanted.places))

    def _label(self, wanted: _Wanted) -> str:
        point, seed = wanted.places[0]
        return f"point {point + 1} ({self.plan.label(self.plan.point(point))}), seed {seed}"

    # ---- reports ----

    def _say_alive(self, state: JobState, *, at_once: bool = False) -> None:
        """Renew the heartbeat, which shows other processes that this process runs the sweep."""
        if at_once or time.monotonic() - self._said_at > HEARTBEAT_S:
            assert self.sweep_id is not None
            self._store.sweeps.set_state(self.sweep_id, state.value, process=this_process())
            self._said_at = time.monotonic()

    def _settle(self, state: JobState) -> None:
        if not self._said_at:  # the sweep has not begun
            return
        assert self.sweep_id is not None
        try:
            self._store.sweeps.set_state(self.sweep_id, state.value, message="\n".join(self._problems))
        except StoreError as error:
            _log.error("the end of the sweep is not in the database: %s", error)


def check_is_free(sweep_id: int, state: str, pid: int) -> None:
    """Check that no process is running a sweep.

    Raises:
        SweepError: if a process is running the sweep.
    """
    if pid and state in ("running", "paused"):
        raise SweepError(f"sweep {sweep_id} is {state} in process {pid}: stop it there first")
