"""Families of networks: each draw is a scenario within its ranges, and the test split never changes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from tests.helpers.members import for_each

from subflow_sim.arena.families import FAMILIES, SPLITS
from subflow_sim.arena.networks import FROZEN_NUMBERS, network, networks
from subflow_sim.arena.topologies import TOPOLOGIES
from subflow_sim.errors import ParamError
from subflow_sim.simulation import Simulation

FROZEN = "c6225d2a44813a0585bf543ef5e6604dc0e0d901cc7003cbc82d4c21b4f31edf"
"""SHA-256 of the texts of the test split. A change makes another arena: earlier results are no longer comparable."""


def test_the_test_split_is_frozen() -> None:
    texts = [each.text for each in networks("test", FROZEN_NUMBERS)]
    assert hashlib.sha256("".join(texts).encode()).hexdigest() == FROZEN


def test_no_topology_of_the_test_split_occurs_where_agents_learn_or_are_chosen() -> None:
    seen = {
        name for family in FAMILIES.values() for split in ("train", "validation") for name in family.topologies[split]
    }
    tested = {name for family in FAMILIES.values() for name in family.topologies["test"]}
    assert tested.isdisjoint(seen)
    assert tested | seen == set(TOPOLOGIES)


def test_topologies_of_different_names_are_different_networks() -> None:
    shapes = [
        (sorted((span.ends, span.is_access) for span in each.spans.values()), each.users)
        for each in TOPOLOGIES.values()
    ]
    assert all(shapes.count(shape) == 1 for shape in shapes)


@for_each("family", FAMILIES)
def test_every_network_of_a_family_is_a_scenario_that_runs(family: str) -> None:
    for split in SPLITS:
        for number in range(1, 1 + len(FAMILIES[family].topologies[split])):
            net = network(family, split, number)
            Simulation(net.scenario).run_until(0.5)
            assert net.competes
            assert bool(net.beside) == bool(FAMILIES[family].beside)


def test_networks_span_what_they_should() -> None:
    rates: set[float] = set()
    rtts: set[float] = set()
    paths: set[int] = set()
    acks: set[object] = set()
    for each in networks("test", FROZEN_NUMBERS) + networks("train", FROZEN_NUMBERS):
        family = FAMILIES[each.family]
        for name in family.topology(
            "test" if "/test/" in each.name else "train", int(each.name.split("/")[-1])
        ).bottlenecks:
            link = each.scenario.links[name]
            assert link.forward.rate_bps is not None
            rates.add(link.forward.rate_bps)
        for flow in each.competes:
            of_paths = each.scenario.flows[flow].paths
            paths.add(len(of_paths))
            rtts |= {2 * sum(each.scenario.links[link].forward.delay_s for link in path) for path in of_paths}
        acks.add(each.scenario.transport.get("delayed_ack"))
    assert min(rates) < 1.5e6
    assert max(rates) > 250e6
    assert min(rtts) < 0.01
    assert max(rtts) > 0.38
    assert paths == {1, 2, 3, 5, 8}
    assert acks == {None, "off"}


def test_a_network_follows_from_its_family_split_and_number_alone() -> None:
    assert network("walk", "train", 3).text == network("walk", "train", 3).text
    assert network("walk", "train", 3).text != network("walk", "train", 7).text
    network.cache_clear()
    before = network("lossy", "validation", 2).text
    network("lossy", "validation", 1)
    assert network("lossy", "validation", 2).text == before


@pytest.mark.parametrize(
    ("family", "split", "number", "told"),
    [
        ("losy", "test", 1, 'unknown family of networks "losy".*lossy'),
        ("lossy", "exam", 1, 'unknown split "exam"'),
        ("lossy", "test", 0, "the number of a network is 0"),
    ],
)
def test_a_network_that_there_is_not_is_told_by_name(family: str, split: Any, number: int, told: str) -> None:
    with pytest.raises(ParamError, match=told):
        network(family, split, number)
