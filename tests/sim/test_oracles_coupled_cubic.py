"""Coupled CUBIC: the goals of RFC 6356 with CUBIC for TCP, under the `textbook` profile."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.networks import RED, decisions_of, goodputs, link, lossy, mptcp, run, scenario, tcp
from tests.helpers.statistics import mean

from subflow_sim.scenario_model import Choice, Link

SEEDS = (1, 2, 3, 4)
CUBIC = Choice("cubic", {"arithmetic": "rfc9438"})
UNCOUPLED = Choice("uncoupled", {"base": "cubic", "arithmetic": "rfc9438"})


def over_a_cubic(controller: str | Choice, path: Link, subflows: int = 2) -> float:
    """Its goodput divided by that of a CUBIC flow beside it on a path named "path"; mean over seeds."""
    flows = [mptcp("mp", ["path"] * subflows, controller), tcp("cubic", "path", CUBIC)]
    a_scenario = scenario([path], flows, duration_s=200, warmup_s=60, start_jitter_s=1.0)
    rates = [goodputs(run(a_scenario, seed=seed)) for seed in SEEDS]
    return mean([each["mp"] / each["cubic"] for each in rates])


def over_best_cubic(paths: list[Link], *, duration_s: float) -> tuple[float, list[float]]:
    """Goodput relative to one CUBIC flow on the best path, and the rates of the subflows; means over seeds."""
    names = [path.name for path in paths]
    together, alone, rates = [], [], []
    for seed in SEEDS:
        flow = mptcp("flow", names, "coupled-cubic")
        done = run(scenario(paths, [flow], duration_s=duration_s, warmup_s=50), seed=seed)
        together.append(goodputs(done)["flow"])
        rates.append([subflow["throughput_bps"] for subflow in done.summary()["flows"][0]["subflows"]])
        each = [scenario([path], [tcp("flow", path.name, CUBIC)], duration_s=duration_s, warmup_s=50) for path in paths]
        alone.append([goodputs(run(one, seed=seed))["flow"] for one in each])
    best = max(mean([values[index] for values in alone]) for index in range(len(paths)))
    return mean(together) / best, [mean([values[index] for values in rates]) for index in range(len(paths))]


@pytest.mark.parametrize(
    ("losses", "delays_s"),
    [((1e-3, 1e-3), (0.05, 0.05)), ((1e-4, 1e-4), (0.05, 0.05)), ((2e-4, 2e-4), (0.02, 0.1))],
)
def test_over_disjoint_paths_it_has_what_one_cubic_has_on_the_best(
    losses: tuple[float, float], delays_s: tuple[float, float]
) -> None:
    # Goal 1, and not more: 1 in the fluid model of regular losses. Reno's region, the cubic region, unequal RTTs.
    paths = [lossy(f"path{i}", p, delay_s=d) for i, (p, d) in enumerate(zip(losses, delays_s, strict=True))]
    ratio, _ = over_best_cubic(paths, duration_s=400)
    assert 0.9 <= ratio <= 1.25


def test_each_path_keeps_its_part_of_a_cubic() -> None:
    # Windows follow (RTT / p)^(3/4): four times the loss gives 4^-0.75 = 0.35; the bounds lie around 0.5 of Reno's
    # region and 0.35.
    _, (good, bad) = over_best_cubic([lossy("good", 1e-4), lossy("bad", 4e-4)], duration_s=600)
    assert 0.3 <= bad / good <= 0.55


@pytest.mark.parametrize("subflows", [2, 3])
def test_at_a_bottleneck_it_is_as_one_cubic_where_losses_do_not_come_in_step(subflows: int) -> None:
    assert 0.8 <= over_a_cubic("coupled-cubic", link("path", queue=RED), subflows) <= 1.35


def test_losses_in_step_favour_it_as_they_do_other_coupled_controllers() -> None:
    # 10 Mbit/s, 100 ms, a drop-tail queue of one BDP; uncoupled CUBICs take two shares.
    assert 0.9 <= over_a_cubic("coupled-cubic", link("path")) <= 1.7
    assert over_a_cubic(UNCOUPLED, link("path")) == pytest.approx(2, rel=0.15)


def test_with_one_subflow_it_is_cubic_to_the_bit() -> None:
    flows = [mptcp("flow", ["path"], choice) for choice in ("coupled-cubic", UNCOUPLED)]
    coupled, cubic = (scenario([link("path", loss=0.002)], [flow], duration_s=60) for flow in flows)
    windows = decisions_of(coupled, seed=3).cwnd_after_pkts
    np.testing.assert_array_equal(windows, decisions_of(cubic, seed=3).cwnd_after_pkts)


def test_it_says_its_share_and_the_curve_that_this_makes() -> None:
    paths = [link("one", queue_pkts=None, loss=0.001), link("two", queue_pkts=None, rate_bps=5e6)]
    decisions = decisions_of(scenario(paths, [mptcp("flow", ["one", "two"], "coupled-cubic")], duration_s=30))
    shares = [
        next(number.value for number in decisions.explain(int(row)).numbers if number.name == "share")
        for row in decisions.rows("flow/1")
        if decisions.rules[decisions.rule[row]].name.startswith("coupled_cubic")
    ]
    assert shares
    assert np.min(shares) >= 0.5
    assert np.max(shares) <= 1
