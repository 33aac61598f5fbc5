"""The program around the window: times of imports, signals from outside, and reports of bugs."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS
from tools.measure.start import start_modules

from subflow_app.features.crashes.qt.feature import BugReports
from subflow_app.foundation.crash_reports import crash_reports
from subflow_app.shell.app import _AfterFirstPaint, _log_qt_message, _Signals
from subflow_app.shell.main_window import MainWindow
from subflow_store import StoreError, open_store

# Starts the program like `subflow FILE`, runs the scenario, and prints a line after the start of the run.
STARTER = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from subflow_app.shell import app, main_window
loaded = main_window.MainWindow.load
def load(window):
    loaded(window)
    window.bar.trigger("run.toggle")
    window.runs.ticked.connect(lambda progress: progress.sim_time_s > 0.3 and print("running", flush=True))
main_window.MainWindow.load = load
sys.exit(app.main(sys.argv[1]))
"""


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        name: str(folder / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    }


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGHUP,
        *(
            pytest.param(number, marks=pytest.mark.full("another signal, the same way out"))
            for number in (signal.SIGINT, signal.SIGTERM)
        ),
    ],
)
def test_signal_closes_the_window_and_keeps_the_run(tmp_path: Path, number: signal.Signals) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(TWO_PATHS.replace('duration = "2s"', 'duration = "20000s"'))
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(scenario)],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert present(process.stdout).readline() == "running\n"

        process.send_signal(number)

        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in errors
    with open_store(tmp_path / "xdg_data_home" / "subflow" / "subflow.db", read_only=True) as store:
        (run,) = store.runs()
    assert run.status == "stopped"
    assert run.simulated_s > 0.2
    # Opened scenario files are recent files at the next start.
    settings = json.loads((tmp_path / "xdg_config_home" / "subflow" / "settings.json").read_text())
    assert settings["recent_files"] == [str(scenario)]


def test_window_starts_without_the_slow_libraries() -> None:
    moments = start_modules()

    never = {"torch", "matplotlib", "pandas", "networkx", "highspy", "qtawesome", "pydantic", "superqt", "gymnasium"}
    assert moments["listed"] & never == set()
    # Modules for later windows and actions are imported then.
    later = {"typer", "subflow_sim.agent_steps", "subflow_sim.vec_env"} | {
        f"subflow_app.{module}"
        for module in (
            *("features.editor.core.graph_files", "features.editor.core.graph_import", "features.paper.core.report"),
            *(f"features.training.core.{name}" for name in ("agent_replay", "evaluations", "trainings")),
            *("features.about.qt", "features.settings.qt", "features.crashes.qt.crash_dialog"),
            *("features.training.qt.agent_panel", "features.training.qt.page", "features.paper.qt.report_dialog"),
            *("features.editor.qt.template_gallery", "shell.command_palette", "shell.help_dialogs"),
        )
    }
    assert moments["listed"] & later == set()
    assert "pyqtgraph" in moments["usable"]
    # The first painting of the window needs neither plots nor database.
    assert moments["painted"] & {"pyqtgraph", "sqlite3"} == set()


@pytest.mark.own_window
def test_a_window_that_is_closed_at_its_first_paint_opens_no_database(
    qapp: QApplication, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[MainWindow] = []
    monkeypatch.setattr(window, "load", lambda: loaded.append(window))
    for is_closed in (False, True):
        start = _AfterFirstPaint(window, welcomes=False)
        window.show()
        start.eventFilter(window, QEvent(QEvent.Type.Paint))
        if is_closed:
            window.close_at_once()

        qapp.processEvents()

        assert loaded == [window]


@pytest.mark.own_window
def test_what_a_signal_interrupts_goes_on(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # pytest keeps its own handler
    monkeypatch.setattr(signal, "set_wakeup_fd", lambda *_, **__: None)
    signals = _Signals(window)

    signals._on_signal(signal.SIGTERM, None)

    assert window.isVisible()
    qtbot.waitUntil(lambda: not window.isVisible())
    signals.release()


def test_a_bug_is_shown(window: MainWindow, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    shown: list[tuple[str, Path | None]] = []
    bugs = BugReports(window.dialogs, window)

    def show(report: str, file: Path | None) -> None:
        shown.append((report, file))
        bugs.on_exception(ValueError, ValueError("while the dialog is open"), None)

    monkeypatch.setattr(window.dialogs, "tell_bug", show)
    with caplog.at_level(logging.CRITICAL):
        bugs.on_exception(ZeroDivisionError, ZeroDivisionError("a division"), None)

    ((report, file),) = shown
    assert "a division" in report
    assert present(file).read_text() == report
    assert "while the dialog is open" in caplog.text
    assert [each.title for each in crash_reports()] == [
        "ValueError: while the dialog is open",
        "ZeroDivisionError: a division",
    ]


def test_bug_of_a_thread_or_log_is_reported(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(window.dialogs, "tell_bug", lambda report, _file: shown.append(report))
    bugs = BugReports(window.dialogs, window)
    bugs.hear()
    try:
        thread = threading.Thread(target=[].pop, name="of the test")
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: bool(shown))
        for error in (KeyError("a survived bug"), StoreError("the disk is full")):
            logging.getLogger("subflow_app.test").error("a run failed", exc_info=error)
    finally:
        bugs.release()

    assert "Where:    the thread of the test" in shown[0]
    # A full disk is not a bug.
    assert {each.title for each in crash_reports()} == {"KeyError: 'a survived bug'", "IndexError: pop from empty list"}


def test_bug_dialog_copies_its_report(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtGui import QGuiApplication
    from PySide6.QtWidgets import QWidget

    from subflow_app.toolkit.dialogs import Dialogs

    def press_copy(box: QMessageBox) -> int:
        next(button for button in box.buttons() if button.text() == "Copy report").click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", press_copy)
    parent = QWidget()
    qtbot.addWidget(parent)
    Dialogs(parent).tell_bug("the traceback", None)

    assert QGuiApplication.clipboard().text() == "the traceback"


def test_messages_of_qt_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    from PySide6.QtCore import QMessageLogContext, QtMsgType

    context = QMessageLogContext()
    with caplog.at_level(logging.DEBUG):
        _log_qt_message(QtMsgType.QtWarningMsg, context, "a layout that is not a layout")
        _log_qt_message(QtMsgType.QtWarningMsg, context, "This plugin does not support propagateSizeHints()")

    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "a layout that is not a layout")
    ]


def test_a_file_that_the_desktop_hands_over_is_opened() -> None:
    """Like on macOS, in a separate process because a process has only one application object."""
    code = (
        "from PySide6.QtCore import QCoreApplication\n"
        "from PySide6.QtGui import QFileOpenEvent\n"
        "from subflow_app.shell.app import application_or_end\n"
        "application = application_or_end(['subflow'], lambda kind, context, text: None)\n"
        "application.file_wanted.connect(print)\n"
        "QCoreApplication.sendEvent(application, QFileOpenEvent('/tmp/My lab.subflow'))\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert (answer.stdout, answer.stderr) == ("/tmp/My lab.subflow\n", "")
