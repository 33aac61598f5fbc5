"""Runs in the window: started by keys and at the start, at any speed, and kept when the window closes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QScrollArea, QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.present import child
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.raising import raising
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.foundation.errors import ExportError
from subflow_app.foundation.settings import load_settings
from subflow_app.shell.main_window import MainWindow
from subflow_store import StoreFull, open_store


def start_endless(qtbot: QtBot, window: MainWindow) -> None:
    window.documents.open_text(TWO_PATHS.replace('duration = "2s"', 'duration = "20000s"'), "endless")
    window.bar.trigger("run.speed_brisk")
    window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: window.runs.progress is not None and window.runs.progress.sim_time_s > 0.3)


def test_space_on_the_canvas_runs(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    window.topology.canvas.setFocus()

    with qtbot.waitSignal(window.runs.ended):
        QTest.keyClick(window.topology.canvas, Qt.Key.Key_Space)

    assert len(window.history.runs()) == 1


def test_run_asked_for_during_start_up_is_kept(qtbot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.bar.trigger("run.speed_express")
    window.load()
    assert window.database.is_opening

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")

    assert [run.status for run in window.history.runs()] == ["finished"]


def test_what_is_typed_but_not_entered_counts(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    committed = []
    monkeypatch.setattr(window.inspector, "commit_pending", lambda: committed.append(window.runs.is_running))
    monkeypatch.setattr(window.session, "toggle", lambda: None)

    window.bar.trigger("run.toggle")

    assert committed == [False]


def test_recording_of_decisions_is_remembered(window: MainWindow) -> None:
    window.bar.trigger("run.record_decisions")
    assert load_settings(window.preferences.path).record_decisions


def test_the_state_of_a_run_is_shown_as_long_as_it_goes_on(window: MainWindow, qtbot: QtBot) -> None:
    window.documents.open_text(TWO_PATHS.replace('duration = "2s"', 'duration = "2000s"'), "long")
    window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: window.run_status.isVisible() and "left" in window.run_status.text())
    window.bar.trigger("run.stop")
    qtbot.waitUntil(lambda: not window.runs.is_running)
    assert not window.run_status.isVisible()


@pytest.mark.parametrize("size", [(1366, 768), (1280, 720)])
def test_fields_of_the_live_panel_are_not_squeezed(qtbot: QtBot, window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.inspector.show_key("links.wifi")
    window.bar.trigger("run.step_sample")
    qtbot.waitUntil(lambda: window.runs.is_paused and window.live.isVisible())
    for name in ("live_rate", "live_delay", "live_loss", "live_queue"):
        field = window.live.findChild(QLineEdit, name)
        assert isinstance(field, QLineEdit)
        assert field.height() >= field.fontMetrics().height()
    scroll = child(window, QScrollArea, "live_scroll")
    assert scroll.viewport().height() >= 100
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    assert not scroll.isVisible()


def test_the_slider_chooses_any_speed_by_keyboard_and_presets_move_it(qtbot: QtBot, window: MainWindow) -> None:
    window.bar.trigger("run.speed_slow")
    slider = window.toolbar.speed_slider
    assert window.speed_limit == 0.1
    assert slider.value() == 10
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert window.speed_limit == 0.13
    assert child(window.toolbar, QToolButton, "speed_button").text().startswith("0.13×")
    assert slider.accessibleDescription() == "0.13×"
    assert not window.bar["run.speed_slow"].isChecked()
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert window.speed_limit is None
    assert child(window.toolbar, QToolButton, "speed_button").text().startswith("Max")
    assert window.bar["run.speed_express"].isChecked()


@pytest.mark.own_window
def test_closing_the_window_asks_and_keeps_the_run_as_stopped(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    start_endless(qtbot, window)
    dialogs.answer("confirm", False, True)
    window.bar.trigger("file.quit")
    assert window.isVisible()
    assert window.runs.is_running

    window.bar.trigger("file.quit")
    qtbot.waitUntil(lambda: not window.isVisible())

    with open_store(tmp_path / "runs.db", read_only=True) as store:
        (run,) = store.runs()
    assert run.status == "stopped"
    assert run.simulated_s > 0.2


def test_a_stopped_run_is_simulated_again_to_its_end(qtbot: QtBot, window: MainWindow) -> None:
    window.set_speed_limit(10.0)
    with qtbot.waitSignal(window.session.stored, timeout=30_000):
        window.bar.trigger("run.toggle")
        qtbot.waitUntil(lambda: window.runs.is_running)
        window.bar.trigger("run.stop")
    stopped = window.history.runs()[0]
    assert stopped.status == "stopped"
    window.docks.set_open("history", True)
    window.history.select([stopped.id])
    assert window.bar["history.complete"].isEnabled()
    with qtbot.waitSignal(window.session.stored, timeout=30_000):
        window.bar.trigger("history.complete")
    whole = window.history.runs()[0]
    assert (whole.status, whole.seed, whole.scenario_name) == ("finished", stopped.seed, stopped.scenario_name)
    assert whole.simulated_s == whole.duration_s
    window.history.select([whole.id])
    assert not window.bar["history.complete"].isEnabled()


@pytest.mark.own_window
def test_a_run_that_no_disk_takes_is_asked_about_before_the_window_closes(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subflow_store.store.Store.start_run", raising(StoreFull("the disk is full", path="runs.db")))
    monkeypatch.setattr(
        "subflow_app.features.running.qt.unsaved_runs.save_rescue_copy",
        raising(ExportError("the run Two paths cannot be rescued: No space left on device")),
    )
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    dialogs.answer("confirm", False)

    window.close()
    assert window.isVisible()
    assert "No space left" in dialogs.asked[-1][1][2]
    assert len(window.unsaved.jobs) == 1
    # With free space, the window closes without a question and reports the place of the run.
    monkeypatch.setattr(
        "subflow_app.features.running.qt.unsaved_runs.save_rescue_copy", lambda *_arguments: Path("rescued")
    )
    window.close()

    assert not window.isVisible()
    assert dialogs.told[-1][2] == "rescued"
