"""The picture of the arena: a scatter of two values, with the frontier of those whom nobody beats in both."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from subflow_app.core import palette
from subflow_app.core.arena.frontier import Point
from subflow_app.core.language import tr
from subflow_app.core.palette import ColourKey
from subflow_app.qt.plotting.figure_file import FigureSize
from subflow_app.qt.plotting.painted_axes import PaintedAxes, Span
from subflow_app.qt.theme import LIGHT, Tokens, current_tokens
from subflow_app.qt.widgets.shorthand import named

FILE_SIZE = FigureSize(211.7, 148.2, 192)
"""Of a file: 800 by 560 at the resolution of the layout, and twice that as a bitmap."""
_MARK = 4.0


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


class ScatterChart(BoardChart):
    """A mark per entrant; the better corner is always up on the right, and a line joins those on the frontier."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__(name, text, parent)
        self.marks: tuple[Point, ...] = ()
        self.titles = ("", "")
        self._colours: tuple[int, ...] = ()
        self._reversed = (False, False)

    def show_marks(
        self, marks: Sequence[Point], colours: Sequence[int], titles: tuple[str, str], reverses: tuple[bool, bool]
    ) -> None:
        """Shows these.

        Args:
            marks: one for each entrant.
            colours: number of the colour of each.
            titles: of the axes along and up.
            reverses: which of them run backwards, because less is better.
        """
        self.marks, self._colours, self.titles, self._reversed = tuple(marks), tuple(colours), titles, reverses
        best = ", ".join(mark.name for mark in self.marks if mark.is_best)
        self.setAccessibleDescription(tr("Frontier: {names}", names=best) if best else "")
        self.update()

    def draw(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Axes, the frontier, marks with their names, and the corner that everybody wants."""
        super().draw(painter, area, tokens)
        if not self.marks:
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("No entrant has both of these values."))
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
        best = sorted((mark for mark in self.marks if mark.is_best), key=lambda mark: mark.x)
        painter.setPen(QPen(QColor(tokens.ok), 1.2, Qt.PenStyle.DashLine))
        painter.drawPolyline(QPolygonF([axes.at(mark.x, mark.y) for mark in best]))
        taken: list[QRectF] = []
        for mark, colour in sorted(zip(self.marks, self._colours, strict=True), key=lambda each: not each[0].is_best):
            spot = axes.at(mark.x, mark.y)
            painter.setPen(QPen(QColor(tokens.text if mark.is_best else tokens.base), 1))
            painter.setBrush(_colour(colour, tokens))
            painter.drawEllipse(spot, _MARK, _MARK)
            width = metrics.horizontalAdvance(mark.name)
            is_right = spot.x() + 7 + width > field.right()
            words = QRectF(spot.x() - 8 - width if is_right else spot.x() + 7, spot.y() - line, width, line)
            # Names that would stand on others are left to the table; those on the frontier come first.
            if any(words.intersects(other) for other in taken):
                continue
            taken.append(words)
            painter.setPen(QColor(tokens.text))
            painter.drawText(words, Qt.AlignmentFlag.AlignLeft, mark.name)
        painter.setPen(QColor(tokens.ok))
        corner = QRectF(field.left(), field.top() + 2, field.width() - 6, line)
        painter.drawText(corner, Qt.AlignmentFlag.AlignRight, f"{tr('better')} ↗")


def _range(means: Sequence[float]) -> tuple[float, float]:
    """The values and a margin."""
    low, high = min(means), max(means)
    spread = high - low or abs(high) or 1.0
    return low - 0.12 * spread, high + 0.12 * spread
