"""Interface of kinds of experiments: each reads its part of a recipe, runs the experiment, and reads its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from subflow_app.features.gallery.core.recipe import MeasureKind, Recipe

if TYPE_CHECKING:
    from subflow_app.foundation.jobs.executors import ExecutorMaker
    from subflow_app.foundation.jobs.job import Job
    from subflow_sim.section_reader import Report
    from subflow_store import Store
    from subflow_store.values import Records


class Values(Protocol):
    """Measured values of an experiment, read from the store. All methods may be called from any thread."""

    @property
    def note(self) -> str:
        """A condition outside the recipe that affects the values, e.g. the machine of a measurement; may be empty."""

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        """One value per seed, in the order of the seeds; NaN for missing values."""

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Times (or steps) and values of a run; None if the trace is missing."""

    def problem(self, series: str, point: str) -> str:
        """Reason for missing values; empty if all exist."""

    def records(self) -> Records:
        """The runs, sweeps and trainings from which the values were read."""


class Kind(Protocol):
    """A kind of experiment: simulation runs, trainings or cost measurements."""

    @property
    def name(self) -> str:
        """Name of the kind in recipes."""

    @property
    def measures(self) -> Mapping[str, MeasureKind]:
        """Kinds of measure by name; a measure in a recipe names its kind with the key `of`."""

    @property
    def tables(self) -> Sequence[str]:
        """Top-level keys of a recipe that belong to this kind."""

    @property
    def series_keys(self) -> Sequence[str]:
        """Keys of a series that belong to this kind."""

    @property
    def quick_keys(self) -> Sequence[str]:
        """Keys of `[quick]` that belong to this kind."""

    @property
    def needs_scenario(self) -> bool:
        """True if every series needs a scenario."""

    def read(self, report: Report, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check the keys of this kind, including keys of series; the result becomes `Recipe.extra`."""

    def job(
        self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int], executor: ExecutorMaker
    ) -> Job:
        """A job that runs the experiment.

        Args:
            recipe: the experiment.
            store: store for the results.
            is_quick: whether to apply `[quick]`.
            seeds: seeds of each point.
            executor: creates the executor that all experiments of a reproduction share for their runs.
        """

    def stored(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> Values | None:
        """Stored values of the experiment; None if the store has no values."""
