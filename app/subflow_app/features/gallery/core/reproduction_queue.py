"""Experiments one after the other, each on all cores: what waits, what goes on, how far and how long still."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.reproduction import Reproduction, Reproductions, expected_s
from subflow_app.foundation.expected_errors import is_expected
from subflow_app.foundation.jobs.progress import JobState

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
