"""The window speaks German, on a file whose name does: its own texts, the help, and the dialogs of Qt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.shell.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow
    from subflow_app.shell.selftest.window_story import Until

_FOLDER, _FILE = "Übungen & Läufe", "Mein Netz für 世界.subflow.toml"


def check(place: Place) -> str:
    """Opens it in German."""
    from subflow_app.foundation.resources import resource_path
    from subflow_app.shell.selftest.window_story import play

    file = place.folder / _FOLDER / _FILE
    file.parent.mkdir()
    file.write_bytes(resource_path("scenarios/t-2link.toml").read_bytes())
    menus: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtWidgets import QDialogButtonBox

        menus.extend(action.text().replace("&", "") for action in window.menuBar().actions())
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, window)
        cancel = box.button(QDialogButtonBox.StandardButton.Cancel).text().replace("&", "")
        box.deleteLater()
        require("Datei" in menus, f"the menus are {', '.join(menus)}")
        require(cancel == "Abbrechen", f"Qt's own dialogs show {cancel}, not Abbrechen")
        require("Topologie" in window.help.browser.toPlainText(), "the help is not German")
        require(_FILE in window.windowTitle(), f"the window on {_FILE} is titled {window.windowTitle()}")
        yield from ()

    play(story, file=file, settings={"language": "de", "is_welcomed": True})
    return f"German: {', '.join(menus)}; Qt's dialogs too"


CHECK = Check("languages", check)
