"""The window opens in the user's own locale, and has its controls at work there; all other checks have one locale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.shell.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow
    from subflow_app.shell.selftest.window_story import Until


def check(_place: Place) -> str:
    """Opens it, and runs the demo."""
    from subflow_app.shell.selftest.window_story import play

    found: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtCore import QLocale

        from subflow_app.shell.selftest.window_story import Until

        window.bar.trigger("run.speed_express")
        window.bar.trigger("run.toggle")
        yield Until("the run to end", lambda: not window.runs.is_running and window.shown.count == 1)
        require(window.plots.shown_keys(), "no curve is drawn")
        system = QLocale.system()
        menus = ", ".join(action.text().replace("&", "") for action in window.menuBar().actions())
        found.append(f"{system.name()}, numbers as {system.toString(1234.5, 'f', 1)}: {menus}")

    play(story, settings={"is_welcomed": True})
    return found[0]


CHECK = Check("own locale", check, is_in_own_locale=True)
