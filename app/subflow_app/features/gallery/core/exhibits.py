"""Everything that the gallery shows of an experiment: its recipe, stored results, verdicts and figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core.columns import in_column
from subflow_app.features.gallery.core.figure import experiment_figure
from subflow_app.features.gallery.core.recipe import AgentColumn, Recipe, label_of
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.results import (
    SETTLEMENTS,
    Group,
    Results,
    Settled,
    Verdict,
    group_order,
    is_complete,
    n_finished,
    n_wanted,
    problems,
    settlement_counts,
    stored_results,
)
from subflow_app.features.paper.core.figure_plan import FigurePlan
from subflow_app.foundation.expected_errors import is_expected

if TYPE_CHECKING:
    from subflow_store import Store


@dataclass(frozen=True, slots=True, eq=False)
class Exhibit:
    """An experiment with its recipe and results.

    Attributes:
        name: label of the recipe, which is different in each column of agents.
        recipe: recipe of the experiment; None if it cannot be read, in which case `problem` gives the reason.
        results: results of the experiment; None before the first run.
        verdicts: verdicts of the results.
        figure: figure of the results; None without values to draw, or before `with_figure` has drawn it.
        is_drawn: whether `figure` was drawn from the results.
        problem: error that prevents showing the experiment; may be empty.
        counts: number of checks by settlement.
        finished: number of runs that exist.
        wanted: number of runs of the whole experiment.
        missing: reasons for missing values, one per line.
        is_shipped: whether the results come from the shipped library.
        is_read: whether the store was searched for results; False if only the recipe was read.
    """

    name: str
    recipe: Recipe | None = None
    results: Results | None = None
    verdicts: tuple[Verdict, ...] = ()
    figure: FigurePlan | None = None
    problem: str = ""
    counts: Mapping[Settled, int] = field(default_factory=dict)
    finished: int = 0
    wanted: int = 0
    missing: tuple[str, ...] = ()
    is_shipped: bool = False
    is_read: bool = True
    is_drawn: bool = True

    @property
    def title(self) -> str:
        """Title of the recipe; its name if the recipe cannot be read."""
        return self.name if self.recipe is None else self.recipe.title

    @property
    def is_begun(self) -> bool:
        """True if only some of the experiment's runs exist."""
        return self.results is not None and self.finished < self.wanted


def announce_exhibit(name: str, column: AgentColumn = AgentColumn.PRINTED) -> Exhibit | None:
    """Read only the recipe of an experiment, which is faster than reading its results.

    The text of an expected error becomes `Exhibit.problem`.

    Args:
        name: name or file of the recipe.
        column: column of agents.

    Returns:
        The exhibit; None if the experiment is the same in the column of the printed agents.
    """
    try:
        recipe = in_column(load_recipe(name), column)
        return Exhibit(recipe.label, recipe, is_read=False) if recipe.column is column else None
    except Exception as error:
        if not is_expected(error):
            raise
        return Exhibit(label_of(name, column), problem=str(error))


def read_exhibit(
    store: Store | None,
    name: str,
    *,
    recipe: Recipe | None = None,
    library: Store | None = None,
    draws_shipped: bool = True,
) -> Exhibit:
    """Read an experiment with its best stored results.

    Complete results take precedence over interrupted ones, and full runs over quick runs. If the store contains no
    results, the exhibit shows the results from the library. The text of an expected error becomes `Exhibit.problem`.

    Args:
        store: the database; None if no database is open.
        name: name or file of the recipe.
        recipe: recipe of the experiment; None to read it by its name.
        library: the shipped results; None if they are not available.
        draws_shipped: whether the figure of shipped results is drawn, for which their runs may be simulated again.
    """
    is_shipped = False
    try:
        recipe = recipe or load_recipe(name)
        results = None if store is None else best_results(store, recipe)
        if results is None and library is not None:
            results = _shipped_results(library, recipe)
            is_shipped = results is not None
        if results is None:
            return Exhibit(name, recipe)
        verdicts = results.verdicts()
        is_drawn = draws_shipped or not is_shipped
        figure = _figure(results) if is_drawn else None
    except Exception as error:
        if not is_expected(error):
            raise
        return Exhibit(name, recipe, problem=str(error))
    return Exhibit(
        name,
        recipe,
        results,
        verdicts,
        figure,
        counts=settlement_counts(verdicts),
        finished=n_finished(results),
        wanted=n_wanted(results),
        missing=tuple(f"{place}: {problem}" for place, problem in problems(results).items()),
        is_shipped=is_shipped,
        is_drawn=is_drawn,
    )


def with_figure(exhibit: Exhibit) -> Exhibit:
    """The exhibit with its figure. The text of an expected error becomes `Exhibit.problem`."""
    if exhibit.is_drawn or exhibit.results is None:
        return exhibit
    try:
        return replace(exhibit, figure=_figure(exhibit.results), is_drawn=True)
    except Exception as error:
        if not is_expected(error):
            raise
        return replace(exhibit, problem=str(error), is_drawn=True)


def _figure(results: Results) -> FigurePlan | None:
    figure = experiment_figure(results)
    return figure if any(panel.has_values for panel in figure.panels) else None


def best_results(store: Store, recipe: Recipe) -> Results | None:
    """The best results in the store, or None. Complete results precede interrupted ones, and full runs quick runs."""
    found = [stored_results(recipe, store, is_quick=is_quick) for is_quick in (False, True)]
    known = [results for results in found if results.is_there]
    return next((results for results in known if is_complete(results)), known[0] if known else None)


def _shipped_results(library: Store, recipe: Recipe) -> Results | None:
    """The results in the library, which contains only quick runs; None if they are missing."""
    results = stored_results(recipe, library, is_quick=True)
    return results if results.is_there else None


def run_ids(results: Results, most: int) -> list[int]:
    """Numbers of at most ``most`` stored runs, ordered by seed, point and series; empty for kinds without runs."""
    from subflow_app.features.gallery.core.runs_kind import RunValues

    values = results.values
    if not isinstance(values, RunValues):
        return []
    places = [(seed, point, series) for seed in results.seeds for point in results.points for series in results.series]
    runs = (values.run(series, point, seed) for seed, point, series in places)
    return [run.run_id for run in runs if run is not None][:most]


def paper_order(exhibits: Iterable[Exhibit]) -> dict[Group, list[Exhibit]]:
    """Exhibits by paper, in the order of `SOURCES`, and column; exhibits with an unreadable recipe come last."""
    found: dict[Group, list[Exhibit]] = {group: [] for group in group_order()}
    for exhibit in exhibits:
        recipe = exhibit.recipe
        group = Group("", AgentColumn.PRINTED) if recipe is None else Group(recipe.paper, recipe.column)
        found.setdefault(group, []).append(exhibit)
    return {group: members for group, members in found.items() if members}


def summed_counts(exhibits: Sequence[Exhibit]) -> dict[Settled, int]:
    """Number of checks by settlement, summed over exhibits."""
    return {way: sum(exhibit.counts.get(way, 0) for exhibit in exhibits) for way in SETTLEMENTS}
