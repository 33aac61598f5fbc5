"""Fixtures of tests that use the window or parts of it: no warning of Qt, and nothing left behind.

Every test may ask for them, so nothing of Qt's is imported before one does.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pytestqt.qtbot import QtBot

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance
    from PySide6.QtGui import QUndoStack
    from PySide6.QtWidgets import QApplication
    from pytestqt.wait_signal import SignalBlocker
    from tests.helpers.desk import Desk, MakeDesk
    from tests.helpers.window import ScriptedDialogs
    from tests.helpers.worn_window import Worn

    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.shell.main_window import MainWindow
    from subflow_app.toolkit.action_bar import ActionSpec
    from subflow_app.toolkit.feature import Feature

OpenWindow = Callable[..., "MainWindow"]

# Said by the offscreen platform about every resize, and about lists of completions.
HARMLESS = (
    "This plugin does not support propagateSizeHints",
    "This plugin does not support raise()",
    "This plugin does not support grabbing the keyboard",
)

PATIENCE_MS = 20_000
"""For which a test waits at most for what happens within moments on an idle computer."""

WATCHES = ("_others_objects", "_no_qt_warnings", "_nothing_left_behind", "_no_button_stays_pressed")
"""What surrounds each test that uses the application."""

USES_WINDOW = pytest.StashKey[bool]()
"""Of a module with tests that use the window."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules that use the window come one after the other, so that they share it."""
    modules = {item.parent for item in items if "window" in getattr(item, "fixturenames", ())}
    for module in modules:
        if module is not None:
            module.stash[USES_WINDOW] = True
    items.sort(key=lambda item: item.parent not in modules)


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
def _watched(request: pytest.FixtureRequest, _own_user_folders: None) -> None:
    """Watches the tests that use the application, and leaves the others alone."""
    if "qapp" in request.fixturenames:
        for name in WATCHES:
            request.getfixturevalue(name)


@pytest.fixture(scope="module")
def _others_objects() -> None:
    """What other tests have left, modules and PyTorch's objects above all, is not gone through after each test."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def _no_qt_warnings(qtlog) -> Iterator[None]:
    """A warning of Qt is a bug of ours until it is shown to be harmless."""
    yield
    said = [record.message for record in qtlog.records if not record.message.startswith(HARMLESS)]
    assert said == []


@pytest.fixture
def _nothing_left_behind(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    """Threads end, timers stop and windows go with the test that made them; the theme is light again."""
    from tests.helpers.worn_window import SHARED, delete_later_now

    from subflow_app.toolkit import theme
    from subflow_app.toolkit.app_theme import Theme

    threads = set(threading.enumerate())
    windows = set(map(id, qapp.topLevelWidgets()))
    yield
    delete_later_now()
    # Widgets kept alive by Python references of the test itself, e.g. an exception that was raised.
    gc.collect()
    gc.freeze()  # what outlives a test, such as modules loaded by the first of a file: looked at once
    delete_later_now()
    shown = [w for w in qapp.topLevelWidgets() if id(w) not in windows and w.isVisible()]
    left = [w for w in shown if not w.property(SHARED)]
    assert [f"{type(w).__name__} {w.objectName()}" for w in left] == []
    made = [t.name for t in threading.enumerate() if t not in threads and not t.daemon]
    # That of the shared window goes with it.
    assert made == [] or (request.fixturenames.count("_worn") and made == ["subflow-recovery"])
    if theme.current_tokens() is not theme.LIGHT:
        Theme(qapp, "light")


@pytest.fixture
def _no_button_stays_pressed() -> Iterator[None]:
    """Lets go of the button that a double click of a test leaves pressed: what waits for it would wait on."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QWindow
    from PySide6.QtTest import QTest

    yield
    if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
        ground = QWindow()
        ground.create()
        QTest.mouseRelease(ground, Qt.MouseButton.LeftButton)
        assert QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton


@pytest.fixture
def stack(qapp: QApplication) -> QUndoStack:
    from PySide6.QtGui import QUndoStack

    return QUndoStack()


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[PlotView]:
    """Plots on the screen that show nothing yet."""
    from subflow_app.features.plots.qt.plot_view import PlotView

    made = PlotView()
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    yield made
    made.show_runs([])


@pytest.fixture(scope="session")
def _dialogs() -> ScriptedDialogs:
    from tests.helpers.window import ScriptedDialogs

    return ScriptedDialogs()


@pytest.fixture
def dialogs(_dialogs: ScriptedDialogs) -> ScriptedDialogs:
    _dialogs.forget()
    return _dialogs


@pytest.fixture(scope="session")
def _wardrobe() -> Iterator[list[Worn]]:
    """The window that tests share, if one is made: to make one takes longer than most tests."""
    windows: list[Worn] = []
    yield windows
    while windows:
        windows.pop().close()


@pytest.fixture(scope="module", autouse=True)
def _no_window_of_others(request: pytest.FixtureRequest, _wardrobe: list[Worn]) -> None:
    """The shared window ends before a module that uses none, and after one in which it began to read much."""
    while _wardrobe and (_wardrobe[0].is_slow or not request.node.stash.get(USES_WINDOW, False)):
        _wardrobe.pop().close()


@pytest.fixture
def _worn(
    request: pytest.FixtureRequest,
    qapp: QApplication,
    tmp_path_factory: pytest.TempPathFactory,
    _dialogs: ScriptedDialogs,
    _wardrobe: list[Worn],
) -> Iterator[Worn]:
    """The shared window; another one follows a test that fails, or that leaves it so that it cannot be restored."""
    from tests.helpers.worn_window import Worn

    if not _wardrobe:
        _wardrobe.append(Worn(qapp, tmp_path_factory.mktemp("window"), _dialogs))
    failed = request.session.testsfailed
    yield _wardrobe[0]
    if request.session.testsfailed > failed or not _wardrobe[0].is_clean:
        _wardrobe.pop().close()


@pytest.fixture
def actions() -> Sequence[ActionSpec[MainWindow]]:
    """The table of the window."""
    from subflow_app.shell.actions import ACTIONS

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

    Tests share it, and each finds it as the first did, except those marked with `own_window`.
    """
    from tests.helpers.window import TWO_PATHS, make_window
    from tests.helpers.worn_window import active_timers, close_window

    if not request.node.get_closest_marker("own_window"):
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


@pytest.fixture
def open_window(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[OpenWindow]:
    """Opens a window that a test has for itself, with its files in a folder, and closes it after the test."""
    from tests.helpers.window import make_window
    from tests.helpers.worn_window import active_timers, close_window

    before = active_timers()
    windows: list[MainWindow] = []

    def open_one(folder: Path = tmp_path, *, loads: bool = False, **options: Any) -> MainWindow:
        made = make_window(qapp, folder, **options)
        windows.append(made)
        made.show()
        if loads:
            made.load()
            qtbot.waitUntil(lambda: not made.database.is_opening)
        return made

    yield open_one
    for made in windows:
        close_window(qtbot, made, before)


@pytest.fixture
def make_desk(qtbot: QtBot, qapp: QApplication, tmp_path: Path, dialogs: ScriptedDialogs) -> Iterator[MakeDesk]:
    """Makes a shown desk of some features, with a database of its own and the scenario of `TWO_PATHS`."""
    from tests.helpers.desk import Desk
    from tests.helpers.worn_window import active_timers, close_window

    before = active_timers()
    desks: list[Desk] = []

    def make(*kinds: Callable[[Desk], Feature], actions: Iterable[ActionSpec[Any]] = ()) -> Desk:
        desk = Desk(tmp_path, dialogs, kinds, actions, qtbot)
        desks.append(desk)
        desk.show()
        desk.activateWindow()
        desk.open_database()
        return desk

    yield make
    for desk in desks:
        close_window(qtbot, desk, before)


@pytest.fixture
def run_once(qtbot: QtBot, window: MainWindow) -> Callable[[], int]:
    """Runs the scenario of the window to its end; returns the number of the run."""

    def run() -> int:
        with qtbot.waitSignal(window.runs.ended, timeout=20_000):
            window.bar.trigger("run.toggle")
        return window.history.runs()[0].id

    return run
