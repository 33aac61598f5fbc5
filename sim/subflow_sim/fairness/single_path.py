"""Fair shares of connections restricted to one path each: the reference for resource pooling."""

from __future__ import annotations

import math

import numpy as np

from subflow_sim.fairness.network import SharedNetwork
from subflow_sim.fairness.pooled import Floats, Part, decompose

_BETTER = 1e-9
_MOST_SHARES = 3000  # maximum number of water fillings in the search for an equilibrium
_MOST_PLACED = 50  # maximum number of steps in which the connections of a class are placed


def single_path_totals(network: SharedNetwork) -> dict[str, float]:
    """The max-min fair share of each connection if each uses only its best path, given the choices of the others.

    The choice is a Nash equilibrium: no connection gains by changing its path, as with selfish hosts and single-path
    TCP. Connections are placed one by one in the order of the scenario, then moved as long as a move raises the share
    of the moved connection. Several equilibria may exist; this is one of them. Connections with the same paths receive
    their mean, because their assignment to paths is arbitrary.

    Each connection's share is therefore the largest among its paths while the other connections keep their paths: "the
    best of the paths available to it" in RFC 6356, section 2.1, goal 1.

    Returns:
        Payload rate by connection, bit/s; infinite if unlimited, 0 if the destination is unreachable.
    """
    taken = decompose(network)
    totals = {connection.name: 0.0 for connection in network.connections}
    totals |= {connection.name: math.inf for connection in taken.unlimited}
    for part in taken.parts:
        placed = _placed(part)
        shares = path_shares(part, placed) * part.scale_bps
        for index, connections in enumerate(part.classes):
            own = part.members[index] > 0
            mean = float((shares * placed)[own].sum() / part.counts[index])
            totals |= dict.fromkeys((connection.name for connection in connections), mean)
    return totals


def path_shares(part: Part, placed: Floats) -> Floats:
    """The max-min fair share of one connection on each path, by water filling.

    Args:
        part: part of a network.
        placed: float64 [n_paths], number or weight of the connections on each path.

    Returns:
        float64 [n_paths], in the unit of the part; 0 for unused paths.

    Source: Bertsekas, Gallager 1992, "Data Networks", section 6.5.2.
    """
    shares = np.zeros(len(placed))
    is_open = placed > 0
    left = part.capacities.copy()
    while is_open.any():
        wanted = part.loads @ np.where(is_open, placed, 0.0)
        levels = np.divide(left, wanted, out=np.full(len(left), np.inf), where=wanted > 0)
        level = levels.min()
        full = levels <= level * (1 + 1e-12)
        filled = is_open & (part.loads[full] > 0).any(axis=0)
        shares[filled] = level
        left = np.maximum(left - part.loads @ np.where(filled, placed * level, 0.0), 0.0)
        is_open &= ~filled
    return shares


def _placed(part: Part) -> Floats:
    """Number of connections on each path."""
    placed = np.zeros(part.loads.shape[1])
    spent = 0
    choices = [np.flatnonzero(members).tolist() for members in part.members]

    def gain(columns: Floats, column: int, count: float) -> float:
        return float(path_shares(part, np.where(np.arange(len(columns)) == column, columns + count, columns))[column])

    # Places connections without a choice first, so that the others take them into account.
    for index in sorted(range(len(choices)), key=lambda index: len(choices[index]) > 1):
        own = choices[index]
        step = math.ceil(part.counts[index] / _MOST_PLACED)
        left = part.counts[index]
        while left > 0:
            count = min(step, left)
            spent += len(own)
            best = own[0] if len(own) == 1 else max(own, key=lambda column: gain(placed, column, count))
            placed[best] += count
            left -= count
    has_moved = True
    while has_moved and spent < _MOST_SHARES:
        has_moved = False
        for own in (own for own in choices if len(own) > 1):
            for column in [column for column in own if placed[column] >= 1]:
                now = path_shares(part, placed)[column]
                without = placed.copy()
                without[column] -= 1
                spent += len(own)
                best = max((other for other in own if other != column), key=lambda other: gain(without, other, 1.0))
                if gain(without, best, 1.0) > now * (1 + _BETTER):
                    without[best] += 1
                    placed, has_moved = without, True
    return placed
