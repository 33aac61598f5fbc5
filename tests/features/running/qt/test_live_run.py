"""Changing a running run, stepping through it, and setting its speed, by actions and the live panel."""

from __future__ import annotations

from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.editor.core.scripts import add_script
from subflow_app.features.running.qt.live_panel import LivePanel, beside_inspector
from subflow_app.shell.actions.run import run_rows
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

Widget = TypeVar("Widget", QCheckBox, QComboBox, QLineEdit)
LONG = TWO_PATHS.replace('duration = "2s"', 'duration = "30s"')


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with the live panel, which exists before a run begins."""
    made = make_desk(actions=run_rows())
    assert made.live.isHidden()
    return made


def part(desk: Desk, kind: type[Widget], name: str) -> Widget:
    found = present(desk.live.findChild(kind, name))
    return found


def held_at(qtbot: QtBot, desk: Desk, at_s: float) -> None:
    qtbot.waitUntil(lambda: desk.runs.is_paused and desk.runs.progress is not None)
    assert present(desk.runs.progress).sim_time_s == pytest.approx(at_s, abs=1e-12)


def start_and_hold(qtbot: QtBot, desk: Desk, key: str, text: str = LONG) -> None:
    desk.documents.open_text(text, "long")
    desk.inspector.show_key(key)
    desk.bar.trigger("run.step_sample")
    held_at(qtbot, desk, 0.1)


def finish(qtbot: QtBot, desk: Desk) -> None:
    """Lets the run end; its stored scenario gives the same run."""
    desk.bar.trigger("run.speed_express")
    with qtbot.waitSignal(desk.runs.ended):
        desk.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: len(desk.history.runs()) > 0)  # the list may still be reading
    run = desk.store.run(desk.history.runs()[0].id)
    simulation = Simulation(parse_scenario(run.scenario_text or ""))
    simulation.run_until(simulation.duration_s)
    assert simulation.signature() == run.signature


def test_nothing_can_be_changed_before_a_document_is_there(qtbot: QtBot) -> None:
    live = LivePanel()
    both = beside_inspector(live, QWidget())
    qtbot.addWidget(both)
    assert live.isHidden()


def test_a_field_of_the_live_panel_changes_the_run_and_not_the_scenario(qtbot: QtBot, desk: Desk) -> None:
    start_and_hold(qtbot, desk, "links.wifi")
    rate = part(desk, QLineEdit, "live_rate")
    assert desk.live.isVisible()
    assert rate.text() == "8Mbit/s"
    with qtbot.waitSignal(desk.runs.live_changed):
        rate.selectAll()
        QTest.keyClicks(rate, "2")  # in the unit shown before
        QTest.keyClick(rate, Qt.Key.Key_Return)
    assert rate.text() == "2Mbit/s"
    assert desk.documents.doc.text == LONG
    assert not desk.documents.is_modified
    finish(qtbot, desk)
    assert not desk.live.isVisible()


def test_a_link_is_taken_down_and_brought_up_by_actions(qtbot: QtBot, desk: Desk) -> None:
    assert not desk.bar["run.link_down"].isEnabled()
    start_and_hold(qtbot, desk, "links.wifi")
    up = part(desk, QCheckBox, "live_up")
    for action, is_up in (("run.link_down", False), ("run.link_up", True)):
        with qtbot.waitSignal(desk.runs.live_changed):
            desk.bar.trigger(action)
        assert up.isChecked() is is_up
    finish(qtbot, desk)


def test_subflows_are_closed_and_made_backups(qtbot: QtBot, desk: Desk) -> None:
    start_and_hold(qtbot, desk, "flows.download")
    for name in ("live_backup_1", "live_open_2"):
        with qtbot.waitSignal(desk.runs.live_changed):
            part(desk, QCheckBox, name).click()
    assert part(desk, QCheckBox, "live_backup_1").isChecked()
    assert not part(desk, QCheckBox, "live_open_2").isChecked()
    finish(qtbot, desk)


def test_another_controller_takes_over(qtbot: QtBot, desk: Desk) -> None:
    start_and_hold(qtbot, desk, "flows.download")
    box = part(desk, QComboBox, "live_controller")
    assert box.currentText() == "lia"
    assert box.findText("drl-cc") == -1
    with qtbot.waitSignal(desk.runs.live_changed):
        QTest.keyClicks(box, "olia")
        QTest.keyClick(box, Qt.Key.Key_Return)
    desk.live.refresh()
    assert box.currentText() == "olia"
    finish(qtbot, desk)
    assert 'controller = "olia"' in (desk.store.run(desk.history.runs()[0].id).scenario_text or "")


def test_a_script_of_the_scenario_takes_over(qtbot: QtBot, desk: Desk) -> None:
    text = add_script(LONG, "controller", "mine", content=CONTROLLER).text
    start_and_hold(qtbot, desk, "flows.download", text)
    with qtbot.waitSignal(desk.runs.live_changed):
        part(desk, QComboBox, "live_controller").setCurrentText("mine")
    finish(qtbot, desk)


def test_where_an_agent_decides_no_other_controller_is_offered(qtbot: QtBot, desk: Desk) -> None:
    desk.documents.open_text(LONG.replace('"lia"', '"drl-cc"'), "long")
    desk.inspector.show_key("flows.download")
    desk.bar.trigger("run.step_sample")
    held_at(qtbot, desk, 0.1)
    box = part(desk, QComboBox, "live_controller")
    assert not box.isEnabled()
    assert (box.count(), box.currentText()) == (1, "drl-cc")
    assert "agent" in box.toolTip()


def test_a_refused_change_is_told_and_the_field_shows_what_is(qtbot: QtBot, desk: Desk) -> None:
    start_and_hold(qtbot, desk, "links.wifi")
    loss = part(desk, QLineEdit, "live_loss")
    with qtbot.waitSignal(desk.runs.live_refused) as refused:
        loss.selectAll()
        QTest.keyClicks(loss, "150%")
        QTest.keyClick(loss, Qt.Key.Key_Return)
    assert "100" in refused.args[0]
    assert "The run was not changed" in desk.banners.text("live")
    assert loss.text() == "1%"
    finish(qtbot, desk)


def test_run_until_holds_at_the_time_that_is_typed(qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs) -> None:
    desk.documents.open_text(LONG, "long")
    dialogs.answer("line", "1.2345s")
    desk.bar.trigger("run.until")
    held_at(qtbot, desk, 1.2345)
    dialogs.answer("line", "1s")
    desk.bar.trigger("run.until")
    assert "cannot go to" in desk.banners.text("action")
    held_at(qtbot, desk, 1.2345)
    desk.bar.trigger("run.step_1ms")
    held_at(qtbot, desk, 1.2355)
    dialogs.answer("line", None)
    desk.bar.trigger("run.until")
    finish(qtbot, desk)
