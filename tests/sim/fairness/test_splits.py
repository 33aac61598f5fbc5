"""Fair splits against known answers and, on random topologies, against their definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.helpers.members import for_each

from subflow_sim.fairness.network import Connection, SharedNetwork, SubflowPath
from subflow_sim.fairness.splits import Split, max_min_split, proportional_split


def network(
    capacities: Mapping[str, float],
    connections: Mapping[str, Sequence[Sequence[str]]],
    loads: Mapping[tuple[str, str], float] | None = None,
) -> SharedNetwork:
    """Links by name with their capacity; each connection with its paths."""

    def subflow(owner: str, path: Sequence[str]) -> SubflowPath:
        return SubflowPath(owner, tuple(path), tuple((loads or {}).get((owner, key), 1.0) for key in path))

    def connection(name: str, paths: Sequence[Sequence[str]]) -> Connection:
        return Connection(name, tuple(subflow(f"{name}/{n}", path) for n, path in enumerate(paths, start=1)))

    return SharedNetwork(capacities, tuple(connection(name, paths) for name, paths in connections.items()))


def totals(split: Split) -> list[float]:
    return list(split.totals_bps.values())


def test_the_solver_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    max_min_split(network({"l": 10.0}, {"a": [["l"]], "b": [["l"]]}))
    assert capfd.readouterr() == ("", "")


def test_two_connections_share_a_link_equally() -> None:
    shared = network({"l": 10.0}, {"a": [["l"]], "b": [["l"]]})
    for split in (max_min_split(shared), proportional_split(shared)):
        assert totals(split) == pytest.approx([5.0, 5.0])
        assert split.bottlenecks == {"a": ("l",), "b": ("l",)}
    # A unit more of capacity raises both by a half; of the sum of logarithms it adds 2 / 10.
    assert max_min_split(shared).prices == pytest.approx({"l": 0.5})
    assert proportional_split(shared).prices == pytest.approx({"l": 0.2})


ALIKE = "with both kinds of fairness"
KNOWN = {
    # A long connection over three links of 12, and a short one on each. Max-min: 6 for everybody. Proportional: the
    # long one has x, the short ones 12 - x; 1/x = 3/(12 - x), so x = 3: it pays for three links. Kelly 1998;
    # Massoulie, Roberts 2002.
    "parking lot": (
        network(dict.fromkeys("123", 12.0), {"long": ["123"], "s1": ["1"], "s2": ["2"], "s3": ["3"]}),
        ([6.0] * 4, [3.0, 9.0, 9.0, 9.0]),
        {},
    ),
    # T-10b (MPLibra, figure 10b): 2 x 5 are one resource of 10 for three connections.
    "two TCPs and a multipath connection pool two links": (
        network({"t": 5.0, "b": 5.0}, {"m": ["t", "b"], "t1": ["t"], "t2": ["b"]}),
        ([10 / 3] * 3, ALIKE),
        {"m/1": 5 / 3},
    ),
    # T-10a: 5 each, and nothing on the link of the TCP.
    "a multipath connection leaves the shared link to the TCP": (
        network({"t": 5.0, "b": 5.0}, {"m": ["t", "b"], "tcp": ["t"]}),
        ([5.0, 5.0], ALIKE),
        {"m/1": 0.0},
    ),
    # Pooled, each of the three would have 4, but the first TCP can have no more than its 2, and the other two share the
    # link of 10. The sum of logarithms is largest there too: the price of the second link is 2/10, of the first 1/2, so
    # the connection over both buys on the second alone.
    "unequal links that pooling cannot level": (
        network({"s": 2.0, "l": 10.0}, {"m": ["s", "l"], "t1": ["s"], "t2": ["l"]}),
        ([5.0, 2.0, 5.0], ALIKE),
        {},
    ),
    # Three links of 12 and connections with a path of one link and one of the two others: 12 each by the short paths;
    # split evenly it would be 8, because the long path takes two links for one bit. Wischik et al., NSDI 2011, section
    # 2.2 and figure 2.
    "triangle": (
        network(dict.fromkeys("xyz", 12.0), {"a": ["x", "yz"], "b": ["y", "zx"], "c": ["z", "xy"]}),
        ([12.0] * 3, ALIKE),
        {"a/2": 0.0},
    ),
    # A link of 10, then one with 20 % loss: 8 of the 10 arrive. With the loss on the first link all 10 would.
    "loss behind a link takes capacity of it": (
        network({"f": 10.0, "s": 100.0}, {"a": ["fs"]}, {("a/1", "f"): 1 / 0.8}),
        ([8.0], ALIKE),
        {},
    ),
    "the same path twice counts once": (
        network({"l": 9.0}, {"m": ["l", "l"], "t1": ["l"], "t2": ["l"]}),
        ([3.0, 3.0, 3.0], ALIKE),
        {"m/1": 1.5, "m/2": 1.5},
    ),
    # Two connections share 10 kbit/s, beside another one with 100 Gbit/s: each is computed in its own scale.
    "gigabit access costs no digits": (
        network({"m": 1e4, "f": 1e11}, {"a": ["fm"], "b": ["m"], "c": ["f"]}),
        ([5e3, 5e3, 1e11 - 5e3], ALIKE),
        {},
    ),
}


@for_each(("shared", "expected", "subflows"), KNOWN.values(), ids=KNOWN)
def test_splits_of_known_networks(shared: SharedNetwork, expected: tuple[Any, Any], subflows: dict[str, float]) -> None:
    made = ((max_min_split(shared), 1e-5), (proportional_split(shared), 1e-4))
    for (split, precision), rates in zip(made, expected, strict=True):
        assert totals(split) == pytest.approx(expected[0] if rates is ALIKE else rates, rel=precision)
        assert {name: split.subflows_bps[name] for name in subflows} == pytest.approx(subflows, abs=1e-3)


def test_max_min_goes_on_after_the_first_bottleneck() -> None:
    """Links of 2 and 10: two connections share the small one (1 each), the third has the rest of the large one: 9."""
    split = max_min_split(network({"s": 2.0, "l": 10.0}, {"a": ["s"], "b": ["sl"], "c": ["l"]}))
    assert totals(split) == pytest.approx([1.0, 1.0, 9.0])
    assert split.bottlenecks == {"a": ("s",), "b": ("s",), "c": ("l",)}


@pytest.mark.parametrize("small", [1000.0, 500.0, 100.0, 0.001])
def test_torus_is_shared_as_one_resource(small: float) -> None:
    """Five links in a ring, each connection over two neighbours; one link shrinks.

    Pooled: (4 x 1000 + small) / 5 for everybody, which can be had: with small = 0 it is 800. The two connections at
    the small link take 800 of their other link and leave 200 of it; the next ones take these and 600 more, leave 400,
    and the fifth has twice 400. Source: Wischik et al., NSDI 2011, section 2.4 and figure 8.
    """
    links = dict.fromkeys("abde", 1000.0) | {"c": small}
    ring = "abcde"
    shared = network(links, {f"f{i}": [[ring[i]], [ring[(i + 1) % 5]]] for i in range(5)})
    for split in (max_min_split(shared), proportional_split(shared)):
        assert totals(split) == pytest.approx([(4000.0 + small) / 5] * 5, rel=1e-4)


def test_what_nothing_limits_or_nothing_reaches() -> None:
    shared = network({"l": 9.0, "free": math.inf}, {"m": [["l"], ["free"]], "t": [["l"]], "cut": []})
    for split in (max_min_split(shared), proportional_split(shared)):
        assert split.totals_bps == pytest.approx({"m": math.inf, "t": 9.0, "cut": 0.0})
        assert split.bottlenecks == {"m": (), "t": ("l",), "cut": ()}
    assert max_min_split(network({}, {})).totals_bps == {}


def random_network(draw: np.random.Generator) -> SharedNetwork:
    names = [f"l{n}" for n in range(draw.integers(2, 7))]
    connections: dict[str, list[list[str]]] = {}
    loads: dict[tuple[str, str], float] = {}
    for number in range(draw.integers(2, 7)):
        paths = []
        for path_number in range(1, draw.integers(2, 5)):
            path = list(draw.choice(names, size=draw.integers(1, len(names)), replace=False))
            load = 1.0
            for key in reversed(path):
                loads[f"c{number}/{path_number}", key] = load
                load /= 1.0 - draw.choice([0.0, 0.0, 0.1])
            paths.append(path)
        connections[f"c{number}"] = paths
    return network({name: float(draw.uniform(0.1, 10)) for name in names}, connections, loads)


class Limits:
    """Possible path rates and the resulting totals, as matrices."""

    def __init__(self, shared: SharedNetwork) -> None:
        paths = [path for connection in shared.connections for path in connection.paths]
        self.owners = [path.owner for path in paths]
        self.loads = np.zeros((len(shared.capacities_bps), len(paths)))
        rows = {key: row for row, key in enumerate(shared.capacities_bps)}
        for column, path in enumerate(paths):
            for key, load in zip(path.links, path.loads, strict=True):
                self.loads[rows[key], column] = load
        self.capacities = np.array(list(shared.capacities_bps.values()))
        self.sums = np.array([[float(p in connection.paths) for p in paths] for connection in shared.connections])

    def rates(self, split: Split) -> np.ndarray:
        return np.array([split.subflows_bps[owner] for owner in self.owners])

    def best(self, weights: np.ndarray, least: np.ndarray) -> float:
        """The largest weighted sum of totals; `least` bounds each total from below."""
        found = linprog(
            -weights @ self.sums,
            A_ub=np.vstack([self.loads, -self.sums]),
            b_ub=np.concatenate([self.capacities, -least]),
        )
        assert found.status == 0
        return -float(found.fun)


@for_each("seed", range(40))
def test_splits_of_random_topologies_are_what_they_say(seed: int) -> None:
    draw = np.random.default_rng(seed)
    shared = random_network(draw)
    limits = Limits(shared)
    max_min, proportional = max_min_split(shared), proportional_split(shared)
    for split in (max_min, proportional):
        rates = limits.rates(split)
        assert (rates >= 0).all()
        assert (limits.loads @ rates <= limits.capacities * (1 + 1e-6)).all()
        assert limits.sums @ rates == pytest.approx(totals(split), rel=1e-6)
        assert all(split.bottlenecks.values())
    # Max-min: no total can rise without reducing one that is not larger.
    levels = np.array(totals(max_min))
    for index, level in enumerate(levels):
        least = np.where(levels <= level * (1 + 1e-6), levels * (1 - 1e-7), 0.0)
        assert limits.best(np.eye(len(levels))[index], least) <= level * (1 + 1e-4)
    # Proportional: sum over all connections of (x - x*) / x* <= 0 for any possible x (Kelly 1998). The maximum of this
    # sum is a linear program.
    fair = np.array(totals(proportional))
    assert limits.best(1.0 / fair, np.zeros(len(fair))) <= len(fair) * (1 + 1e-4)
    assert proportional.gap < 1e-6
    # Neither split is better by the other's measure.
    assert levels.min() >= fair.min() * (1 - 1e-6)
    assert np.log(fair).sum() >= np.log(levels).sum() - 1e-6


def test_prices_say_what_capacity_is_worth() -> None:
    """The derivative of the best sum of logarithms by each capacity, against differences."""
    shared = random_network(np.random.default_rng(5))
    prices = proportional_split(shared).prices
    best = np.log(totals(proportional_split(shared))).sum()
    for key, capacity in shared.capacities_bps.items():
        more = SharedNetwork({**shared.capacities_bps, key: capacity * 1.0001}, shared.connections)
        gained = np.log(totals(proportional_split(more))).sum() - best
        assert gained / (capacity * 1e-4) == pytest.approx(prices.get(key, 0.0), rel=2e-2, abs=1e-4)
