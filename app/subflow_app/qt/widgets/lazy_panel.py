"""A panel as the window has it from the start: empty, for most sessions never look at it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget


class LazyPanel(QWidget):
    """Says when it is first shown, and is filled then."""

    woken = Signal()

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """Nothing in it yet; with this object name and accessible name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(text)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._is_awake = False

    def put_in(self, content: QWidget) -> None:
        """Fills it."""
        layout = self.layout()
        assert layout is not None
        layout.addWidget(content)
        # The layout would show it in the next turn of the event loop, too late for the keyboard that goes there.
        content.show()
        self.setFocusProxy(content)

    def showEvent(self, event: QShowEvent) -> None:
        """Wakes."""
        super().showEvent(event)
        if not self._is_awake:
            self._is_awake = True
            self.woken.emit()
