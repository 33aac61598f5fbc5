"""Estimates the events, time, memory and disk space of a run.

Upper bounds follow from the scenario, and expected values from simulating the beginning of the run.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from subflow_app.foundation.jobs import executors
from subflow_app.vocabulary.number_text import count_text, duration_text
from subflow_sim.decisions import DecisionLimits
from subflow_sim.errors import TooLargeError
from subflow_sim.forecasts import Forecast, forecast
from subflow_sim.limits import Estimate, bytes_text, estimate
from subflow_sim.scenario import Scenario

# Assumed link crossings per second if no trial was possible.
_USUAL_RATE = 5e6
# Typical time to start the Python interpreter, s, added to the processor time.
_PYTHON_S = 0.05


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """Time, memory and disk space that `subflow run` needs for a scenario.

    Attributes:
        most: upper bound, reached if flows fill their links; compared with the limits.
        forecast: expected time and memory of the simulation; contains upper bounds if no trial was made.
        is_tried: whether the beginning was simulated as a trial; False if the run exceeds the limits.
        start_s: processor time until the run begins, s.
        start_wall_s: time until the run begins, s.
        is_kept: whether the run is stored.
    """

    most: Estimate
    forecast: Forecast
    is_tried: bool
    start_s: float
    start_wall_s: float
    is_kept: bool

    @property
    def cpu_s(self) -> float:
        """Processor time of the whole command, s."""
        stored_s = executors.storing_s(self.most.columns, self.most.trace_bytes) if self.is_kept else 0.0
        return self.start_s + self.forecast.cpu_s + stored_s

    @property
    def wall_s(self) -> float:
        """Time from the command to its end under the current load of this machine, s."""
        return self.start_wall_s + (self.cpu_s - self.start_s) * self._slowness

    @property
    def _slowness(self) -> float:
        """Wall-clock time divided by processor time, measured in the trial and at the start of the program.

        A busy machine favours new processes, so a short trial underestimates the load. The ratio at the start of the
        program is limited to twice the ratio in the trial, because it also includes waits for the disk.
        """
        tried = 1.0 / executors.speed(1, self.forecast.slowness)
        return max(tried, min(self.start_wall_s / self.start_s, 2 * tried))

    @property
    def memory_bytes(self) -> float:
        """Peak memory of the program, bytes."""
        stored = executors.STORE_BYTES + executors.COLUMN_BYTES * self.most.columns
        stored += executors.BYTES_PER_TRACE_BYTE * self.most.trace_bytes
        return executors.PROGRAM_BYTES + self.forecast.memory_bytes + (stored if self.is_kept else 0.0)

    @property
    def disk_bytes(self) -> float:
        """Space in the database, bytes."""
        return executors.RUN_DISK_BYTES + executors.PACKED * self.most.trace_bytes if self.is_kept else 0.0

    def document(self) -> dict[str, float]:
        """The keys that `subflow run --estimate --json` adds to those of `most`."""
        return {
            "expected_crossings": self.forecast.link_crossings,
            "expected_memory_bytes": self.memory_bytes,
            "expected_simulation_cpu_s": self.forecast.cpu_s,
            "expected_cpu_s": self.cpu_s,
            "expected_wall_s": self.wall_s,
            "expected_disk_bytes": self.disk_bytes,
        }

    def lines(self) -> list[str]:
        """The estimate in a few sentences."""
        most, expected = self.most, self.forecast
        busiest = f", most of them of flow '{most.busiest_flow}'" if most.busiest_flow else ""
        decisions = f"{bytes_text(most.decision_bytes)} decisions at most, " if most.decision_bytes else ""
        fullest = f" (most for {most.fullest})" if most.fullest else ""
        disk = f", and {bytes_text(self.disk_bytes)} in the database" if self.is_kept else ""
        return [
            f"About {count_text(expected.link_crossings)} events (packets that cross a link); if its flows filled "
            f"their links {count_text(most.link_crossings)}{busiest}.",
            f"About {duration_text(self.wall_s)} on this machine as it is now; the simulation takes "
            f"{duration_text(expected.cpu_s)} of processor time.",
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
    """Estimate what `subflow run` needs for a scenario. Call it in a process that has just started.

    Args:
        scenario: scenario of the run.
        sample_interval_s: simulated time between two samples, s.
        decisions: limits of the recorded decisions; None: no recording.
        is_kept: whether the run is stored.

    Raises:
        SimulationError: if the core refuses the scenario or the interval.
    """
    start_s = time.process_time() + _PYTHON_S
    start_wall_s = max(start_s, _age_s())
    most = estimate(scenario, sample_interval_s=sample_interval_s, decisions=decisions)
    try:
        expected = forecast(scenario, sample_interval_s=sample_interval_s, decisions=decisions)
    except TooLargeError:
        cpu_s = most.link_crossings / _USUAL_RATE
        expected = Forecast(most.link_crossings, most.memory_bytes, 0.0, cpu_s, 0.0, 1.0)
        return RunEstimate(most, expected, False, start_s, start_wall_s, is_kept)
    return RunEstimate(most, expected, True, start_s, start_wall_s, is_kept)


def _age_s() -> float:
    """Time since this process was started, s; 0 where the system does not report it."""
    try:
        own = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        up_s = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return 0.0
    # The 22nd field: start of the process in clock ticks since the system booted.
    return max(0.0, up_s - int(own[19]) / os.sysconf("SC_CLK_TCK"))
