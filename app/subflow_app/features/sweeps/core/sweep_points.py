"""The scenarios of a sweep's points: read by the reader of scenario files, and what is wrong with any of them."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import with_contents, with_overrides
from subflow_app.features.sweeps.core.sweep_plan import SweepPlan, SweepPoint
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.foundation.errors import SweepError
from subflow_sim.errors import Problem, ScenarioError, SimError
from subflow_sim.limits import Limits, estimate
from subflow_sim.scenario import Scenario

if TYPE_CHECKING:
    from subflow_sim.limits import Estimate

MOST_PROBLEMS = 20
"""How many problems are told at once."""

_SEED_LINE = re.compile(r"^seed[ \t]*=[ \t]*[0-9_]+", re.MULTILINE)


class PointReader:
    """Makes the scenarios of a plan's points. For one thread at a time."""

    def __init__(self, plan: SweepPlan) -> None:
        """Read what all points share."""
        self._plan = plan
        self._tree = tomllib.loads(plan.scenario_text)
        self._algorithms = app_catalog()  # once, for all points
        self._latest_scenario: tuple[int, Scenario] | None = None
        self._latest_text: tuple[int, str] | None = None

    @cached_property
    def _seeded_text(self) -> str:
        return with_overrides(self._plan.scenario_text, [f"seed={self._plan.seeds[0]}"])

    def scenario(self, point: SweepPoint) -> Scenario:
        """The scenario of a point, with the seed of the plan's scenario.

        Raises:
            ScenarioError: with all that is wrong with it.
        """
        if self._latest_scenario is not None and self._latest_scenario[0] == point.number:
            return self._latest_scenario[1]  # of another seed
        scenario = read_scenario(
            Use.SWEEP,
            self._plan.scenario_text,
            file=self._plan.name,
            overrides=self._plan.overrides(point),
            algorithms=self._algorithms,
            folder=self._plan.folder,
            tree=copy.deepcopy(self._tree),
        )
        self._latest_scenario = (point.number, scenario)
        return scenario

    def text(self, point: SweepPoint, scenario: Scenario, seed: int) -> str:
        """TOML that is exactly the run of this point with this seed; comments and layout are those of the plan's."""
        if self._latest_text is None or self._latest_text[0] != point.number:
            # Editing TOML takes ten times as long as reading it: what all points share is written once, and between
            # runs of a point only the seed differs.
            text = with_overrides(self._seeded_text, self._plan.overrides(point))
            self._latest_text = (point.number, with_contents(text, scenario))
        text, n = _SEED_LINE.subn(f"seed = {seed}", self._latest_text[1], count=1)
        if n == 1 and tomllib.loads(text).get("seed") == seed:
            return text
        return with_overrides(self._latest_text[1], [f"seed={seed}"])


def check_points(
    plan: SweepPlan,
    *,
    limits: Limits | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda done: None,
) -> list[str]:
    """Read the scenario of every point.

    Args:
        plan: the sweep.
        limits: what each run may take; None: as the environment says.
        is_cancelled: asked before each point.
        progress: told how many points are done.

    Returns:
        The `scenario_hash` of each point, in order; fewer if it was cancelled.

    Raises:
        SweepError: with all problems, each once, naming axis, value and point.
    """
    limits = limits or Limits.from_environment()
    reader = PointReader(plan)
    hashes: list[str] = []
    problems: dict[str, str] = {}  # what is told, and where it was found first
    for point in plan.points():
        if is_cancelled() or len(problems) > MOST_PROBLEMS:
            break
        try:
            scenario = reader.scenario(point)
            limits.check(told_of(plan, scenario))
            hashes.append(scenario_hash(scenario))
        except ScenarioError as error:
            for problem in error.problems:
                problems.setdefault(_told(plan, point, problem), plan.label(point))
        except SimError as error:
            problems.setdefault(f"point {point.number + 1} ({plan.label(point)}): {error}", "")
        progress(point.number + 1)
    if problems:
        raise SweepError("\n".join(_listed(problems)))
    return hashes


def told_of(plan: SweepPlan, scenario: Scenario) -> Estimate:
    """What a run of this point would take."""
    return estimate(scenario, sample_interval_s=plan.sample_interval_s)


def _told(plan: SweepPlan, point: SweepPoint, problem: Problem) -> str:
    """A problem by the axis whose value it is about; without one, by the point."""
    for key, value in zip(plan.keys, plan.swept(point), strict=True):
        dotted = re.sub(r"\[(\d+)\]", r".\1", key)
        found = re.sub(r"\[(\d+)\]", r".\1", problem.key)
        if value.text and (found == dotted or found.startswith(f"{dotted}.") or dotted.startswith(f"{found}.")):
            detail = f" ({problem.key} = {problem.value})" if problem.key != key else ""
            allowed = f"; allowed: {problem.allowed}" if problem.allowed else ""
            return f"axis {key}, value {value.text}{detail}: {problem.message}{allowed}"
    return f"point {point.number + 1} ({plan.label(point)}): {problem}"


def _listed(problems: dict[str, str]) -> Sequence[str]:
    lines = [
        f"{text} (first at the point {label})" if label and text.startswith("axis ") else text
        for text, label in problems.items()
    ]
    if len(lines) <= MOST_PROBLEMS:
        return lines
    return [*lines[:MOST_PROBLEMS], "and more: only the first problems are listed"]
