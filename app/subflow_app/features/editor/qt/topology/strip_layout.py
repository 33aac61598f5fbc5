"""Where the rows, bars and marks of a timeline lie in pixels, and what is under the mouse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from subflow_app.features.editor.core.event_strip import Part, StripBar, StripItem, StripMark, StripRow, start_of

ROW_HEIGHT = 25
MARK_RADIUS = 5.0
_TITLE_SHARE, _MOST_TITLE = 0.24, 120.0
_RIGHT_MARGIN = 18.0
_GRIP = 5.0
_LEAST_BAR = 6.0


@dataclass(frozen=True, slots=True)
class Hit:
    """What is at a point: a row, perhaps one of its items, and where that is taken hold of."""

    row: StripRow
    item: StripItem | None = None
    part: Part = "body"


@dataclass(frozen=True, slots=True)
class StripLayout:
    """Places of everything at one size; `scroll` is how many pixels of the rows are above the upper edge."""

    rows: Sequence[StripRow]
    duration_s: float
    width: float
    scroll: float = 0.0

    @property
    def left(self) -> float:
        """Where time 0 is."""
        return min(_MOST_TITLE, self.width * _TITLE_SHARE) + 6.0

    @property
    def span(self) -> float:
        """How many pixels the whole run takes."""
        return max(self.width - self.left - _RIGHT_MARGIN, 1.0)

    @property
    def height(self) -> int:
        """What all rows take."""
        return ROW_HEIGHT * len(self.rows)

    def x_of(self, time_s: float) -> float:
        """Where a time is."""
        return self.left + self.span * min(max(time_s / self.duration_s, 0.0), 1.0)

    def time_at(self, x: float) -> float:
        """The time at a place, inside the run."""
        return min(max((x - self.left) / self.span, 0.0), 1.0) * self.duration_s

    def row_rect(self, index: int) -> QRectF:
        """The whole row, its name included."""
        return QRectF(0.0, index * ROW_HEIGHT - self.scroll, self.width, ROW_HEIGHT)

    def title_rect(self, index: int) -> QRectF:
        """The name of a row."""
        row = self.row_rect(index)
        return QRectF(8.0, row.top(), self.left - 18.0, ROW_HEIGHT)

    def bar_rect(self, index: int, start_s: float, end_s: float) -> QRectF:
        """A bar, wide enough to be seen and held."""
        row = self.row_rect(index)
        x0, x1 = self.x_of(start_s), self.x_of(end_s)
        return QRectF(x0, row.top() + 5, max(x1 - x0, _LEAST_BAR), ROW_HEIGHT - 10)

    def mark_point(self, index: int, time_s: float) -> QPointF:
        """The middle of a mark."""
        return QPointF(self.x_of(time_s), self.row_rect(index).center().y())

    def mark_text_rect(self, index: int, mark: StripMark, time_s: float) -> QRectF:
        """The room for a mark's text: up to the next mark or bar."""
        later = [
            start_of(item) for item in self.rows[index].items if item.places[0] != mark.at and start_of(item) > time_s
        ]
        row = self.row_rect(index)
        x0 = self.x_of(time_s) + MARK_RADIUS + 4
        x1 = min([*(self.x_of(start_s) - MARK_RADIUS - 3 for start_s in later), self.width - 2])
        return QRectF(x0, row.top(), max(x1 - x0, 0.0), ROW_HEIGHT)

    def left_text_rect(self, index: int, mark: StripMark) -> QRectF:
        """The room to the left of a mark, where its text goes at the very end of the run."""
        row = self.row_rect(index)
        earlier = [
            item.end_s if isinstance(item, StripBar) else item.time_s
            for item in self.rows[index].items
            if item.places[0] != mark.at and start_of(item) <= mark.time_s
        ]
        x0 = self.x_of(max(earlier, default=0.0)) + MARK_RADIUS + 4
        return QRectF(x0, row.top(), max(self.x_of(mark.time_s) - MARK_RADIUS - 4 - x0, 0.0), ROW_HEIGHT)

    def bar_text_rect(self, index: int, rect: QRectF) -> QRectF:
        """The room inside a bar for its text: up to the first mark in it."""
        inside = [
            self.x_of(item.time_s)
            for item in self.rows[index].items
            if isinstance(item, StripMark) and rect.left() - 1 <= self.x_of(item.time_s) <= rect.right() + 1
        ]
        right = min([*(x - MARK_RADIUS for x in inside), rect.right()])
        return QRectF(rect.left() + 4, rect.top(), max(right - rect.left() - 8, 0.0), rect.height())

    def hit(self, at: QPointF) -> Hit | None:
        """What is at a point; marks before bars, and ends of bars before their middle."""
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
            # Half of a short bar is its middle all the same, so that it can be moved.
            grip = min(_GRIP, rect.width() / 4)
            if at.x() <= rect.left() + grip:
                yield Hit(row, item, "start")
            elif at.x() >= rect.right() - grip:
                yield Hit(row, item, "end")
            else:
                yield Hit(row, item)
