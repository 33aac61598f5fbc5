"""The colours and fonts that everything on the canvas is drawn with."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPolygonF

from subflow_app.toolkit.theme import Tokens


@dataclass(slots=True)
class Look:
    """What all items draw with: the colours of the theme and the fonts of the desktop."""

    tokens: Tokens
    font: QFont
    bold: QFont
    small: QFont

    @classmethod
    def of(cls, tokens: Tokens, font: QFont) -> Look:
        """Derive the canvas fonts from the application's."""
        size = font.pointSizeF() if font.pointSizeF() > 0 else 9.0
        base, bold, small = QFont(font), QFont(font), QFont(font)
        base.setPointSizeF(size)
        bold.setPointSizeF(size)
        bold.setWeight(QFont.Weight.DemiBold)
        small.setPointSizeF(max(size * 0.9, 7.0))
        for each in (base, bold, small):
            # Glyphs are drawn at fractions of a pixel while zooming; hinting would make letters jump.
            each.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        return cls(tokens, base, bold, small)


def blend(first: str, second: str, share: float) -> QColor:
    """Return the first colour with a share (0..1) of the second mixed in."""
    a, b = QColor(first), QColor(second)
    return QColor.fromRgbF(
        a.redF() + (b.redF() - a.redF()) * share,
        a.greenF() + (b.greenF() - a.greenF()) * share,
        a.blueF() + (b.blueF() - a.blueF()) * share,
    )


def paint_clock(painter: QPainter, centre: QPointF, radius: float, tokens: Tokens) -> None:
    """Draw the sign for timed events: a small clock face."""
    painter.setPen(QPen(QColor(tokens.warning), radius * 0.17))
    painter.setBrush(QColor(tokens.warning_fill))
    painter.drawEllipse(centre, radius, radius)
    cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    painter.setPen(QPen(QColor(tokens.warning), radius * 0.19, Qt.PenStyle.SolidLine, cap, join))
    hands = [QPointF(0, -0.58) * radius, QPointF(0, 0), QPointF(0.42, 0.26) * radius]
    painter.drawPolyline(QPolygonF([centre + hand for hand in hands]))
