"""An icon that stands by itself."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.icons import icon


class IconLabel(QWidget):
    """Draws an icon in the colours that the theme has when it is drawn."""

    def __init__(self, name: str, colour: str, size: int, parent: QWidget | None = None) -> None:
        """Shows an icon as `icon` makes it, ``size`` px wide and high."""
        super().__init__(parent)
        self._icon = icon(name, colour)
        self.setFixedSize(size, size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws it."""
        self._icon.paint(QPainter(self), self.rect())
