"""Where to look next: by luck first, then by CMA-ES from the most promising kinds of networks, and near what is known.

Points are numbers in [0, 1) for each key of a space, margins say by how much a claim holds. What comes next follows
from the seed and from what was told so far and from nothing else: a search that is told again what it was told before
goes on as it would have.

Source of the parts: Hansen 2016, "The CMA Evolution Strategy: A Tutorial", in the library `cma`; Mouret, Clune 2015,
"Illuminating search spaces by mapping elites" (MAP-Elites): the best of each kind is kept and varied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.breaking.core.niches import Niche
from subflow_app.features.breaking.core.space import Points

GENERATION = 24
"""How many points are asked for at a time."""

RANDOM_GENERATIONS = 10
"""So many are drawn by luck first."""

_LED, _VARIED = 12, 8  # of a generation: by CMA-ES, from elites; the others by luck
_SPREAD = 0.15  # of the first points of CMA-ES
_STEP = 0.08  # of a variation
_PATIENCE = 8  # generations of CMA-ES without anything better
_BETTER = 0.01
_UNKNOWN = 10.0  # margin of what could not be told


@dataclass(frozen=True, slots=True, eq=False)
class Elite:
    """The network of a kind in which the claim holds least.

    Attributes:
        niche: the kind.
        point: where it is.
        margin: by how much the claim holds; below 0: it fails.
        number: of the point, from 0 in the order in which they were asked for.
    """

    niche: Niche
    point: Points
    margin: float
    number: int


class Search:
    """Chooses points. Not for several threads.

    Args:
        width: how many numbers a point has.
        seed: of all draws.

    Attributes:
        elites: by kind.
        tried: how many points it was told of.
        failed: in how many of them the claim fails.
    """

    def __init__(self, width: int, seed: int) -> None:
        self.elites: dict[Niche, Elite] = {}
        self.tried = 0
        self.failed = 0
        self._width = width
        self._seed = seed
        self._generation = 0
        self._strategy: Any = None
        self._led: list[NDArray[np.float64]] = []
        self._best = math.inf
        self._waited = 0
        self._begun_in: set[Niche] = set()

    def ask(self) -> Points:
        """The next generation, a point in a row."""
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
        """What came of the points that were asked for last.

        Args:
            points: as they were asked for.
            margins: of each; NaN: it could not be told.
            niches: of each.
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

    def failures(self, count: int, *, least: int = 2) -> list[Elite]:
        """The elites in which the claim fails most clearly, each unlike the others before it.

        Args:
            count: how many at most.
            least: in how many ways they differ.
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
        """Anew, from the most promising kind from which it was not begun yet."""
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
        """Points near elites, those that fail more clearly the likelier."""
        ranked = sorted(self.elites.values(), key=lambda each: (each.margin, each.number))
        places = np.minimum(rng.geometric(min(1.0, 4 / len(ranked)), count) - 1, len(ranked) - 1)
        parents = np.array([ranked[place].point for place in places])
        return parents + rng.normal(0.0, _STEP, parents.shape)
