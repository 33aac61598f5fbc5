"""Decisions and intervals on their way from the simulation to the store and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.helpers.fake_runs import LEARNING, RICH
from tests.helpers.fake_simulation import RULES, FakeSimulation
from tests.helpers.members import for_each
from tests.helpers.scripts import write_scenario

from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.events import (
    AGENT,
    DECISION,
    INTERVAL,
    EventLog,
    agent_steps_of,
    agent_table,
    decision_table,
    decisions_of,
    interval_table,
)
from subflow_sim.agent_steps import AgentSteps
from subflow_sim.decisions import DecisionLimits, Decisions
from subflow_sim.scenario import load_scenario
from subflow_sim.simulation import Simulation
from subflow_store import open_store
from subflow_store.values import EventTable


def decided() -> Decisions:
    simulation = FakeSimulation(RICH)
    simulation.record_decisions()
    simulation.run_until(10.0)
    return simulation.take_decisions()


def test_decisions_explain_the_same_after_their_way_through_a_table() -> None:
    before = decided()
    table = decision_table(before)
    after = decisions_of(table)

    assert table.columns.keys() == DECISION.fields.keys()
    assert len(after) == len(before) == 30  # 10 s of a flow and its two subflows
    for row in range(len(before)):
        told, expected = after.explain(row), before.explain(row)
        assert told.text == expected.text
        # NaN, the window in rows of schedulers, differs from itself.
        assert repr(told) == repr(expected)


def test_decisions_of_scripts_keep_all_but_their_lines_on_their_way_through_the_store(tmp_path: Path) -> None:
    simulation = Simulation(load_scenario(write_scenario(tmp_path)))
    batches = []
    with open_store(":memory:") as store:
        source = RunJob(simulation.scenario, "", store=store, decisions=DecisionLimits())
        assert source.run().run_id == 1
        after = decisions_of(store.decisions(1))
    simulation.record_decisions(DecisionLimits())
    for until_s in (0.5, 1.5, 3.0):  # the controller changes at 1 s
        simulation.run_until(until_s)
        batches.append(simulation.take_decisions())
    before = Decisions.joined(batches)

    assert len(after) == len(before) > 100
    assert {after.rules[number].name for number in after.rule} >= {"on_ack", "select"}
    for row in range(len(before)):
        assert repr(after.explain(row)) == repr(replace(before.explain(row), steps=(), script=None))


def agent_steps(until_s: float = 4.0) -> AgentSteps:
    simulation = FakeSimulation(LEARNING)
    simulation.run_until(until_s)
    return simulation.take_agent_steps()


def test_agents_are_told_the_same_after_their_way_through_a_table() -> None:
    before = agent_steps()
    table = agent_table(before)
    after = agent_steps_of(table)

    assert table.columns.keys() == AGENT.fields.keys()
    assert after.agents == before.agents
    assert len(after) == len(before) == 12  # 4 s of an agent with two subflows, and of one with a single subflow
    for agent in before.agents:
        for position in range(4):
            # NaN, the reward before the first decision, differs from itself.
            assert repr(after.explain(agent.name, position)) == repr(before.explain(agent.name, position))


def test_agents_of_another_version_keep_their_features() -> None:
    table = agent_table(agent_steps())
    old = [text.replace('"goodput"', '"delivery_rate"') for text in table.names["agent"]]
    told = agent_steps_of(EventTable(table.columns, {**table.names, "agent": tuple(old)})).explain("download", 1)

    assert [feature.name for feature in told.agent.features] == ["delivery_rate", "rtt"]


def test_a_run_without_agents_has_no_steps() -> None:
    steps = agent_steps_of(AGENT.empty())

    assert (len(steps), steps.agents, steps.subflows) == (0, (), ())


def test_rules_of_another_version_are_told_in_its_words() -> None:
    table = decision_table(decided())
    old = [text.replace("growth", "slow_growth").replace("acked_pkts", "acked_ms") for text in table.names["rule"]]
    told = decisions_of(EventTable(table.columns, {**table.names, "rule": tuple(old)})).explain(1)

    assert (told.rule.name, told.rule.formula, told.rule.source) == ("slow_growth", *list_rule()[1:3])
    assert told.numbers[0].text == "acked = 1 ms"


def list_rule() -> tuple[str, str, str]:
    return RULES[0].name, RULES[0].formula, RULES[0].source


def test_intervals_keep_every_column() -> None:
    simulation = FakeSimulation(RICH)
    simulation.run_until(3.0)
    intervals = simulation.take_intervals()
    table = interval_table(intervals)

    assert table.columns.keys() == INTERVAL.fields.keys()
    assert table.texts("owner") == ["download/1", "download/2"] * 3
    np.testing.assert_array_equal(table["rate_bps"], intervals.rate_bps)


def rows(n: int, first: int = 0) -> EventTable:
    """Decisions whose `data_seq` counts up."""
    whole = decision_table(decided())
    few = whole.select(np.zeros(n, np.int64))
    return replace(few, columns={**few.columns, "data_seq": np.arange(first, first + n)})


@for_each("sizes", [[3], [3, 4], [1] * 25, [12, 1], [25], [9, 2, 30, 1]])
def test_a_log_keeps_the_latest_rows(sizes: list[int]) -> None:
    log = EventLog(DECISION, most_rows=10)
    total = 0
    for size in sizes:
        log.append(rows(size, total))
        total += size

    assert log.table()["data_seq"].tolist() == list(range(max(0, total - 10), total))
    assert len(log._tables) <= 10


def test_an_empty_log_has_all_columns() -> None:
    table = EventLog(INTERVAL).table()

    assert len(table) == 0
    assert table.columns.keys() == INTERVAL.fields.keys()
    assert table.names == {"owner": ()}
