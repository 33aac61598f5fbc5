"""Adverse surroundings: no folder can be written, and two programs share a database."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.qt_fixtures import OpenWindow
from tests.helpers.window import TWO_PATHS, ScriptedDialogs
from tests.helpers.worn_window import close_window

from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.app import _LogFile
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.preferences import Preferences


@pytest.fixture
def blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which even root can make no folder: a file takes the place of a parent of the user's folders."""
    (tmp_path / "home").write_text("")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def unwritable(qtbot: QtBot, qapp: QApplication, blocked: Path) -> Iterator[MainWindow]:
    """The window, opened like the program in that home."""
    preferences = Preferences(parent=qapp)
    theme = Theme(qapp, "light", qapp)
    window = MainWindow(theme, preferences, ACTIONS, dialogs=ScriptedDialogs())
    window.show()
    window.load()
    qtbot.waitUntil(lambda: "database" in window.banners.topics())
    yield window
    close_window(qtbot, window)
    for part in (theme, preferences):
        part.deleteLater()


def test_window_works_in_a_home_that_cannot_be_written(qtbot: QtBot, unwritable: MainWindow, blocked: Path) -> None:
    window = unwritable
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.set_theme("light")
    assert "cannot be created" in window.banners.text("database")
    window.bar.trigger("run.speed_express")

    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    assert window.shown.count == 1
    window.close()

    # The run is written to a writable folder, which is reported.
    assert isinstance(window.dialogs, ScriptedDialogs)
    (folder,) = (blocked / "subflow-rescued").iterdir()
    assert window.dialogs.told == [
        ("Runs saved as files", "Runs that are in no database were written to:", str(folder))
    ]
    assert (folder / "subflows.csv").is_file()


def test_ended_from_outside_it_rescues_runs_unasked(qtbot: QtBot, unwritable: MainWindow, blocked: Path) -> None:
    window = unwritable
    window.documents.open_text(TWO_PATHS, "two-paths")
    window.bar.trigger("run.speed_express")
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    qtbot.waitUntil(lambda: bool(window.unsaved.jobs))

    window.close_at_once()

    assert not window.isVisible()
    assert isinstance(window.dialogs, ScriptedDialogs)
    assert window.dialogs.told == []
    (folder,) = (blocked / "subflow-rescued").iterdir()
    assert (folder / "subflows.csv").is_file()


def test_a_log_that_cannot_be_written_is_said_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = _LogFile("/dev/full", encoding="utf-8", delay=True)
    logger = logging.getLogger("subflow_app")
    logger.addHandler(file)
    try:
        for text in ("one", "two"):
            logger.warning(text)
    finally:
        logger.removeHandler(file)
        with pytest.raises(OSError, match="No space left"):
            file.close()

    assert [record.message for record in caplog.records] == [
        "the log /dev/full cannot be written: No space left on device",
        "one",
        "two",
    ]
    assert capsys.readouterr().err == ""


def test_two_windows_and_a_command_share_a_database(
    qtbot: QtBot, window: MainWindow, open_window: OpenWindow, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    other = open_window(tmp_path / "second", loads=True, database=tmp_path / "runs.db")
    other.documents.open_text(TWO_PATHS.replace("Two paths", "Of the other window"), "other")
    other.bar.trigger("run.speed_express")
    (tmp_path / "lab ü.toml").write_text(TWO_PATHS.replace("Two paths", "Of the terminal"))
    command = [sys.executable, "-m", "subflow_app", "run", "lab ü.toml", "--db", "runs.db"]

    # The terminal and both windows run at once.
    with (
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as terminal,
        qtbot.waitSignals([window.runs.ended, other.runs.ended]),
    ):
        window.bar.trigger("run.toggle")
        other.bar.trigger("run.toggle")
        _out, errors = terminal.communicate(timeout=60)

    assert (terminal.returncode, errors) == (0, "")
    names = {"Two paths", "Of the other window", "Of the terminal"}
    for each in (window, other):
        each.history.reload()
        assert {run.name for run in each.history.runs()} == names
        assert {run.status for run in each.history.runs()} == {"finished"}
        assert "not_stored" not in each.banners.topics()
