"""What is seen on the canvas only while something is drawn: the place of a new part, and the line to pull.

Paths that are not in the scenario yet, drawn over the links as ribbons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.core.topology import Hop
from subflow_app.features.editor.qt.topology.geometry import LinkCurve
from subflow_app.features.editor.qt.topology.items import NODE_RADIUS, Look

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


_PITCH = 9.0
_WIDTH = 7.0
_FAINT_WIDTH = 2.5


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A path as drawn: its colour, the links it crosses, and whether it is chosen."""

    colour: str
    hops: tuple[Hop, ...]
    is_wanted: bool


class PreviewItem(QGraphicsItem):
    """All ribbons: chosen ones broad, the others thin and dashed, side by side where they share a link."""

    def __init__(self) -> None:
        super().__init__()
        self._strokes: list[tuple[QPainterPath, QPen]] = []
        self._bounds = QRectF()
        # Above the links with their lanes, below the nodes; clicks go through to the links.
        self.setZValue(12)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def shape(self) -> QPainterPath:
        """Return nothing: what is pointed at is the link below."""
        return QPainterPath()

    def show_ribbons(self, ribbons: Sequence[Ribbon], curves: Mapping[str, LinkCurve]) -> None:
        """Lay ribbons along the curves of their links."""
        self.prepareGeometryChange()
        takers: dict[str, list[int]] = {}
        for number, ribbon in enumerate(ribbons):
            for hop in ribbon.hops:
                takers.setdefault(hop.link, []).append(number)
        self._strokes = []
        self._bounds = QRectF()
        for number, ribbon in enumerate(ribbons):
            for hop in ribbon.hops:
                curve = curves.get(hop.link)
                if curve is None:
                    continue
                beside = takers[hop.link]
                offset = ((len(beside) - 1) / 2 - beside.index(number)) * _PITCH
                self._strokes.append((curve.path(offset), _pen(ribbon)))
                reach = len(beside) * _PITCH + _WIDTH
                self._bounds = self._bounds.united(curve.bounds.adjusted(-reach, -reach, reach, reach))

    def boundingRect(self) -> QRectF:
        """Return everything that is drawn."""
        return self._bounds

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw it."""
        for path, pen in self._strokes:
            painter.setPen(pen)
            painter.drawPath(path)


def _pen(ribbon: Ribbon) -> QPen:
    colour = QColor(ribbon.colour)
    pen = QPen(colour, _WIDTH if ribbon.is_wanted else _FAINT_WIDTH)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap if ribbon.is_wanted else Qt.PenCapStyle.FlatCap)
    if not ribbon.is_wanted:
        pen.setDashPattern([4, 3])
    return pen
