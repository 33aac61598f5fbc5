"""The packets of an instant on the canvas: one item paints them all, because thousands of items could not move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.explain.core.instants import Floats, PacketPlaces
from subflow_app.toolkit.theme import current_tokens

DATA, ACK, DATAGRAM = 0, 1, 2  # as in `Instant`, which is not loaded before there is one
_Z = 12.0  # over links, under nodes
# Sizes in scene units, and no smaller than so many pixels.
_DOT, _LEAST_DOT_PX = 4.8, 3.2
_SQUARE = 4.2
_TICK, _TICK_WIDTH, _LEAST_TICK_PX = 4.4, 1.5, 3.6
_HALO = 1.5
_MOST_WITH_EDGES = 600
_REACH = 12.0
_TEXT_ZOOM, _TEXT, _LEAST_TEXT_PX = 0.3, 9.5, 8.5


@dataclass(frozen=True, slots=True)
class _Group:
    """Packets that look alike: dots and squares at points, ACKs as ticks across their way, of length 1."""

    kind: int
    colour: QColor
    x: Floats
    y: Floats
    across_x: Floats
    across_y: Floats

    def ticks(self, length: float) -> list[QLineF]:
        """Them as lines."""
        dx, dy = self.across_x * length / 2, self.across_y * length / 2
        columns = ((self.x - dx).tolist(), (self.y - dy).tolist(), (self.x + dx).tolist(), (self.y + dy).tolist())
        return [QLineF(*ends) for ends in zip(*columns, strict=True)]


class PacketItem(QGraphicsItem):
    """Data as round dots, ACKs as ticks across their way, datagrams as squares, in the colours of the plots."""

    def __init__(self) -> None:
        """Shows none."""
        super().__init__()
        self._groups: tuple[_Group, ...] = ()
        self._counts: tuple[tuple[QPointF, str], ...] = ()
        self._bounds = QRectF()
        self._tick_length = 0.0
        self._tick_lines: dict[int, list[QLineF]] = {}  # by group
        self.places: PacketPlaces | None = None
        self.setZValue(_Z)

    def show_places(self, places: PacketPlaces | None, colours: Mapping[int, str]) -> None:
        """Shows these packets; None shows none.

        Args:
            places: where they are, scene units.
            colours: ``#RRGGBB`` by number of the subflow.
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
        """Everything that is drawn."""
        return self._bounds

    def shape(self) -> QPainterPath:
        """Nothing: clicks mean the links below."""
        return QPainterPath()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws all of them."""
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
                # Begins where it would at its own size, so that an enlarged one does not cover the queue.
                where = QRectF(at.x() - 0.32 * _TEXT * len(text), at.y() - size, 6 * size, 2 * size)
                painter.drawText(where, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _ticks(self, number: int, length: float) -> list[QLineF]:
        """Of a group; they are made once for every zoom."""
        if length != self._tick_length:
            self._tick_length = length
            self._tick_lines = {}
        if number not in self._tick_lines:
            self._tick_lines[number] = self._groups[number].ticks(length)
        return self._tick_lines[number]

    def _paint_dots(self, painter: QPainter, zoom: float, grown: float) -> None:
        """Stamps data and datagrams: each kind is painted once and copied, which takes half as long as points."""
        way = painter.worldTransform()
        ratio = painter.device().devicePixelRatioF()
        # Edges tell neighbours apart; where packets are so dense that they overlap, edges would cover them.
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
    """A dot or a square with its edge, at a zoom (in 64ths) and for a screen of so many pixels per unit."""
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
    # One number for kind and subflow, so that one pass finds the groups.
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
    # With room for the number of a queue, enlarged as in the least zoom that has numbers.
    height = _LEAST_TEXT_PX / _TEXT_ZOOM
    return rect.adjusted(-_REACH - 20, -_REACH - height, _REACH + 2 * height, _REACH + height)
