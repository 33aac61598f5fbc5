"""What holds for every test of the window: no warning of Qt, and nothing left behind."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, SignalInstance
from PySide6.QtGui import QGuiApplication, QUndoStack, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker
from tests.helpers.window import TWO_PATHS, ScriptedDialogs, be_patient, make_window

from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit import theme
from subflow_app.toolkit.action_spec import ActionSpec
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.panels import DEFAULT_WORKSPACE, PANELS

# Said by the offscreen platform about every resize, and about lists of completions.
HARMLESS = (
    "This plugin does not support propagateSizeHints",
    "This plugin does not support raise()",
    "This plugin does not support grabbing the keyboard",
)

PATIENCE_MS = 20_000
"""For which a test waits at most for what happens within moments on an idle computer."""

OF_MODULE = "of_module"
"""A property of the window that the tests of a module share."""


@pytest.fixture(scope="module", autouse=True)
def _others_objects() -> None:
    """What other tests have left, modules and PyTorch's objects above all, is not gone through after each test."""
    gc.collect()
    gc.freeze()


class PatientQtBot(QtBot):
    """Waits for as long as a busy computer may take, unless a test says otherwise."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: SignalInstance, *, timeout: int = PATIENCE_MS, **options: Any) -> SignalBlocker:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The plugin's, with more patience."""
    return PatientQtBot(request)


@pytest.fixture(autouse=True)
def _no_qt_warnings(qtlog) -> Iterator[None]:
    """A warning of Qt is a bug of ours until it is shown to be harmless."""
    yield
    said = [record.message for record in qtlog.records if not record.message.startswith(HARMLESS)]
    assert said == []


@pytest.fixture(autouse=True)
def _nothing_left_behind(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    """Threads end, timers stop and windows go with the test that made them; the theme is light again."""
    threads = set(threading.enumerate())
    windows = set(map(id, qapp.topLevelWidgets()))
    yield
    delete_later_now()
    # Widgets kept alive by Python references of the test itself, e.g. an exception that was raised.
    gc.collect()
    gc.freeze()  # what outlives a test, such as modules loaded by the first of a file: looked at once
    delete_later_now()
    shown = [w for w in qapp.topLevelWidgets() if id(w) not in windows and w.isVisible()]
    left = [w for w in shown if not w.property(OF_MODULE)]
    assert [f"{type(w).__name__} {w.objectName()}" for w in left] == []
    made = [t.name for t in threading.enumerate() if t not in threads and not t.daemon]
    # That of the window of the module goes with it.
    assert made == [] or (request.fixturenames.count("_worn") and made == ["subflow-recovery"])
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


@pytest.fixture(scope="module")
def _dialogs() -> ScriptedDialogs:
    return ScriptedDialogs()


@pytest.fixture
def dialogs(_dialogs: ScriptedDialogs) -> ScriptedDialogs:
    _dialogs.forget()
    return _dialogs


@pytest.fixture(scope="module")
def _worn(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory, _dialogs: ScriptedDialogs) -> Iterator[Worn]:
    """The window of the tests of a module: to make one takes longer than most of them."""
    worn = Worn(qapp, tmp_path_factory.mktemp("window"), _dialogs)
    yield worn
    worn.close()


@pytest.fixture
def actions() -> Sequence[ActionSpec[MainWindow]]:
    """The table of the window."""
    return ACTIONS


@pytest.fixture
def window(
    request: pytest.FixtureRequest,
    qtbot: QtBot,
    qapp: QApplication,
    tmp_path: Path,
    dialogs: ScriptedDialogs,
    actions: Sequence[ActionSpec[MainWindow]],
) -> Iterator[MainWindow]:
    """A shown window with a database of its own and the scenario of `TWO_PATHS`, at full speed.

    The tests of a module that is marked with `one_window` share it, and each finds it as the first did.
    """
    if request.node.get_closest_marker("one_window") and not request.node.get_closest_marker("own_window"):
        worn: Worn = request.getfixturevalue("_worn")
        yield worn.put_on(qtbot, tmp_path / "runs.db")
        worn.take_off(qtbot)
        return
    before = active_timers()
    made = make_window(qapp, tmp_path, actions=actions, dialogs=dialogs)
    made.show()
    made.load()
    qtbot.waitUntil(lambda: not made.database.is_opening)
    made.documents.open_text(TWO_PATHS, "two-paths")
    made.bar.trigger("run.speed_express")
    yield made
    close_window(qtbot, made, before)


class Worn:
    """A window that one test after the other uses, as a person does who opens another file and another database."""

    def __init__(self, application: QApplication, folder: Path, dialogs: ScriptedDialogs) -> None:
        self._dialogs = dialogs
        self._window = make_window(application, folder, dialogs=dialogs)
        self._window.setProperty(OF_MODULE, True)
        self._window.show()
        self._window.plots.load()
        self._window.loaded.emit()
        self._window.bar.trigger("run.speed_express")
        self._settings = self._window.preferences.settings
        self._switches = self._now()
        self._size, self._history = self._window.size(), self._window.history.state()
        self._layout = self._open_panels()

    def _now(self) -> dict[str, bool]:
        return {name: self._window.bar[name].isChecked() for name in self._window.bar.switches()}

    def _open_panels(self) -> dict[str, bool]:
        return {name: self._window.docks.is_open(name) for name in PANELS}

    def put_on(self, qtbot: QtBot, database: Path) -> MainWindow:
        window = self._window
        window.preferences.change(replace(self._settings, database=str(database)))
        window.documents.open_text(TWO_PATHS, "two-paths")
        be_patient(window)
        window.activateWindow()
        window.topology.setFocus()
        window.database.open(database)
        qtbot.waitUntil(lambda: not window.database.is_opening, timeout=20_000)
        return window

    def take_off(self, qtbot: QtBot) -> None:
        window = self._window
        if window.runs.is_running:
            window.runs.stop()
            qtbot.waitUntil(lambda: not window.runs.is_running, timeout=20_000)
        for other in QApplication.topLevelWidgets():
            if isinstance(other, QDialog) and other.isVisible():
                other.close()
                other.deleteLater()
            elif other.windowType() == Qt.WindowType.Popup:
                other.hide()
        window.presentation.close()
        window.shown.clear()
        for name, is_on in self._now().items():
            if is_on != self._switches[name]:
                window.bar.trigger(name)
        if window.theme.mode != self._settings.theme:
            window.bar.trigger(f"view.theme_{self._settings.theme}")
        window.bar.trigger("run.speed_express")
        window.preferences.change(self._settings)
        window.resize(self._size)
        if self._open_panels() != self._layout or window.workspaces.current != DEFAULT_WORKSPACE:
            window.workspaces.restore({}, DEFAULT_WORKSPACE)
        window.history.restore(self._history)
        window.history.search.clear()
        for topic in window.banners.topics():
            window.banners.close_banner(topic)
        window.document_stack.clear()
        if window.documents.is_modified:
            self._dialogs.answer("ask_save_changes", "discard")
            window.documents.open_text(TWO_PATHS, "two-paths")
        qtbot.waitUntil(lambda: not window.workers.is_busy and not window.history.changes.is_busy, timeout=60_000)
        window.history.set_store(None)
        window.database.close()
        window.database._is_closed = False  # the next test opens another

    def close(self) -> None:
        gc.unfreeze()  # what the window is made of is let go
        self._window.close_at_once()
        assert not self._window.isVisible()
        assert not self._window.workers.is_busy
        self._window.setProperty(OF_MODULE, False)
        self._window.deleteLater()
        delete_later_now()
        assert not shiboken6.isValid(self._window)
        assert active_timers() == []
        assert "subflow-recovery" not in {thread.name for thread in threading.enumerate()}


@pytest.fixture
def run_once(qtbot: QtBot, window: MainWindow) -> Callable[[], int]:
    """Runs the scenario of the window to its end; returns the number of the run."""

    def run() -> int:
        with qtbot.waitSignal(window.runs.ended, timeout=20_000):
            window.bar.trigger("run.toggle")
        return window.history.runs()[0].id

    return run


def close_window(qtbot: QtBot, window: MainWindow, timers: Sequence[QTimer] = ()) -> None:
    """Closes a window whatever state the test left it in, and waits until it is gone, with all but earlier timers."""
    if not shiboken6.isValid(window):
        return
    window.close_at_once()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    assert not window.workers.is_busy
    window.deleteLater()
    delete_later_now()
    assert not shiboken6.isValid(window)
    assert [timer for timer in active_timers() if timer not in timers] == []


def active_timers() -> list[QTimer]:
    """Those that run, but for what a window does that other tests go on with."""
    timers = [t for t in gc.get_objects() if issubclass(type(t), QTimer) and shiboken6.isValid(t) and t.isActive()]
    return [timer for timer in timers if not _is_of_module(timer)]


def _is_of_module(timer: QTimer) -> bool:
    owner = timer.parent()
    while owner is not None and not owner.property(OF_MODULE):
        owner = owner.parent()
    return owner is not None


def delete_later_now() -> None:
    """Carries out what is waiting, `deleteLater` included, which no event loop of a test does."""
    for _ in range(2):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True)
def _no_button_stays_pressed() -> Iterator[None]:
    """Lets go of the button that a double click of a test leaves pressed: what waits for it would wait on."""
    yield
    if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
        ground = QWindow()
        ground.create()
        QTest.mouseRelease(ground, Qt.MouseButton.LeftButton)
        assert QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton
