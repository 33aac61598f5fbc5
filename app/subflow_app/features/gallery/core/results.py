"""Results of an experiment: means with intervals, traces, verdicts of its checks, and reasons for missing values.

This module also counts the runs with measured values, and lists the stored runs by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.gallery.core.kind import Values
from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe import SOURCES, AgentColumn, Cause, CauseKind, Check, Recipe, Variant
from subflow_app.features.gallery.core.run_data import trailing_mean
from subflow_app.foundation.claims import Outcome
from subflow_app.foundation.expressions import Missing, Value
from subflow_app.vocabulary.language import translatable
from subflow_sim.stats import Estimate

if TYPE_CHECKING:
    from subflow_store import Store


class VerdictKind(StrEnum):
    """Verdict of a check. A value is inside or outside its band; any other kind of claim holds or fails."""

    INSIDE = "inside band"
    OUTSIDE = "outside band"
    HOLDS = "claim holds"
    FAILS = "claim fails"
    NOT_MEASURED = "not measured"

    @property
    def is_met(self) -> bool:
        """True if the result agrees with the paper."""
        return self in (VerdictKind.INSIDE, VerdictKind.HOLDS)


@dataclass(frozen=True, slots=True)
class Trial:
    """Test of a cause with one variant, or with the results of the experiment itself.

    Attributes:
        variant: the variant; None for the experiment's own results.
        outcome: outcome of the claim that shows the cause.
        n_met: number of checks of the experiment that are met in this trial.
        n_checks: number of checks of the experiment.
    """

    variant: Variant | None
    outcome: Outcome
    n_met: int
    n_checks: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Test of the cause that a recipe names for an unmet check.

    Attributes:
        cause: cause that the recipe names.
        trials: trials in order.
    """

    cause: Cause
    trials: tuple[Trial, ...]

    @property
    def is_shown(self) -> bool | None:
        """True if a trial confirms the cause, False if all refute it; None while trials are missing."""
        outcomes = [trial.outcome.holds for trial in self.trials]
        return True if True in outcomes else None if None in outcomes else False


class Settlement(StrEnum):
    """How a check is settled. A failed check whose cause is shown is settled by the `CauseKind` of that cause."""

    MET = translatable("met")
    OPEN = translatable("not explained")
    NOT_MEASURED = translatable("not measured")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of a check.

    Attributes:
        check: the check.
        kind: kind of the verdict.
        outcome: whether the claim holds, with the numbers on both sides of its comparison.
        reason: reason for a missing measurement; empty if measured.
        overlaps: pairs of series whose 95 % intervals overlap, so that their order may be due to chance, as texts.
        explanation: test of the cause of an unmet check; None for a met check, for a check without a named cause, and
            usually for a check that was not measured.
    """

    check: Check
    kind: VerdictKind
    outcome: Outcome
    reason: str = ""
    overlaps: tuple[str, ...] = ()
    explanation: Explanation | None = None

    @property
    def settlement(self) -> Settled:
        """Settlement of the check: met, a shown cause, not explained, or not measured."""
        if self.kind.is_met:
            return Settlement.MET
        if self.explanation is not None and self.explanation.is_shown:
            return self.explanation.cause.kind
        return Settlement.NOT_MEASURED if self.kind is VerdictKind.NOT_MEASURED else Settlement.OPEN


Settled: TypeAlias = Settlement | CauseKind

SETTLEMENTS: tuple[Settled, ...] = (
    Settlement.MET,
    *CauseKind,
    Settlement.OPEN,
    Settlement.NOT_MEASURED,
)
"""All settlements, in the order in which lists show them."""


def settlement_counts(verdicts: Iterable[Verdict]) -> dict[Settled, int]:
    """Number of checks by settlement."""
    counts = dict.fromkeys(SETTLEMENTS, 0)
    for verdict in verdicts:
        counts[verdict.settlement] += 1
    return counts


class Results:
    """Results of an experiment, full or quick.

    Args:
        recipe: the experiment.
        values: measured values; None before the first run.
        is_quick: whether the results are from a quick run.
        seeds: seeds of each point, in order.
        varied: returns the results of a variant by name; called only for variants that a check needs.

    Attributes:
        recipe: the experiment.
        is_quick: whether the results are from a quick run.
        seeds: seeds of each point, in order.
        series: names of the requested series, in order.
        points: labels of the requested points, in order; one empty label without an axis.
    """

    def __init__(
        self,
        recipe: Recipe,
        values: Values | None,
        *,
        is_quick: bool,
        seeds: Sequence[int],
        varied: Callable[[str], Results] | None = None,
    ) -> None:
        self.recipe = recipe
        self.is_quick = is_quick
        self.seeds = tuple(seeds)
        self.series = tuple(each.name for each in recipe.series_of(is_quick=is_quick))
        self.points = tuple(each.label for each in recipe.points(is_quick=is_quick))
        self._values = values
        self._varied = varied
        self._variants: dict[str, Results] = {}
        self._cells: dict[tuple[str, str, str], Estimate] = {}

    @property
    def values(self) -> Values | None:
        """Measured values; None before the first run."""
        return self._values

    @property
    def is_there(self) -> bool:
        """True if any value was measured."""
        return any(
            self.cell(measure, series, point).n
            for measure in self.recipe.measures
            for series in self.series
            for point in self.points
        )

    @property
    def note(self) -> str:
        """A condition outside the recipe that affects the values; may be empty."""
        return "" if self._values is None else self._values.note

    def cell(self, measure: str, series: str, point: str = "") -> Estimate:
        """Mean over the seeds, SI, with its 95 % interval; NaN without measurements."""
        key = (measure, series, point)
        if key not in self._cells:
            wanted = self._values is not None and series in self.series and point in self.points
            values = self._values.values(measure, series, point) if self._values is not None and wanted else ()
            self._cells[key] = Estimate.of(values or (math.nan,) * len(self.seeds))
        return self._cells[key]

    def improvement(self, measure: str, series: str, over: str, point: str = "") -> float:
        """(new - old) / old of the means; NaN if a mean is missing or the old mean is 0."""
        old = self.cell(measure, over, point).mean
        return self.cell(measure, series, point).mean / old - 1 if old else math.nan

    def trace(
        self,
        measure: str,
        series: str,
        point: str = "",
        seed: int | None = None,
        *,
        window_s: float = 0.0,
        is_running_mean: bool = False,
    ) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Times (or steps) and values of a run, SI; None if the trace is missing.

        Args:
            measure: name of the measure.
            series: name of the series.
            point: label of the point; empty for the first.
            seed: seed of the run; None for the first.
            window_s: smoothing window, s; each value becomes the mean over the window that ends at its time.
            is_running_mean: whether each value is the mean up to its time.
        """
        if self._values is None:
            return None
        point = point or self.points[0]
        found = self._values.trace(measure, series, point, self.seeds[0] if seed is None else seed)
        if found is None or not len(found[0]):
            return None
        times, values = found
        if is_running_mean:
            return times, trailing_mean(np.asarray(values, float), len(values))
        if window_s > 0 and len(times) > 1:
            return times, trailing_mean(np.asarray(values, float), round(window_s / float(times[1] - times[0])))
        return times, values

    def capacity(
        self, links: str, series: str, point: str = "", seed: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Times and the sum of the rates of links, bit/s; None for kinds without links, or if the run is missing."""
        told = getattr(self._values, "capacity", None)
        if told is None:
            return None
        found: tuple[NDArray[Any], NDArray[Any]] | None = told(
            links, series, point or self.points[0], self.seeds[0] if seed is None else seed
        )
        return found

    def run_ids(self, series: str | None = None, point: str | None = None) -> tuple[int, ...]:
        """Numbers of the stored runs of a series at a point; None selects all. Empty for kinds without runs."""
        told = getattr(self._values, "run_ids", None)
        found: tuple[int, ...] = () if told is None else told(series, point)
        return found

    def problem(self, series: str, point: str = "") -> str:
        """Reason for missing values; empty if all exist."""
        if series not in self.series:
            return f"{series} is not in a quick run"
        if point not in self.points:
            return f"{point} is not in a quick run"
        return "it has not been run" if self._values is None else self._values.problem(series, point)

    @cached_property
    def agents(self) -> frozenset[str]:
        """Names of the series with a learning agent.

        Raises:
            RecipeError: if a scenario cannot be read.
        """
        from subflow_app.features.gallery.core.columns import agent_series

        return agent_series(self.recipe)

    def uses_agent(self, check: Check) -> bool:
        """True if a check rests on an agent: its expression names a series with a learning agent.

        Raises:
            RecipeError: if a scenario cannot be read.
        """
        from subflow_app.features.gallery.core.columns import uses_agent

        return uses_agent(check, self.recipe, self.agents)

    def verdicts(self) -> tuple[Verdict, ...]:
        """Verdicts of the checks, in order."""
        return tuple(map(self._verdict, self.recipe.checks))

    def variant(self, name: str) -> Results:
        """Results of a variant, which contain no values if the variant was not run."""
        if name not in self._variants:
            recipe = self.recipe.variants[name].recipe
            nothing = Results(recipe, None, is_quick=self.is_quick, seeds=self.seeds)
            self._variants[name] = nothing if self._varied is None else self._varied(name)
        return self._variants[name]

    def _verdict(self, check: Check) -> Verdict:
        told = self._told(check)
        if told.kind.is_met or check.cause is None:
            return told
        # Usually, an unmeasured check needs no explanation. But if only the quick run is too short, a variant may be
        # long enough.
        is_too_short = self.is_quick and check.needs_full
        if told.kind is VerdictKind.NOT_MEASURED and not (is_too_short and check.cause.variants):
            return told
        return replace(told, explanation=self._explanation(check.cause))

    def _explanation(self, cause: Cause) -> Explanation:
        tried: list[tuple[Variant | None, Results]] = [
            (self.recipe.variants[name], self.variant(name)) for name in cause.variants
        ]
        checks = self.recipe.checks
        return Explanation(
            cause,
            tuple(
                Trial(
                    variant,
                    cause.claim.evaluate(results._resolve),
                    sum(results._told(check).kind.is_met for check in checks),
                    len(checks),
                )
                for variant, results in tried or [(None, self)]
            ),
        )

    def _told(self, check: Check) -> Verdict:
        outcome = check.claim.evaluate(self._resolve)
        if self.is_quick and check.needs_full:
            return Verdict(check, VerdictKind.NOT_MEASURED, outcome, "a quick run is too short for this check")
        if outcome.holds is None:
            return Verdict(check, VerdictKind.NOT_MEASURED, outcome, outcome.reason)
        if outcome.is_band:
            kind = VerdictKind.INSIDE if outcome.holds else VerdictKind.OUTSIDE
            return Verdict(check, kind, outcome)
        kind = VerdictKind.HOLDS if outcome.holds else VerdictKind.FAILS
        return Verdict(check, kind, outcome, overlaps=tuple(self._overlaps(check)))

    def _resolve(self, name: str, arguments: tuple[Value, ...]) -> Value:
        series = str(arguments[0])
        if len(arguments) > 1 or self.recipe.axis.is_single:
            return self._mean(name, series, str(arguments[1]) if len(arguments) > 1 else "")
        means = [self._mean(name, series, point) for point in self.points]
        missing = next((each for each in means if isinstance(each, Missing)), None)
        return missing or tuple(each for each in means if not isinstance(each, Missing))

    def _mean(self, measure: str, series: str, point: str) -> float | Missing:
        cell = self.cell(measure, series, point)
        if cell.n == len(self.seeds):
            return cell.mean
        place = f"{series} at {point}" if point else series
        problem = self.problem(series, point)
        if problem:
            return Missing(f"{place}: {problem}" if series not in problem else problem)
        if cell.n == 0:
            return Missing(f"{place} has no {measure}")
        return Missing(f"{place} has no {measure} in {len(self.seeds) - cell.n} of {len(self.seeds)} runs")

    def _overlaps(self, check: Check) -> list[str]:
        """Pairs of series that the check compares and whose 95 % intervals overlap."""
        found: dict[str, None] = {}
        for first, second in check.claim.compared():
            one, other = first.texts[0], second.texts[0]
            if one is None or other is None or one == other or first.texts[1:] != second.texts[1:]:
                continue
            points = [each for each in first.texts[1:] if each is not None] or list(self.points)
            overlapping = [
                point
                for point in points
                if _do_overlap(self.cell(first.name, one, point), self.cell(second.name, other, point))
            ]
            if overlapping:
                where = f" at {', '.join(overlapping)}" if any(overlapping) else ""
                found[f"{one} and {other}{where}"] = None
        return list(found)


def _do_overlap(first: Estimate, second: Estimate) -> bool:
    halves = [0.0 if math.isnan(cell.ci95) else cell.ci95 for cell in (first, second)]
    return abs(first.mean - second.mean) <= sum(halves)


def stored_results(recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int] | None = None) -> Results:
    """Read the results of an experiment from a store. Nothing is run, and the store may be read-only.

    Args:
        recipe: the experiment.
        store: store of the runs.
        is_quick: whether to read a quick run.
        seeds: seeds of the runs; None for the seeds of the recipe.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the store cannot be read.
    """
    chosen = recipe.seeds_of(is_quick=is_quick) if seeds is None else seeds
    values = KINDS[recipe.kind]().stored(recipe, store, is_quick=is_quick, seeds=chosen)

    def varied(name: str) -> Results:
        seeds_there = recipe.variant_seeds(name, chosen, is_quick=is_quick)
        return stored_results(recipe.variants[name].recipe, store, is_quick=is_quick, seeds=seeds_there)

    return Results(recipe, values, is_quick=is_quick, seeds=chosen, varied=varied)


def measured_values(results: Results) -> dict[int, dict[str, float]]:
    """Values of all measures that read time series or events, and of those in variants, by run and key.

    The library indexes them, so that verdicts need no simulation.
    """
    found: dict[int, dict[str, float]] = {}
    for each in (results, *(results.variant(name) for name in results.recipe.variants)):
        measured = getattr(each.values, "measured", None)
        for run_id, values in ({} if measured is None else measured()).items():
            found.setdefault(run_id, {}).update(values)
    return found


def n_wanted(results: Results) -> int:
    """Number of runs of the experiment: each series at each point with each seed."""
    return len(results.series) * len(results.points) * len(results.seeds)


def n_finished(results: Results) -> int:
    """Number of runs with at least one measured value."""
    return sum(
        max((results.cell(measure, series, point).n for measure in results.recipe.measures), default=0)
        for series in results.series
        for point in results.points
    )


def is_complete(results: Results) -> bool:
    """True if every run has at least one measured value."""
    return n_finished(results) >= n_wanted(results)


def problems(results: Results) -> dict[str, str]:
    """Reasons for missing values, by series, or by series and point if they differ between points."""
    found: dict[str, str] = {}
    for series in results.series:
        by_point = {point: results.problem(series, point) for point in results.points}
        told = {text for text in by_point.values() if text}
        if len(told) == 1 and all(by_point.values()):
            found[series] = told.pop()
        else:
            found |= {f"{series} at {point}": text for point, text in by_point.items() if text}
    return found


class Group(NamedTuple):
    """Experiments of a paper in one column of agents; their checks are never counted together with other columns.

    Attributes:
        paper: id of the source, a key of `SOURCES`; empty for recipes that cannot be read.
        column: the column.
    """

    paper: str
    column: AgentColumn

    @property
    def title(self) -> str:
        """Name of the paper, with the agents unless they are as printed; empty for recipes that cannot be read."""
        return in_column_text(SOURCES.get(self.paper, ""), self.column)


def in_column_text(text: str, column: AgentColumn) -> str:
    """A text about experiments, with the agents unless they are as printed."""
    return text if column is AgentColumn.PRINTED else f"{text}, {column.text}"


def group_order() -> list[Group]:
    """All groups, by the order of the papers in `SOURCES`, then by column."""
    return [Group(paper, column) for paper in SOURCES for column in AgentColumn]


class CheckCounts(NamedTuple):
    """Numbers of checks.

    Attributes:
        checks: all checks.
        met: checks that are met.
        agent_checks: checks that rest on an agent.
        agent_met: checks that rest on an agent and are met.
    """

    checks: int
    met: int
    agent_checks: int
    agent_met: int


def check_counts(every: Iterable[Results]) -> CheckCounts:
    """Number of checks and of met checks, in all and of those that rest on an agent.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    found = [
        (verdict.kind.is_met, results.uses_agent(verdict.check)) for results in every for verdict in results.verdicts()
    ]
    agents = [is_met for is_met, is_agent in found if is_agent]
    return CheckCounts(len(found), sum(is_met for is_met, _ in found), len(agents), sum(agents))
