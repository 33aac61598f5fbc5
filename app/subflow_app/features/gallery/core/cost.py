"""What controllers cost: CPU time and memory of whole simulations with each of them, side by side.

Costs are measured in this process, as CPU time, and all series in turns: every repetition goes once through all of
them, so that a machine that is slow for a while is slow for all. They are never part of results that have to repeat:
a cost belongs to the machine that it was measured on, and is kept with its description.
"""

from __future__ import annotations

import ctypes
import gc
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario

LEAST_CPU_S = 0.05
"""A run is repeated until this much CPU time has gone into it: clocks and caches are warm then."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one simulation took.

    Attributes:
        cpu_s: CPU time of the fastest of the runs of a measurement, set-up left out, s.
        simulated_s: simulated time, s.
        packets: data packets delivered.
        memory_bytes: on the heap at its end that were not there before it began; NaN where that cannot be told.
        decisions: of what learns; NaN: of a measurement that did not count them.
        network_bytes: what the numbers of the policies' networks take; NaN likewise.
    """

    cpu_s: float
    simulated_s: float
    packets: int
    memory_bytes: float
    decisions: float = math.nan
    network_bytes: float = math.nan

    @property
    def cpu_per_second(self) -> float:
        """CPU time over simulated time: the share of a processor that it would take in real time."""
        return self.cpu_s / self.simulated_s

    @property
    def cpu_per_packet_s(self) -> float:
        """CPU time over data packets delivered, s; NaN if none was."""
        return self.cpu_s / self.packets if self.packets else math.nan


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run whose cost was measured.

    Attributes:
        cost: what it took.
        summary: document of the run.
        signature: of the run.
    """

    cost: Cost
    summary: Mapping[str, Any]
    signature: str


def measure_cost(scenario: Scenario, seed: int, is_stopped: Callable[[], bool] = lambda: False) -> MeasuredRun:
    """Simulate to the end, as often as it takes for the clock to tell something, and keep the fastest.

    Other load only ever slows a run down, so the fastest says most of what the run itself takes.

    Args:
        scenario: what to simulate.
        seed: of all its runs.
        is_stopped: asked between two runs.

    Raises:
        SimError: if it cannot be simulated.
    """
    from subflow_sim import Simulation

    best_s, spent_s, memory = math.inf, 0.0, math.nan
    while True:
        gc.collect()
        before = heap_bytes()
        # Nothing is sampled: what traces take is the same for all.
        simulation = Simulation(scenario, seed=seed, sample_interval_s=max(1.0, scenario.duration_s))
        started = time.process_time()
        simulation.run_until(scenario.duration_s)
        cpu_s = time.process_time() - started
        if math.isnan(memory):
            memory = heap_bytes() - before
        best_s = min(best_s, cpu_s)
        spent_s += cpu_s
        if spent_s >= LEAST_CPU_S or is_stopped():
            learning = decisions(scenario, seed), network_bytes(scenario)
            cost = Cost(best_s, scenario.duration_s, simulation.packets, memory, *learning)
            return MeasuredRun(cost, simulation.summary(), simulation.signature())


def decisions(scenario: Scenario, seed: int) -> int:
    """How often what learns decides in a run, for each subflow: steps of agents, else monitor intervals.

    Controllers that learn online judge every interval; what has an agent counts by the agent alone.

    Raises:
        SimError: if it cannot be simulated.
    """
    from subflow_sim import Simulation

    simulation = Simulation(scenario, seed=seed, sample_interval_s=max(1.0, scenario.duration_s))
    steps: Counter[int] = Counter()
    intervals: Counter[int] = Counter()
    time_s = 0.0
    while time_s < scenario.duration_s:
        # What is not taken for long is overwritten.
        time_s = min(time_s + 1.0, scenario.duration_s)
        simulation.run_until(time_s)
        intervals.update(simulation.take_intervals().owner.tolist())
        taken = simulation.take_agent_steps()
        if taken is not None:
            steps.update(taken.subflow[taken.is_acting].tolist())
    return sum(steps[owner] or intervals[owner] for owner in steps.keys() | intervals.keys())


def network_bytes(scenario: Scenario) -> int:
    """What the numbers of the networks take that decide in a run; subflows share those of the same policy."""
    from subflow_sim.policy import actor_bytes

    files = [flow.controller.policy for flow in scenario.flows.values()]
    contents = {file.content_hash: file.content for file in files if file is not None}
    return sum(map(actor_bytes, contents.values()))


class _HeapUse(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def heap_bytes() -> float:
    """Bytes that this process has in use on the heap, as glibc counts them; NaN with another C library."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return math.nan
    mallinfo2.restype = _HeapUse
    use = mallinfo2()
    return float(use.uordblks + use.hblkhd)


FIGURES: Mapping[str, Callable[[Cost], float]] = {
    "cpu_per_second": lambda cost: cost.cpu_per_second,
    "cpu_per_packet": lambda cost: cost.cpu_per_packet_s,
    "memory": lambda cost: cost.memory_bytes,
    "decisions_per_second": lambda cost: cost.decisions / cost.simulated_s,
    "network_memory": lambda cost: cost.network_bytes,
}
"""What is measured of a cost, by name."""
