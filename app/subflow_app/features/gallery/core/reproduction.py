"""Runs one experiment, several in a row, or a queue of experiments, with progress and remaining time.

Experiments run one after the other in the same processes, and each uses all cores. Existing results are reused.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core import results
from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.results import Results, stored_results
from subflow_app.foundation.expected_errors import is_expected
from subflow_app.foundation.jobs.executors import ExecutorMaker, Shared, executor_maker
from subflow_app.foundation.jobs.job import Job, Series
from subflow_app.foundation.jobs.progress import JobProgress, JobState

if TYPE_CHECKING:
    from subflow_store import Store


# Assumed duration of a run if the recipe does not give one, s.
_USUAL_RUN_S = 0.5


class _WithVariants(Series[Job]):
    """Runs an experiment and its variants in sequence; raises the first error only after all have ended."""

    def _work(self) -> None:
        super()._work()
        for outcome in self.outcomes:
            outcome.check()


class Reproduction(Job):
    """Runs one experiment. `run` blocks, so call it in a worker thread; other methods may be called from any thread.

    Args:
        recipe: the experiment.
        store: store for the results; pass a store in memory if the results are not to be kept.
        is_quick: whether to apply `[quick]`.
        seeds: seeds of each point; None for the seeds of the recipe.
        jobs: number of parallel runs; 1 runs in this process.
        executor: creates the executor of the runs; None for an executor with `jobs` workers.
        before: called before the first run.

    Attributes:
        name: label of the recipe.
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
        before: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(name=recipe.label)
        self.recipe = recipe
        self.is_quick = is_quick
        self.seeds = recipe.seeds_of(is_quick=is_quick) if seeds is None else seeds
        self._store = store
        self._executor = executor or executor_maker(jobs)
        self._before = before
        self._tell(share=0.0)  # a share, because the number of runs is still unknown
        self._job: Job | None = None

    def prepare(self) -> Job:
        """Plan the jobs, which takes a moment. `run` calls this method if necessary.

        Raises:
            RecipeError: if the recipe cannot be carried out; in this case, no run has started.
        """
        if self._job is None:
            jobs = [self._made(self.recipe, self.seeds)]
            for name, variant in self.recipe.variants.items():
                seeds = self.recipe.variant_seeds(name, self.seeds, is_quick=self.is_quick)
                jobs.append(self._made(variant.recipe, seeds))
            self._job = _WithVariants(jobs) if len(jobs) > 1 else jobs[0]
        return self._job

    def _made(self, recipe: Recipe, seeds: Sequence[int]) -> Job:
        kind = KINDS[recipe.kind]()
        return kind.job(recipe, self._store, is_quick=self.is_quick, seeds=seeds, executor=self._executor)

    @property
    def progress(self) -> JobProgress:
        """Progress of the experiment; cheap enough to read at every frame."""
        return self._progress if self._job is None else self._job.progress

    def stop(self) -> None:
        """Stop soon; finished runs are kept."""
        super().stop()
        if self._job is not None:
            self._job.stop()

    def _work(self) -> None:
        if self.is_stopped:
            return
        self._before()
        job = self.prepare()
        if self.is_stopped:
            return
        outcome = job.run()
        self._problems += outcome.problems
        outcome.check()
        if outcome.progress.failed and not outcome.problems:
            self._problems += self._reasons(outcome.progress)

    def _reasons(self, progress: JobProgress) -> tuple[str, ...]:
        """Reasons for failed runs, read from the store because the job itself reported no problem."""
        text = f"{progress.failed} of {progress.runs} runs could not be made"
        try:
            found = results.problems(self.results())
        except Exception as error:
            if not is_expected(error):
                raise
            found = {"reasons cannot be read": str(error)}
        return tuple(f"{place}: {problem}" for place, problem in found.items()) or (text,)

    def results(self) -> Results:
        """The current results, read from the store; too slow to call at every frame.

        Raises:
            StoreError: if the store cannot be read.
        """
        return stored_results(self.recipe, self._store, is_quick=self.is_quick, seeds=self.seeds)


def expected_s(recipe: Recipe, *, is_quick: bool) -> float:
    """Expected duration on two cores, s; NaN if unknown. If necessary, it is scaled from a full to a quick run."""
    whole_s = math.nan if recipe.expected_s is None else recipe.expected_s
    if not is_quick:
        return whole_s
    if recipe.quick.expected_s is not None:
        return recipe.quick.expected_s
    return whole_s * _size(recipe, is_quick=True) / _size(recipe, is_quick=False)


def _size(recipe: Recipe, *, is_quick: bool) -> int:
    points, series = recipe.points(is_quick=is_quick), recipe.series_of(is_quick=is_quick)
    return max(len(points) * len(series) * len(recipe.seeds_of(is_quick=is_quick)), 1)


class Reproductions(Series[Reproduction]):
    """Runs several experiments one after the other.

    Args:
        recipes: the experiments, in order.
        store: store for the results.
        is_quick: whether to apply `[quick]`.
        seeds: seeds of each point; None for the seeds of the recipes.
        jobs: number of parallel runs.
        cluster: address of a Ray cluster for simulation runs; None for this machine. Costs and trainings always run
            on this machine.

    Raises:
        RecipeError: if a recipe cannot be carried out; in this case, no run has started.
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
        shared = self._shared = Shared(executor_maker(jobs, cluster))
        super().__init__(
            [Reproduction(recipe, store, is_quick=is_quick, seeds=seeds, executor=shared) for recipe in recipes]
        )
        for each in self.each:
            each.prepare()

    def _weight(self, job: Reproduction) -> float:
        told_s = expected_s(job.recipe, is_quick=job.is_quick)
        if math.isnan(told_s):
            return super()._weight(job) * _USUAL_RUN_S
        return told_s * len(job.seeds) / max(len(job.recipe.seeds_of(is_quick=job.is_quick)), 1)

    def _work(self) -> None:
        try:
            super()._work()
        finally:
            self._shared.close()


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueuedState:
    """State of an experiment in the queue.

    Attributes:
        state: state of the job: waiting, running, or its outcome.
        is_quick: whether the experiment runs in its quick form.
        fraction: completed fraction of a running experiment, 0 to 1; 1 after success, otherwise 0.
        eta_s: remaining time, s; NaN while unknown.
        problem: reason for a failure; empty if the experiment has not failed.
    """

    state: JobState
    is_quick: bool
    fraction: float = 0.0
    eta_s: float = math.nan
    problem: str = ""

    @property
    def is_over(self) -> bool:
        """True after the experiment has ended."""
        return self.state.is_over


def queued_state(job: Reproduction) -> QueuedState:
    """Current state of a job. The remaining time of a waiting job is its expected duration."""
    if job.state is JobState.RUNNING:
        return QueuedState(job.state, job.is_quick, job.progress.fraction, job.progress.eta_s)
    is_waiting = job.state is JobState.WAITING
    eta_s = expected_s(job.recipe, is_quick=job.is_quick) if is_waiting else math.nan
    done = 1.0 if job.state is JobState.FINISHED else 0.0
    return QueuedState(job.state, job.is_quick, done, eta_s, "\n".join(job.problems))


class ReproductionQueue(Reproductions):
    """A queue of experiments that accepts more while it runs.

    Args:
        store: store for the results.
        jobs: number of parallel runs.
        take_over: copies existing results of an experiment to the store before it starts; None to copy nothing.
    """

    def __init__(self, store: Store, *, jobs: int, take_over: Callable[[Recipe, Store], object] | None = None) -> None:
        super().__init__((), store, jobs=jobs)
        self._store = store
        self._take_over = take_over
        self._lock = threading.Lock()

    def add(self, recipes: Iterable[Recipe], *, is_quick: bool) -> list[str]:
        """Append experiments; experiments that already wait or run keep their places.

        Returns:
            Labels of the added experiments.
        """
        added = []
        with self._lock:
            for recipe in recipes:
                if any(job.name == recipe.label and not job.state.is_over for job in self.each):
                    continue
                job = Reproduction(
                    recipe,
                    self._store,
                    is_quick=is_quick,
                    executor=self._shared,
                    before=partial(self._copy_what_is_there, recipe),
                )
                # Remove an earlier job of the experiment, which has ended, and append the new job.
                self.each = (*(other for other in self.each if other.name != recipe.label), job)
                added.append(recipe.label)
        return added

    def states(self) -> dict[str, QueuedState]:
        """State of each experiment that was ever added, by its label."""
        return {job.name: queued_state(job) for job in self.each}

    @property
    def is_busy(self) -> bool:
        """True while experiments wait or run."""
        return any(not job.state.is_over for job in self.each)

    def stop(self, names: Iterable[str] | None = None) -> None:
        """Stop the experiments with these labels soon, or all experiments for None.

        Finished runs are kept, and a later reproduction executes only the missing runs.
        """
        if names is None:
            super().stop()
            return
        chosen = set(names)
        for job in self.each:
            if job.name in chosen:
                job.stop()

    def _copy_what_is_there(self, recipe: Recipe) -> None:
        if self._take_over is None:
            return
        try:
            self._take_over(recipe, self._store)
        except Exception as error:
            if not is_expected(error):
                raise
            # Without the copy, the job executes all runs itself. It also reports errors of the store.
            _log.warning("results of %s are not taken over: %s", recipe.label, error)


def left_s(states: Iterable[QueuedState]) -> float:
    """Sum of the known remaining times of these experiments, s; NaN if all are unknown."""
    known = [state.eta_s for state in states if not state.is_over]
    finite = [value for value in known if math.isfinite(value)]
    return math.fsum(finite) if finite else math.nan
