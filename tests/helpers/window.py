"""A main window with scripted answers in place of dialogs, for tests and screenshots."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QApplication
from tests.helpers.qt_fixtures import PATIENCE_MS

from subflow_app.features.plots.qt.plot_stack import PlotStack
from subflow_app.features.training.qt.session import DeskMaker
from subflow_app.foundation.settings import Settings
from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.window_state import WindowStateFile
from subflow_app.toolkit.action_bar import ActionSpec
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.theme import ThemeMode

TWO_PATHS = """\
format = 1
name = "Two paths"
duration = "2s"
seed = 7

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "10ms"
queue = "20pkt"
loss = "1%"

[links.lte]
ends = ["client", "server"]
rate = "4Mbit/s"
delay = "30ms"
queue = "40pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]
"""


def fall_of_window(stack: PlotStack) -> QPoint:
    """The point in the plots right after the largest fall of the first congestion window in its second half."""
    (plot,) = [plot for plot in stack.time_plots if plot.spec.id == "cwnd"]
    curve = plot.shown_curves()[0]
    half = len(curve.values) // 2
    fallen = half + int(np.argmin(np.diff(curve.values[half:]))) + 1
    place = QPointF(float(curve.time_s[fallen]), float(curve.values[fallen]))
    return QPoint(stack.mapFromScene(plot.view.mapViewToScene(place)))


class ScriptedDialogs(Dialogs):
    """Answers each question with the next scripted answer; an unexpected question fails the test."""

    def __init__(self) -> None:
        # Without a parent, because no dialog is ever shown.
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.told: list[tuple[str, ...]] = []
        self._answers: dict[str, list[Any]] = {}

    def forget(self) -> None:
        """Restores the initial state without questions."""
        self.asked.clear()
        self.told.clear()
        self._answers.clear()

    def answer(self, question: str, *answers: Any) -> None:
        self._answers.setdefault(question, []).extend(answers)

    def _ask(self, question: str, *arguments: Any) -> Any:
        self.asked.append((question, arguments))
        answers = self._answers.get(question)
        assert answers, f"nobody expected the question {question}{arguments}"
        return answers.pop(0)

    def ask_save_changes(self, name: str) -> Any:
        return self._ask("ask_save_changes", name)

    def ask_trainings(self, count: int) -> Any:
        return self._ask("ask_trainings", count)

    def ask(self, make: Any) -> Any:
        made = make if isinstance(make, partial) else partial(make)
        return self._ask(made.func.__name__, *made.args)

    def confirm(self, *arguments: str) -> Any:
        return self._ask("confirm", *arguments)

    def open_path(self, *arguments: Any) -> Any:
        return self._ask("open_path", *arguments)

    def save_path(self, *arguments: Any) -> Any:
        return self._ask("save_path", *arguments)

    def database_path(self, *arguments: Any) -> Any:
        return self._ask("database_path", *arguments)

    def folder(self, *arguments: Any) -> Any:
        return self._ask("folder", *arguments)

    def line(self, *arguments: str) -> Any:
        return self._ask("line", *arguments)

    def tags(self, title: str, label: str, text: str, known: Any) -> Any:
        return self._ask("line", title, label, text)

    def show_text(self, *arguments: str) -> None:
        self.told.append(arguments)

    def paragraph(self, *arguments: str) -> Any:
        return self._ask("paragraph", *arguments)

    def choice(self, *arguments: Any) -> Any:
        return self._ask("choice", *arguments)

    def report(self, *arguments: str) -> None:
        self.told.append(arguments)

    def tell(self, *arguments: str) -> None:
        self.told.append(arguments)

    def tell_bug(self, report: str, file: Path | None) -> None:
        raise AssertionError(report)


def make_window(
    application: QApplication,
    folder: Path,
    *,
    actions: Sequence[ActionSpec[MainWindow]] = ACTIONS,
    mode: ThemeMode = "light",
    database: Path | None = None,
    dialogs: Dialogs | None = None,
    desk_maker: DeskMaker | None = None,
) -> MainWindow:
    """A window with its settings, state and database in `folder`; not shown and not loaded yet."""
    preferences = Preferences(folder / "settings.json")
    if not (folder / "settings.json").exists():
        preferences.change(Settings(theme=mode, database=str(database or folder / "runs.db")))
    theme = Theme(application, preferences.settings.theme)  # type: ignore[arg-type] # checked when it was read
    window = MainWindow(
        theme,
        preferences,
        actions,
        dialogs=dialogs or ScriptedDialogs(),
        state_file=WindowStateFile(folder / "window.ini"),
        desk_maker=desk_maker,
        recovery_folder=folder / "recovery",
    )
    for part in (theme, preferences):
        part.setParent(window)
    be_patient(window)
    return window


def at_rest(look: Callable[[], object], looks: int = 10) -> Callable[[], bool]:
    """A condition to wait for: so many equal looks in a row, so that no layout or animation is in progress."""
    seen: deque[object] = deque(maxlen=looks)

    def is_at_rest() -> bool:
        seen.append(look())
        return len(seen) == looks and all(each == seen[-1] for each in seen)

    return is_at_rest


def be_patient(window: MainWindow) -> None:
    """Extends timeouts, so that results of a test do not depend on the speed of a busy computer."""
    for patient in (window.history.reader, window.history.changes, window.shown, window.reports):
        patient.patience_ms = PATIENCE_MS
