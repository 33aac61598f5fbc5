"""Observations, actions and rewards of agents: found by agent and time, explained with names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import link, mptcp, scenario, tcp

from subflow_sim import DecisionLimits, Simulation
from subflow_sim.agent_steps import EPOCH_FIGURES, AgentSteps, RunAgent
from subflow_sim.decisions import CAUSES
from subflow_sim.scenario_model import Choice
from subflow_sim.vec_env import AgentNumber
from subflow_sim.whole_scenario import Scenario

FEATURES = (AgentNumber("goodput", "1", "", 0.0, 2.0), AgentNumber("rtt", "1", "", 0.0, 5.0))
CHANGE = AgentNumber("window_change", "1", "", -1.0, 1.0)
# Serves two connections in turn, and observes all four of their subflows each time.
HOST = RunAgent("server", "drl-cc", "host", "random", FEATURES, (CHANGE,), (), 1, "U")
PROBE = RunAgent("probe/1", "rl-explore", "subflow", "explorer", FEATURES, (), ("decrease", "keep", "increase"), 2, "U")
SUBFLOWS = ("a/1", "a/2", "b/1", "probe/1")


def steps() -> AgentSteps:
    """The host decides at 10, 20, 30 and 40 ms for a, b, a and b; the probe at 20 and 35 ms.

    Rewards are the time of the decision in ms; number j of an observation is the reward plus j / 10.
    """
    rows = [
        (at_ms, 0, number, subflow, (subflow == 2) == bool(number % 2))
        for number, at_ms in enumerate((10, 20, 30, 40))
        for subflow in range(3)
    ]
    rows += [(20, 1, 0, 3, True), (35, 1, 1, 3, True)]
    rows.sort(key=lambda row: row[:2])
    ms, agent, number, subflow, acts = (np.array(column) for column in zip(*rows, strict=True))
    own = np.where(agent == 0, 2, 4)[:, np.newaxis]
    figures: dict[str, Any] = {name: np.full(len(rows), ms / 1000, np.float32) for name in EPOCH_FIGURES}
    return AgentSteps(
        (HOST, PROBE),
        SUBFLOWS,
        time_ns=ms.astype(np.int64) * 1_000_000,
        agent=agent.astype(np.uint32),
        number=number.astype(np.uint32),
        subflow=subflow.astype(np.uint32),
        is_acting=acts.astype(np.bool_),
        value=np.where(agent == 0, np.nan, 7.0).astype(np.float32),
        reward=np.where(number > 0, ms, np.nan).astype(np.float32),
        observation=np.where(np.arange(4) < own, ms[:, np.newaxis] + np.arange(4) / 10, np.nan).astype(np.float32),
        action=np.where(acts, np.where(agent == 0, 0.25, 2.0), np.nan)[:, np.newaxis].astype(np.float32),
        **figures,
    )


def test_decisions_are_found_by_agent() -> None:
    taken = steps()
    assert [int(taken.time_ns[row]) // 10**6 for row in taken.decisions("server")] == [10, 20, 30, 40]
    assert [int(taken.time_ns[row]) // 10**6 for row in taken.decisions("probe/1")] == [20, 35]
    assert [taken.rows("server", position).start for position in range(4)] == [0, 3, 7, 11]
    assert taken.rows("server", 3) == slice(11, 14)
    assert taken.rows("probe/1", -1) == slice(10, 11)
    with pytest.raises(KeyError):
        taken.decisions("client")
    with pytest.raises(IndexError):
        taken.rows("server", 4)


@for_each(
    ("time_s", "at", "nearest"),
    [(0.0, None, 0), (0.010, 0, 0), (0.0149, 0, 0), (0.0151, 0, 1), (0.0299, 1, 2), (0.04, 3, 3), (1e300, 3, 3)],
)
def test_decisions_are_found_by_time(time_s: float, at: int | None, nearest: int) -> None:
    assert steps().at("server", time_s) == at
    assert steps().nearest("server", time_s) == nearest


def test_a_decision_tells_what_it_earned() -> None:
    # The action of 10 ms was rewarded at 20 ms, although another flow acted then.
    told = [steps().explain("server", position) for position in range(4)]
    assert [(each.number, each.time_s) for each in told] == [(0, 0.01), (1, 0.02), (2, 0.03), (3, 0.04)]
    np.testing.assert_array_equal([each.reward for each in told], [math.nan, 20, 30, 40])
    np.testing.assert_array_equal([each.outcome for each in told], [20, 30, 40, math.nan])
    assert all(math.isnan(each.value) for each in told)
    np.testing.assert_array_equal(steps().explain("server", -1).outcome, math.nan)
    probe = steps().explain("probe/1", 0)
    assert (probe.outcome, probe.value) == (35, 7)


def test_a_decision_tells_what_was_seen_and_done() -> None:
    host = steps().explain("server", 1)
    assert [(seen.name, seen.is_acting) for seen in host.subflows] == [("a/1", False), ("a/2", False), ("b/1", True)]
    assert [seen.name for seen in host.acting] == ["b/1"]
    assert host.action_text == "b/1 window_change +0.25"
    assert host.subflows[0].action == ()
    np.testing.assert_allclose(host.subflows[0].observation, [20, 20.1], rtol=1e-6)
    assert host.subflows[0].figures.keys() == EPOCH_FIGURES.keys()
    assert host.subflows[0].figures["rtt_s"] == pytest.approx(0.02)
    probe = steps().explain("probe/1", 1)
    assert probe.action_text == "probe/1 increase"
    np.testing.assert_allclose(probe.subflows[0].observation, [35, 35.1, 35.2, 35.3], rtol=1e-6)


def part(of: AgentSteps, rows: slice, agents: tuple[RunAgent, ...] = (HOST, PROBE)) -> AgentSteps:
    return AgentSteps(agents, SUBFLOWS, **{name: getattr(of, name)[rows] for name in AgentSteps.columns()})


def assert_same(one: AgentSteps, other: AgentSteps) -> None:
    for name in AgentSteps.columns():
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_batches_join_to_the_whole() -> None:
    whole = steps()
    assert_same(AgentSteps.joined([part(whole, rows) for rows in (slice(0, 0), slice(0, 4), slice(4, None))]), whole)
    with pytest.raises(ValueError, match="no batches"):
        AgentSteps.joined([])
    with pytest.raises(ValueError, match="different simulations"):
        AgentSteps.joined([whole, part(whole, slice(None), (HOST,))])


def test_an_agent_without_decisions_has_nothing_near() -> None:
    none = part(steps(), slice(3))
    assert none.nearest("probe/1", 0.0) is none.at("probe/1", 1.0) is None
    assert len(none.decisions("probe/1")) == 0


# Of real runs


def learning(controller: str, policy: str = "neutral", count: int = 2, duration_s: float = 5.0) -> Scenario:
    """Flows of a learning controller over two lossy paths, beside a NewReno flow of the same host on the first."""
    learner = mptcp("wide", ["one", "two"], Choice(controller, {"policy": policy}), count=count)
    links = [link("one", loss=0.01), link("two", rate_bps=4e6, delay_s=0.02, queue_pkts=20)]
    return scenario(links, [learner, tcp("plain", "one")], duration_s=duration_s)


def run(made: Scenario, step_s: float | None = None) -> tuple[Simulation, AgentSteps]:
    simulation = Simulation(made)
    batches = []
    while not simulation.finished:
        simulation.run_until(simulation.now_s + (step_s or made.duration_s))
        taken = simulation.take_agent_steps()
        assert taken is not None
        batches.append(taken)
    return simulation, AgentSteps.joined(batches)


def test_controllers_that_do_not_learn_have_no_agents() -> None:
    simulation = Simulation(scenario([link("one")], [tcp("plain", "one")], duration_s=1.0))
    simulation.run_until(1.0)
    assert simulation.agents == ()
    assert simulation.take_agent_steps() is None


def test_an_agent_of_a_host_sees_all_its_flows_and_steers_those_that_learn() -> None:
    simulation, taken = run(learning("drl-cc"))
    (agent,) = simulation.agents
    told = taken.explain(agent.name, len(taken.decisions(agent.name)) // 2)

    assert (agent.name, agent.scope, agent.controller, agent.policy) == ("server", "host", "drl-cc", "neutral")
    assert [seen.name for seen in told.subflows] == ["wide.1/1", "wide.1/2", "wide.2/1", "wide.2/2", "plain/1"]
    assert len({seen.name.partition("/")[0] for seen in told.acting}) == 1
    assert told.acting[0].action == (0.0,)
    assert math.isfinite(told.reward)
    assert math.isfinite(told.outcome)
    assert [f.name for f in agent.features][:2] == ["sending_rate", "goodput"]


def test_agents_say_who_decides() -> None:
    for policy, least, most in (("neutral", 0.0, 0.0), ("random", -1.0, 1.0)):
        simulation, taken = run(learning("drl-cc", policy))
        actions = taken.action[taken.is_acting, 0]
        assert [agent.policy for agent in simulation.agents] == [policy]
        assert least <= actions.min() <= 0.9 * least
        assert 0.9 * most <= actions.max() <= most


def test_agents_of_connections_have_their_names() -> None:
    simulation, taken = run(learning("dql-mptcp"))
    assert [agent.name for agent in simulation.agents] == ["wide.1", "wide.2"]
    assert {agent.scope for agent in simulation.agents} == {"connection"}
    told = taken.explain("wide.2", 3)
    assert [seen.name for seen in told.subflows] == ["wide.2/1", "wide.2/2"]
    assert told.agent.action_names == ("window_change", "schedule_change")


def test_steps_are_the_same_however_they_are_taken() -> None:
    simulation, whole = run(learning("drl-cc"))
    cut, parts = run(learning("drl-cc"), step_s=0.0313)
    assert simulation.signature() == cut.signature()
    assert simulation.agent_steps_lost == cut.agent_steps_lost == 0
    assert_same(parts, whole)


def test_epochs_add_up_to_what_a_flow_got() -> None:
    simulation, taken = run(learning("dql-mptcp", count=1))
    acked_bits = float(np.sum(taken.goodput_bps.astype(np.float64) * taken.epoch_s))
    goodput_bps = simulation.summary()["flows"][0]["goodput_bps"]
    # Without the data delivered after the last decision or twice, and with the data acknowledged out of order.
    assert acked_bits == pytest.approx(goodput_bps * 5.0, rel=0.1)


def test_each_decision_of_a_window_is_explained_by_its_action() -> None:
    made = learning("drl-cc", count=1)
    simulation = Simulation(made, decisions=DecisionLimits())
    simulation.run_until(made.duration_s)
    taken, decisions = simulation.take_agent_steps(), simulation.take_decisions()
    assert taken is not None
    acted = [row for row in range(len(decisions)) if CAUSES[decisions.cause[row]] == "action"]
    rows = np.flatnonzero(taken.is_acting)
    assert [decisions.time_ns[row] for row in acted] == taken.time_ns[rows].tolist()
    told = decisions.explain(acted[-1])
    assert told.rule.name == "agent_window_change"
    assert "w + action * max(w / 2, 2)" in told.rule.formula
    assert told.numbers[0].value == pytest.approx(float(taken.action[rows[-1], 0]))
    assert told.cwnd_pkts[1] == pytest.approx(float(taken.cwnd_after_pkts[rows[-1]]))
