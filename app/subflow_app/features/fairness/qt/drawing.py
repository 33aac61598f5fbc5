"""What the panel draws itself: bars with the fair shares as marks, and Jain's index over time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from subflow_app.features.fairness.qt.share_model import BAR_ROLE, ShareBar
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.theme import Tokens, current_tokens
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import OKABE_ITO

_BAR_WIDTH, _TEXT = 170, "1000 %"
_NEAR_SHARE = 0.1  # so far from the fair share a bar has the colour of what is well


class ShareDelegate(QStyledItemDelegate):
    """Gives rows the height that those of tables have."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Text with air."""
        size = super().sizeHint(option, index)
        return QSize(size.width() + 12, option.fontMetrics.height() + 8)


class ShareBarDelegate(ShareDelegate):
    """Draws the goodput as a bar, the max-min fair share as a line, the proportionally fair one as a dot."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Room for a bar and its percentage."""
        size = super().sizeHint(option, index)
        return QSize(_BAR_WIDTH + option.fontMetrics.horizontalAdvance(_TEXT), size.height())

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draws the background as any cell has it, then bar, marks and percentage."""
        own = QStyleOptionViewItem(option)
        self.initStyleOption(own, index)
        text, own.text = own.text, ""
        style = own.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, own, painter, own.widget)
        bar = index.data(BAR_ROLE)
        if not isinstance(bar, ShareBar):
            return
        tokens = current_tokens()
        is_selected = bool(own.state & QStyle.StateFlag.State_Selected)
        ink = QColor(tokens.highlighted_text if is_selected else tokens.text)
        painter.save()
        painter.setPen(ink)
        room = own.fontMetrics.horizontalAdvance(_TEXT)
        rect: QRect = own.rect
        painter.drawText(
            rect.adjusted(0, 0, -6, 0), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text
        )
        draw_bar(painter, QRectF(rect).adjusted(6, 4, -room - 10, -4), bar, tokens, ink)
        painter.restore()


def draw_bar(painter: QPainter, rect: QRectF, bar: ShareBar, tokens: Tokens, ink: QColor) -> None:
    """One bar within a rectangle."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    scale = rect.width() / bar.full_bps
    if math.isfinite(bar.goodput_bps):
        painter.fillRect(
            QRectF(rect.left(), rect.top() + 2, max(1.0, bar.goodput_bps * scale), rect.height() - 4),
            bar_colour(bar, tokens),
        )
    if math.isfinite(bar.max_min_bps):
        x = rect.left() + bar.max_min_bps * scale
        painter.setPen(QPen(ink, 2.0))
        painter.drawLine(QPointF(x, rect.top() - 1), QPointF(x, rect.bottom() + 1))
    if math.isfinite(bar.proportional_bps):
        centre = QPointF(rect.left() + bar.proportional_bps * scale, rect.center().y())
        painter.setPen(QPen(ink, 1.2))
        painter.setBrush(QColor(tokens.base))
        painter.drawEllipse(centre, 3.2, 3.2)


def bar_colour(bar: ShareBar, tokens: Tokens) -> QColor:
    """Green near the max-min fair share, orange above, blue below: told apart also by those who mix red and green."""
    share = bar.goodput_bps / bar.max_min_bps if 0 < bar.max_min_bps < math.inf else 1.0
    name = "green" if abs(share - 1) <= _NEAR_SHARE else "orange" if share > 1 else "sky"
    colour = QColor(OKABE_ITO[name])
    return colour.lighter(115) if tokens.is_dark else colour


class JainCurve(QWidget):
    """Jain's index over time, small: from 0 at the bottom to 1 at the top, the whole run from left to right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty curve."""
        super().__init__(parent)
        self.setObjectName("fairness_jain_curve")
        self._points: list[tuple[float, float]] = []
        self._duration_s = 1.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(120)

    def sizeHint(self) -> QSize:
        """Three lines of text high."""
        return QSize(220, self.fontMetrics().height() * 3 + 6)

    def show_curve(self, time_s: NDArray[np.float64], values: NDArray[np.float32], duration_s: float) -> None:
        """Shows these samples of a run that takes so long."""
        count = min(len(time_s), len(values))
        step = max(1, count // 400)
        known = np.isfinite(values[:count:step])
        self._points = list(
            zip(time_s[:count:step][known].tolist(), values[:count:step][known].astype(float).tolist(), strict=True)
        )
        self._duration_s = duration_s or 1.0
        text = tr("Jain index over time, last 5 s of each instant, from 0 to 1 over {end} s", end=f"{duration_s:g}")
        self.setToolTip(as_written(text))
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws axes with their ends, and the curve."""
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = painter.font()
        font.setPointSizeF(font.pointSizeF() * 0.82)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        left, below = metrics.horizontalAdvance("0") + 6, metrics.height()
        area = QRectF(left, 3, self.width() - left - 4, self.height() - below - 5)
        painter.setPen(QColor(tokens.muted_text))
        painter.drawText(QPointF(0, area.top() + metrics.ascent() - 3), "1")
        painter.drawText(QPointF(0, area.bottom()), "0")
        painter.drawText(QPointF(left, self.height() - metrics.descent()), "0 s")
        end = f"{self._duration_s:g} s"
        painter.drawText(
            QPointF(self.width() - metrics.horizontalAdvance(end) - 4, self.height() - metrics.descent()), end
        )
        painter.fillRect(area, QColor(tokens.alternate_base))
        painter.setPen(QColor(tokens.grid))
        painter.drawLine(area.topLeft(), area.topRight())
        painter.setPen(QColor(tokens.border))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(QPen(QColor(tokens.accent), 1.6))
        points = [
            QPointF(area.left() + time_s / self._duration_s * area.width(), area.bottom() - value * area.height())
            for time_s, value in self._points
        ]
        painter.drawPolyline(QPolygonF(points))
        painter.end()
