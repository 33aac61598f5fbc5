"""The window speaks German: its own texts, the help, and the dialogs of Qt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.selftest.window_story import Until


def check(_place: Place) -> str:
    """Opens it in German."""
    from subflow_app.selftest.window_story import play

    menus: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtWidgets import QDialogButtonBox

        menus.extend(action.text().replace("&", "") for action in window.menuBar().actions())
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, window)
        cancel = box.button(QDialogButtonBox.StandardButton.Cancel).text().replace("&", "")
        box.deleteLater()
        require("Datei" in menus, f"the menus are {', '.join(menus)}")
        require(cancel == "Abbrechen", f"Qt's own dialogs say {cancel}, not Abbrechen")
        require("Topologie" in window.help.browser.toPlainText(), "the help is not German")
        yield from ()

    play(story, settings={"language": "de", "is_welcomed": True})
    return f"German: {', '.join(menus)}; Qt's dialogs too"


CHECK = Check("languages", check)
