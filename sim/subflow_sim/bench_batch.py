"""Workload E of the bench: many copies of workload A, on one core and concurrently on all cores."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

from subflow_sim.bench import WORKLOADS
from subflow_sim.scenario import Scenario
from subflow_sim.simulation import Simulation

BATCH = "E"
"""Name of the workload on the command line."""

DESCRIPTION = "1000 copies of A, each with a seed of its own, in threads on all cores; half of them on one core"


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Cost of a batch, including the construction of the simulations.

    Attributes:
        copies: simulations run on all cores.
        cores: number of threads.
        packets: data packets delivered by the copies on all cores.
        cpu_s: CPU time of these copies, s.
        wall_s: wall-clock time of these copies, s.
        packets_per_cpu_s: `packets` / `cpu_s`.
        scaling_efficiency: rate on all cores / (cores * rate on one core), by wall-clock time; 1 is linear.
    """

    copies: int
    cores: int
    packets: int
    cpu_s: float
    wall_s: float
    packets_per_cpu_s: float
    scaling_efficiency: float


def run_batch(copies: int = 1000, *, cores: int | None = None, rounds: int = 5) -> BatchResult:
    """Runs copies of workload A on all cores, and half as many on one, in alternation.

    Args:
        copies: number of runs on all cores, in total.
        cores: number of threads; None: one for each core that this process may use.
        rounds: number of alternations between all cores and one core, so that other load affects both alike.
    """
    if cores is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    scenario = WORKLOADS["A"].scenario()
    share = max(1, copies // rounds)
    packets_all = packets_one = 0
    wall_all_s = wall_one_s = cpu_all_s = 0.0
    for turn in range(rounds):
        cpu_started, started = time.process_time(), time.perf_counter()
        packets_all += _run_copies(scenario, range(turn * share, (turn + 1) * share), cores)
        wall_all_s += time.perf_counter() - started
        cpu_all_s += time.process_time() - cpu_started
        started = time.perf_counter()
        packets_one += _run_copies(scenario, range(turn * share, turn * share + max(1, share // 2)), 1)
        wall_one_s += time.perf_counter() - started
    rate_all, rate_one = packets_all / wall_all_s, packets_one / wall_one_s
    return BatchResult(
        copies=share * rounds,
        cores=cores,
        packets=packets_all,
        cpu_s=cpu_all_s,
        wall_s=wall_all_s,
        packets_per_cpu_s=packets_all / cpu_all_s,
        scaling_efficiency=rate_all / (cores * rate_one),
    )


def _run_copies(scenario: Scenario, seeds: range, threads: int) -> int:
    """Data packets delivered by the copies; each thread takes the next seed when its copy is finished."""
    left = iter(seeds)
    delivered: list[int] = []

    def work() -> None:
        # Advancing a range iterator is one atomic step of the interpreter: no two threads receive the same seed.
        for seed in left:
            simulation = Simulation(scenario, seed=seed)
            simulation.run_until(simulation.duration_s)
            delivered.append(simulation.packets)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        # A thread still in the core at the exit of the interpreter would crash the program.
        for _ in left:
            pass
        for worker in workers:
            if worker.is_alive():
                worker.join()
        raise
    return sum(delivered)
