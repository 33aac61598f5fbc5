"""Controllers that ignore the network score below all others, and an oracle scores above them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest
from tests.sim.arena.test_utility import TEXT, made

from subflow_sim.arena.blind import BLIND, blind_network, constant
from subflow_sim.arena.families import FAMILIES
from subflow_sim.arena.networks import network
from subflow_sim.arena.utility import WORST, Outcome, judged
from subflow_sim.scenario import Choice, parse_scenario

CLASSICS = {
    "newreno": Choice("uncoupled", {"base": "newreno"}),
    "cubic": Choice("uncoupled", {"base": "cubic"}),
    "bbr": Choice("uncoupled", {"base": "bbr"}),
    "lia": Choice("lia"),
    "olia": Choice("olia"),
    "balia": Choice("balia"),
}
RATES = {**{name: rates for name, rates in BLIND.items() if name != "oracle"}, "constant-4": constant(4e6)}
NUMBERS = range(1, 4)


def of_classic(family: str, number: int, controller: Choice) -> Outcome:
    net = network(family, "test", number)
    flows = {name: replace(net.scenario.flows[name], controller=controller) for name in net.competes}
    return judged(net, replace(net.scenario, flows={**net.scenario.flows, **flows}))


def of_blind(family: str, number: int, name: str) -> Outcome:
    net = network(family, "test", number)
    rates = {**BLIND, **RATES}[name]
    return judged(net, blind_network(net, rates).scenario)


@cache
def score(name: str) -> float:
    """Mean score over the families."""
    outcomes = [
        of_classic(family, number, CLASSICS[name]) if name in CLASSICS else of_blind(family, number, name)
        for family in FAMILIES
        for number in NUMBERS
    ]
    return math.fsum(each.utility for each in outcomes) / len(outcomes)


def test_blind_senders_rank_below_all_classics_and_the_fair_split_above_them() -> None:
    classics = [score(name) for name in CLASSICS]
    assert max(score(name) for name in RATES) < min(classics)
    assert score("oracle") > max(*classics, -0.15)
    assert score("idle") == WORST


def test_datagrams_wait_in_the_queues_that_they_fill() -> None:
    net = made(TEXT[: TEXT.index("[flows.tcp]")], beside=())
    calm = judged(net, blind_network(net, constant(2e6)).scenario)
    # 3.5 Mbit/s into LTE of 3 Mbit/s, whose queue holds 20 packets of 4 ms: 80 ms for some of the packets
    full = judged(net, blind_network(net, constant(3.5e6)).scenario)
    assert calm.queueing < 0.1
    assert 0.3 < full.queueing < 1.2
    assert full.excess_loss > 0.02


def test_a_document_of_datagrams_arrives_when_its_bytes_have() -> None:
    text = """
format = 1
name = "A document"
duration = "20s"
nodes.a = {}
nodes.b = {}
links.l = { ends = ["a", "b"], rate = "8Mbit/s", delay = "10ms", queue = "50pkt" }
flows.m = { kind = "tcp", from = "a", to = "b", controller = "cubic", paths = [["l"]], size = "4MB" }
"""
    net = replace(made(beside=(), has_documents=True), scenario=parse_scenario(text))
    half = judged(net, blind_network(net, constant(4e6)).scenario)
    assert half.throughput == pytest.approx(math.log(0.5), abs=0.02)
    late = judged(net, blind_network(net, constant(1e6)).scenario)
    assert late.throughput == WORST
