"""An event that changes a flow's controller keeps window and path state, for every pair of controllers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.combinations import multipath_choices, single_path_choices, storm
from tests.helpers.members import for_each
from tests.helpers.networks import column, goodputs, link, mptcp, run, scenario, tcp

from subflow_sim import DecisionLimits, ScenarioError, Simulation, SimulationError, parse_scenario
from subflow_sim.catalog import catalog
from subflow_sim.scenario_model import Choice, Event
from subflow_sim.scenario_reader import read_change
from subflow_sim.vec_env import learner_spec
from subflow_sim.whole_scenario import Scenario


def without_agents(choices: dict[str, Choice]) -> dict[str, Choice]:
    return {name: each for name, each in choices.items() if not catalog().learns(each)}


SINGLE = without_agents(single_path_choices())
MULTI = without_agents(multipath_choices())


def changed(start: Choice, then: Choice, *, seconds: float = 9.0) -> Scenario:
    base = replace(storm(start, Choice("minrtt")), duration_s=seconds, warmup_s=1.0)
    events = (*base.events, Event(5.0, flow="flow", controller=then))
    return replace(base, events=tuple(sorted(events, key=lambda event: event.at_s)))


def assert_holds(running: Scenario) -> None:
    """The run ends with consistent counters, also in slices, and continues from a snapshot right before the change."""
    whole = run(running)
    cut = Simulation(running, sample_interval_s=1.0)
    for t_s in (1.0, 4.9):
        cut.run_until(t_s)
    snapshot = cut.snapshot()
    for t_s in (4.999999999, 5.0, 5.000000001, 5.05, 7.3, 9.0):
        cut.run_until(t_s)
        cut.check_invariants()
    assert cut.signature() == whole.signature()
    cut.restore(snapshot)
    cut.run_until(9.0)
    assert cut.signature() == whole.signature()
    for index in range(len(whole.columns)):
        assert np.array_equal(cut.values(index), whole.values(index), equal_nan=True)
    # Goodput after the change; the lower bound is one packet per round trip.
    assert column(whole, "goodput_bps")[6:].mean() > 100e3


def followers(choices: dict[str, Choice], start: str, request: pytest.FixtureRequest) -> list[Choice]:
    """All controllers with --full; otherwise two, chosen so that each follows two others."""
    every = list(choices.values())
    if request.config.getoption("--full"):
        return every
    at = list(choices).index(start)
    return [every[(at + step) % len(every)] for step in (1, len(every) // 2)]


@pytest.mark.parametrize(("choices", "start"), [(each, start) for each in (SINGLE, MULTI) for start in each])
def test_each_controller_takes_over_from_each(
    choices: dict[str, Choice], start: str, request: pytest.FixtureRequest
) -> None:
    for then in followers(choices, start, request):
        assert_holds(changed(choices[start], then))


def test_what_can_take_over_is_told() -> None:
    told = catalog().successors(Choice("lia"), is_multipath=True)
    assert {"lia", "olia", "uncoupled"} <= set(told)
    assert not {"newreno", "drl-cc"} & set(told)
    assert "newreno" in catalog().successors(Choice("cubic"), is_multipath=False)
    for choice in (Choice("drl-cc"), Choice("uncoupled", {"base": "rl-explore"})):
        assert catalog().successors(choice, is_multipath=True) == ()


def steady(controller: str, duration_s: float = 20.0) -> Scenario:
    return scenario([link("path")], [tcp("t", "path", controller)], duration_s=duration_s)


def window(simulation: Simulation) -> dict[str, float]:
    subflows = simulation.inspect().subflows
    names = ("cwnd_pkts", "ssthresh_pkts", "inflight_pkts", "srtt_s", "min_rtt_s", "rto_s", "pacing_rate_bps")
    return {name: float(getattr(subflows, name)[0]) for name in names}


def test_window_threshold_and_rtt_stay_as_they_are() -> None:
    simulation = Simulation(steady("newreno"))
    simulation.run_until(8)
    before = window(simulation)
    event = simulation.apply(Event(0.0, flow="t", controller=Choice("cubic")))
    simulation.run_until(event.at_s)
    assert window(simulation) == pytest.approx(before, nan_ok=True)
    marks = [mark for mark in simulation.take_marks() if mark.kind == "controller_change"]
    assert [(mark.owner, mark.time_ns) for mark in marks] == [("t", 8_000_000_001)]


def test_pacing_begins_and_ends_with_the_controller_that_paces() -> None:
    simulation = Simulation(steady("newreno"))
    simulation.run_until(8)
    assert np.isnan(window(simulation)["pacing_rate_bps"])
    cwnd_pkts = window(simulation)["cwnd_pkts"]
    simulation.apply(Event(0.0, flow="t", controller=Choice("bbr")))
    simulation.run_until(14)
    paced = window(simulation)
    # It finds the bottleneck's 10 Mbit/s from any initial state.
    assert paced["pacing_rate_bps"] == pytest.approx(10e6, rel=0.3)
    assert cwnd_pkts > 20
    simulation.apply(Event(0.0, flow="t", controller=Choice("newreno")))
    simulation.run_until(14.000000001)
    after = window(simulation)
    assert np.isnan(after["pacing_rate_bps"])
    assert after["cwnd_pkts"] == paced["cwnd_pkts"]
    simulation.run_until(20)
    # Payload of 1448 of 1500 bytes, minus the cost of a loss or two.
    assert column(simulation, "goodput_bps")[150:].mean() > 0.85 * 10e6 * 1448 / 1500


@pytest.mark.parametrize("controller", ["vivace", "mpcc-loss"])
def test_controllers_by_monitor_intervals_start_anew_and_leave_their_records(controller: str) -> None:
    running = scenario([link("path")], [mptcp("t", ["path"], controller)], duration_s=30)
    simulation = Simulation(running)
    simulation.run_until(10)
    assert not np.isnan(column(simulation, "utility")[-1])
    simulation.apply(Event(0.0, flow="t", controller=Choice("lia")))
    simulation.run_until(20)
    assert np.isnan(column(simulation, "utility")[-1])  # NewReno computes none
    taken = simulation.take_intervals()
    assert len(taken) > 20
    assert taken.time_ns.max() < 11e9
    simulation.apply(Event(0.0, flow="t", controller=Choice(controller)))
    simulation.run_until(30)
    simulation.check_invariants()
    again = simulation.take_intervals()
    assert again.number.min() > taken.number.max()
    assert again.begin_ns.min() >= 20e9


def test_a_recovery_under_way_ends_at_a_window_that_can_be() -> None:
    # With a loss of 3 %, BBR is in recovery most of the time, and has no slow-start threshold.
    lossy = scenario([link("path", loss=0.03)], [tcp("t", "path", "bbr")], duration_s=12, profile="linux")
    for offset in range(20):
        simulation = Simulation(lossy)
        simulation.run_until(6 + offset * 0.0173)
        simulation.apply(Event(0.0, flow="t", controller=Choice("newreno")))
        simulation.run_until(12)
        simulation.check_invariants()
        assert window(simulation)["cwnd_pkts"] < 100


def test_a_subflow_that_opens_again_has_the_controller_of_then() -> None:
    links = [link("one"), link("two")]
    events = (
        Event(3.0, flow="f", controller=Choice("uncoupled", {"base": "bbr"})),
        Event(4.0, flow="f", subflow=2, open=False),
        Event(5.0, flow="f", subflow=2, open=True),
    )
    simulation = run(scenario(links, [mptcp("f", ["one", "two"])], duration_s=10, events=events))
    assert not np.isnan(simulation.inspect().subflows.pacing_rate_bps).any()


def test_a_controller_can_change_before_its_flow_starts() -> None:
    change = (Event(1.0, flow="t", controller=Choice("bbr")),)
    late = scenario([link("path")], [tcp("t", "path", start_s=3.0)], duration_s=10, events=change)
    same = scenario([link("path")], [tcp("t", "path", "bbr", start_s=3.0)], duration_s=10)
    assert goodputs(run(late)) == pytest.approx(goodputs(run(same)), rel=0.02)


def test_why_the_window_is_what_it_is_says_that_a_controller_took_over() -> None:
    simulation = Simulation(steady("newreno"), decisions=DecisionLimits())
    simulation.run_until(4)
    simulation.apply(Event(0.0, flow="t", controller=Choice("cubic")))
    simulation.run_until(5)
    decisions = simulation.take_decisions()
    at = int(np.flatnonzero(decisions.time_ns == 4_000_000_001)[0])
    assert decisions.explain(at).rule.name == "new_controller"


TEXT = """
format = 1
duration = "20s"
nodes = {{ a = {{}}, b = {{}} }}
links.wifi = {{ ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms" }}
flows.f = {{ kind = "{kind}", from = "a", to = "b", controller = "{start}" }}
[[events]]
at = "5s"
flow = "f"
controller = {then}
"""


def text(kind: str = "mptcp", start: str = "lia", then: str = '"olia"') -> str:
    return TEXT.format(kind=kind, start=start, then=then)


def test_the_file_says_it_like_a_flow_does() -> None:
    table = '{ name = "uncoupled", base = "cubic" }'
    for then, name, base in (('"olia"', "olia", None), (table, "uncoupled", "cubic")):
        choice = parse_scenario(text(then=then)).events[0].controller
        assert choice is not None
        assert (choice.name, choice.options.get("base")) == (name, base)


@for_each(
    ("kind", "start", "then", "message"),
    [
        ("mptcp", "lia", '"drl-cc"', "cannot take over"),
        ("mptcp", "lia", '{ name = "uncoupled", base = "rl-explore" }', "cannot take over"),
        ("mptcp", "drl-cc", '"lia"', "until the end of the run"),
        ("mptcp", "lia", '"olai"', 'did you mean "olia"'),
        ("mptcp", "lia", '{ name = "olia", frobs = 3 }', "unknown key"),
        ("mptcp", "lia", '"olia"\nsubflow = 1', "all subflows of a flow"),
    ],
)
def test_what_cannot_take_over_is_refused(kind: str, start: str, then: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        parse_scenario(text(kind, start, then))
    table = {"at": "5s", "flow": "f", "controller": "drl-cc"}
    with pytest.raises(ScenarioError, match="allowed"):
        read_change(parse_scenario(text()), table)


def test_the_core_refuses_agents_too() -> None:
    simulation = Simulation(steady("newreno"))
    assert learner_spec("drl-cc", {}).controller == "drl-cc"
    with pytest.raises(SimulationError, match="learning controller"):
        simulation.apply(Event(0.0, flow="t", controller=Choice("drl-cc")))
