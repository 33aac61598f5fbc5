"""Closed forms of the literature against the simulator, under the `textbook` profile.

Each number is derived where it is used; the tolerances cover what the fluid models leave out.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.helpers.networks import goodputs, link, mptcp, run, scenario, tcp

from subflow_sim import load_scenario

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
    for seed in SEEDS:
        rates = goodputs(
            run(scenario(paths, [tcp("a", "near"), tcp("b", "far")], duration_s=1000, warmup_s=50), seed=seed)
        )
        near += rates["a"]
        far += rates["b"]
    assert near / far == pytest.approx(2.0, rel=0.05)


def test_lia_splits_inversely_to_loss_and_takes_what_reno_takes_on_the_best_path() -> None:
    # w_r ~ 1/p_r at equal RTT: shares 2/3 and 1/3 for p = (0.02 %, 0.04 %), where w >= 20: within 6 %.
    # The sum is one TCP on the best path: within [-12 %, +10 %] of a simulated Reno.
    lossy = [
        link("good", rate_bps=1e9, queue_pkts=None, loss=2e-4),
        link("bad", rate_bps=1e9, queue_pkts=None, loss=4e-4),
    ]
    good = bad = reno = 0.0
    for seed in SEEDS:
        done = run(scenario(lossy, [mptcp("lia", ["good", "bad"])], duration_s=2000, warmup_s=50), seed=seed)
        subflows = done.summary()["flows"][0]["subflows"]
        good += subflows[0]["throughput_bps"]
        bad += subflows[1]["throughput_bps"]
        alone = run(scenario(lossy[:1], [tcp("reno", "good")], duration_s=2000, warmup_s=50), seed=seed)
        reno += alone.summary()["flows"][0]["subflows"][0]["throughput_bps"]
    assert good / (good + bad) == pytest.approx(2 / 3, rel=0.06)
    assert 0.88 <= (good + bad) / reno <= 1.10


def test_lia_takes_about_one_share_of_a_shared_bottleneck_and_uncoupled_two() -> None:
    # Fluid: 1:1 for LIA; drop-tail synchronisation allows [0.9, 1.5] for two subflows. Uncoupled: 2:1 within 5 %.
    def ratio(controller: str) -> float:
        flows = [mptcp("mp", ["path", "path"], controller), tcp("reno", "path", start_s=0.3)]
        rates = goodputs(run(scenario([link("path")], flows, duration_s=600, warmup_s=100)))
        return rates["mp"] / rates["reno"]

    assert 0.9 <= ratio("lia") <= 1.5
    assert ratio("uncoupled") == pytest.approx(2.0, rel=0.05)


def test_lia_leaves_single_path_flows_on_both_links_their_third() -> None:
    # T-10b: two links of 5 Mbit/s, a Reno on each. LIA: all three near 10/3 Mbit/s of the wire, 3.22 of payload
    # ; uncoupled: 5, 2.5, 2.5 of the wire, 4.83, 2.41, 2.41 of payload.
    links = [link(name, rate_bps=5e6, delay_s=0.06, queue_pkts=50) for name in ("top", "bottom")]

    def rates(controller: str) -> list[float]:
        sums = [0.0, 0.0, 0.0]
        for seed in (1, 2, 3):
            flows = [
                mptcp("mp", ["top", "bottom"], controller),
                tcp("one", "top", start_s=0.31 + 0.1 * seed),
                tcp("two", "bottom", start_s=0.62 + 0.1 * seed),
            ]
            done = goodputs(run(scenario(links, flows, duration_s=300, warmup_s=50), seed=seed))
            sums = [total + rate / 3e6 for total, rate in zip(sums, done.values(), strict=True)]
        return sums

    assert rates("uncoupled") == pytest.approx([4.83, 2.41, 2.41], rel=0.05)
    # Drop-tail favours LIA a little, as at the shared bottleneck.
    assert rates("lia") == pytest.approx([3.22, 3.22, 3.22], rel=0.15)


def test_bbr_keeps_a_lossy_path_in_use_where_reno_gives_it_up() -> None:
    # The shipped scenario: 10 Mbit/s, 100 ms, 2 % loss. BBR: at least 0.9 C (1 - p) in payload, C = 10 Mbit/s of wire.
    # Reno: c / sqrt(p) = 1.15 / sqrt(0.02) = 8.1 packets by packet rounds; Linux counts the packets of delayed ACKs,
    # and its proportional rate reduction spreads the cut: up to 1.31 / sqrt(0.02) = 9.3, the continuous limit.
    file = Path(__file__).parents[2] / "assets" / "scenarios" / "bbr-loss.toml"
    bbr = reno = 0.0
    for seed in SEEDS:
        flows = run(load_scenario(file), seed=seed).summary()["flows"]
        bbr += flows[0]["goodput_bps"] / len(SEEDS)
        reno += flows[1]["subflows"][0]["mean_cwnd_pkts"] / len(SEEDS)
    assert 0.9 <= bbr / (10e6 * 1448 / 1500 * 0.98) <= 1
    assert 7.5 <= reno <= 9.5
