"""Estimate of many runs, from trying the beginnings of some: shown before a sweep, an arena or a queue starts.

Events, time, memory and disk space of a run: expected from trying its beginning, and the most it could take.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from subflow_app.foundation.jobs import pace
from subflow_app.vocabulary.number_text import count_text, duration_text
from subflow_sim.decisions import DecisionLimits
from subflow_sim.errors import SimError, TooLargeError
from subflow_sim.forecasts import Forecast, forecast
from subflow_sim.limits import Estimate, bytes_text, estimate
from subflow_sim.scenario import Scenario

SCENARIOS_TRIED = 16
"""As many scenarios represent all, where they are more."""

# The processor time for which these are tried together.
_TRIAL_S = 0.4
_LEAST_TRIAL_S = 0.02
# Of a simulator that is not tried, link crossings a second.
_USUAL_RATE = 5e6


@dataclass(frozen=True, slots=True)
class RunsEstimate:
    """Estimate of many runs.

    Attributes:
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
            return self.threads_s(1)
        makers = max(1, min(jobs, self.runs))
        work_s = self.cpu_s + makers * pace.WORKER_STARTED_S
        return max(self.storing_s / pace.speed(1, self.slowness), work_s / pace.speed(makers, self.slowness))

    def threads_s(self, jobs: int) -> float:
        """The same time where the runs are made in threads of this process, s."""
        return self.cpu_s / pace.speed(max(1, min(jobs, self.runs)), self.slowness)

    def time_text(self, jobs: int) -> str:
        """The time with so many runs at once, for people."""
        return long_text(self.wall_s(jobs))


def estimate_runs(
    scenarios: Sequence[Scenario],
    runs: int,
    *,
    sample_interval_s: float,
    keeps_traces: bool = True,
    is_tried: bool = True,
) -> RunsEstimate:
    """Estimate of runs, from the scenarios of some of them.

    Args:
        scenarios: at most `SCENARIOS_TRIED`, from all over the runs; those that are too large to run are not tried.
        runs: in all.
        sample_interval_s: simulated time between two samples, s.
        keeps_traces: whether the runs are stored with their traces.
        is_tried: whether to simulate the beginnings of these for a moment.
    """
    told: list[Estimate] = []
    usable: list[Scenario] = []
    for scenario in scenarios:
        try:
            told.append(estimate(scenario, sample_interval_s=sample_interval_s))
            usable.append(scenario)
        except SimError:  # whoever checks the runs says it
            continue
    tried = _tried(usable, sample_interval_s) if is_tried else []
    trace_bytes = _mean([each.trace_bytes for each in told]) if keeps_traces else 0.0
    columns = int(_mean([each.columns for each in told])) if keeps_traces else 0
    simulated_s = sum(each.cpu_s - each.building_s for each in tried)
    moved = sum(each.link_crossings for each in tried)
    memory_bytes = [each.memory_bytes for each in (tried or told)]
    return RunsEstimate(
        runs,
        link_crossings=runs * _mean([each.link_crossings for each in told]),
        rate=moved / simulated_s if moved and simulated_s > 0 else _USUAL_RATE,
        disk_bytes=runs * (pace.RUN_DISK_BYTES + pace.PACKED * trace_bytes),
        memory_bytes=max(memory_bytes, default=0.0),
        setting_up_s=runs * (pace.RUN_MADE_S + _mean([each.building_s for each in tried])),
        storing_s=runs * pace.storing_s(columns, trace_bytes),
        expected_crossings=runs * (_mean([each.link_crossings for each in tried]) if tried else math.nan),
        slowness=max((each.slowness for each in tried), default=1.0),
    )


def spread_numbers(count: int, most: int = SCENARIOS_TRIED) -> range | tuple[int, ...]:
    """Numbers from 0 on from all over so many things, the first and the last among them."""
    return range(count) if count <= most else tuple(number * (count - 1) // (most - 1) for number in range(most))


def long_text(time_s: float) -> str:
    """A time that may be days."""
    return duration_text(time_s) if time_s < 2 * 86_400 else f"{count_text(time_s / 86_400)} days"


def _tried(scenarios: Sequence[Scenario], sample_interval_s: float) -> list[Forecast]:
    """Forecasts of some runs; each has the same part of the time that may be spent."""
    from subflow_sim.forecasts import forecast

    found: list[Forecast] = []
    for scenario in scenarios:
        trial_s = max(_LEAST_TRIAL_S, _TRIAL_S / len(scenarios))
        try:
            found.append(forecast(scenario, sample_interval_s=sample_interval_s, trial_s=trial_s))
        except SimError:  # too large, which limits tell
            continue
    return found


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


# Link crossings a second of a simulator that could not be tried.
# Of a stopwatch that begins before Python does.
_PYTHON_S = 0.05


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """Estimate of `subflow run` for a scenario.

    Attributes:
        most: if its flows filled their links, which limits are checked against.
        told: what the run itself will probably take.
        is_tried: False where nothing could be tried, as the run is refused.
        start_s: processor time until the run begins, s.
        start_wall_s: time until the run begins, s.
        is_kept: whether it is stored.
    """

    most: Estimate
    told: Forecast
    is_tried: bool
    start_s: float
    start_wall_s: float
    is_kept: bool

    @property
    def cpu_s(self) -> float:
        """Processor time of the program, s."""
        stored_s = pace.storing_s(self.most.columns, self.most.trace_bytes) if self.is_kept else 0.0
        return self.start_s + self.told.cpu_s + stored_s

    @property
    def wall_s(self) -> float:
        """Time from the command to its end, with what else this machine does now, s."""
        return self.start_wall_s + (self.cpu_s - self.start_s) * self._slowness

    @property
    def _slowness(self) -> float:
        """Wall-clock time by processor time: a trial is short, and a busy machine favours what has just begun.

        The start of the program shows that, but also waits for the disk.
        """
        tried = 1.0 / pace.speed(1, self.told.slowness)
        return max(tried, min(self.start_wall_s / self.start_s, 2 * tried))

    @property
    def memory_bytes(self) -> float:
        """Memory of the program at its peak, bytes."""
        stored = pace.STORE_BYTES + pace.COLUMN_BYTES * self.most.columns
        stored += pace.BYTES_PER_TRACE_BYTE * self.most.trace_bytes
        return pace.PROGRAM_BYTES + self.told.memory_bytes + (stored if self.is_kept else 0.0)

    @property
    def disk_bytes(self) -> float:
        """Space in the database, bytes."""
        return pace.RUN_DISK_BYTES + pace.PACKED * self.most.trace_bytes if self.is_kept else 0.0

    def document(self) -> dict[str, float]:
        """The figures that `subflow run --estimate --json` has beside those of `most`."""
        return {
            "expected_crossings": self.told.link_crossings,
            "expected_memory_bytes": self.memory_bytes,
            "expected_simulation_cpu_s": self.told.cpu_s,
            "expected_cpu_s": self.cpu_s,
            "expected_wall_s": self.wall_s,
            "expected_disk_bytes": self.disk_bytes,
        }

    def lines(self) -> list[str]:
        """The estimate in a few sentences."""
        most, told = self.most, self.told
        busiest = f", most of them of flow '{most.busiest_flow}'" if most.busiest_flow else ""
        decisions = f"{bytes_text(most.decision_bytes)} decisions at most, " if most.decision_bytes else ""
        fullest = f" (most for {most.fullest})" if most.fullest else ""
        disk = f", and {bytes_text(self.disk_bytes)} in the database" if self.is_kept else ""
        return [
            f"About {count_text(told.link_crossings)} events (packets that cross a link); if its flows filled their "
            f"links {count_text(most.link_crossings)}{busiest}.",
            f"About {duration_text(self.wall_s)} on this machine as it is now; the simulation takes "
            f"{duration_text(told.cpu_s)} of processor time.",
            f"About {bytes_text(self.memory_bytes)} of memory{disk}. The run itself has "
            f"{bytes_text(most.trace_bytes)} of traces ({most.columns} columns of {most.samples} samples), at most "
            f"{bytes_text(most.packet_bytes)} of packets{fullest}, {decisions}and {bytes_text(most.object_bytes)} of "
            "the rest.",
        ]


def estimate_run(
    scenario: Scenario,
    *,
    sample_interval_s: float = 0.1,
    decisions: DecisionLimits | None = None,
    is_kept: bool = True,
) -> RunEstimate:
    """Estimate of `subflow run` for a scenario, in a program that has just begun.

    Args:
        scenario: what would be simulated.
        sample_interval_s: simulated time between two samples, s.
        decisions: how many of them are recorded; None: none.
        is_kept: whether the run is stored.

    Raises:
        SimulationError: if the core refuses the scenario or the interval.
    """
    start_s = time.process_time() + _PYTHON_S
    start_wall_s = max(start_s, _age_s())
    most = estimate(scenario, sample_interval_s=sample_interval_s, decisions=decisions)
    try:
        told = forecast(scenario, sample_interval_s=sample_interval_s, decisions=decisions)
    except TooLargeError:
        cpu_s = most.link_crossings / _USUAL_RATE
        told = Forecast(most.link_crossings, most.memory_bytes, 0.0, cpu_s, 0.0, 1.0)
        return RunEstimate(most, told, False, start_s, start_wall_s, is_kept)
    return RunEstimate(most, told, True, start_s, start_wall_s, is_kept)


def _age_s() -> float:
    """Time since this process was started, s; 0 where the system does not tell."""
    try:
        own = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        up_s = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return 0.0
    # The 22nd field, in ticks since the system was started
    return max(0.0, up_s - int(own[19]) / os.sysconf("SC_CLK_TCK"))
