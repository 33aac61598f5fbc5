"""The fair splits of a network among its connections: max-min fair and proportionally fair totals.

An mptcp connection may split its data over its paths arbitrarily; fairness concerns its total. This is the resource
pooling of Wischik, Handley and Bagnulo 2008: the links behave like one shared resource.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subflow_sim.fairness.network import SharedNetwork
from subflow_sim.fairness.pooled import Floats, Part, decompose, path_choice
from subflow_sim.fairness.proportional import proportional_rates

_PRICED = 1e-6  # relative price below which a link's price is a rounding error


@dataclass(frozen=True, slots=True)
class Split:
    """A split of a network, in bit/s of payload.

    Attributes:
        totals_bps: total rate by connection; infinite if unlimited, 0 if the destination is unreachable.
        subflows_bps: rate by subflow, one of possibly several solutions with these totals; NaN for unlimited
            connections.
        prices: by link direction, the marginal value of capacity: for the proportionally fair split the increase of the
            sum of logarithms per bit/s; for the max-min fair split the increase of the smallest total that the link
            limits, bit/s per bit/s. Contains only limiting links.
        bottlenecks: by connection, the links that limit it.
        gap: for the proportionally fair split, an upper bound of the distance from the optimal sum of logarithms.
    """

    totals_bps: Mapping[str, float]
    subflows_bps: Mapping[str, float]
    prices: Mapping[str, float]
    bottlenecks: Mapping[str, tuple[str, ...]]
    gap: float = 0.0


class _Solved(NamedTuple):
    """Solution of one part: path rates in the part's unit, link prices, and the rows of links that limit each class."""

    rates: Floats
    prices: Floats
    limits: list[list[int]]
    gap: float


def max_min_split(network: SharedNetwork) -> Split:
    """The split in which raising any total would lower another total that is equal or smaller.

    Progressive filling by linear programs: each round raises the totals of all open connections together until some
    cannot rise, fixes these totals and continues with the rest. The dual prices identify the fixed connections: a
    connection whose constraint has a positive price has this total in every optimal solution (complementary slackness).
    Each round fixes at least one connection.

    Source: Bertsekas, Gallager 1992, "Data Networks", section 6.5.2; with several paths: Radunovic, Le Boudec 2007,
    "A unified framework for max-min and min-max fairness with applications".

    Raises:
        ArithmeticError: if a linear program has no solution.
    """
    return _split(network, _max_min)


def proportional_split(network: SharedNetwork) -> Split:
    """The split with the largest sum of the logarithms of the totals; see `proportional`.

    Raises:
        ArithmeticError: if no split is found.
    """
    return _split(network, _proportional)


def _split(network: SharedNetwork, solve: Callable[[Part], _Solved]) -> Split:
    taken = decompose(network)
    totals = {connection.name: 0.0 for connection in network.connections}
    subflows = {path.owner: 0.0 for connection in network.connections for path in connection.paths}
    prices: dict[str, float] = {}
    bottlenecks: dict[str, tuple[str, ...]] = {connection.name: () for connection in network.connections}
    gap = 0.0
    for connection in taken.unlimited:
        totals[connection.name] = math.inf
        subflows |= {path.owner: math.nan for path in connection.paths}
    for part in taken.parts:
        solved = solve(part)
        gap += solved.gap
        for row in np.flatnonzero(solved.prices > 0):
            prices[part.links[row]] = float(solved.prices[row])
        rates_bps = np.maximum(solved.rates, 0.0) * part.scale_bps
        for index, connections in enumerate(part.classes):
            own = np.flatnonzero(part.members[index])
            for connection in connections:
                totals[connection.name] = float(rates_bps[own].sum()) / len(connections)
                bottlenecks[connection.name] = tuple(part.links[row] for row in solved.limits[index])
                for column in own:
                    choice = part.paths[column]
                    # If a flow lists the same path twice, the two subflows share the rate of the path.
                    same = [path.owner for path in connection.paths if path_choice(path, part.links) == choice]
                    subflows |= dict.fromkeys(same, float(rates_bps[column]) / len(connections) / len(same))
    return Split(totals, subflows, prices, bottlenecks, gap)


def _proportional(part: Part) -> _Solved:
    found = proportional_rates(part)
    prices = np.where(found.prices > _PRICED * found.prices.max(), found.prices, 0.0)
    return _Solved(found.rates, prices / part.scale_bps, _limits(part, prices), found.gap)


def _limits(part: Part, prices: Floats) -> list[list[int]]:
    """For each class, the rows of the links with a positive price on its cheapest paths."""
    limits = []
    path_prices = part.loads.T @ prices
    for members in part.members:
        own = np.flatnonzero(members)
        cheap = own[path_prices[own] <= path_prices[own].min() * (1 + 1e-4)]
        crossed = (part.loads[:, cheap] > 0).any(axis=1)
        limits.append(np.flatnonzero(crossed & (prices > 0)).tolist())
    return limits


def _max_min(part: Part) -> _Solved:
    classes, paths = part.members.shape
    links = len(part.capacities)
    # Scales each path rate by the path's largest rate without other traffic, each link by its capacity, and each class
    # by the sum over its paths. Links a thousand times slower than the others then lose no precision.
    units = 1.0 / (part.loads / part.capacities[:, np.newaxis]).max(axis=0)
    loads = part.loads * units / part.capacities[:, np.newaxis]
    class_units = part.members @ units
    shares = part.members * units / class_units[:, np.newaxis]
    level = np.zeros(classes)  # total of an individual connection, by class
    is_held = np.zeros(classes, bool)
    limits: list[list[int]] = [[] for _ in range(classes)]
    prices = np.zeros(links)
    cost = np.zeros(paths + 1)
    cost[-1] = -1.0
    while not is_held.all():
        # Unknowns: path rates and the common level. A fixed class keeps its level, less a tolerance for solver
        # rounding.
        level_unit = float((class_units / part.counts)[~is_held].min())
        weights = part.counts * level_unit / class_units
        demand = np.hstack([-shares, np.where(is_held, 0.0, weights)[:, np.newaxis]])
        least = np.where(is_held, -part.counts * level / class_units * (1 - 1e-9), 0.0)
        matrix = np.vstack([demand, np.hstack([loads, np.zeros((links, 1))])])
        found = _program(cost, matrix, np.concatenate([least, np.ones(links)]))
        worth = found.prices
        # The weighted prices of the open classes add up to 1, so at least one is well above rounding errors.
        has_come = ~is_held & (worth[:classes] * weights > 1e-6)
        level[has_come] = found.unknowns[-1] * level_unit
        is_held |= has_come
        link_prices = worth[classes:] * level_unit / part.capacities
        priced = worth[classes:] > _PRICED
        prices = np.where((prices == 0) & priced, link_prices, prices)
        for index in np.flatnonzero(has_come):
            crossed = (part.loads[:, part.members[index] > 0] > 0).any(axis=1)
            limits[index] = np.flatnonzero(crossed & priced).tolist()
    # Of all solutions with these totals, take the solution with the smallest load: it uses a path over two bottlenecks
    # only if necessary.
    least = -part.counts * level / class_units * (1 - 1e-7)
    found = _program(loads.sum(axis=0), np.vstack([-shares, loads]), np.concatenate([least, np.ones(links)]))
    rates = np.maximum(found.unknowns, 0.0) * units
    # Restores the exact level, which the linear program reaches only within its tolerance.
    rates *= (level * part.counts / np.maximum(part.members @ rates, 1e-300)) @ part.members
    return _Solved(rates, prices, limits, 0.0)


class _Optimum(NamedTuple):
    """Solution of a linear program: the unknowns, and by bound the decrease of the cost per unit of the bound."""

    unknowns: Floats
    prices: Floats


def _program(cost: Floats, matrix: Floats, bounds: Floats) -> _Optimum:
    """Minimises ``cost @ unknowns`` for ``matrix @ unknowns <= bounds`` and unknowns of at least 0.

    Raises:
        ArithmeticError: if no minimum is found.
    """
    import highspy

    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = cost
    program.col_lower_, program.col_upper_ = np.zeros(len(cost)), np.full(len(cost), highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = np.full(len(bounds), -highspy.kHighsInf), bounds
    rows, columns = np.nonzero(matrix)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.searchsorted(rows, np.arange(len(bounds) + 1))
    program.a_matrix_.index_, program.a_matrix_.value_ = columns, matrix[rows, columns]
    # The public class `Highs` prints its version to stdout when it is made.
    solver = highspy._Highs()  # type: ignore[attr-defined]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "simplex")
    solver.passModel(program)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise ArithmeticError(f"the max-min fair split was not found: {solver.modelStatusToString(status)}")
    solution = solver.getSolution()
    return _Optimum(np.array(solution.col_value), -np.array(solution.row_dual))
