"""Proportional fairness by an interior-point method, implemented here because its duality gap bounds the error.

Maximises sum_c n_c log(y_c), where y_c is the mean of the n_c connections of a class, over path rates x >= 0 within the
capacities. The objective is concave, but not strictly in x: several path rates may give the same totals. Solvers of the
dual problem therefore meet kinks, which a primal-dual interior-point method avoids. The method needs about 20 steps of
dense linear algebra of the size of the topology, and its final prices bound the error of any answer (`duality_gap`).
The alternative `scipy.optimize.minimize` (SLSQP, trust-constr) returns neither prices nor a bound.

Sources: Kelly, Maulloo, Tan 1998, "Rate control for communication networks"; the method: Boyd, Vandenberghe 2004,
"Convex Optimization", section 11.7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from subflow_sim.fairness.pooled import Floats, Part

_CENTRING = 10.0  # mu of section 11.7.2
_SHORTEN = 0.5  # beta of the line search
_SLOPE = 0.01  # alpha of the line search
_GAP = 1e-13
_RIDGE = 1e-14
_MOST_STEPS = 200


class Proportional(NamedTuple):
    """The proportionally fair split of a part, in the unit of the part.

    Attributes:
        rates: float64 [n_paths], sums over the connections of a class.
        prices: float64 [n_links], derivative of the sum of logarithms with respect to capacity.
        gap: upper bound on how far the sum of logarithms is below its optimum.
    """

    rates: Floats
    prices: Floats
    gap: float


def proportional_rates(part: Part) -> Proportional:
    """The path rates of the proportionally fair split of a part.

    Raises:
        ArithmeticError: if no answer within 1e-6 of the optimum is found.
    """
    # Scales each path rate by the path's largest rate without other traffic, and each link by its capacity. Links a
    # thousand times slower than the others then lose no precision.
    units = 1.0 / (part.loads / part.capacities[:, np.newaxis]).max(axis=0)
    scaled = replace(
        part,
        loads=part.loads * units / part.capacities[:, np.newaxis],
        capacities=np.ones(len(part.capacities)),
        members=part.members * units,
    )
    rates, prices = _solved(scaled)
    rates, prices = rates * units, prices / part.capacities
    gap = duality_gap(part, rates, prices)
    if not gap < 1e-6 * max(1.0, float(part.counts.sum())):
        raise ArithmeticError(f"the proportionally fair split was not found: duality gap {gap:g}")
    return Proportional(rates, prices, gap)


def _solved(part: Part) -> tuple[Floats, Floats]:
    """Path rates and link prices, by the interior-point iteration."""
    paths = part.loads.shape[1]
    constraints = np.vstack([part.loads, -np.eye(paths)])
    bounds = np.concatenate([part.capacities, np.zeros(paths)])
    # Strictly feasible start: equal path rates, with the fullest link half full.
    rates = np.full(paths, 0.5 / float((part.loads.sum(axis=1) / part.capacities).max()))
    slack = bounds - constraints @ rates
    duals = 1.0 / slack
    for _ in range(_MOST_STEPS):
        surrogate = float(slack @ duals)
        gradient, hessian = _objective(part, rates)
        if surrogate < _GAP and np.abs(gradient + constraints.T @ duals).max() < _GAP * (1 + np.abs(gradient).max()):
            break
        target = len(bounds) * _CENTRING / surrogate
        matrix = hessian + constraints.T @ (constraints * (duals / slack)[:, np.newaxis])
        right = gradient + constraints.T @ (1.0 / (target * slack))
        step = -_solve(matrix, right)
        dual_step = duals / slack * (constraints @ step) - duals + 1.0 / (target * slack)
        length = _length(part, (rates, duals), (step, dual_step), (constraints, bounds), target)
        if length == 0.0:
            break  # no further progress in double precision; the duality gap shows if the answer suffices
        rates, duals = rates + length * step, duals + length * dual_step
        slack = bounds - constraints @ rates
    return rates, duals[: len(part.capacities)]


def _solve(matrix: Floats, right: Floats) -> Floats:
    """The solution of the system; if interchangeable path rates make it nearly singular, a solution of small norm."""
    scale = 1.0 / np.sqrt(np.diag(matrix))
    scaled = matrix * scale * scale[:, np.newaxis] + _RIDGE * np.eye(len(scale))
    solution: Floats = scale * np.linalg.solve(scaled, scale * right)
    return solution


def duality_gap(part: Part, rates: Floats, prices: Floats) -> float:
    """Upper bound on how far the sum of logarithms of feasible rates is below its optimum, for any feasible prices.

    The dual function for prices p >= 0 is p . C - sum_c n_c (1 + log q_c), where q_c is the price of the cheapest path
    of class c (Kelly 1998, section 2: a connection that pays q per bit buys 1/q). It bounds every sum of logarithms
    from above.
    """
    path_prices = part.loads.T @ prices
    cheapest = np.where(part.members > 0, path_prices, np.inf).min(axis=1)
    totals = part.members @ rates / part.counts
    dual = float(prices @ part.capacities - part.counts @ (1.0 + np.log(cheapest)))
    return dual - float(part.counts @ np.log(totals))


def _objective(part: Part, rates: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian of the negative sum of logarithms."""
    totals = part.members @ rates
    weights = part.members * (part.counts / totals)[:, np.newaxis]
    return -weights.sum(axis=0), part.members.T @ (weights / totals[:, np.newaxis])


def _length(
    part: Part,
    point: tuple[Floats, Floats],
    step: tuple[Floats, Floats],
    limits: tuple[Floats, Floats],
    target: float,
) -> float:
    """Step length within the limits that reduces the residual; 0 if no length does."""
    (rates, duals), (constraints, bounds) = point, limits
    shrinking = step[1] < 0
    length = 0.99 * min(1.0, float((-duals[shrinking] / step[1][shrinking]).min(initial=np.inf)))

    def residual(rates: Floats, duals: Floats) -> float:
        slack = bounds - constraints @ rates
        gradient, _ = _objective(part, rates)
        parts = (gradient + constraints.T @ duals, duals * slack - 1.0 / target)
        return float(np.sqrt(sum(float(each @ each) for each in parts)))

    now = residual(rates, duals)
    while length > 1e-12:
        further = rates + length * step[0]
        is_inside = bool((constraints @ further < bounds).all())
        if is_inside and residual(further, duals + length * step[1]) <= (1 - _SLOPE * length) * now:
            return length
        length *= _SHORTEN
    return 0.0
