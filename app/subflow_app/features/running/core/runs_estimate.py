"""Estimates the time and space that many runs will take, by simulating the beginnings of a few runs.

The estimate is shown before a sweep, an arena contest or a queue starts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subflow_app.foundation.jobs import executors
from subflow_app.vocabulary.number_text import count_text, duration_text
from subflow_sim.errors import SimError
from subflow_sim.limits import Estimate, estimate

if TYPE_CHECKING:
    from subflow_sim.forecasts import Forecast
    from subflow_sim.scenario import Scenario

SCENARIOS_TRIED = 16
"""Maximum number of scenarios that represent all runs."""

# Total processor time for all trials, s.
_TRIAL_S = 0.4
_LEAST_TRIAL_S = 0.02
# Assumed link crossings per second if no trial was made.
_USUAL_RATE = 5e6


@dataclass(frozen=True, slots=True)
class RunsEstimate:
    """Estimate of many runs.

    Attributes:
        runs: total number of runs.
        link_crossings: upper bound of the link crossings of all runs, reached if flows fill their links; compared with
            the limits.
        rate: link crossings per second that this machine simulates on one core.
        disk_bytes: space in the database, bytes.
        memory_bytes: memory of the largest run, bytes.
        setting_up_s: processor time that all runs take before and after their simulation, in the same processes, s.
        storing_s: processor time of the one process that distributes and stores the runs, s.
        expected_crossings: link crossings of all runs, extrapolated from trials; NaN without trials.
        slowness: wall-clock time divided by processor time on this machine; see `subflow_sim.forecasts.Forecast`.
    """

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
        """Number of link crossings: the expected number if known, else the upper bound."""
        return self.link_crossings if math.isnan(self.expected_crossings) else self.expected_crossings

    @property
    def cpu_s(self) -> float:
        """Time on one otherwise idle core, s."""
        return self.crossings / self.rate + self.setting_up_s + self.storing_s

    def wall_s(self, jobs: int) -> float:
        """Wall time with `jobs` simultaneous runs under the current load, s, but at least the time for storing.

        Args:
            jobs: number of simultaneous runs. More than one run needs processes, which take time to start.
        """
        if jobs == 1:
            return self.threads_s(1)
        makers = max(1, min(jobs, self.runs))
        work_s = self.cpu_s + makers * executors.WORKER_STARTED_S
        return max(self.storing_s / executors.speed(1, self.slowness), work_s / executors.speed(makers, self.slowness))

    def threads_s(self, jobs: int) -> float:
        """Wall time with `jobs` simultaneous runs in threads of this process, s."""
        return self.cpu_s / executors.speed(max(1, min(jobs, self.runs)), self.slowness)

    def time_text(self, jobs: int) -> str:
        """The duration `wall_s` as text."""
        return long_text(self.wall_s(jobs))


def estimate_runs(
    scenarios: Sequence[Scenario],
    runs: int,
    *,
    sample_interval_s: float,
    keeps_traces: bool = True,
    is_tried: bool = True,
) -> RunsEstimate:
    """Estimate many runs from the scenarios of a few.

    Args:
        scenarios: at most `SCENARIOS_TRIED` scenarios, spread over the runs; those too large to run are not tried.
        runs: total number of runs.
        sample_interval_s: simulated time between two samples, s.
        keeps_traces: whether the runs are stored with their traces.
        is_tried: whether to simulate the beginnings of the scenarios briefly.
    """
    estimates: list[Estimate] = []
    usable: list[Scenario] = []
    for scenario in scenarios:
        try:
            estimates.append(estimate(scenario, sample_interval_s=sample_interval_s))
            usable.append(scenario)
        except SimError:  # reported when the runs are checked
            continue
    tried = _tried(usable, sample_interval_s) if is_tried else []
    trace_bytes = _mean([each.trace_bytes for each in estimates]) if keeps_traces else 0.0
    columns = int(_mean([each.columns for each in estimates])) if keeps_traces else 0
    simulated_s = sum(each.cpu_s - each.building_s for each in tried)
    moved = sum(each.link_crossings for each in tried)
    memory_bytes = [each.memory_bytes for each in (tried or estimates)]
    return RunsEstimate(
        runs,
        link_crossings=runs * _mean([each.link_crossings for each in estimates]),
        rate=moved / simulated_s if moved and simulated_s > 0 else _USUAL_RATE,
        disk_bytes=runs * (executors.RUN_DISK_BYTES + executors.PACKED * trace_bytes),
        memory_bytes=max(memory_bytes, default=0.0),
        setting_up_s=runs * (executors.RUN_MADE_S + _mean([each.building_s for each in tried])),
        storing_s=runs * executors.storing_s(columns, trace_bytes),
        expected_crossings=runs * (_mean([each.link_crossings for each in tried]) if tried else math.nan),
        slowness=max((each.slowness for each in tried), default=1.0),
    )


def spread_numbers(count: int, most: int = SCENARIOS_TRIED) -> range | tuple[int, ...]:
    """At most `most` numbers, spread evenly from 0 to `count` - 1 and including both."""
    return range(count) if count <= most else tuple(number * (count - 1) // (most - 1) for number in range(most))


def long_text(time_s: float) -> str:
    """A duration as text, in days if it is at least two days."""
    return duration_text(time_s) if time_s < 2 * 86_400 else f"{count_text(time_s / 86_400)} days"


def _tried(scenarios: Sequence[Scenario], sample_interval_s: float) -> list[Forecast]:
    """Forecasts of some runs. The trial time is divided equally between them."""
    from subflow_sim.forecasts import forecast

    found: list[Forecast] = []
    for scenario in scenarios:
        trial_s = max(_LEAST_TRIAL_S, _TRIAL_S / len(scenarios))
        try:
            found.append(forecast(scenario, sample_interval_s=sample_interval_s, trial_s=trial_s))
        except SimError:  # too large, which is reported when the limits are checked
            continue
    return found


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0
