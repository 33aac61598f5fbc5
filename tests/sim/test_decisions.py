"""Reasons for the decisions of controllers and schedulers: recorded, found by owner and time, explained."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.networks import decisions_of, link, mptcp, scenario, tcp

from subflow_sim import DecisionLimits, Decisions, ParamError, Simulation
from subflow_sim.decisions import CAUSES, NOBODY, Number, detected, rules
from subflow_sim.scenario_model import Profile
from subflow_sim.transport_params import effective_transport
from subflow_sim.whole_scenario import Scenario


def two_paths(duration_s: float = 5.0) -> Scenario:
    """A LIA flow over two paths, held back by its receive buffer at times, beside a NewReno flow on the first."""
    links = [link("one", loss=0.005), link("two", rate_bps=4e6, delay_s=0.02, queue_pkts=20)]
    return scenario(
        links, [mptcp("wide", ["one", "two"], recv_buffer_bytes=90_000), tcp("plain", "one")], duration_s=duration_s
    )


def recorded(limits: DecisionLimits | None = None, *, duration_s: float = 5.0) -> tuple[Simulation, Decisions]:
    simulation = Simulation(two_paths(duration_s), decisions=limits or DecisionLimits())
    simulation.run_until(duration_s)
    return simulation, simulation.take_decisions()


@pytest.fixture(scope="module")
def decisions() -> Decisions:
    return recorded()[1]


def assert_same(one: Decisions, other: Decisions) -> None:
    for name in Decisions.columns():
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def first_by(decisions: Decisions, rule: str) -> int:
    """The row of the first decision by a rule."""
    number = next(i for i, each in enumerate(decisions.rules) if each.name == rule)
    return int(np.flatnonzero(decisions.rule == number)[0])


def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    simulation = Simulation(two_paths())
    simulation.run_until(1.0)
    assert len(simulation.take_decisions()) == 0
    simulation.record_decisions()
    simulation.run_until(2.0)
    taken = simulation.take_decisions()
    assert 1e9 < taken.time_ns.min() <= taken.time_ns.max() <= 2e9


def test_owners_are_the_subflows_and_the_flows_that_schedule(decisions: Decisions) -> None:
    assert decisions.owners == ("wide/1", "wide/2", "plain/1", "wide", "plain")
    assert decisions.scopes == ("subflow", "subflow", "subflow", "flow", "flow")
    deciders = {decisions.owners[i] for i in np.unique(decisions.owner)}
    assert deciders == {"wide/1", "wide/2", "plain/1", "wide"}  # a flow of one subflow needs no scheduler


def test_decisions_are_in_order_of_time_and_windows_follow_on_each_other(decisions: Decisions) -> None:
    assert (np.diff(decisions.time_ns) >= 0).all()
    for owner in ("wide/1", "wide/2", "plain/1"):
        rows = decisions.rows(owner)
        assert CAUSES[decisions.cause[rows[0]]] == "start"
        np.testing.assert_array_equal(decisions.cwnd_before_pkts[rows[1:]], decisions.cwnd_after_pkts[rows[:-1]])


def test_a_scheduler_chooses_among_those_that_have_room(decisions: Decisions) -> None:
    rows = decisions.rows("wide")
    chosen = decisions.chosen[rows]
    sent = rows[chosen != NOBODY]
    assert ((decisions.available[sent] >> decisions.chosen[sent]) & 1 == 1).all()
    assert (decisions.available[rows] & ~decisions.usable[rows] == 0).all()
    assert {1, 2, 3} <= set(decisions.available[rows].tolist())
    # New data is sent in order, each packet once.
    new = np.unique(decisions.data_seq[sent])
    assert (np.diff(new) == 1).all()


def test_the_last_decision_before_a_time_is_found(decisions: Decisions) -> None:
    rows = decisions.rows("wide/2")
    times_s = decisions.time_ns[rows] / 1e9
    for position in (0, 7, len(rows) - 1):
        last = np.flatnonzero(times_s == times_s[position])[-1]
        assert decisions.at("wide/2", float(times_s[position])) == rows[last]
    assert decisions.at("wide/2", -1.0) is None
    assert decisions.at("wide/2", math.inf) == rows[-1]
    assert decisions.at("plain", 5.0) is None
    with pytest.raises(KeyError):
        decisions.at("narrow", 1.0)


def test_decisions_between_two_times_include_both_ends(decisions: Decisions) -> None:
    rows = decisions.rows("plain/1")
    from_s, until_s = (float(decisions.time_ns[rows[i]]) / 1e9 for i in (3, 9))
    expected = [row for row in rows if from_s <= decisions.time_ns[row] / 1e9 <= until_s]
    assert decisions.between("plain/1", from_s, until_s).tolist() == expected
    assert len(decisions.between("plain/1", -math.inf, math.inf)) == len(rows)
    assert len(decisions.between("plain/1", until_s, from_s)) == 0


def test_a_decision_is_explained_in_names_and_numbers(decisions: Decisions) -> None:
    told = decisions.explain(first_by(decisions, "halving"))
    assert told.rule.name == "halving"
    assert told.cause in ("loss", "rto")
    basis, floor, ssthresh = told.numbers
    assert (basis.name, basis.unit) == ("basis", "pkt")
    assert ssthresh.value == max(basis.value / 2, floor.value)
    assert told.owner in told.text
    assert told.rule.source in told.text
    assert f"ssthresh = {ssthresh.value:.6g} pkt" in told.text


def test_a_choice_is_explained_by_what_was_to_be_had(decisions: Decisions) -> None:
    both = decisions.rows("wide")[decisions.available[decisions.rows("wide")] == 3]
    told = decisions.explain(int(both[-1]))
    assert told.available == (1, 2)
    assert told.effect == f"packet {told.data_seq} on subflow {told.chosen}; available: 1, 2"
    chosen_srtt, next_srtt = told.numbers
    assert chosen_srtt.value <= next_srtt.value


def test_batches_join_to_what_is_taken_at_once(decisions: Decisions) -> None:
    simulation = Simulation(two_paths(), decisions=DecisionLimits())
    batches = []
    for step in range(1, 51):
        simulation.run_until(step * 0.1)
        batches.append(simulation.take_decisions())
    assert_same(Decisions.joined(batches), decisions)
    with pytest.raises(ValueError, match="no batches"):
        Decisions.joined([])


def test_what_the_capacity_has_no_room_for_is_lost_from_the_oldest_on(decisions: Decisions) -> None:
    simulation, taken = recorded(DecisionLimits(capacity=100))
    assert simulation.decisions_fill == 0
    lost = 0
    for owner in ("wide/1", "wide/2", "plain/1", "wide"):
        kept, all_of_them = taken.rows(owner), decisions.rows(owner)
        assert len(kept) == 100
        np.testing.assert_array_equal(taken.time_ns[kept], decisions.time_ns[all_of_them[-100:]])
        lost += len(all_of_them) - 100
    assert simulation.decisions_lost == lost


def test_the_window_keeps_what_is_recent_and_that_is_no_loss() -> None:
    simulation, taken = recorded(DecisionLimits(window_s=0.5))
    for owner in ("wide/1", "wide/2", "plain/1", "wide"):
        times = taken.time_ns[taken.rows(owner)]
        assert times[-1] - times[0] <= 0.5e9
        assert times[0] < 4.7e9
    assert simulation.decisions_lost == 0


def test_a_restored_simulation_decides_the_same_again() -> None:
    simulation = Simulation(two_paths(), decisions=DecisionLimits())
    simulation.run_until(2.0)
    snapshot = simulation.snapshot()
    simulation.run_until(4.0)
    first = simulation.take_decisions()
    simulation.restore(snapshot)
    simulation.run_until(4.0)
    again = simulation.take_decisions()
    assert len(first) > 0
    assert_same(first, again)


@pytest.mark.parametrize("limits", [{"capacity": 0}, {"capacity": 1 << 25}, {"window_s": 0.0}, {"window_s": math.nan}])
def test_limits_that_keep_nothing_or_too_much_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ParamError):
        DecisionLimits(**limits)  # type: ignore[arg-type]


def test_rules_have_names_of_their_own_and_say_what_they_do() -> None:
    names = [rule.name for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule.name.isidentifier()
        assert rule.formula or rule.name == "unexplained"
        assert len(set(rule.numbers)) == len(rule.numbers) <= 8


def test_numbers_are_shown_with_their_units_sets_and_claims(decisions: Decisions) -> None:
    told = decisions.explain(first_by(decisions, "linked_increase"))
    best = next(number for number in told.numbers if number.name == "best")
    assert best.unit == "pkt/s²"
    assert "capped: no" in told.text or "capped: yes" in told.text
    shown = Number("M", "", 5.0, (1, 3))
    assert shown.text == "M = {1, 3}"
    assert Number("srtt", "s", math.nan).text == "srtt = none"


@pytest.mark.parametrize(
    ("profile", "text"), [("textbook", "third duplicate ACK"), ("linux", "RACK reordering window passed")]
)
def test_how_a_loss_was_found_is_told(profile: Profile, text: str) -> None:
    taken = decisions_of(replace(two_paths(), profile=profile))
    way = str(effective_transport(profile, {})["loss_detection"])
    told = detected([taken.explain(int(row)) for row in taken.rows("plain/1")], way)

    halvings = [position for position, each in enumerate(told) if each.rule.name == "halving" and each.cause == "loss"]
    assert halvings
    for position in halvings:
        # Two decisions for the same loss: the controller sets the threshold, the sender reduces its window.
        assert [each.cause_text for each in told[position : position + 2]] == [text, text]
    others = {each.cause_text for each in told if each.cause == "loss"} - {text}
    assert others <= {"an acknowledgement during fast recovery", "a tail loss probe repaired a loss"}
    assert all(not each.detection for each in told if each.cause != "loss")


def test_what_a_probe_repaired_is_told_so_to_the_controller_too(decisions: Decisions) -> None:
    example = decisions.explain(int(decisions.rows("plain/1")[0]))
    halving, repaired = (
        replace(example, cause="loss", rule=next(rule for rule in rules() if rule.name == name), numbers=())
        for name in ("halving", "probe_repaired")
    )

    assert [each.detection for each in detected([halving, repaired], "rack")] == ["tail_loss_probe"] * 2
    assert [each.detection for each in detected([halving], "rack")] == ["reordering_window"]
