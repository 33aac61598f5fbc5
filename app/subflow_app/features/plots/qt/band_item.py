"""The areas around a curve that stands for many: of an interval, or between percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

from subflow_app.features.plots.core import Band

# Of each area; where a narrow one lies on a wide one both add up.
_OPACITY = 0.20


class BandItem(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph is untyped
    """All areas around one curve."""

    def __init__(self, scale: float) -> None:
        """``scale`` turns SI values into the unit of the axis."""
        super().__init__()
        self._scale = scale
        self._colour = QColor(Qt.GlobalColor.transparent)
        self._log = False
        self._time_s: NDArray[np.float64] = np.empty(0)
        self._bands: tuple[Band, ...] = ()
        self._paths: list[QPainterPath] | None = None
        self._bounds = QRectF()

    def feed(self, time_s: NDArray[np.float64], bands: Sequence[Band]) -> None:
        """Replaces the areas."""
        if not bands and not self._bands:
            return
        self._time_s, self._bands = time_s, tuple(bands)
        self._renew()

    def set_colour(self, colour: str) -> None:
        """Of the curve, ``#rrggbb``."""
        self._colour = QColor(colour)
        self._colour.setAlphaF(_OPACITY)
        self.update()

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic axis, down to where it has values."""
        self._log = is_log
        self._renew()

    def edges(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Lower and upper edge of each area on the value axis, float64 [n]; NaN where there is none."""
        found = []
        for band in self._bands:
            low, high = (edge.astype(np.float64) * self._scale for edge in (band.low, band.high))
            if self._log:
                lowest = np.nanmin(high, where=high > 0, initial=np.inf)
                high = np.log10(np.where(high > 0, high, np.nan))
                low = np.log10(np.where(low > 0, low, lowest if np.isfinite(lowest) else np.nan))
            found.append((low, high))
        return found

    def _renew(self) -> None:
        self.prepareGeometryChange()
        self._paths = None
        edges = [np.concatenate(pair) for pair in self.edges()]
        values = np.concatenate(edges) if edges else np.empty(0)
        known = values[np.isfinite(values)]
        self._bounds = QRectF()
        if len(known) and len(self._time_s):
            width = float(self._time_s[-1] - self._time_s[0])
            self._bounds = QRectF(
                float(self._time_s[0]), float(known.min()), max(width, 1e-12), max(float(np.ptp(known)), 1e-12)
            )
        self.informViewBoundsChanged()
        self.update()

    def implements(self, interface: str | None = None) -> object:
        """Tells pyqtgraph that it has bounds."""
        return ["plotData"] if interface is None else interface == "plotData"

    def dataBounds(self, axis: int, _share: float = 1.0, **kwargs: Any) -> tuple[float, float] | None:
        """Of the time, or of the values where the time is within a range."""
        if self._bounds.isNull():
            return None
        if axis == 0:
            return self._bounds.left(), self._bounds.right()
        first, last = 0, len(self._time_s)
        if kwargs.get("orthoRange") is not None:
            first, last = (int(place) for place in np.searchsorted(self._time_s, kwargs["orthoRange"]))
        values = np.concatenate([edge[first:last] for pair in self.edges() for edge in pair])
        known = values[np.isfinite(values)]
        return (float(known.min()), float(known.max())) if len(known) else None

    def boundingRect(self) -> QRectF:
        """All areas."""
        return self._bounds

    def paint(self, painter: QPainter, *_args: Any) -> None:
        """Fills them."""
        if self._paths is None:
            self._paths = [_area(self._time_s, low, high) for low, high in self.edges()]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        for path in self._paths:
            painter.drawPath(path)


def _area(time_s: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> QPainterPath:
    """The area between two edges; a gap where one of them has one."""
    count = min(len(time_s), len(low), len(high))
    known = np.isfinite(low[:count]) & np.isfinite(high[:count])
    path = QPainterPath()
    breaks = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    for first, end in zip(breaks[::2], breaks[1::2], strict=True):
        x = np.concatenate([time_s[first:end], time_s[first:end][::-1]])
        y = np.concatenate([high[first:end], low[first:end][::-1]])
        path.addPath(cast("QPainterPath", pg.arrayToQPath(x, y, connect="all")))
        path.closeSubpath()
    return path
