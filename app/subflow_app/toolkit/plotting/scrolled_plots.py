"""Plots in one picture that leave to the scroll area around them what is meant for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent

_SCROLL_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class ScrolledPlots(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    """A layout of plots, each of which has its plot item as ``item``."""

    plots: Sequence[Any]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zooms over a plot and its axes; between the plots it scrolls what lies around them."""
        position = self.mapToScene(event.position().toPoint())
        if any(plot.item.sceneBoundingRect().contains(position) for plot in self.plots):
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leaves the keys that scroll."""
        if event.key() in _SCROLL_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)
