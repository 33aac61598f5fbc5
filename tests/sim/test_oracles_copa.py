"""Copa against its paper (Arun, Balakrishnan, NSDI 2018): its queue, its share, its competitive mode."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.networks import decisions_of, goodputs, link, run, scenario, tcp
from tests.helpers.statistics import mean

from subflow_sim import Decisions
from subflow_sim.scenario_model import Choice, Event, Profile
from subflow_sim.stats import jain_index

SEEDS = (1, 2, 3)
DEFAULT_MODE = Choice("copa", {"competitive": False})


def numbers_at(decisions: Decisions, row: int) -> dict[str, float]:
    return {number.name: number.value for number in decisions.explain(int(row)).numbers}


@pytest.mark.parametrize(
    ("rate_bps", "delay_s"), [(10e6, 0.05), (10e6, 0.01), (100e6, 0.02), (100e6, 0.005), (2e6, 0.1)]
)
def test_alone_it_fills_the_link_with_two_and_a_half_packets_in_queue(rate_bps: float, delay_s: float) -> None:
    # Section 3: the queue varies between empty and 2.5 / delta: 2.5 packets on average with delta = 0.5, without the
    # packet in service.
    path = link("path", rate_bps=rate_bps, delay_s=delay_s, queue_pkts=400)
    done = run(scenario([path], [tcp("flow", "path", "copa")], duration_s=65, warmup_s=5))
    assert done.summary()["links"][0]["utilisation"] >= 0.99
    assert 2.0 <= done.summary()["links"][0]["mean_queue_pkts"] - 1 <= 3.0
    assert done.summary()["links"][0]["drops_queue"] == 0


@pytest.mark.parametrize("delta", [0.1, 0.25])
def test_the_queue_is_as_one_over_delta(delta: float) -> None:
    flow = tcp("flow", "path", Choice("copa", {"delta": delta}))
    done = run(scenario([link("path")], [flow], duration_s=65, warmup_s=5))
    assert done.summary()["links"][0]["mean_queue_pkts"] - 1 == pytest.approx(1.25 / delta, rel=0.2)


# With delayed ACKs, many flows may take their own queue for that of a competitor: 6 flows share in all of 9 delays from
# 10 to 50 ms, 8 flows in 8 of them, 10 flows in 7.
@pytest.mark.parametrize(("profile", "flows"), [("textbook", 2), ("textbook", 8), ("linux", 2), ("linux", 6)])
def test_copas_share_equally_and_each_keeps_its_packets_in_queue(profile: Profile, flows: int) -> None:
    path = link("path", rate_bps=20e6, delay_s=0.025)
    many = [tcp(f"flow{i}", "path", DEFAULT_MODE, start_s=0.3 * i) for i in range(flows)]
    for seed in SEEDS[:2]:
        done = run(scenario([path], many, duration_s=60, warmup_s=20, profile=profile), seed=seed)
        assert jain_index(list(goodputs(done).values())) >= 0.98
        assert done.summary()["links"][0]["utilisation"] >= 0.99
        assert 2.0 <= done.summary()["links"][0]["mean_queue_pkts"] / flows <= 3.6


def test_its_rate_is_that_of_the_target_on_the_average() -> None:
    # Section 2.1: rate = 1 / (delta d_q) at the equilibrium, where the window changes direction.
    decisions = decisions_of(scenario([link("path")], [tcp("flow", "path", "copa")], duration_s=40))
    names = [rule.name for rule in decisions.rules]
    rows = [row for row in decisions.rows("flow/1") if decisions.time_ns[row] > 10e9]
    downs = [names[decisions.rule[row]] == "copa_down" for row in rows]
    turns = [
        row for row, is_down, was_down in zip(rows[1:], downs[1:], downs, strict=False) if is_down and not was_down
    ]
    assert len(turns) >= 30
    for row in turns:
        told = numbers_at(decisions, row)
        assert told["target_rate"] == pytest.approx(1 / (told["delta"] * told["queueing"]))
        # One packet more in the queue separates below and above.
        assert told["delta"] * told["queueing"] * told["rate"] == pytest.approx(1, rel=0.6)


def test_the_velocity_doubles_to_find_ten_times_the_rate() -> None:
    # 300 packets in steps of 2 per round trip take 150 round trips; three steady ones and then 2, 4, 8, ... take
    # eleven.
    events = [Event(20.0, link="path", direction="forward", rate_bps=100e6)]
    path = link("path", delay_s=0.02, queue_pkts=400)
    decisions = decisions_of(scenario([path], [tcp("flow", "path", "copa")], duration_s=22, events=events))
    rows = decisions.rows("flow/1")
    found = rows[(decisions.time_ns[rows] > 20e9) & (decisions.cwnd_after_pkts[rows] >= 330)]
    assert (decisions.time_ns[found[0]] / 1e9 - 20) / 0.04 <= 16


@pytest.mark.parametrize("queue_pkts", [84, 336])
def test_beside_newreno_it_competes_and_in_default_mode_it_gives_way(queue_pkts: int) -> None:
    def share(choice: Choice) -> float:
        shares = []
        for seed in SEEDS:
            flows = [tcp("copa", "path", choice), tcp("reno", "path", start_s=0.1)]
            path = link("path", queue_pkts=queue_pkts)
            rates = goodputs(run(scenario([path], flows, duration_s=120, warmup_s=20, profile="linux"), seed=seed))
            shares.append(rates["copa"] / sum(rates.values()))
        return mean(shares)

    assert 0.35 <= share(Choice("copa")) <= 0.65
    assert share(DEFAULT_MODE) <= 0.12


def test_competitive_mode_is_newrenos_way_with_one_over_delta() -> None:
    flows = [tcp("copa", "path", "copa"), tcp("reno", "path", start_s=0.1)]
    decisions = decisions_of(scenario([link("path")], flows, duration_s=60))
    told = [numbers_at(decisions, row) for row in decisions.rows("copa/1")[::50]]
    deltas = [each["delta"] for each in told if each.get("is_competitive") == 1]
    # It starts at 2 packets, grows by one per round trip, and is halved by losses.
    packets = 1 / np.array(deltas)
    assert packets.min() >= 2
    assert packets.max() > 6
    # Its own queue is nearly empty once in five round trips, after the queue of slow start has drained.
    alone = decisions_of(scenario([link("path")], [tcp("copa", "path", "copa")], duration_s=30))
    rows = [row for row in alone.rows("copa/1")[::20] if alone.time_ns[row] > 6e9]
    assert mean([numbers_at(alone, row).get("is_competitive", 0) for row in rows]) <= 0.03


def test_random_loss_costs_what_is_lost() -> None:
    done = run(scenario([link("path", loss=0.05)], [tcp("flow", "path", "copa")], duration_s=65, warmup_s=5))
    assert goodputs(done)["flow"] >= 0.97 * 10e6 * 1448 / 1500 * 0.95
