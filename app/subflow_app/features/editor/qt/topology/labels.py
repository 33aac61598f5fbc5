"""Texts on the canvas: labels of links with their placement, descriptions of links and paths, and notes.

A link's label has two lines, or if room is scarce, one line or only the name. The descriptions for tooltips and
screen readers contain all values. A note is a sheet of paper with a folded corner.

In a small picture, all labels are placed together, and each is compared with everything around it. With 700 links this
would take minutes, although a screen shows only a few dozen labels. In a large picture, only the labels in view are
placed, or no labels if they would cover most of the picture.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.core.event_words import change_words, entry_of
from subflow_app.features.editor.core.topology import PictureLink, SubflowPath
from subflow_app.features.editor.qt.topology.geometry import LinkCurve, choose_place, label_places
from subflow_app.features.editor.qt.topology.items import CanvasItem, LinkItem, Look, NodeItem, paint_clock
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.shorthand import as_written
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.scenario import Event, Link, LinkDirection, QueueSpec

_SEPARATOR = "  ·  "
_MOST_EVENTS = 12
UNREAD = "?"
"""Text in place of a value that has never been valid."""

_DATAGRAM_FLOWS = {"cbr": translatable("Constant-rate flow"), "onoff": translatable("On-off flow")}


@dataclass(frozen=True, slots=True)
class LinkCaption:
    """The label of a link.

    Attributes:
        name: name of the link.
        speed: rate and delay.
        buffer: queue limit and loss.
    """

    name: str
    speed: str
    buffer: str


def link_caption(link: Link, forward_arrow: str, reverse_arrow: str, unread: Collection[str] = ()) -> LinkCaption:
    """Build the label of a link; values that differ by direction follow an arrow that shows the direction.

    Args:
        link: link to describe.
        forward_arrow: the arrow from the first end to the second on the canvas.
        reverse_arrow: the arrow from the second end to the first.
        unread: keys of values that have never been valid, shown as `UNREAD`.
    """

    def both(of_direction: Sequence[str]) -> str:
        forward, reverse = of_direction
        if forward == reverse:
            return forward
        # Omit a direction whose text is empty because it is lossless or adds no delay.
        ways = ((forward_arrow, forward), (reverse_arrow, reverse))
        return "  ".join(f"{arrow} {value}" for arrow, value in ways if value)

    directions = (link.forward, link.reverse)
    rate, delay, queue, loss = (
        UNREAD if key in unread else both(texts)
        for key, texts in (
            ("rate", [_rate(d) for d in directions]),
            ("delay", [fmt.time(d.delay_s) if d.delay_s else "" for d in directions]),
            ("queue", [queue_text(d.queue) for d in directions]),
            ("loss", [fmt.ratio(d.loss) if d.loss else "" for d in directions]),
        )
    )
    return LinkCaption(
        link.name,
        _SEPARATOR.join(filter(None, (rate, delay))),
        _SEPARATOR.join(filter(None, (tr("queue {value}", value=queue), loss and tr("loss {value}", value=loss)))),
    )


def queue_text(queue: QueueSpec) -> str:
    """Format the limit of a queue in packets or bytes, or as `unlimited`."""
    if queue.limit_pkts is not None:
        return fmt.packets(queue.limit_pkts)
    if queue.limit_bytes is not None:
        return fmt.size(queue.limit_bytes)
    return tr(fmt.UNLIMITED)


def describe_link(item: PictureLink) -> str:
    """Describe all values of a link, for its tooltip and for screen readers."""
    link = item.link
    first, second = link.ends
    lines = [tr("Link {name}, {first} to {second}", name=link.name, first=first, second=second)]
    if link.forward == link.reverse:
        lines.append(tr("both directions: {what}", what=_direction(link.forward, item.unread)))
    else:
        lines.append(f"{first} → {second}: {_direction(link.forward, item.unread)}")
        lines.append(f"{second} → {first}: {_direction(link.reverse, item.unread)}")
    if item.events:
        lines += ["", *event_lines(item.events, link)]
    return "\n".join(lines)


def describe_path(path: SubflowPath) -> str:
    """Describe a subflow and its path."""
    if path.kind in _DATAGRAM_FLOWS:
        what = tr(_DATAGRAM_FLOWS[path.kind])
    else:
        what = tr("Subflow {number} of {flow}", number=path.ordinal, flow=path.flow)
    copies = ""
    if path.count > 1:
        copies = tr(", {count} identical flows", count=path.count)
    elif path.arrives:
        copies = tr(", flows that arrive")
    via = " → ".join(hop.link for hop in path.hops)
    lines = [f"{what} ({path.kind}){copies}", tr("over {links}", links=via)]
    if path.events:
        lines += ["", *event_lines(path.events)]
    return "\n".join(lines)


def copies_text(path: SubflowPath) -> str:
    """Format the number of flows on a path: `×3`, or `×?` if it depends on the run; empty for a single flow."""
    return f"  ×{path.count}" if path.count > 1 else "  ×?" if path.arrives else ""


def event_lines(events: Sequence[Event], link: Link | None = None) -> list[str]:
    """Describe each timed event in a line, e.g. `at 60 s: down`; a last line counts events beyond `_MOST_EVENTS`."""
    lines = []
    for event in events[:_MOST_EVENTS]:
        direction = ""
        if event.direction != "both" and link is not None:
            first, second = link.ends if event.direction == "forward" else reversed(link.ends)
            direction = f" ({first} → {second})"
        change = f"{', '.join(change_words(entry_of(event)))}{direction}"
        lines.append(tr("at {time}: {what}", time=fmt.time(event.at_s, 6), what=change))
    if len(events) > _MOST_EVENTS:
        lines.append(tr("and {count} more", count=len(events) - _MOST_EVENTS))
    return lines


def _rate(direction: LinkDirection) -> str:
    return tr(fmt.UNLIMITED) if direction.rate_bps is None else fmt.rate(direction.rate_bps)


def _direction(direction: LinkDirection, unread: Collection[str]) -> str:
    values = {
        "rate": _rate(direction),
        "delay": fmt.time(direction.delay_s),
        "queue": queue_text(direction.queue),
        "loss": fmt.ratio(direction.loss),
    }
    return tr("{rate}, delay {delay}, queue {queue}, loss {loss}", **{**values, **dict.fromkeys(unread, UNREAD)})


_READABLE_ZOOM = 0.9
_MOST_SCALE = 6.0
_LEAST_SIZE = 0.45


class Detail(Enum):
    """Levels of detail of a label, from the most to the least detailed."""

    FULL = auto()
    ONE_LINE = auto()  # without queue and loss
    NAME = auto()


def label_scale(zoom: float) -> float:
    """Return the factor by which labels are enlarged at a zoom, so that they keep their size on the screen at low zoom.

    The factor changes in coarse steps, because each step places all labels again.
    """
    return min(max(math.ceil(_READABLE_ZOOM / zoom * 4) / 4, 1.0), _MOST_SCALE)


class LabelItem(CanvasItem):
    """Name, rate and delay, queue and loss of a link, with a small clock if timed events change the link."""

    _PADDING = QSizeF(9, 5)
    _CLOCK = 8.0

    def __init__(self, name: str, look: Look) -> None:
        super().__init__(f"links.{name}", look)
        self._caption = LinkCaption(name, "", "")
        self._event_count = 0
        self._queue_share: float | None = None
        self._detail = Detail.FULL
        # True if the label found no room: it is drawn only while its link is selected or hovered.
        self.is_crowded_out = False
        self._sizes: dict[Detail, QSizeF] = {}
        self.setZValue(30)

    @property
    def size(self) -> QSizeF:
        """Current size in scene units."""
        return self._own_size(self._detail) * self.scale()

    def size_as(self, detail: Detail, scale: float) -> QSizeF:
        """Return the size in scene units for a given detail and scale."""
        return self._own_size(detail) * scale

    def set_caption(self, caption: LinkCaption, event_count: int) -> None:
        """Set the text, and whether to draw the clock."""
        if caption == self._caption and event_count == self._event_count:
            return
        self.prepareGeometryChange()
        self._sizes.clear()
        self._caption = caption
        self._event_count = event_count
        self.update()

    def set_look(self, look: Look) -> None:
        """Change the colours and fonts, and measure the texts again."""
        self._sizes.clear()
        super().set_look(look)

    def crowd_out(self) -> None:
        """Hide the label until it finds room."""
        if not self.is_crowded_out:
            self.is_crowded_out = True
            self.update()

    def place(self, at: QPointF, detail: Detail, *, scale: float, crowded_out: bool) -> None:
        """Set position, detail and scale, and whether the label is hidden for lack of room."""
        self.prepareGeometryChange()
        self._detail = detail
        self.is_crowded_out = crowded_out
        self.setScale(scale)
        self.setPos(at)
        self.update()

    def set_queue_share(self, share: float | None) -> None:
        """Show the fill level of the queue (0..1) as a bar along the lower edge; None shows no bar."""
        rounded = None if share is None else round(min(max(share, 0.0), 1.0), 2)
        if rounded != self._queue_share:
            self._queue_share = rounded
            self.update()

    def boundingRect(self) -> QRectF:
        """Return the bounds of the label, including the clock at its corner."""
        reach = self._CLOCK + 2
        return QRectF(QPointF(0, 0), self._own_size(self._detail)).adjusted(-3, -reach, reach, 3)

    def shape(self) -> QPainterPath:
        """Return the clickable area; empty while the label has no room and its link is not selected."""
        path = QPainterPath()
        if not self.is_crowded_out or self.is_chosen:
            path.addRect(QRectF(QPointF(0, 0), self._own_size(self._detail)))
        return path

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the label; if it lacks room or is too small to read, only while its link is selected or hovered."""
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
        """Return the unscaled size in whole units, so that the frame falls on pixels at 100 %."""
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


_GAP = 7.0
_FEW_LINKS = 60
_MOST_COVERED = 0.45  # largest share of the picture's area that labels may cover
_REACH = 60.0  # maximum distance of a label from its link, in addition to the label's own size
_Box = tuple[float, float, float, float]


class LabelRoom:
    """Places the labels of one scene.

    Args:
        nodes: nodes of the scene by name; later changes to the mapping take effect.
        links: links of the scene by name; later changes take effect.
        labels: labels by the names of the links; later changes take effect.
    """

    def __init__(
        self, nodes: Mapping[str, NodeItem], links: Mapping[str, LinkItem], labels: Mapping[str, LabelItem]
    ) -> None:
        self._nodes = nodes
        self._links = links
        self._labels = labels
        self._zoom = 1.0
        self._view = QRectF()
        self._waiting: set[str] = set()
        self.is_paused = False  # True while labels wait for the end of zooming
        self.within: QRectF | None = None  # area for the labels of a small picture; None: anywhere
        self.is_quiet = False  # True while packets move on the links, which enlarged labels would cover

    @property
    def is_large(self) -> bool:
        """True if labels are placed only as they come into view, because the picture has too many labels."""
        return len(self._labels) > _FEW_LINKS

    def pause(self) -> None:
        """Stop placing labels until the next call of `place`."""
        self.is_paused = True

    def place(self, names: Iterable[str], zoom: float) -> None:
        """Find room for these labels one after another; all other labels are left in place."""
        self._zoom = zoom
        self.is_paused = False
        if not self.is_large:
            self._waiting.clear()
            self._place(names)
            return
        names = list(names)
        for name in names:
            self._labels[name].crowd_out()
        if self._covers_too_much():
            self._waiting.clear()
        else:
            self._waiting.update(names)
            self.show(self._view)

    def show(self, view: QRectF) -> None:
        """Place the waiting labels that are now in view."""
        self._view = view
        if self.is_paused:
            return
        self._waiting &= self._labels.keys()
        if self._waiting and not view.isEmpty():
            box = _box(view)
            found = [name for name in self._waiting if _meets(self._bounds(name), box)]
            self._waiting.difference_update(found)
            self._place(found)

    def _covers_too_much(self) -> bool:
        places = [node.pos() for node in self._nodes.values()]
        if not places:
            return False
        width = max(p.x() for p in places) - min(p.x() for p in places)
        height = max(p.y() for p in places) - min(p.y() for p in places)
        scale = label_scale(self._zoom)
        sizes = [label.size_as(Detail.ONE_LINE, scale) for label in self._labels.values()]
        return sum(size.width() * size.height() for size in sizes) > _MOST_COVERED * max(width * height, 1.0)

    def _bounds(self, name: str) -> _Box:
        curve = self._links[name].curve
        return _box(curve.bounds) if curve else (0.0, 0.0, 0.0, 0.0)

    def _place(self, names: Iterable[str]) -> None:
        # Links with the most subflows come first: if room is scarce, their labels matter most.
        names = sorted(names, key=lambda name: -self._links[name].lane_count)
        if not names:
            return
        placed = set(names)
        obstacles = [item.obstacle(self._zoom) for item in self._nodes.values()]
        for name, label in self._labels.items():
            if name not in placed and not label.is_crowded_out:
                obstacles.append(QRectF(label.pos(), label.size))
        boxes = [_box(obstacle) for obstacle in obstacles]
        curves = [link.curve for link in self._links.values() if link.curve]
        ways = [_box(curve.bounds) for curve in curves]
        for name in names:
            link, label = self._links[name], self._labels[name]
            area = self._around(link, label)
            near = [obstacle for obstacle, box in zip(obstacles, boxes, strict=True) if _meets(box, area)]
            lines = [curve for curve, box in zip(curves, ways, strict=True) if _meets(box, area)]
            place = self._find_room(link, label, near, lines)
            if place is not None:
                obstacles.append(place)
                boxes.append(_box(place))

    def _around(self, link: LinkItem, label: LabelItem) -> _Box:
        """Return the area in which a label may be placed."""
        size = label.size_as(Detail.FULL, label_scale(self._zoom))
        reach_x, reach_y = size.width() + link.half_width + _REACH, size.height() + link.half_width + _REACH
        left, top, right, bottom = self._bounds(link.name)
        return (left - reach_x, top - reach_y, right + reach_x, bottom + reach_y)

    def _find_room(
        self, link: LinkItem, label: LabelItem, obstacles: Sequence[QRectF], curves: Sequence[LinkCurve]
    ) -> QRectF | None:
        """Place a label with as much detail as fits. Returns the covered rectangle, or None if the label does not fit.

        Queue and loss are omitted first, then rate and delay, then the whole label. A label at 100 % is never omitted;
        it may cover other items.
        """
        curve = link.curve
        if curve is None:
            return None
        scale = label_scale(self._zoom)
        first: QRectF | None = None
        is_free = False
        for detail in Detail:
            size = label.size_as(detail, scale) + QSizeF(4, 4)
            places = list(label_places(curve, link.half_width + _GAP, size))
            if self.within is not None and not self.is_large:
                places = [place for place in places if self.within.contains(place)] or places[:1]
            # A shortened label must not cover anything.
            place, is_free = choose_place(places, obstacles, curves, is_free_only=detail is not Detail.FULL)
            is_free = is_free and (self.within is None or self.is_large or self.within.contains(place))
            first = first or place
            if is_free:
                break
        else:
            # At 100 %, a label that covers something is better than none; at low zoom it would cover too much.
            detail, place = Detail.FULL, first or QRectF()
        crowded_out = scale > 1 and (self.is_quiet or not is_free)
        # Whole units keep the frame on pixels.
        at = QPointF(round(place.x() + 2), round(place.y() + 2))
        label.place(at, detail, scale=scale, crowded_out=crowded_out)
        return None if crowded_out else place


def _box(rect: QRectF) -> _Box:
    return (rect.left(), rect.top(), rect.right(), rect.bottom())


def _meets(a: _Box, b: _Box) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


_MOST_WIDTH = 200.0
_LEAST_WIDTH = 48.0
_PADDING = 8.0
_FOLD = 10.0
_FLAGS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class NoteItem(CanvasItem):
    """A note, placed by the upper left corner of its paper."""

    def __init__(self, number: str, look: Look) -> None:
        super().__init__(f"notes.{number}", look)
        self._words = ""
        self._paper = QRectF()
        # Above links, but below nodes and labels: a note must not hide the node that it describes.
        self.setZValue(18)

    def set_words(self, words: str) -> None:
        """Set the text, and fit the paper to the text."""
        self.prepareGeometryChange()
        self._words = words
        room = QRectF(0, 0, _MOST_WIDTH - 2 * _PADDING, 4000)
        text = QFontMetricsF(self.look.small).boundingRect(room, int(_FLAGS), words)
        width = max(math.ceil(text.width()) + 2 * _PADDING + 1, _LEAST_WIDTH)
        self._paper = QRectF(0, 0, width, math.ceil(text.height()) + 2 * _PADDING)
        self.setToolTip(as_written(words))
        self.update()

    def set_look(self, look: Look) -> None:
        """Change the colours and fonts, and measure the text again."""
        super().set_look(look)
        self.set_words(self._words)

    @property
    def paper(self) -> QRectF:
        """The sheet of paper, in scene coordinates."""
        return self._paper.translated(self.pos())

    def boundingRect(self) -> QRectF:
        """Return the bounds of the paper with its glow."""
        return self._paper.adjusted(-6, -6, 6, 6)

    def shape(self) -> QPainterPath:
        """Return the paper as the clickable area."""
        path = QPainterPath()
        path.addRect(self._paper)
        return path

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the paper with its folded corner, and the text."""
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
