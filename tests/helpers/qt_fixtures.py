"""Fixtures of tests that use the window or parts of it: warnings of Qt fail a test, and so do remaining objects.

Every test may request them, so Qt is imported only on request.
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

# Printed by the offscreen platform at every resize, and at lists of completions.
HARMLESS = (
    "This plugin does not support propagateSizeHints",
    "This plugin does not support raise()",
    "This plugin does not support grabbing the keyboard",
)

PATIENCE_MS = 20_000
"""Maximum wait of a test for an event that takes moments on an idle computer, in milliseconds."""

WATCHES = ("_others_objects", "_no_qt_warnings", "_nothing_left_behind", "_no_button_stays_pressed")
"""Fixtures around each test that uses the application."""

USES_WINDOW = pytest.StashKey[bool]()
"""True for a module with tests that use the window."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups the modules that use the window, so that they share it."""
    modules = {item.parent for item in items if "window" in getattr(item, "fixturenames", ())}
    for module in modules:
        if module is not None:
            module.stash[USES_WINDOW] = True
    items.sort(key=lambda item: item.parent not in modules)


class PatientQtBot(QtBot):
    """Waits as long as a busy computer may take, unless a test sets another timeout."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: SignalInstance, *, timeout: int = PATIENCE_MS, **options: Any) -> SignalBlocker:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The fixture of the plugin, with a longer timeout."""
    return PatientQtBot(request)


@pytest.fixture(autouse=True)
def _watched(request: pytest.FixtureRequest, _own_user_folders: None) -> None:
    """Watches only the tests that use the application."""
    if "qapp" in request.fixturenames:
        for name in WATCHES:
            request.getfixturevalue(name)


@pytest.fixture(scope="module")
def _others_objects() -> None:
    """Freezes objects of other tests, mainly modules and PyTorch's objects, so that no later collection visits them."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def _no_qt_warnings(qtlog) -> Iterator[None]:
    """A warning of Qt counts as a bug of ours until it is proved harmless."""
    yield
    said = [record.message for record in qtlog.records if not record.message.startswith(HARMLESS)]
    assert said == []


@pytest.fixture
def _nothing_left_behind(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    """Threads end, timers stop and windows close with the test that made them; the theme is light again."""
    from tests.helpers.worn_window import SHARED, delete_later_now

    from subflow_app.toolkit import theme
    from subflow_app.toolkit.app_theme import Theme

    threads = set(threading.enumerate())
    windows = set(map(id, qapp.topLevelWidgets()))
    yield
    delete_later_now()
    # Widgets referenced only by Python objects of the test, e.g. by an exception that was raised.
    gc.collect()
    gc.freeze()  # visits objects that outlive a test, such as newly loaded modules, only once
    delete_later_now()
    shown = [w for w in qapp.topLevelWidgets() if id(w) not in windows and w.isVisible()]
    left = [w for w in shown if not w.property(SHARED)]
    assert [f"{type(w).__name__} {w.objectName()}" for w in left] == []
    made = [t.name for t in threading.enumerate() if t not in threads and not t.daemon]
    # The thread of the shared window ends with the window.
    assert made == [] or (request.fixturenames.count("_worn") and made == ["subflow-recovery"])
    if theme.current_tokens() is not theme.LIGHT:
        Theme(qapp, "light")


@pytest.fixture
def _no_button_stays_pressed() -> Iterator[None]:
    """Releases the mouse button that a test's double click leaves pressed, which would block waiting code."""
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
    """Visible plots without runs."""
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
    """The shared window, if it was made: making a window takes longer than most tests."""
    windows: list[Worn] = []
    yield windows
    while windows:
        windows.pop().close()


@pytest.fixture(scope="module", autouse=True)
def _no_window_of_others(request: pytest.FixtureRequest, _wardrobe: list[Worn]) -> None:
    """Closes the shared window before a module that does not use it, and after one that made the window slow."""
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
    """The shared window; replaced after a test that fails or leaves a state that cannot be restored."""
    from tests.helpers.worn_window import Worn

    if not _wardrobe:
        _wardrobe.append(Worn(qapp, tmp_path_factory.mktemp("window"), _dialogs))
    failed = request.session.testsfailed
    yield _wardrobe[0]
    if request.session.testsfailed > failed or not _wardrobe[0].is_clean:
        _wardrobe.pop().close()


@pytest.fixture
def actions() -> Sequence[ActionSpec[MainWindow]]:
    """The table of actions of the window."""
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
    """A visible window with a separate database and the scenario of `TWO_PATHS`, at full speed.

    Tests share the window, and each finds its initial state, except tests marked with `own_window`.
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
    """Opens a separate window for a test, with its files in a folder, and closes it after the test."""
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
    """Makes a visible desk of some features, with a separate database and the scenario of `TWO_PATHS`."""
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
    """Runs the scenario of the window to its end; returns the id of the run."""

    def run() -> int:
        with qtbot.waitSignal(window.runs.ended, timeout=20_000):
            window.bar.trigger("run.toggle")
        return window.history.runs()[0].id

    return run
