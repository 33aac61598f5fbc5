"""Growth of the simulator's cost, in CPU time, with flows, subflows, rates, hops, meshes and environments."""

from __future__ import annotations

import mmap
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from subflow_sim.bench import lia, reno, two_hosts, two_hosts_link
from subflow_sim.gate import is_there
from subflow_sim.scenario import Scenario, parse_scenario
from subflow_sim.simulation import Simulation
from subflow_sim.vec_env import VecEnv, with_learner

MIN_CPU_S = 0.5
"""Minimum CPU time of each point, without set-up and warm-up."""

_DURATION = "100s"
_PIECES = 100  # approximate number of readings of the clock in a measurement

_SAMPLES_S = 0.1
_FILE = "<bench scale>"
_FLOWS_WARM_UP_S = 0.5
_MOST_SAMPLED_FLOWS = 100  # with more flows, the whole run takes minutes; the samples of a flow need the same memory
_LEAST_RESIDENT_FLOWS = 1000  # with fewer flows, the resident memory is mostly that of the interpreter
_STATM = Path("/proc/self/statm")

_LINE_DELAY_S = 0.02  # total over all hops
_MESH_SIDE = 20
_MESH_FLOWS = 400

DRL_CC_ENVIRONMENT = (
    two_hosts("60s")
    + "".join(
        f"""
[links.{name}]
ends = ["server", "client"]
rate = "8Mbit/s"
delay = "50ms"
queue = "67pkt"
loss = "2%"
"""
        for name in ("one", "two")
    )
    + """
[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "drl-cc"
paths = [["one"], ["two"]]
count = 5
"""
)
"""First scenario of the DRL-CC paper: two paths of 8 Mbit/s with an RTT of 100 ms and 2 % loss, and five flows of two
subflows.
"""


def _one_path(rate: str, queue: str, controller: str) -> str:
    """TOML of a download over a path with an RTT of 40 ms; `controller` is a TOML value."""
    link = two_hosts_link("path", rate, "20ms", queue)
    flow = f'[flows.download]\nkind = "tcp"\nfrom = "server"\nto = "client"\ncontroller = {controller}\n'
    return two_hosts("600s") + link + flow


# The scenario of the evaluation in the RL-explore paper.
_RL_EXPLORE_ENVIRONMENT = _one_path("48Mbit/s", "55pkt", '"rl-explore"')
_TWO_PACKETS_ENVIRONMENT = _one_path(
    "100Mbit/s", "333pkt", '{ name = "clean-slate", epoch = "packets", epoch_packets = 2 }'
)


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """Cost at one size of a series.

    Attributes:
        size: value of the growing quantity, in the size unit of its series.
        value: cost in the unit of its series.
        fresh_bytes: memory per flow before the run, as counted by the simulator; None except in the series "flows".
        running_bytes: memory per flow after the warm-up, as counted by the simulator; None except in the series
            "flows".
        sampled_bytes: memory per flow of all samples of a run of 100 s, one each 0.1 s; None except in the series
            "flows" with at most 100 flows.
        fresh_resident_bytes: growth of the process per flow before the run, with the scenario and its Python objects;
            None except in the series "flows" with at least 1000 flows on Linux.
        running_resident_bytes: growth of the process per flow after the warm-up; None as above.
    """

    size: float
    value: float
    fresh_bytes: float | None = None
    running_bytes: float | None = None
    sampled_bytes: float | None = None
    fresh_resident_bytes: float | None = None
    running_resident_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class ScaleSeries:
    """A growing quantity, and the measurement of its cost.

    Attributes:
        name: short name, as given on the command line.
        description: the simulated scenario.
        size_unit: unit of the growing quantity.
        unit: unit of the cost.
        sizes: measured sizes.
        measure: function of a size and the minimum CPU time in s.
    """

    name: str
    description: str
    size_unit: str
    unit: str
    sizes: tuple[float, ...]
    measure: Callable[[float, float], ScalePoint]

    def points(self, min_cpu_s: float = MIN_CPU_S) -> Iterator[ScalePoint]:
        """Measures the sizes one after the other, and yields the cost at each."""
        for size in self.sizes:
            yield self.measure(size, min_cpu_s)


def _flows(size: float, min_cpu_s: float) -> ScalePoint:
    count = int(size)
    # Workload D is the case of 100 flows.
    link = two_hosts_link("path", f"{10 * count}Mbit/s", "20ms", f"{100 * count // 3}pkt")
    before_bytes = _resident_bytes() if count >= _LEAST_RESIDENT_FLOWS else None
    scenario = parse_scenario(two_hosts(_DURATION) + link + reno(count), file=_FILE)
    simulation = Simulation(scenario, sample_interval_s=scenario.duration_s)  # memory of flows, not of traces
    fresh = (simulation.memory_bytes / count, _grown_bytes(before_bytes, count))
    simulation.run_until(_FLOWS_WARM_UP_S)
    running = (simulation.memory_bytes / count, _grown_bytes(before_bytes, count))
    del simulation
    sampled = _sampled_bytes(scenario) / count if count <= _MOST_SAMPLED_FLOWS else None
    value = _cost_ns(scenario, _packets_of, warm_up_s=_FLOWS_WARM_UP_S, min_cpu_s=min_cpu_s)
    return ScalePoint(size, value, fresh[0], running[0], sampled, fresh[1], running[1])


def _sampled_bytes(scenario: Scenario) -> int:
    """Memory of the samples of a whole run."""
    sampled = Simulation(scenario, sample_interval_s=_SAMPLES_S)
    plain = Simulation(scenario, sample_interval_s=scenario.duration_s)
    for simulation in (sampled, plain):
        simulation.run_until(scenario.duration_s)
    return sampled.memory_bytes - plain.memory_bytes


def _resident_bytes() -> int | None:
    """Memory of this process in RAM; None except on Linux."""
    return int(_STATM.read_text().split()[1]) * mmap.PAGESIZE if is_there(_STATM) else None


def _grown_bytes(before: int | None, count: int) -> float | None:
    now = _resident_bytes()
    return None if before is None or now is None else (now - before) / count


def _subflows(size: float, min_cpu_s: float) -> ScalePoint:
    names = [f"path{number}" for number in range(int(size))]
    links = "".join(two_hosts_link(name, "100Mbit/s", "20ms", "333pkt") for name in names)
    scenario = parse_scenario(two_hosts(_DURATION) + links + lia(names), file=_FILE)
    return ScalePoint(size, _cost_ns(scenario, _packets_of, warm_up_s=2, min_cpu_s=min_cpu_s))


def _rate(size: float, min_cpu_s: float) -> ScalePoint:
    link = two_hosts_link("path", f"{size:g}Gbit/s", "20ms", f"{3333 * size:.0f}pkt")
    scenario = parse_scenario(two_hosts(_DURATION) + link + reno(1), file=_FILE)
    return ScalePoint(size, _cost_ns(scenario, _packets_of, warm_up_s=0.3, min_cpu_s=min_cpu_s))


def _line(size: float, min_cpu_s: float) -> ScalePoint:
    hops = int(size)
    nodes = "".join(f'[nodes.n{hop}]\nkind = "router"\n' for hop in range(1, hops))
    ends = ["server", *(f"n{hop}" for hop in range(1, hops)), "client"]
    links = "".join(
        f"""
[links.hop{hop}]
ends = ["{ends[hop]}", "{ends[hop + 1]}"]
rate = "100Mbit/s"
delay = "{_LINE_DELAY_S / hops * 1e6:g}us"
queue = "333pkt"
"""
        for hop in range(hops)
    )
    scenario = parse_scenario(two_hosts(_DURATION) + nodes + links + reno(1), file=_FILE)
    return ScalePoint(size, _cost_ns(scenario, _crossings_of, warm_up_s=1, min_cpu_s=min_cpu_s))


def mesh_text(side: int, flows: int) -> str:
    """TOML of a square grid of routers, each connected to its neighbours and a host, with flows between random hosts.

    The random hosts are the same in every call.

    Args:
        side: routers in a row.
        flows: number of Reno flows.
    """
    draws = random.Random(1)
    names = [f"n{row}_{column}" for row in range(side) for column in range(side)]
    nodes = "".join(f'[nodes.{name}]\nkind = "router"\n[nodes.h{name}]\n' for name in names)
    pairs = [(at, at + 1) for at in range(side * side) if (at + 1) % side]
    pairs += [(at, at + side) for at in range(side * (side - 1))]
    links = "".join(
        f"""
[links.l{number}]
ends = ["{names[one]}", "{names[other]}"]
rate = "100Mbit/s"
delay = "1ms"
queue = "100pkt"
"""
        for number, (one, other) in enumerate(pairs)
    ) + "".join(
        f"""
[links.a{name}]
ends = ["h{name}", "{name}"]
rate = "unlimited"
delay = "100us"
queue = "unlimited"
"""
        for name in names
    )
    told = []
    for number in range(flows):
        start, end = draws.sample(names, 2)
        told.append(
            f'[flows.f{number}]\nkind = "tcp"\nfrom = "h{start}"\nto = "h{end}"\ncontroller = "newreno"\nstart = "0s"\n'
        )
    return f'format = 1\nduration = "{_DURATION}"\n{nodes}{links}{"".join(told)}'


def mesh_scenario(flows: int = _MESH_FLOWS) -> Scenario:
    """The scenario of the series "mesh"."""
    return parse_scenario(mesh_text(_MESH_SIDE, flows), file=_FILE)


def _mesh(size: float, min_cpu_s: float) -> ScalePoint:
    value = _cost_ns(mesh_scenario(int(size)), _crossings_of, warm_up_s=0.3, min_cpu_s=min_cpu_s)
    return ScalePoint(size, value)


def _environments(text: str, controller: str) -> Callable[[float, float], ScalePoint]:
    def measure(size: float, min_cpu_s: float) -> ScalePoint:
        return ScalePoint(size, environment_rate(text, controller, int(size), min_cpu_s=min_cpu_s))

    return measure


def environment_rate(text: str, controller: str, envs: int, *, min_cpu_s: float = MIN_CPU_S) -> float:
    """Steps of environments per CPU-second, including the work in Python.

    Agents with discrete actions act at random, as before training; continuous actions are neutral.

    Args:
        text: the scenario of each environment, as TOML.
        controller: the learning controller.
        envs: environments stepped together.
        min_cpu_s: minimum measured CPU time, s, after a warm-up of the same length.
    """
    scenario = with_learner(parse_scenario(text, file="<bench environment>"), controller)

    def make_scenario(_env: int, _episode: int) -> Scenario:
        return scenario

    env = VecEnv(make_scenario, controller, envs, seed=1, threads=0)
    env.reset()
    draws = np.random.default_rng(1)
    shape = (envs, env.slots, env.info.action_width)
    choices = len(env.info.choices)
    actions = [
        (draws.integers(0, choices, shape) if choices else np.zeros(shape)).astype(np.float32) for _ in range(97)
    ]
    _steps_within(env, actions, min_cpu_s)
    steps, cpu_s = _steps_within(env, actions, min_cpu_s)
    return steps * envs / cpu_s


def _steps_within(env: VecEnv, actions: Sequence[NDArray[np.float32]], min_cpu_s: float) -> tuple[int, float]:
    """Number of joint steps of all environments in at least this CPU time, and the CPU time actually spent, s."""
    steps = 0
    started = time.process_time()
    while (cpu_s := time.process_time() - started) < min_cpu_s or steps == 0:
        # Reading the clock after every step would distort the measurement.
        for _ in range(max(1, 64 // env.num_envs)):
            env.step(actions[steps % len(actions)])
            steps += 1
    return steps, cpu_s


def _packets_of(simulation: Simulation) -> int:
    return simulation.packets


def _crossings_of(simulation: Simulation) -> int:
    return simulation.link_crossings


def _cost_ns(scenario: Scenario, counted: Callable[[Simulation], int], *, warm_up_s: float, min_cpu_s: float) -> float:
    """CPU time per counted event after the warm-up, ns; several runs if one is too short."""
    count = 0
    cpu_s = 0.0
    while cpu_s < min_cpu_s or count == 0:
        simulation = Simulation(scenario, sample_interval_s=_SAMPLES_S)
        simulation.run_until(warm_up_s)
        before = counted(simulation)
        piece_s = warm_up_s / _PIECES
        spent_s = 0.0
        started = time.process_time()
        while not simulation.finished and (cpu_s + spent_s < min_cpu_s or counted(simulation) == before):
            simulation.run_until(simulation.now_s + piece_s)
            piece_s = min(2 * piece_s, warm_up_s) if spent_s < min_cpu_s / _PIECES else piece_s
            spent_s = time.process_time() - started
        cpu_s += spent_s
        count += counted(simulation) - before
    return cpu_s * 1e9 / count


_PER_PACKET = "ns per packet"
_PER_CROSSING = "ns per crossing"
_STEPS = "steps per CPU s"
_ENVS = (1.0, 16.0, 64.0, 256.0)

_ALL = (
    ScaleSeries(
        "flows",
        "Reno flows over one link, each with a share of 10 Mbit/s, RTT 40 ms",
        "flows",
        _PER_PACKET,
        (1, 10, 100, 1_000, 10_000),
        _flows,
    ),
    ScaleSeries(
        "subflows",
        "MPTCP LIA over as many links of 100 Mbit/s, RTT 40 ms",
        "subflows",
        _PER_PACKET,
        (2, 4, 8, 16),
        _subflows,
    ),
    ScaleSeries("rate", "1 Reno flow over a link, RTT 40 ms", "Gbit/s", _PER_PACKET, (1, 10, 100), _rate),
    ScaleSeries(
        "line",
        "1 Reno flow over links of 100 Mbit/s in a row, RTT 40 ms, with a queued way back",
        "hops",
        _PER_CROSSING,
        (10, 20, 50, 100, 200),
        _line,
    ),
    ScaleSeries(
        "mesh",
        f"Reno flows in a mesh of {_MESH_SIDE} x {_MESH_SIDE} nodes, links of 100 Mbit/s, 1 ms, a host at each",
        "flows",
        _PER_CROSSING,
        (_MESH_FLOWS,),
        _mesh,
    ),
    ScaleSeries(
        "drl-cc",
        "environments of DRL-CC: five flows of two subflows over two paths of 8 Mbit/s",
        "environments",
        _STEPS,
        _ENVS,
        _environments(DRL_CC_ENVIRONMENT, "drl-cc"),
    ),
    ScaleSeries(
        "50-packets",
        "environments of RL-explore, which decides every 50 packets, at random, over 48 Mbit/s",
        "environments",
        _STEPS,
        _ENVS,
        _environments(_RL_EXPLORE_ENVIRONMENT, "rl-explore"),
    ),
    ScaleSeries(
        "2-packets",
        "environments of the clean slate, which decides every 2 packets here, over 100 Mbit/s",
        "environments",
        _STEPS,
        _ENVS,
        _environments(_TWO_PACKETS_ENVIRONMENT, "clean-slate"),
    ),
)

SERIES: Mapping[str, ScaleSeries] = MappingProxyType({series.name: series for series in _ALL})
"""All series by name, in the order of measurement."""
