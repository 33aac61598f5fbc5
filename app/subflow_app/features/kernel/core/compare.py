"""Runs scenarios on both sides: in the simulator with several seeds, and on the kernel several times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from subflow_app.features.kernel.core.emulator import LATE_P99_S
from subflow_app.features.kernel.core.kernel_script import KernelScript
from subflow_app.features.kernel.core.loading import LoadedController, loaded, reason_against
from subflow_app.features.kernel.core.network_plan import SCRIPT_MARK, NetworkPlan
from subflow_app.features.kernel.core.plan import MAX_CONNECTIONS, MAX_TOTAL_RATE_BPS, kernel_scripts, plan_network
from subflow_app.features.kernel.core.probe import Machine
from subflow_app.features.kernel.core.recording import KernelRecording
from subflow_app.features.kernel.core.worker_process import ask_worker
from subflow_app.foundation.errors import InputError, KernelError
from subflow_sim.errors import SimError
from subflow_sim.scenario import Scenario
from subflow_sim.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Target:
    """Agreement with the kernel that the simulator aims at, for one measure of flows.

    Attributes:
        key: the measure.
        text: the measure in sentences and in the flags of the grid.
        most: largest deviation, see `deviation`.
        is_factor: compares by the ratio of the larger value to the smaller one, not by the relative difference.
        least: if both values are smaller, chance prevails, and they count as equal.
    """

    key: str
    text: str
    most: float
    is_factor: bool = False
    least: float = 0.0

    def deviation(self, flow: Mapping[str, Any]) -> float | None:
        """Deviation of the simulated mean from the kernel's: 0.1 for 10 % or for a factor of 1.1; None if undefined."""
        simulated, kernel = flow[self.key]["simulated"]["mean"], flow[self.key]["kernel"]["mean"]
        if simulated is None or kernel is None:
            return None
        if max(simulated, kernel) < self.least:
            return 0.0
        if self.is_factor:
            excess = difference(max(simulated, kernel), min(simulated, kernel))
            return math.inf if excess is None else excess
        relative = difference(simulated, kernel)
        return None if relative is None else abs(relative)


_GOODPUT = Target("goodput_bps", "goodput", 0.1)
_COMPLETION = Target("completion_s", "completion time", 0.1)
TARGETS = (
    _GOODPUT,
    _COMPLETION,
    Target("mean_rtt_s", "RTT", 0.1),
    Target("retransmits", "retransmissions", 0.3, is_factor=True, least=10),
)
"""Targets of the simulator. Transfers are compared by their completion time and not by their goodput, which is the size
divided by the duration of the run."""


def deviations(flow: Mapping[str, Any]) -> dict[Target, float]:
    """Deviation of a flow of a comparison's document by target, without undefined ones."""
    left_out = _COMPLETION if _COMPLETION.deviation(flow) is None else _GOODPUT
    found = {target: target.deviation(flow) for target in TARGETS if target is not left_out}
    return {target: size for target, size in found.items() if size is not None}


_MOST_TRIES = 3
_OVERHEAD_S = 30.0

Progress = Callable[[float, float], None]
"""Called with the elapsed and the total wall time, s."""


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario to compare, with its plan for the kernel.

    Attributes:
        scenario: the scenario.
        plan: its plan.
        scripts: scripts that the kernel runs, by the `congestion_control` of the flows in the plan.
    """

    scenario: Scenario
    plan: NetworkPlan
    scripts: Mapping[str, KernelScript] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, *, seed: int, socket_buffer_bytes: int) -> Case:
        """Plan the kernel run of a scenario.

        Raises:
            InputError: if the kernel has no counterpart of an element of the scenario.
        """
        plan = plan_network(scenario, seed=seed, socket_buffer_bytes=socket_buffer_bytes)
        return cls(scenario, plan, kernel_scripts(scenario))

    def named(self, controllers: Mapping[bytes, LoadedController]) -> NetworkPlan:
        """The plan with the names of loaded controllers, by the blobs of their scripts."""
        flows = [
            replace(flow, congestion_control=controllers[self.scripts[flow.congestion_control].blob].name)
            if flow.congestion_control in self.scripts
            else flow
            for flow in self.plan.flows
        ]
        return replace(self.plan, flows=tuple(flows))


@dataclass(frozen=True, slots=True)
class KernelRun:
    """One repetition on the kernel, with percentiles of how late the emulator delivered packets in its batch, s."""

    recording: KernelRecording
    lateness: dict[str, float]


@dataclass(slots=True)
class Comparison:
    """The simulations and the kernel runs of one case.

    Attributes:
        case: the scenario and its plan.
        simulated: summaries of the simulations, one per seed.
        kernel: kernel runs, one per repetition.
    """

    case: Case
    simulated: list[dict[str, Any]] = field(default_factory=list)
    kernel: list[KernelRun] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The comparison as a JSON document: mean, minimum and maximum of each measure on both sides.

        ``drops`` counts the data packets and acknowledgements that queues or random loss dropped on any link. It
        excludes drops during outages.
        """
        scenario = self.case.scenario
        kernel = [run.recording.summary() for run in self.kernel]
        flows = []
        for index, planned in enumerate(self.case.plan.flows):
            ours = [summary["flows"][index] for summary in self.simulated]
            theirs = [summary["flows"][index] for summary in kernel]
            flows.append(
                {
                    "name": planned.name,
                    "kind": "mptcp" if planned.is_mptcp else "tcp",
                    "controller": planned.controller,
                    "size_bytes": planned.size_bytes,
                    **_figures(
                        ours,
                        theirs,
                        (
                            "goodput_bps",
                            "active_goodput_bps",
                            "mean_rtt_s",
                            "loss_ratio",
                            "retransmits",
                            "completion_s",
                        ),
                    ),
                    "subflows": [
                        {
                            "path": list(path.links),
                            **_figures(
                                [flow["subflows"][number] for flow in ours],
                                [flow["subflows"][number] for flow in theirs],
                                (
                                    "goodput_bps",
                                    "mean_rtt_s",
                                    "mean_cwnd_pkts",
                                    "loss_ratio",
                                    "retransmits",
                                    "timeouts",
                                ),
                            ),
                        }
                        for number, path in enumerate(planned.paths)
                    ],
                }
            )
        late = [run.lateness for run in self.kernel]
        return {
            "scenario": scenario.name,
            "duration_s": scenario.duration_s,
            "warmup_s": scenario.warmup_s,
            "profile": scenario.profile,
            "seeds": [summary["seed"] for summary in self.simulated],
            "repetitions": len(self.kernel),
            "lateness": {name: max(one[name] for one in late) for name in ("p50_s", "p99_s", "max_s")},
            "is_late": any(one["p99_s"] > LATE_P99_S for one in late),
            **_figures([_drops(one) for one in self.simulated], [_drops(one) for one in kernel], ("drops",)),
            "flows": flows,
        }


@dataclass(slots=True)
class KernelBatch:
    """Networks that run side by side in one worker.

    Attributes:
        members: the networks, as (index of the case, index of the repetition).
        rate_bps: estimated traffic of all members, bit/s.
        connections: number of connections of all members.
        duration_s: duration of each member, s.
    """

    members: list[tuple[int, int]] = field(default_factory=list)
    rate_bps: float = 0.0
    connections: int = 0
    duration_s: float = 0.0


def batches(plans: Sequence[NetworkPlan], repetitions: int) -> list[KernelBatch]:
    """Pack all repetitions of all networks into batches that the emulator can run in real time.

    A batch contains networks of equal duration. Batches receive the first repetition of all networks, then the second,
    and so on. With many networks, a busy moment of the machine thus affects only some repetitions of a network.
    """
    order = sorted(range(len(plans)), key=lambda index: -plans[index].duration_s)
    packed: list[KernelBatch] = []
    for repetition in range(repetitions):
        for index in order:
            plan = plans[index]
            rate_bps, connections = plan.total_rate_bps, len(plan.flows)
            for batch in packed:
                fits = batch.rate_bps + rate_bps <= MAX_TOTAL_RATE_BPS
                if fits and batch.connections + connections <= MAX_CONNECTIONS and batch.duration_s == plan.duration_s:
                    break
            else:
                batch = KernelBatch(duration_s=plan.duration_s)
                packed.append(batch)
            batch.members.append((index, repetition))
            batch.rate_bps += rate_bps
            batch.connections += connections
    return packed


def run_comparisons(
    cases: Sequence[Case],
    machine: Machine,
    *,
    seeds: int,
    repetitions: int,
    progress: Progress | None = None,
    live: Path | None = None,
) -> Iterator[Comparison]:
    """Run both sides of all cases, and yield each comparison as soon as it is complete.

    Args:
        cases: the cases to compare.
        machine: the result of `probe_machine`.
        seeds: number of simulations of each case; the seeds count up from the seed of the plan.
        repetitions: number of kernel runs of each case; the seeds count up from the seed of the plan.
        progress: called during the kernel runs, which take real time; None to report no progress.
        live: a file for the samples of the run in progress, see `endpoint.run_connections`; emptied by each attempt.

    Raises:
        KernelError: with all reasons, if this machine cannot run the cases; or if a run fails.
        InputError: if the simulator refuses a case.
    """
    reasons = machine.reasons_against([case.plan for case in cases])
    scripts = {script.blob: script for case in cases for script in case.scripts.values()}
    if scripts and (reason := reason_against()) is not None:
        reasons.append(reason)
    if reasons:
        raise KernelError("the kernel cannot run this here:\n" + "\n".join(f"  {reason}" for reason in reasons))
    # Simulations run first, because a scenario that the simulator refuses then fails within seconds.
    comparisons = [Comparison(case, simulate(case, seeds)) for case in cases]
    packed = batches([case.plan for case in cases], repetitions)
    total_s = sum(batch.duration_s for batch in packed)
    before_s = 0.0
    with loaded(scripts) as controllers:
        for batch in packed:
            _run_batch(batch, comparisons, controllers, machine, before_s, total_s, progress, live)
            before_s += batch.duration_s
            for index in dict.fromkeys(index for index, _ in batch.members):
                comparison = comparisons[index]
                if len(comparison.kernel) == repetitions:
                    yield comparison


def _run_batch(
    batch: KernelBatch,
    comparisons: Sequence[Comparison],
    controllers: Mapping[bytes, LoadedController],
    machine: Machine,
    before_s: float,
    total_s: float,
    progress: Progress | None,
    live: Path | None,
) -> None:
    """Run a batch until the emulator is on time, at most three times, and keep the runs of the least late attempt."""
    plans = []
    for index, repetition in batch.members:
        plan = comparisons[index].case.named(controllers)
        plans.append(replace(plan, seed=plan.seed + repetition))
    job: dict[str, Any] = {"networks": [plan.to_json() for plan in plans]}
    if live is not None:
        job["live"] = str(live)
    best: dict[str, Any] | None = None
    tries = 0
    while tries < _MOST_TRIES and (best is None or _p99_s(best) > LATE_P99_S):
        tries += 1
        if live is not None:
            live.write_bytes(b"")
        answer = ask_worker(
            job,
            timeout_s=batch.duration_s + _OVERHEAD_S,
            progress=None
            if progress is None
            else lambda elapsed_s: progress(before_s + min(elapsed_s, batch.duration_s), total_s),
        )
        if answer["emulator"]["overruns"]:
            # The socket buffer overflowed: the kernel dropped packets that the emulator had not read, which invalidates
            # the run.
            answer["emulator"]["lateness"]["p99_s"] = math.inf
        if best is None or _p99_s(answer) < _p99_s(best):
            best = answer
    assert best is not None
    emulator = best["emulator"]
    for (index, _), plan, network in zip(batch.members, plans, best["networks"], strict=True):
        about = {"release": machine.release, "tries": tries, **emulator}
        scripts = comparisons[index].case.scripts
        if scripts:
            about["scripts"] = {
                mark.removeprefix(SCRIPT_MARK): asdict(controllers[script.blob].poll())
                for mark, script in scripts.items()
            }
        recording = KernelRecording(comparisons[index].case.scenario, plan, network, about)
        recording.run_until(recording.duration_s)
        comparisons[index].kernel.append(KernelRun(recording, emulator["lateness"]))


def simulate(case: Case, seeds: int) -> list[dict[str, Any]]:
    """Summaries of the simulations of a case; the seeds count up from the seed of the plan.

    Raises:
        InputError: if the core refuses the scenario.
    """
    summaries = []
    for seed in range(case.plan.seed, case.plan.seed + seeds):
        try:
            simulation = Simulation(case.scenario, seed=seed)
        except SimError as error:
            raise InputError(f"{case.scenario.name}: {error}") from error
        simulation.run_until(case.scenario.duration_s)
        summaries.append(simulation.summary())
    return summaries


def _drops(summary: dict[str, Any]) -> dict[str, Any]:
    """Packets dropped on all links of a run: in queues, at random, or while a link was down."""
    kinds = ("drops_queue", "drops_random", "drops_down")
    return {"drops": sum(link[kind] for link in summary["links"] for kind in kinds)}


def _figures(
    ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]], names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Each measure on both sides, as ``{"simulated": spread, "kernel": spread, "difference": relative or None}``."""
    figures = {}
    for name in names:
        simulated, kernel = spread(ours, name), spread(theirs, name)
        figures[name] = {
            "simulated": simulated,
            "kernel": kernel,
            "difference": difference(simulated["mean"], kernel["mean"]),
        }
    return figures


def spread(entries: Sequence[dict[str, Any]], name: str) -> dict[str, float | None]:
    """Mean, minimum and maximum of a measure; all are None if no entry contains a value."""
    values = [float(entry[name]) for entry in entries if entry.get(name) is not None]
    if not values:
        return {"mean": None, "min": None, "max": None}
    return {"mean": sum(values) / len(values), "min": min(values), "max": max(values)}


def difference(simulated: float | None, kernel: float | None) -> float | None:
    """Relative difference of the simulated value from the kernel's; None if a value is None or the kernel's is 0."""
    if simulated is None or kernel is None or kernel == 0:
        return None
    return simulated / kernel - 1


def _p99_s(answer: dict[str, Any]) -> float:
    return float(answer["emulator"]["lateness"]["p99_s"])
