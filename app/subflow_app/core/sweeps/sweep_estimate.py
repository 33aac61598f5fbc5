"""What a sweep would take, told before it starts and without writing out its points, and what is too much."""

from __future__ import annotations

import math
import os
import shutil
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.core.errors import TooLargeSweepError
from subflow_app.core.jobs import pace
from subflow_app.core.sweeps.sweep_plan import SweepPlan
from subflow_app.core.sweeps.sweep_points import PointReader, told_of
from subflow_app.vocabulary.number_text import count_text, duration_text
from subflow_sim.errors import ParamError, SimError
from subflow_sim.limits import bytes_text
from subflow_sim.units import Dimension, parse_quantity

if TYPE_CHECKING:
    from subflow_sim.forecasts import Forecast
    from subflow_sim.limits import Estimate
    from subflow_sim.scenario import Scenario

MAX_RUNS_VARIABLE = "SUBFLOW_MAX_SWEEP_RUNS"
MAX_EVENTS_VARIABLE = "SUBFLOW_MAX_SWEEP_EVENTS"

_DEFAULT_RUNS = 100_000
_DEFAULT_EVENTS = 1e13
# What is looked at of a large plan, and the processor time for which these points are tried together.
_POINTS_LOOKED_AT = 16
_TRIAL_S = 0.4
_LEAST_TRIAL_S = 0.02
# Of a simulator that is not tried, link crossings a second.
_USUAL_RATE = 5e6
# Processor time of a point whose scenario is read and written.
_POINT_S = 15e-3
# Left free on the disk.
_SPARE_BYTES = 200e6


@dataclass(frozen=True, slots=True)
class SweepEstimate:
    """Estimate of a sweep.

    Attributes:
        points: combinations of values.
        seeds: runs of each.
        runs: in all.
        link_crossings: of all runs, if their flows filled their links; limits are checked against this.
        rate: link crossings a second that this machine simulates on one core.
        disk_bytes: in the database.
        memory_bytes: of the largest run.
        setting_up_s: processor time of all runs before and after their simulation, where they are made, s.
        storing_s: processor time of the one process that hands out runs and stores them, s.
        expected_crossings: of all runs, as their beginnings let expect.
        slowness: wall-clock time of this machine by processor time; see `subflow_sim.forecasts.Forecast`.
    """

    points: int
    seeds: int
    runs: int
    link_crossings: float
    rate: float
    disk_bytes: float
    memory_bytes: float
    setting_up_s: float = 0.0
    storing_s: float = 0.0
    expected_crossings: float = math.nan
    slowness: float = 1.0

    @property
    def crossings(self) -> float:
        """Packets that will cross a link: as expected where that is known."""
        return self.link_crossings if math.isnan(self.expected_crossings) else self.expected_crossings

    @property
    def cpu_s(self) -> float:
        """Time on one core that has nothing else to do, s."""
        return self.crossings / self.rate + self.setting_up_s + self.storing_s

    def wall_s(self, jobs: int) -> float:
        """Time with so many runs at once on this machine as it is now, s; they cannot end faster than they are stored.

        Args:
            jobs: how many runs at once; more than one are made in processes, which have to be started.
        """
        if jobs == 1:
            return self.cpu_s / pace.speed(1, self.slowness)
        makers = max(1, min(jobs, self.runs))
        work_s = self.cpu_s + makers * pace.WORKER_STARTED_S
        return max(self.storing_s / pace.speed(1, self.slowness), work_s / pace.speed(makers, self.slowness))

    def program_bytes(self, jobs: int) -> float:
        """Memory of the program and its processes with so many runs at once, bytes."""
        makers = max(1, min(jobs, self.runs))
        processes = 1 if makers == 1 else 1 + makers
        return processes * pace.PROGRAM_BYTES + pace.STORE_BYTES + makers * self.memory_bytes

    def lines(self, jobs: int) -> list[str]:
        """The estimate in a few sentences."""
        seeds = "seed" if self.seeds == 1 else "seeds"
        return [
            f"{count_text(self.runs)} runs: {count_text(self.points)} points x {count_text(self.seeds)} {seeds}.",
            f"About {self.crossings:.2g} events (packets that cross a link): {_long_text(self.wall_s(jobs))} with "
            f"{jobs} at once.",
            f"About {bytes_text(self.disk_bytes)} in the database, and {bytes_text(self.program_bytes(jobs))} of "
            "memory.",
        ]


@dataclass(frozen=True, slots=True)
class SweepLimits:
    """How much a sweep may take.

    Attributes:
        runs: at most.
        link_crossings: estimated, of all runs together.
    """

    runs: int = _DEFAULT_RUNS
    link_crossings: float = _DEFAULT_EVENTS

    @classmethod
    def parse(cls, runs: str | None = None, events: str | None = None) -> SweepLimits:
        """Limits from text; what is left out is as the environment says, or the default.

        Raises:
            ParamError: naming the one that is no such number.
        """
        return cls(
            int(_limit("runs", runs or os.environ.get(MAX_RUNS_VARIABLE), _DEFAULT_RUNS)),
            _limit("events", events or os.environ.get(MAX_EVENTS_VARIABLE), _DEFAULT_EVENTS),
        )

    def check(self, told: SweepEstimate, database: Path | None = None) -> None:
        """Refuse what goes beyond.

        Args:
            told: what the sweep would take.
            database: where it would be kept; None: in memory.

        Raises:
            TooLargeSweepError: with the estimate, the limit and the way on.
        """
        if told.runs > self.runs:
            raise TooLargeSweepError(
                f"the sweep would make {count_text(told.runs)} runs ({count_text(told.points)} points x "
                f"{count_text(told.seeds)} seeds), more than the limit of {count_text(self.runs)}; on one core of this "
                f"machine they would take about {_long_text(told.cpu_s)}, and {bytes_text(told.disk_bytes)} in the "
                "database",
                f"give axes fewer values, or raise the limit (--max-runs {told.runs}, or {MAX_RUNS_VARIABLE}="
                f"{told.runs} in the environment)",
            )
        if told.link_crossings > self.link_crossings:
            raise TooLargeSweepError(
                f"the {count_text(told.runs)} runs of the sweep would take about {told.link_crossings:.2g} events "
                f"(packets that cross a link), more than the limit of {self.link_crossings:.2g}: on one core of this "
                f"machine about {_long_text(told.cpu_s)}",
                f"simulate less, or raise the limit (--max-events {told.link_crossings * 1.1:.1e}, or "
                f"{MAX_EVENTS_VARIABLE} in the environment)",
            )
        free = _free_bytes(database)
        if free is not None and told.disk_bytes > free - _SPARE_BYTES:
            raise TooLargeSweepError(
                f"the {count_text(told.runs)} runs of the sweep would take about {bytes_text(told.disk_bytes)} in the "
                f"database, and its disk has {bytes_text(free)} free, of which {bytes_text(_SPARE_BYTES)} stay unused",
                "keep no traces (--no-traces), sample less often, or name a database on another disk with --db",
            )


def estimate_sweep(plan: SweepPlan, *, is_tried: bool = True) -> SweepEstimate:
    """What a sweep would take, from some of its points.

    Args:
        plan: the sweep; points that cannot be run count as the others.
        is_tried: whether to simulate the beginnings of some runs for a moment.
    """
    reader = PointReader(plan)
    scenarios: list[Scenario] = []
    told: list[Estimate] = []
    for point in plan.spread(_POINTS_LOOKED_AT):
        try:
            scenario = reader.scenario(point)
            told.append(told_of(plan, scenario))
            scenarios.append(scenario)
        except SimError:  # whoever checks the plan says it
            continue
    tried = _tried(plan, scenarios) if is_tried else []
    crossings = _mean([each.link_crossings for each in told])
    trace_bytes = _mean([each.trace_bytes for each in told]) if plan.keeps_traces else 0.0
    columns = int(_mean([each.columns for each in told])) if plan.keeps_traces else 0
    expected = _mean([each.link_crossings for each in tried]) if tried else math.nan
    simulated_s = sum(each.cpu_s - each.building_s for each in tried)
    moved = sum(each.link_crossings for each in tried)
    memory_bytes = [each.memory_bytes for each in (tried or told)]
    return SweepEstimate(
        points=plan.n_points,
        seeds=len(plan.seeds),
        runs=plan.n_runs,
        link_crossings=plan.n_runs * crossings,
        rate=moved / simulated_s if moved and simulated_s > 0 else _USUAL_RATE,
        disk_bytes=plan.n_runs * (pace.RUN_DISK_BYTES + pace.PACKED * trace_bytes),
        memory_bytes=max(memory_bytes, default=0.0),
        setting_up_s=plan.n_runs * (pace.RUN_MADE_S + _mean([each.building_s for each in tried])),
        storing_s=plan.n_runs * pace.storing_s(columns, trace_bytes) + plan.n_points * _POINT_S,
        expected_crossings=plan.n_runs * expected,
        slowness=max((each.slowness for each in tried), default=1.0),
    )


def _tried(plan: SweepPlan, scenarios: Sequence[Scenario]) -> list[Forecast]:
    """Forecasts of some runs; each has the same part of the time that may be spent."""
    from subflow_sim.forecasts import forecast

    found: list[Forecast] = []
    for scenario in scenarios:
        trial_s = max(_LEAST_TRIAL_S, _TRIAL_S / len(scenarios))
        try:
            found.append(forecast(scenario, sample_interval_s=plan.sample_interval_s, trial_s=trial_s))
        except SimError:  # too large, which limits tell
            continue
    return found


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def _free_bytes(database: Path | None) -> float | None:
    if database is None:
        return None
    folder = database.absolute().parent
    try:
        return float(shutil.disk_usage(folder).free)
    except OSError:
        return None


def _long_text(time_s: float) -> str:
    return duration_text(time_s) if time_s < 2 * 86_400 else f"{count_text(time_s / 86_400)} days"


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
