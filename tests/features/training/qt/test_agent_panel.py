"""The panel of learning agents: the decision that it shows, and its link with the plots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from tests.features.training.core.test_agent_reasons import ByTheFirst
from tests.features.training.core.test_agent_replay import growing, run_on
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_runs import LEARNING, RICH, finished_traces
from tests.helpers.present import child, present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.training.core import agent_explanations
from subflow_app.features.training.core.agent_replay import AgentReplay
from subflow_app.features.training.qt.agent_feature import AgentFeature
from subflow_app.features.training.qt.agent_panel import AgentPanel


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[AgentPanel]:
    made = AgentPanel([QAction("Next")])
    qtbot.addWidget(made)
    made.resize(420, 600)
    made.show()
    yield made
    made.show_runs([])


def texts(panel: AgentPanel) -> dict[str, list[str]]:
    """The rows of the numbers by name."""
    model = panel.numbers.model()
    rows = {}
    for row in range(model.rowCount()):
        name, *cells = (model.index(row, column).data() for column in range(model.columnCount()))
        rows[name] = cells
    return rows


def about(panel: AgentPanel) -> str:
    label = child(panel, QLabel, "agent_about")
    return label.text()


def test_without_an_agent_it_says_how_to_get_one(panel: AgentPanel) -> None:
    panel.show_runs([finished_traces(RICH)])
    title = child(panel, QLabel, "empty_title")
    assert title.isVisible()
    assert title.text() == "No learning agent"
    assert not panel.can_go_back
    assert not panel.can_go_on
    for go in (panel.go_to_first, panel.go_to_last, lambda: panel.step(1), lambda: panel.go_to_time(1.0)):
        go()


def test_a_decision_is_shown_with_all_its_numbers(panel: AgentPanel) -> None:
    panel.show_runs([finished_traces(LEARNING)])
    panel.go_to_time(2.0)
    assert about(panel) == "Decision 2 of 10 at 2.000 s\nReward 1 for what it did before, 1.5 for this (expected −2)"
    action = child(panel, QLabel, "agent_action").text()
    assert action.splitlines()[0] == (
        "On download/1: keeps the cwnd at 2 pkt, keeps the pacing rate at 2e−06 Mbit/s (window_change +0.9093)."
    )
    rows = texts(panel)
    assert rows["rtt"] == ["2.25", "2.25"]
    assert rows["window_change"] == ["0.9093", "0.9093"]
    assert rows["RTT"] == ["2 s", "2 s"]
    assert rows["cwnd"] == ["2 pkt", "2 pkt"]
    header = [panel.numbers.model().headerData(column, Qt.Orientation.Horizontal) for column in range(3)]
    assert header == ["", "download · wifi", "download · lte"]
    first = panel.decisions.model()
    assert [first.index(0, column).data() for column in range(5)] == ["1.000 s", "download", "+0.84, +0.84", "−1", "1"]


def test_what_moved_a_decision_is_told(panel: AgentPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    panel.show_runs([finished_traces(LEARNING)])
    assert panel.why.text().startswith("Why: not known: ")  # no such policy exists
    monkeypatch.setattr(agent_explanations, "_policy_of", lambda _agent: ByTheFirst())
    panel.agents.setCurrentIndex(1)
    panel.agents.activated.emit(1)
    panel.go_to_time(4.0)
    assert panel.why.text() == "Why: probe/1: goodput was 4; at its median, 5.5, the action would be: increase"


def test_stepping_follows_keys_and_rows(panel: AgentPanel, qtbot: QtBot) -> None:
    panel.show_runs([finished_traces(LEARNING)])
    told: list[tuple[int, float]] = []
    panel.decision_chosen.connect(lambda run, time_s: told.append((run, time_s)))
    panel.step(1)
    panel.go_to_last()
    assert panel.can_go_back
    assert not panel.can_go_on
    panel.step(1)
    panel.go_to_first()
    assert not panel.can_go_back
    assert panel.decisions.currentIndex().row() == 0
    QTest.keyClick(panel.decisions, Qt.Key.Key_Down)
    assert told == [(0, 2.0), (0, 10.0), (0, 10.0), (0, 1.0), (0, 2.0)]
    assert about(panel).startswith("Decision 2 of 10")


def test_another_agent_is_chosen_at_the_same_time(panel: AgentPanel) -> None:
    panel.show_runs([finished_traces(LEARNING)])
    panel.go_to_time(4.0)
    assert [panel.agents.itemText(item) for item in range(2)] == [
        "download: drl-cc by random",
        "probe/1: rl-explore by explorer",
    ]
    panel.agents.setCurrentIndex(1)
    panel.agents.activated.emit(1)
    assert about(panel).startswith("Decision 4 of 10 at 4.000 s")
    assert texts(panel)["choice"] == ["keep"]
    assert texts(panel)["rtt, 1 before"] == ["4.75"]
    assert [panel.plotted["action"].itemText(0)] == ["choice"]


def test_agents_of_several_runs_are_told_apart(panel: AgentPanel) -> None:
    runs = [finished_traces(RICH), *(finished_traces(LEARNING, title=title) for title in ("First", "Second"))]
    panel.show_runs(runs)
    told: list[int] = []
    panel.decision_chosen.connect(lambda run, _time_s: told.append(run))
    assert panel.agents.count() == 4
    assert panel.agents.itemText(2) == "Second: download: drl-cc by random"
    panel.agents.setCurrentIndex(2)
    panel.agents.activated.emit(2)
    assert told == [2]


def test_a_run_under_way_is_followed(panel: AgentPanel) -> None:
    simulation, traces = growing()
    panel.show_runs([traces])
    title = child(panel, QLabel, "empty_title")
    assert title.text() == "No decision yet"
    run_on(simulation, traces, 2.0)
    panel.refresh()
    assert about(panel).startswith("Decision 1 of 2")
    panel.go_to_last()
    panel.hide()
    run_on(simulation, traces, 5.0)
    panel.refresh()
    assert panel.decisions.model().rowCount() == 2  # the panel is hidden
    panel.show()
    assert about(panel).startswith("Decision 5 of 5")
    assert panel.decisions.model().rowCount() == 5


# Together with the plots


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(AgentFeature, PlayheadFeature)


def click(view: PlotView, time_s: float) -> None:
    plot = view.stack.time_plots[0]
    middle = sum(plot.view.viewRange()[1]) / 2
    from PySide6.QtCore import QPointF

    point = view.stack.mapFromScene(plot.view.mapViewToScene(QPointF(time_s, middle)))
    QTest.mouseMove(view.stack.viewport(), QPoint(point))
    QTest.mouseClick(view.stack.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(point))
    QApplication.processEvents()


def test_the_plots_follow_the_decision_and_the_decision_a_click(desk: Desk, qtbot: QtBot) -> None:
    desk.plots.show_runs([finished_traces(LEARNING)])
    desk.docks.set_open("agent", True)
    QApplication.processEvents()
    desk.features[AgentFeature].content.go_to_first()
    assert not desk.bar["agent.previous"].isEnabled()
    desk.bar.trigger("agent.next")
    assert desk.plots.stack.pin_s == 2.0
    assert desk.plots.stack.cursor_s == 2.0
    assert desk.bar["agent.previous"].isEnabled()

    click(desk.plots, 6.9)
    assert about(desk.features[AgentFeature].content).startswith("Decision 7 of 10 at 7.000 s")
    assert desk.plots.stack.pin_s == 7.0

    # Plots zoomed in elsewhere move to the decision.
    desk.plots.stack.set_time_range(0.0, 1.0)
    desk.bar.trigger("agent.last")
    low, high = desk.plots.stack.time_range
    assert low < 10.0 < high
    assert high - low == pytest.approx(1.0, rel=1e-3)
    assert not desk.bar["agent.next"].isEnabled()

    desk.plots.show_runs([])
    assert desk.plots.stack.pin_s is None
    assert desk.features[AgentFeature].content.replay is None


def test_agents_of_a_run_are_there_before_anybody_opens_the_panel(desk: Desk) -> None:
    desk.docks.set_open("agent", False)
    desk.plots.show_runs([finished_traces(LEARNING)])
    click(desk.plots, 6.9)
    assert desk.plots.stack.pin_s == 7.0
    assert desk.bar["agent.next"].isEnabled()

    desk.docks.set_open("agent", True)

    assert desk.features[AgentFeature].content.decisions.isVisible()
    assert about(desk.features[AgentFeature].content).startswith("Decision 7 of 10 at 7.000 s")


def test_a_number_is_chosen_for_the_plots(desk: Desk) -> None:
    desk.plots.show_runs([finished_traces(LEARNING)])
    desk.features[AgentFeature].content.number_chosen.emit("observation", "rtt")
    spec = desk.plots.specs[-1]
    assert (spec.id, spec.number) == ("agent_observation", "rtt")
    values = next(iter(desk.plots.stack.time_plots[-1].curves.values())).shown_values
    assert values.tolist()[:2] == [1.25, 2.25]
    desk.plots.show_runs([finished_traces(LEARNING)])
    assert desk.plots.specs[-1].number == ""


def test_the_card_of_a_policy_is_one_click_away(
    desk: Desk, dialogs: ScriptedDialogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.plots.show_runs([finished_traces(LEARNING)])
    desk.docks.set_open("agent", True)
    panel = desk.features[AgentFeature].content
    assert panel.card.isHidden(), "no file is named random"
    monkeypatch.setattr(AgentReplay, "agent", replace(present(present(panel.replay).agent), policy="drl-cc"))
    panel.agents.activated.emit(0)
    assert (
        child(panel, QLabel, "agent_origin").text().startswith("Policy drl-cc: the paper's agent as printed, recipe ")
    )
    panel.card.click()
    title, text = dialogs.told[-1]
    assert title == "Policy drl-cc"
    for shown in ("Hash: ", "Card:", "Seed: "):
        assert shown in text


def test_numbers_wrap_in_a_narrow_panel(panel: AgentPanel) -> None:
    panel.resize(340, 600)
    panel.show_runs([finished_traces(LEARNING)])
    panel.go_to_first()
    QApplication.processEvents()
    assert not panel.numbers.horizontalScrollBar().isVisible()
