"""Carries experiments out: one, or many after the other with the same processes. What is there is not made again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.core.expected_errors import is_expected
from subflow_app.core.experiments import coverage
from subflow_app.core.experiments.kinds import KINDS
from subflow_app.core.experiments.recipe import Recipe
from subflow_app.core.experiments.results import Results, stored_results
from subflow_app.core.jobs.progress import JobProgress, JobState
from subflow_app.core.sweeps.executors import ExecutorMaker, Shared, executor_maker

if TYPE_CHECKING:
    from subflow_store import Store


# Of a run of which the recipe does not say what it takes, s.
_USUAL_RUN_S = 0.5


@dataclass(frozen=True, slots=True)
class ReproductionOutcome:
    """How an experiment ended.

    Attributes:
        state: failed: some runs could not be made, or the experiment could not go on.
        progress: the last one.
        problems: what went wrong, a line each.
        error: what ended it before its time; None if nothing did.
    """

    state: JobState
    progress: JobProgress
    problems: tuple[str, ...] = ()
    error: Exception | None = None


class Reproduction:
    """One experiment. `run` blocks and belongs into a worker thread; everything else is safe to call from any thread.

    Args:
        recipe: the experiment.
        store: where what is made is kept; for what shall not be kept, one in memory.
        is_quick: whether it takes what `[quick]` says.
        seeds: of each point; None: those of the recipe.
        jobs: how many runs at once; 1: in this process.
        executor: makes who makes the runs; None: as `jobs` says.

    Raises:
        RecipeError: if the recipe cannot be carried out; nothing was begun then.
    """

    def __init__(
        self,
        recipe: Recipe,
        store: Store,
        *,
        is_quick: bool = False,
        seeds: Sequence[int] | None = None,
        jobs: int = 1,
        executor: ExecutorMaker | None = None,
    ) -> None:
        self.recipe = recipe
        self.is_quick = is_quick
        self.seeds = recipe.seeds_of(is_quick=is_quick) if seeds is None else seeds
        self._store = store
        self._job = KINDS[recipe.kind]().job(
            recipe, store, is_quick=is_quick, seeds=self.seeds, executor=executor or executor_maker(jobs)
        )

    @property
    def progress(self) -> JobProgress:
        """How far it is; cheap enough to ask for at every frame."""
        return self._job.progress

    def run(self) -> ReproductionOutcome:
        """To the end, or until `stop`. What the store has is not made again.

        What goes wrong with the store or the processes is part of the outcome.
        """
        error: Exception | None = None
        problems: tuple[str, ...] = ()
        try:
            self._job.run()
            problems = tuple(self._job.problems)
        except Exception as exception:
            if not is_expected(exception):
                raise
            error, problems = exception, (*self._job.problems, str(exception))
        progress = self._job.progress
        state = JobState.FINISHED
        if error is not None or progress.failed:
            state = JobState.FAILED
            problems = problems or self._reasons(progress)
        elif progress.fraction < 1:
            state = JobState.STOPPED
        return ReproductionOutcome(state, progress, problems, error)

    def _reasons(self, progress: JobProgress) -> tuple[str, ...]:
        """Why runs failed of which the job itself has said nothing, as they have been kept."""
        told = f"{progress.failed} of {progress.runs} runs could not be made"
        try:
            found = coverage.problems(self.results())
        except Exception as error:
            if not is_expected(error):
                raise
            found = {"reasons cannot be read": str(error)}
        return tuple(f"{place}: {problem}" for place, problem in found.items()) or (told,)

    def stop(self) -> None:
        """End soon; what has ended is kept."""
        self._job.stop()

    def results(self) -> Results:
        """What is known so far. Reads the store: not at every frame.

        Raises:
            StoreError: if it cannot be read.
        """
        return stored_results(self.recipe, self._store, is_quick=self.is_quick, seeds=self.seeds)


def expected_s(recipe: Recipe, *, is_quick: bool) -> float:
    """What an experiment takes on two cores, s; a quick one that does not say, its share of the whole; NaN: unknown."""
    whole_s = math.nan if recipe.expected_s is None else recipe.expected_s
    if not is_quick:
        return whole_s
    if recipe.quick.expected_s is not None:
        return recipe.quick.expected_s
    return whole_s * _size(recipe, is_quick=True) / _size(recipe, is_quick=False)


def _size(recipe: Recipe, *, is_quick: bool) -> int:
    points, series = recipe.points(is_quick=is_quick), recipe.series_of(is_quick=is_quick)
    return max(len(points) * len(series) * len(recipe.seeds_of(is_quick=is_quick)), 1)


@dataclass(frozen=True, slots=True)
class Overall:
    """How far many experiments are.

    Attributes:
        number: of the one that goes on, from 1; 0 before the first.
        count: of all.
        name: of the one that goes on; may be empty.
        current: how far that one is.
        fraction: share of the expected time of all that is done, 0 to 1.
        eta_s: time still to go for all, s; NaN while unknown.
        runs: of all.
        finished: of them, taken over or made.
    """

    number: int
    count: int
    name: str
    current: JobProgress
    fraction: float
    eta_s: float
    runs: int
    finished: int


class Reproductions:
    """Many experiments, one after the other. As `Reproduction`, `run` blocks, and the rest may be called from anywhere.

    Args:
        recipes: the experiments, in order.
        store: where what is made is kept.
        is_quick: whether they take what `[quick]` says.
        seeds: of each point; None: those of the recipes.
        jobs: how many runs at once.
        cluster: address of a Ray cluster that makes them instead; None: none. What is timed or trained stays here.

    Attributes:
        each: the experiments, in order.
        outcomes: of those that have ended, in order.

    Raises:
        RecipeError: if one of them cannot be carried out; nothing was begun then.
    """

    def __init__(
        self,
        recipes: Sequence[Recipe],
        store: Store,
        *,
        is_quick: bool = False,
        seeds: Sequence[int] | None = None,
        jobs: int = 1,
        cluster: str | None = None,
    ) -> None:
        self._shared = Shared(executor_maker(jobs, cluster))
        self._stopped = threading.Event()
        self._began = 0.0
        self.each = tuple(
            Reproduction(recipe, store, is_quick=is_quick, seeds=seeds, executor=self._shared) for recipe in recipes
        )
        self.outcomes: tuple[ReproductionOutcome, ...] = ()

    @property
    def progress(self) -> Overall:
        """How far they are."""
        told = [each.progress for each in self.each]
        weights = [self._weight(each, progress) for each, progress in zip(self.each, told, strict=True)]
        ended = len(self.outcomes)
        made = done = total = 0.0
        for number, (weight, progress) in enumerate(zip(weights, told, strict=True)):
            runs = max(progress.runs, 1)
            fraction = 1.0 if number < ended else progress.fraction
            total += weight
            done += weight * fraction
            made += weight * (progress.finished + progress.failed - progress.reused) / runs
        elapsed_s = time.monotonic() - self._began if self._began else 0.0
        # What is left, at the speed of what was made so far: recipes tell the time on a machine of their own.
        pace = elapsed_s / made if made > 0.02 * total and elapsed_s > 2 else 1.0
        place = min(ended, len(self.each) - 1)
        return Overall(
            min(ended + 1, len(self.each)) if self._began else 0,
            len(self.each),
            self.each[place].recipe.name if self.each else "",
            told[place] if told else JobProgress(0),
            done / total if total else 1.0,
            (total - done) * pace,
            sum(progress.runs for progress in told),
            sum(progress.finished for progress in told),
        )

    @staticmethod
    def _weight(each: Reproduction, progress: JobProgress) -> float:
        told_s = expected_s(each.recipe, is_quick=each.is_quick)
        if math.isnan(told_s):
            return max(progress.runs, 1) * _USUAL_RUN_S
        return told_s * len(each.seeds) / max(len(each.recipe.seeds_of(is_quick=each.is_quick)), 1)

    @property
    def expected_s(self) -> float:
        """What they take on two cores, if nothing is there yet, s."""
        return sum(self._weight(each, each.progress) for each in self.each)

    def run(self) -> tuple[ReproductionOutcome, ...]:
        """To the end, or until `stop`; one that fails does not keep the others from their turn."""
        self._began = time.monotonic()
        try:
            for each in self.each:
                if self._stopped.is_set():
                    break
                self.outcomes = (*self.outcomes, each.run())
        finally:
            self._shared.close()
        return self.outcomes

    def stop(self) -> None:
        """End soon; what has ended is kept."""
        self._stopped.set()
        for each in self.each:
            each.stop()
