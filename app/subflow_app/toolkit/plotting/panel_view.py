"""Two linear axes painted with grid, numbers and titles, and the view of a picture that uses them.

The view shows a mark with intervals per series, the Pareto front, and the better direction. The painter draws the
axes alike on the screen and into files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import Tokens, current_tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import hex_colour
from subflow_app.vocabulary.picture import FloatArray, Panel, PanelSeries

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


_RADIUS, _REACH = 5.0, 12.0


class PanelView(QWidget):
    """A picture; a click chooses a series, a tooltip describes it."""

    chosen = Signal(int)  # number of a series

    def __init__(self, name: str, text: str, empty: str, parent: QWidget | None = None) -> None:
        """No picture yet.

        Args:
            name: object name.
            text: accessible name.
            empty: shown while there are no series.
            parent: Qt parent.
        """
        super().__init__(parent)
        named(self, name, text)
        self.setMinimumSize(240, 150)
        self.panel: Panel | None = None
        self._empty = empty
        self._current = -1

    def sizeHint(self) -> QSize:
        """A figure of a page."""
        return QSize(480, 300)

    def show_panel(self, panel: Panel) -> None:
        """Shows this picture."""
        self.panel, self._current = panel, -1
        self.setAccessibleDescription(panel.note)
        self.update()

    def set_current(self, number: int) -> None:
        """Marks a series; -1: none."""
        self._current = number
        self.update()

    @property
    def axes(self) -> PaintedAxes:
        """The axes as they are laid out now."""
        panel = self.panel
        assert panel is not None
        x = _span(panel.x_text, [(each.x, panel.x_ends(each)) for each in panel.series])
        y = _span(panel.y_text, [(each.means, panel.ends(each)) for each in panel.series])
        return PaintedAxes(x, y, QRectF(self.rect()), QFontMetricsF(self.font()))

    def place(self, number: int) -> QPointF:
        """Where the mark of a series is."""
        assert self.panel is not None
        return _place(self.axes, self.panel.series[number])

    def number_at(self, position: QPointF) -> int:
        """The series whose mark is there; -1: none."""
        if self.panel is None or not self.panel.series:
            return -1
        axes = self.axes
        gaps = [math.hypot(*(_place(axes, each) - position).toTuple()) for each in self.panel.series]
        nearest = int(np.argmin(gaps))
        return nearest if gaps[nearest] <= _REACH else -1

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Axes, front, marks and their names."""
        painter, tokens = QPainter(self), current_tokens()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.fillRect(self.rect(), QColor(tokens.base))
        if self.panel is None or not self.panel.series:
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._empty)
        else:
            self._draw(painter, tokens, self.panel, self.axes)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Chooses the series under the mouse."""
        number = self.number_at(event.position())
        if number >= 0:
            self.chosen.emit(number)

    def event(self, event: QEvent) -> bool:
        """Describes the series under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.panel is not None:
            number = self.number_at(QPointF(event.pos()))
            found = self.panel.series[number] if number >= 0 else None
            QToolTip.showText(event.globalPos(), (found.words or found.name) if found else "", self)
            return True
        return super().event(event)

    def _draw(self, painter: QPainter, tokens: Tokens, panel: Panel, axes: PaintedAxes) -> None:
        axes.draw(painter, tokens)
        if panel.better != (0, 0):
            painter.setPen(QPen(QColor(tokens.ok), 1.4, Qt.PenStyle.DashLine))
            painter.drawPolyline(QPolygonF([axes.at(*corner) for corner in panel.front]))
            side = Qt.AlignmentFlag.AlignRight if panel.better[0] > 0 else Qt.AlignmentFlag.AlignLeft
            text = f"{tr('better')} ↗" if panel.better[0] > 0 else f"↖ {tr('better')}"
            painter.drawText(axes.area.adjusted(6, 2, -6, 0), int(side | Qt.AlignmentFlag.AlignTop), text)
        taken: list[QRectF] = []
        for number, series in enumerate(panel.series):
            colour, spot = QColor(hex_colour(series.colour, dark=tokens.is_dark)), _place(axes, series)
            painter.setPen(QPen(colour, 1.4))
            x_ends, y_ends = (
                (float(low[0]), float(high[0])) for low, high in (panel.x_ends(series), panel.ends(series))
            )
            axes.draw_cross(painter, float(series.x[0]), x_ends, float(series.means[0]), y_ends)
            # Filled: on the front; hollow: beaten. Not by colour alone.
            painter.setBrush(colour if series.is_ours else QColor(tokens.base))
            if number == self._current:
                painter.setPen(QPen(QColor(tokens.accent), 3.0))
            painter.drawEllipse(spot, _RADIUS, _RADIUS)
            taken.append(QRectF(spot.x() - _RADIUS, spot.y() - _RADIUS, 2 * _RADIUS, 2 * _RADIUS))
        # Names of the best first: tables and tooltips have those that find no room.
        for number in sorted(range(len(panel.series)), key=lambda n: (n != self._current, not panel.series[n].is_ours)):
            self._draw_name(painter, tokens, axes, panel.series[number], taken)

    def _draw_name(
        self, painter: QPainter, tokens: Tokens, axes: PaintedAxes, series: PanelSeries, taken: list[QRectF]
    ) -> None:
        metrics, gap = QFontMetricsF(self.font()), _RADIUS + 1
        text = metrics.elidedText(series.name, Qt.TextElideMode.ElideMiddle, axes.area.width() * 0.45)
        width, line = metrics.horizontalAdvance(text), metrics.height()
        # Beside the intervals, which go through the middle.
        for x, y in ((gap, -gap - line), (gap, gap), (-gap - width, -gap - line), (-gap - width, gap)):
            box = QRectF(_place(axes, series) + QPointF(x, y), QSizeF(width, line))
            if axes.area.contains(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                painter.setPen(QColor(tokens.text if series.is_ours else tokens.muted_text))
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
                return


def _place(axes: PaintedAxes, series: PanelSeries) -> QPointF:
    return axes.at(float(series.x[0]), float(series.means[0]))


def _span(title: str, pairs: list[tuple[FloatArray, tuple[FloatArray, FloatArray]]]) -> Span:
    """Room for all marks and intervals; from zero where that does not squeeze them into a corner."""
    low = float(min(np.fmin(mean, lows).min() for mean, (lows, _) in pairs))
    high = float(max(np.fmax(mean, highs).max() for mean, (_, highs) in pairs))
    if 0 < low < 0.6 * high:
        low = 0.0
    margin = (high - low) * 0.12 or max(abs(high) * 0.2, 1e-9)
    return Span(title, low if low == 0.0 else low - margin, high + margin)
