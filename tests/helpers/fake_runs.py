"""Finished runs in memory, without a simulator or a database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.helpers.fake_simulation import FakeSimulation, make_flow, make_scenario

from subflow_app.features.traces.core.events import (
    AGENT,
    DECISION,
    INTERVAL,
    agent_table,
    decision_table,
    interval_table,
)
from subflow_app.features.traces.core.traces import LiveTraces, TraceMark
from subflow_sim.whole_scenario import Scenario

RICH = make_scenario(make_flow("download", controller="mpcc-loss", ecn="accecn", one_way_delay=True))
"""A scenario whose runs have every possible column, and monitor intervals."""

LEARNING = make_scenario(
    make_flow("download", controller="drl-cc"),
    make_flow("cross", "tcp", ("wifi",)),
    make_flow("probe", "tcp", ("lte",), controller="rl-explore"),
)
"""A scenario whose runs have two kinds of learning agents, and a flow that does not learn."""


def finished_traces(
    scenario: Scenario | None = None,
    *,
    title: str = "Fake",
    interval_s: float = 0.1,
    until_s: float | None = None,
    marks: Iterable[TraceMark] | None = None,
) -> LiveTraces:
    """Traces of a fake run up to a time, with marks (its own unless others are given), intervals and decisions."""
    scenario = scenario or make_scenario()
    simulation = FakeSimulation(scenario, sample_interval_s=interval_s)
    simulation.record_decisions()
    traces = LiveTraces(simulation, scenario, title=title, sample_interval_s=interval_s)
    simulation.run_until(scenario.duration_s if until_s is None else until_s)
    if marks is None:
        add_marks(traces, simulation.take_marks())
    else:
        traces.add_marks(marks)
    traces.add_events(INTERVAL.name, interval_table(simulation.take_intervals()))
    traces.add_events(DECISION.name, decision_table(simulation.take_decisions()))
    traces.add_events(AGENT.name, agent_table(simulation.take_agent_steps()))
    return traces


def add_marks(traces: LiveTraces, marks: Iterable[Any]) -> None:
    traces.add_marks(TraceMark(mark.time_s, mark.owner, mark.kind, mark.value) for mark in marks)
