"""Families of networks: each draw is a scenario within its ranges, and the test split never changes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from tests.helpers.members import for_each

from subflow_sim.arena.families import EDITION, FAMILIES, SPLITS
from subflow_sim.arena.networks import FINAL_NUMBERS, FROZEN_NUMBERS, Network, network, networks
from subflow_sim.arena.topologies import TOPOLOGIES
from subflow_sim.arena.utility import fair_shares
from subflow_sim.errors import ParamError
from subflow_sim.scenario_model import LinkDirection
from subflow_sim.simulation import Simulation

FROZEN = {
    1: "c6225d2a44813a0585bf543ef5e6604dc0e0d901cc7003cbc82d4c21b4f31edf",
    2: "3d2f790123003e7cbc75721427502ad16621d8908b72ef038e2764639c7e6510",
}
"""SHA-256 of the texts of the test split, of the families that came with each edition. A change makes another arena:
earlier results are no longer comparable.
"""

FINAL = "691303c620c07dad1e8985941e2f813cfce1b6d09c4650ae9574b69f4438ec45"
"""SHA-256 of the texts of the final networks, in all families. It was stated before any training for edition 2."""


def hash_of(nets: list[Network]) -> str:
    return hashlib.sha256("".join(each.text for each in nets).encode()).hexdigest()


@for_each("edition", FROZEN)
def test_the_test_split_is_frozen(edition: int) -> None:
    added = [name for name, family in FAMILIES.items() if family.edition == edition]
    assert hash_of(networks("test", FROZEN_NUMBERS, added)) == FROZEN[edition]
    assert set(FROZEN) == set(range(1, EDITION + 1))


def test_the_final_networks_are_frozen_and_are_at_least_four_hundred_others() -> None:
    final = networks("test", FINAL_NUMBERS)
    assert hash_of(final) == FINAL
    assert len(final) >= 400
    assert {each.text for each in final}.isdisjoint(each.text for each in networks("test", FROZEN_NUMBERS))
    assert all(net.scenario.flows[name].recv_buffer_bytes for net in final for name in (*net.competes, *net.beside))


def links_of(family: str) -> list[LinkDirection]:
    """The bottlenecks of some networks of a family, in the direction of the data."""
    return [
        net.scenario.links[name].forward
        for split in SPLITS
        for number in range(1, 21)
        for net in [network(family, split, number)]
        for name in FAMILIES[family].topology(split, number).bottlenecks
    ]


@for_each("family", ["stray-loss", "equals-lossy"])
def test_losses_without_a_queue_are_of_three_tenths_to_three_percent(family: str) -> None:
    losses = [link.loss for link in links_of(family)]
    assert 0.003 <= min(losses) < 0.004
    assert 0.02 < max(losses) <= 0.03


def test_a_newreno_waits_behind_three_to_eleven_packets() -> None:
    assert {link.queue.limit_pkts for link in links_of("tight-newreno")} == set(range(3, 12))


@for_each("family", ["equals", "equals-lossy"])
def test_four_equal_connections_have_equal_shares(family: str) -> None:
    for split in SPLITS:
        for number in (1, 2, 3):
            shares = fair_shares(network(family, split, number))
            assert len(shares) == 4
            assert max(shares.values()) == pytest.approx(min(shares.values()))


def test_capacities_alternate_between_two_values_in_equal_times() -> None:
    for split in SPLITS:
        net = network("alternating", split, 1)
        for name in FAMILIES["alternating"].topology(split, 1).bottlenecks:
            events = [event for event in net.scenario.events if event.link == name]
            times = [event.at_s for event in events]
            rates = [net.scenario.links[name].forward.rate_bps, *(event.rate_bps for event in events)]
            assert len(events) >= 6
            assert 1 <= times[0] <= 5
            assert times == pytest.approx([times[0] * number for number in range(1, len(times) + 1)], abs=0.02)
            assert rates[2:] == rates[:-2]
            low, high = sorted({float(rate or 0) for rate in rates})
            assert 1.99 <= high / low <= 4.01


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
