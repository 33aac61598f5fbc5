"""Measurement of the time until the window of a program appears, from outside and on a virtual screen."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from start_time import start_once
from virtual_screen import ScreenError, VirtualScreen

# A white window that handles SIGTERM and ends normally: without a handler the signal would kill it.
WINDOW = """
import signal, sys
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QPainter, QRasterWindow
class White(QRasterWindow):
    def paintEvent(self, event):
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), self.height(), "white")
        painter.end()
application = QGuiApplication([])
signal.signal(signal.SIGTERM, lambda *_: application.quit())
ticks = QTimer(interval=20)
ticks.timeout.connect(lambda: None)
ticks.start()
window = White()
window.resize(320, 200)
window.show()
sys.exit(application.exec())
"""


@pytest.fixture(scope="module")
def screen() -> Iterator[VirtualScreen]:
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    with VirtualScreen(640, 480) as on:
        yield on


def environment(screen: VirtualScreen) -> dict[str, str]:
    return os.environ | {"DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb"}


def test_a_start_lasts_until_pixels_of_the_window_are_on_the_screen(screen: VirtualScreen) -> None:
    assert screen.pixels().shape == (480, 640, 3)
    assert screen.colours() == 1

    told = start_once([sys.executable, "-c", WINDOW], screen, environment(screen))

    assert told["cpu_s"] > 0
    assert told["wall_s"] > 0


def test_a_program_that_ends_without_a_window_says_why(screen: VirtualScreen) -> None:
    with pytest.raises(ScreenError, match=r"showed no window \(exit code 3\): no licence to start"):
        start_once(["sh", "-c", "echo no licence to start >&2; exit 3"], screen, environment(screen))


def test_what_is_shown_is_kept_as_a_picture(screen: VirtualScreen, tmp_path: Path) -> None:
    from PySide6.QtGui import QImage

    screen.save(tmp_path / "new folder" / "screen.png")

    image = QImage(str(tmp_path / "new folder" / "screen.png"))
    assert (image.width(), image.height()) == (640, 480)
