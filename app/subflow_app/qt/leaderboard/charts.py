"""The pictures of the leaderboard: a radar of the scores of a few controllers, and a scatter of two metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from subflow_app.core import palette
from subflow_app.core.language import tr
from subflow_app.core.palette import ColourKey
from subflow_app.qt.theme import Tokens, current_tokens

MOST_SHOWN = 6
"""How many controllers a radar can tell apart."""

_RINGS = 4
_MARGIN = 16.0
_MARK = 4.0
_TICKS = 5


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
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setMinimumSize(280, 220)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws it in the colours of the window."""
        painter = QPainter(self)
        self.draw(painter, QRectF(self.rect()), current_tokens())
        painter.end()

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
        metrics = painter.fontMetrics()
        line = metrics.height()
        if not self.marks:
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("No controller has both of these metrics."))
            return
        field = area.adjusted(_MARGIN + 5.5 * line, _MARGIN, -_MARGIN - 3 * line, -_MARGIN - 2.6 * line)
        across = _range([(mark.x, mark.x_half) for mark in self.marks])
        up = _range([(mark.y, mark.y_half) for mark in self.marks])

        def share(value: float, low_high: tuple[float, float], is_reversed: bool) -> float:
            low, high = low_high
            part = (value - low) / (high - low)
            return 1 - part if is_reversed else part

        def at(x: float, y: float) -> QPointF:
            return QPointF(
                field.left() + field.width() * share(x, across, self._reversed[0]),
                field.bottom() - field.height() * share(y, up, self._reversed[1]),
            )

        painter.setBrush(Qt.BrushStyle.NoBrush)
        for tick in _ticks(across):
            place = at(tick, up[0]).x()
            painter.setPen(QPen(QColor(tokens.grid), 1))
            painter.drawLine(QPointF(place, field.top()), QPointF(place, field.bottom()))
            painter.setPen(QColor(tokens.muted_text))
            box = QRectF(place - 50, field.bottom() + 4, 100, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, f"{tick:.4g}")
        for tick in _ticks(up):
            place = at(across[0], tick).y()
            painter.setPen(QPen(QColor(tokens.grid), 1))
            painter.drawLine(QPointF(field.left(), place), QPointF(field.right(), place))
            painter.setPen(QColor(tokens.muted_text))
            box = QRectF(field.left() - 106, place - line / 2, 100, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{tick:.4g}")
        painter.setPen(QPen(QColor(tokens.border), 1))
        painter.drawRect(field)
        painter.setPen(QColor(tokens.text))
        below = QRectF(field.left(), field.bottom() + 4 + line, field.width(), line + 4)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, self.titles[0])
        painter.save()
        painter.translate(area.left() + _MARGIN, field.center().y())
        painter.rotate(-90)
        half = field.height() / 2
        painter.drawText(QRectF(-half, 0, 2 * half, line + 4), Qt.AlignmentFlag.AlignHCenter, self.titles[1])
        painter.restore()
        painter.save()
        painter.setClipRect(field.adjusted(-1, -1, 1, 1))
        for mark in self.marks:
            colour = _colour(mark.colour, tokens)
            colour.setAlpha(150)
            painter.setPen(QPen(colour, 1.2))
            for ends in _cross(mark):
                painter.drawLine(at(*ends[0]), at(*ends[1]))
        painter.restore()
        for mark in self.marks:
            spot = at(mark.x, mark.y)
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


def _cross(mark: Mark) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    found = []
    if math.isfinite(mark.x_half):
        found.append(((mark.x - mark.x_half, mark.y), (mark.x + mark.x_half, mark.y)))
    if math.isfinite(mark.y_half):
        found.append(((mark.x, mark.y - mark.y_half), (mark.x, mark.y + mark.y_half)))
    return found


def _range(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The means and a margin; an interval of two seeds may be longer than all of them are apart, and is cut then."""
    low, high = min(mean for mean, _ in values), max(mean for mean, _ in values)
    spread = high - low or abs(high) or 1.0
    return low - 0.12 * spread, high + 0.12 * spread


def _ticks(low_high: tuple[float, float]) -> list[float]:
    low, high = low_high
    rough = (high - low) / _TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * size for factor in (1, 2, 5) if factor * size >= rough), 10 * size)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]
