"""A window shared by tests, and the closing of windows with everything that they started."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot
from tests.helpers.window import TWO_PATHS, ScriptedDialogs, be_patient, make_window

from subflow_app.features.arena.qt.feature import ArenaFeature
from subflow_app.features.gallery.qt.feature import GalleryFeature
from subflow_app.features.training.qt.session import TrainingSession
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.workspaces import DEFAULT_WORKSPACE, PANELS

if TYPE_CHECKING:
    from tests.helpers.desk import Desk

SHARED = "shared"
"""A property of the window that tests share."""


class Worn:
    """A window used by one test after the other, like by a person who opens another file and another database."""

    def __init__(self, application: QApplication, folder: Path, dialogs: ScriptedDialogs) -> None:
        self._dialogs = dialogs
        self.is_clean = True
        self._window = make_window(application, folder, dialogs=dialogs)
        self._window.setProperty(SHARED, True)
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

    def _open_panels(self) -> dict[str, str]:
        """The panel in front, by open panel."""
        docks = self._window.docks
        return {name: docks.front_of(name) for name in PANELS if docks.is_open(name)}

    def put_on(self, qtbot: QtBot, database: Path) -> MainWindow:
        self.is_clean = False
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
        assert window.isVisible(), "who closes the window needs a window of its own"
        if window.runs.is_running:
            window.runs.stop()
            qtbot.waitUntil(lambda: not window.runs.is_running, timeout=20_000)
        self._empty_queue(qtbot)
        for other in QApplication.topLevelWidgets():
            if isinstance(other, QDialog) and other.isVisible():
                other.close()
                other.deleteLater()
            elif other.windowType() == Qt.WindowType.Popup:
                other.hide()
        window.presentation.close()
        window.shown.clear()
        window.plots.legend_model.set_hidden(frozenset())
        for name, is_on in self._now().items():
            if is_on != self._switches[name]:
                window.bar.trigger(name)
        if window.theme.mode != self._settings.theme:
            window.bar.trigger(f"view.theme_{self._settings.theme}")
        window.bar.trigger("topology.tool_select")
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
        window.database._is_closed = False  # the next test opens another database
        self.is_clean = True

    def _empty_queue(self, qtbot: QtBot) -> None:
        session = self._window.queue_session
        numbers = [entry.number for entry in session.queue.entries()]
        session.queue.cancel(numbers)
        qtbot.waitUntil(lambda: not session.queue.is_busy, timeout=20_000)
        session.queue.remove(numbers)
        session.queue.unpause()
        session.queue.set_parallel(session.panel.parallel.value())
        session.refresh()

    @property
    def is_slow(self) -> bool:
        """True once the window has panels that read for seconds, or start threads, with each opened database."""
        features = self._window.features
        shown = (features[ArenaFeature].shown, features[GalleryFeature].made, features[TrainingSession].shown)
        return any(part is not None for part in shown)

    def close(self) -> None:
        gc.unfreeze()  # allows the objects of the window to be collected
        self._window.close_at_once()
        assert not self._window.isVisible()
        assert not self._window.workers.is_busy
        self._window.setProperty(SHARED, False)
        self._window.deleteLater()
        delete_later_now()
        assert not shiboken6.isValid(self._window)
        assert active_timers() == []
        assert "subflow-recovery" not in {thread.name for thread in threading.enumerate()}


def close_window(qtbot: QtBot, window: MainWindow | Desk, timers: Sequence[QTimer] = ()) -> None:
    """Closes a window in any state, and waits until it is deleted with all its timers, except earlier ones."""
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
    """The active timers, except those of the shared window."""
    timers = [t for t in gc.get_objects() if issubclass(type(t), QTimer) and shiboken6.isValid(t) and t.isActive()]
    return [timer for timer in timers if not _is_shared(timer)]


def _is_shared(timer: QTimer) -> bool:
    owner = timer.parent()
    while owner is not None and not owner.property(SHARED):
        owner = owner.parent()
    return owner is not None


def delete_later_now() -> None:
    """Processes pending deletions by `deleteLater`, which no event loop of a test processes."""
    for _ in range(2):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
