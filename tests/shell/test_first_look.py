"""Panels are made and filled at their first display, for a short start; a window opens in the state of the last."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import RICH, finished_traces
from tests.helpers.fake_trainings import FakeDesk
from tests.helpers.present import child, present
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.worn_window import close_window

from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.explain.qt.panel import ExplainPanel
from subflow_app.features.fairness.qt.feature import FairnessFeature
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.foundation.settings import load_settings
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.workspaces import DEFAULT_WORKSPACE


@pytest.mark.own_window
def test_panels_are_made_and_filled_when_somebody_looks(window: MainWindow, tmp_path: Path) -> None:
    playhead, explain = window.features[PlayheadFeature], window.features[ExplainFeature]
    fairness, training = window.features[FairnessFeature], window.training_session
    for name in ("design", "analyse", "lab", DEFAULT_WORKSPACE):
        window.bar.trigger(f"view.workspace_{name}")
        window.workspaces.reset()

    assert playhead.canvas is None
    assert window.findChild(QWidget, "event_table") is None
    assert window.findChild(ExplainPanel) is None
    assert explain.possible() == frozenset()
    assert fairness.shown is None
    # Filling the Train page takes time and threads.
    assert training.shown is None
    assert not window.bar["train.start"].isEnabled()

    window.docks.go_to("events")
    assert window.findChild(QWidget, "event_table") is playhead.content.table
    assert playhead.content.isVisible()
    window.docks.go_to("explain")
    assert explain.content.isVisible()
    assert window.docks.content("explain").isAncestorOf(explain.content)
    window.docks.set_open("fairness", True)
    assert fairness.shown is not None

    window.docks.set_open("agent", False)
    window.plots.show_runs([finished_traces(RICH)])  # without agents
    assert window.agent.shown is None
    assert not window.bar["agent.next"].isEnabled()
    window.docks.set_open("agent", True)
    title = child(window.agent.panel, QLabel, "empty_title")
    assert title.isVisible()
    assert title.text() == "No learning agent"

    window.desk_maker = lambda _store: FakeDesk(tmp_path / "trainings")
    window.activateWindow()
    QApplication.processEvents()
    window.docks.go_to("train")
    focused = present(QApplication.focusWidget())
    assert focused.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert training.content.isAncestorOf(focused)


def test_the_next_window_opens_as_this_one_was_left(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    first = open_window()
    assert first.history.model.grouping == "sweep"
    for name in ("view.topology", "view.marks", "view.plot_queue", "run.speed_fast", "view.theme_dark"):
        first.bar.trigger(name)
    for name in ("arrange.grid", "arrange.timeline", "view.workspace_design", "view.agent"):
        first.bar.trigger(name)
    first.history.set_grouping("day")
    close_window(qtbot, first)

    second = open_window()

    assert second.workspaces.current == "design"
    assert second.bar["view.workspace_design"].isChecked()
    assert second.docks.is_open("agent")
    second.bar.trigger(f"view.workspace_{DEFAULT_WORKSPACE}")
    assert not second.docks.is_open("topology")
    assert second.docks.is_open("inspector")
    assert second.bar["arrange.grid"].isChecked()
    assert not second.bar["arrange.timeline"].isChecked()
    assert not second.features[PlayheadFeature].lanes.isVisible()
    assert not second.bar["view.marks"].isChecked()
    assert [spec.id for spec in second.plots.specs] == ["throughput", "cwnd", "rtt", "queue"]
    assert second.bar["view.plot_queue"].isChecked()
    assert second.bar["run.speed_fast"].isChecked()
    assert second.speed_limit == 100.0
    assert second.history.model.grouping == "day"
    assert second.bar["view.theme_dark"].isChecked()
    assert load_settings(tmp_path / "settings.json").theme == "dark"
