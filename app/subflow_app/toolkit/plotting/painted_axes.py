"""Two linear axes with grid, numbers and titles, drawn with a painter: on the screen and into files alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import Tokens

_MOST_TICKS = 8
_WIDEST = "10 000.0"


@dataclass(frozen=True, slots=True)
class Span:
    """What an axis shows.

    Attributes:
        title: with the unit.
        low: the least value.
        high: the greatest value.
        is_reversed: whether values grow to the left, or downwards.
    """

    title: str
    low: float
    high: float
    is_reversed: bool = False

    def share(self, value: float) -> float:
        """Where a value stands, 0 to 1 from the left or from below."""
        share = (value - self.low) / (self.high - self.low)
        return 1.0 - share if self.is_reversed else share


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high: 1, 2 or 5 times a power of ten apart."""
    span = high - low
    step = 10.0 ** math.floor(math.log10(span / _MOST_TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= _MOST_TICKS)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


class PaintedAxes:
    """Axes laid out in a rectangle; `area` is what they enclose."""

    def __init__(self, x: Span, y: Span, room: QRectF, metrics: QFontMetricsF) -> None:
        """Nothing is drawn yet."""
        self.x, self.y = x, y
        self._metrics = metrics
        self._line = metrics.height()
        left = metrics.horizontalAdvance(_WIDEST) + self._line + 8
        self._room = room
        self.area = room.adjusted(left, self._line * 0.8, -self._line, -2.6 * self._line)

    def at(self, x: float, y: float) -> QPointF:
        """Where a pair of values is."""
        area = self.area
        return QPointF(area.left() + self.x.share(x) * area.width(), area.bottom() - self.y.share(y) * area.height())

    def draw(self, painter: QPainter, tokens: Tokens) -> None:
        """Draws the axes."""
        area, line = self.area, self._line
        painter.fillRect(area, QColor(tokens.base))
        for value in ticks(self.x.low, self.x.high):
            x = self.at(value, 0.0).x()
            painter.setPen(QColor(tokens.grid))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(QColor(tokens.muted_text))
            box = QRectF(x - 60, area.bottom() + 3, 120, line)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignHCenter), fmt.number(value, 4))
        for value in ticks(self.y.low, self.y.high):
            y = self.at(0.0, value).y()
            painter.setPen(QColor(tokens.grid))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(QColor(tokens.muted_text))
            box = QRectF(area.left() - 106, y - line / 2, 100, line)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, int(flags), fmt.number(value, 4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QColor(tokens.border))
        painter.drawRect(area)
        painter.setPen(QColor(tokens.text))
        below = QRectF(area.left(), area.bottom() + 1.3 * line, area.width(), 1.2 * line)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), self._fitting(self.x.title, area.width()))
        painter.save()
        painter.translate(area.left() - self._metrics.horizontalAdvance(_WIDEST) - line, self._room.center().y())
        painter.rotate(-90)
        # Beside the numbers along the axis, too: a low plot has no room for it otherwise.
        height = self._room.height()
        beside = QRectF(-height / 2, -line / 2, height, 1.2 * line)
        painter.drawText(beside, int(Qt.AlignmentFlag.AlignCenter), self._fitting(self.y.title, height))
        painter.restore()

    def draw_cross(
        self, painter: QPainter, x: float, x_ends: tuple[float, float], y: float, y_ends: tuple[float, float]
    ) -> None:
        """Draws the intervals of a pair of values, as far as there are any and they lie within the axes."""
        painter.save()
        painter.setClipRect(self.area.adjusted(-1, -1, 1, 1))
        if all(map(math.isfinite, x_ends)):
            painter.drawLine(self.at(x_ends[0], y), self.at(x_ends[1], y))
        if all(map(math.isfinite, y_ends)):
            painter.drawLine(self.at(x, y_ends[0]), self.at(x, y_ends[1]))
        painter.restore()

    def _fitting(self, title: str, room: float) -> str:
        """A title that fits: its end has the unit, so the middle is left out."""
        return self._metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, room)
