"""Time without an answer from the window while a hundred flows run."""

from __future__ import annotations

import gc
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication
from tools.measure.heartbeat import Heartbeat

from subflow_app.foundation.settings import Settings
from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.app import make_application
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.window_state import WindowStateFile
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.preferences import Preferences

FLOWS = 100
TARGET_MS = 100.0
"""CPU time from which on a person notices that a window does not answer."""

_SIZE = (1400, 900)
_SPEEDS = {"express": "as fast as possible", "fast": "100x"}
_DRAWN_MS = 2500  # after the end of a run, its last picture is drawn in slices


@dataclass(frozen=True, slots=True)
class ManyFlowsFigure:
    """Longest time without an answer in one run, with plots, legend, topology and history visible."""

    speed: str
    cpu_ms: float  # of the GUI thread
    wall_ms: float  # includes other work of the machine
    turns: int


def many_flows_text(flows: int = FLOWS, duration_s: float = 4.0) -> str:
    """Write a scenario with this number of flows over the same two links."""
    return f"""\
format = 1
name = "A crowd"
duration = "{duration_s:g}s"
seed = 3

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "40Mbit/s"
delay = "10ms"
queue = "200pkt"

[links.lte]
ends = ["client", "server"]
rate = "20Mbit/s"
delay = "30ms"
queue = "200pkt"

[flows.crowd]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
count = {flows}
paths = [["wifi"], ["lte"]]
"""


def document() -> dict[str, Any]:
    """Measures at each speed."""
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
    return {"flows": FLOWS, "target_ms": TARGET_MS, "runs": [asdict(figure) for figure in figures]}


def _window(application: QApplication, folder: Path) -> MainWindow:
    preferences = Preferences(folder / "settings.json")
    preferences.change(Settings(theme="light", database=str(folder / "runs.db")))
    window = MainWindow(
        Theme(application, "light"),
        preferences,
        ACTIONS,
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
    """Measures one run from its start by a key until its last picture."""
    loop = QEventLoop()
    window.runs.ended.connect(loop.quit)
    heart = Heartbeat()
    window.bar.trigger("run.toggle")
    loop.exec()
    QTimer.singleShot(_DRAWN_MS, loop.quit)
    loop.exec()
    heart.stop()
    return ManyFlowsFigure(speed, heart.longest_cpu_ms, heart.longest_wall_ms, len(heart.turns))
