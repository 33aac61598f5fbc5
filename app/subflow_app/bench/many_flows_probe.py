"""Runs a hundred flows in a window and tells the longest time without an answer, as one line of JSON.

    subflow probe many_flows

`subflow bench run-window` runs it.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from subflow_app.bench.many_flows import ManyFlowsFigure, many_flows_text
from subflow_app.core.settings import Settings
from subflow_app.qt.app import make_application
from subflow_app.qt.app_theme import Theme
from subflow_app.qt.heartbeat import Heartbeat
from subflow_app.qt.main_window import MainWindow
from subflow_app.qt.preferences import Preferences
from subflow_app.qt.window_state import WindowStateFile

_SIZE = (1400, 900)
_SPEEDS = {"express": "as fast as possible", "fast": "100x"}
_DRAWN_MS = 2500  # after the end of a run its last picture comes in slices


def main(_arguments: Sequence[str]) -> int:
    """Measures at both speeds; returns the exit code."""
    application = make_application([])
    with tempfile.TemporaryDirectory() as folder:
        window = _window(application, Path(folder))
        _spin_until_open(window)
        gc.freeze()  # as the program does
        figures = []
        for speed, text in _SPEEDS.items():
            window.bar.trigger(f"run.speed_{speed}")
            figures.append(_run(window, text))
        window.close_at_once()
        while window.isVisible():
            QApplication.processEvents()
    sys.stdout.write(json.dumps([asdict(figure) for figure in figures]) + "\n")
    return 0


def _window(application: QApplication, folder: Path) -> MainWindow:
    preferences = Preferences(folder / "settings.json")
    preferences.change(Settings(theme="light", database=str(folder / "runs.db")))
    window = MainWindow(
        Theme(application, "light"),
        preferences,
        state_file=WindowStateFile(folder / "window.ini"),
        recovery_folder=folder / "recovery",
    )
    window.resize(*_SIZE)
    window.show()
    window.load()
    window.documents.open_text(many_flows_text(), "crowd")
    return window


def _spin_until_open(window: MainWindow) -> None:
    while window.database.is_opening:
        QApplication.processEvents()


def _run(window: MainWindow, speed: str) -> ManyFlowsFigure:
    """One run from the key that starts it until its last picture."""
    loop = QEventLoop()
    window.runs.ended.connect(loop.quit)
    heart = Heartbeat()
    window.bar.trigger("run.toggle")
    loop.exec()
    QTimer.singleShot(_DRAWN_MS, loop.quit)
    loop.exec()
    heart.stop()
    return ManyFlowsFigure(speed, heart.longest_cpu_ms, heart.longest_wall_ms, len(heart.turns))
