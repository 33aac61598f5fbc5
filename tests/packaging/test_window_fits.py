"""The window with its frame lies on the screen: at the first start, and after a session on a larger screen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from virtual_screen import VirtualScreen

# A window at the start of the program: prints its place after the desktop has framed it, moves, and closes.
WINDOW = """
import json, sys
from types import SimpleNamespace
from pathlib import Path
from PySide6.QtCore import QRect, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
from subflow_app.shell.window_state import WindowStateFile

path, wanted = Path(sys.argv[1]), json.loads(sys.argv[2])
application = QApplication([])
window, state = QMainWindow(), WindowStateFile(path)
workspaces = SimpleNamespace(current="run", states=dict, folds={}, restore=lambda states, current, folds: None)
state.restore_layout(window, workspaces)

def report():
    outer, inner, screen = window.frameGeometry(), window.geometry(), window.screen().geometry()
    print(json.dumps([list(each.getRect()) for each in (outer, inner, screen)]))
    if wanted:
        window.setGeometry(QRect(*wanted))
    QTimer.singleShot(100, leave)

def leave():
    state.save(window, workspaces, {})
    application.quit()

window.show()
QTimer.singleShot(1200, report)
application.exec()
"""


@pytest.fixture
def desktops() -> Iterator[dict[str, VirtualScreen]]:
    """A large and a small screen, with a window manager if one is installed."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    with VirtualScreen(1920, 1080) as large, VirtualScreen(1280, 720) as small:
        managers = []
        if shutil.which("openbox") is not None:
            managers = [
                subprocess.Popen(["openbox"], env=os.environ | {"DISPLAY": each.display}, stderr=subprocess.DEVNULL)
                for each in (large, small)
            ]
        yield {"large": large, "small": small}
        for manager in managers:
            manager.terminate()
            manager.wait()


def lies(screen: VirtualScreen, path: Path, then_at: list[int]) -> list[list[int]]:
    told = subprocess.run(
        [sys.executable, "-c", WINDOW, str(path), json.dumps(then_at)],
        env=os.environ | {"DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[list[int]] = json.loads(told.stdout)
    return found


def test_the_window_and_its_frame_are_on_the_screen(desktops: dict[str, VirtualScreen], tmp_path: Path) -> None:
    outer, _inner, _screen = lies(desktops["small"], tmp_path / "first.ini", [])
    assert_inside(outer, (1280, 720))

    path = tmp_path / "window.ini"
    _outer, inner, _screen = lies(desktops["large"], path, [60, 40, 1800, 1000])
    assert inner[2:] == [1400, 900]
    outer, _inner, _screen = lies(desktops["small"], path, [])
    assert_inside(outer, (1280, 720))


def assert_inside(rect: list[int], size: tuple[int, int]) -> None:
    left, top, width, height = rect
    assert left >= 0
    assert top >= 0
    assert left + width <= size[0]
    assert top + height <= size[1]
    # The window is not smaller than necessary either.
    assert width > 0.9 * size[0]
    assert height > 0.9 * size[1]
