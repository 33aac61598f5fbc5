"""Nothing moves away from under a mouse button that is held down: its click would go elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

_AGAIN_MS = 20


def when_released(owner: QObject, move: Callable[[], object]) -> None:
    """Does what moves widgets: at once, or as soon as no mouse button is pressed; not at all once the owner is gone."""
    if QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
        move()
        return
    timer = QTimer(owner)
    timer.setInterval(_AGAIN_MS)

    def look() -> None:
        if QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton:
            timer.stop()
            timer.deleteLater()
            move()

    timer.timeout.connect(look)
    timer.start()
