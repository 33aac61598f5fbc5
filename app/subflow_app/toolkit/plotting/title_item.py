"""One line of coloured text above a plot, cut off with an ellipsis where it does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from subflow_app.toolkit.widgets.shorthand import sized

_MARGIN = 4.0


class Span(NamedTuple):
    """A piece of the line."""

    text: str
    colour: str
    bold: bool = False


class TitleItem(QGraphicsWidget):
    """A title in a graphics layout. pyqtgraph's label would widen the whole layout to fit a long text."""

    def __init__(self, font: QFont) -> None:
        """An empty line in this font."""
        super().__init__()
        self._font = QFont(font)
        self._bold = sized(font, is_bold=True)
        self._spans: tuple[Span, ...] = ()
        height = QFontMetricsF(self._bold).height() + 2 * _MARGIN - 2
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)

    def set_spans(self, spans: Sequence[Span]) -> None:
        """Replaces the text."""
        new = tuple(spans)
        if new != self._spans:
            self._spans = new
            self.update()

    def text(self) -> str:
        """All of the text, also what does not fit."""
        return "".join(span.text for span in self._spans)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws span after span until the width is used up."""
        x, right = _MARGIN, self.size().width() - _MARGIN
        metrics = QFontMetricsF(self._bold)
        baseline = (self.size().height() + metrics.ascent() - metrics.descent()) / 2
        for span in self._spans:
            font = self._bold if span.bold else self._font
            metrics = QFontMetricsF(font)
            text = metrics.elidedText(span.text, Qt.TextElideMode.ElideRight, right - x)
            painter.setFont(font)
            painter.setPen(QColor(span.colour))
            painter.drawText(QPointF(x, baseline), text)
            x += metrics.horizontalAdvance(text)
            if text != span.text:
                break
