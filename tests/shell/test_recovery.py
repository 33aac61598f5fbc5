"""Unsaved changes survive a kill of the program and are offered at the next start; closing the program removes them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.features.editor.qt.test_recovery import die
from tests.helpers.present import present
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.window import TWO_PATHS, ScriptedDialogs
from tests.helpers.worn_window import close_window
from tests.shell.test_app import environment

from subflow_app.features.editor.core.recovery import find_orphans
from subflow_app.features.editor.qt import documents
from subflow_app.shell.main_window import MainWindow

# Starts the program like `subflow FILE`, edits twice, and prints a line once the disk has the recovery file.
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


def edit(window: MainWindow) -> None:
    documents.set_value(window.document_stack, window.documents.doc, "links.wifi.rate", "9Mbit/s")
    window.recovery.settle()


def offers(window: MainWindow) -> list[str]:
    return [topic for topic in window.banners.topics() if topic.startswith("recovery_")]


def test_edits_survive_kill_9(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text(TWO_PATHS)
    with subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(scenario)], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        assert present(process.stdout).readline() == "edited\n"
        process.send_signal(signal.SIGKILL)
    (tmp_path / "xdg_state_home" / "subflow" / "recovery").rename(tmp_path / "recovery")

    again = open_window()
    # Reopening the last scenario opens its file; its unsaved changes are offered nevertheless.
    again.preferences.change(again.preferences.settings.with_recent_file(scenario))
    assert again.documents.reopen_last()
    assert again.documents.doc.text == TWO_PATHS
    again.load()
    qtbot.waitUntil(lambda: bool(offers(again)))
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


@pytest.mark.own_window
def test_closing_removes_it_after_any_answer(window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    edit(window)
    dialogs.answer("ask_save_changes", "discard")

    window.close()

    assert list((tmp_path / "recovery").iterdir()) == []


@pytest.mark.own_window
def test_being_ended_from_outside_keeps_the_changes(window: MainWindow, tmp_path: Path) -> None:
    edit(window)

    window.close_at_once()

    die(tmp_path / "recovery")
    (orphan,) = find_orphans(tmp_path / "recovery")
    assert "9Mbit/s" in orphan.unsaved.text
