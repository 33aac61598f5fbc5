"""Estimates a sweep before it starts, without expanding all its points, and applies the limits of sweeps."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.running.core.runs_estimate import SCENARIOS_TRIED, RunsEstimate, estimate_runs, long_text
from subflow_app.features.sweeps.core.sweep_plan import PointReader, SweepPlan
from subflow_app.foundation.errors import TooLargeSweepError
from subflow_app.foundation.jobs import executors
from subflow_app.vocabulary.number_text import count_text
from subflow_sim.errors import ParamError, SimError
from subflow_sim.limits import bytes_text
from subflow_sim.units import Dimension, parse_quantity

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario

MAX_RUNS_VARIABLE = "SUBFLOW_MAX_SWEEP_RUNS"
MAX_EVENTS_VARIABLE = "SUBFLOW_MAX_SWEEP_EVENTS"

_DEFAULT_RUNS = 100_000
_DEFAULT_EVENTS = 1e13
# Processor time to read and write the scenario of a point, s.
_POINT_S = 15e-3
# Space that must remain free on the disk, bytes.
_SPARE_BYTES = 200e6


@dataclass(frozen=True, slots=True)
class SweepEstimate(RunsEstimate):
    """Estimate of a sweep.

    Attributes:
        points: number of combinations of values.
        seeds: number of runs per point.
    """

    points: int = 1
    seeds: int = 1

    def program_bytes(self, jobs: int) -> float:
        """Memory of the program and its child processes with `jobs` simultaneous runs, bytes."""
        makers = max(1, min(jobs, self.runs))
        processes = 1 if makers == 1 else 1 + makers
        return processes * executors.PROGRAM_BYTES + executors.STORE_BYTES + makers * self.memory_bytes

    def lines(self, jobs: int) -> list[str]:
        """The estimate in a few sentences."""
        seeds = "seed" if self.seeds == 1 else "seeds"
        return [
            f"{count_text(self.runs)} runs: {count_text(self.points)} points x {count_text(self.seeds)} {seeds}.",
            f"About {self.crossings:.2g} events (packets that cross a link): {self.time_text(jobs)} with "
            f"{jobs} at once.",
            f"About {bytes_text(self.disk_bytes)} in the database, and {bytes_text(self.program_bytes(jobs))} of "
            "memory.",
        ]


@dataclass(frozen=True, slots=True)
class SweepLimits:
    """Limits of a sweep.

    Attributes:
        runs: maximum number of runs.
        link_crossings: maximum estimated total number of link crossings in all runs.
    """

    runs: int = _DEFAULT_RUNS
    link_crossings: float = _DEFAULT_EVENTS

    @classmethod
    def parse(cls, runs: str | None = None, events: str | None = None) -> SweepLimits:
        """Parse limits; a missing limit is taken from the environment, or else is the default.

        Raises:
            ParamError: if a limit is not a valid number.
        """
        return cls(
            int(_limit("runs", runs or os.environ.get(MAX_RUNS_VARIABLE), _DEFAULT_RUNS)),
            _limit("events", events or os.environ.get(MAX_EVENTS_VARIABLE), _DEFAULT_EVENTS),
        )

    def check(self, cost: SweepEstimate, database: Path | None = None) -> None:
        """Refuse a sweep that exceeds a limit or the free space on the disk of the database.

        Args:
            cost: estimate of the sweep.
            database: database of the sweep; None: the sweep is kept in memory.

        Raises:
            TooLargeSweepError: if the sweep is too large; reports the estimate, the limit and how to raise the limit.
        """
        if cost.runs > self.runs:
            raise TooLargeSweepError(
                f"the sweep would make {count_text(cost.runs)} runs ({count_text(cost.points)} points x "
                f"{count_text(cost.seeds)} seeds), more than the limit of {count_text(self.runs)}; on one core of this "
                f"machine they would take about {long_text(cost.cpu_s)}, and {bytes_text(cost.disk_bytes)} in the "
                "database",
                f"give axes fewer values, or raise the limit (--max-runs {cost.runs}, or {MAX_RUNS_VARIABLE}="
                f"{cost.runs} in the environment)",
            )
        if cost.link_crossings > self.link_crossings:
            raise TooLargeSweepError(
                f"the {count_text(cost.runs)} runs of the sweep would take about {cost.link_crossings:.2g} events "
                f"(packets that cross a link), more than the limit of {self.link_crossings:.2g}: on one core of this "
                f"machine about {long_text(cost.cpu_s)}",
                f"simulate less, or raise the limit (--max-events {cost.link_crossings * 1.1:.1e}, or "
                f"{MAX_EVENTS_VARIABLE} in the environment)",
            )
        free = _free_bytes(database)
        if free is not None and cost.disk_bytes > free - _SPARE_BYTES:
            raise TooLargeSweepError(
                f"the {count_text(cost.runs)} runs of the sweep would take about {bytes_text(cost.disk_bytes)} in the "
                f"database, and its disk has {bytes_text(free)} free, of which {bytes_text(_SPARE_BYTES)} stay unused",
                "keep no traces (--no-traces), sample less often, or name a database on another disk with --db",
            )


def estimate_sweep(plan: SweepPlan, *, is_tried: bool = True) -> SweepEstimate:
    """Estimate a sweep from some of its points.

    Args:
        plan: the sweep. Points that cannot be run count like the others.
        is_tried: whether to simulate the beginnings of some runs briefly.
    """
    reader = PointReader(plan)
    scenarios: list[Scenario] = []
    for point in plan.spread(SCENARIOS_TRIED):
        try:
            scenarios.append(reader.scenario(point))
        except SimError:  # reported when the plan is checked
            continue
    told = estimate_runs(
        scenarios,
        plan.n_runs,
        sample_interval_s=plan.sample_interval_s,
        keeps_traces=plan.keeps_traces,
        is_tried=is_tried,
    )
    told = replace(told, storing_s=told.storing_s + plan.n_points * _POINT_S)
    return SweepEstimate(**asdict(told), points=plan.n_points, seeds=len(plan.seeds))


def _free_bytes(database: Path | None) -> float | None:
    if database is None:
        return None
    folder = database.absolute().parent
    try:
        return float(shutil.disk_usage(folder).free)
    except OSError:
        return None


def _limit(name: str, text: str | None, default: float) -> float:
    if not text:
        return default
    try:
        value = parse_quantity(text, Dimension.NUMBER)
    except ParamError as error:
        raise ParamError(f'the limit of {name} of a sweep, "{text}": {error.message}', error.allowed) from error
    if not 1 <= value < 1e300:
        raise ParamError(f'the limit of {name} of a sweep, "{text}": must be 1 or more', "e.g. 200000 or 1e6")
    return value
