"""Plans the runs of a recipe as sweeps: one sweep for each scenario, with a point for each series and axis point.

Because the plans are ordinary sweeps, stored runs are reused and interrupted experiments can resume. Experiments also
appear in lists and exports of sweeps.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, open_scenario
from subflow_app.features.gallery.core.axis import AxisPoint
from subflow_app.features.gallery.core.recipe import Recipe, Series
from subflow_app.features.sweeps.core.axes import Axis, outer_first
from subflow_app.features.sweeps.core.sweep_plan import PointReader, SweepPlan
from subflow_app.foundation.errors import RecipeError
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_edit import TomlValue, overrides_of
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import Scenario
from subflow_sim.units import Dimension, format_quantity, parse_quantity

Place = tuple[str, str]
"""Names of a series and of a point."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sweep plan for one scenario of an experiment.

    Attributes:
        plan: the plan.
        places: series and axis point for each point of the plan, in order.
    """

    plan: SweepPlan
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """All runs of an experiment.

    Attributes:
        parts: a part for each scenario.
        problems: reasons why a series cannot run at a point, such as a missing agent.
    """

    parts: tuple[Part, ...]
    problems: Mapping[Place, str]

    @property
    def n_runs(self) -> int:
        """Number of runs of all parts."""
        return sum(part.plan.n_runs for part in self.parts)


def plan_experiment(recipe: Recipe, *, is_quick: bool, seeds: Sequence[int], is_checked: bool = True) -> ExperimentPlan:
    """Plan the runs of a recipe.

    Args:
        recipe: a recipe of the kind runs.
        is_quick: whether to apply `[quick]`.
        seeds: seeds of each point.
        is_checked: whether to read the scenario of every point, and omit points whose agent is missing.

    Raises:
        RecipeError: if a scenario or a point cannot run for any reason other than a missing agent.
    """
    fixed = {**recipe.values, **(recipe.quick.values if is_quick else {})}
    by_scenario: dict[Path, list[Series]] = {}
    for series in recipe.series_of(is_quick=is_quick):
        assert series.scenario is not None
        by_scenario.setdefault(series.scenario, []).append(series)
    parts: list[Part] = []
    problems: dict[Place, str] = {}
    points = recipe.points(is_quick=is_quick)
    for path, group in by_scenario.items():
        try:
            source = open_scenario(str(path), use=Use.REPRODUCE, overrides=overrides_of(fixed))
        except ScenarioError as error:
            if not _is_about_agents(error):
                raise RecipeError(f"{recipe.path}: {path.stem}: {error}") from error
            problems |= {(series.name, point.label): _agent_text(error) for series in group for point in points}
            continue
        name = _name(recipe, is_quick=is_quick) + (f" · {path.stem}" if len(by_scenario) > 1 else "")
        part = _part(recipe, name, path, source, group, points, seeds)
        if is_checked:
            found = _missing_agents(recipe, part)
            if found:
                problems |= found
                kept = [
                    (series, point) for series in group for point in points if (series.name, point.label) not in found
                ]
                if not kept:
                    continue
                part = _part(recipe, name, path, source, group, points, seeds, found)
        parts.append(part)
    return ExperimentPlan(tuple(parts), problems)


def _part(
    recipe: Recipe,
    name: str,
    path: Path,
    source: ScenarioSource,
    group: Sequence[Series],
    points: Sequence[AxisPoint],
    seeds: Sequence[int],
    left_out: Mapping[Place, str] | None = None,
) -> Part:
    tree = tomllib.loads(source.text)
    places = []
    tables: list[dict[str, TomlValue]] = []
    for series in group:
        for point in points:
            if left_out and (series.name, point.label) in left_out:
                continue
            own = {**series.values, **series.at.get(point.label, {})}
            duration_s = _duration(source, {**(point.values or {}), **own})
            places.append((series.name, point.label))
            tables.append({**point.changes(tree, duration_s), **own})
    keys = outer_first(key for table in tables for key in table)
    if not keys:
        # A plan needs a key to sweep over, so it sets the duration that the scenario already has.
        keys = ("duration",)
        tables = [{"duration": format_quantity(source.scenario.duration_s, Dimension.TIME)}]
    plan = SweepPlan(
        name=name,
        scenario_text=source.text,
        axes=(Axis(keys, tuple(tuple(table.get(key) for table in tables) for key in keys)),),
        seeds=seeds,
        kind="list",
        sample_interval_s=recipe.sample_interval_s,
        keeps_traces=recipe.keeps_traces,
        folder=None if path.parent == resource_path("scenarios") else path.parent,
        written={"points": tables, "seeds": list(seeds)},
    )
    return Part(plan, tuple(places))


def part_scenarios(recipe: Recipe, part: Part) -> list[tuple[Place, Scenario | None]]:
    """The scenario at each place of a part; None if its agent is missing.

    Raises:
        RecipeError: if scenarios have other problems; the message lists them all.
    """
    return [(place, None if isinstance(told, str) else told) for place, told in _scenarios(recipe, part)]


def _missing_agents(recipe: Recipe, part: Part) -> dict[Place, str]:
    """Places whose scenario names a missing agent, with the problem.

    Raises:
        RecipeError: if scenarios have other problems; the message lists them all.
    """
    return {place: told for place, told in _scenarios(recipe, part) if isinstance(told, str)}


def _scenarios(recipe: Recipe, part: Part) -> list[tuple[Place, Scenario | str]]:
    """The scenario at each place of a part, or the problem of its missing agent.

    Raises:
        RecipeError: if scenarios have other problems; the message lists them all.
    """
    reader = PointReader(part.plan)
    found: list[tuple[Place, Scenario | str]] = []
    wrong: dict[str, None] = {}
    for place, point in zip(part.places, part.plan.points(), strict=True):
        try:
            found.append((place, reader.scenario(point)))
        except ScenarioError as error:
            if _is_about_agents(error):
                found.append((place, _agent_text(error)))
            else:
                wrong |= {
                    f"{recipe.path}: series {place[0]}{f', point {place[1]}' if place[1] else ''}: {problem}": None
                    for problem in error.problems
                }
    if wrong:
        raise RecipeError("\n".join(wrong))
    return found


def _is_about_agents(error: ScenarioError) -> bool:
    return all("policy" in problem.key.split(".") or "policy" in problem.message for problem in error.problems)


def _agent_text(error: ScenarioError) -> str:
    problem = error.problems[0]
    named = f" ({problem.value})" if problem.value and problem.value not in problem.message else ""
    return f"{problem.message}{named}"


def _duration(source: ScenarioSource, values: Mapping[str, Any]) -> float:
    written = values.get("duration")
    if written is None:
        return source.scenario.duration_s
    return parse_quantity(written, Dimension.TIME) if isinstance(written, str) else float(written)


def _name(recipe: Recipe, *, is_quick: bool) -> str:
    return f"experiment {recipe.label}{' (quick)' if is_quick else ''}"
