"""PCC Vivace against the equilibria of its utility, under the `textbook` profile; arithmetic: tests/sim_core."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.networks import goodputs, link, outage, run, scenario, tcp
from tests.helpers.statistics import mean

from subflow_sim import Simulation, jain_index
from subflow_sim.scenario_model import Choice, OptionValue

WIRE_BITS = 12_000
EPSILON, OMEGA_0 = 0.05, 0.05


def alone(
    rate_mbps: float,
    *,
    rtt_s: float = 0.05,
    queue_bdp: float = 1.0,
    loss: float = 0.0,
    duration_s: float = 60.0,
    seed: int = 1,
    **options: OptionValue,
) -> Simulation:
    """One flow on its own link; the first third is warm-up."""
    bdp_pkts = rate_mbps * 1e6 * rtt_s / WIRE_BITS
    path = link("path", rate_bps=rate_mbps * 1e6, delay_s=rtt_s / 2, queue_pkts=int(queue_bdp * bdp_pkts), loss=loss)
    flow = tcp("flow", "path", Choice("vivace", options))
    return run(scenario([path], [flow], duration_s=duration_s, warmup_s=duration_s / 3), seed=seed)


def rates_mbps(done: Simulation, from_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rates of the intervals that began after `from_s`, and their lengths in seconds."""
    intervals = done.take_intervals()
    late = intervals.begin_ns > from_s * 1e9
    return intervals.rate_bps[late] / 1e6, (intervals.end_ns - intervals.begin_ns)[late] / 1e9


def utilisation(done: Simulation) -> float:
    """Utilisation of the one link, after the warm-up."""
    return float(done.summary()["links"][0]["utilisation"])


@pytest.mark.parametrize(
    ("rate_mbps", "rtt_s", "duration_s"), [(2.0, 0.1, 120.0), (10.0, 0.05, 60.0), (100.0, 0.02, 30.0)]
)
def test_vivace_fills_a_clean_link_and_swings_around_its_capacity(
    rate_mbps: float, rtt_s: float, duration_s: float
) -> None:
    done = alone(rate_mbps, rtt_s=rtt_s, duration_s=duration_s)
    assert utilisation(done) >= 0.9
    # The rate is within epsilon + omega_0 of the capacity, and probes exceed it by epsilon.
    rates, lengths_s = rates_mbps(done, duration_s / 3)
    off = abs(rates / rate_mbps - 1)
    assert np.average(off <= EPSILON + OMEGA_0, weights=lengths_s) >= 0.8
    assert np.average(off <= EPSILON + OMEGA_0 + EPSILON, weights=lengths_s) >= 0.98
    # The latency term keeps the queue of one BDP unused, after slow start.
    assert done.summary()["links"][0]["drops_queue"] == 0


def test_a_rate_is_doubled_until_the_utility_falls() -> None:
    # Rates of 1.2 to 19.2 Mbit/s, the last above the 10 Mbit/s of the link; one every second round trip, because
    # results take one.
    intervals = alone(10.0, duration_s=3).take_intervals()
    tried = intervals.rate_bps[(intervals.tag != 0)][:5] / 1e6
    assert tried == pytest.approx([1.2, 2.4, 4.8, 9.6, 19.2])
    assert intervals.begin_ns[intervals.tag != 0][4] / 1e9 == pytest.approx(0.15 + 4 * 0.1, abs=0.1)
    after = intervals.rate_bps[intervals.begin_ns > intervals.time_ns[np.argmax(intervals.rate_bps)]][0] / 1e6
    assert after == pytest.approx(9.6)


@pytest.mark.parametrize(("rate_mbps", "rtt_s", "duration_s"), [(10.0, 0.2, 300.0), (100.0, 0.05, 120.0)])
def test_vivace_tolerates_random_loss_up_to_the_break_even_of_its_utility(
    rate_mbps: float, rtt_s: float, duration_s: float
) -> None:
    # 0.9 x^-0.1 = 11.35 p: 6.3 % at 10 Mbit/s, 5.0 % at 100. A gradient is estimated from about a hundred packets, so
    # the transition from full use to no use is wide; the formula gives its middle, half of the capacity.
    break_even = 0.9 * rate_mbps**-0.1 / 11.35
    used = {}
    for share in (0.25, 0.7, 1.5, 2.0):
        loss = share * break_even
        runs = [alone(rate_mbps, rtt_s=rtt_s, loss=loss, duration_s=duration_s, seed=seed) for seed in (1, 2, 3)]
        used[share] = mean([utilisation(done) for done in runs])
    assert used[0.25] >= 0.8
    assert used[0.7] >= 0.55
    assert used[1.5] <= 0.4
    assert used[2.0] <= 0.25


@pytest.mark.parametrize("count", [2, 3, 4])
def test_equal_vivace_flows_share_equally(count: int) -> None:
    indices = []
    for seed in (1, 2, 3):
        path = link("path", rate_bps=20e6, delay_s=0.025, queue_pkts=83)
        # One after the other: existing flows must reduce their rate for the next.
        flows = [tcp(f"flow{i}", "path", "vivace", start_s=5.0 * i) for i in range(count)]
        done = run(scenario([path], flows, duration_s=150, warmup_s=75, start_jitter_s=1.0), seed=seed)
        indices.append(jain_index(list(goodputs(done).values())))
        assert utilisation(done) >= 0.9
    assert min(indices) >= 0.9
    assert mean(indices) >= 0.95


def test_the_latency_term_keeps_a_deep_queue_short() -> None:
    # Eight BDP of buffer: without the term the rate grows until packets are lost, with a nearly full queue.
    with_it = alone(10.0, queue_bdp=8, duration_s=60).summary()["links"][0]
    without = alone(10.0, queue_bdp=8, duration_s=60, utility="loss").summary()["links"][0]
    bdp_pkts = 10e6 * 0.05 / WIRE_BITS
    assert with_it["mean_queue_pkts"] < 0.25 * bdp_pkts
    assert with_it["utilisation"] >= 0.9
    assert without["mean_queue_pkts"] > 3 * bdp_pkts


def test_falling_round_trip_times_in_the_utility_empty_the_queue() -> None:
    # In the paper's utility a falling RTT earns as much as a growing one costs.
    clamped = alone(10.0, queue_bdp=8, duration_s=60).summary()["links"][0]
    signed = alone(10.0, queue_bdp=8, duration_s=60, falling_rtt=True).summary()["links"][0]
    assert signed["utilisation"] >= 0.85
    assert signed["mean_queue_pkts"] <= 1.5 * clamped["mean_queue_pkts"]


def test_a_flow_follows_its_options() -> None:
    for options in (
        {"probing": "master"},
        {"amplifier": "code", "bound_step": 0.05},
        {"start_wait": "half"},
        {"noise_floor": 0.03},
        {"initial_rate": 5e6},
    ):
        assert utilisation(alone(10.0, duration_s=45, **options)) >= 0.9


def test_vivace_goes_on_after_an_outage_where_it_was() -> None:
    # The linux profile: delayed acknowledgements, loss detection by time, probes and timeouts. Three seconds of silence
    # cancel the current trial and do not change the rate.
    path = link("path", queue_pkts=84, delay_s=0.025)
    events = outage("path", 10.0, 13.0)
    flow = tcp("flow", "path", "vivace")
    done = run(scenario([path], [flow], duration_s=30, warmup_s=15, profile="linux", events=events))
    assert done.summary()["flows"][0]["subflows"][0]["timeouts"] == 0  # after the warm-up
    assert utilisation(done) >= 0.9
