"""Experiments of the kind `runs`: simulation runs, which are executed and stored as sweeps."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from subflow_app.features.catalog.core.catalog import app_catalog, policy_library
from subflow_app.features.catalog.core.former_policies import hash_now
from subflow_app.features.catalog.core.uses import recorded_policies
from subflow_app.features.gallery.core.kind import Values
from subflow_app.features.gallery.core.measures import MEASURES, RunMeasure
from subflow_app.features.gallery.core.measuring import capacity_course
from subflow_app.features.gallery.core.planning import ExperimentPlan, Part, Place, plan_experiment
from subflow_app.features.gallery.core.recipe import Measure, MeasureKind, Recipe
from subflow_app.features.gallery.core.run_data import RunData
from subflow_app.features.sweeps.core.plan_file import plan_text
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_plan import PointReader
from subflow_app.foundation.jobs.job import Job
from subflow_app.foundation.jobs.progress import JobProgress
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.foundation.jobs.executors import ExecutorMaker
    from subflow_sim.section_reader import Report
    from subflow_store import Store


class RunsKind:
    """Implements `Kind` for simulation runs."""

    name = "runs"
    measures: Mapping[str, MeasureKind] = MEASURES
    tables: Sequence[str] = ()
    series_keys: Sequence[str] = ()
    quick_keys: Sequence[str] = ()
    needs_scenario = True

    def read(self, report: Report, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an empty table, because this kind adds no keys to recipes."""
        return {}

    def job(
        self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int], executor: ExecutorMaker
    ) -> Job:
        """A job that executes the runs."""
        return RunsJob(plan_experiment(recipe, is_quick=is_quick, seeds=seeds), store, executor)

    def stored(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> Values | None:
        """Stored runs of the experiment; None before the first run."""
        # Checking the scenario of every point would delay the gallery by seconds, so it happens only if sweeps are
        # missing.
        plan = plan_experiment(recipe, is_quick=is_quick, seeds=seeds, is_checked=False)
        found = _sweeps(store, plan)
        if len(found) < len(plan.parts):
            plan = plan_experiment(recipe, is_quick=is_quick, seeds=seeds)
            found = _sweeps(store, plan)
        if not found and plan.parts:
            return None
        return RunValues(recipe, store, plan, found, tuple(seeds))


def _sweeps(store: Store, plan: ExperimentPlan) -> list[tuple[Part, int]]:
    """The parts whose sweep is in the store, each with the number of the sweep."""
    found = []
    for part in plan.parts:
        record = store.sweeps.of_plan(plan_text(part.plan))
        if record is not None:
            found.append((part, record.id))
    return found


class RunsJob(Job):
    """Runs the sweeps of an experiment one after the other.

    Args:
        plan: the plan of the experiment.
        store: store for the runs; existing runs are reused.
        executor: creates the executor of the runs.
    """

    def __init__(self, plan: ExperimentPlan, store: Store, executor: ExecutorMaker) -> None:
        super().__init__()
        self._plan = plan
        self._store = store
        self._executor = executor
        # The working thread replaces the whole tuple, because other threads may read it at any time.
        self._sweeps: tuple[SweepJob, ...] = ()

    @property
    def progress(self) -> JobProgress:
        """Progress over all sweeps."""
        progresses = [sweep.progress for sweep in self._sweeps]
        latest = progresses[-1] if progresses else None
        runs = self._plan.n_runs
        waiting = runs - sum(each.runs for each in progresses)
        eta_s = math.nan if latest is None else latest.eta_s
        if latest is not None and waiting > 0 and latest.runs and not math.isnan(eta_s):
            made = latest.finished - latest.reused
            eta_s += waiting * latest.elapsed_s / made if made else 0.0
        return JobProgress(
            runs,
            sum(each.finished for each in progresses),
            sum(each.reused for each in progresses),
            sum(each.failed for each in progresses),
            eta_s,
        )

    def stop(self) -> None:
        """Stop soon; finished runs are kept."""
        super().stop()
        for sweep in self._sweeps:
            sweep.stop()

    def _work(self) -> None:
        for part in self._plan.parts:
            record = self._store.sweeps.of_plan(plan_text(part.plan))
            if record is None:
                sweep = SweepJob(part.plan, self._store, executor=self._executor)
            else:
                sweep = SweepJob.resumed(self._store, record.id, executor=self._executor)
            self._sweeps = (*self._sweeps, sweep)
            if self.is_stopped:
                return
            outcome = sweep.run()
            self._problems += outcome.problems
            outcome.check()


@dataclass(frozen=True, slots=True)
class _Siblings:
    """Implements `Siblings` for one run of an experiment."""

    values: RunValues
    point: str
    seed: int

    def other(self, series: str) -> RunData | None:
        return self.values.run(series, self.point, self.seed)

    def all(self) -> Iterator[RunData]:
        return self.values.all_runs()


class RunValues:
    """Values measured in the runs of an experiment.

    Args:
        recipe: the experiment.
        store: store of the runs.
        plan: the plan of the experiment.
        sweeps: parts in the store, with the numbers of their sweeps.
        seeds: seeds of each point, in order.
    """

    note = ""

    def __init__(
        self,
        recipe: Recipe,
        store: Store,
        plan: ExperimentPlan,
        sweeps: Sequence[tuple[Part, int]],
        seeds: Sequence[int],
    ) -> None:
        self._recipe = recipe
        self._seeds = seeds
        self._problems = dict(plan.problems)
        self._runs: dict[tuple[str, str, int], RunData] = {}
        self._values: dict[tuple[str, str, str], tuple[float, ...]] = {}
        for part, sweep_id in sweeps:
            self._read(store, part, sweep_id)
        self._sweeps = tuple(sweep_id for _, sweep_id in sweeps)

    def _read(self, store: Store, part: Part, sweep_id: int) -> None:
        reader = PointReader(part.plan)
        points = list(part.plan.points())
        found = store.sweeps.figures(sweep_id, _is_wanted)
        policies = _Policies(store, part)
        for (number, seed), (run_id, figures) in found.items():
            series, point = part.places[number]
            other = policies.other(number, run_id)
            if other:
                self._problems[series, point] = other
                continue
            scenario = partial(reader.scenario, points[number])
            siblings = _Siblings(self, point, seed)
            self._runs[series, point, seed] = RunData(store, run_id, figures, scenario, siblings)
        if len(found) < len(points) * len(self._seeds):
            for row in store.sweeps.runs(sweep_id):
                if row.run_id is None:
                    place = part.places[row.point]
                    self._problems.setdefault(place, row.message or "not all of its runs have been made")

    def run(self, series: str, point: str, seed: int) -> RunData | None:
        """A finished run; None if it is missing."""
        return self._runs.get((series, point, seed))

    def all_runs(self) -> Iterator[RunData]:
        """All finished runs."""
        return iter(self._runs.values())

    def run_ids(self, series: str | None, point: str | None) -> tuple[int, ...]:
        """Numbers of the stored runs of a series at a point; None selects all series or points."""
        return tuple(
            run.run_id
            for (of_series, at_point, _), run in self._runs.items()
            if series in (None, of_series) and point in (None, at_point)
        )

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        """A value for each seed; NaN for missing runs."""
        key = (measure, series, point)
        if key not in self._values:
            asked = self._recipe.measures[measure]
            kind = asked.kind
            assert isinstance(kind, RunMeasure)
            runs = [self.run(series, point, seed) for seed in self._seeds]
            self._values[key] = tuple(math.nan if run is None else _value(run, asked) for run in runs)
        return self._values[key]

    def measured(self) -> dict[int, dict[str, float]]:
        """The values of measures that need traces, by run and key; unknown values are missing."""
        found: dict[int, dict[str, float]] = {}
        for name, asked in self._recipe.measures.items():
            for series, point in self.places if asked.needs_traces else ():
                runs = [self.run(series, point, seed) for seed in self._seeds]
                for run, value in zip(runs, self.values(name, series, point), strict=True):
                    if run is not None and math.isfinite(value):
                        found.setdefault(run.run_id, {})[measured_key(asked)] = value
        return found

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Times and values of a run; None if the run is missing or the measure is not a time series."""
        run = self.run(series, point, seed)
        asked = self._recipe.measures[measure]
        kind = asked.kind
        if run is None or not isinstance(kind, RunMeasure) or kind.course is None:
            return None
        course = kind.course(run, asked.options)
        return course if isinstance(course, tuple) else (run.times_s, course)

    def capacity(self, links: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Times and the sum of the rates of links, bit/s; None if the run is missing."""
        run = self.run(series, point, seed)
        return None if run is None else (run.times_s, capacity_course(run, links))

    def problem(self, series: str, point: str) -> str:
        """Reason for missing values; empty if all exist."""
        return self._problems.get((series, point), "")

    def records(self) -> Records:
        """The runs and sweeps from which the values were read."""
        return Records(tuple(dict.fromkeys(self.run_ids(None, None))), self._sweeps)

    @property
    def places(self) -> tuple[Place, ...]:
        """Pairs of series and point with at least one run."""
        return tuple(dict.fromkeys((series, point) for series, point, _ in self._runs))


class _Policies:
    """Compares the policies of stored runs with those that their names mean now.

    The plan of a sweep contains names of policies, not their contents. A run whose policy file has changed since is no
    result of the recipe.
    """

    def __init__(self, store: Store, part: Part) -> None:
        self._store = store
        self._part = part
        self._library = policy_library()
        self._learners = app_catalog().learners
        self._may_all_learn = self._may_learn(part.plan.scenario_text)
        self._now: dict[str, str] = {}

    def _may_learn(self, text: str) -> bool:
        """True if a text of a scenario may choose a learning agent; saves reading the summaries of all other runs."""
        return any(name in text for name in self._learners)

    def other(self, number: int, run_id: int) -> str:
        """Difference between the policies of the run and those of the same names now; empty if they are the same.

        Args:
            number: number of the point in the plan.
            run_id: number of the run.

        Raises:
            StoreError: if the run cannot be read.
        """
        if not (self._may_all_learn or self._may_learn(repr(self._part.plan.point(number).values))):
            return ""
        for name, made_with in recorded_policies(self._store.run(run_id).summary or {}).items():
            if name not in self._now:
                self._now[name] = hash_now(name, self._library)
            now = self._now[name]
            if now and now != made_with:
                return f'its runs used another policy "{name}" ({made_with[:12]}) than the present one ({now[:12]})'
        return ""


MEASURED = "experiment."
"""Beginning of the keys of measured values in a library."""


def measured_key(asked: Measure) -> str:
    """Key of the values of a measure in a library, which its options determine: ``experiment.goodput.0a1b2c3d``."""
    digest = hashlib.sha256(repr(sorted(asked.options.items())).encode()).hexdigest()[:8]
    return f"{MEASURED}{asked.kind.name}.{digest}"


def _value(run: RunData, asked: Measure) -> float:
    """The value of a measure; a library of runs without traces contains the values that need traces."""
    if asked.needs_traces:
        known = run.figures.get(measured_key(asked))
        if known is not None:
            return known
    assert isinstance(asked.kind, RunMeasure)
    return float(asked.kind.value(run, asked.options))  # a number of numpy has another text than the same stored one


def _is_wanted(key: str) -> bool:
    return key.startswith(("flows.", "links.", MEASURED))
