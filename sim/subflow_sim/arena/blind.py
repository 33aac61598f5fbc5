"""Reference entrants of a ranking: senders without feedback from the network, and an oracle that sends at fair rates.

All of them send datagrams on each path, at rates fixed before the run. Datagrams have no round-trip times: the queueing
delay follows from the mean queues of the links. A connection with a size completes when that many bytes have arrived.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import path_facts
from subflow_sim.draws import Range, uniform
from subflow_sim.fairness.network import directions, stretches
from subflow_sim.fairness.splits import max_min_split
from subflow_sim.params import HEADER_BYTES
from subflow_sim.scenario_model import NO_CHOICE, Flow

_LEAST_BPS = 1.0  # lowest rate of a flow of datagrams
_ORACLE_SHARE = 0.98  # below 1: a queue served exactly at its arrival rate would never drain
_RANDOM_BPS = Range(1e5, 1e8, is_log=True)
_RANDOM_S = 2.0


class Spell(NamedTuple):
    """A time interval in which the sending rate on a path is constant; the rate includes headers."""

    from_s: float
    to_s: float
    rate_bps: float


Rates = Callable[[Network, str, int], Iterator[Spell]]
"""Function of the network, the connection and the ordinal of a path, from 1, that yields the spells on the path."""


def constant(rate_bps: float) -> Rates:
    """The same rate on every path all the time, at least 1 bit/s."""

    def rates(net: Network, _connection: str, _ordinal: int) -> Iterator[Spell]:
        yield Spell(0.0, net.scenario.duration_s, max(rate_bps, _LEAST_BPS))

    return rates


def _random(net: Network, connection: str, ordinal: int) -> Iterator[Spell]:
    """A new rate every two seconds, log-uniform between 0.1 and 100 Mbit/s."""
    steps = math.ceil(net.scenario.duration_s / _RANDOM_S)
    ends = [min(step * _RANDOM_S, net.scenario.duration_s) for step in range(steps + 1)]
    for step, (from_s, to_s) in enumerate(pairwise(ends)):
        value = _RANDOM_BPS.value(uniform(net.scenario.seed, 0, step, f"{net.name}/{connection}/{ordinal}"))
        yield Spell(from_s, to_s, float(value))


def _oracle(net: Network, connection: str, ordinal: int) -> Iterator[Spell]:
    """The max-min fair share of the path at each time, raised to make up for losses, times `_ORACLE_SHARE`."""
    scenario = net.scenario
    to_wire = (scenario.mss_bytes + HEADER_BYTES) / scenario.mss_bytes
    for stretch in stretches(scenario, 0.0, scenario.duration_s):
        shares = max_min_split(stretch.network).subflows_bps
        owner = f"{connection}/{ordinal}"
        loads = {path.owner: path.loads[0] for each in stretch.network.connections for path in each.paths}
        survival = 1 - path_facts(scenario)[_base(connection), ordinal].loss
        if stretch.to_s > stretch.from_s and shares.get(owner, 0.0) > 0:
            # `loads` omits the loss on the first link, which drops packets before it transmits them
            sent = max(loads[owner], 1 / survival)
            yield Spell(stretch.from_s, stretch.to_s, shares[owner] * to_wire * sent * _ORACLE_SHARE)


BLIND: Mapping[str, Rates] = {
    "idle": constant(0.0),
    "constant": constant(1e6),
    "constant-10": constant(1e7),
    "random": _random,
    "oracle": _oracle,
}
"""Rates by the name of the entrant. Only the oracle's rates depend on the links."""


def blind_network(net: Network, rates: Rates) -> Network:
    """The network with datagrams in place of the competing connections, ready to run."""
    flows = {name: flow for name, flow in net.scenario.flows.items() if name not in net.competes}
    for name in net.competes:
        flow = net.scenario.flows[name]
        for connection in flow.instances:
            for ordinal in range(1, len(flow.paths) + 1):
                flows |= {each.name: each for each in _datagrams(net, flow, connection, ordinal, rates)}
    return replace(net, scenario=replace(net.scenario, flows=flows))


def _datagrams(net: Network, flow: Flow, connection: str, ordinal: int, rates: Rates) -> Iterator[Flow]:
    for number, spell in enumerate(rates(net, connection, ordinal)):
        start_s = max(spell.from_s, flow.start_s)
        if start_s >= spell.to_s:
            continue
        yield Flow(
            name=f"{_prefix(connection, ordinal)}{number}",
            kind="cbr",
            source=flow.source,
            destination=flow.destination,
            controller=NO_CHOICE,
            scheduler=NO_CHOICE,
            paths=(flow.paths[ordinal - 1],),
            start_s=start_s,
            stop_s=min(spell.to_s, math.inf if flow.stop_s is None else flow.stop_s),
            rate_bps=spell.rate_bps,
            packet_bytes=net.scenario.mss_bytes + HEADER_BYTES,
        )


def blind_summary(net: Network, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of a run of `blind_network`, with entries for the original connections, as `outcome` requires.

    Args:
        net: the original network, with the competing connections.
        summary: summary of the run of `blind_network`.
    """
    links = {f"{each['name']}/{each['direction']}": each for each in summary["links"]}
    flows = list(summary["flows"])
    for name in net.competes:
        for connection in net.scenario.flows[name].instances:
            flows.append(_connection(net, connection, summary["flows"], links))
    return {**summary, "flows": flows}


def _connection(
    net: Network, connection: str, flows: list[Mapping[str, Any]], links: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    scenario = net.scenario
    flow = scenario.flows[_base(connection)]
    facts = path_facts(scenario)
    subflows = []
    goodput_bps = 0.0
    for ordinal, path in enumerate(flow.paths, start=1):
        own = [each for each in flows if each["name"].startswith(_prefix(connection, ordinal))]
        goodput_bps += math.fsum(each["goodput_bps"] for each in own)
        there = facts[flow.name, ordinal]
        waits_s = 0.0
        for key in directions(scenario, flow.source, path):
            link = links[key]
            # The mean queue includes the packet in transmission
            waiting = max((link["mean_queue_pkts"] or 0.0) - (link["utilisation"] or 0.0), 0.0)
            waits_s += waiting * there.packet_s[key]
        subflows.append(
            {
                "mean_rtt_s": there.base_rtt_s + waits_s,
                **{
                    key: sum(each[key] for each in own) for key in ("packets_sent", "packets_lost", "packets_delivered")
                },
            }
        )
    measured_s = scenario.duration_s - scenario.warmup_s
    end_s = scenario.duration_s if flow.stop_s is None else min(flow.stop_s, scenario.duration_s)
    active_s = max(end_s - max(flow.start_s, scenario.warmup_s), 1e-9)
    active_bps = goodput_bps * measured_s / active_s
    completion_s = None
    if flow.size_bytes is not None and active_bps > 0:
        needed_s = 8 * flow.size_bytes / active_bps
        completion_s = needed_s if flow.start_s + needed_s <= scenario.duration_s else None
    return {
        "name": connection,
        "goodput_bps": goodput_bps,
        "active_goodput_bps": active_bps,
        "start_s": flow.start_s,
        "completion_s": completion_s,
        "subflows": subflows,
    }


def _prefix(connection: str, ordinal: int) -> str:
    return f"{connection.replace('.', '-copy')}-path{ordinal}-spell"


def _base(connection: str) -> str:
    return connection.partition(".")[0]
