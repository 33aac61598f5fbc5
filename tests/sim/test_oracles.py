"""Closed forms of the literature against the simulator, under the `textbook` profile.

Each number is derived at its use; the tolerances cover effects that the fluid models omit.
"""

from __future__ import annotations

import math

import pytest
from tests.helpers.networks import column, goodputs, link, mptcp, run, scenario, tcp

from subflow_sim import load_scenario
from subflow_sim.scenario_model import Choice

SEEDS = range(1, 6)


@pytest.mark.parametrize(("loss", "c"), [(5e-4, 1.28), (1e-3, 1.27), (5e-3, 1.22), (1e-2, 1.19)])
def test_reno_window_under_bernoulli_loss_is_c_over_root_p(loss: float, c: float) -> None:
    # Mean window c / sqrt(p), c from packet rounds with one RTT of recovery; a correct simulator lands in
    # [-8 %, +5 %] for p <= 1e-2. 1 Gbit/s, RTT 100 ms, no queue: loss is the only limit.
    def mean_window(seed: int) -> float:
        path = link("path", rate_bps=1e9, queue_pkts=None, loss=loss)
        done = run(scenario([path], [tcp("reno", "path")], duration_s=1000, warmup_s=20), seed=seed)
        return float(done.summary()["flows"][0]["subflows"][0]["mean_cwnd_pkts"])

    mean = sum(mean_window(seed) for seed in SEEDS) / len(SEEDS)
    assert 0.92 <= mean * math.sqrt(loss) / c <= 1.05


@pytest.mark.parametrize("queue_pkts", [3, 7, 16, 24, 41, 61, 84])
def test_reno_utilisation_follows_the_buffer(queue_pkts: int) -> None:
    # U(b) = [(1-b)(3+b)/8 + b + b^2/2] / [(1-b)/2 + b + b^2/2] for b <= 1, else 1, within 1.5 %.
    # BDP = 10 Mbit/s * 0.1 s / 12 kbit = 83.33 packets. Our limit counts the packet in service: b = limit / BDP.
    b = min(queue_pkts / (10e6 * 0.1 / 12000), 1.0)
    expected = ((1 - b) * (3 + b) / 8 + b + b * b / 2) / ((1 - b) / 2 + b + b * b / 2)
    path = link("path", queue_pkts=queue_pkts)
    done = run(scenario([path], [tcp("reno", "path")], duration_s=600, warmup_s=100))
    utilisation = done.summary()["links"][0]["utilisation"]
    assert utilisation == pytest.approx(expected, rel=0.015)


def test_two_reno_flows_with_different_rtts_share_inversely_to_them() -> None:
    # Equal p, RTT 100 and 200 ms: rates 2 : 1. Bernoulli loss gives the equal p.
    paths = [
        link("near", rate_bps=1e9, queue_pkts=None, loss=2e-3, delay_s=0.05),
        link("far", rate_bps=1e9, queue_pkts=None, loss=2e-3, delay_s=0.1),
    ]
    near = far = 0.0
    both = scenario(paths, [tcp("a", "near"), tcp("b", "far")], duration_s=1000, warmup_s=50)
    for seed in SEEDS:
        rates = goodputs(run(both, seed=seed))
        near += rates["a"]
        far += rates["b"]
    assert near / far == pytest.approx(2.0, rel=0.05)


def test_two_reno_flows_share_a_bottleneck_evenly() -> None:
    # Same RTT: Jain's index above 0.98, although one flow started 20 s late.
    flows = [tcp("early", "path"), tcp("late", "path", start_s=20.0)]
    done = run(scenario([link("path")], flows, duration_s=600, warmup_s=100))
    assert done.summary()["fairness"]["jain"] > 0.98


def test_slow_start_doubles_the_window_every_round_trip() -> None:
    # w = 10 * 2^k after k round trips of 0.1 s, sampled in the middle of each; RTT and rate leave no queue
    path = link("path", rate_bps=10e9, queue_pkts=None)
    done = run(scenario([path], [tcp("flow", "path")], duration_s=0.6), sample_interval_s=0.05)
    middles = column(done, "cwnd_pkts")[2::2]  # 0.15 s, 0.25 s, ...
    assert middles[:5].tolist() == [20.0, 40.0, 80.0, 160.0, 320.0]


@pytest.mark.parametrize(("base", "least"), [("bbr3", 0.93), ("copa", 0.97), ("vivace", 0.9)])
def test_each_subflow_of_an_uncoupled_flow_fills_its_path(base: str, least: float) -> None:
    links = [link("near", rate_bps=20e6, delay_s=0.01), link("far", rate_bps=5e6, delay_s=0.06)]
    flow = mptcp("flow", ["near", "far"], Choice("uncoupled", {"base": base}))
    used = run(scenario(links, [flow], duration_s=65, warmup_s=20, profile="linux")).summary()["links"]
    assert min(each["utilisation"] for each in used if each["direction"] == "forward") >= least


def test_bbr_keeps_a_lossy_path_in_use_where_reno_gives_it_up() -> None:
    # The shipped scenario: 10 Mbit/s, 100 ms, 2 % loss. BBR: at least 0.9 C (1 - p) in payload, C = 10 Mbit/s of wire.
    # Reno: c / sqrt(p) = 1.15 / sqrt(0.02) = 8.1 packets by packet rounds; Linux counts the packets of delayed ACKs,
    # and its proportional rate reduction spreads the cut: up to 1.31 / sqrt(0.02) = 9.3, the continuous limit.

    bbr = reno = 0.0
    for seed in SEEDS:
        flows = run(load_scenario("bbr-loss"), seed=seed).summary()["flows"]
        bbr += flows[0]["goodput_bps"] / len(SEEDS)
        reno += flows[1]["subflows"][0]["mean_cwnd_pkts"] / len(SEEDS)
    assert 0.9 <= bbr / (10e6 * 1448 / 1500 * 0.98) <= 1
    assert 7.5 <= reno <= 9.5
