"""A network in the form in which splits are computed: matrices, without what does not matter, in independent parts.

Connections with the same choice of paths are one class: by symmetry a fair split gives them the same, and of a hundred
connections over two links it leaves two unknowns. Links that cannot be full whatever happens are left out; what then
shares no link, directly or through others, is computed apart, with rates in a unit of its own. So a topology with
gigabit access to links of some Mbit/s does not lose digits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_sim.fairness.network import Connection, SharedNetwork, SubflowPath

Floats = NDArray[np.float64]


class PathChoice(NamedTuple):
    """A path that connections of a class may take: what it loads, by link."""

    links: tuple[str, ...]
    loads: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a network that shares nothing with the others.

    Attributes:
        links: names of the link directions that may be full.
        scale_bps: the unit of its rates, bit/s.
        capacities: float64 [n_links], in that unit.
        loads: float64 [n_links, n_paths], load of each link for each bit that arrives by a path.
        members: float64 [n_classes, n_paths], 1 where a path is of a class.
        counts: float64 [n_classes], connections of each class.
        classes: their connections.
        paths: of the columns.
    """

    links: tuple[str, ...]
    scale_bps: float
    capacities: Floats
    loads: Floats
    members: Floats
    counts: Floats
    classes: tuple[tuple[Connection, ...], ...]
    paths: tuple[PathChoice, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A network taken apart.

    Attributes:
        parts: those that have something to share.
        unlimited: connections with a path on which nothing limits them.
        unreachable: connections without a path.
    """

    parts: tuple[Part, ...]
    unlimited: tuple[Connection, ...]
    unreachable: tuple[Connection, ...]


def take_apart(network: SharedNetwork) -> Parts:
    """Sorts the connections into independent parts."""
    unlimited, unreachable, sharing = [], [], []
    for connection in network.connections:
        if not connection.paths:
            unreachable.append(connection)
        elif any(all(math.isinf(network.capacities_bps[key]) for key in path.links) for path in connection.paths):
            unlimited.append(connection)
        else:
            sharing.append(connection)
    links = _that_may_be_full(network, sharing)
    classes: dict[frozenset[PathChoice], list[Connection]] = {}
    for connection in sharing:
        classes.setdefault(frozenset(path_choice(path, links) for path in connection.paths), []).append(connection)
    order = [key for key in network.capacities_bps if key in links]
    parts = [_part(group, order, network, classes) for group in _groups(classes)]
    return Parts(tuple(parts), tuple(unlimited), tuple(unreachable))


def path_choice(path: SubflowPath, links: Container[str]) -> PathChoice:
    """What a path loads of those links."""
    kept = [(key, load) for key, load in zip(path.links, path.loads, strict=True) if key in links]
    return PathChoice(tuple(key for key, _ in kept), tuple(load for _, load in kept))


def _that_may_be_full(network: SharedNetwork, connections: Iterable[Connection]) -> set[str]:
    """The links that limit somebody, and maybe some more."""
    narrow: set[str] = set()
    most: dict[str, float] = {}
    # A path carries at most what its narrowest link does; a link that could carry all of that at once is never full.
    for path in {path_choice(path, network.capacities_bps) for each in connections for path in each.paths}:
        bounds = [network.capacities_bps[key] / load for key, load in zip(path.links, path.loads, strict=True)]
        narrow.add(path.links[bounds.index(min(bounds))])
        for key, load in zip(path.links, path.loads, strict=True):
            most[key] = most.get(key, 0.0) + load * min(bounds)
    return narrow | {key for key, bound in most.items() if bound > network.capacities_bps[key] * (1 + 1e-12)}


def _groups(classes: Collection[frozenset[PathChoice]]) -> list[list[frozenset[PathChoice]]]:
    """Classes that share links, directly or through others; in the order of the classes."""
    owner: dict[str, int] = {}
    parent = list(range(len(classes)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for index, choices in enumerate(classes):
        for key in (key for choice in choices for key in choice.links):
            parent[root(index)] = root(owner.setdefault(key, index))
    groups: dict[int, list[frozenset[PathChoice]]] = {}
    for index, choices in enumerate(classes):
        groups.setdefault(root(index), []).append(choices)
    return list(groups.values())


def _part(
    group: Sequence[frozenset[PathChoice]],
    order: Sequence[str],
    network: SharedNetwork,
    classes: Mapping[frozenset[PathChoice], list[Connection]],
) -> Part:
    paths: list[PathChoice] = []
    members: list[tuple[int, int]] = []  # class and path
    for index, choices in enumerate(group):
        # Sets have no order, and results must not depend on that of hashes.
        for choice in sorted(choices):
            members.append((index, len(paths)))
            paths.append(choice)
    crossed = {key for path in paths for key in path.links}
    names = tuple(key for key in order if key in crossed)
    rows = {key: row for row, key in enumerate(names)}
    loads = np.zeros((len(names), len(paths)))
    for column, path in enumerate(paths):
        for key, load in zip(path.links, path.loads, strict=True):
            loads[rows[key], column] = load
    capacities = np.array([network.capacities_bps[key] for key in names])
    scale_bps = float(capacities.max())
    of_class = np.zeros((len(group), len(paths)))
    of_class[tuple(np.array(members).T)] = 1.0
    return Part(
        names,
        scale_bps,
        capacities / scale_bps,
        loads,
        of_class,
        np.array([len(classes[choices]) for choices in group], float),
        tuple(tuple(classes[choices]) for choices in group),
        tuple(paths),
    )
