"""Where the window was and how its panels lay, kept between sessions; nothing else is kept here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtWidgets import QMainWindow

from subflow_app.core.paths import window_state_path
from subflow_app.qt.docks import LAYOUT_VERSION, Docks


class WindowStateFile:
    """An INI file with geometry, layout and the switches of the toolbar."""

    def __init__(self, path: Path | None = None) -> None:
        """Uses the user's file, or ``path``."""
        self._settings = QSettings(str(path or window_state_path()), QSettings.Format.IniFormat)

    def save(self, window: QMainWindow, docks: Docks, switches: dict[str, bool]) -> None:
        """Writes everything."""
        self._settings.setValue("version", LAYOUT_VERSION)
        self._settings.setValue("geometry", window.saveGeometry())
        self._settings.setValue("layout", docks.save_state())
        for name, is_on in switches.items():
            self._settings.setValue(f"switches/{name}", is_on)
        self._settings.sync()

    def save_speed(self, speed: str) -> None:
        """Writes the speed that is chosen."""
        self._settings.setValue("speed", speed)
        self._settings.sync()

    def restore_layout(self, window: QMainWindow, docks: Docks) -> bool:
        """Puts window and panels where they were; False if this is the first time or another version wrote the file."""
        if str(self._settings.value("version", "")) != str(LAYOUT_VERSION):
            return False
        geometry, layout = self._settings.value("geometry"), self._settings.value("layout")
        if not isinstance(geometry, QByteArray) or not isinstance(layout, QByteArray):
            return False
        # The geometry first: panels share out the room that the window has.
        return window.restoreGeometry(geometry) and docks.restore_state(layout)

    def switches(self) -> dict[str, bool]:
        """Switches that were saved, by action id."""
        self._settings.beginGroup("switches")
        saved = {name: str(self._settings.value(name)).lower() == "true" for name in self._settings.childKeys()}
        self._settings.endGroup()
        return saved

    @property
    def speed(self) -> str:
        """The speed that was chosen; empty the first time."""
        return str(self._settings.value("speed", ""))
