"""Playhead on the canvas: moving packets, filling queues, link loads, and gauges of congestion windows.

One item paints all packets of an instant, because thousands of items would be too slow. Below the canvas, each subflow
has a gauge for its window at the time of the playhead. The tracks of links depend only on the canvas, so that
benchmarks of drawing can use them without a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QObject, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.qt.topology.items import LANE_PITCH, LinkItem, node_reach
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.explain.core.instants import Floats, PacketPlaces, SubflowGauge, Track, packet_places
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.features.plots.core.spec import transport_colours
from subflow_app.features.traces.core.traces import Traces, owner_label
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named, timer
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.palette import hex_colour, split_owner

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_view import PlotView


# Offset of packets to the right of the middle of their lane, as a share of the distance between lanes.
_SIDE_SHARE = 0.18


def track_of(item: LinkItem) -> Track:
    """Track of a drawn link with its lanes, along which packets move."""
    curve = item.curve
    assert curve is not None
    points = np.array([(point.x(), point.y()) for point in curve.points])
    normals = np.array([(normal.x(), normal.y()) for normal in curve.normals])
    first, second = item.router_ends
    return Track(
        points,
        normals,
        item.lane_offsets,
        item.half_width,
        _reach(normals[0], is_router=first),
        _reach(normals[-1], is_router=second),
        _SIDE_SHARE * min(LANE_PITCH, 2 * item.half_width),
    )


def _reach(normal: np.ndarray[tuple[int], np.dtype[np.float64]], *, is_router: bool) -> float:
    # The direction of the track is its normal rotated by a right angle.
    return node_reach(float(normal[1]), float(normal[0]), is_router=is_router)


_LEAST_WIDTH, _MOST_WIDTH, _MOST_ROWS, _TOP = 190, 260, 4, 3
_LEAST_BAR, _GAP = 32, 8
_STATES = {
    "closed": translatable("closed"),
    "joining": translatable("joining"),
    "recovery": translatable("recovery"),
    "loss": translatable("timeout"),
}


@dataclass(frozen=True, slots=True)
class Gauge:
    """Label, colour and window of a subflow."""

    label: str
    colour: str
    window: SubflowGauge


class Gauges(QWidget):
    """A bar for each subflow: as long as cwnd, filled as far as packets are in flight, and marked at ssthresh."""

    chosen = Signal(str)  # name of the flow that was clicked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "playhead_gauges", tr("cwnd of the subflows"))
        self.gauges: tuple[Gauge, ...] = ()  # gauges of the current time
        self._full_pkts = 1.0

    def show_gauges(self, gauges: Sequence[Gauge], full_pkts: float) -> None:
        """Shows these gauges; a bar of full length represents a window of ``full_pkts``."""
        had = len(self.gauges)
        self.gauges = tuple(gauges)
        self._full_pkts = max(full_pkts, 1.0)
        self.setAccessibleDescription("\n".join(f"{each.label}: {_words(each.window)}" for each in gauges[:20]))
        if len(gauges) != had:
            self.updateGeometry()
        self.update()

    # ---- layout ----

    @property
    def _columns(self) -> int:
        return self._columns_in(self.width())

    def _columns_in(self, width: int) -> int:
        return max(1, min(len(self.gauges), width // self._least_width))

    @property
    def _column_width(self) -> int:
        return max(1, min(self.width() // self._columns, max(_MOST_WIDTH, self._least_width)))

    @property
    def _least_width(self) -> int:
        return max(_LEAST_WIDTH, self.fontMetrics().averageCharWidth() * 24)

    @property
    def _row_height(self) -> int:
        return self.fontMetrics().height() + 5

    def heightForWidth(self, width: int) -> int:
        """Returns a height for only a few rows, because the picture needs the space."""
        rows = min(_MOST_ROWS, math.ceil(len(self.gauges) / self._columns_in(width))) if self.gauges else 1
        return rows * self._row_height + 6

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Selects the flow of the clicked gauge, as a click in the legend does."""
        gauge = self._gauge_at(event.position().toPoint())
        if gauge is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(split_owner(gauge.window.owner).name)

    def _gauge_at(self, at: QPoint) -> Gauge | None:
        row, column = (at.y() - _TOP) // self._row_height, min(at.x() // self._column_width, self._columns - 1)
        number = row * self._columns + column
        return self.gauges[number] if row >= 0 and number < len(self._shown()) else None

    def _shown(self) -> tuple[Gauge, ...]:
        room = self._columns * _MOST_ROWS
        return self.gauges if len(self.gauges) <= room else self.gauges[: room - 1]

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns, shown = self._columns, self._shown()
        width = self._column_width
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
        name_width, text_width = self.widths(area.width())
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
            # A triangle at the upper edge of the bar marks ssthresh.
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

    def widths(self, width: int) -> tuple[int, int]:
        """Widths of names and numbers in px, chosen so that both are readable and a bar remains if possible."""
        metrics, shown = self.fontMetrics(), self._shown()
        numbers = max(metrics.horizontalAdvance(text) for text in ("888 pkt", *(_short(each.window) for each in shown)))
        names = max((metrics.horizontalAdvance(each.label) for each in shown), default=0)
        # The colour also shows the state, so the word for the state is truncated rather than a name.
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
    """Full description of a gauge for screen readers."""
    return tr(
        "cwnd {cwnd}, ssthresh {ssthresh}, in flight {inflight}{state}",
        cwnd=fmt.packets(window.cwnd_pkts),
        ssthresh=fmt.packets(window.ssthresh_pkts),
        inflight=fmt.packets(window.inflight_pkts),
        state=f", {tr(_STATES[window.state])}" if window.state in _STATES else "",
    )


DATA, ACK, DATAGRAM = 0, 1, 2  # kinds of packets, as in `subflow_sim.instant`, which is loaded later
_Z = 12.0  # above links, below nodes
# Sizes in scene units, and minimum sizes in pixels.
_DOT, _LEAST_DOT_PX = 4.8, 3.2
_SQUARE = 4.2
_TICK, _TICK_WIDTH, _LEAST_TICK_PX = 4.4, 1.5, 3.6
_HALO = 1.5
_MOST_WITH_EDGES = 600
_REACH = 12.0
_TEXT_ZOOM, _TEXT, _LEAST_TEXT_PX = 0.3, 9.5, 8.5


@dataclass(frozen=True, slots=True)
class _Group:
    """Packets with the same look; `across_x` and `across_y` are unit vectors across the direction of ACKs."""

    kind: int
    colour: QColor
    x: Floats
    y: Floats
    across_x: Floats
    across_y: Floats

    def ticks(self, length: float) -> list[QLineF]:
        """The ACKs as lines of this length."""
        dx, dy = self.across_x * length / 2, self.across_y * length / 2
        columns = ((self.x - dx).tolist(), (self.y - dy).tolist(), (self.x + dx).tolist(), (self.y + dy).tolist())
        return [QLineF(*ends) for ends in zip(*columns, strict=True)]


class PacketItem(QGraphicsItem):
    """Packets in the colours of the plots: data as dots, ACKs as ticks across their direction, datagrams as squares."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: tuple[_Group, ...] = ()
        self._counts: tuple[tuple[QPointF, str], ...] = ()
        self._bounds = QRectF()
        self._tick_length = 0.0
        self._tick_lines: dict[int, list[QLineF]] = {}  # by group
        self.places: PacketPlaces | None = None
        self.setZValue(_Z)

    def show_places(self, places: PacketPlaces | None, colours: Mapping[int, str]) -> None:
        """Shows these packets; None clears them.

        Args:
            places: positions in scene units.
            colours: ``#RRGGBB`` by subflow number.
        """
        self.prepareGeometryChange()
        self.places = places
        self._groups = () if places is None else tuple(_groups(places, colours))
        self._tick_lines = {}
        self._counts = (
            ()
            if places is None
            else tuple((QPointF(mark.x, mark.y), f"{mark.waiting}") for mark in places.queues if mark.waiting > 1)
        )
        self._bounds = _bounds(places)
        self.update()

    def boundingRect(self) -> QRectF:
        """Area of all packets and queue lengths."""
        return self._bounds

    def shape(self) -> QPainterPath:
        """Returns an empty shape, so that clicks reach the links below."""
        return QPainterPath()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws all packets, and queue lengths unless the zoom is too small."""
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        grown = max(1.0, _LEAST_DOT_PX / (_DOT * zoom))
        for number, group in enumerate(self._groups):
            if group.kind == ACK:
                pen = QPen(group.colour, grown * _TICK_WIDTH)
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
                painter.setPen(pen)
                painter.drawLines(self._ticks(number, max(_TICK, _LEAST_TICK_PX / zoom)))
        self._paint_dots(painter, zoom, grown)
        if zoom >= _TEXT_ZOOM:
            painter.setPen(QColor(current_tokens().text))
            font = painter.font()
            size = max(_TEXT, _LEAST_TEXT_PX / zoom)
            font.setPixelSize(round(size))
            painter.setFont(font)
            for at, text in self._counts:
                # Enlarged text starts where text of normal size would, so that it does not cover the queue.
                where = QRectF(at.x() - 0.32 * _TEXT * len(text), at.y() - size, 6 * size, 2 * size)
                painter.drawText(where, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _ticks(self, number: int, length: float) -> list[QLineF]:
        """Ticks of a group, cached for the current zoom."""
        if length != self._tick_length:
            self._tick_length = length
            self._tick_lines = {}
        if number not in self._tick_lines:
            self._tick_lines[number] = self._groups[number].ticks(length)
        return self._tick_lines[number]

    def _paint_dots(self, painter: QPainter, zoom: float, grown: float) -> None:
        """Draws data and datagrams by copying one pixmap per look, which takes half as long as drawing points."""
        way = painter.worldTransform()
        ratio = painter.device().devicePixelRatioF()
        # Edges separate neighbours, but would cover packets that are dense enough to overlap.
        is_sparse = self.places is not None and len(self.places) <= _MOST_WITH_EDGES
        ground = QColor(current_tokens().base).rgba() if is_sparse else 0
        painter.save()
        painter.resetTransform()
        for group in self._groups:
            if group.kind == ACK:
                continue
            stamp = _stamp(group.kind, group.colour.rgba(), ground, round(zoom * grown * 64), ratio)
            half = stamp.width() / ratio / 2
            x = group.x * way.m11() + way.dx() - half
            y = group.y * way.m22() + way.dy() - half
            for left, top in zip(x.tolist(), y.tolist(), strict=True):
                painter.drawPixmap(QPointF(left, top), stamp)
        painter.restore()


@lru_cache(maxsize=256)
def _stamp(kind: int, colour: int, ground: int, scale_64: int, ratio: float) -> QPixmap:
    """Pixmap of a dot or square with its edge; `scale_64` is the zoom in 64ths, `ratio` the device pixel ratio."""
    zoom = scale_64 / 64
    side = math.ceil((_DOT + _HALO) * zoom * ratio) + 2
    picture = QPixmap(side, side)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(side / ratio / 2, side / ratio / 2)
    painter.scale(zoom, zoom)
    for shade, width in ((ground, _HALO), (colour, 0.0)):
        size = (_DOT if kind == DATA else _SQUARE) + width
        pen = QPen(QColor.fromRgba(shade), size)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap if kind == DATA else Qt.PenCapStyle.SquareCap)
        painter.setPen(pen)
        painter.drawPoint(QPointF(0.0, 0.0))
    painter.end()
    return picture


def _groups(places: PacketPlaces, colours: Mapping[int, str]) -> list[_Group]:
    groups = []
    # A combined key of kind and subflow finds the groups in one pass.
    keys = places.subflow.astype(np.int64) * 4 + places.kind
    for key in np.unique(keys).tolist():
        rows = np.flatnonzero(keys == key)
        kind, colour = key % 4, QColor(colours.get(key // 4, "#808080"))
        columns = (places.x, places.y, places.across_x, places.across_y)
        groups.append(_Group(kind, colour, *(column[rows] for column in columns)))
    return groups


def _bounds(places: PacketPlaces | None) -> QRectF:
    if places is None or not len(places):
        return QRectF()
    left, top = float(places.x.min()), float(places.y.min())
    rect = QRectF(left, top, float(places.x.max()) - left, float(places.y.max()) - top)
    # Includes the texts of queue lengths, which are largest at the smallest zoom that shows them.
    height = _LEAST_TEXT_PX / _TEXT_ZOOM
    return rect.adjusted(-_REACH - 20, -_REACH - height, _REACH + 2 * height, _REACH + height)


# If the next state takes longer than this time in ms, the packets of the previous state fade to this opacity.
_STALE_MS, _STALE_OPACITY = 100, 0.25


class CanvasShow(QObject):
    """Draws the state at the time of the playhead on the canvas."""

    def __init__(self, playhead: Playhead, view: TopologyView, plots: PlotView) -> None:
        """Follows the playhead, and draws its current time if one is shown."""
        super().__init__(view)
        self._playhead = playhead
        self._view = view
        self._plots = plots
        self.item: PacketItem | None = None
        self.gauges = Gauges(view)
        view.set_stand_in(self.gauges)
        self.gauges.chosen.connect(lambda flow: view.select(f"flows.{flow}"))
        self._tracks: Mapping[str, Track] | None = None
        self._matching: frozenset[str] | None = None
        self._colours: dict[str, str] | None = None
        self._is_shown = False
        self._stale = timer(self, self._fade, _STALE_MS, is_single=True)
        view.scene.laid_out.connect(self._forget_picture)
        playhead.moved.connect(self._on_moved)
        playhead.arrived.connect(self._on_arrived)
        playhead.left.connect(self._clear)
        playhead.events_changed.connect(self._forget_run)
        follow_theme(self._recolour)
        if playhead.looked_s is not None:
            self._on_moved(playhead.looked_s)

    @property
    def places(self) -> PacketPlaces | None:
        """The drawn packets; None if no packets are drawn."""
        return self.item.places if self.item is not None else None

    @property
    def left_out(self) -> int:
        """Number of packets omitted on links with too many packets."""
        return self.places.left_out if self.places is not None else 0

    def difference(self) -> str:
        """Reason why the picture does not fully follow the run; empty if it does."""
        run = self._playhead.run
        samples = self._playhead.samples
        if run is None or samples is None:
            return ""
        owners = {owner.partition("/")[0] for owner in samples.link_owners}
        missing = sorted(owners - self._matched(run.traces))
        if not missing:
            return ""
        if len(missing) == len(owners):
            return tr("The picture shows a scenario other than that of this run: only plots and events move.")
        return tr(
            "Some links of this run are not in the picture ({links}): only the others move.",
            links=", ".join(missing[:5]) + ("…" if len(missing) > 5 else ""),
        )

    def _recolour(self, _tokens: Tokens) -> None:
        self._colours = None
        if self.item is not None:
            self._draw()

    # ---- drawing ----

    def _on_moved(self, _time_s: float) -> None:
        self._draw_links()
        if self._playhead.preview_s is not None and not self._playhead.is_fast and self.item is not None:
            self.item.setOpacity(_STALE_OPACITY)  # the packets are those of another time
        if self._playhead.instant is None:
            self._draw_gauges()
        elif not self._stale.isActive():
            self._stale.start()

    def _on_arrived(self) -> None:
        self._stale.stop()
        if self.item is not None:
            self.item.setOpacity(1.0)
        self._draw()

    def _fade(self) -> None:
        """Fades the packets, which show an earlier instant."""
        if self.item is not None and self._playhead.is_waiting:
            self.item.setOpacity(_STALE_OPACITY)

    def _draw(self) -> None:
        if self._playhead.looked_s is None:
            return
        self._draw_links()
        self._draw_packets()
        self._draw_gauges()

    def _draw_links(self) -> None:
        run, samples, time_s = self._playhead.run, self._playhead.samples, self._playhead.looked_s
        if run is None or samples is None or time_s is None:
            return
        self._is_shown = True
        instant = self._playhead.instant
        exact = {}
        if instant is not None:
            links = instant.links
            exact = dict(
                zip(links.names, zip(links.queue_pkts.tolist(), links.is_up.tolist(), strict=True), strict=True)
            )
        matched = self._matched(run.traces)
        for sample in samples.links_at(time_s):
            if sample.owner.partition("/")[0] in matched:
                queue_pkts, is_up = exact.get(sample.owner, (sample.queue_pkts, sample.is_up))
                self._view.set_link_state(sample.owner, sample.utilisation, queue_pkts, bool(is_up))

    def _draw_packets(self) -> None:
        instant, run = self._playhead.instant, self._playhead.run
        if instant is None or run is None:
            return
        scene = self._view.scene
        if self.item is None:
            self.item = PacketItem()
            scene.addItem(self.item)
        matched = self._matched(run.traces)
        if self._tracks is None:
            self._tracks = {name: track_of(item) for name, item in scene.link_items().items() if item.curve is not None}
            self._view.set_quiet(bool(matched))
        tracks = {name: track for name, track in self._tracks.items() if name in matched}
        colours = self._subflow_colours(run.traces)
        self.item.show_places(
            packet_places(instant, tracks),
            {number: colours.get(name, "#808080") for number, name in enumerate(instant.subflows.names)},
        )

    def _draw_gauges(self) -> None:
        run, samples, time_s = self._playhead.run, self._playhead.samples, self._playhead.looked_s
        if run is None or samples is None or time_s is None:
            return
        if not self._matched(run.traces):
            # The picture shows a different scenario, whose subflows are not those of the run.
            self._view.show_stand_in(False)
            return
        instant = self._playhead.instant
        if instant is not None:
            now = instant.subflows
            gauges = [
                SubflowGauge(name, state, cwnd, ssthresh, inflight)
                for name, state, cwnd, ssthresh, inflight in zip(
                    now.names,
                    now.state,
                    now.cwnd_pkts.tolist(),
                    now.ssthresh_pkts.tolist(),
                    now.inflight_pkts.tolist(),
                    strict=True,
                )
                if state != "datagrams"
            ]
        else:
            gauges = samples.gauges_at(time_s)
        colours = self._subflow_colours(run.traces)
        owners = [each.owner for each in gauges]
        self.gauges.show_gauges(
            [
                Gauge(_name_of(each.owner, owners, run.traces.labels), colours.get(each.owner, "#808080"), each)
                for each in gauges
            ],
            samples.largest_cwnd_pkts,
        )
        self._view.show_stand_in(bool(gauges))

    def _clear(self) -> None:
        self._stale.stop()
        if self.item is not None:
            self.item.setOpacity(1.0)
            self.item.show_places(None, {})
        self._tracks = None
        self._view.set_quiet(False)
        self._view.show_stand_in(False)
        if self._is_shown:
            self._is_shown = False
            self._view.clear_link_states()

    # ---- cached relation of picture and run ----

    def _forget_picture(self) -> None:
        self._tracks = self._matching = None
        if self._playhead.looked_s is not None:
            self._draw()

    def _forget_run(self) -> None:
        self._matching = self._colours = None

    def _matched(self, traces: Traces) -> frozenset[str]:
        """Links that run and picture share, with the same names and ends."""
        if self._matching is None:
            scenario, samples = self._view.doc.sketch, self._playhead.samples
            drawn = self._view.scene.link_items()
            self._matching = frozenset(
                owner.partition("/")[0]
                for owner in (samples.link_owners if samples is not None else ())
                if scenario is not None
                and owner.partition("/")[0] in drawn
                and traces.labels.get(owner) == owner_label(scenario, owner)
            )
        return self._matching

    def _subflow_colours(self, traces: Traces) -> dict[str, str]:
        """Colours of the subflows in the plots, where users may change them."""
        if self._colours is None:
            is_dark = current_tokens().is_dark
            keys = transport_colours(traces)
            for stack in self._plots.stacks:
                keys |= {
                    key.owner: curve.colour
                    for key, curve in stack.curves.items()
                    if key.run == self._playhead.run_shown and key.owner in keys and "/" in key.owner
                }
            self._colours = {owner: hex_colour(key, dark=is_dark) for owner, key in keys.items()}
        return self._colours


def _name_of(owner: str, owners: Sequence[str], labels: Mapping[str, str]) -> str:
    """Short name of a subflow: the flow or the path if either is unambiguous, else both."""
    flow = owner.partition("/")[0]
    of_flow = sum(each.partition("/")[0] == flow for each in owners)
    if of_flow == 1:
        return labels.get(flow, flow)
    label = labels.get(owner, owner)
    return label.partition(" · ")[2] or label if of_flow == len(owners) else label
