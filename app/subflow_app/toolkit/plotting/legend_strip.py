"""A legend above plots: line samples and names in rows, with as many columns as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

_SAMPLE = 22.0
_GAP = 6.0
_BETWEEN = 18.0
_LINE_SPACING = 1.35


class Entry(NamedTuple):
    """A name with the pen of its curve."""

    text: str
    pen: QPen


class LegendStrip(QGraphicsWidget):
    """Entries in rows; the height follows from the width."""

    def __init__(self, entries: Sequence[Entry], font: QFont, width: float, colour: str) -> None:
        """Lay the entries out for this width, px; ``colour`` is the colour of the names."""
        super().__init__()
        self._font = font
        self._colour = colour
        metrics = QFontMetricsF(font)
        self._line = metrics.height() * _LINE_SPACING
        self._placed: list[tuple[float, float, Entry]] = []
        # Columns of equal width are easier to read than ragged rows.
        cell = max((metrics.horizontalAdvance(entry.text) for entry in entries), default=0.0) + _SAMPLE + _GAP
        columns = max(1, int((width + _BETWEEN) // (cell + _BETWEEN)))
        for number, entry in enumerate(entries):
            row, column = divmod(number, columns)
            self._placed.append((column * (cell + _BETWEEN), row * self._line, entry))
        rows = -(-len(entries) // columns)
        self.setMinimumHeight(rows * self._line + 4.0)
        self.setMaximumHeight(rows * self._line + 4.0)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw line samples and names."""
        painter.setFont(self._font)
        metrics = QFontMetricsF(self._font)
        for x, y, entry in self._placed:
            middle = y + self._line / 2
            painter.setPen(entry.pen)
            painter.drawLine(QPointF(x, middle), QPointF(x + _SAMPLE, middle))
            painter.setPen(QColor(self._colour))
            baseline = middle + (metrics.ascent() - metrics.descent()) / 2
            painter.drawText(QPointF(x + _SAMPLE + _GAP, baseline), entry.text)
