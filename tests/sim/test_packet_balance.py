"""The figures of the measured interval are consistent, for any network and warm-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.networks import link, mptcp, run, scenario, tcp

from subflow_sim import Simulation
from subflow_sim.scenario_model import NO_CHOICE, Choice, Event, Flow, QueueSpec
from subflow_sim.whole_scenario import Scenario

CODEL = {"target": 0.005, "interval": 0.1}
QUEUES = st.sampled_from(
    [
        QueueSpec("droptail", 3),
        QueueSpec("droptail", 100),
        QueueSpec("codel", 200, options=CODEL),
        QueueSpec("fq_codel", 50, options={**CODEL, "quantum": 1514, "flows": 16}),
    ]
)


def datagrams(name: str, path: str, rate_bps: float) -> Flow:
    return Flow(name, "cbr", "server", "client", NO_CHOICE, NO_CHOICE, ((path,),), rate_bps=rate_bps)


@st.composite
def networks(draw: st.DrawFn) -> Scenario:
    """One to three links of all sorts, a flow of each kind over them, an outage and a subflow that closes and opens."""
    names = [f"path{i}" for i in range(draw(st.integers(1, 3)))]
    links = [
        link(
            name,
            rate_bps=draw(st.sampled_from([3e5, 2e6, 2e7])),
            delay_s=draw(st.sampled_from([0.0, 0.004, 0.05, 0.4])),
            loss=draw(st.sampled_from([0.0, 0.0, 0.02, 0.6])),
            queue=draw(QUEUES),
        )
        for name in names
    ]
    controllers = st.sampled_from(["newreno", "cubic", "bbr", "vivace"])
    coupled = st.sampled_from(["lia", "balia", "mpcc-loss", "uncoupled"])
    schedulers = st.sampled_from(["minrtt", "redundant", "roundrobin"])
    start_s = draw(st.sampled_from([0.0, 0.3]))
    whole = mptcp("many", names, draw(coupled), start_s=start_s, stop_s=draw(st.sampled_from([None, 1.1])))
    flows = [
        tcp("one", names[0], draw(controllers), start_s=start_s),
        replace(whole, scheduler=Choice(draw(schedulers))),
        datagrams("blind", names[-1], draw(st.sampled_from([1e5, 5e6]))),
    ]
    events = [
        Event(draw(st.sampled_from([0.0, 0.2, 0.9])), link=names[0], up=False),
        Event(1.0, link=names[0], up=True),
        Event(0.5, flow="many", subflow=1, open=False),
        Event(1.2, flow="many", subflow=1, open=True),
    ]
    duration_s = draw(st.sampled_from([0.6, 2.0]))
    return scenario(
        links,
        flows,
        duration_s=duration_s,
        warmup_s=draw(st.sampled_from([0.0, 0.25, 0.5, 0.9])) * duration_s,
        profile=draw(st.sampled_from(["linux", "textbook"])),
        events=draw(st.sampled_from([[], events])),
    )


def owners(summary: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for flow in summary["flows"]:
        yield flow
        yield from flow["subflows"]


@settings(max_examples=150, deadline=None)
@given(networks(), st.integers(1, 1000))
def test_what_was_sent_is_delivered_dropped_or_in_flight_and_ratios_are_at_most_1(network: Scenario, seed: int) -> None:
    summary = run(network, seed=seed).summary()
    for of in owners(summary):
        before, after = of["packets_in_flight_at_start"], of["packets_in_flight_at_end"]
        assert before + of["packets_sent"] == of["packets_delivered"] + of["packets_dropped"] + after
        assert 0 <= of["packets_lost"] <= min(of["packets_sent"], of["packets_dropped"])
        assert of["loss_ratio"] == (of["packets_lost"] / of["packets_sent"] if of["packets_sent"] else 0)
        assert of["retransmits"] <= of["packets_sent"]
        assert of.get("schedule_share") is None or 0 <= of["schedule_share"] <= 1
        if network.warmup_s == 0:
            assert before == 0
            assert of["packets_lost"] == of["packets_dropped"]
    for flow in summary["flows"]:
        for key in ("packets_sent", "packets_delivered", "packets_dropped", "packets_lost", "packets_in_flight_at_end"):
            assert not flow["subflows"] or flow[key] == sum(each[key] for each in flow["subflows"])
    # Links count their own drops; the reverse directions carry only ACKs, without drops.
    dropped = sum(flow["packets_dropped"] for flow in summary["flows"])
    dropped_by_links = sum(
        each["drops_queue"] + each["drops_random"] + each["drops_down"]
        for each in summary["links"]
        if each["direction"] == "forward"
    )
    if network.profile == "textbook":
        assert dropped == dropped_by_links
    else:  # links lose the packets of handshakes, too
        assert dropped <= dropped_by_links <= dropped + 20
    assert all(0 <= each["utilisation"] <= 1 + 1e-9 for each in summary["links"])


def test_the_interval_may_begin_while_a_queue_is_lost() -> None:
    # 250 packets are in the queue when the measured second begins; the link goes down 1 ms later and loses them, and
    # all retransmissions into the outage are lost as well.
    long_queue = link("path", rate_bps=1e6, queue_pkts=250)
    outage = [Event(3.001, link="path", up=False)]
    network = scenario([long_queue], [tcp("d", "path")], duration_s=4, warmup_s=3, events=outage)
    flow = run(network).summary()["flows"][0]
    assert flow["packets_in_flight_at_start"] > 100
    assert flow["packets_dropped"] > 100
    assert flow["packets_dropped"] > flow["packets_sent"] >= flow["packets_lost"]
    assert flow["loss_ratio"] == flow["packets_lost"] / flow["packets_sent"] <= 1


@pytest.mark.parametrize("profile", ["linux", "textbook"])
def test_a_run_that_starts_at_0_has_the_figures_of_one_that_starts_at_1_ms(profile: Any) -> None:
    def figures(start_s: float) -> dict[str, Any]:
        links = [link("fast", loss=0.2), link("slow", rate_bps=1e6, loss=0.3)]
        flow = mptcp("d", ["fast", "slow"], start_s=start_s)
        blind = datagrams("blind", "fast", 1e6)
        flows = [flow, replace(blind, start_s=start_s)]
        summary = run(scenario(links, flows, duration_s=0.4 + start_s, profile=profile)).summary()
        counted = ("retransmits", "loss_ratio", "schedule_share", "timeouts", "duplicates", "max_reorder_queue_bytes")
        of_flows = [
            {key: value for key, value in of.items() if key in counted or key.startswith("packets")}
            for of in owners(summary)
        ]
        drops = [(each["drops_random"], each["drops_queue"], each["max_queue_pkts"]) for each in summary["links"]]
        return {"flows": of_flows, "drops": drops}

    at_once = figures(0.0)
    assert at_once == figures(0.001)
    flow, fast, _, _ = at_once["flows"]
    # The initial window of ten leaves at the start, over the first subflow; the second joins one round trip later.
    assert fast["packets_sent"] >= 10
    assert 0 < fast["schedule_share"] <= 1
    assert flow["packets_dropped"] > 0


def test_a_run_that_is_stopped_within_its_warm_up_tells_what_there_was_so_far() -> None:
    network = scenario([link("path")], [tcp("d", "path")], duration_s=10, warmup_s=5)
    simulation = Simulation(network)
    # The initial window of ten arrives after 51.2 to 62 ms; the first ACK returns after that.
    simulation.run_until(0.09)
    flow = simulation.summary()["flows"][0]
    assert (flow["packets_sent"], flow["packets_delivered"], flow["packets_in_flight_at_end"]) == (10, 10, 0)
