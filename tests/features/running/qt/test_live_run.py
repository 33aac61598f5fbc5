"""Changing the run that goes on, stepping through it, and its speed, from the window."""

from __future__ import annotations

from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.scripts import CONTROLLER
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.editor.core.scripts import add_script
from subflow_app.features.running.qt.live_panel import LivePanel, beside_inspector
from subflow_app.shell.main_window import MainWindow
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

Widget = TypeVar("Widget", QCheckBox, QComboBox, QLineEdit)
LONG = TWO_PATHS.replace('duration = "2s"', 'duration = "30s"')


def part(window: MainWindow, kind: type[Widget], name: str) -> Widget:
    found = window.live.findChild(kind, name)
    assert found is not None
    return found


def held_at(qtbot: QtBot, window: MainWindow, at_s: float) -> None:
    qtbot.waitUntil(lambda: window.runs.is_paused and window.runs.progress is not None)
    assert window.runs.progress is not None
    assert window.runs.progress.sim_time_s == pytest.approx(at_s, abs=1e-12)


def start_and_hold(qtbot: QtBot, window: MainWindow, key: str, text: str = LONG) -> None:
    window.documents.open_text(text, "long")
    window.inspector.show_key(key)
    window.bar.trigger("run.step_sample")
    held_at(qtbot, window, 0.1)


def finish(qtbot: QtBot, window: MainWindow) -> tuple[str, str]:
    """Signature of the run, and that of its stored scenario."""
    window.bar.trigger("run.speed_express")
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    store = window.database.store
    assert store is not None
    qtbot.waitUntil(lambda: len(window.history.runs()) > 0)  # the list may be reading
    run = store.run(window.history.runs()[0].id)
    simulation = Simulation(parse_scenario(run.scenario_text or ""))
    simulation.run_until(simulation.duration_s)
    return run.signature, simulation.signature()


def test_nothing_can_be_changed_before_a_document_is_there(qtbot: QtBot) -> None:
    live = LivePanel()
    both = beside_inspector(live, QWidget())
    qtbot.addWidget(both)
    assert live.isHidden()


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)])
def test_fields_of_the_live_panel_are_scrolled_rather_than_squeezed(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    start_and_hold(qtbot, window, "links.wifi")
    qtbot.waitUntil(window.live.isVisible)
    for name in ("live_rate", "live_delay", "live_loss", "live_queue"):
        field = part(window, QLineEdit, name)
        assert field.height() >= field.fontMetrics().height()
    scroll = window.findChild(QScrollArea, "live_scroll")
    assert isinstance(scroll, QScrollArea)
    assert scroll.viewport().height() >= 100
    finish(qtbot, window)
    assert not scroll.isVisible()


def test_a_field_of_the_live_panel_changes_the_run_and_not_the_scenario(qtbot: QtBot, window: MainWindow) -> None:
    start_and_hold(qtbot, window, "links.wifi")
    rate = part(window, QLineEdit, "live_rate")
    assert window.live.isVisible()
    assert rate.text() == "8Mbit/s"
    with qtbot.waitSignal(window.runs.live_changed):
        rate.selectAll()
        QTest.keyClicks(rate, "2")  # in the unit that stands there
        QTest.keyClick(rate, Qt.Key.Key_Return)
    assert rate.text() == "2Mbit/s"
    assert window.documents.doc.text == LONG
    assert not window.documents.is_modified
    signature, replayed = finish(qtbot, window)
    assert signature == replayed
    assert not window.live.isVisible()


def test_a_link_is_taken_down_and_brought_up_by_actions(qtbot: QtBot, window: MainWindow) -> None:
    assert not window.bar["run.link_down"].isEnabled()
    start_and_hold(qtbot, window, "links.wifi")
    up = part(window, QCheckBox, "live_up")
    for action, is_up in (("run.link_down", False), ("run.link_up", True)):
        with qtbot.waitSignal(window.runs.live_changed):
            window.bar.trigger(action)
        assert up.isChecked() is is_up
    signature, replayed = finish(qtbot, window)
    assert signature == replayed


def test_subflows_are_closed_and_made_backups(qtbot: QtBot, window: MainWindow) -> None:
    start_and_hold(qtbot, window, "flows.download")
    for name in ("live_backup_1", "live_open_2"):
        with qtbot.waitSignal(window.runs.live_changed):
            part(window, QCheckBox, name).click()
    assert part(window, QCheckBox, "live_backup_1").isChecked()
    assert not part(window, QCheckBox, "live_open_2").isChecked()
    signature, replayed = finish(qtbot, window)
    assert signature == replayed


def test_another_controller_takes_over(qtbot: QtBot, window: MainWindow) -> None:
    start_and_hold(qtbot, window, "flows.download")
    box = part(window, QComboBox, "live_controller")
    assert box.currentText() == "lia"
    assert box.findText("drl-cc") == -1
    with qtbot.waitSignal(window.runs.live_changed):
        QTest.keyClicks(box, "olia")
        QTest.keyClick(box, Qt.Key.Key_Return)
    window.live.refresh()
    assert box.currentText() == "olia"
    signature, replayed = finish(qtbot, window)
    assert signature == replayed
    store = window.database.store
    assert store is not None
    assert 'controller = "olia"' in (store.run(window.history.runs()[0].id).scenario_text or "")


def test_a_script_of_the_scenario_takes_over(qtbot: QtBot, window: MainWindow) -> None:
    text = add_script(LONG, "controller", "mine", content=CONTROLLER).text
    start_and_hold(qtbot, window, "flows.download", text)
    with qtbot.waitSignal(window.runs.live_changed):
        part(window, QComboBox, "live_controller").setCurrentText("mine")
    signature, replayed = finish(qtbot, window)
    assert signature == replayed


def test_where_an_agent_decides_no_other_controller_is_offered(qtbot: QtBot, window: MainWindow) -> None:
    window.documents.open_text(LONG.replace('"lia"', '"drl-cc"'), "long")
    window.inspector.show_key("flows.download")
    window.bar.trigger("run.step_sample")
    held_at(qtbot, window, 0.1)
    box = part(window, QComboBox, "live_controller")
    assert not box.isEnabled()
    assert (box.count(), box.currentText()) == (1, "drl-cc")
    assert "agent" in box.toolTip()


def test_a_refused_change_is_told_and_the_field_shows_what_is(qtbot: QtBot, window: MainWindow) -> None:
    start_and_hold(qtbot, window, "links.wifi")
    loss = part(window, QLineEdit, "live_loss")
    with qtbot.waitSignal(window.runs.live_refused) as refused:
        loss.selectAll()
        QTest.keyClicks(loss, "150%")
        QTest.keyClick(loss, Qt.Key.Key_Return)
    assert "100" in refused.args[0]
    assert "The run was not changed" in window.banners.text("live")
    assert loss.text() == "1%"
    signature, replayed = finish(qtbot, window)
    assert signature == replayed


def test_run_until_holds_at_the_time_that_is_typed(qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs) -> None:
    window.documents.open_text(LONG, "long")
    dialogs.answer("line", "1.2345s")
    window.bar.trigger("run.until")
    held_at(qtbot, window, 1.2345)
    dialogs.answer("line", "1s")
    window.bar.trigger("run.until")
    assert "cannot go to" in window.banners.text("action")
    held_at(qtbot, window, 1.2345)
    window.bar.trigger("run.step_1ms")
    held_at(qtbot, window, 1.2355)
    dialogs.answer("line", None)
    window.bar.trigger("run.until")
    signature, replayed = finish(qtbot, window)
    assert signature == replayed


def test_the_slider_chooses_any_speed_by_keyboard_and_presets_move_it(qtbot: QtBot, window: MainWindow) -> None:
    window.bar.trigger("run.speed_slow")
    slider = window.toolbar.speed_slider
    assert window.runs._speed_limit == 0.1
    assert slider.value() == 10
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert window.runs._speed_limit == 0.13
    assert window.toolbar._speed.text().startswith("0.13×")
    assert slider.accessibleDescription() == "0.13×"
    assert not window.bar["run.speed_slow"].isChecked()
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert window.runs._speed_limit is None
    assert window.bar["run.speed_express"].isChecked()
