"""The reasons of an agent: its action if one number of the observation had its median value."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.fake_runs import LEARNING, finished_traces
from tests.helpers.fake_simulation import FakeSimulation, make_flow, make_scenario
from tests.helpers.present import present

from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import SeriesKey
from subflow_app.features.training.core.agent_explanations import (
    agent_decisions_around,
    reason_lines,
    reasons,
    reasons_document,
    stored_agent_steps,
    stored_reasons,
    windows_beside,
)
from subflow_sim.agent_steps import AgentDecision
from subflow_store import Store


class Always:
    """Always chooses the same action."""

    def __init__(self, choice: float) -> None:
        self._choice = choice

    def act_many(
        self, rows: NDArray[np.float32], acting: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.full_like(rows[:, :, :1], self._choice), np.zeros(len(rows), np.float32)


class ByTheFirst:
    """Increases if the first number of the latest record is above 5, otherwise keeps; always ignores the second."""

    def act_many(
        self, rows: NDArray[np.float32], acting: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return 1 + (rows[:, :, :1] > 5).astype(np.float32), np.zeros(len(rows), np.float32)


def decision(store: Store, at_s: float) -> tuple[int, AgentDecision]:
    result = RunJob(LEARNING, "", simulation_maker=lambda s, seed, dt: FakeSimulation(s), store=store).run()
    (told,), _ = agent_decisions_around(store, present(result.run_id), "probe/1", at_s)
    return present(result.run_id), told


def test_the_number_that_moved_the_action_is_told_with_what_its_median_would_have_led_to(store: Store) -> None:
    run_id, told = decision(store, 4.5)
    steps = stored_agent_steps(store, run_id, "probe/1")
    (row,) = told.subflows
    assert row.observation[:2] == (4.0, 4.25)

    found = reasons(steps, told, ByTheFirst())
    median = float(np.median(steps.observation[:, 0]))
    assert median == 5.5
    (reason,) = found["probe/1"]
    assert (reason.feature, reason.value, reason.usual) == ("goodput", 4.0, median)
    assert reason.otherwise == (2.0,)
    assert reason.change == 1.0
    (line,) = reason_lines(told, found)
    assert line == f"  why      probe/1: goodput was 4; at its median, {median:.3g}, the action would be: increase"
    assert reasons_document(found)["probe/1"][0]["feature"] == "goodput"


def test_a_decision_without_a_reason_says_so(store: Store) -> None:
    run_id, told = decision(store, 4.5)
    found = reasons(stored_agent_steps(store, run_id, "probe/1"), told, Always(1))
    assert found == {"probe/1": []}
    assert "no number by itself" in reason_lines(told, found)[0]

    with pytest.raises(ValueError, match="explorer is not the one that decided"):
        reasons(stored_agent_steps(store, run_id, "probe/1"), told, Always(2))
    missing = stored_reasons(store, run_id, told)  # no policy "explorer" exists
    assert isinstance(missing, str)
    assert "no policy of that name" in reason_lines(told, missing)[0]
    assert reasons_document(missing).keys() == {"not_known"}


def test_the_window_is_told_beside_that_of_a_run_with_a_classic_controller(store: Store) -> None:
    _run_id, told = decision(store, 4.5)
    classic = make_scenario(make_flow("probe", "tcp", ("lte",), controller="newreno"))
    beside = finished_traces(classic, title="Classic")
    (times_s, windows_pkts), own = beside.read(SeriesKey("subflow", "probe/1", "cwnd_pkts", "pkt")), told.acting[0]
    then = windows_pkts[np.flatnonzero(times_s <= told.time_s)[-1]]

    assert windows_beside(told, [finished_traces(LEARNING), beside]) == [
        f"probe/1: window {own.figures['cwnd_after_pkts']:.3g} pkt; newreno in Classic: {then:.3g} pkt"
    ]
    assert windows_beside(told, [finished_traces(LEARNING)]) == []
