"""Stepping through decisions: the current decision during steps, clicks, and a growing run."""

from __future__ import annotations

import math

import pytest
from tests.helpers.fake_runs import LEARNING, RICH, finished_traces
from tests.helpers.fake_simulation import FakeSimulation
from tests.helpers.present import present

from subflow_app.features.traces.core.events import AGENT, agent_table
from subflow_app.features.traces.core.traces import LiveTraces
from subflow_app.features.training.core.agent_replay import AgentReplay, number_rows
from subflow_sim import Simulation, load_scenario


@pytest.fixture
def replay() -> AgentReplay:
    return AgentReplay(finished_traces(LEARNING))


def growing() -> tuple[FakeSimulation, LiveTraces]:
    """A run that has not begun, and its traces."""
    simulation = FakeSimulation(LEARNING)
    return simulation, LiveTraces(simulation, LEARNING, title="Live", sample_interval_s=0.1)


def run_on(simulation: FakeSimulation, traces: LiveTraces, until_s: float) -> None:
    simulation.run_until(until_s)
    steps = agent_table(simulation.take_agent_steps())
    if len(steps):
        traces.add_events(AGENT.name, steps)


def test_the_first_decision_of_the_first_agent_is_looked_at_first(replay: AgentReplay) -> None:
    assert [agent.name for agent in replay.agents] == ["download", "probe/1"]
    assert (replay.count, replay.position, replay.is_at_end) == (10, 0, False)
    assert (present(replay.decision).time_s, present(replay.decision).agent.name) == (1.0, "download")


def test_steps_end_at_the_ends_and_times_lead_to_the_nearest_decision(replay: AgentReplay) -> None:
    for position, found in ((-1, 0), (4, 4), (9, 9), (10, 9)):
        replay.go_to(position)
        assert replay.position == found
    for time_s, found in ((-5.0, 0), (4.4, 3), (4.6, 4), (99.0, 9)):
        replay.go_to_time(time_s)
        assert replay.position == found


def test_another_agent_is_looked_at_where_the_first_was(replay: AgentReplay) -> None:
    replay.go_to_time(7.0)
    replay.choose("probe/1")
    assert (present(replay.decision).time_s, present(replay.decision).agent.name) == (7.0, "probe/1")
    assert replay.numbers("observation") == ("goodput", "rtt")
    assert replay.numbers("action") == ("choice",)
    with pytest.raises(KeyError):
        replay.choose("client")


def test_who_looks_at_the_latest_decision_goes_on_with_the_run() -> None:
    simulation, traces = growing()
    replay = AgentReplay(traces)
    assert (replay.agent, replay.decision, replay.count, replay.numbers("action")) == (None, None, 0, ())
    assert not replay.refresh()
    run_on(simulation, traces, 3.0)
    assert replay.refresh()
    assert (replay.position, replay.is_at_end) == (2, True)
    replay.go_to(1)
    run_on(simulation, traces, 6.0)
    assert replay.refresh()
    assert (replay.position, replay.count) == (1, 6)


def test_a_run_without_agents_has_nothing_to_step_through() -> None:
    replay = AgentReplay(finished_traces(RICH))
    replay.go_to_time(3.0)
    replay.go_to(1)
    assert (replay.agents, replay.count, replay.position, replay.is_at_end) == ((), 0, 0, True)


def test_numbers_of_a_decision_have_a_value_per_subflow(replay: AgentReplay) -> None:
    replay.go_to_time(2.0)
    rows = {(row.part, row.name): row for row in number_rows(present(replay.decision))}
    assert rows["seen", "rtt"].values == (2.25, 2.25)
    assert rows["done", "window_change"].values == pytest.approx((math.sin(2.0), math.sin(2.0)))
    assert rows["done", "window_change"].help == "of half the window; -1 to 1"
    assert (rows["epoch", "goodput"].values, rows["epoch", "goodput"].unit) == ((2.0, 2.0), "bit/s")


def test_choices_and_records_of_the_past_have_their_names(replay: AgentReplay) -> None:
    replay.choose("probe/1")
    replay.go_to_time(2.0)
    rows = {row.name: row for row in number_rows(present(replay.decision))}
    assert rows["choice"].texts == ("increase",)
    assert rows["rtt, 1 before"].values == (2.75,)


def test_rows_of_a_real_run_have_physical_values_and_the_effect_of_the_action() -> None:
    simulation = Simulation(load_scenario("drlcc-sc1", overrides=["duration=3s", "flows.download.controller=drl-cc"]))
    simulation.run_until(3.0)
    steps = present(simulation.take_agent_steps())
    agent = steps.agents[0].name
    decision = steps.explain(agent, len(steps.decisions(agent)) - 1)
    rows = {row.name: row for row in number_rows(decision)}
    acting = next(place for place, each in enumerate(decision.subflows) if each.is_acting)

    figures = decision.subflows[acting].figures
    ratio = math.expm1(rows["rtt"].values[acting])
    assert f"{1e3 * ratio * figures['min_rtt_s']:.3g}" in rows["rtt"].meanings[acting]
    assert "× lowest RTT (" in rows["rtt"].meanings[acting]
    assert rows["effect"].texts[acting].startswith("cwnd ")
    assert rows["effect"].texts[acting].endswith(" pkt")
