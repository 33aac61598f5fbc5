"""CUBIC and Vegas against known results, under the `textbook` profile. tests/sim_core tests the arithmetic."""

from __future__ import annotations

import pytest
from tests.helpers.networks import column, goodputs, link, mptcp, run, scenario, tcp
from tests.helpers.statistics import agrees_with, mean

from subflow_sim.scenario_model import Choice


def mean_windows(controller: str, loss: float, *, duration_s: float, warmup_s: float, seeds: int = 5) -> list[float]:
    """Mean window in packets over time, at RTT 100 ms and limited only by random loss."""
    path = link("path", rate_bps=10e9, queue_pkts=None, loss=loss)
    a_scenario = scenario([path], [tcp("flow", "path", controller)], duration_s=duration_s, warmup_s=warmup_s)
    runs = [run(a_scenario, seed=seed) for seed in range(1, seeds + 1)]
    return [float(done.summary()["flows"][0]["subflows"][0]["mean_cwnd_pkts"]) for done in runs]


@pytest.mark.parametrize(
    ("loss", "duration_s"),
    [(1e-4, 600.0), pytest.param(1e-5, 250.0, marks=pytest.mark.full("windows of a thousand packets take seconds"))],
)
def test_cubic_window_under_bernoulli_loss_is_a_little_above_the_deterministic_one(
    loss: float, duration_s: float
) -> None:
    # RFC 9438 section 5.1: 1.054 (RTT / p)^(3/4) = 187 and 1054 packets; random loss adds 5 to 20 %.
    expected = (0.4 * 3.7 / 1.2) ** 0.25 * (0.1 / loss) ** 0.75
    windows = mean_windows("cubic", loss, duration_s=duration_s, warmup_s=100)
    assert agrees_with(windows, 1.05 * expected, 1.2 * expected)
    assert 1.0 <= mean(windows) / expected <= 1.25


def test_cubic_is_about_reno_where_losses_are_frequent() -> None:
    # p = 1 % at RTT 0.1 s: 12 packets in the Reno-friendly region, whereas the cubic curve would give 1.054 * 10^(3/4)
    # = 5.9. Random loss adds up to 20 %.
    windows = mean_windows("cubic", 1e-2, duration_s=300, warmup_s=20)
    assert 0.95 * 12 <= mean(windows) <= 1.2 * 12


def test_cubic_takes_about_three_times_what_reno_does() -> None:
    # 10 Mbit/s, RTT 100 ms, a buffer of one BDP: about 3 : 1.
    ratios = []
    flows = [tcp("cubic", "path", "cubic"), tcp("reno", "path")]
    both = scenario([link("path")], flows, duration_s=400, warmup_s=100, start_jitter_s=1.0)
    for seed in range(1, 6):
        rates = goodputs(run(both, seed=seed))
        ratios.append(rates["cubic"] / rates["reno"])
    assert 2.4 <= mean(ratios) <= 3.6


def slow_start_drops(hystart: str, *, queue_pkts: int) -> tuple[int, float]:
    """Packets lost to the queue in the first three seconds at a BDP of 83 packets, and the largest window."""
    flow = tcp("flow", "path", Choice("cubic", {"hystart": hystart}))
    done = run(scenario([link("path", queue_pkts=queue_pkts)], [flow], duration_s=3), sample_interval_s=0.01)
    return done.summary()["links"][0]["drops_queue"], float(column(done, "cwnd_pkts").max())


def test_linux_hystart_ends_slow_start_before_it_overflows_the_queue() -> None:
    # Without HyStart, slow start overshoots the 83 + 84 packets of path and queue and loses more than a BDP. An ACK
    # train of half the RTT is half a BDP: no packet is lost, and the window exceeds that size.
    assert slow_start_drops("off", queue_pkts=84)[0] > 83
    drops, largest = slow_start_drops("linux", queue_pkts=84)
    assert drops == 0
    assert largest > 42


def test_hystart_plus_plus_overshoots_less() -> None:
    # HyStart++ detects the increase of the RTT one round after the path is full, at twice the BDP, and then grows by
    # 5/4 per round: with a queue of two BDP, it loses less than half of the packets that doubling loses.
    assert 2 * slow_start_drops("rfc9406", queue_pkts=167)[0] < slow_start_drops("off", queue_pkts=167)[0]


def test_the_profile_decides_on_hystart_and_the_summary_says_so() -> None:
    for profile, hystart in (("linux", "linux"), ("textbook", "off")):
        flows = [tcp("one", "path", "cubic"), mptcp("two", ["path", "path"], Choice("uncoupled", {"base": "cubic"}))]
        done = run(scenario([link("path")], flows, duration_s=1, profile=profile))  # type: ignore[arg-type]
        for flow in done.summary()["flows"]:
            assert flow["controller_options"]["hystart"] == hystart


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_vegas_keeps_two_to_four_packets_per_flow_queued(count: int) -> None:
    # N flows: between 2N and 4N packets queued, plus the packet in service, which our figure counts. Full use, no loss.
    # The flows start within one round trip, so that all of them measure an empty path.
    flows = [tcp(f"flow{index}", "path", "vegas", start_s=0.0125 * index) for index in range(count)]
    forward = run(scenario([link("path")], flows, duration_s=200, warmup_s=60)).summary()["links"][0]
    assert 2 * count <= forward["mean_queue_pkts"] <= 4 * count + 1
    assert forward["utilisation"] >= 0.99
    assert forward["drops_queue"] == 0


def test_vegas_follows_its_options() -> None:
    # alpha 6, beta 8: 6 to 8 packets queued, plus the packet in service
    vegas = Choice("vegas", {"alpha": 6.0, "beta": 8.0})
    done = run(scenario([link("path")], [tcp("flow", "path", vegas)], duration_s=100, warmup_s=60))
    assert 6 <= done.summary()["links"][0]["mean_queue_pkts"] <= 9


@pytest.mark.parametrize("queue_pkts", [84, 167])
def test_vegas_gets_less_than_a_quarter_beside_reno(queue_pkts: int) -> None:
    # A buffer of one BDP or more: Reno fills it, Vegas reduces its window; about 8 % at one BDP.
    flows = [tcp("vegas", "path", "vegas"), tcp("reno", "path", start_s=0.3)]
    rates = goodputs(run(scenario([link("path", queue_pkts=queue_pkts)], flows, duration_s=400, warmup_s=100)))
    assert rates["vegas"] / (rates["vegas"] + rates["reno"]) < 0.25
