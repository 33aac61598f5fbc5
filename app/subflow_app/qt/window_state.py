"""Where the window was and how its panels lay, kept between sessions; nothing else is kept here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QPoint, QRect, QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

from subflow_app.core.paths import window_state_path
from subflow_app.core.running.stepping import FASTEST, SLOWEST
from subflow_app.qt.actions.choices import WORKSPACES
from subflow_app.qt.docks import LAYOUT_VERSION
from subflow_app.qt.workspaces import Workspaces

_TITLE_BAR = 32  # px of a window's top that must be in reach of the mouse, or it could never be moved again


def placed_on(rect: QRect, rooms: Sequence[QRect]) -> QRect:
    """Where a window that was at ``rect`` goes on these screens.

    Args:
        rect: where it was, px.
        rooms: what each screen has for windows, the main screen first; not empty.

    Returns:
        ``rect`` where its top is in reach and it fits; else, on the screen that shows most of it or on the main one,
        no larger than that screen and wholly on it.
    """
    shares = [room.intersected(rect) for room in rooms]
    best = max(range(len(rooms)), key=lambda index: shares[index].width() * shares[index].height())
    room, share = rooms[best], shares[best]
    fits = rect.width() <= room.width() and rect.height() <= room.height()
    # Part of a window may be beside the screen: people put it there. Its title bar and half of its width must not.
    is_in_reach = rect.top() >= room.top() and rect.top() + _TITLE_BAR <= room.bottom()
    if fits and is_in_reach and 2 * share.width() >= rect.width():
        return rect
    size = rect.size().boundedTo(room.size())
    left = min(max(rect.left(), room.left()), room.left() + room.width() - size.width())
    top = min(max(rect.top(), room.top()), room.top() + room.height() - size.height())
    return QRect(QPoint(left, top), size)


def fit_to_screen(window: QMainWindow) -> None:
    """Brings a window back whose screen is gone, or smaller now; a maximised one is the desktop's business."""
    main = QGuiApplication.primaryScreen()
    if window.isMaximized() or window.isFullScreen():
        return
    others = [screen for screen in QGuiApplication.screens() if screen is not main]
    rect = placed_on(window.geometry(), [screen.availableGeometry() for screen in (main, *others)])
    if rect != window.geometry():
        window.setGeometry(rect)


class WindowStateFile:
    """An INI file with geometry, layout and the switches of the toolbar."""

    def __init__(self, path: Path | None = None) -> None:
        """Uses the user's file, or ``path``."""
        self._settings = QSettings(str(path or window_state_path()), QSettings.Format.IniFormat)

    def save(self, window: QMainWindow, workspaces: Workspaces, switches: dict[str, bool]) -> None:
        """Writes everything."""
        self._settings.setValue("version", LAYOUT_VERSION)
        self._settings.setValue("geometry", window.saveGeometry())
        self._settings.setValue("workspace", workspaces.current)
        self._settings.remove("workspaces")
        for name, state in workspaces.states().items():
            self._settings.setValue(f"workspaces/{name}", state)
        for name, is_on in switches.items():
            self._settings.setValue(f"switches/{name}", is_on)
        self._settings.sync()

    def save_speed_limit(self, limit: float | None) -> None:
        """Writes the speed that is chosen."""
        self._settings.setValue("speed", "max" if limit is None else f"{limit:g}")
        self._settings.sync()

    def restore_layout(self, window: QMainWindow, workspaces: Workspaces) -> None:
        """Puts window and panels where they were, or where they are at first if another version wrote the file."""
        states: dict[str, QByteArray] = {}
        if str(self._settings.value("version", "")) == str(LAYOUT_VERSION):
            geometry = self._settings.value("geometry")
            # Before the panels, which share out the room that the window has.
            if isinstance(geometry, QByteArray):
                window.restoreGeometry(geometry)
                fit_to_screen(window)
            for name in WORKSPACES:
                state = self._settings.value(f"workspaces/{name}")
                if isinstance(state, QByteArray):
                    states[name] = state
        workspaces.restore(states, str(self._settings.value("workspace", "")))

    def switches(self) -> dict[str, bool]:
        """Switches that were saved, by action id."""
        self._settings.beginGroup("switches")
        saved = {name: str(self._settings.value(name)).lower() == "true" for name in self._settings.childKeys()}
        self._settings.endGroup()
        return saved

    def speed_limit(self, otherwise: float | None) -> float | None:
        """The speed that was chosen; what is given here the first time, or if the file says nothing sensible."""
        text = str(self._settings.value("speed", ""))
        if text == "max":
            return None
        try:
            limit = float(text)
        except ValueError:
            return otherwise
        return limit if SLOWEST <= limit <= FASTEST else otherwise

    def save_history(self, state: str) -> None:
        """Writes how the list of runs looks."""
        self._settings.setValue("history", state)
        self._settings.sync()

    @property
    def history(self) -> str:
        """How the list of runs looked; empty the first time."""
        return str(self._settings.value("history", ""))
