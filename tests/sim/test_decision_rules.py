"""Every controller and scheduler records reasons by its listed rules, and their numbers give the resulting window."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.combinations import SMALL_NETWORKS, multipath_choices, scheduler_choices, single_path_choices, storm
from tests.helpers.members import for_each
from tests.helpers.networks import MINRTT, decisions_of, link, mptcp, scenario, tcp

from subflow_sim import DecisionLimits, Decisions, Simulation, controllers, schedulers
from subflow_sim.decisions import CAUSES, rules
from subflow_sim.params import Algorithm
from subflow_sim.scenario_model import Choice, Event, Flow
from subflow_sim.whole_scenario import Scenario

Floats = NDArray[np.float64]

# Rules of the sender, which act beside every controller
SENDER_RULES = {
    *("initial_window", "recovery_exit", "probe_repaired", "sack_recovery", "proportional_rate_reduction"),
    *("retransmission_timeout", "undo", "unused_window", "idle_restart", "new_controller", "penalised", "marked"),
    "reduction_end",
}
# Rules of connections, with any scheduler
CHOICELESS_RULES = {"only_available", "none_available", "opportunistic_retransmission", "meta_timeout"}

CONTROLLERS = single_path_choices() | multipath_choices()
COUPLED = multipath_choices()


def flow_of(choice: Choice, *paths: str) -> Flow:
    """A flow of this controller: over all paths if it is coupled, otherwise over the first."""
    if choice in COUPLED.values():
        return mptcp("flow", paths, choice)
    return tcp("flow", paths[0], choice)


def dark_hours(choice: Choice, _: Choice) -> Scenario:
    """Enough loss for timeouts, small queues and an outage of both links. An ACK per packet, no PRR, no HyStart."""
    links = [link("one", loss=0.03, queue_pkts=15), link("two", rate_bps=3e6, delay_s=0.01, loss=0.01)]
    flow = flow_of(choice, "one", "two")
    outage = [
        Event(at, link=name, direction="forward", up=up)
        for (name,) in flow.paths
        for at, up in ((6.0, False), (8.0, True))
    ]
    return scenario(links, [flow], duration_s=12, events=outage)


NETWORKS = [*SMALL_NETWORKS.values(), dark_hours]


def names_of(decisions: Decisions, owner: str) -> set[str]:
    return {decisions.rules[i].name for i in np.unique(decisions.rule[decisions.rows(owner)])}


def listed_rules(algorithms: tuple[Algorithm, ...], choice: Choice) -> set[str]:
    return {rule.name for each in algorithms if each.name == choice.name for rule in each.rules}


@for_each("controller", CONTROLLERS.values(), ids=CONTROLLERS.keys())
def test_every_decision_is_by_a_rule_that_its_algorithm_lists(controller: Choice) -> None:
    listed = listed_rules(controllers(), controller)
    for network in NETWORKS:
        decisions = decisions_of(network(controller, MINRTT))
        used = {name for owner in decisions.owners if owner.startswith("flow/") for name in names_of(decisions, owner)}
        assert used <= listed | SENDER_RULES
        assert used & listed
        assert names_of(decisions, "flow") <= listed_rules(schedulers(), MINRTT) | CHOICELESS_RULES


@for_each("controller", CONTROLLERS.values(), ids=CONTROLLERS.keys())
def test_recording_leaves_the_run_of_every_controller_as_it_is(controller: Choice) -> None:
    # Recorded runs never take the short path for an ordinary acknowledgement; both paths must give the same results.
    for network in NETWORKS:
        assert_recording_changes_nothing(network(controller, MINRTT))


@for_each("scheduler", scheduler_choices().values(), ids=scheduler_choices().keys())
def test_every_scheduler_gives_a_reason_that_it_lists(scheduler: Choice) -> None:
    listed = listed_rules(schedulers(), scheduler)
    for network in NETWORKS[:-1]:
        run = network(Choice("lia"), scheduler)
        assert names_of(decisions_of(run), "flow") <= listed | CHOICELESS_RULES
        assert_recording_changes_nothing(run)


def assert_recording_changes_nothing(run: Scenario) -> None:
    plain = Simulation(run)
    plain.run_until(plain.duration_s)
    recorded = Simulation(run, decisions=DecisionLimits(capacity=10))
    recorded.run_until(recorded.duration_s)
    recorded.check_invariants()
    assert recorded.signature() == plain.signature()


def test_every_rule_belongs_to_the_sender_or_to_an_algorithm() -> None:
    listed = {rule for each in (*controllers(), *schedulers()) for rule in each.rules}
    for rule in rules():
        assert rule in listed or rule.name in SENDER_RULES | CHOICELESS_RULES | {"unexplained"}
    assert listed <= set(rules())


MOST_SACKED = 4  # packets after the loss that SACKs report before a recovery begins


@pytest.mark.parametrize("prr", ["linux", "rfc6937"])
def test_prr_states_both_the_flight_and_the_window_before(prr: str) -> None:
    """Linux divides by the cwnd at the begin of recovery, RFC 6937 by the packets without a cumulative ACK."""
    narrow = link("one", delay_s=0.01, queue_pkts=15)
    decisions = decisions_of(scenario([narrow], [tcp("flow", "one")], duration_s=12, transport={"prr": prr}))
    told = [decisions.explain(int(row)) for row in decisions.rows("flow/1")]
    steps = [each for each in told if each.rule.name == "proportional_rate_reduction"]
    begun = [each for each, before in zip(steps[1:], steps, strict=False) if each.time_s - before.time_s > 0.1]
    assert len(begun) >= 3
    for each in begun:
        prior, flight = each.value("prior_cwnd"), each.value("flight_size")
        assert prior is not None
        assert flight is not None
        assert prior == pytest.approx(each.cwnd_pkts[0])
        # Whole packets, at most the window plus two of limited transmit; packets that SACKs reported do not count.
        assert flight == int(flight)
        assert prior - 1 - MOST_SACKED < flight <= prior + 2
        # RFC 6937: ceil(delivered * ssthresh / divisor) - out, with half of the window as ssthresh
        divisors = [prior] if prr == "linux" else [flight + sacked for sacked in range(MOST_SACKED + 1)]
        delivered, out = each.value("prr_delivered"), each.value("prr_out")
        assert delivered is not None
        assert out is not None
        sends = [max(np.ceil(delivered * max(prior / 2, 2.0) / divisor) - out, 0.0) for divisor in divisors]
        assert each.value("send") in sends
    assert any(each.value("prior_cwnd") != each.value("flight_size") for each in begun)


def _balanced(n: dict[str, Floats]) -> Floats:
    """BALIA's increase per acknowledged packet."""
    share = n["x_r_pps"] / n["srtt_s"] / n["total_rate_pps"] ** 2
    return share * (1 + n["alpha"]) / 2 * (4 + n["alpha"]) / 5


def _cubic(n: dict[str, Floats]) -> Floats:
    """CUBIC's increase towards its target."""
    return n["acked_pkts"] * (n["target_pkts"] - n["cwnd_pkts"]) / n["cwnd_pkts"]


# New window of a rule as a function of the previous window and the rule's numbers, in the order of their names
Effect = Callable[[Floats, dict[str, Floats]], Floats]
EFFECTS: dict[str, Effect] = {
    "slow_start": lambda w, n: np.minimum(w + n["acked_pkts"], np.maximum(n["ssthresh_pkts"], w)),
    "additive_increase": lambda _, n: n["cwnd_pkts"] + n["acked_pkts"] / n["cwnd_pkts"],
    "weighted_increase": lambda _, n: n["cwnd_pkts"] + n["acked_pkts"] * n["a"] / n["cwnd_pkts"],
    "linked_increase": lambda _, n: (
        n["cwnd_pkts"] + n["acked_pkts"] * np.minimum(n["alpha"] / n["cwnd_total_pkts"], 1 / n["cwnd_pkts"])
    ),
    "opportunistic_linked_increase": lambda _, n: np.maximum(
        n["cwnd_pkts"] + n["acked_pkts"] * (n["coupled_pkts"] + n["alpha"] / n["cwnd_pkts"]), 1.0
    ),
    "balanced_increase": lambda _, n: n["cwnd_pkts"] + n["acked_pkts"] * _balanced(n),
    "vegas_round_trip": lambda _, n: np.maximum(
        n["cwnd_pkts"] + (n["diff_pkts"] < n["alpha_pkts"]) - (n["diff_pkts"] > n["beta_pkts"]), 2.0
    ),
    "vegas_slow_start_exit": lambda _, n: np.maximum(
        np.minimum(n["cwnd_pkts"], n["cwnd_pkts"] - n["diff_pkts"] + 1), 2.0
    ),
    "wvegas_round_trip": lambda _, n: np.maximum(
        n["cwnd_pkts"] + (n["diff_pkts"] < n["alpha_pkts"]) - (n["diff_pkts"] > n["alpha_pkts"]), 2.0
    ),
    "wvegas_drain": lambda _, n: np.maximum(n["cwnd_pkts"] * n["base_rtt_s"] / (2 * n["rtt_s"]), 2.0),
    "kernel_linked_step": lambda _, n: n["cwnd_pkts"] + 1,
    "kernel_opportunistic_step": lambda _, n: np.maximum(n["cwnd_pkts"] + n["step"], 1.0),
    "kernel_balanced_step": lambda _, n: n["cwnd_pkts"] + 1,
    "kernel_wvegas_round_trip": lambda _, n: np.maximum(
        n["cwnd_pkts"] + (n["diff_pkts"] < n["alpha_pkts"]) - (n["diff_pkts"] > n["alpha_pkts"]), 2.0
    ),
    "kernel_wvegas_drain": lambda _, n: np.maximum(
        np.floor(n["cwnd_pkts"] * np.floor(65536 * n["base_rtt_s"] / (2 * n["rtt_s"])) / 65536), 2.0
    ),
    "cubic_reno_friendly": lambda _, n: np.maximum(n["cwnd_pkts"], n["W_est_pkts"]),
    "cubic_concave": lambda _, n: n["cwnd_pkts"] + _cubic(n),
    "cubic_convex": lambda _, n: n["cwnd_pkts"] + _cubic(n),
    "hystart_plus_plus_slow_start": lambda w, n: np.minimum(w + n["growth_pkts"], np.maximum(n["ssthresh_pkts"], w)),
}
# A number of a rule that follows from its other numbers
CONSISTENT: dict[str, tuple[str, Callable[[dict[str, Floats]], Floats]]] = {
    "halving": ("ssthresh_pkts", lambda n: np.maximum(n["basis_pkts"] / 2, n["floor_pkts"])),
    "kernel_halving": ("ssthresh_pkts", lambda n: np.maximum(np.floor(n["cwnd_pkts"] / 2), 2)),
    "kernel_balanced_decrease": ("ssthresh_pkts", lambda n: np.maximum(n["cwnd_pkts"] - n["decrease_pkts"], 1)),
    "linked_increase": (
        "alpha",
        lambda n: n["cwnd_total_pkts"] * n["best_pkts_per_s2"] / n["total_rate_pps"] ** 2,
    ),
    "balanced_decrease": (
        "ssthresh_pkts",
        lambda n: np.maximum(n["cwnd_pkts"] - n["cwnd_pkts"] / 2 * np.minimum(n["alpha"], 1.5), 1),
    ),
    "vegas_round_trip": ("diff_pkts", lambda n: n["cwnd_pkts"] * (n["rtt_s"] - n["base_rtt_s"]) / n["rtt_s"]),
    "wvegas_round_trip": ("diff_pkts", lambda n: n["cwnd_pkts"] * (n["rtt_s"] - n["base_rtt_s"]) / n["rtt_s"]),
    "cubic_decrease": ("ssthresh_pkts", lambda n: np.maximum(n["beta"] * n["cwnd_pkts"], 2)),
    "cubic_concave": ("W_cubic_pkts", lambda n: 0.4 * (n["t_s"] - n["K_s"]) ** 3 + n["W_max_pkts"]),
    "cubic_convex": ("W_cubic_pkts", lambda n: 0.4 * (n["t_s"] - n["K_s"]) ** 3 + n["W_max_pkts"]),
    "cubic_reno_friendly": ("W_cubic_pkts", lambda n: 0.4 * (n["t_s"] - n["K_s"]) ** 3 + n["W_max_pkts"]),
    "linux_cubic_decrease": (
        "ssthresh_pkts",
        lambda n: np.maximum(np.floor(n["beta"] * np.floor(n["cwnd_pkts"])), 2),
    ),
}
# Runs in which each of these rules decides: controllers with their options
VARIANTS = [
    *((name, {}) for name in ("newreno", "cubic", "vegas", "ewtcp", "lia", "olia", "balia", "wvegas")),
    *((name, {"arithmetic": "kernel"}) for name in ("lia", "olia", "balia", "wvegas")),
    ("cubic", {"arithmetic": "rfc9438", "hystart": "off"}),
    ("cubic", {"arithmetic": "rfc9438", "hystart": "rfc9406"}),
]


@cache
def variant_runs() -> tuple[Decisions, ...]:
    clean = [link("one", rate_bps=20e6, delay_s=0.03, queue_pkts=60), link("two", queue_pkts=40)]
    # A higher rate half-way lets CUBIC grow beyond the window of the last loss.
    faster = [Event(10.0, link="one", rate_bps=40e6)]
    runs = []
    for name, options in VARIANTS:
        choice = Choice(name, options)
        flow = mptcp("flow", ["one", "two"], choice) if name in COUPLED else tcp("flow", "one", choice)
        runs.append(decisions_of(scenario(clean, [flow], duration_s=20, events=faster)))
        runs.append(decisions_of(storm(choice, MINRTT)))
    return tuple(runs)


def numbers_of(decisions: Decisions, rows: NDArray[np.intp], rule: str) -> dict[str, Floats]:
    names = next(each.numbers for each in decisions.rules if each.name == rule)
    return {name: decisions.numbers[rows, i] for i, name in enumerate(names)}


def rows_of(decisions: Decisions, rule: str) -> NDArray[np.intp]:
    return np.flatnonzero(decisions.rule == next(i for i, each in enumerate(rules()) if each.name == rule))


@for_each("rule", EFFECTS)
def test_the_window_after_follows_from_the_one_before_and_the_numbers(rule: str) -> None:
    count = 0
    for decisions in variant_runs():
        rows = rows_of(decisions, rule)
        before, after = decisions.cwnd_before_pkts[rows], decisions.cwnd_after_pkts[rows]
        numbers = numbers_of(decisions, rows, rule)
        np.testing.assert_allclose(EFFECTS[rule](before, numbers), after, rtol=1e-12)
        count += len(rows)
    assert count > 0


@for_each("rule", CONSISTENT)
def test_numbers_of_a_rule_agree_with_each_other(rule: str) -> None:
    count = 0
    for decisions in variant_runs():
        rows = rows_of(decisions, rule)
        numbers = numbers_of(decisions, rows, rule)
        name, follows = CONSISTENT[rule]
        np.testing.assert_allclose(follows(numbers), numbers[name], rtol=1e-9, atol=1e-9)
        count += len(rows)
    assert count > 0


def test_linux_cubic_grows_by_a_packet_per_so_many_acknowledged() -> None:
    count = 0
    for decisions in variant_runs():
        for rule in ("linux_cubic_concave", "linux_cubic_convex", "linux_cubic_friendly"):
            rows = rows_of(decisions, rule)
            n = numbers_of(decisions, rows, rule)
            # tcp_cong_avoid_ai: credit beyond the current demand gives one packet; the remaining and new credit gives
            # the rest
            had_enough = n["credit_pkts"] >= n["acks_per_packet"]
            credit = np.where(had_enough, 0, n["credit_pkts"]) + n["acked_pkts"]
            grown = had_enough + np.floor(credit / n["acks_per_packet"])
            after = np.floor(decisions.cwnd_before_pkts[rows]) + grown
            # An acknowledgement that ends slow start has already grown the window.
            plain = decisions.cwnd_after_pkts[rows] - decisions.cwnd_before_pkts[rows] <= grown
            np.testing.assert_array_equal(after[plain], decisions.cwnd_after_pkts[rows][plain])
            assert (n["K_s"] >= 0).all()
            count += int(plain.sum())
    assert count > 100


def test_olia_moves_traffic_from_the_largest_windows_to_the_best_paths() -> None:
    for decisions in variant_runs():
        rows = rows_of(decisions, "opportunistic_linked_increase")
        if len(rows) == 0:
            continue
        n = numbers_of(decisions, rows, "opportunistic_linked_increase")
        best, largest = n["B_mask"].astype(int), n["M_mask"].astype(int)
        own = np.array([1 << (int(decisions.owners[owner].rpartition("/")[2]) - 1) for owner in decisions.owner[rows]])
        collected = best & ~largest
        bits = np.array([int(each).bit_count() for each in collected])
        largest_count = np.array([int(each).bit_count() for each in largest])
        expected = np.where(
            collected == 0,
            0.0,
            np.where(
                collected & own,
                1 / (n["n"] * np.maximum(bits, 1)),
                np.where(largest & own, -1 / (n["n"] * np.maximum(largest_count, 1)), 0.0),
            ),
        )
        np.testing.assert_allclose(n["alpha"], expected, rtol=1e-12)
        assert (expected != 0).any()


def test_lia_is_capped_where_one_tcp_would_be_slower() -> None:
    # With windows of 100 and 2 packets and RTTs of 100 and 10 ms, best / total_rate^2 = 20000 / 1200^2 = 1 / 72: the
    # subflow with the larger window gets 1 / 100.
    links = [link("long", rate_bps=20e6, queue_pkts=60), link("short", rate_bps=4e6, delay_s=0.002, queue_pkts=2)]
    decisions = decisions_of(scenario(links, [mptcp("flow", ["long", "short"])], duration_s=10))
    rows = rows_of(decisions, "linked_increase")
    n = numbers_of(decisions, rows, "linked_increase")
    linked = n["alpha"] / n["cwnd_total_pkts"]
    np.testing.assert_array_equal(n["is_capped"] == 1, 1 / n["cwnd_pkts"] < linked * (1 - 1e-14))
    np.testing.assert_array_equal(n["increase_pkts"][n["is_capped"] == 1], 1 / n["cwnd_pkts"][n["is_capped"] == 1])
    assert 0 < n["is_capped"].sum() < len(rows)


def test_bbr_names_its_mode_and_its_model() -> None:
    run = scenario([link("path", queue_pkts=None)], [tcp("flow", "path", "bbr")], duration_s=12)
    decisions = decisions_of(run)
    order: list[str] = []
    for row in decisions.rows("flow/1"):
        name = decisions.rules[decisions.rule[row]].name
        if not order or order[-1] != name:
            order.append(name)
    assert order[:4] == ["initial_window", "bbr_startup", "bbr_drain", "bbr_probe_bw"]
    assert "bbr_probe_rtt" in order
    rows = rows_of(decisions, "bbr_probe_bw")
    n = numbers_of(decisions, rows, "bbr_probe_bw")
    np.testing.assert_allclose(n["bdp_pkts"], n["max_rate_pps"] * n["min_rtt_s"])
    # A packet of the textbook profile is 1500 bytes on the wire.
    paced = n["pacing_gain"] * 0.99 * n["max_rate_pps"] * 12_000
    np.testing.assert_allclose(decisions.rate_after_bps[rows], paced)
    assert {0.75, 1.0, 1.25} == set(np.unique(n["pacing_gain"]))


def test_hystart_says_what_it_saw() -> None:
    fast = link("path", rate_bps=50e6, queue_pkts=None)
    decisions = decisions_of(scenario([fast], [tcp("flow", "path", "cubic")], duration_s=5, profile="linux"))
    row = int(rows_of(decisions, "hystart")[0])
    told = {number.name: number.value for number in decisions.explain(row).numbers}
    long_train = told["train"] > told["train_limit"]
    risen_rtt = told["round_rtt"] > told["min_rtt"] + told["threshold"]
    assert long_train or risen_rtt
    assert decisions.cwnd_before_pkts[row] == decisions.cwnd_after_pkts[row] == told["cwnd"]


def test_causes_are_those_of_the_networks() -> None:
    runs = [decisions_of(network(Choice("lia"), MINRTT)) for network in NETWORKS]
    seen = {CAUSES[cause] for decisions in runs for cause in np.unique(decisions.cause)}
    assert seen >= {"start", "ack", "loss", "rto", "recovery_exit", "schedule"}


HYSTART_CHOICES = {
    "newreno": Choice("newreno", {"hystart_plus_plus": True}),
    **{name: Choice(name, {"hystart_plus_plus": True}) for name in ("lia", "olia", "balia", "coupled-cubic", "ewtcp")},
    "cubic": Choice("cubic", {"hystart": "rfc9406"}),
}


@for_each("name", HYSTART_CHOICES)
def test_hystart_plus_plus_is_that_of_the_rfc_in_every_controller_that_has_it(name: str) -> None:
    # 50 Mbit/s and 100 ms: a BDP of 417 packets, so that a window of 640 fills the queue. RttThresh is 100 ms / 8 =
    # 12.5 ms (RFC 9406 section 4.2): the first round above it is a round of CSS, which grows a fourth as fast. After
    # five such rounds slow start ends without a loss.
    choice = HYSTART_CHOICES[name]
    flow = tcp("flow", "path", choice) if name in ("newreno", "cubic") else mptcp("flow", ["path"], choice)
    path = link("path", rate_bps=50e6, queue_pkts=None)
    decisions = decisions_of(scenario([path], [flow], duration_s=5))
    exits = rows_of(decisions, "hystart_plus_plus")
    assert len(exits) == 1
    told = {number.name: number.value for number in decisions.explain(int(exits[0])).numbers}
    assert told["rounds"] == 5
    assert told["baseline_rtt"] >= 0.1 + 0.0125
    rows = rows_of(decisions, "hystart_plus_plus_slow_start")
    n = numbers_of(decisions, rows, "hystart_plus_plus_slow_start")
    slow = n["is_conservative"] == 1
    assert slow.any()
    assert not slow.all()
    np.testing.assert_array_equal(n["growth_pkts"], np.minimum(n["acked_pkts"], 8) / np.where(slow, 4, 1))
    assert not len(rows_of(decisions, "halving"))
    # Without HyStart++ the window reaches twice that size before the same time.
    without = decisions_of(scenario([path], [tcp("flow", "path")], duration_s=5))
    assert without.cwnd_after_pkts.max() > 2 * decisions.cwnd_after_pkts[exits[0]]
