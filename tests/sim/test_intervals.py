"""Monitor intervals of a run: columns of the samples, and the records themselves."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.networks import column, link, mptcp, run, scenario, tcp

from subflow_sim import Intervals, Simulation, estimate
from subflow_sim.scenario_model import Choice
from subflow_sim.whole_scenario import Scenario

FIELDS = ("rate_bps", "throughput_bps", "loss_ratio", "rtt_mean_s", "rtt_min_s", "rtt_gradient", "utility")
COLUMNS = [
    *("interval_rate_bps", "interval_throughput_bps", "interval_loss_ratio", "interval_rtt_s", "interval_min_rtt_s"),
    *("interval_rtt_gradient", "utility"),
]


def two_flows(*, duration_s: float = 10, loss: float = 0.01) -> Scenario:
    """A flow that sends by monitor intervals and a flow on another link that does not."""
    links = [link("one", loss=loss), link("two")]
    return scenario(links, [tcp("learns", "one", "vivace"), tcp("reno", "two")], duration_s=duration_s)


def test_only_subflows_with_monitor_intervals_have_their_columns() -> None:
    a_scenario = two_flows()
    simulation = Simulation(a_scenario)
    with_them = {c.owner for c in simulation.columns if c.name in COLUMNS}
    assert with_them == {"learns/1"}
    assert [c.name for c in simulation.columns if c.owner == "learns/1"][-7:] == COLUMNS
    assert estimate(a_scenario).columns == len(simulation.columns)
    # Each subflow of an uncoupled flow
    flow = mptcp("flow", ["one", "two"], Choice("uncoupled", {"base": "vivace"}))
    both = Simulation(scenario([link("one"), link("two")], [flow], duration_s=1))
    assert {c.owner for c in both.columns if c.name == "utility"} == {"flow/1", "flow/2"}


def test_a_sample_is_the_latest_interval_that_was_finished() -> None:
    done = run(two_flows(), sample_interval_s=0.1)
    intervals = done.take_intervals()
    assert np.isnan(column(done, "utility")[0])  # RTT 0.1 s: no result before 0.1 s

    for k in (20, 50, 99):
        latest = np.flatnonzero(intervals.time_ns <= (k + 1) * 100_000_000)[-1]
        for name, field in zip(COLUMNS, FIELDS, strict=True):
            np.testing.assert_equal(column(done, name)[k], np.float32(getattr(intervals, field)[latest]))


def test_the_records_hold_what_became_of_the_packets_sent() -> None:
    done = run(two_flows())
    got = done.take_intervals()
    assert len(got) > 40
    assert {got.owners[i] for i in got.owner} == {"learns/1"}
    assert (got.delivered_pkts + got.lost_pkts == got.sent_pkts).all()
    assert np.allclose(got.loss_ratio, got.lost_pkts / got.sent_pkts)
    assert (np.diff(got.time_ns) >= 0).all()
    assert (np.diff(got.number) == 1).all()
    assert (got.begin_ns[1:] == got.end_ns[:-1]).all()
    # On the wire: 12 000 bit per packet, at the requested rate, within one packet at either end
    length_s = (got.end_ns - got.begin_ns) / 1e9
    assert np.allclose(got.send_rate_bps * length_s, got.sent_pkts * 12_000)
    assert (abs(got.send_rate_bps - got.rate_bps) * length_s <= 12_001).all()
    # Without loss or queue the RTT is 100 ms plus 1.2 ms per packet. Slopes have an error.
    heard = np.isfinite(got.rtt_mean_s)
    assert heard.sum() > 40
    assert got.rtt_min_s[heard].min() == pytest.approx(0.1012)
    assert (got.rtt_mean_s[heard] >= got.rtt_min_s[heard] - 1e-9).all()
    assert (got.rtt_gradient_error[np.isfinite(got.rtt_gradient)] >= 0).all()
    assert not got.is_app_limited.any()


def test_records_come_once_in_as_many_calls_as_wanted() -> None:
    whole = run(two_flows()).take_intervals()
    simulation = Simulation(two_flows())
    parts: list[Intervals] = []
    for t_s in (3.0, 3.1, 10.0):
        simulation.run_until(t_s)
        parts.append(simulation.take_intervals())
    assert len(simulation.take_intervals()) == 0
    assert np.concatenate([part.time_ns for part in parts]).tolist() == whole.time_ns.tolist()
    assert np.concatenate([part.utility for part in parts]).tolist() == whole.utility.tolist()
    assert simulation.intervals_lost == 0


def test_the_buffer_is_bounded_and_counts_what_it_dropped() -> None:
    # RTT 1 ms and five packets per interval: thousands of intervals in 10 s.
    path = link("path", rate_bps=50e6, delay_s=0.0005, queue_pkts=50)
    done = run(scenario([path], [tcp("flow", "path", "vivace")], duration_s=10))
    kept = done.take_intervals()
    assert len(kept) == 4096
    assert done.intervals_lost == kept.number[0] > 0


def test_the_arrays_outlive_the_simulation() -> None:
    got = run(two_flows(duration_s=3)).take_intervals()
    copy = got.utility.copy()
    _ = [run(two_flows(duration_s=3)) for _ in range(3)]
    assert got.utility.tolist() == copy.tolist()


def test_data_that_runs_out_is_told() -> None:
    flow = tcp("flow", "one", "vivace", size_bytes=300_000)
    got = run(scenario([link("one")], [flow, tcp("other", "one", "vivace", start_s=1)], duration_s=6)).take_intervals()
    mine = got.owner == 0
    assert not got.is_app_limited[mine][:-2].any()
    assert not got.is_app_limited[~mine].any()
