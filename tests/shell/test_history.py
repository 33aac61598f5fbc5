"""The history in the window: mouse and keys, undo across scenario and history, and banners that offer remedies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.present import child, present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.editor.qt import documents
from subflow_app.shell.main_window import MainWindow
from subflow_store.database import Database


@pytest.fixture
def two_runs(window: MainWindow, run_once: Callable[[], int]) -> tuple[int, int]:
    """Two stored runs of different seeds, both named "Two paths"; the first is older."""
    first = run_once()
    documents.set_value(window.document_stack, window.documents.doc, "seed", 8)
    second = run_once()
    window.document_stack.setClean()
    return first, second


def listed(window: MainWindow) -> list[int]:
    return [run.id for run in window.history.runs()]


def names(window: MainWindow) -> list[str]:
    return [run.name for run in window.history.runs()]


def test_double_click_opens_the_plots(window: MainWindow, two_runs: tuple[int, int]) -> None:
    index = window.history.table.model().index(1, 0)
    window.history.select([two_runs[0]])
    window.history.table.doubleClicked.emit(index)

    assert window.shown.ids == {two_runs[0]}
    assert len(window.plots.stack.curves) == 3


def test_keys_work_in_the_table(window: MainWindow, two_runs: tuple[int, int], qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.docks.set_open("history", True)  # in front of the panels of earlier tests
    window.history.select([two_runs[0]])
    window.history.table.setFocus()
    assert window.history.table.hasFocus()
    QTest.keyClick(window.history.table, Qt.Key.Key_Return)
    assert window.shown.ids == {two_runs[0]}

    QTest.keyClick(window.history.table, Qt.Key.Key_Delete)
    assert listed(window) == [two_runs[1]]


def test_runs_that_cannot_be_seen_are_not_deleted(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.docks.set_open("history", True)
    window.history.select([two_runs[0]])
    assert window.bar["history.delete"].isEnabled()
    window.docks.set_open("history", False)
    assert not window.bar["history.delete"].isEnabled()
    assert "first show the history" in window.bar["history.delete"].toolTip()
    window.docks.set_open("history", True)
    assert window.bar["history.delete"].isEnabled()


def test_find_run_opens_the_history_with_the_keyboard_in_its_search(window: MainWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.docks.set_open("history", False)
    window.bar.trigger("edit.find_run")
    assert window.docks.is_open("history")
    assert window.history.search.hasFocus()


def test_undo_takes_back_the_last_change_wherever_the_focus_is(
    window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int], qtbot: QtBot
) -> None:
    window.history.select([two_runs[0]])
    dialogs.answer("line", "renamed")
    window.bar.trigger("history.rename")
    assert window.bar["edit.undo"].text() == '&Undo rename "Two paths"'
    documents.set_value(window.document_stack, window.documents.doc, "seed", 99)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.mouseClick(window.history.table.viewport(), Qt.MouseButton.LeftButton)
    assert window.bar["edit.undo"].isEnabled()

    window.bar.trigger("edit.undo")

    assert window.documents.doc.value("seed") == 8
    assert names(window)[1] == "renamed"
    window.bar.trigger("edit.redo")
    assert window.documents.doc.value("seed") == 99
    while window.document_stack.canUndo():
        window.bar.trigger("edit.undo")
    assert names(window)[1] == "renamed"
    window.topology.canvas.setFocus()
    window.bar.trigger("edit.undo")
    assert names(window)[1] == "Two paths"
    assert window.documents.doc.value("seed") == 7


def test_the_title_names_the_run_whose_scenario_was_opened(window: MainWindow, two_runs: tuple[int, int]) -> None:
    window.history.select([two_runs[0]])
    window.bar.trigger("history.open_scenario")
    assert window.windowTitle().startswith(f"Two paths (run {two_runs[0]})")


def test_banner_brings_back_its_own_run_also_after_other_changes(
    window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int], qtbot: QtBot
) -> None:
    window.docks.set_open("history", True)
    window.history.select([two_runs[1]])
    window.bar.trigger("history.delete")
    dialogs.answer("line", "renamed meanwhile")
    window.bar.trigger("history.rename")

    window.banners.press("deleted", "Undo")

    assert listed(window) == [two_runs[1], two_runs[0]]
    assert names(window)[1] == "renamed meanwhile"


def test_deleted_runs_are_removed_for_good_only_when_it_is_meant(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, two_runs: tuple[int, int]
) -> None:
    window.docks.set_open("history", True)
    window.history.select([two_runs[0]])
    window.bar.trigger("history.delete")
    dialogs.answer("confirm", False, True)
    window.bar.trigger("history.purge")
    assert window.bar["edit.undo"].isEnabled()

    with qtbot.waitSignal(window.database.purged) as purged:
        window.bar.trigger("history.purge")

    assert purged.args == [1]
    assert not window.history_stack.canUndo()
    assert "1 deleted run is gone." in window.banners.text("purged")
    assert listed(window) == [two_runs[1]]


def test_a_database_that_vanishes_is_told_with_ways_on_and_the_list_stays(
    window: MainWindow, two_runs: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database.check_file, "__kwdefaults__", {"at_most_every_s": 0.0})
    path = present(window.database.path)
    away = path.rename(path.with_name("away.db"))

    window.history._field.set_text("seed:7")
    assert len(listed(window)) == 2
    assert "the file is gone" in window.banners.text("history")
    assert child(window.history, QLabel, "history_count").text() == "Not read"

    away.rename(path)
    window.banners.press("history", "Try again")
    assert listed(window) == [two_runs[0]]
    assert child(window.history, QLabel, "history_count").text() == "1 run, the search hides 1 (Esc)"
