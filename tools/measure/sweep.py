"""Speed of sweeps on this machine: overhead of a run beyond its simulation, and speed-up by using all cores."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from subflow_app.features.sweeps.core.plan_file import read_plan
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_plan import PointReader
from subflow_app.foundation.jobs.executors import core_count
from subflow_sim.simulation import Simulation
from subflow_store import open_store

RUNS = 64
DURATION_S = 20.0

_SCENARIO = f"""\
format = 1
name = "Sweep benchmark"
duration = {DURATION_S}

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["server", "client"]
rate = "20Mbit/s"
delay = "10ms"
queue = "100pkt"
loss = "0.1%"

[links.lte]
ends = ["server", "client"]
rate = "10Mbit/s"
delay = "30ms"
queue = "100pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]
"""


@dataclass(frozen=True, slots=True)
class SweepSpeed:
    """Results; processor time where other load would distort wall time.

    Attributes:
        runs: number of runs in the sweep.
        cores: number of cores that this process may use.
        bare_cpu_s: processor time of the simulations only.
        one_cpu_s: processor time of the sweep in one process, with all traces stored in a database in memory.
        one_s: wall time of the same sweep.
        all_s: wall time of the sweep on all cores, including the start of the processes.
    """

    runs: int
    cores: int
    bare_cpu_s: float
    one_cpu_s: float
    one_s: float
    all_s: float

    @property
    def overhead_ms(self) -> float:
        """Overhead of a run beyond its simulation, ms of processor time."""
        return (self.one_cpu_s - self.bare_cpu_s) / self.runs * 1e3

    @property
    def speed_up(self) -> float:
        """Wall time on one core divided by wall time on all cores."""
        return self.one_s / self.all_s


def document() -> dict[str, Any]:
    """Measures a sweep."""
    speed = measure_sweep()
    return asdict(speed) | {"overhead_ms": speed.overhead_ms, "speed_up": speed.speed_up}


def measure_sweep() -> SweepSpeed:
    """Measure a sweep of short runs: 16 points and 4 seeds, 20 simulated seconds each."""
    tree = {
        "format": 1,
        "scenario_text": _SCENARIO,
        "axes": {"links.wifi.loss": f"0%..3%/{RUNS // 4}"},
        "seeds": "1..4",
    }
    plan = read_plan(tree)
    reader = PointReader(plan)
    scenarios = [reader.scenario(point) for point in plan.points()]
    began = time.process_time()
    for scenario in scenarios:
        for seed in plan.seeds:
            simulation = Simulation(scenario, seed=seed)
            simulation.run_until(simulation.duration_s)
    bare_cpu_s = time.process_time() - began
    cores = core_count()
    began = time.process_time()
    one_s = _sweep_s(tree, 1)
    one_cpu_s = time.process_time() - began
    return SweepSpeed(plan.n_runs, cores, bare_cpu_s, one_cpu_s, one_s, _sweep_s(tree, max(2, cores)))


def _sweep_s(tree: dict[str, object], jobs: int) -> float:
    with open_store(":memory:") as store:
        job = SweepJob(read_plan(tree), store, jobs=jobs)
        began = time.perf_counter()
        job.run()
        return time.perf_counter() - began
