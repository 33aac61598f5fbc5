"""Behaviour of a whole connection, seen from outside: buffers, backups, reinjection, and their figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.networks import column, link, mptcp, run, scenario, tcp

from subflow_sim.scenario_model import Choice, Event, Flow
from subflow_sim.whole_scenario import Scenario

BOTH_OFF = Choice("minrtt", {"opportunistic_retransmission": False, "penalisation": False})


def uneven(flow: Flow, *, profile: str = "textbook") -> Scenario:
    """Two paths of 10 Mbit/s with round trips of 20 and 200 ms."""
    links = [link("fast", delay_s=0.01, queue_pkts=17), link("slow", delay_s=0.1, queue_pkts=167)]
    return scenario(links, [flow], duration_s=40, warmup_s=10, profile=profile)  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", ["textbook", "linux"])
def test_a_small_receive_buffer_costs_little_with_minrtts_answers_to_it(profile: str) -> None:
    # Section 6.1: 200 kB are a fifth of the demand of the two paths; one path of 10 Mbit/s is full with them.
    best_bps = 10e6 * 1448 / 1500
    flow = mptcp("d", ["fast", "slow"], recv_buffer_bytes=200_000)
    if profile == "linux":
        best_bps *= (1448 - 20) / 1448  # the DSS option
    with_both = run(uneven(flow, profile=profile)).summary()["flows"][0]
    without = run(uneven(replace(flow, scheduler=BOTH_OFF), profile=profile)).summary()["flows"][0]
    assert with_both["goodput_bps"] >= 0.9 * best_bps > without["goodput_bps"]
    assert with_both["reinjections"] > without["reinjections"]
    # Some duplicates may have left before the end of the warm-up.
    assert 0 < with_both["duplicates"] <= with_both["reinjections"] + with_both["packets_in_flight_at_start"]


def test_an_unlimited_buffer_reinjects_nothing() -> None:
    flow = mptcp("d", ["fast", "slow"])
    with_both, without = run(uneven(flow)), run(uneven(replace(flow, scheduler=BOTH_OFF)))
    assert with_both.signature() == without.signature()
    assert with_both.summary()["flows"][0]["reinjections"] == 0


def test_a_send_buffer_stalls_paths_like_a_receive_buffer_but_nobody_is_penalised() -> None:
    flow = mptcp("d", ["fast", "slow"], send_buffer_bytes=60_000)
    simulation = run(uneven(flow))
    figures = simulation.summary()["flows"][0]
    assert figures["goodput_bps"] < 15e6
    assert figures["reinjections"] > 0
    assert {"penalised", "meta_rto"}.isdisjoint(mark.kind for mark in simulation.take_marks())
    tight = run(uneven(mptcp("d", ["fast", "slow"], recv_buffer_bytes=60_000)))
    penalised = [mark for mark in tight.take_marks() if mark.kind == "penalised"]
    assert penalised
    assert {mark.owner for mark in penalised} == {"d/2"}
    assert all(mark.value >= 1 for mark in penalised)


def test_a_backup_steps_in_for_an_outage_and_out_again() -> None:
    links = [link("wifi"), link("lte")]
    flow = mptcp("d", ["wifi", "lte"], backup=(2,))
    outage = [Event(5.0, link="wifi", up=False), Event(10.0, link="wifi", up=True)]
    simulation = run(scenario(links, [flow], duration_s=20, events=outage), sample_interval_s=0.5)
    share = column(simulation, "schedule_share", "d/2")
    times_s = 0.5 * np.arange(1, len(share) + 1)
    assert not np.any(share[times_s <= 5])
    assert np.all(share[(times_s > 6.5) & (times_s <= 10)] == 1)
    assert not np.any(share[times_s > 13])


def test_an_event_makes_a_subflow_a_backup_and_takes_it_back() -> None:
    links = [link("wifi"), link("lte")]
    flow = mptcp("d", ["wifi", "lte"])
    events = [Event(5.0, flow="d", subflow=2, backup=True), Event(10.0, flow="d", backup=False)]
    simulation = run(scenario(links, [flow], duration_s=15, events=events), sample_interval_s=0.5)
    share = column(simulation, "schedule_share", "d/2")
    times_s = 0.5 * np.arange(1, len(share) + 1)
    assert np.all(share[(times_s > 1) & (times_s <= 5)] > 0.2)
    assert not np.any(share[(times_s > 5) & (times_s < 10)])
    assert np.all(share[times_s > 10.5] > 0.1)
    # It is not an outage: no reinjections are needed.
    assert simulation.summary()["flows"][0]["reinjections"] == 0


def test_an_outage_of_everything_runs_into_the_connections_own_timeout() -> None:
    links = [link("wifi"), link("lte")]
    down = [Event(5.0, link=name, up=False) for name in ("wifi", "lte")]
    up = [Event(9.0, link=name, up=True) for name in ("wifi", "lte")]
    simulation = run(scenario(links, [mptcp("d", ["wifi", "lte"])], duration_s=20, events=down + up))
    marks = [mark for mark in simulation.take_marks() if mark.kind == "meta_rto"]
    assert {mark.owner for mark in marks} == {"d"}
    assert [later.value for later in marks[1:]] == [pytest.approx(2 * mark.value) for mark in marks[:-1]]


def test_traces_and_summary_of_reordering_are_of_several_paths() -> None:
    links = [link("fast", delay_s=0.01), link("slow", delay_s=0.08, loss=0.01), link("other")]
    flows = [mptcp("d", ["fast", "slow"], start_s=1.0), tcp("t", "other")]
    simulation = run(scenario(links, flows, duration_s=20), sample_interval_s=0.1)
    several, single = simulation.summary()["flows"]
    shares = [subflow["schedule_share"] for subflow in several["subflows"]]
    assert sum(shares) == pytest.approx(1)
    assert single["subflows"][0]["schedule_share"] is None
    assert several["mean_hol_blocking_s"] > single["mean_hol_blocking_s"] >= 0
    queue = column(simulation, "reorder_queue_bytes", "d")
    assert 0 < np.max(queue) <= several["max_reorder_queue_bytes"]
    # All but the last packet are full: the queue holds whole packets.
    assert not np.any(np.mod(queue, 1448))
    waits = column(simulation, "hol_blocking_s", "d")
    assert 0 < np.nanmean(waits) < 0.5
    assert np.all(np.isnan(waits[:10]))  # no deliveries before its start
    assert np.array_equal(np.isnan(waits), column(simulation, "goodput_bps", "d") == 0)
    own = {c.name for c in simulation.columns if c.owner in ("t", "t/1")}
    assert {"reorder_queue_bytes", "hol_blocking_s", "reinjections_pkts", "schedule_share"}.isdisjoint(own)
