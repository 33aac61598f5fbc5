"""Searches for networks in which a claim fails, first at random, then by CMA-ES and by varying the networks found.

CMA-ES starts from the most promising kinds of networks. The search distinguishes kinds of networks in order to find
several different failures instead of variations of one.

A point has a number in [0, 1) for each key of a space. A margin measures by how much a claim holds. The next points
depend only on the seed and on the earlier results: a search that receives the same results again proposes the same
points.

Sources: Hansen 2016, "The CMA Evolution Strategy: A Tutorial", in the library `cma`; Mouret, Clune 2015, "Illuminating
search spaces by mapping elites" (MAP-Elites), which keeps and varies the best of each kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.breaking.core.space import Points
from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import PathFacts, path_facts
from subflow_sim.params import HEADER_BYTES


class Niche(NamedTuple):
    """Properties of a network in coarse steps, which define its kind.

    Attributes:
        rates: capacity of the slowest path relative to the fastest: 0 far slower, 1 slower, 2 about equal.
        rtts: RTT of the fastest path relative to the shortest RTT of the others: 0 shorter, 1 about equal, 2 longer.
        fast_loss: random loss of the fastest path: 0 none, 1 below 0.3 %, 2 more.
        other_loss: largest random loss of the other paths, with the same steps.
        buffer: buffer of the fastest path in BDPs: 0 below a half, 1 below two, 2 more.
        company: number of competing connections: 0 none, 1 one or two, 2 more.
    """

    rates: int
    rtts: int
    fast_loss: int
    other_loss: int
    buffer: int
    company: int

    def distance(self, other: Niche) -> int:
        """Number of properties in which two networks differ."""
        return sum(one != two for one, two in zip(self, other, strict=True))


def niche_of(net: Network) -> Niche:
    """The kind of a network, by the paths of its first tested flow."""
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
    """Buffer of a path's slowest link, as a multiple of the path's bandwidth-delay product; infinite if unlimited."""
    sides = [net.scenario.links[name].forward for name in path]
    slowest = min(sides, key=lambda side: math.inf if side.rate_bps is None else side.rate_bps)
    packet_bits = 8 * (net.scenario.mss_bytes + HEADER_BYTES)
    held = facts.capacity_bps * facts.base_rtt_s / packet_bits
    queue = slowest.queue
    limit = 8 * queue.limit_bytes / packet_bits if queue.limit_bytes is not None else queue.limit_pkts
    return math.inf if limit is None or held <= 0 else limit / held


GENERATION = 24
"""Points per generation."""

RANDOM_GENERATIONS = 10
"""Number of random generations at the start."""

_LED, _VARIED = 12, 8  # points per generation from CMA-ES and from varied elites; the rest is random
_SPREAD = 0.15  # initial step size of CMA-ES
_STEP = 0.08  # standard deviation of a variation
_PATIENCE = 8  # generations of CMA-ES without improvement before a restart
_BETTER = 0.01
_UNKNOWN = 10.0  # margin assumed for networks in which the claim cannot be measured


@dataclass(frozen=True, slots=True, eq=False)
class Elite:
    """The network with the lowest margin of all networks of its kind.

    Attributes:
        niche: kind of the network.
        point: coordinates in the space.
        margin: margin of the claim; negative if the claim fails.
        number: index of the point, from 0 in the order of proposal.
    """

    niche: Niche
    point: Points
    margin: float
    number: int


class Search:
    """Proposes the points to try next, and records their results. Not thread-safe.

    Args:
        width: number of coordinates of a point.
        seed: seed of all random draws.

    Attributes:
        elites: elites by kind.
        tried: number of points tried, including points at which the claim could not be measured.
        failed: number of points at which the claim fails.
    """

    def __init__(self, width: int, seed: int) -> None:
        self.elites: dict[Niche, Elite] = {}
        self.tried = 0
        self.failed = 0
        self._width = width
        self._seed = seed
        self._generation = 0
        self._asked: Points | None = None
        self._strategy: Any = None
        self._led: list[NDArray[np.float64]] = []
        self._best = math.inf
        self._waited = 0
        self._begun_in: set[Niche] = set()

    def ask(self) -> Points:
        """The next generation, float64 [GENERATION, width], one point per row. It remains the same until `tell`."""
        if self._asked is None:
            self._asked = self._drawn()
        return self._asked

    def _drawn(self) -> Points:
        rng = np.random.default_rng([self._seed, self._generation])
        if self._generation < RANDOM_GENERATIONS:
            drawn: Points = rng.random((GENERATION, self._width))
            return drawn
        led = self._ask_strategy()
        varied = self._vary(rng, _VARIED)
        lucky = rng.random((GENERATION - len(led) - len(varied), self._width))
        points: Points = np.clip(np.concatenate([led, varied, lucky]), 0.0, math.nextafter(1.0, 0.0))
        return points

    def tell(self, points: Points, margins: Sequence[float], niches: Sequence[Niche]) -> None:
        """Records the results of the last generation.

        Args:
            points: points from `ask`.
            margins: margin of each point; NaN if it could not be measured.
            niches: kind of each point.
        """
        for number, (point, margin, niche) in enumerate(zip(points, margins, niches, strict=True), start=self.tried):
            if math.isnan(margin):
                continue
            self.failed += margin < 0
            known = self.elites.get(niche)
            if known is None or margin < known.margin:
                self.elites[niche] = Elite(niche, point, margin, number)
        if self._led:
            self._tell_strategy([_UNKNOWN if math.isnan(margin) else margin for margin in margins[: len(self._led)]])
        self.tried += len(margins)
        self._generation += 1
        self._asked = None

    def failures(self, count: int, *, least: int = 2) -> list[Elite]:
        """Choose elites of different kinds in which the claim fails most clearly, the clearest first.

        Args:
            count: largest number of elites.
            least: minimum number of properties in `Niche` in which any two chosen elites differ.
        """
        chosen: list[Elite] = []
        for elite in sorted(self.elites.values(), key=lambda each: (each.margin, each.number)):
            if len(chosen) == count or elite.margin >= 0:
                break
            if all(elite.niche.distance(other.niche) >= least for other in chosen):
                chosen.append(elite)
        return chosen

    def _ask_strategy(self) -> Points:
        if self._strategy is None:
            self._begin_strategy()
        self._led = [np.asarray(each) for each in self._strategy.ask()]
        return np.array(self._led)

    def _begin_strategy(self) -> None:
        """Restarts CMA-ES from the most promising kind that has not served as a start yet, or from any if all have."""
        import cma  # type: ignore[import-untyped]

        fresh = [each for each in self.elites.values() if each.niche not in self._begun_in]
        if not fresh:
            self._begun_in.clear()
            fresh = list(self.elites.values())
        start = min(fresh, key=lambda each: (each.margin, each.number))
        self._begun_in.add(start.niche)
        self._best, self._waited = start.margin, 0
        options = {"bounds": [0.0, 1.0], "popsize": _LED, "seed": self._seed + self._generation + 1, "verbose": -9}
        self._strategy = cma.CMAEvolutionStrategy(start.point.tolist(), _SPREAD, options)

    def _tell_strategy(self, margins: Sequence[float]) -> None:
        self._strategy.tell(self._led, list(margins))
        self._led = []
        best = min(margins)
        self._waited = 0 if best < self._best - _BETTER else self._waited + 1
        self._best = min(best, self._best)
        if self._waited >= _PATIENCE or self._strategy.stop():
            self._strategy = None

    def _vary(self, rng: np.random.Generator, count: int) -> Points:
        """Draw points near elites, preferably near those with the clearest failures."""
        ranked = sorted(self.elites.values(), key=lambda each: (each.margin, each.number))
        places = np.minimum(rng.geometric(min(1.0, 4 / len(ranked)), count) - 1, len(ranked) - 1)
        parents = np.array([ranked[place].point for place in places])
        return parents + rng.normal(0.0, _STEP, parents.shape)
