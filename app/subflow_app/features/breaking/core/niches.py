"""Kinds of networks, so that a search ends with several failures that differ and not with one a hundred times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import PathFacts, path_facts
from subflow_sim.params import HEADER_BYTES


class Niche(NamedTuple):
    """What a network is like, in steps.

    Attributes:
        rates: the slowest path against the fastest: 0 far slower, 1 slower, 2 about alike.
        rtts: the fastest path against the others: 0 shorter, 1 about alike, 2 longer.
        fast_loss: random loss of the fastest path: 0 none, 1 below 0.3 %, 2 more.
        other_loss: the most of the others, likewise.
        buffer: of the fastest path, in BDPs: 0 below a half, 1 below two, 2 more.
        company: connections beside: 0 none, 1 one or two, 2 more.
    """

    rates: int
    rtts: int
    fast_loss: int
    other_loss: int
    buffer: int
    company: int

    def distance(self, other: Niche) -> int:
        """In how many ways two networks differ."""
        return sum(one != two for one, two in zip(self, other, strict=True))


def niche_of(net: Network) -> Niche:
    """What a network is like, by the paths of its first flow that is tried."""
    flow = net.scenario.flows[net.competes[0]]
    facts = path_facts(net.scenario)
    paths = [facts[flow.name, place] for place in range(1, len(flow.paths) + 1)]
    fastest = max(range(len(paths)), key=lambda place: paths[place].capacity_bps)
    best, others = paths[fastest], [path for place, path in enumerate(paths) if place != fastest] or paths
    company = sum(net.scenario.flows[name].count for name in net.beside)
    return Niche(
        _step(min(path.capacity_bps for path in paths) / best.capacity_bps, (0.25, 0.7)),
        _step(best.base_rtt_s / min(path.base_rtt_s for path in others), (0.6, 1.7)),
        _loss_step([best]),
        _loss_step(others),
        _step(_buffer_bdp(net, flow.paths[fastest], best), (0.5, 2.0)),
        _step(company, (0.5, 2.5)),
    )


def _step(value: float, bounds: Sequence[float]) -> int:
    return sum(value >= bound for bound in bounds)


def _loss_step(paths: Sequence[PathFacts]) -> int:
    return _step(max(path.loss for path in paths), (1e-9, 3e-3))


def _buffer_bdp(net: Network, path: Sequence[str], facts: PathFacts) -> float:
    """The smallest buffer of a path that has one, over what the path holds."""
    sides = [net.scenario.links[name].forward for name in path]
    slowest = min(sides, key=lambda side: math.inf if side.rate_bps is None else side.rate_bps)
    packet_bits = 8 * (net.scenario.mss_bytes + HEADER_BYTES)
    held = facts.capacity_bps * facts.base_rtt_s / packet_bits
    queue = slowest.queue
    limit = 8 * queue.limit_bytes / packet_bits if queue.limit_bytes is not None else queue.limit_pkts
    return math.inf if limit is None or held <= 0 else limit / held
