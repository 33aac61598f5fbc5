"""BBR version 3 on simulated paths against its draft; tests/sim_core/test_bbr3_draft.cpp checks its arithmetic."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest
from tests.helpers.networks import decisions_of, goodputs, link, run, scenario, tcp
from tests.helpers.statistics import mean

from subflow_sim.scenario_model import Choice, Event, Profile

SEEDS = (1, 2, 3)


def share_of(controller: str | Choice, *, loss: float = 0.0, queue_pkts: int = 84, duration_s: float = 65.0) -> float:
    """Goodput on 10 Mbit/s and 100 ms without competition, as a share of the capacity that remains after losses."""
    path = link("path", loss=loss, queue_pkts=queue_pkts)
    done = run(scenario([path], [tcp("flow", "path", controller)], duration_s=duration_s, warmup_s=5))
    return goodputs(done)["flow"] / (10e6 * 1448 / 1500 * (1 - loss))


def beside_cubic(controller: str, queue_pkts: int) -> float:
    """Share of a flow beside CUBIC in their total on 10 Mbit/s and 100 ms, under Linux's transport."""
    shares = []
    for seed in SEEDS:
        flows = [tcp("it", "path", controller), tcp("cubic", "path", "cubic", start_s=0.1)]
        path = link("path", queue_pkts=queue_pkts)
        done = run(scenario([path], flows, duration_s=120, warmup_s=20, profile="linux"), seed=seed)
        goodput = goodputs(done)
        shares.append(goodput["it"] / sum(goodput.values()))
    return mean(shares)


def states_of(queue_pkts: int | None, duration_s: float) -> list[tuple[str, float]]:
    """The rules of a single flow on 10 Mbit/s and 100 ms in order, each with its start in seconds."""
    path = link("path", queue_pkts=queue_pkts)
    decisions = decisions_of(scenario([path], [tcp("flow", "path", "bbr3")], duration_s=duration_s))
    rows = decisions.rows("flow/1")
    told = [(decisions.rules[decisions.rule[row]].name, decisions.time_ns[row] / 1e9) for row in rows]
    return [next(rows) for _, rows in groupby(told, key=lambda row: row[0])]


@pytest.mark.parametrize("profile", ["textbook", "linux"])
@pytest.mark.parametrize(("rate_bps", "delay_s"), [(10e6, 0.05), (10e6, 0.01), (100e6, 0.005), (2e6, 0.1)])
def test_alone_it_fills_the_pipe_with_a_short_queue(rate_bps: float, delay_s: float, profile: Profile) -> None:
    # Probe RTT costs 2 % (draft section 5.3.4.2) and pacing 1 % below the rate another. A probe adds a quarter of the
    # BDP per round trip for three round trips, and the drain takes as long. With one probe of 0.2 s in 2 to 3 s, that
    # is at most 0.75 BDP, and less than a fifth of a BDP on average.
    path = link("path", rate_bps=rate_bps, delay_s=delay_s, queue_pkts=400)
    done = run(scenario([path], [tcp("flow", "path", "bbr3")], duration_s=65, warmup_s=5, profile=profile))
    link_result = done.summary()["links"][0]
    assert link_result["utilisation"] >= 0.95
    assert link_result["mean_queue_pkts"] <= 0.2 * rate_bps * 2 * delay_s / 12_000 + 3
    assert link_result["drops_queue"] == 0


def test_states_come_in_the_order_of_the_draft_and_probes_of_the_rtt_each_five_seconds() -> None:
    states = states_of(None, 31.0)
    names = [name for name, _ in states]
    # after drain, the state is "down" at once
    assert names[:4] == ["initial_window", "bbr3_startup", "bbr3_drain", "bbr3_cruise"]
    follows = {pair for pair in pairwise(names[3:]) if "bbr3_probe_rtt" not in pair}
    # A refill that changes neither window nor rate is not recorded as a decision.
    after = {"down": ("cruise", "refill"), "cruise": ("refill", "up"), "refill": ("up",), "up": ("down",)}
    assert follows <= {(f"bbr3_{one}", f"bbr3_{other}") for one, others in after.items() for other in others}
    # Each state lasts until half of a BDP is in flight, at least 200 ms and a round trip; then the flow cruises.
    visits = [at for name, at in states if name == "bbr3_probe_rtt"]
    assert len(visits) == 5
    assert np.diff(visits) == pytest.approx(5.3, abs=0.2)
    assert all(after == "bbr3_cruise" for name, after in pairwise(names) if name == "bbr3_probe_rtt")
    # One probe of the rate in 2 to 3 s of cruising, drain and probe.
    probes = [at for name, at in states if name == "bbr3_up"]
    assert 6 <= len(probes) <= 14


def test_losses_of_a_short_queue_end_startup_and_bound_what_is_in_flight() -> None:
    names = [name for name, _ in states_of(10, 12.0)]
    assert names.index("bbr3_startup_loss") < names.index("bbr3_refill")
    assert "bbr3_inflight_too_high" in names[names.index("bbr3_up") :]
    # The bound prevents overflow: version 1 overflows the queue with each probe.
    dropped = {}
    for controller in ("bbr", "bbr3"):
        path = link("path", queue_pkts=20)
        done = run(scenario([path], [tcp("flow", "path", controller)], duration_s=65, warmup_s=5))
        assert done.summary()["links"][0]["utilisation"] >= 0.95
        dropped[controller] = done.summary()["links"][0]["drops_queue"]
    assert dropped["bbr3"] <= 0.6 * dropped["bbr"]


def test_the_threshold_is_what_it_stands_of_random_loss() -> None:
    # Section 5.3.3.5.3: it keeps its rate at about 1 % of loss per round trip; above this threshold, probes treat
    # losses as too much data in flight. Version 1 ignores losses.
    assert share_of("bbr3", loss=0.001) >= 0.93
    assert share_of("bbr3", loss=0.01) >= 0.7
    assert share_of("bbr3", loss=0.05) <= 0.3
    assert share_of("bbr", loss=0.05) >= 0.9
    assert share_of(Choice("bbr3", {"loss_threshold": 0.2}), loss=0.05) >= 2 * share_of("bbr3", loss=0.05)


def test_beside_cubic_it_takes_a_share_and_version_1_the_link() -> None:
    assert 0.4 <= beside_cubic("bbr3", 84) <= 0.65
    assert beside_cubic("bbr", 84) >= 0.8
    assert 0.35 <= beside_cubic("bbr3", 336) <= 0.55


@pytest.mark.parametrize("second_starts_s", [0.3, 20.0])
def test_two_flows_converge_with_less_than_two_bdp_in_flight(second_starts_s: float) -> None:
    # The bound is the window: two BDP in flight, one BDP of it in the queue.
    path = link("path", rate_bps=20e6, delay_s=0.02, queue_pkts=200)
    flows = [tcp("first", "path", "bbr3"), tcp("second", "path", "bbr3", start_s=second_starts_s)]
    for seed in SEEDS:
        done = run(scenario([path], flows, duration_s=90, warmup_s=60), seed=seed)
        goodput = goodputs(done)
        assert max(goodput.values()) <= 1.35 * min(goodput.values())
        assert done.summary()["links"][0]["utilisation"] >= 0.95
        assert done.summary()["links"][0]["mean_queue_pkts"] <= 20e6 * 0.04 / 12_000 + 8


def test_it_finds_ten_times_the_rate_and_forgets_it_within_two_cycles() -> None:
    # The draft's appendix: the bound on data in flight grows by 1, 2, 4, ... packets per round trip; the maximum rate
    # covers two cycles of at most 3.5 s each.
    events = [
        Event(20.0, link="path", direction="forward", rate_bps=100e6),
        Event(50.0, link="path", direction="forward", rate_bps=10e6),
    ]
    path = link("path", delay_s=0.02, queue_pkts=100)
    a_scenario = scenario([path], [tcp("flow", "path", "bbr3")], duration_s=80, events=events)
    decisions = decisions_of(a_scenario, capacity=2_000_000)
    rows = decisions.rows("flow/1")
    at_s, paced = decisions.time_ns[rows] / 1e9, decisions.rate_after_bps[rows]
    assert paced[(at_s > 35) & (at_s < 50)].max() >= 95e6
    # The rate of a probe, 1.25 times the estimate
    assert paced[at_s > 65].max() == pytest.approx(1.25 * 0.99 * 10e6, rel=0.05)
