"""The legend of a picture: sample and name of each series, in rows above the plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

_SAMPLE = 18.0
_GAP = 6.0
_BETWEEN = 20.0
_LINE_SPACING = 1.4
_LEFT = 10.0


class StripEntry(NamedTuple):
    """A name, the colour of its series and the shape of its marks as pyqtgraph names it; empty: a line."""

    text: str
    colour: str
    symbol: str


class SeriesStrip(QGraphicsWidget):
    """Entries beside each other, in as many rows as the width asks for."""

    def __init__(self, font: QFont) -> None:
        """An empty strip."""
        super().__init__()
        self.setFont(font)
        self.entries: tuple[StripEntry, ...] = ()
        self._title = ""
        self._colour = "#000000"

    def show_entries(self, title: str, entries: Sequence[StripEntry], colour: str) -> None:
        """Shows others; ``title`` says what they are values of, ``colour`` is that of the names."""
        self._title, self.entries, self._colour = title, tuple(entries), colour
        self._take_height()
        self.update()

    def resizeEvent(self, event: object) -> None:
        """Wraps to the new width."""
        super().resizeEvent(event)  # type: ignore[arg-type] # the stub knows its own event alone
        self._take_height()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws samples and names."""
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
