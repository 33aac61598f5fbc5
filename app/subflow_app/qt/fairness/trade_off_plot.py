"""The plot of trade-offs: a point per experiment with its intervals, the Pareto front, and where better is.

It draws itself with a painter, on the screen and into files alike: a figure is what was seen, in light colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from subflow_app.core.fairness.trade_offs import TRADE_OFFS, Point, TradeOffKind, short_titles
from subflow_app.core.files import write_file
from subflow_app.core.language import tr
from subflow_app.core.metrics import Metric
from subflow_app.core.palette import ColourKey, hex_colour
from subflow_app.core.paper.figure_plan import figure_kind
from subflow_app.qt import format as fmt
from subflow_app.qt.plotting.figure_file import FigureSize, paper_font, picture_content
from subflow_app.qt.plotting.painted_axes import PaintedAxes, Span
from subflow_app.qt.theme import LIGHT, Tokens, current_tokens
from subflow_sim.stats import Estimate

FILE_SIZE = FigureSize(170.0, 115.0)
_RADIUS, _REACH = 5.0, 12.0


class TradeOffPicture:
    """Points laid out in a rectangle."""

    def __init__(self, points: Sequence[Point], kind: TradeOffKind, area: QRectF, metrics: QFontMetricsF) -> None:
        """Nothing is drawn yet."""
        self.points = tuple(points)
        self.names = short_titles([point.title for point in points])
        self.spec = TRADE_OFFS[kind]
        self._line = metrics.height()
        self._metrics = metrics
        x, y = self.spec.x.metric, self.spec.y.metric
        self.axes = PaintedAxes(_span(x, [p.x for p in points]), _span(y, [p.y for p in points]), area, metrics)
        self.area = self.axes.area

    def place(self, point: Point) -> QPointF:
        """Where a point is."""
        return self.axes.at(
            point.x.mean * self.spec.x.metric.scale,
            point.y.mean * self.spec.y.metric.scale,
        )

    def at(self, position: QPointF) -> int:
        """The point there; -1: none."""
        found = [
            (math.hypot(*(self.place(point) - position).toTuple()), number) for number, point in enumerate(self.points)
        ]
        nearest = min(found, default=(math.inf, -1))
        return nearest[1] if nearest[0] <= _REACH else -1

    def draw(self, painter: QPainter, tokens: Tokens, chosen: int = -1) -> None:
        """Draws all of it."""
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        self.axes.draw(painter, tokens)
        self._draw_better(painter, tokens)
        self._draw_front(painter, tokens)
        taken: list[QRectF] = []
        for number, point in enumerate(self.points):
            self._draw_point(painter, tokens, number, point, is_chosen=number == chosen)
            centre = self.place(point)
            taken.append(QRectF(centre.x() - _RADIUS, centre.y() - _RADIUS, 2 * _RADIUS, 2 * _RADIUS))
        # Names of the best first: those that find no room are told by the table and when one points at them.
        for number in sorted(range(len(self.points)), key=lambda n: (n != chosen, not self.points[n].is_best)):
            self._draw_name(painter, tokens, number, taken)

    def _draw_better(self, painter: QPainter, tokens: Tokens) -> None:
        """An arrow into the better corner, with the word."""
        is_right = self.spec.x.metric.better > 0
        corner = self.area.topRight() + QPointF(-8, 8) if is_right else self.area.topLeft() + QPointF(8, 8)
        inwards = QPointF(-26 if is_right else 26, 26)
        painter.setPen(QPen(QColor(tokens.ok), 2.0))
        painter.drawLine(corner + inwards, corner)
        painter.drawLine(corner, corner + QPointF(inwards.x() / 2.6, 0))
        painter.drawLine(corner, corner + QPointF(0, 10))
        text = tr("better")
        width = self._metrics.horizontalAdvance(text)
        left = corner.x() + inwards.x() * 1.15 - (width if is_right else 0)
        painter.drawText(QPointF(left, corner.y() + inwards.y() + self._metrics.ascent() * 0.5), text)

    def _draw_front(self, painter: QPainter, tokens: Tokens) -> None:
        """Steps: what is behind them is beaten by a point of the front."""
        best = sorted((self.place(point) for point in self.points if point.is_best), key=lambda place: place.x())
        painter.setPen(QPen(QColor(tokens.ok), 1.6, Qt.PenStyle.DashLine))
        for first, second in pairwise(best):
            # Neither point can have the better of both: the step bends where both figures are the worse ones.
            worse_x = first.x() if self.spec.x.metric.better > 0 else second.x()
            worse_y = max(first.y(), second.y())
            bend = QPointF(worse_x, worse_y)
            painter.drawLine(first, bend)
            painter.drawLine(bend, second)

    def _draw_point(self, painter: QPainter, tokens: Tokens, number: int, point: Point, *, is_chosen: bool) -> None:
        centre = self.place(point)
        colour = QColor(hex_colour(ColourKey(number, 0), dark=tokens.is_dark))
        painter.setPen(QPen(colour, 1.4))
        x, y = self.spec.x.metric.scale, self.spec.y.metric.scale
        self.axes.draw_cross(painter, point.x.mean * x, point.x.ci95 * x, point.y.mean * y, point.y.ci95 * y)
        # Filled: on the front; hollow: beaten. Not by colour alone.
        painter.setBrush(colour if point.is_best else QColor(tokens.base))
        painter.setPen(QPen(QColor(tokens.accent) if is_chosen else colour, 3.0 if is_chosen else 1.6))
        painter.drawEllipse(centre, _RADIUS, _RADIUS)

    def _draw_name(self, painter: QPainter, tokens: Tokens, number: int, taken: list[QRectF]) -> None:
        point = self.points[number]
        text = self._metrics.elidedText(self.names[number], Qt.TextElideMode.ElideMiddle, self.area.width() * 0.45)
        size = QSizeF(self._metrics.horizontalAdvance(text), self._line)
        centre = self.place(point)
        gap = _RADIUS + 1
        # Beside the intervals, which go through the middle.
        for corner in (
            QPointF(gap, -gap - size.height()),
            QPointF(gap, gap),
            QPointF(-gap - size.width(), -gap - size.height()),
            QPointF(-gap - size.width(), gap),
        ):
            box = QRectF(centre + corner, size)
            if self.area.contains(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                ground = QColor(tokens.base)
                ground.setAlpha(190)
                painter.fillRect(box, ground)
                painter.setPen(QColor(tokens.text if point.is_best else tokens.muted_text))
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
                return


def _span(metric: Metric, figures: Sequence[Estimate]) -> Span:
    """Room for all points and intervals; from zero where that does not squeeze them into a corner."""
    reach = []
    for figure in figures:
        mean, half = figure.mean, figure.ci95
        reach += [mean - (half if math.isfinite(half) else 0.0), mean + (half if math.isfinite(half) else 0.0)]
    low, high = min(reach, default=0.0) * metric.scale, max(reach, default=1.0) * metric.scale
    if low > 0 and low < 0.6 * high:
        low = 0.0
    margin = (high - low) * 0.12 or max(abs(high) * 0.2, 1e-9)
    return Span(metric.axis_title, low if low == 0.0 else low - margin, high + margin)


class TradeOffPlot(QWidget):
    """The plot on the screen."""

    chosen = Signal(int)  # number of a point

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty plot."""
        super().__init__(parent)
        self.setObjectName("trade_off_plot")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 150)
        self._points: tuple[Point, ...] = ()
        self._kind = TradeOffKind.DELAY
        self._current = -1

    def sizeHint(self) -> QSize:
        """A figure of a page."""
        return QSize(480, 300)

    def show_points(self, points: Sequence[Point], kind: TradeOffKind) -> None:
        """Shows these."""
        self._points, self._kind, self._current = tuple(points), kind, -1
        best = ", ".join(point.title for point in points if point.is_best)
        self.setAccessibleName(tr("Plot of trade-offs; the best: {names}", names=best))
        self.update()

    def set_current(self, number: int) -> None:
        """Marks a point; -1: none."""
        self._current = number
        self.update()

    def picture(self) -> TradeOffPicture:
        """The points as they are laid out now."""
        return TradeOffPicture(self._points, self._kind, QRectF(self.rect()), QFontMetricsF(self.font()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws the plot."""
        if self._points:
            painter = QPainter(self)
            self.picture().draw(painter, current_tokens(), self._current)
            painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Chooses the point under the mouse."""
        number = self.picture().at(event.position()) if self._points else -1
        if number >= 0:
            self.chosen.emit(number)

    def event(self, event: QEvent) -> bool:
        """Tells of the point under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._points:
            number = self.picture().at(QPointF(event.pos()))
            if number >= 0:
                QToolTip.showText(event.globalPos(), point_text(self._points[number], self._kind), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def write(self, path: Path) -> None:
        """Writes the plot as PNG, SVG or PDF, by the suffix.

        Raises:
            InputError: if the suffix is none of these.
            ExportError: if it cannot be written.
        """
        kind = figure_kind(path)
        write_file(path, picture_content(_Figure(self._points, self._kind), kind, FILE_SIZE))


class _Figure:
    """The plot for a file: in light colours and the font of figures."""

    def __init__(self, points: Sequence[Point], kind: TradeOffKind) -> None:
        self._points, self._kind = points, kind

    def draw_on(self, painter: QPainter, target: QRectF) -> None:
        layout = FILE_SIZE.layout_size()
        area = QRectF(0, 0, layout.width(), layout.height())
        font = paper_font()
        painter.scale(target.width() / area.width(), target.height() / area.height())
        painter.setFont(font)
        painter.fillRect(area, QColor(LIGHT.base))
        TradeOffPicture(self._points, self._kind, area, QFontMetricsF(font)).draw(painter, LIGHT)

    def set_line_width(self, width: float) -> None:
        """Nothing: lines are scaled with the rest."""


def interval_text(found: Estimate, metric: Metric) -> str:
    """A mean with its interval and unit: "3.2 ± 0.1 Mbit/s"."""
    text = fmt.number(found.mean * metric.scale, 4)
    if math.isfinite(found.ci95):
        text += f" ± {fmt.number(found.ci95 * metric.scale, 2)}"
    return f"{text} {metric.unit}".rstrip()


def point_text(point: Point, kind: TradeOffKind) -> str:
    """A point in words."""
    spec = TRADE_OFFS[kind]
    lines = [point.title]
    for quantity, figure in ((spec.x, point.x), (spec.y, point.y)):
        lines.append(f"{tr(quantity.metric.title)}: {interval_text(figure, quantity.metric)}")
    if point.is_best:
        lines.append(tr("On the Pareto front: no other is at least as good in both"))
    return "\n".join(lines)
