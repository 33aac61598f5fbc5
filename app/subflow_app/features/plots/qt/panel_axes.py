"""Axes and legend of panels in the window.

Axes reserve space for numbers or names. If numbers are nearly equal, an axis subtracts an offset to shorten them. The
legend shows a sample and the name of each series in rows above the plot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.plot_parts import Axis
from subflow_app.vocabulary.number_text import MINUS, fixed_text

# Longer numbers are shown as differences from a round offset, which the title of the axis contains.
_MOST_DIGITS = 5
_TICK_ROOM = 12.0  # tick, and gaps around its number, px
_NAME_GAP = 8.0  # gap between two names, px
_LEAST_NAME = "www…"  # narrowest useful name; if names would be cut shorter, only some of them are shown


class PanelAxis(Axis):
    """Axis of a panel; its owner calls `show_range` after each change of the visible range."""

    def __init__(self, orientation: str, **arguments: Any) -> None:
        """Starts without a title."""
        super().__init__(orientation, **arguments)
        self.title = ""
        self.tick_font = QFont()
        self.start = 0.0  # offset that is subtracted from the numbers
        self._names: tuple[tuple[float, str], ...] = ()  # places and names; empty: the axis shows numbers
        self._decimals = 0

    def set_names(self, names: Sequence[tuple[float, str]]) -> None:
        """Shows names at these places instead of numbers; an empty list restores numbers.

        Names that do not fit below the plot are elided. If a name begins with a digit, only every second or third name
        is shown instead, or fewer, because truncated numbers would mislead.
        """
        self._names = tuple(names)
        if not names:
            self.setTicks(None)

    def shown_names(self) -> list[str]:
        """The names currently shown along the axis."""
        return [text for _place, text in self._tickLevels[0]] if self._names and self._tickLevels else []

    def show_range(self, low: float, high: float) -> None:
        """Reserves space for the numbers of a range, and chooses their offset."""
        view = self.linkedView()
        size = view.height() if self.orientation == "left" else view.width()
        if self._names:
            if size > 0 and high > low:
                self._show_names(size / (high - low))
            return
        has_numbers = self._tickLevels is None and not self.logMode and size > 0 and high > low
        start = start_of(low, high) if has_numbers else 0.0
        if start != self.start:
            self.start = start
            self.setLabel(self.title if start == 0 else _with_start(self.title, start), **self.labelStyle)
            self.picture = None
        if not has_numbers:
            return
        levels = self.tickValues(low, high, size)[: self.style["maxTickLevel"] + 1]
        finest = min((spacing for spacing, _values in levels), default=1.0)
        self._decimals = max(0, -math.floor(math.log10(finest) + 1e-9))
        if self.orientation != "left":
            return
        metrics = QFontMetricsF(self.tick_font)
        texts = [text for spacing, values in levels for text in self.tickStrings(values, 1.0, spacing)]
        widest = max(map(metrics.horizontalAdvance, texts), default=0.0)
        self.setWidth(math.ceil(widest + metrics.height() + _TICK_ROOM))

    def _show_names(self, room: float) -> None:
        """Shows as many names as fit; ``room`` is the length of one unit along the axis, px."""
        metrics = QFontMetricsF(self.tick_font)
        places, texts = zip(*self._names, strict=True)
        widest = max(map(metrics.horizontalAdvance, texts))
        room *= (places[-1] - places[0]) / max(1, len(places) - 1) or 1.0
        if self.orientation == "left":
            needed = metrics.height()
            self.setWidth(math.ceil(widest + metrics.height() + _TICK_ROOM))
        else:
            needed = widest + _NAME_GAP
            are_words = not any(text[:1].isdigit() for text in texts)
            if needed > room and are_words and room - _NAME_GAP >= metrics.horizontalAdvance(_LEAST_NAME):
                cut = Qt.TextElideMode.ElideMiddle
                texts = tuple(metrics.elidedText(text, cut, room - _NAME_GAP) for text in texts)
                needed = room
        ticks = [list(zip(places, texts, strict=True))[:: math.ceil(needed / room - 1e-6)]]
        if ticks != self._tickLevels:
            self.setTicks(ticks)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        """Numbers at the ticks, all with the same number of decimals."""
        if self.logMode or spacing is None:
            logarithmic: list[str] = super().tickStrings(values, scale, spacing)
            return logarithmic
        return [fixed_text(value - self.start, self._decimals) for value in values]


def _with_start(title: str, start: float) -> str:
    return f"{title} {MINUS if start > 0 else '+'} {abs(start):.10g}"


def start_of(low: float, high: float) -> float:
    """Offset of the numbers along an axis: 0 if they are short, else a round number below the visible range.

    >>> start_of(9.6521, 9.6527)
    9.652
    """
    greatest = max(abs(low), abs(high))
    # Approximate distance between ticks, of which an axis usually shows five.
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    if greatest < step * 10.0**_MOST_DIGITS:
        return 0.0
    round_step = 10.0 ** math.ceil(math.log10(high - low))
    return round(math.floor(low / round_step) * round_step, 12)


_SAMPLE = 18.0
_GAP = 6.0
_BETWEEN = 20.0
_LINE_SPACING = 1.4
_LEFT = 10.0


class StripEntry(NamedTuple):
    """Legend entry: name, colour, and mark shape in pyqtgraph's notation; an empty shape draws a line."""

    text: str
    colour: str
    symbol: str


class SeriesStrip(QGraphicsWidget):
    """Legend entries side by side, in as many rows as the width requires."""

    def __init__(self, font: QFont) -> None:
        super().__init__()
        self.setFont(font)
        self.entries: tuple[StripEntry, ...] = ()
        self._title = ""
        self._colour = "#000000"

    def show_entries(self, title: str, entries: Sequence[StripEntry], colour: str) -> None:
        """Replaces the entries; ``title`` names the quantity, and ``colour`` applies to the names."""
        self._title, self.entries, self._colour = title, tuple(entries), colour
        self._take_height()
        self.update()

    def resizeEvent(self, event: object) -> None:
        """Arranges the entries for the new width."""
        super().resizeEvent(event)  # type: ignore[arg-type] # the stub accepts only its own type of event
        self._take_height()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        metrics = QFontMetricsF(self.font())
        painter.setFont(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lift = (metrics.ascent() - metrics.descent()) / 2
        for place, text, entry in self._placed():
            middle = place.y() + self._line / 2
            x = place.x()
            if entry is not None:
                _draw_sample(painter, QPointF(x + _SAMPLE / 2, middle), entry)
                x += _SAMPLE + _GAP
            painter.setPen(QColor(self._colour))
            painter.drawText(QPointF(x, middle + lift), text)

    @property
    def _line(self) -> float:
        return QFontMetricsF(self.font()).height() * _LINE_SPACING

    def _placed(self) -> list[tuple[QPointF, str, StripEntry | None]]:
        metrics = QFontMetricsF(self.font())
        cells: list[tuple[str, StripEntry | None, float]] = []
        if self._title:
            cells.append((self._title, None, metrics.horizontalAdvance(self._title)))
        for entry in self.entries:
            cells.append((entry.text, entry, metrics.horizontalAdvance(entry.text) + _SAMPLE + _GAP))
        placed = []
        x, y = _LEFT, 0.0
        for text, drawn, width in cells:
            if x > _LEFT and x + width > self.size().width():
                x, y = _LEFT, y + self._line
            placed.append((QPointF(x, y), text, drawn))
            x += width + _BETWEEN
        return placed

    def _take_height(self) -> None:
        placed = self._placed() if self.entries else []
        height = placed[-1][0].y() + self._line if placed else 0.0
        if height != self.maximumHeight():
            self.setMinimumHeight(height)
            self.setMaximumHeight(height)
            self.setPreferredSize(QSizeF(100.0, height))
        self.setVisible(height > 0)


def _draw_sample(painter: QPainter, middle: QPointF, entry: StripEntry) -> None:
    painter.save()
    painter.translate(middle)
    if entry.symbol:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(entry.colour))
        painter.scale(_SAMPLE * 0.55, _SAMPLE * 0.55)
        painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[entry.symbol])
    else:
        painter.setPen(QPen(QColor(entry.colour), 2.0))
        painter.drawLine(QPointF(-_SAMPLE / 2, 0.0), QPointF(_SAMPLE / 2, 0.0))
    painter.restore()
