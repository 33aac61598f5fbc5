"""What is seen on the canvas only while something is drawn: the place of a new part, and the line to pull."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.qt.topology.items import NODE_RADIUS
from subflow_app.features.editor.qt.topology.look import Look

_TOP_Z = 60.0


class GhostItem(QGraphicsItem):
    """Where a new part will stand."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setZValue(_TOP_Z)

    def boundingRect(self) -> QRectF:
        """Return everything that is drawn."""
        reach = NODE_RADIUS + 2
        return QRectF(-reach, -reach, 2 * reach, 2 * reach)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw it."""
        colour = QColor(self._look.tokens.accent)
        painter.setPen(QPen(colour, 2, Qt.PenStyle.DashLine))
        colour.setAlpha(40)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(-NODE_RADIUS, -NODE_RADIUS, 2 * NODE_RADIUS, 2 * NODE_RADIUS), 9, 9)


class RubberLineItem(QGraphicsItem):
    """The line from a node to the mouse: dashed until it has found another node."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._line = QLineF()
        self._is_joined = False
        # Below the nodes, so that it seems to come out of them; the mouse looks through it.
        self.setZValue(15)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def set_ends(self, start: QPointF, end: QPointF, *, is_joined: bool) -> None:
        """Lead elsewhere."""
        self.prepareGeometryChange()
        self._line = QLineF(start, end)
        self._is_joined = is_joined

    def boundingRect(self) -> QRectF:
        """Return everything that is drawn."""
        return QRectF(self._line.p1(), self._line.p2()).normalized().adjusted(-8, -8, 8, 8)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw it."""
        style = Qt.PenStyle.SolidLine if self._is_joined else Qt.PenStyle.DashLine
        painter.setPen(QPen(QColor(self._look.tokens.accent), 3, style, Qt.PenCapStyle.RoundCap))
        painter.drawLine(self._line)
        painter.setBrush(QColor(self._look.tokens.accent))
        painter.drawEllipse(self._line.p2(), 4, 4)
