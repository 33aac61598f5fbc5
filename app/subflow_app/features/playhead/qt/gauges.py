"""The windows of subflows at the time of the playhead: one gauge each, below the canvas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from subflow_app.features.explain.core.instants import SubflowGauge
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.owners import split_owner

_LEAST_WIDTH, _MOST_ROWS, _TOP = 300, 4, 3
_LEAST_BAR, _GAP = 32, 8
_STATES = {
    "closed": translatable("closed"),
    "joining": translatable("joining"),
    "recovery": translatable("recovery"),
    "loss": translatable("timeout"),
}


@dataclass(frozen=True, slots=True)
class Gauge:
    """A subflow: what it is called, its colour, and its window."""

    label: str
    colour: str
    window: SubflowGauge


class Gauges(QWidget):
    """Of each subflow a bar as long as its window: filled by what is in flight, with a mark at ssthresh."""

    chosen = Signal(str)  # name of a flow that was clicked

    def __init__(self, parent: QWidget | None = None) -> None:
        """Without a subflow."""
        super().__init__(parent)
        named(self, "playhead_gauges", tr("cwnd of the subflows"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.gauges: tuple[Gauge, ...] = ()  # what is shown
        self._full_pkts = 1.0

    def show_gauges(self, gauges: Sequence[Gauge], full_pkts: float) -> None:
        """Shows these; a bar of the whole length is a window of ``full_pkts``."""
        had = len(self.gauges)
        self.gauges = tuple(gauges)
        self._full_pkts = max(full_pkts, 1.0)
        self.setAccessibleDescription("\n".join(f"{each.label}: {_words(each.window)}" for each in gauges[:20]))
        if len(gauges) != had:
            self.updateGeometry()
        self.update()

    # ---- where they are ----

    @property
    def _columns(self) -> int:
        return max(1, min(len(self.gauges), self.width() // self._least_width))

    @property
    def _least_width(self) -> int:
        return max(_LEAST_WIDTH, self.fontMetrics().averageCharWidth() * 40)

    @property
    def _row_height(self) -> int:
        return self.fontMetrics().height() + 5

    def sizeHint(self) -> QSize:
        """A few rows at most: the picture needs the room."""
        rows = min(_MOST_ROWS, math.ceil(len(self.gauges) / self._columns)) if self.gauges else 1
        return QSize(self._least_width, rows * self._row_height + 6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shares the new width out."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Chooses the flow of a gauge, as an entry of the legend does."""
        gauge = self._gauge_at(event.position().toPoint())
        if gauge is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(split_owner(gauge.window.owner).name)

    def _gauge_at(self, at: QPoint) -> Gauge | None:
        row, column = (at.y() - _TOP) // self._row_height, at.x() * self._columns // max(self.width(), 1)
        number = row * self._columns + column
        return self.gauges[number] if row >= 0 and number < len(self._shown()) else None

    def _shown(self) -> tuple[Gauge, ...]:
        room = self._columns * _MOST_ROWS
        return self.gauges if len(self.gauges) <= room else self.gauges[: room - 1]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws them row by row."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns, shown = self._columns, self._shown()
        width = self.width() // columns
        for number, gauge in enumerate(shown):
            row, column = divmod(number, columns)
            area = QRect(column * width + 8, row * self._row_height + _TOP, width - 16, self._row_height)
            self._paint_gauge(painter, area, gauge)
        if len(shown) < len(self.gauges):
            area = QRect((columns - 1) * width + 8, (_MOST_ROWS - 1) * self._row_height + _TOP, width, self._row_height)
            painter.setPen(QColor(current_tokens().muted_text))
            more = tr("and {count} more", count=len(self.gauges) - len(shown))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, more)

    def _paint_gauge(self, painter: QPainter, area: QRect, gauge: Gauge) -> None:
        tokens, window, metrics = current_tokens(), gauge.window, self.fontMetrics()
        name_width, text_width = self._widths(area.width())
        painter.setPen(QColor(tokens.text))
        name = metrics.elidedText(gauge.label, Qt.TextElideMode.ElideMiddle, name_width - 6)
        left = QRect(area.left(), area.top(), name_width, area.height())
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
        bar = QRectF(
            area.left() + name_width, area.top() + 4, area.width() - name_width - text_width, area.height() - 8
        )
        colour = QColor(gauge.colour)
        faint = QColor(colour)
        faint.setAlphaF(0.28)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.grid))
        painter.drawRoundedRect(bar, 2, 2)
        for value, brush in ((window.cwnd_pkts, faint), (window.inflight_pkts, colour)):
            if math.isfinite(value):
                painter.setBrush(brush)
                part = QRectF(bar)
                part.setWidth(bar.width() * self._share(value))
                painter.drawRoundedRect(part, 2, 2)
        if math.isfinite(window.cwnd_pkts):
            x = bar.left() + bar.width() * self._share(window.cwnd_pkts)
            painter.setPen(QPen(colour, 2))
            painter.drawLine(QPointF(x, bar.top()), QPointF(x, bar.bottom()))
        if math.isfinite(window.ssthresh_pkts) and window.ssthresh_pkts <= self._full_pkts:
            # A small roof over the bar.
            x = bar.left() + bar.width() * self._share(window.ssthresh_pkts)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.text))
            top = bar.top()
            painter.drawPolygon(QPolygonF([QPointF(x - 3.5, top - 3), QPointF(x + 3.5, top - 3), QPointF(x, top + 3)]))
        alarm = {"recovery": tokens.warning, "loss": tokens.error}.get(window.state)
        if alarm:
            painter.setPen(QPen(QColor(alarm), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(bar, 2, 2)
        painter.setPen(QColor(alarm or tokens.muted_text))
        right = QRect(area.right() - text_width + 6, area.top(), text_width - 6, area.height())
        words = metrics.elidedText(_short(window), Qt.TextElideMode.ElideRight, right.width())
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _widths(self, width: int) -> tuple[int, int]:
        """Of names and of numbers, so that both are read whole and leave a bar, where there is room for all three."""
        metrics, shown = self.fontMetrics(), self._shown()
        numbers = max(metrics.horizontalAdvance(text) for text in ("888 pkt", *(_short(each.window) for each in shown)))
        names = max((metrics.horizontalAdvance(each.label) for each in shown), default=0)
        # Of a state the colour tells as well: its word gives way before a name does.
        least = metrics.horizontalAdvance("8888 pkt") + _GAP
        numbers = max(least, min(numbers + _GAP, width - names - _GAP - _LEAST_BAR))
        return min(names + _GAP, width - numbers - _LEAST_BAR), numbers

    def _share(self, pkts: float) -> float:
        return min(max(pkts / self._full_pkts, 0.0), 1.0)


def _short(window: SubflowGauge) -> str:
    cwnd = fmt.packets(window.cwnd_pkts)
    state = tr(_STATES[window.state]) if window.state in _STATES else ""
    return f"{cwnd}, {state}" if state else cwnd


def _words(window: SubflowGauge) -> str:
    """All of it, for screen readers."""
    return tr(
        "cwnd {cwnd}, ssthresh {ssthresh}, in flight {inflight}{state}",
        cwnd=fmt.packets(window.cwnd_pkts),
        ssthresh=fmt.packets(window.ssthresh_pkts),
        inflight=fmt.packets(window.inflight_pkts),
        state=f", {tr(_STATES[window.state])}" if window.state in _STATES else "",
    )
