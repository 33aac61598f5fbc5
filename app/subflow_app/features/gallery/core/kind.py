"""What a kind of experiment is: it reads its own part of a recipe, and carries the recipe out."""

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
    """What was measured, however it was made; read from the store, and safe to ask in any thread."""

    @property
    def note(self) -> str:
        """What the numbers depend on besides the recipe, e.g. the machine that cost was measured on; may be empty."""

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        """One for each seed, in the order of the seeds; NaN where there is none."""

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Times (or steps) and values; None if there is none."""

    def problem(self, series: str, point: str) -> str:
        """Why values of it are missing; empty if none is."""

    def records(self) -> Records:
        """The runs, sweeps and trainings in the store that all of this is read from."""


class Kind(Protocol):
    """A way to carry experiments out."""

    @property
    def name(self) -> str:
        """As recipes have it."""

    @property
    def measures(self) -> Mapping[str, MeasureKind]:
        """What `of` may name."""

    @property
    def tables(self) -> Sequence[str]:
        """Its own keys at the top of a recipe."""

    @property
    def series_keys(self) -> Sequence[str]:
        """Its own keys of a series."""

    @property
    def quick_keys(self) -> Sequence[str]:
        """Its own keys of `[quick]`."""

    @property
    def needs_scenario(self) -> bool:
        """Whether every series has one."""

    def read(self, report: Report, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check its own keys, those of the series included; what it returns is `Recipe.extra`."""

    def job(
        self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int], executor: ExecutorMaker
    ) -> Job:
        """What carries it out.

        Args:
            recipe: the experiment.
            store: where what is made is kept.
            is_quick: whether it takes what `[quick]` says.
            seeds: of each point.
            executor: makes who makes runs; all experiments that are carried out together have the same.
        """

    def stored(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> Values | None:
        """What the store has of it; None if there is nothing."""
