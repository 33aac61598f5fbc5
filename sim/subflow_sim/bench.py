"""The speed of the simulator: data packets delivered per CPU-second, with traces every 100 ms.

The workloads are those used to compare simulators in the literature; `sim/bench/README.md` lists their results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from subflow_sim.decisions import DecisionLimits
from subflow_sim.errors import SimulationError
from subflow_sim.scenario import Scenario, parse_scenario
from subflow_sim.simulation import Simulation

# One link between two hosts; its reverse direction only adds delay.
_LINK = """
[links.{name}]
ends = ["server", "client"]
rate = "{rate}"
delay = "{delay}"
queue = "{queue}"
[links.{name}.reverse]
rate = "unlimited"
queue = "unlimited"
"""

_TWO_HOSTS = """
format = 1
duration = "{duration}"
[nodes.server]
[nodes.client]
"""

_TCP = """
[flows.{name}]
kind = "tcp"
count = {count}
from = "server"
to = "client"
controller = "{controller}"
start = "0s"
"""

_MANAGED_QUEUE = """
[links.path.queue]
discipline = "{discipline}"
limit = "333pkt"
"""

_DUMBBELL = """
format = 1
duration = "100s"
[nodes.server]
[nodes.left]
kind = "router"
[nodes.right]
kind = "router"
[nodes.client]
[links.access]
ends = ["server", "left"]
rate = "1Gbit/s"
delay = "1ms"
queue = "1000pkt"
[links.bottleneck]
ends = ["left", "right"]
rate = "100Mbit/s"
delay = "18ms"
queue = "333pkt"
[links.egress]
ends = ["right", "client"]
rate = "1Gbit/s"
delay = "1ms"
queue = "1000pkt"
"""


def lia(paths: Sequence[str]) -> str:
    """TOML of a LIA flow with one subflow on each of these links."""
    listed = ", ".join(f'["{path}"]' for path in paths)
    return f"""
[flows.lia]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
scheduler = "minrtt"
paths = [{listed}]
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """A scenario to be timed.

    Attributes:
        name: short name, as given on the command line.
        description: one line for display.
        text: the scenario as TOML.
    """

    name: str
    description: str
    text: str

    def scenario(self) -> Scenario:
        """The parsed scenario."""
        return parse_scenario(self.text, file=f"<bench {self.name}>")


@dataclass(frozen=True, slots=True)
class BenchResult:
    """Cost of a workload.

    Attributes:
        name: name of the workload.
        description: description of the workload.
        packets: data packets delivered.
        cpu_s: CPU time of the fastest repetition, without set-up, s.
        packets_per_cpu_s: `packets` / `cpu_s`.
        signature: signature of the run, which proves that all repetitions and versions did the same work.
    """

    name: str
    description: str
    packets: int
    cpu_s: float
    packets_per_cpu_s: float
    signature: str


def two_hosts(duration: str, *parts: str) -> str:
    """TOML of a scenario with two hosts, "server" and "client", and the given further sections."""
    return _TWO_HOSTS.format(duration=duration) + "".join(parts)


def two_hosts_link(name: str, rate: str, delay: str, queue: str) -> str:
    """TOML of a link between the two hosts whose reverse direction only adds delay."""
    return _LINK.format(name=name, rate=rate, delay=delay, queue=queue)


def reno(count: int) -> str:
    """TOML of `count` Reno flows from the server to the client that start at 0 s."""
    return _TCP.format(name="reno", count=count, controller="newreno")


def _managed(controller: str, discipline: str) -> str:
    """TOML of workload B with another controller, and a managed queue in place of the drop-tail queue."""
    link = two_hosts_link("path", "100Mbit/s", "20ms", "333pkt").replace('queue = "333pkt"\n', "", 1)
    flow = _TCP.format(name=controller, count=1, controller=controller)
    return two_hosts("100s", link, _MANAGED_QUEUE.format(discipline=discipline), flow)


_ALL = (
    Workload(
        "A",
        "1 Reno flow, 10 Mbit/s, RTT 100 ms, 84 packets, 100 s, pure-delay way back",
        two_hosts("100s", two_hosts_link("path", "10Mbit/s", "50ms", "84pkt"), reno(1)),
    ),
    Workload(
        "B",
        "1 Reno flow, 100 Mbit/s, RTT 40 ms, 333 packets, 100 s, pure-delay way back",
        two_hosts("100s", two_hosts_link("path", "100Mbit/s", "20ms", "333pkt"), reno(1)),
    ),
    Workload(
        "B-dumbbell",
        "as B, with access and egress links and a queued way back",
        _DUMBBELL + reno(1),
    ),
    Workload(
        "C",
        "MPTCP LIA over two links of 100 Mbit/s, RTT 40 ms, 333 packets each, 100 s",
        two_hosts(
            "100s",
            two_hosts_link("one", "100Mbit/s", "20ms", "333pkt"),
            two_hosts_link("two", "100Mbit/s", "20ms", "333pkt"),
            lia(["one", "two"]),
        ),
    ),
    Workload(
        "D",
        "100 Reno flows, 1 Gbit/s, RTT 40 ms, 3333 packets, 20 s",
        two_hosts("20s", two_hosts_link("path", "1Gbit/s", "20ms", "3333pkt"), reno(100)),
    ),
    Workload("B-codel", "as B, with a CoDel queue", _managed("newreno", "codel")),
    Workload("B-dualpi2", "as B, with CUBIC and a DualPI2 queue", _managed("cubic", "dualpi2")),
    Workload("B-prague", "as B, with Prague, AccECN and a DualPI2 queue", _managed("prague", "dualpi2")),
)

WORKLOADS: Mapping[str, Workload] = MappingProxyType({workload.name: workload for workload in _ALL})
"""All workloads by name, in the order in which they run."""


def run_workload(name: str, *, repetitions: int = 3, min_cpu_s: float = 0.3) -> BenchResult:
    """Times a workload.

    Args:
        name: key of `WORKLOADS`.
        repetitions: minimum number of runs; the fastest counts, because other load only slows a run down.
        min_cpu_s: minimum total CPU time of the runs, s: a run of a few milliseconds ends before the processor leaves
            its idle clock rate.

    Raises:
        KeyError: if the workload is unknown.
    """
    workload = WORKLOADS[name]
    scenario = workload.scenario()
    cpu_s, simulation = _timed(scenario)
    spent_s = cpu_s
    count = 1
    while count < repetitions or spent_s < min_cpu_s:
        again_s, simulation = _timed(scenario)
        cpu_s = min(cpu_s, again_s)
        spent_s += again_s
        count += 1
    packets = simulation.packets
    return BenchResult(name, workload.description, packets, cpu_s, packets / cpu_s, simulation.signature())


# The records of decisions are checked at this interval of simulated time, in s, and taken when the fullest reaches this
# fill level, a thousand decisions. The records then stay in the processor's caches, as in the application.
_RECORDING_STEP_S = 0.5
_RECORD_FILL = 0.02


@dataclass(frozen=True, slots=True)
class RecordingCost:
    """Cost of recording all decisions of a workload and taking them as arrays.

    Attributes:
        name: name of the workload.
        decisions: decisions recorded in a run.
        plain_cpu_s: CPU time of the fastest repetition without recording, s.
        recorded_cpu_s: CPU time of the fastest repetition with recording, s.
        ratio: `recorded_cpu_s` / `plain_cpu_s`.
    """

    name: str
    decisions: int
    plain_cpu_s: float
    recorded_cpu_s: float
    ratio: float


def recording_cost(name: str, *, repetitions: int = 5, min_cpu_s: float = 0.3) -> RecordingCost:
    """Times a workload with and without recording decisions, alternately, so that other load affects both alike.

    Args:
        name: key of `WORKLOADS`.
        repetitions: minimum number of runs of each kind; the fastest of each count.
        min_cpu_s: minimum total CPU time of the runs without recording, s.

    Raises:
        KeyError: if the workload is unknown.
        SimulationError: if recording changed the run or decisions were lost.
    """
    scenario = WORKLOADS[name].scenario()
    plain_s = recorded_s = math.inf
    spent_s = 0.0
    count = decisions = 0
    while count < repetitions or spent_s < min_cpu_s:
        cpu_s, plain = _timed(scenario)
        plain_s = min(plain_s, cpu_s)
        spent_s += cpu_s
        cpu_s, recorded, decisions = _timed_recording(scenario)
        recorded_s = min(recorded_s, cpu_s)
        count += 1
        if recorded.signature() != plain.signature() or recorded.decisions_lost:
            raise SimulationError(f"recording the decisions of {name} changed its run or lost some of them")
    return RecordingCost(name, decisions, plain_s, recorded_s, recorded_s / plain_s)


def _timed_recording(scenario: Scenario) -> tuple[float, Simulation, int]:
    simulation = Simulation(scenario, decisions=DecisionLimits())
    taken = 0
    started = time.process_time()
    while not simulation.finished:
        simulation.run_until(simulation.now_s + _RECORDING_STEP_S)
        if simulation.decisions_fill >= _RECORD_FILL:
            taken += len(simulation.take_decisions())
    taken += len(simulation.take_decisions())
    return time.process_time() - started, simulation, taken


def _timed(scenario: Scenario) -> tuple[float, Simulation]:
    simulation = Simulation(scenario)
    started = time.process_time()
    simulation.run_until(simulation.duration_s)
    return time.process_time() - started, simulation
