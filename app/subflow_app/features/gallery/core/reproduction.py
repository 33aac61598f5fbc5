"""Reproduction of experiments: one, many in a row, or a queue, with progress and the time left.

Experiments run one after the other, each on all cores, with the same processes. Existing results are not made again.
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


# Of a run of which the recipe does not say what it takes, s.
_USUAL_RUN_S = 0.5


class _WithVariants(Series[Job]):
    """An experiment, and what it is made in otherwise."""

    def _work(self) -> None:
        super()._work()
        for outcome in self.outcomes:
            outcome.check()


class Reproduction(Job):
    """One experiment. `run` blocks and belongs into a worker thread; everything else is safe to call from any thread.

    Args:
        recipe: the experiment.
        store: where what is made is kept; for what shall not be kept, one in memory.
        is_quick: whether it takes what `[quick]` says.
        seeds: of each point; None: those of the recipe.
        jobs: how many runs at once; 1: in this process.
        executor: makes who makes the runs; None: as `jobs` says.
        before: called before anything is made.

    Attributes:
        name: of the recipe.
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
        super().__init__(name=recipe.name)
        self.recipe = recipe
        self.is_quick = is_quick
        self.seeds = recipe.seeds_of(is_quick=is_quick) if seeds is None else seeds
        self._store = store
        self._executor = executor or executor_maker(jobs)
        self._before = before
        self._tell(share=0.0)  # however many runs that will be
        self._job: Job | None = None

    def prepare(self) -> Job:
        """Plan what is to be made, which takes a moment; `run` does so otherwise.

        Raises:
            RecipeError: if the recipe cannot be carried out; nothing was begun then.
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
        """How far it is; cheap enough to ask for at every frame."""
        return self._progress if self._job is None else self._job.progress

    def stop(self) -> None:
        """End soon; what has ended is kept."""
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
        """Why runs failed of which the job itself has said nothing, as they have been kept."""
        told = f"{progress.failed} of {progress.runs} runs could not be made"
        try:
            found = results.problems(self.results())
        except Exception as error:
            if not is_expected(error):
                raise
            found = {"reasons cannot be read": str(error)}
        return tuple(f"{place}: {problem}" for place, problem in found.items()) or (told,)

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


class Reproductions(Series[Reproduction]):
    """Many experiments, one after the other.

    Args:
        recipes: the experiments, in order.
        store: where what is made is kept.
        is_quick: whether they take what `[quick]` says.
        seeds: of each point; None: those of the recipes.
        jobs: how many runs at once.
        cluster: address of a Ray cluster that makes them instead; None: none. What is timed or trained stays here.

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
    """Where an experiment of the queue stands.

    Attributes:
        state: waiting, running, or how it ended.
        is_quick: whether it is a quick one.
        fraction: share of its runs that are done, 0 to 1.
        eta_s: time still to go, s; NaN while unknown.
        problem: why it failed; empty if it did not.
    """

    state: JobState
    is_quick: bool
    fraction: float = 0.0
    eta_s: float = math.nan
    problem: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state.is_over


def queued_state(job: Reproduction) -> QueuedState:
    """Where an experiment stands."""
    if job.state is JobState.RUNNING:
        return QueuedState(job.state, job.is_quick, job.progress.fraction, job.progress.eta_s)
    is_waiting = job.state is JobState.WAITING
    eta_s = expected_s(job.recipe, is_quick=job.is_quick) if is_waiting else math.nan
    done = 1.0 if job.state is JobState.FINISHED else 0.0
    return QueuedState(job.state, job.is_quick, done, eta_s, "\n".join(job.problems))


class ReproductionQueue(Reproductions):
    """Experiments that come one by one.

    Args:
        store: where runs are kept.
        jobs: how many runs at once.
        take_over: copies to the store what need not be made again of an experiment that is about to begin; None: all of
            it is made.
    """

    def __init__(self, store: Store, *, jobs: int, take_over: Callable[[Recipe, Store], object] | None = None) -> None:
        super().__init__((), store, jobs=jobs)
        self._store = store
        self._take_over = take_over
        self._lock = threading.Lock()

    def add(self, recipes: Iterable[Recipe], *, is_quick: bool) -> list[str]:
        """Put experiments at the end; those that wait or go on already stay where they are.

        Returns:
            Names of those that were added.
        """
        added = []
        with self._lock:
            for recipe in recipes:
                if any(job.name == recipe.name and not job.state.is_over for job in self.each):
                    continue
                job = Reproduction(
                    recipe,
                    self._store,
                    is_quick=is_quick,
                    executor=self._shared,
                    before=partial(self._copy_what_is_there, recipe),
                )
                # At the end, also if it was there before.
                self.each = (*(other for other in self.each if other.name != recipe.name), job)
                added.append(recipe.name)
        return added

    def states(self) -> dict[str, QueuedState]:
        """Where each stands that was ever added."""
        return {job.name: queued_state(job) for job in self.each}

    @property
    def is_busy(self) -> bool:
        """Whether something waits or goes on."""
        return any(not job.state.is_over for job in self.each)

    def stop(self, names: Iterable[str] | None = None) -> None:
        """End these soon, or all; runs that have ended are kept, and a later call makes what is missing."""
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
            # Then everything is made, and what is wrong with the database shows there.
            _log.warning("results of %s are not taken over: %s", recipe.name, error)


def left_s(states: Iterable[QueuedState]) -> float:
    """The time until all of these are through; NaN while nothing is known of it."""
    known = [state.eta_s for state in states if not state.is_over]
    finite = [value for value in known if math.isfinite(value)]
    return math.fsum(finite) if finite else math.nan
