"""Explaining decisions of learning agents of stored runs: the explanation, or the reason why it is impossible."""

from __future__ import annotations

import pytest
from tests.helpers.fake_runs import LEARNING, RICH
from tests.helpers.fake_simulation import FakeSimulation
from tests.helpers.present import present

from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.features.training.core.agent_explanations import (
    agent_decision_document,
    agent_decision_lines,
    agent_decisions_around,
    agents_document,
    agents_line,
    agents_table,
    stored_agent_steps,
)
from subflow_app.foundation.errors import InputError
from subflow_sim.whole_scenario import Scenario
from subflow_store import Store


def stored(store: Store, scenario: Scenario = LEARNING) -> int:
    """A run of 10 s; each agent decides at every full second."""
    result = RunJob(scenario, "", simulation_maker=lambda s, seed, dt: FakeSimulation(s), store=store).run()
    return present(result.run_id)


@pytest.mark.parametrize(
    ("at_s", "before", "after", "times"),
    [
        (4.0, 1, 0, ([4.0], [])),
        (4.9, 2, 1, ([3.0, 4.0], [5.0])),
        (1.0, 5, 2, ([1.0], [2.0, 3.0])),
        (10.0, 1, 3, ([10.0], [])),
    ],
)
def test_decisions_by_time(
    store: Store, at_s: float, before: int, after: int, times: tuple[list[float], list[float]]
) -> None:
    found = agent_decisions_around(store, stored(store), "download", at_s, before=before, after=after)

    assert tuple([told.time_s for told in side] for side in found) == times
    assert {told.agent.name for side in found for told in side} == {"download"}


def test_a_decision_is_told_with_what_was_seen_done_and_earned(store: Store) -> None:
    (told,), _ = agent_decisions_around(store, stored(store), "probe/1", 4.5)

    assert agent_decision_lines(told) == [
        "probe/1 at 4.000000000 s: decision 3 of rl-explore, by explorer",
        "  policy   explorer: its file cannot be found or read",
        "  action   probe/1: keep: cwnd stays 4 pkt, pacing rate stays 4e−06 Mbit/s",
        "  reward   2 for what it did before, 2.5 for this, which the policy valued at −4: goodput - loss",
        "  probe/1: epoch 4000 ms, sending rate 4e−06 Mbit/s, goodput 4e−06 Mbit/s, loss 4, RTT 4000 ms, "
        "min RTT 4000 ms, share of packets 4, cwnd 4 pkt, pacing rate 4e−06 Mbit/s",
        "    saw goodput 4, rtt 4.25",
        "    1 before: goodput 4.5, rtt 4.75",
    ]


def test_the_document_of_a_decision_is_complete(store: Store) -> None:
    (told,), _ = agent_decisions_around(store, stored(store), "download", 1.0)
    document = agent_decision_document(told)
    first, second = document.pop("subflows")

    assert document == {
        "time_s": 1.0,
        "agent": "download",
        "controller": "drl-cc",
        "policy": "random",
        "number": 0,
        "value": -1.0,
        "reward": None,
        "outcome": 1.0,
    }
    assert (first["name"], first["is_acting"], second["name"]) == ("download/1", True, "download/2")
    assert first["observation"] == [{"goodput": 1.0, "rtt": 1.25}]
    assert first["action"] == {"window_change": pytest.approx(0.841471)}
    assert first["cwnd_after_pkts"] == 1.0


def test_agents_are_listed(store: Store) -> None:
    run_id = stored(store)
    steps = stored_agent_steps(store, run_id)

    assert agents_line(store.event_extents(run_id, "agent")) == "decisions of the learning agents download, probe/1"
    assert agents_table(steps).rows == (
        ("download", "drl-cc", "random", "10", "1.000", "10.000", "3"),
        ("probe/1", "rl-explore", "explorer", "10", "1.000", "10.000", "3"),
    )
    # Rewards are half the time, for all decisions but the first: the mean of 1, 1.5 ... 5 is 3.
    document = agents_document(steps)[0]
    assert (document["decisions"], document["mean_reward"], document["last_s"]) == (10, 3.0, 10.0)
    assert [feature["name"] for feature in document["features"]] == ["goodput", "rtt"]


@pytest.mark.parametrize(
    ("agent", "at_s", "text"),
    [
        ("client", 1.0, 'no agent "client"; it has download, probe/1'),
        (None, 1.0, "several agents; name one of download, probe/1"),
        ("download", 11.0, "from 0 s to 10 s; 11 s is not in it"),
        ("download", 0.5, "begin at 1.000000 s"),
    ],
)
def test_what_cannot_be_told_is_said(store: Store, agent: str | None, at_s: float, text: str) -> None:
    with pytest.raises(InputError, match=text):
        agent_decisions_around(store, stored(store), agent, at_s)


def test_a_run_that_does_not_learn_says_so(store: Store) -> None:
    with pytest.raises(InputError, match="none of its controllers learns"):
        agent_decisions_around(store, stored(store, RICH), None, 1.0)


def test_stored_traces_read_the_steps_of_a_finished_run_once(store: Store) -> None:
    traces = StoredTraces(store, stored(store))

    assert traces.events("agent") is traces.events("agent")
    assert len(traces.events("agent")) == 30
