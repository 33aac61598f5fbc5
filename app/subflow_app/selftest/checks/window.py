"""The first start of the window: the welcome, the demo running to its end, its curves, and the run in the history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.selftest.window_story import Until

# A window with all panels and curves has some hundred, text alone already a dozen.
_FEWEST_COLOURS = 40


def check(_place: Place) -> str:
    """Plays it."""
    from subflow_app.selftest.window_story import colours, play

    found: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtWidgets import QDialog

        from subflow_app.selftest.window_story import Until

        yield Until("the welcome", lambda: window.findChild(QDialog, "welcome_dialog") is not None)
        welcome = window.findChild(QDialog, "welcome_dialog")
        assert isinstance(welcome, QDialog)
        welcome.reject()
        window.window_dialogs.open_door("demo")
        window.bar.trigger("run.speed_express")
        yield Until("the demo to end", lambda: not window.runs.is_running)
        yield Until("the run in the history", lambda: len(window.history.runs()) == 1)
        (run,) = window.history.runs()
        window.docks.set_open("help", True)
        shown = colours(window)
        require(window.plots.shown_keys(), "no curve is drawn")
        require(shown >= _FEWEST_COLOURS, f"the window has {shown} colours: it is empty")
        require(window.help.browser.toPlainText(), "the help has no text")
        found.append(f"demo {run.signature} in the history, {window.width()} × {window.height()} pixels")
        found.append(f"{shown} colours")

    play(story)
    return ", ".join(found)


CHECK = Check("window", check)
