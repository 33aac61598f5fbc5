"""A note on the drawing: a sheet of paper with a folded corner."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.qt.topology.items import CanvasItem
from subflow_app.features.editor.qt.topology.look import Look
from subflow_app.toolkit.plain_text import as_written

_MOST_WIDTH = 200.0
_LEAST_WIDTH = 48.0
_PADDING = 8.0
_FOLD = 10.0
_FLAGS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class NoteItem(CanvasItem):
    """A note; its position is the upper left corner of its paper."""

    def __init__(self, number: str, look: Look) -> None:
        super().__init__(f"notes.{number}", look)
        self._words = ""
        self._paper = QRectF()
        # Above links and their labels, below nodes in reach: a note must not hide what it is about.
        self.setZValue(18)

    def set_words(self, words: str) -> None:
        """Say something else."""
        self.prepareGeometryChange()
        self._words = words
        room = QRectF(0, 0, _MOST_WIDTH - 2 * _PADDING, 4000)
        text = QFontMetricsF(self.look.small).boundingRect(room, int(_FLAGS), words)
        width = max(math.ceil(text.width()) + 2 * _PADDING + 1, _LEAST_WIDTH)
        self._paper = QRectF(0, 0, width, math.ceil(text.height()) + 2 * _PADDING)
        self.setToolTip(as_written(words))
        self.update()

    def set_look(self, look: Look) -> None:
        """Draw it in other colours and fonts from now on."""
        super().set_look(look)
        self.set_words(self._words)

    @property
    def paper(self) -> QRectF:
        """The sheet, in scene units."""
        return self._paper.translated(self.pos())

    def boundingRect(self) -> QRectF:
        """Return everything that is drawn."""
        return self._paper.adjusted(-6, -6, 6, 6)

    def shape(self) -> QPainterPath:
        """Return what a click hits."""
        path = QPainterPath()
        path.addRect(self._paper)
        return path

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw it."""
        tokens, paper = self.look.tokens, self._paper
        sheet = QPolygonF(
            [
                paper.topLeft(),
                QPointF(paper.right() - _FOLD, paper.top()),
                QPointF(paper.right(), paper.top() + _FOLD),
                paper.bottomRight(),
                paper.bottomLeft(),
            ]
        )
        if self.is_chosen or self._is_hovered:
            glow = QColor(tokens.accent)
            glow.setAlpha(70 if self.is_chosen else 32)
            painter.setPen(QPen(glow, 7))
            painter.drawPolygon(sheet)
        painter.setPen(QPen(QColor(tokens.accent if self.is_chosen else tokens.warning), 1.2))
        painter.setBrush(QColor(tokens.warning_fill))
        painter.drawPolygon(sheet)
        corner = QPointF(paper.right() - _FOLD, paper.top() + _FOLD)
        painter.drawPolyline(QPolygonF([QPointF(corner.x(), paper.top()), corner, QPointF(paper.right(), corner.y())]))
        painter.setPen(QColor(tokens.text))
        painter.setFont(self.look.small)
        inside = paper.adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        painter.drawText(inside, int(_FLAGS), self._words)
