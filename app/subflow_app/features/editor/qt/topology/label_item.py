"""The label of a link: what it is, in two lines or, where room is scarce, in one, or just its name."""

from __future__ import annotations

import math
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.qt.topology.captions import LinkCaption
from subflow_app.features.editor.qt.topology.items import CanvasItem
from subflow_app.features.editor.qt.topology.look import Look, paint_clock

_READABLE_ZOOM = 0.9
_MOST_SCALE = 6.0
_LEAST_SIZE = 0.45


class Detail(Enum):
    """What a label says, most first."""

    FULL = auto()
    ONE_LINE = auto()  # without queue and loss
    NAME = auto()


def label_scale(zoom: float) -> float:
    """Return by how much labels are enlarged at a zoom: seen from afar they stay as large as they are on the screen.

    In coarse steps, because labels look for room anew at each.
    """
    return min(max(math.ceil(_READABLE_ZOOM / zoom * 4) / 4, 1.0), _MOST_SCALE)


class LabelItem(CanvasItem):
    """Name, rate and delay, queue and loss of a link; a small clock if timed events change it during the run."""

    _PADDING = QSizeF(9, 5)
    _CLOCK = 8.0

    def __init__(self, name: str, look: Look) -> None:
        super().__init__(f"links.{name}", look)
        self._caption = LinkCaption(name, "", "")
        self._event_count = 0
        self._queue_share: float | None = None
        self._detail = Detail.FULL
        # Whether it found no room, and is drawn only while its link is selected or pointed at.
        self.is_crowded_out = False
        self._sizes: dict[Detail, QSizeF] = {}
        self.setZValue(30)

    @property
    def size(self) -> QSizeF:
        """How much room it takes in scene units."""
        return self._own_size(self._detail) * self.scale()

    def size_as(self, detail: Detail, scale: float) -> QSizeF:
        """Return how much room it would take."""
        return self._own_size(detail) * scale

    def set_caption(self, caption: LinkCaption, event_count: int) -> None:
        """Say something else."""
        if caption == self._caption and event_count == self._event_count:
            return
        self.prepareGeometryChange()
        self._sizes.clear()
        self._caption = caption
        self._event_count = event_count
        self.update()

    def set_look(self, look: Look) -> None:
        """Draw it in other colours and fonts from now on."""
        self._sizes.clear()
        super().set_look(look)

    def crowd_out(self) -> None:
        """Be drawn no more, until room is found."""
        if not self.is_crowded_out:
            self.is_crowded_out = True
            self.update()

    def place(self, at: QPointF, detail: Detail, *, scale: float, crowded_out: bool) -> None:
        """Stand somewhere, saying more or less, enlarged, or out of the way."""
        self.prepareGeometryChange()
        self._detail = detail
        self.is_crowded_out = crowded_out
        self.setScale(scale)
        self.setPos(at)
        self.update()

    def set_queue_share(self, share: float | None) -> None:
        """Show how full the queue is (0..1) as a bar along the lower edge; None shows no bar."""
        rounded = None if share is None else round(min(max(share, 0.0), 1.0), 2)
        if rounded != self._queue_share:
            self._queue_share = rounded
            self.update()

    def boundingRect(self) -> QRectF:
        """Return everything that is drawn."""
        reach = self._CLOCK + 2
        return QRectF(QPointF(0, 0), self._own_size(self._detail)).adjusted(-3, -reach, reach, 3)

    def shape(self) -> QPainterPath:
        """Return what a click hits."""
        path = QPainterPath()
        if not self.is_crowded_out or self.is_chosen:
            path.addRect(QRectF(QPointF(0, 0), self._own_size(self._detail)))
        return path

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw it, unless it has no room or would be too small to read."""
        is_wanted = self.is_chosen or self._is_hovered
        size_on_screen = option.levelOfDetailFromTransform(painter.worldTransform())
        if (self.is_crowded_out or size_on_screen < _LEAST_SIZE) and not is_wanted:
            return
        tokens = self.look.tokens
        size = self._own_size(self._detail)
        rect = QRectF(QPointF(0, 0), size).adjusted(0.5, 0.5, -0.5, -0.5)
        border = tokens.accent if self.is_chosen else tokens.border
        painter.setPen(QPen(QColor(border), 1.6 if self.is_chosen else 1.0))
        painter.setBrush(QColor(tokens.button_hover if self._is_hovered and not self.is_chosen else tokens.base))
        painter.drawRoundedRect(rect, 6, 6)
        self._paint_queue_bar(painter, rect)
        self._paint_lines(painter)
        if self._event_count:
            paint_clock(painter, QPointF(size.width() - 2, 1), self._CLOCK, tokens)

    def _paint_lines(self, painter: QPainter) -> None:
        tokens = self.look.tokens
        bold, small = QFontMetricsF(self.look.bold), QFontMetricsF(self.look.small)
        x = self._PADDING.width()
        baseline = self._PADDING.height() + bold.ascent()
        painter.setFont(self.look.bold)
        painter.setPen(QColor(tokens.text))
        painter.drawText(QPointF(x, baseline), self._caption.name)
        if self._detail is Detail.NAME:
            return
        painter.setFont(self.look.small)
        after_name = x + bold.horizontalAdvance(self._caption.name) + self._gap()
        painter.drawText(QPointF(after_name, baseline), self._caption.speed)
        if self._detail is Detail.FULL:
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(QPointF(x, baseline + small.height() + 1), self._caption.buffer)

    def _paint_queue_bar(self, painter: QPainter, rect: QRectF) -> None:
        if not self._queue_share:
            return
        bar = QRectF(rect.left() + 6, rect.bottom() - 2.5, (rect.width() - 12) * self._queue_share, 2.5)
        tokens = self.look.tokens
        painter.fillRect(bar, QColor(tokens.warning if self._queue_share > 0.9 else tokens.accent))

    def _own_size(self, detail: Detail) -> QSizeF:
        """Return the size before it is enlarged, in whole units, so that the frame falls on pixels at 100 %."""
        found = self._sizes.get(detail)
        if found is not None:
            return QSizeF(found)
        bold, small = QFontMetricsF(self.look.bold), QFontMetricsF(self.look.small)
        caption = self._caption
        width, height = bold.horizontalAdvance(caption.name), bold.height()
        if detail is not Detail.NAME:
            width += self._gap() + small.horizontalAdvance(caption.speed)
            height = max(height, small.height())
        if detail is Detail.FULL:
            width = max(width, small.horizontalAdvance(caption.buffer))
            height += small.height() + 1
        size = QSizeF(math.ceil(width + 2 * self._PADDING.width()), math.ceil(height + 2 * self._PADDING.height()))
        self._sizes[detail] = size
        return QSizeF(size)

    def _gap(self) -> float:
        return QFontMetricsF(self.look.small).horizontalAdvance("  ") + 2
