"""Explaining the decisions of a script: its executed lines with their numbers, one after the other, in the editor."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.features.explain.qt.test_explain import click, explained
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER, write_scenario
from tests.helpers.window import TWO_PATHS

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.explain.qt.panel import ExplainPanel
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.plots.core import PlotSpec
from subflow_app.features.plots.qt.curve_id import title_of
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.foundation.errors import InputError
from subflow_sim.decisions import DecisionLimits

GROWS_S = 0.2  # before the first loss


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with explained decisions, the open panel, and the scripts that decided."""
    made = make_desk(PlayheadFeature, ExplainFeature, ScriptFeature)
    made.docks.set_open("explain", True)
    return made


@pytest.fixture
def panel(desk: Desk, qtbot: QtBot, tmp_path: Path) -> ExplainPanel:
    """The panel with a decision of a script, in a run with recorded decisions; the scenario is open."""
    path = write_scenario(tmp_path)
    source = open_scenario(str(path))
    run_id = present(RunJob(source.scenario, source.text, store=desk.store, decisions=DecisionLimits()).run().run_id)
    desk.documents.open(path)
    desk.shown.show_stored(desk.store, [run_id])
    qtbot.waitUntil(lambda: len(desk.plots.runs) == 1)
    click(desk, "f/1", "subflow", GROWS_S)
    return explained(desk, qtbot).content


def cells(model: QAbstractItemModel) -> list[list[str]]:
    columns = range(model.columnCount())
    return [[str(model.index(row, column).data()) for column in columns] for row in range(model.rowCount())]


def lines(panel: ExplainPanel) -> list[list[str]]:
    return cells(panel.lines.table.model())


def names(panel: ExplainPanel) -> dict[str, str]:
    """The current values of the names."""
    return {name: value for name, value, *_ in cells(panel.numbers.model())}


def test_the_lines_that_were_executed_stand_there_with_their_numbers(panel: ExplainPanel) -> None:
    first, second = lines(panel)
    told = present(panel.lines.told)

    assert first == ["6", "left = slow_start(w, ack)", told.lines[0].result]
    assert second[:2] == ["7", "w.cwnd += gain * left / w.cwnd"]
    assert re.search(rf"2 \* 0 / .* = {told.cwnd_pkts[1]:.6g}$", second[2])
    assert panel.lines.title.text().startswith("mine, on_ack · Found by simulating the run again: runs do not record")
    assert "cwnd" in panel.where.text()
    assert panel.rule.text() == ""
    assert present(panel.point).topic == "section/script"


def test_lines_are_gone_through_with_what_the_names_stand_for(desk: Desk, panel: ExplainPanel, qtbot: QtBot) -> None:
    assert panel.lines.position == 0
    assert not desk.bar["explain.previous_line"].isEnabled()
    before = names(panel)
    desk.bar["explain.next_line"].trigger()
    after = names(panel)

    assert panel.lines.position == 1
    assert not desk.bar["explain.next_line"].isEnabled()
    assert set(before) == {"w.cwnd", "w.ssthresh", "gain", "ack.acked", "left"}
    assert after["w.cwnd"] == panel.lines.lines[1].result[2:]
    assert before["gain"] == "2"
    # Rules of the sender have a number of the same name.
    assert {row[3] for row in cells(panel.numbers.model()) if row[0] == "left"} == {""}
    desk.bar["explain.previous_line"].trigger()
    assert names(panel) == before

    # A decision without a script has no lines to step through.
    click(desk, "f/1", "subflow", 0.06)
    explained(desk, qtbot)
    assert present(panel.point).told.rule.name == "initial_window"
    assert not panel.lines.isVisibleTo(panel)
    assert not desk.bar["explain.previous_line"].isEnabled()
    assert not desk.bar["explain.open_script"].isEnabled()


def test_a_double_click_opens_the_script_where_the_line_is_marked(desk: Desk, panel: ExplainPanel) -> None:
    script = desk.features[ScriptFeature].session
    desk.docks.set_open("explain", True)
    desk.docks.raise_panel("explain")
    table = panel.lines.table
    place = table.visualRect(table.model().index(1, 1)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    editor = script.panel.editor
    assert script.desk.name == "mine"
    assert editor.textCursor().blockNumber() + 1 == 7
    assert editor.moment == 7
    desk.bar["explain.previous_line"].trigger()
    assert editor.moment == 6
    # The typed text differs from the text of the run.
    editor.put_text(CONTROLLER + "# mine\n")
    assert editor.moment is None
    desk.bar["explain.open_script"].trigger()
    assert "changed since that run" in desk.statusBar().currentMessage()


def test_a_script_that_is_not_in_the_open_scenario_is_said_to_be_missing(desk: Desk, panel: ExplainPanel) -> None:
    desk.documents.open_text(TWO_PATHS, "two-paths")
    with pytest.raises(InputError, match="has no script mine"):
        desk.features[ExplainFeature].open_script()
    assert desk.features[ScriptFeature].session.panel.editor.moment is None


def test_the_halving_of_a_script_is_told_where_it_is_carried_out(desk: Desk, panel: ExplainPanel, qtbot: QtBot) -> None:
    traces = desk.plots.runs[0]
    loss_s = next(mark.time_s for mark in traces.marks() if (mark.kind, mark.owner) == ("loss", "f/1"))
    click(desk, "f/1", "subflow", loss_s)
    explained(desk, qtbot)

    assert present(panel.point).told.rule.name == "proportional_rate_reduction"
    assert [row[1] for row in lines(panel)] == ["w.ssthresh = max(w.cwnd / 2, 2)"]
    assert "proportional" in panel.rule.text()


def test_a_schedulers_script_tells_whom_it_chose(desk: Desk, panel: ExplainPanel, qtbot: QtBot) -> None:
    click(desk, "f", "flow", 0.15)
    feature = explained(desk, qtbot)
    while panel.point is not None and panel.point.scripted is None:
        desk.bar["explain.previous"].trigger()
        feature = explained(desk, qtbot)

    assert feature.content.lines.title.text().startswith("nearest, select · ")
    assert lines(panel)[-1][1].startswith("return best(")


def watched(desk: Desk, qtbot: QtBot) -> list[PlotSpec]:
    """The plots of the watched expressions, after all of them are computed."""
    watching = desk.features[ExplainFeature].watching
    qtbot.waitUntil(lambda: not watching.is_busy)
    return [spec for spec in desk.plots.specs if spec.id.startswith("watch_")]


def write(panel: ExplainPanel, text: str) -> None:
    panel.watches.line.setText(text)
    QTest.keyClick(panel.watches.line, Qt.Key.Key_Return)


def test_what_is_watched_is_a_curve_until_it_is_removed(
    desk: Desk, panel: ExplainPanel, qtbot: QtBot, tmp_path: Path
) -> None:
    desk.bar["explain.watch"].trigger()
    write(panel, "w.cwnd * 2")
    write(panel, "left / gain")
    first, second = watched(desk, qtbot)
    told = present(panel.lines.told)

    assert (first.number, second.number) == ("w.cwnd * 2", "left / gain")
    curves = {curve.owner: curve for curve in first.curves(desk.plots.runs[0])}
    assert set(curves) == {"f/1", "f/2"}
    at = np.searchsorted(curves["f/1"].time_s, told.time_s)
    assert curves["f/1"].values[at] == pytest.approx(2 * told.cwnd_pkts[1])
    assert [title_of(spec) for spec in desk.plots.stack.specs[-2:]] == ["Watched: w.cwnd * 2", "Watched: left / gain"]
    assert len(desk.plots.stack.time_plots[-1].shown_curves()) == 2
    assert panel.watches.line.text() == ""
    desk.exports.export_data(tmp_path / "shown.csv")
    rows = (tmp_path / "shown.csv").read_text(encoding="utf-8").splitlines()
    assert any("w.cwnd * 2" in row for row in rows)
    assert len(rows) > len(curves["f/1"].values)

    # The watched expressions also apply to another run of the script.
    source = open_scenario(str(desk.documents.doc.path))
    other = present(RunJob(source.scenario, source.text, store=desk.store, seed=5).run().run_id)
    desk.shown.show_stored(desk.store, [1, other])
    qtbot.waitUntil(lambda: len(desk.plots.runs) == 2)
    first, second = watched(desk, qtbot)
    assert len(first.overlay(desk.plots.runs)) == 4

    click(desk, "f/1", "subflow", GROWS_S)
    explained(desk, qtbot)
    button, other_button = panel.watches.buttons
    assert button.text() == "w.cwnd * 2"
    button.click()
    assert [spec.number for spec in watched(desk, qtbot)] == ["left / gain"]
    other_button.click()
    assert watched(desk, qtbot) == []
    assert panel.watches.buttons == []


@for_each(
    ("text", "problem"),
    [
        ("nobody + 1", 'mine has no "nobody"; allowed: "ack.acked", "gain"'),
        ("", "nothing to watch"),
        ("left +", "column 7"),
    ],
)
def test_what_cannot_be_watched_is_told(desk: Desk, panel: ExplainPanel, qtbot: QtBot, text: str, problem: str) -> None:
    write(panel, text)
    assert problem in panel.watches.problem.text()
    assert panel.watches.line.text() == text
    assert watched(desk, qtbot) == []


def test_the_same_is_watched_once(desk: Desk, panel: ExplainPanel, qtbot: QtBot) -> None:
    write(panel, "left")
    write(panel, " left ")
    assert "is watched already" in panel.watches.problem.text()
    (spec,) = watched(desk, qtbot)
    assert spec.number == "left"
