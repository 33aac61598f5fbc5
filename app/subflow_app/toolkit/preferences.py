"""The user's settings, saved whenever they change; a failure to save them does not interrupt work."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from subflow_app.foundation.errors import SettingsError
from subflow_app.foundation.settings import Settings, load_settings, save_settings

_log = logging.getLogger(__name__)


class Preferences(QObject):
    """The current settings."""

    changed = Signal(object)  # Settings
    not_saved = Signal(str)  # reason

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        """Read the user's settings, from ``path`` if given."""
        super().__init__(parent)
        self.path = path
        self.settings = load_settings(path)

    def change(self, settings: Settings) -> None:
        """Apply settings, save them and emit `changed`; no effect if they are equal to the current ones."""
        if settings == self.settings:
            return
        self.settings = settings
        try:
            save_settings(settings, self.path)
        except SettingsError as error:
            _log.warning("%s", error)
            self.not_saved.emit(str(error))
        self.changed.emit(settings)
