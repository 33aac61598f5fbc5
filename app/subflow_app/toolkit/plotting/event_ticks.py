"""Marks of a run in a plot: ticks at its bottom for losses, lines across for changes of links and controllers."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from numpy.typing import NDArray
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

# Share of the height of the plot; a timeout is rarer and worse than a loss and stands taller, an agent acts all the
# time.
HEIGHTS = {"action": 0.02, "loss": 0.045, "penalised": 0.075, "rto": 0.11}
# More ticks than these are drawn one per column of pixels: an agent acts more often than a screen is wide.
_MOST_TICKS = 2000
LINE_KINDS = ("link_down", "link_up", "link_change", "controller_change")


class EventTicks(pg.UIGraphicsItem):  # type: ignore[misc] # pyqtgraph is untyped
    """Vertical ticks at given times, as tall as a share of the view whatever its value range."""

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self._height = 0.0
        self._pen = QPen()
        self.times = np.empty(0)  # times of the ticks, float64 [n], s
        self._path = QPainterPath()
        self.setZValue(-10)

    def set_times(self, times: NDArray[np.float64]) -> None:
        """Replaces the ticks.

        Args:
            times: float64 [n], s.
        """
        self.times = times
        self._path = _path(times[:_MOST_TICKS])
        self.update()

    def set_height(self, height: float) -> None:
        """``height`` is the share of the view, 0 to 1, measured from its bottom."""
        self._height = height
        self.update()

    def set_pen(self, pen: QPen) -> None:
        """Recolours the ticks."""
        self._pen = pen
        self.update()

    def dataBounds(self, *_args: object, **_kwargs: object) -> None:
        """Ticks never take part in fitting the view."""

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws the ticks from the bottom of the view."""
        view = self.boundingRect()
        # The scene's y axis points down and pyqtgraph's up: the smaller y is the bottom of the plot.
        painter.translate(0.0, view.top())
        painter.scale(1.0, view.height() * self._height)
        painter.setPen(self._pen)
        painter.drawPath(self._path if len(self.times) <= _MOST_TICKS else self._thinned(painter))

    def _thinned(self, painter: QPainter) -> QPainterPath:
        """The first tick in each column of pixels of the view."""
        view = self.boundingRect()
        times = self.times[(self.times >= view.left()) & (self.times <= view.right())]
        columns = np.floor(times * painter.deviceTransform().m11())
        return _path(times[np.unique(columns, return_index=True)[1]])


def _path(times: NDArray[np.float64]) -> QPainterPath:
    """Ticks from 0 to 1 at these times."""
    path: QPainterPath = pg.arrayToQPath(
        np.repeat(times, 2), np.tile(np.array([0.0, 1.0]), len(times)), connect="pairs"
    )
    return path
