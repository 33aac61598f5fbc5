"""The first start of the window: the welcome, the demo with its curves, and a command beside it on one database."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.foundation.paths import own_command
from subflow_app.shell.selftest.check import SHORT_RUN, Check, Place, last_lines, require

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow
    from subflow_app.shell.selftest.window_story import Until

# A window with all panels and curves has some hundred, text alone already a dozen.
_FEWEST_COLOURS = 40


def check(_place: Place) -> str:
    """Plays it."""
    from subflow_app.shell.selftest.window_story import colours, play

    found: list[str] = []

    def story(window: MainWindow) -> Iterator[Until]:
        from PySide6.QtWidgets import QDialog

        from subflow_app.shell.selftest.window_story import Until

        yield Until("the welcome", lambda: window.findChild(QDialog, "welcome_dialog") is not None)
        welcome = window.findChild(QDialog, "welcome_dialog")
        assert isinstance(welcome, QDialog)
        welcome.reject()
        beside = subprocess.Popen(
            own_command("run", *SHORT_RUN), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        window.window_dialogs.open_door("demo")
        window.bar.trigger("run.speed_express")
        yield Until("both runs to end", lambda: not window.runs.is_running and beside.poll() is not None)
        _, said = beside.communicate()
        require(beside.returncode == 0 and not said, f"the command beside the window printed: {last_lines(said)}")
        window.history.reload()
        yield Until("both runs in the history", lambda: len(window.history.runs()) == 2)
        runs = window.history.runs()
        require(all(run.status == "finished" for run in runs), f"they are {' and '.join(run.status for run in runs)}")
        require(len({run.signature for run in runs}) == 2, "both have the same signature")
        window.docks.set_open("help", True)
        shown = colours(window)
        require(window.plots.shown_keys(), "no curve is drawn")
        require(shown >= _FEWEST_COLOURS, f"the window has {shown} colours: it is empty")
        require(window.help.browser.toPlainText(), "the help has no text")
        found.append(f"the demo and a command beside it in one history, {window.width()} × {window.height()} pixels")
        found.append(f"{shown} colours")

    play(story)
    return ", ".join(found)


CHECK = Check("window, two instances", check)
