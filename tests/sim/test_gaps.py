"""Gaps of curves: the state of a sender ends with its flow, and the RTT has a gap during an outage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.networks import column, link, mptcp, run, scenario, tcp

from subflow_sim import Simulation, load_scenario
from subflow_sim.scenario_model import Event

NUMBERS = Path(__file__).parents[1] / "helpers" / "numbers.toml"
STATES = ("cwnd_pkts", "ssthresh_pkts", "srtt_s", "min_rtt_s", "inflight_pkts", "pacing_rate_bps")
ALWAYS = ("cwnd_pkts", "min_rtt_s", "inflight_pkts")  # without gaps while a sender lives; the others may have gaps


@pytest.fixture(scope="module")
def numbers() -> Simulation:
    simulation = Simulation(load_scenario(NUMBERS))
    simulation.run_until(simulation.duration_s)
    return simulation


def samples(simulation: Simulation, owner: str, name: str) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    values = column(simulation, name, owner)
    return simulation.sample_interval_s * np.arange(1, len(values) + 1, dtype=np.float64), values


def known(simulation: Simulation, owner: str, name: str) -> NDArray[np.float64]:
    times, values = samples(simulation, owner, name)
    return times[np.isfinite(values)]


def test_states_of_a_sender_begin_and_end_with_its_flow(numbers: Simulation) -> None:
    flows = {flow["name"]: flow for flow in numbers.summary()["flows"]}
    ends_s = {"late": 33.0, "short": flows["short"]["start_s"] + flows["short"]["completion_s"]}
    for name, end_s in ends_s.items():
        start_s = flows[name]["start_s"]
        for state in STATES:
            times = known(numbers, f"{name}/1", state)
            assert np.all(times > start_s)
            # Packets sent before the stop of "late" arrive within its RTT of at most 0.3 s.
            assert np.all(times < end_s + (0.3 if name == "late" else 0.0))
        for state in ALWAYS:
            times = known(numbers, f"{name}/1", state)
            assert times[0] < start_s + 0.75  # two round trips: of the handshake, and of the first data
            assert times[-1] > end_s - 0.15
            assert np.allclose(np.diff(times), 0.1)


def test_rates_of_a_flow_that_is_over_are_zero(numbers: Simulation) -> None:
    times, values = samples(numbers, "short/1", "throughput_bps")
    assert not np.isnan(values).any()
    assert not values[times > 35].any()


def test_the_rtt_has_a_gap_through_an_outage_and_the_window_has_none(numbers: Simulation) -> None:
    # Link b is down from 22 to 25 s. The last RTT before is below 0.5 s, so is the RTO (srtt + max(4 rttvar, 0.2 s)).
    times, rtts = samples(numbers, "m/2", "srtt_s")
    out = times[np.isnan(rtts) & (times > 10)]
    assert 22.2 < out[0] < 23.2
    assert 24.9 < out[-1] < 27
    assert np.allclose(np.diff(out), 0.1)
    assert np.isfinite(samples(numbers, "m/2", "cwnd_pkts")[1][100:]).all()
    assert np.isfinite(samples(numbers, "m/1", "srtt_s")[1][100:]).all()


def test_a_flow_that_sends_has_no_gaps_however_often_it_is_sampled() -> None:
    path = link("path", rate_bps=1e6, delay_s=0.1)
    simulation = Simulation(
        scenario([path], [tcp("t", "path")], duration_s=8, profile="linux"), sample_interval_s=0.001
    )
    simulation.run_until(8)
    # 12 ms between two packets, so that most intervals are without a sample.
    times = known(simulation, "t/1", "srtt_s")
    assert np.allclose(np.diff(times), 0.001)


def test_a_closed_subflow_has_no_state_until_it_opens_again() -> None:
    events = (Event(at_s=3, flow="d", subflow=2, open=False), Event(at_s=6, flow="d", subflow=2, open=True))
    paths = [link("a"), link("b", delay_s=0.02)]
    simulation = Simulation(scenario(paths, [mptcp("d", ["a", "b"])], duration_s=10, events=events, profile="linux"))
    simulation.run_until(10)
    for state in ALWAYS:
        times = known(simulation, "d/2", state)
        assert not np.any((times > 3.05) & (times < 6))
        assert np.any(times < 3)
        assert times[-1] == pytest.approx(10)


def test_the_instant_agrees_with_the_samples() -> None:
    simulation = Simulation(load_scenario(NUMBERS))
    for at_s in (10.0, 24.0, 39.0):
        simulation.run_until(at_s)
        now = simulation.inspect().subflows
        owners = [c.owner for c in simulation.columns if c.name == "cwnd_pkts"]
        for place, owner in enumerate(owners):
            for state in STATES:
                sampled = column(simulation, state, owner)[-1]
                assert getattr(now, state)[place] == pytest.approx(sampled, rel=1e-6, nan_ok=True), (owner, state)


def test_the_mean_window_while_active_is_that_of_the_samples(numbers: Simulation) -> None:
    """The integral of the window and the mean of 327, 178 and about 40 samples agree to a few percent."""
    for flow in numbers.summary()["flows"]:
        for number, subflow in enumerate(flow["subflows"], start=1):
            times, values = samples(numbers, f"{flow['name']}/{number}", "cwnd_pkts")
            sampled = values[(times > 7.3 + 1e-9) & np.isfinite(values)].mean()
            assert subflow["active_mean_cwnd_pkts"] == pytest.approx(sampled, rel=0.04)


def test_the_mean_window_while_active_ends_with_the_flow() -> None:
    """A transfer in one window: cwnd stays at 10 until the handshake and the flight end, also in the mean."""
    path = link("path", queue_pkts=None)
    done = run(scenario([path], [tcp("t", "path", size_bytes=1448)], duration_s=10))
    assert done.summary()["flows"][0]["subflows"][0]["active_mean_cwnd_pkts"] == pytest.approx(10, rel=0.1)
    late = run(scenario([path], [tcp("t", "path", size_bytes=1448)], duration_s=10, warmup_s=5))
    assert late.summary()["flows"][0]["subflows"][0]["active_mean_cwnd_pkts"] is None


def test_timeouts_of_a_dead_path_after_the_end_do_not_count() -> None:
    """Path b dies at 2 s with packets in flight; the flow ends on path a, and the timer of b keeps expiring."""
    dead = (Event(at_s=2, link="b", up=False),)
    paths = [link("a", rate_bps=10e6), link("b", rate_bps=10e6)]

    def mean(duration_s: float, step_s: float) -> float:
        flows = [mptcp("d", ["a", "b"], size_bytes=4_000_000)]
        simulation = Simulation(scenario(paths, flows, duration_s=duration_s, events=dead, profile="linux"))
        at_s = 0.0
        while at_s < duration_s:  # the same in slices of any length
            at_s = min(at_s + step_s, duration_s)
            simulation.run_until(at_s)
        flow = simulation.summary()["flows"][0]
        assert flow["completion_s"] < duration_s
        assert flow["subflows"][1]["timeouts"] > 0
        return float(flow["subflows"][1]["active_mean_cwnd_pkts"])

    assert mean(60, 60) == mean(60, 0.05) == mean(30, 1)
