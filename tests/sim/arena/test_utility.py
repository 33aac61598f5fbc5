"""The utility: rewarded and ignored behaviour, and the worst flow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from subflow_sim.arena.networks import Network, network
from subflow_sim.arena.path_facts import path_facts
from subflow_sim.arena.utility import (
    WORST,
    Outcome,
    fair_shares,
    ideal_makespan_s,
    judged,
    newreno_reference_bps,
    outcome,
    utility,
)
from subflow_sim.scenario import Choice, Scenario, parse_scenario

TEXT = """
format = 1
name = "Two links, a TCP on the first"
duration = "12s"
warmup = "2s"
nodes = { a = {}, b = {} }
[links]
wifi = { ends = ["a", "b"], rate = "6Mbit/s", delay = "20ms", queue = "25pkt" }
lte = { ends = ["a", "b"], rate = "3Mbit/s", delay = "30ms", queue = "20pkt", loss = "2%" }
[flows.m]
kind = "mptcp"
from = "a"
to = "b"
controller = "lia"
paths = [["wifi"], ["lte"]]
[flows.tcp]
kind = "tcp"
from = "a"
to = "b"
controller = "newreno"
paths = [["wifi"]]
"""
PAYLOAD = 1448 / 1500


def made(text: str = TEXT, *, beside: tuple[str, ...] = ("tcp",), has_documents: bool = False) -> Network:
    return Network("made", "made/1", parse_scenario(text), ("m",), beside, has_documents, text)


def with_controller(net: Network, controller: Choice) -> Scenario:
    flows = dict(net.scenario.flows)
    for name in net.competes:
        flows[name] = replace(flows[name], controller=controller)
    return replace(net.scenario, flows=flows)


def summary(
    m_bps: float, tcp_bps: float, *, rtts: tuple[float, float], lost: tuple[int, int] = (0, 20)
) -> dict[str, Any]:
    subflows = [
        {"packets_sent": 1000, "packets_lost": each, "packets_delivered": 1000 - each, "mean_rtt_s": rtt}
        for each, rtt in zip(lost, rtts, strict=True)
    ]
    return {
        "flows": [
            {"name": "m", "goodput_bps": m_bps, "active_goodput_bps": m_bps, "subflows": subflows},
            {"name": "tcp", "goodput_bps": tcp_bps, "active_goodput_bps": tcp_bps, "subflows": []},
        ]
    }


def test_utility_is_the_formula() -> None:
    assert utility(1.0, 0.0, 0.0) == 0.0
    assert utility(0.5, 3.0, 0.02) == pytest.approx(math.log(0.5) - 0.5 * math.log(4) - 0.1)
    assert utility(0.0, 0.0, 0.0) == WORST
    assert utility(1.0, 0.0, 1.0) == WORST


def test_references_are_those_of_the_network() -> None:
    net = made()
    # 9 Mbit/s for two connections, of which the TCP can reach 6
    assert fair_shares(net) == pytest.approx({"m": 4.5e6 * PAYLOAD, "tcp": 4.5e6 * PAYLOAD}, rel=1e-6)
    wifi, lte = path_facts(net.scenario)["m", 1], path_facts(net.scenario)["m", 2]
    assert wifi.base_rtt_s == pytest.approx(0.04 + 12_000 / 6e6)
    assert wifi.loss == 0.0
    assert lte.loss == pytest.approx(0.02)


def test_who_has_its_share_without_queue_and_loss_of_its_own_has_zero() -> None:
    net = made()
    facts = path_facts(net.scenario)
    rtts = (facts["m", 1].base_rtt_s, facts["m", 2].base_rtt_s)
    share = fair_shares(net)["m"]

    def judged_as(lost: tuple[int, int] = (0, 20), slower: int = 1) -> Outcome:
        return outcome(net, summary(share, share, rtts=(slower * rtts[0], slower * rtts[1]), lost=lost), share)

    assert judged_as().utility == pytest.approx(0.0, abs=1e-9)
    assert judged_as(slower=2).utility == pytest.approx(-0.5 * math.log(2))
    assert judged_as(slower=2).queueing == pytest.approx(1.0)
    # 100 of 2000 packets beyond the losses of LTE. Fewer losses than expected are luck and earn nothing.
    assert judged_as(lost=(100, 20)).excess_loss == pytest.approx(0.05)
    assert judged_as(lost=(0, 0)).utility <= 0


def test_who_starves_the_others_is_the_worst_and_leaving_the_fair_share_is_enough() -> None:
    net = made()
    share = fair_shares(net)["m"]

    def beside(others_bps: float, reference_bps: float) -> Outcome:
        return outcome(net, summary(share, others_bps, rtts=(0.042, 0.064)), reference_bps)

    harmless, harmful = beside(0.81 * 2e6, 2e6), beside(0.79 * 2e6, 2e6)
    assert harmless.reason == beside(share, 5.8e6).reason == ""
    assert harmless.utility > -0.1
    assert harmful.utility == WORST
    assert "79%" in harmful.reason


def test_the_reference_puts_newreno_on_its_best_path() -> None:
    net = made()
    reference = net.reference()
    # Half of 6 Mbit/s shared with a TCP flow, and about 1.5 of 3 Mbit/s with 2 % loss
    assert (reference.flows["m"].kind, reference.flows["m"].paths) == ("tcp", (("wifi",),))
    assert newreno_reference_bps(net) == pytest.approx(0.5 * 6e6 * PAYLOAD, rel=0.25)
    unloaded = made(TEXT.replace(', loss = "2%"', "").replace('"6Mbit/s"', '"5Mbit/s"'))
    assert unloaded.reference().flows["m"].paths == (("lte",),)


def test_newreno_on_one_path_passes_its_own_gate_exactly() -> None:
    net = made(TEXT.replace('paths = [["wifi"], ["lte"]]', 'paths = [["wifi"]]'))
    alone = judged(net, net.reference())
    assert alone.friendliness == pytest.approx(1.0)


def test_judging_is_the_same_each_time_and_tells_good_from_bad() -> None:
    net = network("lossy", "validation", 1)
    first = judged(net, with_controller(net, Choice("mpcc-loss")))
    assert judged(net, with_controller(net, Choice("mpcc-loss"))) == first
    assert first.utility > judged(net, with_controller(net, Choice("lia"))).utility


def test_an_entrant_that_cannot_run_is_the_worst_with_its_reason() -> None:
    net = made()
    found = judged(net, with_controller(net, Choice("no-such-controller")))
    assert found == Outcome.worst(found.reason)
    assert "no-such-controller" in found.reason


def test_documents_count_by_their_makespan() -> None:
    text = TEXT[: TEXT.index("[flows.tcp]")].replace(', loss = "2%"', "") + 'count = 2\nsize = "3MB"\n'
    net = made(text, beside=(), has_documents=True)
    # 6 MB over 9 Mbit/s
    assert ideal_makespan_s(net) == pytest.approx(6e6 * 8 / (9e6 * PAYLOAD))
    finished = judged(net, net.scenario)
    assert -1.5 < finished.throughput < 0
    late = judged(
        net, with_controller(made(text.replace('"12s"', '"6s"'), beside=(), has_documents=True), Choice("lia"))
    )
    assert late.throughput == WORST
