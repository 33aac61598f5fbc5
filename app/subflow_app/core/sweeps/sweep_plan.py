"""What a sweep is to run: a scenario, the values that its keys take, and seeds. Nothing is written out unasked.

A grid has every combination of its axes; a list and random draws are a single axis on which all keys move together. So
there is one way from the number of a point to its values, whatever the kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from subflow_app.core.catalog import app_catalog
from subflow_app.core.running.run_queue import QueuedRun
from subflow_app.core.scenarios.scenario_source import ScenarioSource, with_contents, with_overrides
from subflow_app.core.scenarios.toml_edit import TomlValue, render
from subflow_app.core.sweeps.axes import Axis, SweptValue, swept
from subflow_sim.scenario import parse_scenario

SweepKind = Literal["grid", "list", "random"]
KINDS: tuple[SweepKind, ...] = ("grid", "list", "random")

DEFAULT_SAMPLE_INTERVAL_S = 0.1


class SweepPoint(NamedTuple):
    """One combination of values.

    Attributes:
        number: from 0.
        values: of each key of the plan, in its order; None: the scenario's own.
    """

    number: int
    values: tuple[TomlValue | None, ...]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A sweep as it was asked for.

    Attributes:
        name: what people call it.
        scenario_text: TOML of the scenario, with the fixed changes made; delivery traces are inside.
        axes: each with its keys and values; the last one moves fastest.
        seeds: of the runs of each point, in order, each once.
        kind: how the points were written.
        sample_interval_s: simulated time between two samples of the traces, s.
        keeps_traces: whether the traces are stored, not the figures alone.
        records_decisions: whether it is kept, too, why controllers and schedulers did what they did.
        sweep_seed: what random points follow from.
        folder: where the policies are that the scenario names by file; None: it names none.
        written: the axes as the plan file has them, by key; see `plan_file`.
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
    written: Mapping[str, object] = field(default_factory=dict, compare=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """The dotted keys that are swept, in the order of the axes."""
        return tuple(key for axis in self.axes for key in axis.keys)

    @property
    def n_points(self) -> int:
        """How many combinations there are."""
        return math.prod(len(axis) for axis in self.axes)

    @property
    def n_runs(self) -> int:
        """How many runs there are: each point with each seed."""
        return self.n_points * len(self.seeds)

    def point(self, number: int) -> SweepPoint:
        """A combination by its number."""
        if not 0 <= number < self.n_points:
            raise IndexError(number)
        rest = number
        values: list[TomlValue | None] = []
        for axis in reversed(self.axes):
            rest, step = divmod(rest, len(axis))
            values[:0] = axis.at(step)
        return SweepPoint(number, tuple(values))

    def points(self) -> Iterator[SweepPoint]:
        """All combinations, in order."""
        return map(self.point, range(self.n_points))

    def spread(self, most: int) -> tuple[SweepPoint, ...]:
        """Points from all over the plan, the first and the last among them: what to look at where all are too many."""
        n = self.n_points
        if n <= most:
            return tuple(self.points())
        return tuple(self.point(number * (n - 1) // (most - 1)) for number in range(most))

    def overrides(self, point: SweepPoint) -> tuple[str, ...]:
        """What makes the scenario that of a point, as `--set` has it."""
        pairs = zip(self.keys, point.values, strict=True)
        return tuple(f"{key}={render(value)}" for key, value in pairs if value is not None)

    def queued(self) -> list[QueuedRun]:
        """Each point with each seed as a run for the queue, named after its values.

        Raises:
            ScenarioError: if the scenario does not take one of them.
        """
        runs = []
        for point in self.points():
            for seed in self.seeds:
                overrides = [f"seed={seed}", *self.overrides(point)]
                scenario = parse_scenario(
                    self.scenario_text, overrides=overrides, algorithms=app_catalog(), folder=self.folder
                )
                text = with_contents(with_overrides(self.scenario_text, overrides), scenario)
                name = ", ".join([scenario.name, *(value.text for value in self.swept(point) if value.text)])
                runs.append(QueuedRun(ScenarioSource(scenario, text), name))
        return runs

    def swept(self, point: SweepPoint) -> tuple[SweptValue, ...]:
        """The values of a point as tables and plots show them."""
        return tuple(map(swept, point.values))

    def label(self, point: SweepPoint) -> str:
        """The values of a point in a line: "links.wifi.loss = 1%, flows.download.controller = lia"."""
        pairs = zip(self.keys, self.swept(point), strict=True)
        return ", ".join(f"{key} = {value.text}" for key, value in pairs if value.text)
