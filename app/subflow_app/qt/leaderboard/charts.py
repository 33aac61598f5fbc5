"""The pictures of the leaderboard: a radar of the scores of a few controllers, and a scatter of two metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from subflow_app.core import palette
from subflow_app.core.language import tr
from subflow_app.core.palette import ColourKey
from subflow_app.qt.plotting.figure_file import FigureSize
from subflow_app.qt.plotting.painted_axes import PaintedAxes, Span
from subflow_app.qt.theme import LIGHT, Tokens, current_tokens
from subflow_app.qt.widgets.shorthand import named

MOST_SHOWN = 6
"""How many controllers a radar can tell apart."""

FILE_SIZE = FigureSize(211.7, 148.2, 192)
"""Of a file: 800 by 560 at the resolution of the layout, and twice that as a bitmap."""
_RINGS = 4
_MARGIN = 16.0
_MARK = 4.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A controller of a radar.

    Attributes:
        name: of it.
        colour: number of its colour.
        values: one for each axis, 0 to 1; NaN: none.
    """

    name: str
    colour: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A controller of a scatter.

    Attributes:
        name: of it.
        colour: number of its colour.
        x: in the unit of the axis.
        x_half: half of its interval; NaN: none.
        y: in the unit of the axis.
        y_half: half of its interval; NaN: none.
    """

    name: str
    colour: int
    x: float
    x_half: float
    y: float
    y_half: float


class BoardChart(QWidget):
    """A picture that can be drawn anywhere, in any colours."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """Nothing in it yet; with this object name and accessible name."""
        super().__init__(parent)
        named(self, name, text)
        self.setMinimumSize(280, 220)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws it in the colours of the window."""
        painter = QPainter(self)
        self.draw(painter, QRectF(self.rect()), current_tokens())
        painter.end()

    def draw_on(self, painter: QPainter, target: QRectF) -> None:
        """Draws it into a file, in light colours."""
        layout = FILE_SIZE.layout_size()
        area = QRectF(0, 0, layout.width(), layout.height())
        painter.scale(target.width() / area.width(), target.height() / area.height())
        self.draw(painter, area, LIGHT)

    def set_line_width(self, width: float) -> None:
        """Nothing: lines are scaled with the rest."""

    def draw(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draws it into an area."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, QColor(tokens.base))
        painter.setFont(self.font())


def _colour(number: int, tokens: Tokens) -> QColor:
    return QColor(palette.hex_colour(ColourKey(number, 0), dark=tokens.is_dark))


class RadarChart(BoardChart):
    """An axis per metric, 0 in the middle and the best of all contests at the rim."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__("leaderboard_radar", tr("Radar of scores by metric"), parent)
        self.axes: tuple[str, ...] = ()
        self.shapes: tuple[Shape, ...] = ()

    def show_shapes(self, axes: Sequence[str], shapes: Sequence[Shape]) -> None:
        """Shows these controllers over these metrics."""
        self.axes, self.shapes = tuple(axes), tuple(shapes)
        self.setAccessibleDescription(", ".join(shape.name for shape in self.shapes))
        self.update()

    def draw(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Rings and spokes, a polygon for each controller, and their names."""
        super().draw(painter, area, tokens)
        metrics = painter.fontMetrics()
        line = metrics.height()
        if len(self.axes) < 3:
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("A radar needs three metrics or more."))
            return
        legend_width = max((metrics.horizontalAdvance(shape.name) for shape in self.shapes), default=0) + 2 * line
        field = area.adjusted(_MARGIN, _MARGIN, -_MARGIN - legend_width, -_MARGIN)
        words = max(metrics.horizontalAdvance(axis) for axis in self.axes)
        radius = max(min(field.width() / 2 - words, field.height() / 2 - 2 * line), 20.0)
        middle = field.center()
        angles = [2 * math.pi * place / len(self.axes) for place in range(len(self.axes))]

        def at(place: int, share: float) -> QPointF:
            angle = angles[place]
            return QPointF(middle.x() + radius * share * math.sin(angle), middle.y() - radius * share * math.cos(angle))

        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(tokens.border), 1))
        for ring in range(1, _RINGS + 1):
            painter.drawPolygon(QPolygonF([at(place, ring / _RINGS) for place in range(len(self.axes))]))
        for place, title in enumerate(self.axes):
            painter.setPen(QPen(QColor(tokens.border), 1))
            painter.drawLine(middle, at(place, 1.0))
            painter.setPen(QColor(tokens.text))
            end = at(place, 1.0)
            lean = math.sin(angles[place])
            width = metrics.horizontalAdvance(title)
            left = end.x() + 6 * lean - width * (1 - lean) / 2
            top = end.y() - line / 2 - math.cos(angles[place]) * line * 0.8
            painter.drawText(QRectF(left, top, width + 2, line), Qt.AlignmentFlag.AlignLeft, title)
        for shape in self.shapes:
            colour = _colour(shape.colour, tokens)
            known = [at(place, value) for place, value in enumerate(shape.values) if not math.isnan(value)]
            fill = QColor(colour)
            fill.setAlpha(28)
            painter.setPen(QPen(colour, 2))
            painter.setBrush(fill)
            if len(known) > 2:
                painter.drawPolygon(QPolygonF(known))
            painter.setBrush(colour)
            for point in known:
                painter.drawEllipse(point, 3, 3)
        for number, shape in enumerate(self.shapes):
            top = area.top() + _MARGIN + number * (line + 6)
            left = area.right() - _MARGIN - legend_width + line / 2
            painter.fillRect(QRectF(left, top + 2, line - 4, line - 4), _colour(shape.colour, tokens))
            painter.setPen(QColor(tokens.text))
            painter.drawText(QPointF(left + line, top + metrics.ascent()), shape.name)


class ScatterChart(BoardChart):
    """A mark with its intervals per controller; the better corner is always up on the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__("leaderboard_scatter", tr("Scatter of two metrics, a mark per controller"), parent)
        self.marks: tuple[Mark, ...] = ()
        self.titles = ("", "")
        self._reversed = (False, False)

    def show_marks(self, marks: Sequence[Mark], titles: tuple[str, str], reverses: tuple[bool, bool]) -> None:
        """Shows these.

        Args:
            marks: one for each controller.
            titles: of the axes along and up.
            reverses: which of them run backwards, because less is better.
        """
        self.marks, self.titles, self._reversed = tuple(marks), titles, reverses
        self.update()

    def draw(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Axes, crosses, marks with their names, and the corner that everybody wants."""
        super().draw(painter, area, tokens)
        if not self.marks:
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("No controller has both of these metrics."))
            return
        metrics = QFontMetricsF(self.font())
        x, y = (
            Span(title, *_range(means), is_reversed)
            for title, means, is_reversed in zip(
                self.titles,
                ([mark.x for mark in self.marks], [mark.y for mark in self.marks]),
                self._reversed,
                strict=True,
            )
        )
        axes = PaintedAxes(x, y, area, metrics)
        axes.draw(painter, tokens)
        field, line = axes.area, metrics.height()
        for mark in self.marks:
            colour = _colour(mark.colour, tokens)
            colour.setAlpha(150)
            painter.setPen(QPen(colour, 1.2))
            axes.draw_cross(painter, mark.x, mark.x_half, mark.y, mark.y_half)
        for mark in self.marks:
            spot = axes.at(mark.x, mark.y)
            painter.setPen(QPen(QColor(tokens.base), 1))
            painter.setBrush(_colour(mark.colour, tokens))
            painter.drawEllipse(spot, _MARK, _MARK)
            painter.setPen(QColor(tokens.text))
            is_right = spot.x() > field.right() - 6 * line
            left = spot.x() - 8 - metrics.horizontalAdvance(mark.name) if is_right else spot.x() + 7
            painter.drawText(QPointF(left, spot.y() - 4), mark.name)
        painter.setPen(QColor(tokens.ok))
        corner = QRectF(field.left(), field.top() + 2, field.width() - 6, line)
        painter.drawText(corner, Qt.AlignmentFlag.AlignRight, f"{tr('better')} ↗")


def _range(means: Sequence[float]) -> tuple[float, float]:
    """The means and a margin; an interval of two seeds may be longer than all of them are apart, and is cut then."""
    low, high = min(means), max(means)
    spread = high - low or abs(high) or 1.0
    return low - 0.12 * spread, high + 0.12 * spread
