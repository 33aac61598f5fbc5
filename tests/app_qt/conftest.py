"""What holds for every test of the window: no warning of Qt, and nothing left behind."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.window import TWO_PATHS, ScriptedDialogs, make_window

from subflow_app.qt import theme
from subflow_app.qt.app_theme import Theme
from subflow_app.qt.main_window import MainWindow
from subflow_app.qt.plot_view import PlotView

# Said by the offscreen platform about every resize, and about lists of completions.
HARMLESS = (
    "This plugin does not support propagateSizeHints",
    "This plugin does not support raise()",
    "This plugin does not support grabbing the keyboard",
)


@pytest.fixture(scope="module", autouse=True)
def _others_objects() -> Iterator[None]:
    """What other tests have left, modules and PyTorch's objects above all, is not gone through after each test."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _no_qt_warnings(qtlog) -> Iterator[None]:
    """A warning of Qt is a bug of ours until it is shown to be harmless."""
    yield
    said = [record.message for record in qtlog.records if not record.message.startswith(HARMLESS)]
    assert said == []


@pytest.fixture(autouse=True)
def _nothing_left_behind(qapp: QApplication) -> Iterator[None]:
    """Threads end, timers stop and windows go with the test that made them; the theme is light again."""
    threads = set(threading.enumerate())
    windows = set(map(id, qapp.topLevelWidgets()))
    yield
    delete_later_now()
    # Widgets kept alive by Python references of the test itself, e.g. an exception that was raised.
    gc.collect()
    gc.freeze()  # what outlives a test, such as modules loaded by the first of a file: looked at once
    delete_later_now()
    left = [w for w in qapp.topLevelWidgets() if id(w) not in windows and w.isVisible()]
    assert [f"{type(w).__name__} {w.objectName()}" for w in left] == []
    assert [t.name for t in threading.enumerate() if t not in threads and not t.daemon] == []
    if theme.current_tokens() is not theme.LIGHT:
        Theme(qapp, "light")


@pytest.fixture
def stack(qapp: QApplication) -> QUndoStack:
    return QUndoStack()


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[PlotView]:
    """Plots on the screen that show nothing yet."""
    made = PlotView()
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    yield made
    made.show_runs([])


@pytest.fixture
def dialogs() -> ScriptedDialogs:
    return ScriptedDialogs()


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, tmp_path: Path, dialogs: ScriptedDialogs) -> Iterator[MainWindow]:
    """A shown window with a database of its own and the scenario of `TWO_PATHS`, at full speed."""
    made = make_window(qapp, tmp_path, dialogs=dialogs)
    made.show()
    made.load()
    qtbot.waitUntil(lambda: not made.database.is_opening)
    made.documents.open_text(TWO_PATHS, "two-paths")
    made.bar.trigger("run.speed_express")
    yield made
    close_window(qtbot, made)


@pytest.fixture
def run_once(qtbot: QtBot, window: MainWindow) -> Callable[[], int]:
    """Runs the scenario of the window to its end; returns the number of the run."""

    def run() -> int:
        with qtbot.waitSignal(window.runs.ended, timeout=20_000):
            window.bar.trigger("run.toggle")
        return window.history.runs()[0].id

    return run


def close_window(qtbot: QtBot, window: MainWindow) -> None:
    """Closes a window whatever state the test left it in, and waits until it is gone."""
    if not shiboken6.isValid(window):
        return
    window.close_at_once()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    assert not window.workers.is_busy
    window.deleteLater()
    delete_later_now()
    assert not shiboken6.isValid(window)
    left = [t for t in gc.get_objects() if issubclass(type(t), QTimer) and shiboken6.isValid(t) and t.isActive()]
    assert left == []


def delete_later_now() -> None:
    """Carries out what is waiting, `deleteLater` included, which no event loop of a test does."""
    for _ in range(2):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
