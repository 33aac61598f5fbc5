"""Coupled CUBIC: the goals of RFC 6356 with CUBIC for TCP, under the `textbook` profile."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.networks import goodputs, link, mptcp, run, scenario, tcp
from tests.helpers.statistics import mean

from subflow_sim import DecisionLimits, Simulation
from subflow_sim.scenario_model import Choice, Link, QueueSpec

SEEDS = (1, 2, 3, 4)
CUBIC = Choice("cubic", {"arithmetic": "rfc9438"})
RED = QueueSpec(
    "red",
    limit_pkts=200,
    options={"mode": "instantaneous", "min": 25.0, "max": 50.0, "max_p": 0.1, "gentle": True, "weight": 1.0},
)


def lossy(name: str, loss: float, *, delay_s: float = 0.05) -> Link:
    return link(name, rate_bps=1e9, queue_pkts=None, loss=loss, delay_s=delay_s)


def over_best_cubic(paths: list[Link], *, duration_s: float) -> tuple[float, list[float]]:
    """Its goodput of that of CUBIC on the best path alone, and the rates of its subflows; means over seeds."""
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
    # Goal 1 and no more than that: 1 in the fluid model of regular losses. Reno's region, the cubic one, unequal RTTs.
    paths = [lossy(f"path{i}", p, delay_s=d) for i, (p, d) in enumerate(zip(losses, delays_s, strict=True))]
    ratio, _ = over_best_cubic(paths, duration_s=400)
    assert 0.9 <= ratio <= 1.25


def test_each_path_keeps_its_part_of_a_cubic() -> None:
    # Windows as (RTT / p)^(3/4): four times the loss leaves 4^-0.75 = 0.35, between 0.5 of Reno's region and that.
    _, (good, bad) = over_best_cubic([lossy("good", 1e-4), lossy("bad", 4e-4)], duration_s=600)
    assert 0.3 <= bad / good <= 0.55


@pytest.mark.parametrize("subflows", [2, 3])
def test_at_a_bottleneck_it_is_as_one_cubic_where_losses_do_not_come_in_step(subflows: int) -> None:
    ratios = []
    for seed in SEEDS:
        flows = [mptcp("mp", ["path"] * subflows, "coupled-cubic"), tcp("cubic", "path", CUBIC)]
        a_scenario = scenario([link("path", queue=RED)], flows, duration_s=200, warmup_s=60, start_jitter_s=1.0)
        rates = goodputs(run(a_scenario, seed=seed))
        ratios.append(rates["mp"] / rates["cubic"])
    assert 0.8 <= mean(ratios) <= 1.35


def test_losses_in_step_favour_it_as_they_do_other_coupled_controllers() -> None:
    # 10 Mbit/s, 100 ms, a BDP of drop-tail queue; uncoupled CUBICs take two shares.
    ratios: dict[str, list[float]] = {"coupled-cubic": [], "uncoupled": []}
    for name, choice in {
        "coupled-cubic": Choice("coupled-cubic"),
        "uncoupled": Choice("uncoupled", {"base": "cubic", "arithmetic": "rfc9438"}),
    }.items():
        for seed in SEEDS:
            flows = [mptcp("mp", ["path", "path"], choice), tcp("cubic", "path", CUBIC)]
            a_scenario = scenario([link("path")], flows, duration_s=200, warmup_s=60, start_jitter_s=1.0)
            rates = goodputs(run(a_scenario, seed=seed))
            ratios[name].append(rates["mp"] / rates["cubic"])
    assert 0.9 <= mean(ratios["coupled-cubic"]) <= 1.7
    assert mean(ratios["uncoupled"]) == pytest.approx(2, rel=0.15)


def test_with_one_subflow_it_is_cubic_to_the_bit() -> None:
    def windows(flow: str) -> list[float]:
        path = link("path", loss=0.002)
        flows = {
            "coupled": mptcp("flow", ["path"], "coupled-cubic"),
            "cubic": mptcp("flow", ["path"], Choice("uncoupled", {"base": "cubic", "arithmetic": "rfc9438"})),
        }
        a_scenario = scenario([path], [flows[flow]], duration_s=60)
        simulation = Simulation(a_scenario, seed=3, decisions=DecisionLimits(capacity=200_000))
        simulation.run_until(60.0)
        return [float(value) for value in simulation.take_decisions().cwnd_after_pkts]

    assert windows("coupled") == windows("cubic")


def test_it_says_its_share_and_the_curve_that_this_makes() -> None:
    paths = [link("one", queue_pkts=None, loss=0.001), link("two", queue_pkts=None, rate_bps=5e6)]
    simulation = Simulation(
        scenario(paths, [mptcp("flow", ["one", "two"], "coupled-cubic")], duration_s=30),
        decisions=DecisionLimits(capacity=200_000),
    )
    simulation.run_until(30.0)
    decisions = simulation.take_decisions()
    shares = [
        next(number.value for number in decisions.explain(int(row)).numbers if number.name == "share")
        for row in decisions.rows("flow/1")
        if decisions.rules[decisions.rule[row]].name.startswith("coupled_cubic")
    ]
    assert shares
    assert np.min(shares) >= 0.5
    assert np.max(shares) <= 1
