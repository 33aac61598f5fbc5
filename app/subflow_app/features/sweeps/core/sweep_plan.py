"""Plans of sweeps, which consist of a scenario, values for its keys, and seeds. Also checks the scenario of each point.

A grid contains every combination of the values on its axes. A list or random draws form a single axis, on which all
keys vary together. Therefore, one function computes the values of a point from its number for all kinds of plans.
Points are expanded only on demand.

The scenarios of the points are read like scenario files, and all their problems are reported.
"""

from __future__ import annotations

import copy
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.algorithm_choices import KINDS as KINDS_OF_ALGORITHMS
from subflow_app.features.editor.core.algorithm_choices import own_or_named, replaced_text, value_text, without_defaults
from subflow_app.features.editor.core.scenario_doc import split_key
from subflow_app.features.editor.core.scenario_source import with_contents, with_overrides
from subflow_app.features.running.core.runs_estimate import spread_numbers
from subflow_app.features.sweeps.core.axes import Axis, SweptValue, swept
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.foundation.errors import SweepError
from subflow_app.foundation.toml_edit import TomlValue, get_value, render
from subflow_sim.errors import Problem, ScenarioError, SimError
from subflow_sim.limits import Limits, estimate
from subflow_sim.scenario import Scenario

SweepKind = Literal["grid", "list", "random"]
KINDS: tuple[SweepKind, ...] = ("grid", "list", "random")

DEFAULT_SAMPLE_INTERVAL_S = 0.1


_MOST_LOOKED_AT = 1000
"""Maximum number of points that are searched for replaced options."""


def _is_algorithm(key: str) -> bool:
    return key.rpartition(".")[2] in KINDS_OF_ALGORITHMS


class SweepPoint(NamedTuple):
    """One combination of values.

    Attributes:
        number: number of the point, from 0.
        values: values in the order of the keys of the plan; the value None keeps the scenario's own value.
    """

    number: int
    values: tuple[TomlValue | None, ...]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A sweep before its points are expanded.

    Attributes:
        name: title of the sweep.
        scenario_text: TOML of the scenario, including the fixed changes and the contents of delivery traces.
        axes: swept keys and their values; the last axis varies fastest.
        seeds: seeds of the runs of each point, in order, without repetition.
        kind: notation of the points.
        sample_interval_s: simulated time between two samples of the traces, s.
        keeps_traces: whether traces are stored in addition to the figures.
        records_decisions: whether the decisions of controllers and schedulers are stored.
        sweep_seed: seed of the random points.
        folder: folder of the policies to which the scenario refers by file; may be None.
        replaced_by_changes: lines about controllers and schedulers whose options were replaced by the fixed changes.
        written: axes, points and seeds in the notation of the plan file, by key; see `plan_file`.
    """

    name: str
    scenario_text: str
    axes: tuple[Axis, ...]
    seeds: Sequence[int] = (1,)
    kind: SweepKind = "grid"
    sample_interval_s: float = DEFAULT_SAMPLE_INTERVAL_S
    keeps_traces: bool = True
    records_decisions: bool = False
    sweep_seed: int = 1
    folder: Path | None = None
    replaced_by_changes: Sequence[str] = field(default=(), compare=False)
    written: Mapping[str, object] = field(default_factory=dict, compare=False)
    _own: Mapping[str, TomlValue] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Look up the swept controllers and schedulers of the scenario."""
        tree = tomllib.loads(self.scenario_text) if any(map(_is_algorithm, self.keys)) else {}
        own = {key: get_value(tree, split_key(key)) for key in self.keys if _is_algorithm(key)}
        found = {key: without_defaults(value) for key, value in own.items() if value is not None}
        object.__setattr__(self, "_own", found)

    @property
    def keys(self) -> tuple[str, ...]:
        """The swept dotted keys, in the order of the axes."""
        return tuple(key for axis in self.axes for key in axis.keys)

    @property
    def n_points(self) -> int:
        """Number of combinations."""
        return math.prod(len(axis) for axis in self.axes)

    @property
    def n_runs(self) -> int:
        """Number of runs: each point with each seed."""
        return self.n_points * len(self.seeds)

    def point(self, number: int) -> SweepPoint:
        """The combination with this number, from 0.

        Raises:
            IndexError: if the plan has no combination with this number.
        """
        if not 0 <= number < self.n_points:
            raise IndexError(number)
        rest = number
        values: list[TomlValue | None] = []
        for axis in reversed(self.axes):
            rest, step = divmod(rest, len(axis))
            values[:0] = axis.at(step)
        pairs = zip(self.keys, values, strict=True)
        return SweepPoint(number, tuple(self._resolved(key, value) for key, value in pairs))

    def _resolved(self, key: str, value: TomlValue | None) -> TomlValue | None:
        """The scenario's own choice with options and policy if the value names the same algorithm; else the value."""
        own = self._own.get(key)
        return value if own is None or value is None else own_or_named(own, value)

    def replaced(self) -> list[str]:
        """A line for each controller or scheduler whose options the fixed changes or some points replace."""
        lines = [*self.replaced_by_changes]
        for key, own in self._own.items():
            if not isinstance(own, Mapping):
                continue
            place = self.keys.index(key)
            values = [point.values[place] for point in self.spread(_MOST_LOOKED_AT)]
            others = dict.fromkeys(value_text(value) for value in values if value is not None and value != own)
            if others:
                lines.append(replaced_text(key, others, own))
        return lines

    def points(self) -> Iterator[SweepPoint]:
        """All combinations, in order."""
        return map(self.point, range(self.n_points))

    def spread(self, most: int) -> tuple[SweepPoint, ...]:
        """At most `most` points, spread evenly over the plan and including the first and the last."""
        return tuple(map(self.point, spread_numbers(self.n_points, most)))

    def overrides(self, point: SweepPoint) -> tuple[str, ...]:
        """Changes that turn the scenario of the plan into the scenario of a point, in the notation of `--set`."""
        pairs = zip(self.keys, point.values, strict=True)
        return tuple(f"{key}={render(value)}" for key, value in pairs if value is not None)

    def swept(self, point: SweepPoint) -> tuple[SweptValue, ...]:
        """The values of a point for tables and plots, in the order of `keys`."""
        return tuple(map(swept, point.values))

    def label(self, point: SweepPoint) -> str:
        """The values of a point as text: "links.wifi.loss = 1%, flows.download.controller = lia"."""
        pairs = zip(self.keys, self.swept(point), strict=True)
        return ", ".join(f"{key} = {value.text}" for key, value in pairs if value.text)

    def run_name(self, point: SweepPoint) -> str:
        """Name of the runs of a point: the name of the sweep and the values; algorithms need no key."""
        texts = [
            value_text(value) if _is_algorithm(key) else f"{key} = {swept(value).text}"
            for key, value in zip(self.keys, point.values, strict=True)
            if value is not None
        ]
        return f"{self.name}: {', '.join(texts)}"


MOST_PROBLEMS = 20
"""Maximum number of problems in one report."""

_SEED_LINE = re.compile(r"^seed[ \t]*=[ \t]*[0-9_]+", re.MULTILINE)


class PointReader:
    """Creates the scenarios of a plan's points; not thread-safe."""

    def __init__(self, plan: SweepPlan) -> None:
        """Parse the scenario that all points share."""
        self._plan = plan
        self._tree = tomllib.loads(plan.scenario_text)
        self._algorithms = app_catalog()  # loaded once for all points
        self._latest_scenario: tuple[int, Scenario] | None = None
        self._latest_text: tuple[int, str] | None = None

    @cached_property
    def _seeded_text(self) -> str:
        return with_overrides(self._plan.scenario_text, [f"seed={self._plan.seeds[0]}"])

    def scenario(self, point: SweepPoint) -> Scenario:
        """The scenario of a point, with the seed of the plan's scenario.

        Raises:
            ScenarioError: if the scenario has problems, which the error lists.
        """
        if self._latest_scenario is not None and self._latest_scenario[0] == point.number:
            return self._latest_scenario[1]  # already read for another seed of this point
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
        """TOML from which the run of this point and seed can be repeated, with the comments and layout of the plan."""
        if self._latest_text is None or self._latest_text[0] != point.number:
            # Editing TOML takes ten times as long as reading it. Therefore the shared part is written once, and only
            # the seed changes between runs of a point.
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
        limits: limits of each run; None: the limits from the environment.
        is_cancelled: called before each point; the check ends if it returns True.
        progress: called with the number of checked points.

    Returns:
        The `scenario_hash` of each point, in order; incomplete if the check was cancelled.

    Raises:
        SweepError: if scenarios have problems or exceed the limits; lists each problem once, with its axis, value and
            point.
    """
    limits = limits or Limits.from_environment()
    reader = PointReader(plan)
    hashes: list[str] = []
    problems: dict[str, str] = {}  # text of each problem, and the first point with it
    for point in plan.points():
        if is_cancelled() or len(problems) > MOST_PROBLEMS:
            break
        try:
            scenario = reader.scenario(point)
            limits.check(estimate(scenario, sample_interval_s=plan.sample_interval_s))
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


def _told(plan: SweepPlan, point: SweepPoint, problem: Problem) -> str:
    """Describe a problem, and name the axis that causes it, or else the point."""
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
