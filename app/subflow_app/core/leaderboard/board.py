"""The leaderboard in the store: what carries contests out, and what is known of them.

What is known is put together from every sweep of a contest, so that one run with a few controllers, with more seeds
later, or with a controller that is new, adds to what is there.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subflow_app.core.errors import LeaderboardError
from subflow_app.core.experiments.kinds import KINDS
from subflow_app.core.experiments.planning import ExperimentPlan, Part, plan_experiment
from subflow_app.core.experiments.recipe import Recipe
from subflow_app.core.experiments.reproduction import Reproductions
from subflow_app.core.experiments.run_data import matches
from subflow_app.core.experiments.runs_kind import RunValues
from subflow_app.core.jobs.progress import JobProgress
from subflow_app.core.leaderboard.competitors import Competitor, chosen_competitors
from subflow_app.core.leaderboard.contest import Contest, load_contests
from subflow_app.core.leaderboard.contest_recipe import RECIPE_PREFIX, RENO, cost_recipe, runs_recipe
from subflow_app.core.leaderboard.metrics import BOARD_METRICS
from subflow_app.core.sweeps.plan_file import parse_plan
from subflow_sim.errors import SimError
from subflow_sim.stats import Estimate
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.core.sweeps.sweep_plan import SweepPlan
    from subflow_store import Store

Place = tuple[str, str, str]
"""Contest, metric and competitor, by their ids and names."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is asked for.

    Attributes:
        contests: in order.
        competitors: in order, those that cannot take part among them.
        is_quick: whether contests are shortened.
        seeds: of each; None: as the contest says.
    """

    contests: tuple[Contest, ...]
    competitors: tuple[Competitor, ...]
    is_quick: bool = False
    seeds: Sequence[int] | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Why competitors cannot take part, a line each."""
        return tuple(f"{each.name} does not take part: {each.problem}" for each in self.competitors if each.problem)

    def seeds_of(self, contest: Contest) -> Sequence[int]:
        """The seeds of a contest."""
        return contest.seeds_of(is_quick=self.is_quick) if self.seeds is None else self.seeds


def entry(
    contests: Sequence[str] = (),
    controllers: Sequence[str] = (),
    *,
    is_quick: bool = False,
    seeds: Sequence[int] | None = None,
) -> Entry:
    """What is asked for by names; without any, all.

    Raises:
        InputError: if there is no such contest or controller; `LeaderboardError` if a contest is not usable.
    """
    return Entry(load_contests(contests), chosen_competitors(controllers), is_quick, seeds)


@dataclass(frozen=True, slots=True)
class Shipped:
    """Where a leaderboard that ships comes from.

    Attributes:
        version: of the Subflow that made its runs.
        date: of the last of them, as 2026-11-23.
    """

    version: str
    date: str


@dataclass(frozen=True, slots=True)
class Board:
    """What is known.

    Attributes:
        entry: what was asked for.
        cells: mean over the seeds, SI, with its 95 % interval, of what is known; without those of which nothing is.
        n_wanted: runs that it takes, cost left out.
        n_finished: those of them that are there.
        note: on which machine CPU time was measured; may be empty.
        shipped: where it comes from, if it ships with the program; None: it was run here.
    """

    entry: Entry
    cells: Mapping[Place, Estimate]
    n_wanted: int
    n_finished: int
    note: str = ""
    shipped: Shipped | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not self.cells

    def cell(self, contest: str, metric: str, competitor: str) -> Estimate | None:
        """What is known of one thing; None: nothing."""
        return self.cells.get((contest, metric, competitor))

    def values(self, contest: str, metric: str) -> dict[str, float]:
        """Means by competitor, SI, of one contest and metric, in the order of the competitors."""
        found = {each.name: self.cell(contest, metric, each.name) for each in self.entry.competitors}
        return {name: cell.mean for name, cell in found.items() if cell is not None}


class LeaderboardJob(Reproductions):
    """Carries contests out.

    Args:
        entry: what is asked for.
        store: where runs are kept; those that are there are not made again.
        jobs: how many runs at once.
        cluster: address of a Ray cluster that makes them instead; None: none.

    Raises:
        LeaderboardError: if nothing can take part, or a contest is not usable.
    """

    def __init__(self, entry: Entry, store: Store, *, jobs: int = 1, cluster: str | None = None) -> None:
        self.entry = entry
        recipes: list[Recipe] = []
        for make in (runs_recipe, cost_recipe):
            made = (
                make(contest, entry.competitors, is_quick=entry.is_quick, seeds=entry.seeds)
                for contest in entry.contests
            )
            recipes += [recipe for recipe in made if recipe is not None]
        if not recipes:
            told = "; ".join(entry.problems) or "on single paths, coupled controllers are NewReno"
            raise LeaderboardError(f"none of the controllers takes part in any of the contests: {told}")
        super().__init__(recipes, store, jobs=jobs, cluster=cluster)

    @property
    def progress(self) -> JobProgress:
        """How far it is; contests are told without the word that all their experiments begin with."""
        told = super().progress
        return replace(told, doing=told.doing.replace(RECIPE_PREFIX, "", 1))


def stored_board(entry: Entry, store: Store, is_cancelled: Callable[[], bool] = lambda: False) -> Board:
    """What a store has; nothing is run, and the store may be read-only. It takes seconds.

    Raises:
        InterruptedError: if it was cancelled.
        LeaderboardError: if a contest is not usable.
        StoreError: if the store cannot be read.
    """
    sweeps: dict[str, list[int]] = {}
    for record in reversed(store.sweeps.rows()):  # the oldest first: newer ones take precedence
        sweeps.setdefault(record.name, []).append(record.id)
    cells: dict[Place, Estimate] = {}
    wanted = finished = 0
    note = ""
    for contest in entry.contests:
        if is_cancelled():
            raise InterruptedError
        seeds = tuple(entry.seeds_of(contest))
        recipe = runs_recipe(contest, entry.competitors, is_quick=entry.is_quick, seeds=seeds)
        if recipe is None:
            continue
        wanted += len(recipe.series) * len(seeds)
        values = _stored_runs(recipe, store, sweeps, seeds)
        if values is not None:
            finished += sum(values.run(name, "", seed) is not None for name in recipe.series for seed in seeds)
            cells |= _run_cells(contest, recipe, values, seeds, is_quick=entry.is_quick)
        cost = cost_recipe(contest, entry.competitors, is_quick=entry.is_quick, seeds=seeds)
        measured = None if cost is None else KINDS["cost"]().stored(cost, store, is_quick=False, seeds=seeds)
        if cost is not None and measured is not None:
            note = measured.note
            for name in recipe.series:
                _put(cells, (contest.id, "cpu", name), measured.values("cpu", name, ""))
    return Board(entry, cells, wanted, finished, note)


def records(store: Store) -> Records:
    """The runs and the sweeps of a store that belong to the leaderboard, quick or full; cost left out.

    Raises:
        StoreError: if the store cannot be read.
    """
    prefix = f"experiment {RECIPE_PREFIX}"
    sweeps = tuple(sorted(record.id for record in store.sweeps.rows() if record.name.startswith(prefix)))
    runs = {row.run_id for sweep_id in sweeps for row in store.sweeps.runs(sweep_id) if row.run_id is not None}
    return Records(tuple(sorted(runs)), sweeps)


def _stored_runs(
    recipe: Recipe, store: Store, sweeps: Mapping[str, Sequence[int]], seeds: Sequence[int]
) -> RunValues | None:
    """The runs of all sweeps of a contest that are still the same as its runs now."""
    # One part: all series have the scenario of the contest.
    plan = plan_experiment(recipe, is_quick=False, seeds=seeds, is_checked=False)
    if not plan.parts:
        return None
    own = plan.parts[0]
    series = {key: name for key, (name, _) in zip(_point_keys(own.plan), own.places, strict=True)}
    parts = []
    for sweep_id in sweeps.get(own.plan.name, ()):
        text = store.sweeps.get(sweep_id).plan or ""
        tree = tomllib.loads(text)
        if tree.get("scenario_text") != own.plan.scenario_text:
            continue  # of an older version of the contest, or of a longer or shorter one
        stored = parse_plan(text, file=f"sweep {sweep_id}")
        # Controllers that nobody asks for, or that have gone, are kept apart by a name that none has.
        keys = _point_keys(stored)
        places = tuple((series.get(key, f"#{number}"), "") for number, key in enumerate(keys))
        if any(name in recipe.series for name, _ in places):
            parts.append((Part(stored, places), sweep_id))
    return RunValues(recipe, store, ExperimentPlan(plan.parts, {}), parts, seeds) if parts else None


def _point_keys(plan: SweepPlan) -> list[frozenset[str]]:
    """What tells each point from the others, whatever the order of the keys of its plan."""
    return [frozenset(plan.overrides(point)) for point in plan.points()]


def _run_cells(
    contest: Contest, recipe: Recipe, values: RunValues, seeds: Sequence[int], *, is_quick: bool
) -> dict[Place, Estimate]:
    cells: dict[Place, Estimate] = {}
    fair_bps = fair_share_bps(contest, is_quick=is_quick) if contest.beside else math.nan
    longest_s = _longest_wait(contest, is_quick=is_quick)
    for name in recipe.series:
        for measure in recipe.measures:
            told = list(values.values(measure, name, ""))
            if measure == RENO:
                _put(cells, (contest.id, "friendliness", name), [value / fair_bps for value in told])
                continue
            if measure == "convergence":
                # A run that never came near has waited in vain all the time that it had.
                there = [values.run(name, "", seed) is not None for seed in seeds]
                pairs = zip(told, there, strict=True)
                told = [longest_s if math.isnan(value) and is_there else value for value, is_there in pairs]
            assert measure in BOARD_METRICS
            _put(cells, (contest.id, measure, name), told)
    return cells


def _put(cells: dict[Place, Estimate], place: Place, values: Sequence[float]) -> None:
    cell = Estimate.of(values)
    if cell.n:
        cells[place] = cell


def fair_share_bps(contest: Contest, *, is_quick: bool) -> float:
    """The max-min fair share of the NewReno flows of a contest together, over the time after warm-up, bit/s.

    Raises:
        LeaderboardError: if the scenario is not usable, or has no such split.
    """
    from subflow_sim.fairness.ideal import ideal_shares

    try:
        scenario = contest.simulated(is_quick=is_quick)
        split = ideal_shares(scenario, scenario.warmup_s, scenario.duration_s).max_min
    except (SimError, ArithmeticError) as error:
        raise LeaderboardError(f"{contest.path}: {error}") from error
    beside = ",".join(contest.beside)
    return math.fsum(share for name, share in split.totals_bps.items() if matches(name, beside))


def _longest_wait(contest: Contest, *, is_quick: bool) -> float:
    """From the step to the end of the wait, s."""
    if contest.convergence is None:
        return math.nan
    until_s = contest.convergence.get("until")
    if until_s is None:
        until_s = contest.simulated(is_quick=is_quick).duration_s
    return float(until_s - contest.convergence["since"])
