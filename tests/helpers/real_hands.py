"""A person's mouse and keyboard by xdotool: the X server and a window manager pass each event on, as for a real device.

Every click and key is counted, as the number of acts measures how hard a job is.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from subflow_app.shell.selftest.window_story import Until

NEEDED = ("Xvfb", "openbox", "xdotool")
"""Programs without which no real hands are possible."""


def missing_programs() -> list[str]:
    """Those of the needed programs that this machine lacks."""
    return [name for name in NEEDED if shutil.which(name) is None]


@contextmanager
def window_manager() -> Iterator[None]:
    """A window manager on the screen of this process, which places windows and passes the keyboard on."""
    with subprocess.Popen(["openbox"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as manager:
        try:
            yield
        finally:
            manager.terminate()


class RealHands:
    """Clicks and keys; each method is a story for `yield from`."""

    def __init__(self) -> None:
        self.clicks = 0
        self.keys = 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> Iterator[Until]:
        """Clicks a widget, in its middle unless a point is given."""
        name = widget.objectName() or type(widget).__name__
        yield Until(f"{name} to be shown", widget.isVisible)
        place = widget.rect().center() if at is None else at
        assert widget.visibleRegion().contains(place), f"nobody can point at {name}: it is hidden"
        spot = widget.mapToGlobal(place)
        self.clicks += 1
        yield from _acted("mousemove", str(spot.x()), str(spot.y()), "sleep", "0.05", "click", "1")

    def press(self, key: str) -> Iterator[Until]:
        """Presses a key, written as xdotool names it: ``ctrl+shift+m``."""
        self.keys += 1
        yield from _acted("key", key)

    def paste(self, text: str) -> Iterator[Until]:
        """Replaces the text at the keyboard focus; the text of a person does not count as keys."""
        QGuiApplication.clipboard().setText(text)
        yield from _acted("key", "ctrl+a", "ctrl+v")


def _acted(*words: str) -> Iterator[Until]:
    """Carries out an act of xdotool, and waits until the X server has taken it."""
    act = subprocess.Popen(["xdotool", *words], stdout=subprocess.DEVNULL)
    yield Until(f"xdotool {' '.join(words)}", lambda: act.poll() is not None)
    assert act.returncode == 0
