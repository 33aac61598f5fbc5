"""Experiments one after the other, each on all cores: what waits, what goes on, how far and how long still."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.core.errors import AppError
from subflow_app.core.expected_errors import is_expected
from subflow_app.core.experiments.recipe import Recipe
from subflow_app.core.experiments.reproduction import Reproduction, expected_s
from subflow_app.core.jobs.executors import ExecutorMaker, Shared, executor_maker
from subflow_app.core.jobs.progress import JobState

if TYPE_CHECKING:
    from subflow_store import Store

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


@dataclass(slots=True, eq=False)
class _Queued:
    recipe: Recipe
    is_quick: bool
    state: JobState = JobState.WAITING
    problem: str = ""
    job: Reproduction | None = None

    def told(self) -> QueuedState:
        job = self.job
        if self.state != JobState.RUNNING or job is None:
            eta_s = expected_s(self.recipe, is_quick=self.is_quick) if self.state == JobState.WAITING else math.nan
            done = 1.0 if self.state == JobState.FINISHED else 0.0
            return QueuedState(self.state, self.is_quick, done, eta_s, self.problem)
        progress = job.progress
        return QueuedState(JobState.RUNNING, self.is_quick, progress.fraction, progress.eta_s)


class ReproductionQueue:
    """`run` blocks and belongs into a worker thread; everything else is safe to call from any thread.

    Args:
        store: where runs are kept.
        jobs: how many runs at once.
        take_over: copies to the store what need not be made again of an experiment that is about to begin; None: all of
            it is made.
    """

    def __init__(self, store: Store, *, jobs: int, take_over: Callable[[Recipe, Store], object] | None = None) -> None:
        self._store = store
        self._jobs = jobs
        self._take_over = take_over
        self._lock = threading.Lock()
        self._queued: dict[str, _Queued] = {}
        self._has_ended = threading.Event()

    def add(self, recipes: Iterable[Recipe], *, is_quick: bool) -> list[str]:
        """Put experiments at the end; those that wait or go on already stay where they are.

        Returns:
            Names of those that were added.
        """
        added = []
        with self._lock:
            for recipe in recipes:
                known = self._queued.get(recipe.name)
                if known is not None and not known.told().is_over:
                    continue
                # At the end, also if it was there before.
                self._queued.pop(recipe.name, None)
                self._queued[recipe.name] = _Queued(recipe, is_quick)
                added.append(recipe.name)
        return added

    def states(self) -> dict[str, QueuedState]:
        """Where each stands that was ever added."""
        with self._lock:
            return {name: queued.told() for name, queued in self._queued.items()}

    @property
    def is_busy(self) -> bool:
        """Whether something waits or goes on."""
        return any(not state.is_over for state in self.states().values())

    def stop(self, names: Iterable[str] | None = None) -> None:
        """End these soon, or all; runs that have ended are kept, and a later call makes what is missing."""
        with self._lock:
            chosen = list(self._queued.values() if names is None else map(self._queued.get, names))
            for queued in chosen:
                if queued is None or queued.told().is_over:
                    continue
                if queued.job is not None:
                    queued.job.stop()
                else:
                    queued.state = JobState.STOPPED

    def wait(self) -> None:
        """Until `run`, which has been called, has returned and writes no more."""
        self._has_ended.wait()

    def run(self) -> None:
        """Carry out everything that waits, until nothing does."""
        self._has_ended.clear()
        # The same processes for all: starting them takes longer than many a quick run.
        shared = Shared(executor_maker(self._jobs))
        try:
            while (queued := self._next(shared)) is not None:
                self._carry_out(queued)
        finally:
            shared.close()
            self._has_ended.set()

    def _next(self, executor: ExecutorMaker) -> _Queued | None:
        """Take the next one; from then on it can be stopped by its job."""
        with self._lock:
            for queued in self._queued.values():
                if queued.state != JobState.WAITING:
                    continue
                try:
                    queued.job = Reproduction(queued.recipe, self._store, is_quick=queued.is_quick, executor=executor)
                except AppError as error:
                    # Of this experiment alone: the others have their turn.
                    queued.state, queued.problem = JobState.FAILED, str(error)
                    continue
                queued.state = JobState.RUNNING
                return queued
        return None

    def _carry_out(self, queued: _Queued) -> None:
        assert queued.job is not None
        state = JobState.FAILED
        problem = ""
        try:
            self._copy_what_is_there(queued.recipe)
            outcome = queued.job.run()
            state, problem = outcome.state, "\n".join(outcome.problems)
        except Exception as error:
            # A fault of ours: whoever called reports it, and the list says what it was.
            problem = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise
        finally:
            with self._lock:
                queued.state, queued.problem, queued.job = state, problem, None

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
