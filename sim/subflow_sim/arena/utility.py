"""Score of a controller on a network: a utility that does not depend on the other controllers in the ranking.

For each competing connection

    U = ln(x / fair) - 0.5 ln(1 + queueing delay / base RTT) - 5 (loss - links' own loss)

and the score of the network is the mean over its connections. x is the goodput of the connection while it is active,
and fair is its max-min fair share over the same interval. The queueing delay of a subflow is the mean RTT measured by
the sender, less the base RTT; it includes the wait for delayed ACKs. Its logarithm is averaged over the subflows,
weighted by the delivered packets. Loss counts where it exceeds the configured loss of the links on the paths.

For documents (connections with a size), ln(x / fair) is ln(ideal / makespan): the makespan under max-min fair shares
over the measured makespan.

The gate: the background TCP connections must keep at least `GATE` of their joint goodput in a reference run with the
same seed, in which one NewReno replaces each competing connection. Otherwise the network scores `WORST`. The reference
is a run instead of the fair share, because TCP falls far short of its fair share on links with random loss, no matter
which sender competes with it. If the reference run exceeds the fair share (each NewReno uses one path and may avoid the
background connections), the fair share suffices. No utility is below `WORST`, so that an idle sender has a finite
score.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_sim.arena.blind import blind_summary
from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import PathFacts, path_facts
from subflow_sim.errors import SimError, SimulationError
from subflow_sim.fairness.ideal import max_min_shares
from subflow_sim.fairness.network import Lifetime
from subflow_sim.whole_scenario import Scenario

if TYPE_CHECKING:
    from subflow_sim.simulation import Simulation

WORST = -5.0
"""The lowest utility, about that of a goodput of 1/150 of the fair share; also the score of a run that fails or
violates the gate.
"""

DELAY_WEIGHT = 0.5
LOSS_WEIGHT = 5.0

GATE = 0.8
"""Share of the reference goodput that the background TCP connections must keep."""

SAMPLE_INTERVAL_S = 0.25
_STEADY_S = 2.0  # window over which the goodput is averaged
_ARRIVED = 0.75  # a goodput between 0.75 and 1 / 0.75 of the new fair share counts as converged


@dataclass(frozen=True, slots=True)
class Outcome:
    """Score of a run with its components.

    Attributes:
        utility: utility of the network, at least `WORST`.
        throughput: mean over the connections of ln(x / fair), each at least `WORST`.
        queueing: mean ratio of the queueing delay to the base RTT; NaN if nothing arrived.
        excess_loss: mean loss beyond the configured loss of the links, 0..1.
        convergence_s: mean time from a change of capacity at the end of the warm-up until a connection reaches its new
            fair share, s; NaN without a change.
        friendliness: joint goodput of the background TCP flows over their reference goodput; NaN without such flows.
        reason: reason for the worst score; empty if the run passed.
    """

    utility: float
    throughput: float = math.nan
    queueing: float = math.nan
    excess_loss: float = math.nan
    friendliness: float = math.nan
    convergence_s: float = math.nan
    reason: str = ""

    @classmethod
    def worst(cls, reason: str) -> Outcome:
        """The outcome of a run that failed."""
        return cls(WORST, reason=reason)


def utility(throughput_ratio: float, queueing_ratio: float, excess_loss: float) -> float:
    """The utility of a connection, at least `WORST`.

    Args:
        throughput_ratio: goodput over the fair share.
        queueing_ratio: queueing delay over the base RTT.
        excess_loss: loss beyond the configured loss of the links.
    """
    cost = DELAY_WEIGHT * math.log1p(max(queueing_ratio, 0.0)) + LOSS_WEIGHT * max(excess_loss, 0.0)
    return max(_log(throughput_ratio) - cost, WORST)


def mean_of(values: Sequence[float]) -> float:
    """Mean of the values; NaN if empty."""
    return math.fsum(values) / len(values) if values else math.nan


def worst_decile_of(values: Sequence[float]) -> float:
    """Mean of the lowest tenth of the values, at least one; NaN if empty."""
    return mean_of(sorted(values)[: max(1, len(values) // 10)])


def outcome(
    net: Network, summary: Mapping[str, Any], beside_newreno_bps: float, convergence_s: float = math.nan
) -> Outcome:
    """Score of a run.

    Args:
        net: the simulated network.
        summary: summary of the run, from `Simulation.summary`.
        beside_newreno_bps: joint goodput of the background flows in the reference run, from `newreno_reference_bps`.
        convergence_s: measured convergence time, s; NaN if not measured.

    Raises:
        SimulationError: if the network has no fair shares.
    """
    flows = {flow["name"]: flow for flow in summary["flows"]}
    facts = path_facts(net.scenario)
    document_ratio = _document_ratio(net, flows) if net.has_documents else math.nan
    shares = fair_shares(net)
    utilities, throughputs, queueings, losses = [], [], [], []
    for name in net.connections:
        flow = flows[name]
        ratio = document_ratio if net.has_documents else flow["active_goodput_bps"] / shares[name]
        log_delay, queueing, loss = _costs(flow, [facts[key] for key in _paths_of(net, name)])
        throughputs.append(_log(ratio))
        queueings.append(queueing)
        losses.append(loss)
        utilities.append(max(_log(ratio) - DELAY_WEIGHT * log_delay - LOSS_WEIGHT * loss, WORST))
    known = [each for each in queueings if not math.isnan(each)]
    friendliness = math.nan
    reason = ""
    if net.beside:
        due_bps = min(beside_newreno_bps, math.fsum(shares[name] for name in _copies(net, net.beside)))
        friendliness = beside_bps(net, summary) / due_bps if due_bps > 0 else 1.0
        if friendliness < GATE:
            reason = f"leaves the others {friendliness:.0%} of what NewReno leaves them"
    return Outcome(
        WORST if reason else mean_of(utilities),
        mean_of(throughputs),
        mean_of(known),
        mean_of(losses),
        friendliness,
        convergence_s,
        reason,
    )


def beside_bps(net: Network, summary: Mapping[str, Any]) -> float:
    """Joint goodput of the background TCP flows, bit/s."""
    names = _copies(net, net.beside)
    return math.fsum(flow["goodput_bps"] for flow in summary["flows"] if flow["name"] in names)


def newreno_reference_bps(net: Network) -> float:
    """Joint goodput of the background flows while NewReno replaces the competing flows, bit/s; 0 without any.

    The reference run is simulated once for each network, with the seed of its scenario.

    Raises:
        SimulationError: if the reference run fails.
    """
    return _reference_bps(_Held(net)) if net.beside else 0.0


@dataclass(frozen=True, slots=True)
class _Held:
    """A network as a key of `lru_cache`, hashed by its name and seed."""

    net: Network

    def __hash__(self) -> int:
        return hash((self.net.name, self.net.scenario.seed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.net == other.net


@lru_cache(maxsize=4096)
def _reference_bps(held: _Held) -> float:
    return beside_bps(held.net, finished(held.net.reference()).summary())


def judged(net: Network, scenario: Scenario) -> Outcome:
    """Runs a network with a controller on the competing connections and scores the run.

    Args:
        net: the network.
        scenario: the same network with the controller, or the datagrams of `blind_network`. A failed run scores worst.
    """
    return judged_and_timed(net, scenario)[0]


def judged_and_timed(net: Network, scenario: Scenario) -> tuple[Outcome, float]:
    """The result of `judged`, and the CPU time per delivered packet, s; NaN if the run failed or delivered none."""
    try:
        started = time.thread_time()
        simulation = finished(scenario)
        packet_s = (time.thread_time() - started) / simulation.packets if simulation.packets else math.nan
        summary = simulation.summary()
        if not set(net.competes) & scenario.flows.keys():
            return outcome(net, blind_summary(net, summary), newreno_reference_bps(net)), packet_s
        convergence_s = _convergence_s(net, simulation) if net.has_step else math.nan
        return outcome(net, summary, newreno_reference_bps(net), convergence_s), packet_s
    except SimError as error:
        return Outcome.worst(str(error)), math.nan


def fair_shares(net: Network) -> dict[str, float]:
    """The max-min fair share of each connection over the measured time, bit/s of payload.

    Raises:
        SimulationError: if no max-min split exists.
    """
    try:
        return max_min_shares(net.scenario, net.scenario.warmup_s, net.scenario.duration_s)
    except ArithmeticError as error:
        raise SimulationError(f"{net.name}: {error}") from error


def ideal_makespan_s(net: Network) -> float:
    """Time from the first start to the end of the last document under max-min fair shares, s.

    Infinite if a document never completes.
    """
    scenario = net.scenario
    size = {name: 8.0 * _size_bytes(net, name) for name in net.connections}
    start = {name: scenario.flows[_base(name)].start_s for name in net.connections}
    others = {
        name: Lifetime(flow.start_s, math.inf if flow.stop_s is None else flow.stop_s)
        for each in net.beside
        for flow in (scenario.flows[each],)
        for name in flow.instances
    }
    now_s = first_s = min(start.values())
    while size:
        alive = {name: Lifetime(start[name], math.inf) for name in size}
        rates = max_min_shares(scenario, now_s, now_s, alive | others)
        later = [each for each in start.values() if each > now_s]
        running = {name: rates[name] for name in size if start[name] <= now_s and rates[name] > 0}
        if not running and not later:
            return math.inf
        step_s = min(size[name] / rate for name, rate in running.items()) if running else math.inf
        step_s = min(step_s, min(later, default=math.inf) - now_s)
        for name, rate in running.items():
            size[name] -= rate * step_s
        size = {name: left for name, left in size.items() if left > 1e-3}
        now_s += step_s
    return now_s - first_s


def _document_ratio(net: Network, flows: Mapping[str, Mapping[str, Any]]) -> float:
    """The ideal makespan over the measured makespan; 0 if a document did not arrive."""
    documents = [flows[name] for name in net.connections]
    if any(each["completion_s"] is None for each in documents):
        return 0.0
    start_s: float = min(each["start_s"] for each in documents)
    end_s: float = max(each["start_s"] + each["completion_s"] for each in documents)
    return ideal_makespan_s(net) / (end_s - start_s)


def _copies(net: Network, flows: Sequence[str]) -> list[str]:
    return [name for flow in flows for name in net.scenario.flows[flow].instances]


def _size_bytes(net: Network, name: str) -> int:
    size = net.scenario.flows[_base(name)].size_bytes
    assert size is not None
    return size


def _base(name: str) -> str:
    return name.partition(".")[0]


def _paths_of(net: Network, name: str) -> list[tuple[str, int]]:
    flow = _base(name)
    return [(flow, ordinal) for ordinal in range(1, len(net.scenario.flows[flow].paths) + 1)]


def queueing_of(subflows: Iterable[tuple[Mapping[str, Any], PathFacts]]) -> tuple[float, float]:
    """Means of ln(1 + r) and of r = queueing delay / base RTT over subflows, weighted by delivered packets.

    Args:
        subflows: entries of a summary, each with the properties of its path.

    Returns:
        Both means; 0 and NaN if nothing arrived.
    """
    log_delay = queueing = delivered = 0.0
    for subflow, path in subflows:
        if subflow["mean_rtt_s"] is not None and subflow["packets_delivered"] > 0:
            ratio = max(subflow["mean_rtt_s"] / path.base_rtt_s - 1, 0.0)
            delivered += subflow["packets_delivered"]
            log_delay += subflow["packets_delivered"] * math.log1p(ratio)
            queueing += subflow["packets_delivered"] * ratio
    return (log_delay / delivered, queueing / delivered) if delivered else (0.0, math.nan)


def _costs(flow: Mapping[str, Any], facts: Sequence[PathFacts]) -> tuple[float, float, float]:
    """Result of `queueing_of` for a connection, and its loss ratio beyond the configured loss of the links."""
    subflows = list(zip(flow["subflows"], facts, strict=True))
    sent = sum(subflow["packets_sent"] for subflow, _ in subflows)
    lost = 0.0
    for subflow, path in subflows:
        lost += subflow["packets_lost"] - subflow["packets_sent"] * path.loss
    return (*queueing_of(subflows), max(lost / sent, 0.0) if sent > 0 else 0.0)


def _convergence_s(net: Network, simulation: Simulation) -> float:
    """Mean time over the connections from the step until the averaged goodput reaches the fair share, s.

    A connection that never reaches its share counts with the whole measured time.
    """
    shares = fair_shares(net)
    goodputs = {
        column.owner: simulation.values(index)
        for index, column in enumerate(simulation.columns)
        if column.scope == "flow" and column.name == "goodput_bps"
    }
    interval_s = simulation.sample_interval_s
    first, width = round(net.scenario.warmup_s / interval_s), round(_STEADY_S / interval_s)
    times = []
    for name in net.connections:
        measured = np.asarray(goodputs[name][first:], np.float64)
        means = np.convolve(measured, np.full(width, 1 / width), "valid") / shares[name]
        arrived = np.flatnonzero((means >= _ARRIVED) & (means <= 1 / _ARRIVED))
        times.append(float(arrived[0]) * interval_s if len(arrived) else len(measured) * interval_s)
    return mean_of(times)


def finished(scenario: Scenario) -> Simulation:
    """A simulation of a scenario, run to its end.

    Raises:
        SimulationError: if the run fails.
    """
    from subflow_sim.simulation import Simulation

    simulation = Simulation(scenario, sample_interval_s=SAMPLE_INTERVAL_S)
    if not simulation.run_until(scenario.duration_s):
        raise SimulationError("the run was interrupted")
    return simulation


def _log(ratio: float) -> float:
    return max(math.log(ratio), WORST) if ratio > 0 else WORST
