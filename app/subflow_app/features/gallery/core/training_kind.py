"""Experiments of the kind `training`: each series is a short training, measured by its training curve.

kind = "training"

[training]                       # for all series
agent = "rl-explore"
recipe = "clean-slate"           # shipped policy whose options apply unless [options] sets them
steps = 100000                   # transitions
num_envs = 16
episode = "20s"
report_every = 5000              # transitions between two points of the curve

[training.options]               # options of the agent
history = 1

[training.quick]                 # for quick runs, in addition to the tables above
steps = 20000

[series."k = 2"]
training = { options = { history = 2 } }     # in addition to the settings of all series

Each series trains on its scenario, including the changes of the series. Trainings are exactly repeatable. They are kept
in the folder of trainings and in the store, and existing trainings are reused: see `kept_trainings`. Measures are
computed from the training curves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subflow_agents import AgentError, agent_names
from subflow_app.features.gallery.core.recipe import Measure, MeasureKind, Recipe
from subflow_app.features.training.core.kept_trainings import KeptTrainings, WantedTraining, is_same_training
from subflow_app.features.training.core.training_service import default_limit
from subflow_app.features.training.core.training_setup import TrainingRequest, check_torch, load_recipe, prepare
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.paths import trainings_directory
from subflow_app.foundation.toml_edit import overrides_of
from subflow_sim.errors import SimError
from subflow_sim.parameter import Param
from subflow_sim.section_reader import Report, read_section
from subflow_sim.units import Dimension
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.foundation.jobs.executors import ExecutorMaker
    from subflow_store import Store


FloatArray = NDArray[np.float64]

COLUMNS: Mapping[str, str] = {
    "reward": "return_mean",
    "goodput": "flow_goodput_bps",
    "loss_ratio": "loss_ratio",
    "rtt_inflation": "rtt_inflation",
}
"""The metric of a training that each measure reads, by the name of the measure."""

SMOOTHED = 0.1
"""Share of the budget over which a curve is averaged before it is compared with a level."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingCurve:
    """A metric over the course of a training.

    Attributes:
        steps: number of transitions learned at each report, float64 [n], increasing.
        values: values of the metric, float64 [n].
        budget: number of steps of the whole training.
    """

    steps: FloatArray
    values: FloatArray
    budget: float

    @classmethod
    def of_points(cls, steps: FloatArray, values: FloatArray, budget: float) -> TrainingCurve:
        """Build a curve from reports. If steps were reported again after an interruption, the last report counts.

        Args:
            steps: steps of the reports, float64 [n].
            values: values of the reports, float64 [n]; NaN in reports without the metric.
            budget: number of steps of the whole training.
        """
        known = np.isfinite(values)
        steps, values = steps[known], values[known]
        kept, last = np.unique(steps[::-1], return_index=True)
        return cls(kept, values[::-1][last], budget)

    def mean(self, since: float, until: float) -> float:
        """Mean of the reports between two shares of the budget; NaN if no report lies between them."""
        inside = (self.steps > since * self.budget) & (self.steps <= until * self.budget + 0.5)
        # Steps of all environments are counted together, so the last report may exceed the budget.
        if until >= 1:
            inside = self.steps > since * self.budget
        return float(self.values[inside].mean()) if inside.any() else math.nan

    def smoothed(self) -> FloatArray:
        """Moving average over the preceding tenth of the budget, float64 [n]."""
        sums = np.concatenate([[0.0], np.cumsum(self.values)])
        begin = np.searchsorted(self.steps, self.steps - SMOOTHED * self.budget, side="right")
        end = np.arange(1, len(self.steps) + 1)
        smooth: FloatArray = (sums[end] - sums[begin]) / (end - begin)
        return smooth

    def steps_to_reach(self, level: float) -> float:
        """Steps until the smoothed curve first reaches a level; NaN if the curve is empty or the level is NaN.

        For a level that is never reached, this is the budget, a lower bound; comparisons then understate differences.
        """
        if len(self.steps) == 0 or math.isnan(level):
            return math.nan
        reached = np.flatnonzero(self.smoothed() >= level)
        return float(self.steps[reached[0]]) if len(reached) else float(self.budget)


def common_level(curves: Mapping[str, list[TrainingCurve]], share: float, last: float = 0.8) -> float:
    """A level between the beginning of the trainings and the end of the best training.

    Args:
        curves: curves of the trainings of each series.
        share: position of the level: 0 for the lowest mean of first reports of any series, 1 for the highest mean
            at the end of the budget.
        last: share of the budget at which the end begins.

    Returns:
        The level; NaN if all curves are missing or empty.
    """
    begins, ends = [], []
    for trained in curves.values():
        known = [curve for curve in trained if len(curve.steps)]
        if known:
            begins.append(float(np.mean([curve.values[0] for curve in known])))
            ends.append(float(np.mean([curve.mean(last, 1.0) for curve in known])))
    if not begins:
        return math.nan
    return min(begins) + share * (max(ends) - min(begins))


NAME = "training"

_KEYS = (
    Param("agent", Dimension.NAME, "The agent to train."),
    Param("recipe", Dimension.NAME, "Of a shipped policy; its options are taken."),
    Param("steps", Dimension.COUNT, "Budget of transitions.", minimum=1),
    Param("num_envs", Dimension.COUNT, "Simulations side by side.", minimum=1, maximum=4096),
    Param("episode", Dimension.TIME, "Length of an episode.", minimum=0, exclusive_minimum=True),
    Param("report_every", Dimension.COUNT, "Transitions between two points of the curve.", minimum=1),
)
_TABLES = ("options",)
_POINTS = 20  # points of a curve if the recipe does not set `report_every`

_SINCE = Param("since", Dimension.RATIO, "Share of the budget from which on.", default=0.8, minimum=0, maximum=1)
_UNTIL = Param("until", Dimension.RATIO, "Share of the budget up to which.", default=1.0, minimum=0, maximum=1)
_LEVEL = Param(
    "level",
    Dimension.RATIO,
    "0: where the series that begins lowest begins; 1: where the best of them ends.",
    default=0.8,
    minimum=0,
    maximum=1,
)

MEASURES: Mapping[str, MeasureKind] = {
    kind.name: kind
    for kind in (
        MeasureKind(
            "reward",
            "Reward of a decision: mean of the reports of a part of the training, by default its last fifth. The "
            "discounted sum of a steady reward r is r / (1 - gamma).",
            Dimension.NUMBER,
            (_SINCE, _UNTIL),
            has_trace=True,
        ),
        MeasureKind(
            "goodput",
            "Goodput of a flow with the agent in the episodes that ended in a part of the training.",
            Dimension.RATE,
            (_SINCE, _UNTIL),
            has_trace=True,
        ),
        MeasureKind(
            "loss_ratio",
            "Packets lost over packets sent in the episodes that ended in a part of the training.",
            Dimension.RATIO,
            (_SINCE, _UNTIL),
            has_trace=True,
        ),
        MeasureKind(
            "steps_to_reach",
            "Transitions until the reward, averaged over a tenth of the budget, is first at a level that is the same "
            "for all series. A training that never gets there counts with its whole budget, the least it can be.",
            Dimension.NUMBER,
            (_LEVEL,),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class TrainingSpec:
    """Training settings of a series, as far as the recipe gives them.

    Attributes:
        agent: name of the agent; empty if not given yet.
        recipe: shipped policy whose options apply; empty if not given.
        steps: budget of transitions.
        settings: further fields of `TrainingConfig`.
        options: options of the agent.
    """

    agent: str = ""
    recipe: str = ""
    steps: int = 0
    settings: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None

    def with_table(self, table: Mapping[str, Any]) -> TrainingSpec:
        """A copy updated with the values of a table, as returned by `read_table`."""
        settings = dict(self.settings or {})
        if "num_envs" in table:
            settings["num_envs"] = table["num_envs"]
        if "episode" in table:
            settings["episode_s"] = table["episode"]
        if "report_every" in table:
            settings["report_every"] = table["report_every"]
        return TrainingSpec(
            table.get("agent", self.agent),
            table.get("recipe", self.recipe),
            table.get("steps", self.steps),
            settings,
            {**(self.options or {}), **table.get("options", {})},
        )

    def request(self, scenario: str, overrides: Sequence[str], seed: int) -> TrainingRequest:
        """Training request for a scenario and seed.

        Raises:
            InputError: if the recipe of the policy does not exist.
        """
        options = dict(self.options or {})
        if self.recipe:
            options = {**load_recipe(self.recipe).options, **options}
        settings = {
            "steps": self.steps,
            "seed": seed,
            "deterministic": True,
            "evaluation_every": 0,
            "report_every": max(1, self.steps // _POINTS),
            **(self.settings or {}),
        }
        return TrainingRequest(self.agent, scenario, overrides=tuple(overrides), options=options, settings=settings)


def read_table(report: Report, path: tuple[str, ...], tree: object, also_known: Sequence[str] = ()) -> dict[str, Any]:
    """Checked values of a table of the recipe; problems are added to the report."""
    table = report.expect_table(path, tree, "a table of agent, steps, options")
    if table is None:
        return {}
    values = read_section(report, path, table, _KEYS, also_known=(*_TABLES, *also_known))
    given = {key: values[key] for key in table if values.get(key) is not None and key not in also_known}
    if "agent" in given and given["agent"] not in agent_names():
        report.add((*path, "agent"), f'unknown agent "{given["agent"]}"', ", ".join(agent_names()))
    if "options" in table:
        options = report.expect_table((*path, "options"), table["options"], "a table of the agent's options")
        given["options"] = dict(options or {})
    return given


class TrainingKind:
    """Implements `Kind` for trainings."""

    name = NAME
    measures = MEASURES
    tables: Sequence[str] = (NAME,)
    series_keys: Sequence[str] = (NAME,)
    quick_keys: Sequence[str] = ()
    needs_scenario = True

    def __init__(self, trainer: str = TRAINER) -> None:
        self._trainer = trainer

    def read(self, report: Report, tree: Mapping[str, Any]) -> Mapping[str, Any]:
        """Checked values of [training] and [training.quick], and of each series."""
        if "axis" in tree:
            report.add(("axis",), "an experiment of the kind training has no axis", "left out")
        table = report.expect_table((NAME,), tree.get(NAME, {}), "[training]") or {}
        whole = read_table(report, (NAME,), table, also_known=("quick",))
        quick = read_table(report, (NAME, "quick"), table["quick"]) if "quick" in table else {}
        series = tree.get("series", {})
        own = {
            name: read_table(report, ("series", name, NAME), given[NAME]) if NAME in given else {}
            for name, given in (series.items() if isinstance(series, Mapping) else ())
            if isinstance(given, Mapping)
        }
        for name, given in own.items():
            spec = TrainingSpec().with_table(whole).with_table(given)
            for key, is_missing in (("agent", not spec.agent), ("steps", not spec.steps)):
                if is_missing:
                    report.add(("series", name, NAME), f"{key} is missing, here and in [training]", f"a key {key}")
        return {"whole": whole, "quick": quick, "series": own}

    def job(
        self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int], executor: ExecutorMaker
    ) -> TrainingRuns:
        """A job that trains in child processes, at most one for every two cores at a time."""
        wanted = wanted_trainings(recipe, is_quick=is_quick, seeds=seeds)
        return TrainingRuns(tuple(wanted.values()), store, jobs=default_limit(), trainer=self._trainer)

    def stored(self, recipe: Recipe, store: Store, *, is_quick: bool, seeds: Sequence[int]) -> TrainingValues | None:
        """Values of the latest finished trainings that match the recipe; None if all are missing but can be run."""
        return TrainingValues.of(recipe, store, is_quick=is_quick, seeds=tuple(seeds))


def wanted_trainings(recipe: Recipe, *, is_quick: bool, seeds: Sequence[int]) -> dict[tuple[str, int], WantedTraining]:
    """Requested trainings of an experiment, by series and seed.

    Raises:
        InputError: if a series has no scenario, or a policy's recipe does not exist.
    """
    wanted = {}
    for series in recipe.series_of(is_quick=is_quick):
        spec = TrainingSpec().with_table(recipe.extra["whole"]).with_table(recipe.extra["series"].get(series.name, {}))
        if is_quick:
            spec = spec.with_table(recipe.extra["quick"])
        if series.scenario is None:
            raise InputError(f'{recipe.name}: the series "{series.name}" has no scenario to train on')
        values = {**recipe.values, **(recipe.quick.values if is_quick else {}), **series.values}
        overrides = overrides_of(values)
        for seed in seeds:
            request = spec.request(str(series.scenario), overrides, seed)
            wanted[series.name, seed] = WantedTraining(f"{recipe.name} {series.name} seed {seed}", request)
    return wanted


class TrainingRuns(KeptTrainings):
    """Runs the trainings of an experiment."""

    def _work(self) -> None:
        """Run the missing trainings. An error, such as missing PyTorch, becomes a problem of the job."""
        try:
            super()._work()
        except (TrainingError, AgentError, SimError) as error:
            self._problems.append(f"not measured: {error}")
            self._tell(failed=self._progress.runs - self._progress.finished, share=math.nan)


class TrainingValues:
    """Implements `Values` from trainings of the store."""

    note = ""

    def __init__(
        self,
        recipe: Recipe,
        curves: Mapping[tuple[str, int], Mapping[str, TrainingCurve]],
        seeds: tuple[int, ...],
        needs: str = "",
        numbers: tuple[int, ...] = (),
    ) -> None:
        self._recipe = recipe
        self._curves = curves
        self._seeds = seeds
        self._needs = needs
        self._numbers = numbers

    @classmethod
    def of(cls, recipe: Recipe, store: Store, *, is_quick: bool, seeds: tuple[int, ...]) -> TrainingValues | None:
        """Values of the stored trainings; None if all are missing and this installation can run them.

        Raises:
            StoreError: if the store cannot be read.
            InputError: if a scenario cannot be used.
        """
        wanted = wanted_trainings(recipe, is_quick=is_quick, seeds=seeds)
        by_name: dict[str, list[int]] = {}
        for row in store.trainings.rows(state=JobState.FINISHED.value):
            by_name.setdefault(row.name, []).append(row.id)
        curves = {}
        numbers = []
        for place, each in wanted.items():
            config = prepare(each.request, trainings_directory())
            for number in sorted(by_name.get(each.label, ()), reverse=True):
                if is_same_training(config, store.trainings.get(number)):
                    curves[place] = _stored_curves(store, number, float(config.steps or 0))
                    numbers.append(number)
                    break
        needs = _needs()
        return cls(recipe, curves, seeds, needs, tuple(numbers)) if curves or needs else None

    def records(self) -> Records:
        """The trainings from which the values were read."""
        return Records(trainings=self._numbers)

    def values(self, measure: str, series: str, point: str) -> Sequence[float]:
        """A value for each seed; NaN for missing trainings."""
        return [self._value(self._recipe.measures[measure], series, seed) for seed in self._seeds]

    def trace(self, measure: str, series: str, point: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Steps and values of a training; None if the curve is missing."""
        curve = self._curves.get((series, seed), {}).get(self._recipe.measures[measure].kind.name)
        return None if curve is None else (curve.steps, curve.values)

    def problem(self, series: str, point: str) -> str:
        """Message with the missing trainings; empty if all exist."""
        missing = [seed for seed in self._seeds if (series, seed) not in self._curves]
        if not missing:
            return ""
        return self._needs or f"not trained to its end: seed {', '.join(map(str, missing))}"

    def _value(self, measure: Measure, series: str, seed: int) -> float:
        if (series, seed) not in self._curves:
            return math.nan
        mine, options = self._curves[series, seed], measure.options
        if measure.kind.name in COLUMNS:
            return mine[measure.kind.name].mean(float(options["since"]), float(options["until"]))
        by_series: dict[str, list[TrainingCurve]] = {}
        for (name, _seed), curves in self._curves.items():
            by_series.setdefault(name, []).append(curves["reward"])
        return mine["reward"].steps_to_reach(common_level(by_series, float(options["level"])))


def _stored_curves(store: Store, number: int, budget: float) -> dict[str, TrainingCurve]:
    found = store.trainings.curves(number, [*COLUMNS.values()])
    return {
        measure: TrainingCurve.of_points(found[column].step, found[column].values, budget)
        if column in found
        else TrainingCurve.of_points(np.empty(0), np.empty(0), budget)
        for measure, column in COLUMNS.items()
    }


def _needs() -> str:
    """Missing requirement for training on this installation; empty if nothing is missing."""
    try:
        check_torch()
    except TrainingError as error:
        return str(error)
    return ""
