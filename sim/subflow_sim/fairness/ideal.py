"""Fair splits of a scenario's network over a time window, during which the network may change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from subflow_sim.fairness.network import Connection, Lifetime, SharedNetwork, Stretch, stretches
from subflow_sim.fairness.single_path import single_path_totals
from subflow_sim.fairness.splits import Split, max_min_split, proportional_split
from subflow_sim.whole_scenario import Scenario


@dataclass(frozen=True, slots=True)
class IdealShares:
    """Fair shares of the connections, each averaged over the connection's active time in a window.

    Attributes:
        from_s: start of the window, s.
        to_s: end of the window, s.
        max_min: the max-min fair split.
        proportional: the proportionally fair split.
        single_path_bps: by connection, its share if every connection used one path only; see `single_path_totals`.
        limiting: by link direction, the fraction of the time (0 to 1) during which it limits a connection in the
            max-min fair split; in descending order.
        stretches: number of parts of the window in each of which the network does not change.
    """

    from_s: float
    to_s: float
    max_min: Split
    proportional: Split
    single_path_bps: Mapping[str, float]
    limiting: Mapping[str, float]
    stretches: int


def ideal_shares(
    scenario: Scenario,
    from_s: float,
    to_s: float,
    alive: Mapping[str, Lifetime] | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> IdealShares:
    """The fair splits of a scenario over a window.

    Args:
        scenario: the scenario with all events.
        from_s: start of the window, s.
        to_s: end of the window, s; if equal to the start, the result describes that time.
        alive: active times of the connections; None: the times of the scenario.
        is_cancelled: function that returns True to stop the computation; called before each stretch of the window.

    Raises:
        ArithmeticError: if no split is found.
        InterruptedError: if cancelled.
    """
    parts: list[tuple[float, Stretch, _Solved]] = []
    for stretch in stretches(scenario, from_s, to_s, alive):
        if is_cancelled():
            raise InterruptedError
        # A window of length zero consists of one stretch.
        weight = stretch.to_s - stretch.from_s if to_s > from_s else 1.0
        if weight > 0:
            parts.append((weight, stretch, _solve(stretch.network)))
    limiting: dict[str, float] = {}
    total = sum(weight for weight, _, _ in parts)
    for weight, _, solved in parts:
        # Each link counts once per stretch, in an order that does not depend on hashes.
        for key in dict.fromkeys(key for keys in solved.max_min.bottlenecks.values() for key in keys):
            limiting[key] = limiting.get(key, 0.0) + weight / total
    return IdealShares(
        from_s,
        to_s,
        _mean_split([(weight, solved.max_min) for weight, _, solved in parts]),
        _mean_split([(weight, solved.proportional) for weight, _, solved in parts]),
        _means([(weight, solved.single_path_bps) for weight, _, solved in parts]),
        dict(sorted(limiting.items(), key=lambda each: -each[1])),
        len({id(solved) for _, _, solved in parts}),
    )


def max_min_shares(
    scenario: Scenario, from_s: float, to_s: float, alive: Mapping[str, Lifetime] | None = None
) -> dict[str, float]:
    """Only the max-min fair shares, each averaged over the connection's active time in a window, bit/s of payload.

    Args:
        scenario: the scenario with all events.
        from_s: start of the window, s.
        to_s: end of the window, s; if equal to the start, the result describes that time.
        alive: active times of the connections; None: the times of the scenario.

    Raises:
        ArithmeticError: if no split is found.
    """
    parts = []
    for stretch in stretches(scenario, from_s, to_s, alive):
        weight = stretch.to_s - stretch.from_s if to_s > from_s else 1.0
        if weight > 0:
            network = stretch.network
            split = _max_min_once(tuple(network.capacities_bps.items()), network.connections)
            parts.append((weight, split.totals_bps))
    return _means(parts)


def max_min_splits(scenario: Scenario, from_s: float, to_s: float) -> list[tuple[Stretch, Split]]:
    """The max-min fair split of each stretch of a window, in order.

    Raises:
        ArithmeticError: if no split is found.
    """
    return [
        (stretch, _max_min_once(tuple(stretch.network.capacities_bps.items()), stretch.network.connections))
        for stretch in stretches(scenario, from_s, to_s)
    ]


@dataclass(frozen=True, slots=True)
class _Solved:
    max_min: Split
    proportional: Split
    single_path_bps: Mapping[str, float]


def _solve(network: SharedNetwork) -> _Solved:
    return _solve_once(tuple(network.capacities_bps.items()), network.connections)


@lru_cache(maxsize=256)
def _solve_once(capacities: tuple[tuple[str, float], ...], connections: tuple[Connection, ...]) -> _Solved:
    """The splits of a network; cached, because rates often return to earlier values and windows share networks."""
    network = SharedNetwork(dict(capacities), connections)
    max_min = _max_min_once(capacities, connections)
    return _Solved(max_min, proportional_split(network), single_path_totals(network))


@lru_cache(maxsize=256)
def _max_min_once(capacities: tuple[tuple[str, float], ...], connections: tuple[Connection, ...]) -> Split:
    return max_min_split(SharedNetwork(dict(capacities), connections))


def _mean_split(parts: list[tuple[float, Split]]) -> Split:
    limits: dict[str, dict[str, float]] = {}
    for weight, split in parts:
        for name, keys in split.bottlenecks.items():
            own = limits.setdefault(name, {})
            for key in keys:
                own[key] = own.get(key, 0.0) + weight
    total = sum(weight for weight, _ in parts)
    prices: dict[str, float] = {}
    for weight, split in parts:
        for key, price in split.prices.items():
            prices[key] = prices.get(key, 0.0) + price * weight / total
    return Split(
        _means([(weight, split.totals_bps) for weight, split in parts]),
        _means([(weight, split.subflows_bps) for weight, split in parts], of_flow=True),
        prices,
        {name: tuple(sorted(own, key=lambda key: -own[key])) for name, own in limits.items()},
        max((split.gap for _, split in parts), default=0.0),
    )


def _means(parts: list[tuple[float, Mapping[str, float]]], *, of_flow: bool = False) -> dict[str, float]:
    """Means over the time during which each name has a value.

    With `of_flow`, each name is that of a subflow, whose missing values count as 0 while its connection is active.
    """
    names = dict.fromkeys(name for _, values in parts for name in values)
    means = {}
    for name in names:
        flow = name.partition("/")[0]
        there = [
            (weight, values.get(name, 0.0))
            for weight, values in parts
            if name in values or (of_flow and any(each.partition("/")[0] == flow for each in values))
        ]
        weights = math.fsum(weight for weight, _ in there)
        means[name] = math.fsum(weight * value for weight, value in there) / weights
    return means
