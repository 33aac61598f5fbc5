"""Reduces a network to independent parts without irrelevant links, as matrices for the computation of splits.

Connections with the same choice of paths form one class: by symmetry a fair split gives them equal totals, so a hundred
connections over two links have two unknowns. Links that cannot saturate are removed. Groups of connections that share
no link, directly or through others, are computed separately, with rates in separate units. Gigabit access links in
front of links of a few Mbit/s therefore cost no precision.
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
    """A path available to the connections of a class, with its load on each link."""

    links: tuple[str, ...]
    loads: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a network that shares no link with the others.

    Attributes:
        links: names of the link directions that may saturate.
        scale_bps: unit of the part's rates, bit/s.
        capacities: float64 [n_links], in the part's unit.
        loads: float64 [n_links, n_paths], load of each link per bit delivered over a path.
        members: float64 [n_classes, n_paths], 1 if a path belongs to a class.
        counts: float64 [n_classes], number of connections of each class.
        classes: connections of each class.
        paths: paths in the order of the columns.
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
    """A network divided into independent parts.

    Attributes:
        parts: parts with a limiting link.
        unlimited: connections with a path of unlimited links.
        unreachable: connections without a path.
    """

    parts: tuple[Part, ...]
    unlimited: tuple[Connection, ...]
    unreachable: tuple[Connection, ...]


def decompose(network: SharedNetwork) -> Parts:
    """Divides the connections into independent parts."""
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
    """The path restricted to these links."""
    kept = [(key, load) for key, load in zip(path.links, path.loads, strict=True) if key in links]
    return PathChoice(tuple(key for key, _ in kept), tuple(load for _, load in kept))


def _that_may_be_full(network: SharedNetwork, connections: Iterable[Connection]) -> set[str]:
    """The links that may limit a connection: a superset of the actual bottlenecks."""
    narrow: set[str] = set()
    most: dict[str, float] = {}
    # A path carries at most the rate of its narrowest link. A link never saturates if it can carry the maximum of every
    # path over it.
    for path in {path_choice(path, network.capacities_bps) for each in connections for path in each.paths}:
        bounds = [network.capacities_bps[key] / load for key, load in zip(path.links, path.loads, strict=True)]
        narrow.add(path.links[bounds.index(min(bounds))])
        for key, load in zip(path.links, path.loads, strict=True):
            most[key] = most.get(key, 0.0) + load * min(bounds)
    return narrow | {key for key, bound in most.items() if bound > network.capacities_bps[key] * (1 + 1e-12)}


def _groups(classes: Collection[frozenset[PathChoice]]) -> list[list[frozenset[PathChoice]]]:
    """Groups of classes that share links, directly or through other classes, in the order of the classes."""
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
    members: list[tuple[int, int]] = []  # pairs of class and path
    for index, choices in enumerate(group):
        # Sets are unordered, and results must not depend on the order of hashes.
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
