"""Unsaved changes outlive the program: kill it, start it again, and they are offered."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.window import TWO_PATHS, ScriptedDialogs, make_window
from tests.helpers.worn_window import close_window
from tests.shell.test_app import environment

from subflow_app.features.editor.core.recovery import find_orphans
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.recovery import DifferencesDialog
from subflow_app.shell.main_window import MainWindow
from subflow_store.liveness import this_process

# Starts the program as `subflow FILE` does, edits twice, and says so once the disk has it.
EDITOR = """
import sys
from subflow_app.features.editor.qt import documents
from subflow_app.shell import app, main_window
loaded = main_window.MainWindow.load
def load(window):
    loaded(window)
    for rate in ("7Mbit/s", "9Mbit/s"):
        documents.set_value(window.document_stack, window.documents.doc, "links.wifi.rate", rate)
    window.recovery.settle()
    print("edited", flush=True)
main_window.MainWindow.load = load
sys.exit(app.main(sys.argv[1]))
"""


def edit(window: MainWindow, rate: str = "9Mbit/s") -> None:
    documents.set_value(window.document_stack, window.documents.doc, "links.wifi.rate", rate)
    window.recovery.settle()


def offers(window: MainWindow) -> list[str]:
    return [topic for topic in window.banners.topics() if topic.startswith("recovery_")]


def folder_of(window: MainWindow) -> Path:
    return window.recovery.file.file.parent


def die(folder: Path) -> None:
    """Makes the recovery files in a folder those of a process that is gone."""
    for file in folder.glob("*.json"):
        entries = json.loads(file.read_text())
        entries["process"] = dataclasses.asdict(dataclasses.replace(this_process(), started="1"))
        file.write_text(json.dumps(entries))


@pytest.fixture
def crashed(window: MainWindow, tmp_path: Path) -> Iterator[MainWindow]:
    """A window beside which another one has died with an unsaved change of `mine.toml`."""
    folder = folder_of(window)
    path = tmp_path / "mine.toml"
    path.write_text(TWO_PATHS)
    window.documents.open(path)
    edit(window)
    dead = folder / "dead.json"
    window.recovery.file.file.rename(dead)
    die(folder)
    window.document_stack.undo()
    yield window
    dead.unlink(missing_ok=True)


def test_edits_survive_kill_9(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text(TWO_PATHS)
    with subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(scenario)], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "edited\n"
        process.send_signal(signal.SIGKILL)
    (tmp_path / "xdg_state_home" / "subflow" / "recovery").rename(tmp_path / "recovery")

    again = make_window(qapp, tmp_path)
    again.show()
    # Who has the last scenario opened again gets the file; what it lacks is offered all the same.
    again.preferences.change(again.preferences.settings.with_recent_file(scenario))
    assert again.documents.reopen_last()
    assert again.documents.doc.text == TWO_PATHS
    again.load()
    qtbot.waitUntil(lambda: bool(offers(again)), timeout=20_000)
    (topic,) = offers(again)
    assert str(scenario) in again.banners.text(topic)
    again.banners.press(topic, "Recover")

    assert again.documents.doc.path == scenario
    assert again.documents.doc.value("links.wifi.rate") == "9Mbit/s"
    assert again.documents.is_modified
    assert scenario.read_text() == TWO_PATHS
    again.bar.trigger("edit.undo")
    assert again.documents.doc.text == TWO_PATHS
    assert again.documents.save()
    close_window(qtbot, again)
    assert find_orphans(tmp_path / "recovery") == ()


def test_recovery_file_follows_the_edits(window: MainWindow) -> None:
    edit(window)
    assert "9Mbit/s" in window.recovery.file.file.read_text()

    window.bar.trigger("edit.undo")
    window.recovery.settle()

    assert not window.recovery.file.file.exists()


def test_saving_removes_the_recovery_file(window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    edit(window)
    dialogs.answer("save_path", tmp_path / "mine.toml")
    window.bar.trigger("file.save")
    window.recovery.settle()

    assert not window.recovery.file.file.exists()


@pytest.mark.own_window
def test_closing_removes_it_whatever_the_answer_was(
    qtbot: QtBot, window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    edit(window)
    dialogs.answer("ask_save_changes", "discard")

    window.close()

    assert list((tmp_path / "recovery").iterdir()) == []


@pytest.mark.own_window
def test_being_ended_from_outside_keeps_the_changes(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    edit(window)

    window.close_at_once()

    die(tmp_path / "recovery")
    (orphan,) = find_orphans(tmp_path / "recovery")
    assert "9Mbit/s" in orphan.unsaved.text


@pytest.mark.own_window
def test_two_windows_do_not_disturb_each_other(
    qtbot: QtBot, qapp: QApplication, window: MainWindow, tmp_path: Path
) -> None:
    edit(window)
    other = make_window(qapp, tmp_path)
    other.show()
    other.load()
    qtbot.waitUntil(lambda: not other.workers.is_busy, timeout=20_000)
    other.documents.open_text(TWO_PATHS, "other")
    edit(other, "11Mbit/s")

    assert offers(other) == []
    assert "11Mbit/s" in other.recovery.file.file.read_text()
    assert "9Mbit/s" in window.recovery.file.file.read_text()
    other.document_stack.undo()
    close_window(qtbot, other, window.findChildren(QTimer))  # which goes on
    assert window.recovery.file.file.exists()


def test_discarded_changes_are_not_offered_again(qtbot: QtBot, crashed: MainWindow) -> None:
    crashed.recovery.offer()
    qtbot.waitUntil(lambda: bool(offers(crashed)))
    crashed.banners.press(offers(crashed)[0], "Discard")

    assert find_orphans(folder_of(crashed)) == ()
    assert offers(crashed) == []


def test_differences_are_shown_and_recovered_from_there(qtbot: QtBot, crashed: MainWindow) -> None:
    crashed.recovery.offer()
    qtbot.waitUntil(lambda: bool(offers(crashed)))
    crashed.banners.press(offers(crashed)[0], "Show differences…")
    dialog = crashed.findChild(DifferencesDialog)
    assert dialog is not None
    assert '+rate = "9Mbit/s"' in dialog.text.toPlainText()

    dialog.reject()
    assert len(offers(crashed)) == 1
    crashed.banners.press(offers(crashed)[0], "Show differences…")
    (dialog,) = (found for found in crashed.findChildren(DifferencesDialog) if found.isVisible())
    dialog.accept()

    assert crashed.documents.doc.value("links.wifi.rate") == "9Mbit/s"
    assert find_orphans(folder_of(crashed)) == ()


def test_keeping_the_present_scenario_keeps_the_offer(
    qtbot: QtBot, crashed: MainWindow, dialogs: ScriptedDialogs
) -> None:
    crashed.recovery.offer()
    qtbot.waitUntil(lambda: bool(offers(crashed)))
    edit(crashed, "3Mbit/s")
    dialogs.answer("ask_save_changes", "cancel")

    crashed.banners.press(offers(crashed)[0], "Recover")

    assert crashed.documents.doc.value("links.wifi.rate") == "3Mbit/s"
    assert len(offers(crashed)) == 1


def test_unwritable_folder_is_said_and_work_goes_on(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "recovery").write_text("a file where the folder should be")
    window = make_window(qapp, tmp_path)
    window.show()

    edit(window)
    qtbot.waitUntil(lambda: "recovery" in window.banners.topics())
    window.banners.close_banner("recovery")
    edit(window, "10Mbit/s")
    QApplication.processEvents()

    assert window.documents.doc.value("links.wifi.rate") == "10Mbit/s"
    assert window.banners.text("recovery") == ""
    close_window(qtbot, window)


def test_autosave_can_be_switched_off(window: MainWindow) -> None:
    edit(window)
    window.preferences.change(dataclasses.replace(window.preferences.settings, autosave=False))
    window.recovery.settle()

    assert not window.recovery.file.file.exists()
