"""How fast sweeps are on this machine: what a run costs beyond its simulation, and what all cores gain over one."""

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
    """What was measured; processor time where other work on the machine would only add to it.

    Attributes:
        runs: of the sweep.
        cores: that this process may use.
        bare_cpu_s: processor time of the simulations alone.
        one_cpu_s: processor time of the sweep in one process, every run with its traces in a database in memory.
        one_s: the same by the clock.
        all_s: on all cores, their processes started anew, by the clock.
    """

    runs: int
    cores: int
    bare_cpu_s: float
    one_cpu_s: float
    one_s: float
    all_s: float

    @property
    def overhead_ms(self) -> float:
        """What a run costs beyond its simulation, ms of processor time."""
        return (self.one_cpu_s - self.bare_cpu_s) / self.runs * 1e3

    @property
    def speed_up(self) -> float:
        """How many times as fast all cores are as one."""
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
