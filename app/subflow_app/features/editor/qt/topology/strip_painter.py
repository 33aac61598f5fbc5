"""Drawing of the lanes of timed events above the time track: pixel positions of rows, bars and marks, and their texts.

The same positions are used for hit tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from subflow_app.features.editor.core.event_strip import (
    Part,
    StripBar,
    StripItem,
    StripMark,
    StripRow,
    start_of,
    tick_step,
)
from subflow_app.features.editor.core.event_words import change_words
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import Tokens
from subflow_app.vocabulary.language import tr
from subflow_sim.toml_map import Path

ROW_HEIGHT = 20
MARK_RADIUS = 5.0
LEFT, RIGHT_MARGIN = 48, 16  # px: position of time 0, and distance of the end of the run from the right edge
_GRIP = 5.0
_LEAST_BAR = 6.0


@dataclass(frozen=True, slots=True)
class Hit:
    """The row at a point, with the item at that point, if any, and the part of the item."""

    row: StripRow
    item: StripItem | None = None
    part: Part = "body"


@dataclass(frozen=True, slots=True)
class StripLayout:
    """Pixel positions at one size.

    Attributes:
        rows: the rows.
        duration_s: duration of the run, s.
        width: width of all rows, px.
        scroll: height of the rows that are out of view at the top, px.
        left: position of time 0, px.
        right_margin: distance of the end of the run from the right edge, px.
    """

    rows: Sequence[StripRow]
    duration_s: float
    width: float
    scroll: float = 0.0
    left: float = LEFT
    right_margin: float = RIGHT_MARGIN

    @property
    def span(self) -> float:
        """Width of the whole run in px."""
        return max(self.width - self.left - self.right_margin, 1.0)

    @property
    def height(self) -> int:
        """Height of all rows in px."""
        return ROW_HEIGHT * len(self.rows)

    def x_of(self, time_s: float) -> float:
        """Return the position of a time in px."""
        return self.left + self.span * min(max(time_s / self.duration_s, 0.0), 1.0)

    def time_at(self, x: float) -> float:
        """Return the time at a position, limited to the run."""
        return min(max((x - self.left) / self.span, 0.0), 1.0) * self.duration_s

    def row_rect(self, index: int) -> QRectF:
        """Return the rectangle of a row, including its name."""
        return QRectF(0.0, index * ROW_HEIGHT - self.scroll, self.width, ROW_HEIGHT)

    def title_rect(self, index: int) -> QRectF:
        """Return the rectangle of a row's name."""
        row = self.row_rect(index)
        return QRectF(4.0, row.top(), self.left - 12.0, ROW_HEIGHT)

    def bar_rect(self, index: int, start_s: float, end_s: float) -> QRectF:
        """Return the rectangle of a bar, wide enough to see and drag."""
        row = self.row_rect(index)
        x0, x1 = self.x_of(start_s), self.x_of(end_s)
        return QRectF(x0, row.top() + 3, max(x1 - x0, _LEAST_BAR), ROW_HEIGHT - 6)

    def mark_point(self, index: int, time_s: float) -> QPointF:
        """Return the centre of a mark."""
        return QPointF(self.x_of(time_s), self.row_rect(index).center().y())

    def mark_text_rect(self, index: int, mark: StripMark, time_s: float) -> QRectF:
        """Return the room for a mark's text: up to the next mark or bar."""
        later = [
            start_of(item) for item in self.rows[index].items if item.places[0] != mark.at and start_of(item) > time_s
        ]
        row = self.row_rect(index)
        x0 = self.x_of(time_s) + MARK_RADIUS + 4
        x1 = min([*(self.x_of(start_s) - MARK_RADIUS - 3 for start_s in later), self.width - 2])
        return QRectF(x0, row.top(), max(x1 - x0, 0.0), ROW_HEIGHT)

    def left_text_rect(self, index: int, mark: StripMark) -> QRectF:
        """Return the room to the left of a mark, for its text near the end of the run."""
        row = self.row_rect(index)
        earlier = [
            item.end_s if isinstance(item, StripBar) else item.time_s
            for item in self.rows[index].items
            if item.places[0] != mark.at and start_of(item) <= mark.time_s
        ]
        x0 = self.x_of(max(earlier, default=0.0)) + MARK_RADIUS + 4
        return QRectF(x0, row.top(), max(self.x_of(mark.time_s) - MARK_RADIUS - 4 - x0, 0.0), ROW_HEIGHT)

    def bar_text_rect(self, index: int, rect: QRectF) -> QRectF:
        """Return the room for a bar's text: up to the first mark in the bar."""
        inside = [
            self.x_of(item.time_s)
            for item in self.rows[index].items
            if isinstance(item, StripMark) and rect.left() - 1 <= self.x_of(item.time_s) <= rect.right() + 1
        ]
        right = min([*(x - MARK_RADIUS for x in inside), rect.right()])
        return QRectF(rect.left() + 4, rect.top(), max(right - rect.left() - 8, 0.0), rect.height())

    def hit(self, at: QPointF) -> Hit | None:
        """Return the row and the item at a point, or None outside the rows; marks take precedence over bars."""
        for index, row in enumerate(self.rows):
            if self.row_rect(index).contains(at):
                found = [*self._marks_at(index, row, at), *self._bars_at(index, row, at)]
                return found[0] if found else Hit(row)
        return None

    def _marks_at(self, index: int, row: StripRow, at: QPointF) -> Iterator[Hit]:
        for item in row.items:
            if isinstance(item, StripMark):
                offset = at - self.mark_point(index, item.time_s)
                if abs(offset.x()) <= MARK_RADIUS + 2 and abs(offset.y()) <= MARK_RADIUS + 4:
                    yield Hit(row, item)

    def _bars_at(self, index: int, row: StripRow, at: QPointF) -> Iterator[Hit]:
        for item in row.items:
            if not isinstance(item, StripBar):
                continue
            rect = self.bar_rect(index, item.start_s, item.end_s)
            if not rect.adjusted(-_GRIP, 0, _GRIP, 0).contains(at):
                continue
            # The middle half of a short bar is reserved for moving it.
            grip = min(_GRIP, rect.width() / 4)
            if at.x() <= rect.left() + grip:
                yield Hit(row, item, "start")
            elif at.x() >= rect.right() - grip:
                yield Hit(row, item, "end")
            else:
                yield Hit(row, item)


_TICK_PX = 62.0
_LEAST_TEXT = 26.0
_LEAST_BAR_TEXT = 30.0


@dataclass(frozen=True, slots=True)
class Preview:
    """Times of a bar or mark during a drag; start and end of a mark are equal.

    The preview of a new outage has an empty place, and the number of its row.
    """

    place: Path
    start_s: float
    end_s: float
    new_row: int = -1

    @classmethod
    def of(cls, item: StripItem) -> Preview:
        """Return the preview of an item that has not been dragged yet."""
        if isinstance(item, StripBar):
            return cls(item.start, item.start_s, item.end_s)
        return cls(item.at, item.time_s, item.time_s)


def describe_item(item: StripItem) -> str:
    """Describe a bar or mark, for tooltips and screen readers."""
    if isinstance(item, StripMark):
        return tr("At {time}: {what}", time=fmt.time(item.time_s, 6), what=mark_text(item))
    start = fmt.time(item.start_s, 6)
    if item.end is None:
        return tr("{target} {what} from {start} to the end", target=item.target, what=bar_text(item), start=start)
    end = fmt.time(item.end_s, 6)
    return tr("{target} {what} from {start} to {end}", target=item.target, what=bar_text(item), start=start, end=end)


def bar_text(bar: StripBar) -> str:
    """Describe the state that a bar shows: `→ down`, `subflow 2 closed`."""
    if bar.key == "up":
        return _with_side(tr("down"), bar.side)
    return tr("subflow {number} closed", number=bar.side) if bar.side else tr("closed")


def mark_text(mark: StripMark) -> str:
    """Describe the new values of a mark."""
    return _with_side(", ".join(change_words(dict(mark.changes))), mark.side)


def _with_side(text: str, side: str) -> str:
    arrows = {"forward": "→", "reverse": "←"}
    if side in arrows:
        return f"{arrows[side]} {text}"
    return tr("subflow {number}: {what}", number=side, what=text) if side else text


class StripPainter:
    """Draws the timeline for one paint event."""

    def __init__(
        self,
        painter: QPainter,
        area: QRectF,
        layout: StripLayout,
        tokens: Tokens,
        font: QFont,
        chosen: Path | None,
        preview: Preview | None,
        has_focus: bool,
    ) -> None:
        """Draws with `painter` into `area`; `chosen` is the path of the chosen item, `preview` a drag in progress."""
        self._painter = painter
        self._area = area
        self._layout = layout
        self._tokens = tokens
        self._font = QFont(font)
        self._small = QFont(font)
        if font.pointSizeF() > 0:
            self._small.setPointSizeF(font.pointSizeF() * 0.88)
        self._metrics = QFontMetricsF(self._small)
        self._chosen = chosen
        self._preview = preview
        self._has_focus = has_focus

    def paint(self, selected: str, position_s: float | None, message: str) -> None:
        """Draw rows, position, preview, and the problem of a typed value."""
        painter, tokens, layout = self._painter, self._tokens, self._layout
        if layout.rows:
            self._paint_grid(self._area)
        else:
            painter.setFont(self._small)
            painter.setPen(QColor(tokens.muted_text))
            room = self._area.adjusted(layout.left, 0, -10, 0)
            hint = tr("Select a link, and drag here to take it down for a while.")
            shown = self._metrics.elidedText(hint, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
        for index in range(len(layout.rows)):
            self._paint_row(index, layout.rows[index].key == selected)
        if position_s is not None:
            self._paint_position(position_s, self._area)
        if self._preview is not None:
            self._paint_guides(self._area)
        if message:
            self._paint_message(message)

    def _paint_grid(self, area: QRectF) -> None:
        painter, layout = self._painter, self._layout
        painter.setPen(QPen(QColor(self._tokens.grid), 1))
        for time_s in self._ticks():
            x = round(layout.x_of(time_s)) + 0.5
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))

    def _paint_row(self, index: int, is_selected: bool) -> None:
        painter, tokens, layout = self._painter, self._tokens, self._layout
        row = layout.rows[index]
        rect = layout.row_rect(index)
        if is_selected:
            painter.fillRect(QRectF(0, rect.top(), layout.left - 8, rect.height()), QColor(tokens.info_fill))
        painter.setPen(QPen(QColor(tokens.grid), 1))
        y = round(rect.bottom()) - 0.5
        painter.drawLine(QPointF(0, y), QPointF(rect.right(), y))
        painter.setFont(self._small)
        painter.setPen(QColor(tokens.muted_text))
        title = layout.title_rect(index)
        name = self._metrics.elidedText(row.key.partition(".")[2], Qt.TextElideMode.ElideMiddle, title.width())
        painter.drawText(title, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, name)
        painter.setFont(self._small)
        if not row.items:
            hint = tr("Drag: link down") if row.key.startswith("links.") else tr("Drag: close subflows")
            painter.setPen(QColor(tokens.muted_text))
            room = QRectF(layout.left + 6, rect.top(), layout.span, rect.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, hint)
        for item in row.items:
            if isinstance(item, StripBar):
                self._paint_bar(index, item)
        for item in row.items:
            if isinstance(item, StripMark):
                self._paint_mark(index, item)

    def _shown(self, item: StripItem) -> Preview:
        if self._preview is not None and self._preview.place == item.places[0]:
            return self._preview
        return Preview.of(item)

    def _paint_bar(self, index: int, bar: StripBar) -> None:
        painter, tokens = self._painter, self._tokens
        shown = self._shown(bar)
        rect = self._layout.bar_rect(index, shown.start_s, shown.end_s)
        is_chosen = bar.start == self._chosen
        edge = QColor(tokens.accent if is_chosen else tokens.error)
        painter.setPen(QPen(edge, 2 if is_chosen else 1))
        painter.setBrush(QColor(tokens.error_fill))
        painter.drawRoundedRect(rect, 3, 3)
        # A grip at each end for dragging.
        for x in (rect.left(), rect.right()):
            painter.fillRect(QRectF(x - 1.5, rect.top(), 3, rect.height()), edge)
        text = bar_text(bar)
        room = self._layout.bar_text_rect(index, rect)
        if room.width() >= min(self._metrics.horizontalAdvance(text), _LEAST_BAR_TEXT):
            painter.setPen(QColor(tokens.text))
            shown_text = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shown_text)

    def _paint_mark(self, index: int, mark: StripMark) -> None:
        painter, tokens = self._painter, self._tokens
        time_s = self._shown(mark).start_s
        at = self._layout.mark_point(index, time_s)
        is_chosen = mark.at == self._chosen
        r = MARK_RADIUS + (1.0 if is_chosen else 0.0)
        colour = QColor(tokens.accent if is_chosen else tokens.warning)
        painter.setPen(QPen(colour, 1.4))
        painter.setBrush(QColor(tokens.base) if mark.is_fixed else colour)
        painter.drawPolygon(QPolygonF([at + QPointF(*offset) for offset in ((0, -r), (r, 0), (0, r), (-r, 0))]))
        if is_chosen and self._has_focus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, r + 3, r + 3)
        room = self._layout.mark_text_rect(index, mark, time_s)
        text = mark_text(mark)
        if room.width() >= min(_LEAST_TEXT, self._metrics.horizontalAdvance(text)):
            painter.setPen(QColor(tokens.text))
            shown = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
        elif text and room.right() >= self._area.right() - 4:
            # Near the end of the run, the text may fit to the left.
            left = self._layout.left_text_rect(index, mark)
            # Leave room for the text of the previous mark.
            if left.width() >= 2.2 * self._metrics.horizontalAdvance(text):
                painter.setPen(QColor(tokens.text))
                painter.drawText(left, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)

    def _ticks(self) -> list[float]:
        step = tick_step(self._layout.duration_s, self._layout.span, _TICK_PX)
        return [index * step for index in range(math.floor(self._layout.duration_s / step + 1e-9) + 1)]

    def _paint_message(self, message: str) -> None:
        """Write the problem of a typed value at the right end of the rows."""
        painter, tokens = self._painter, self._tokens
        painter.setFont(self._small)
        room = self._area.width() / 2 - 16
        shown = self._metrics.elidedText(message, Qt.TextElideMode.ElideRight, room)
        width = self._metrics.horizontalAdvance(shown) + 12
        box = QRectF(
            self._area.right() - width - 4, self._area.top() + 1, width, min(ROW_HEIGHT, self._area.height()) - 2
        )
        painter.fillRect(box, QColor(tokens.error_fill))
        painter.setPen(QColor(tokens.error))
        painter.drawText(box.adjusted(6, 0, -6, 0), Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_position(self, time_s: float, area: QRectF) -> None:
        x = self._layout.x_of(time_s)
        self._painter.setPen(QPen(QColor(self._tokens.accent), 1.5))
        self._painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 1))

    def _paint_guides(self, area: QRectF) -> None:
        """Draw the times of the dragged item beside it, and the bar of a new outage."""
        assert self._preview is not None
        painter, tokens = self._painter, self._tokens
        if self._preview.new_row >= 0:
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.setBrush(QColor(tokens.error_fill))
            bar = self._layout.bar_rect(self._preview.new_row, self._preview.start_s, self._preview.end_s)
            painter.drawRoundedRect(bar, 3, 3)
        painter.setFont(self._small)
        for time_s in dict.fromkeys((self._preview.start_s, self._preview.end_s)):
            x = self._layout.x_of(time_s)
            painter.setPen(QPen(QColor(tokens.accent), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            text = fmt.time(time_s, 6)
            half = self._metrics.horizontalAdvance(text) / 2 + 5
            is_start = time_s == self._preview.start_s
            beside = x - half - 4 if is_start else x + half + 4
            centre = min(max(beside, half + 1), self._area.width() - half - 1)
            bubble = QRectF(centre - half, area.top() + 1, 2 * half, ROW_HEIGHT - 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.accent))
            painter.drawRoundedRect(bubble, 3, 3)
            painter.setPen(QColor(tokens.accent_text))
            painter.drawText(bubble, Qt.AlignmentFlag.AlignCenter, text)
