"""Items of the canvas: nodes, links with their subflows, previews of new parts and paths, and their look.

Items only draw themselves; the canvas interprets clicks and drags. All drawing is vector drawing in scene units, so it
is crisp at every zoom and screen scale. Labels are in a separate module.

The ghost of a new part and the rubber line are visible only during a gesture. Ribbons over the links show paths that
the scenario does not contain yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPainterPathStroker, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.editor.core.topology import Hop, PictureLink
from subflow_app.features.editor.qt.topology.geometry import LinkCurve
from subflow_app.toolkit.theme import Tokens


@dataclass(slots=True)
class Look:
    """Appearance of all items: the colours of the theme and the fonts of the desktop."""

    tokens: Tokens
    font: QFont
    bold: QFont
    small: QFont

    @classmethod
    def of(cls, tokens: Tokens, font: QFont) -> Look:
        """Derive the canvas fonts from the application's font."""
        size = font.pointSizeF() if font.pointSizeF() > 0 else 9.0
        base, bold, small = QFont(font), QFont(font), QFont(font)
        base.setPointSizeF(size)
        bold.setPointSizeF(size)
        bold.setWeight(QFont.Weight.DemiBold)
        small.setPointSizeF(max(size * 0.9, 7.0))
        for each in (base, bold, small):
            # During zooming, glyphs are drawn at fractions of a pixel; hinting would make them jump.
            each.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        return cls(tokens, base, bold, small)


def blend(first: str, second: str, share: float) -> QColor:
    """Return the first colour mixed with a fraction (0..1) of the second."""
    a, b = QColor(first), QColor(second)
    return QColor.fromRgbF(
        a.redF() + (b.redF() - a.redF()) * share,
        a.greenF() + (b.greenF() - a.greenF()) * share,
        a.blueF() + (b.blueF() - a.blueF()) * share,
    )


def paint_clock(painter: QPainter, centre: QPointF, radius: float, tokens: Tokens) -> None:
    """Draw a small clock face, the symbol for timed events."""
    painter.setPen(QPen(QColor(tokens.warning), radius * 0.17))
    painter.setBrush(QColor(tokens.warning_fill))
    painter.drawEllipse(centre, radius, radius)
    cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    painter.setPen(QPen(QColor(tokens.warning), radius * 0.19, Qt.PenStyle.SolidLine, cap, join))
    hands = [QPointF(0, -0.58) * radius, QPointF(0, 0), QPointF(0.42, 0.26) * radius]
    painter.drawPolyline(QPolygonF([centre + hand for hand in hands]))


NODE_RADIUS = 26.0
LANE_PITCH = 5.5
_CORNER = 9.0
_MOST_LANE_WIDTH = 44.0
_NAME_ZOOM = 0.18
_DETAIL_ZOOM = 0.35
_LEAST_NAME_ZOOM = 0.9
_MOST_NAME_SCALE = 5.0
_UTILISATION_STEPS = 24


class CanvasItem(QGraphicsItem):
    """An item with a dotted key (`nodes.client`) that reacts to selection and hovering.

    Attributes:
        key: key of the part of the scenario that the item shows.
        look: colours and fonts.
        companion: item that is highlighted together with this one, such as the label of a link.
    """

    def __init__(self, key: str, look: Look) -> None:
        super().__init__()
        self.key = key
        self.look = look
        self.companion: CanvasItem | None = None
        self.is_chosen = False
        self._is_hovered = False
        self.setAcceptHoverEvents(True)

    def set_chosen(self, chosen: bool) -> None:
        """Draw the item as selected or not."""
        if chosen != self.is_chosen:
            self.is_chosen = chosen
            self.update()

    def set_look(self, look: Look) -> None:
        """Change the colours and fonts."""
        self.prepareGeometryChange()
        self.look = look
        self.update()

    def set_hovered(self, hovered: bool) -> None:
        """Draw the item as hovered or not."""
        if hovered != self._is_hovered:
            self._is_hovered = hovered
            self.update()

    def hoverEnterEvent(self, _event: object) -> None:
        """Highlight the item and its companion under the mouse."""
        self._point(True)

    def hoverLeaveEvent(self, _event: object) -> None:
        """Remove the highlight."""
        self._point(False)

    def _point(self, hovered: bool) -> None:
        self.set_hovered(hovered)
        if self.companion is not None:
            self.companion.set_hovered(hovered)


class NodeItem(CanvasItem):
    """A host (rounded square with a screen) or a router (circle with crossing arrows), with its name below."""

    def __init__(self, name: str, *, is_router: bool, look: Look) -> None:
        super().__init__(f"nodes.{name}", look)
        self.name = name
        self.is_router = is_router
        self.is_one_of_many = False
        self._name_size = QSizeF()
        self._bounds = QRectF()
        self._measure()
        self.setZValue(20)

    def outline(self) -> QPainterPath:
        """Return the outline at which links end."""
        path = QPainterPath()
        r = NODE_RADIUS
        if self.is_router:
            path.addEllipse(QPointF(0, 0), r, r)
        else:
            path.addRoundedRect(QRectF(-r, -r, 2 * r, 2 * r), _CORNER, _CORNER)
        return path

    def name_rect(self, scale: float = 1.0) -> QRectF:
        """Return the rectangle of the name, enlarged by a scale."""
        width = self._name_size.width() * scale
        return QRectF(-width / 2, NODE_RADIUS + 5, width, self._name_size.height() * scale)

    def set_look(self, look: Look) -> None:
        """Change the colours and fonts, and measure the name again."""
        super().set_look(look)
        self._measure()

    def _measure(self) -> None:
        metrics = QFontMetricsF(self.look.bold)
        self._name_size = QSizeF(metrics.horizontalAdvance(self.name) + 10, metrics.height() + 2)
        self._bounds = QRectF(-38, -38, 76, 76).united(self.name_rect(_MOST_NAME_SCALE))

    def boundingRect(self) -> QRectF:
        """Return the bounds of the drawing, including the glow of a selected node and the largest name."""
        return self._bounds

    def shape(self) -> QPainterPath:
        """Return the clickable area: the symbol and the name."""
        path = self.outline()
        path.addRect(self.name_rect())
        return path

    def obstacle(self, zoom: float) -> QRectF:
        """Return the rectangle that labels avoid at a zoom, in scene units."""
        r = NODE_RADIUS + 4
        return QRectF(-r, -r, 2 * r, 2 * r).united(self.name_rect(_name_scale(zoom))).translated(self.pos())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the node. At low zoom in a large picture, it is only a small symbol unless selected or hovered."""
        tokens = self.look.tokens
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        is_plain = not (self.is_chosen or self._is_hovered)
        if is_plain and self.is_one_of_many and zoom < _DETAIL_ZOOM:
            self._paint_from_afar(painter)
            return
        outline = self.outline()
        painter.setPen(Qt.PenStyle.NoPen)
        if not is_plain:
            glow = QColor(tokens.accent)
            glow.setAlpha(70 if self.is_chosen else 32)
            painter.setPen(QPen(glow, 9))
            painter.drawPath(outline)
            painter.setPen(Qt.PenStyle.NoPen)
        painter.fillPath(outline.translated(0, 1.8), QColor(tokens.shadow))
        border = QColor(tokens.accent if self.is_chosen else tokens.node_border)
        painter.setPen(QPen(border, 2.2 if self.is_chosen else 1.6))
        painter.setBrush(QColor(tokens.node_fill))
        painter.drawPath(outline)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        self._paint_glyph(painter, QColor(tokens.accent if self.is_chosen else tokens.node_border))
        if zoom >= _NAME_ZOOM or self.is_chosen or self._is_hovered:
            self._paint_name(painter, _name_scale(zoom))

    def _paint_from_afar(self, painter: QPainter) -> None:
        """Draw the node at low zoom in a large picture: a symbol a few pixels wide, without the name."""
        painter.setPen(QPen(QColor(self.look.tokens.node_border), 5.0))
        painter.setBrush(QColor(self.look.tokens.node_fill))
        if self.is_router:
            painter.drawEllipse(QPointF(0, 0), NODE_RADIUS, NODE_RADIUS)
        else:
            painter.drawRect(QRectF(-NODE_RADIUS, -NODE_RADIUS, 2 * NODE_RADIUS, 2 * NODE_RADIUS))

    def _paint_name(self, painter: QPainter, scale: float) -> None:
        """Draw the name; at low zoom, its font shrinks less than the picture, so that it can still be read."""
        tokens = self.look.tokens
        rect = self.name_rect()
        ground = QColor(tokens.base)
        ground.setAlpha(215)
        painter.save()
        painter.translate(0, self.name_rect(scale).top() - rect.top() * scale)
        painter.scale(scale, scale)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(rect, 4, 4)
        painter.setFont(self.look.bold)
        painter.setPen(QColor(tokens.text))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.name)
        painter.restore()

    def _paint_glyph(self, painter: QPainter, colour: QColor) -> None:
        pen = QPen(colour, 1.9, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        if not self.is_router:
            # A screen on a stand.
            painter.drawRoundedRect(QRectF(-13, -12, 26, 17), 2.5, 2.5)
            painter.drawLine(QPointF(0, 5), QPointF(0, 11))
            painter.drawLine(QPointF(-7, 11.5), QPointF(7, 11.5))
            return
        # Two arrows out, two arrows in: the usual symbol of a router.
        for angle in (0, 90, 180, 270):
            painter.save()
            painter.rotate(angle + 45)
            painter.drawLine(QPointF(4.5, 0), QPointF(16, 0))
            tip, back = (16.0, 11.5) if angle in (0, 180) else (4.5, 9.0)
            painter.drawPolyline(QPolygonF([QPointF(back, -4), QPointF(tip, 0), QPointF(back, 4)]))
            painter.restore()


def _name_scale(zoom: float) -> float:
    """Return the factor by which names are enlarged at this zoom level."""
    return min(max(_LEAST_NAME_ZOOM / zoom, 1.0), _MOST_NAME_SCALE)


def node_reach(x: float, y: float, *, is_router: bool) -> float:
    """Return the distance from a node's centre to its outline in the direction (x, y), a unit vector."""
    if is_router:
        return NODE_RADIUS
    # A square with rounded corners.
    return min(NODE_RADIUS / max(abs(x), abs(y), 1e-9), NODE_RADIUS * math.sqrt(2) - _CORNER * (math.sqrt(2) - 1))


@dataclass(frozen=True, slots=True)
class Lane:
    """A subflow's lane on a link.

    Attributes:
        owner: `SubflowPath.owner`, e.g. `download/1`.
        colour: colour as text, e.g. `#1f77b4`.
        forward: whether data crosses the link from its first to its second end.
        is_dashed: whether to draw a dashed lane, as for cbr and onoff flows.
        is_closed: whether the subflow is closed at the start of the run.
        ends_here: whether the link is the last of the path, so that the lane has an arrow head.
    """

    owner: str
    colour: str
    forward: bool
    is_dashed: bool
    is_closed: bool
    ends_here: bool


@dataclass(slots=True)
class _Live:
    """State of one direction of a link during a run; utilisation and fill level of the queue are fractions (0..1)."""

    utilisation: float = 0.0
    queue_share: float = 0.0
    is_up: bool = True


class LinkItem(CanvasItem):
    """A link: a thin line without subflows, otherwise a pipe with a coloured lane for each subflow."""

    def __init__(self, name: str, look: Look) -> None:
        super().__init__(f"links.{name}", look)
        self.name = name
        self.curve: LinkCurve | None = None
        self._lanes: tuple[Lane, ...] = ()
        self.router_ends = (False, False)  # whether the first and the second end are routers
        self._is_down = False
        self._is_quiet = False
        self._dimmed_except: frozenset[str] | None = None
        self._live: dict[str, _Live] = {}
        self._live_step: tuple[int, bool] | None = None
        self._bounds = QRectF()
        self._shape = QPainterPath()
        self._middle = QPainterPath()
        self._lane_paths: list[tuple[Lane, QPainterPath, QPolygonF | None]] = []
        self.setZValue(5)

    @property
    def half_width(self) -> float:
        """Half the drawn width, in scene units."""
        return self._width() / 2

    @property
    def lane_count(self) -> int:
        """Number of subflow paths across the link."""
        return len(self._lanes)

    @property
    def lane_offsets(self) -> dict[str, float]:
        """Offset of each subflow's lane to the left of the centre line, by owner, in scene units."""
        pitch, middle = self._pitch(), (len(self._lanes) - 1) / 2
        return {lane.owner: (middle - index) * pitch for index, lane in enumerate(self._lanes)}

    def set_quiet(self, is_quiet: bool) -> None:
        """Draw the lanes faintly, so that the packets on them stand out."""
        if is_quiet != self._is_quiet:
            self._is_quiet = is_quiet
            self.update()

    def set_content(self, item: PictureLink, lanes: Sequence[Lane], router_ends: tuple[bool, bool]) -> None:
        """Set the subflows, the initial state, and which ends are routers."""
        self.router_ends = router_ends
        self._lanes = tuple(lanes)
        self._is_down = item.initially_down
        self.set_curve(self.curve)

    def set_curve(self, curve: LinkCurve | None) -> None:
        """Set the curve, and compute the clickable area and the lanes along the curve."""
        self.prepareGeometryChange()
        self.curve = curve
        self._lane_paths = []
        if curve is None:
            return
        self._middle = curve.path()
        stroker = QPainterPathStroker()
        stroker.setWidth(max(self._width() + 6, 16))
        self._shape = stroker.createStroke(self._middle)
        self._bounds = curve.bounds.adjusted(-40, -40, 40, 40)
        pitch = self._pitch()
        for index, lane in enumerate(self._lanes):
            offset = ((len(self._lanes) - 1) / 2 - index) * pitch
            head = self._arrow_head(curve, lane, offset, pitch) if lane.ends_here else None
            self._lane_paths.append((lane, curve.path(offset), head))

    def dim_except(self, owners: frozenset[str] | None) -> None:
        """Fade all lanes except those of these owners; None shows all."""
        if owners != self._dimmed_except:
            self._dimmed_except = owners
            self.update()

    def set_live(self, direction: str, utilisation: float, queue_share: float, is_up: bool) -> bool:
        """Set the state of a direction; returns True if the drawing changes, which happens in coarse steps only."""
        self._live[direction] = _Live(utilisation, queue_share, is_up)
        step = (
            round(max(live.utilisation for live in self._live.values()) * _UTILISATION_STEPS),
            all(live.is_up for live in self._live.values()),
        )
        if step == self._live_step:
            return False
        self._live_step = step
        self.update()
        return True

    def clear_live(self) -> None:
        """Discard the state set during a run."""
        self._live.clear()
        self._live_step = None
        self.update()

    @property
    def queue_share(self) -> float | None:
        """Fill level (0..1) of the fuller of the two queues during a run, otherwise None."""
        return max(live.queue_share for live in self._live.values()) if self._live else None

    def boundingRect(self) -> QRectF:
        """Return the bounds, with a margin for glow, lanes and arrow heads."""
        return self._bounds

    def shape(self) -> QPainterPath:
        """Return the clickable area: the line with a margin."""
        return self._shape

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the glow, then a line, or a pipe with its lanes."""
        if self.curve is None:
            return
        tokens = self.look.tokens
        width = self._width()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.is_chosen or self._is_hovered:
            glow = QColor(tokens.accent)
            glow.setAlpha(64 if self.is_chosen else 30)
            painter.setPen(self._pen(glow, width + 9))
            painter.drawPath(self._middle)
        is_down = self._is_down if self._live_step is None else not self._live_step[1]
        edge = QColor(tokens.error if is_down else tokens.accent if self.is_chosen else tokens.link_line)
        if not self._lanes:
            painter.setPen(self._pen(edge, 2.4, dashed=is_down))
            painter.drawPath(self._middle)
            return
        painter.setPen(self._pen(edge, width, dashed=is_down))
        painter.drawPath(self._middle)
        painter.setPen(self._pen(self._fill(), width - (3.2 if self.is_chosen else 2.2)))
        painter.drawPath(self._middle)
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        self._paint_lanes(painter, zoom, is_down=is_down)

    def _paint_lanes(self, painter: QPainter, zoom: float, *, is_down: bool) -> None:
        # At low zoom, lanes widen into the gaps between them, to be thick enough to show their colours.
        lane_width = max(self._pitch() * 0.64, min(2.0 / zoom, self._width() / max(len(self._lanes), 1)))
        for lane, path, head in self._lane_paths:
            colour = QColor(lane.colour)
            faded = self._dimmed_except is not None and lane.owner not in self._dimmed_except
            colour.setAlphaF(0.18 if faded else 0.35 if is_down or lane.is_closed or self._is_quiet else 1.0)
            painter.setPen(self._pen(colour, lane_width, dashed=lane.is_dashed))
            painter.drawPath(path)
            if head is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colour)
                painter.drawPolygon(head)
                painter.setBrush(Qt.BrushStyle.NoBrush)

    def _fill(self) -> QColor:
        """Return the colour of the pipe: a grey whose contrast to the background grows with utilisation."""
        tokens = self.look.tokens
        if self._live_step is None:
            return blend(tokens.base, tokens.link_line, 0.12)
        return blend(tokens.base, tokens.link_line, 0.08 + 0.52 * self._live_step[0] / _UTILISATION_STEPS)

    def _arrow_head(self, curve: LinkCurve, lane: Lane, offset: float, pitch: float) -> QPolygonF:
        """Return the arrow head where the data arrives, just outside the node."""
        way = curve.normals[-1 if lane.forward else 0]
        reach = node_reach(way.y(), way.x(), is_router=self.router_ends[1 if lane.forward else 0])
        tip, way = curve.point_at_distance(reach + 3, offset, from_end=lane.forward)
        if not lane.forward:
            way = -way
        side = QPointF(-way.y(), way.x())
        # Arrow heads next to each other must fit into their lanes.
        alone = sum(1 for each in self._lanes if each.ends_here and each.forward == lane.forward) == 1
        size = max(pitch * (1.1 if alone else 0.6), 2.0)
        back = tip - way * (size * 1.9)
        return QPolygonF([tip, back + side * size, back - side * size])

    def _pen(self, colour: QColor, width: float, *, dashed: bool = False) -> QPen:
        pen = QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.RoundJoin)
        if dashed:
            # In units of the pen's width, so that thick and thin lines have dashes of similar length.
            pen.setDashPattern([9 / width, 5 / width])
        return pen

    def _pitch(self) -> float:
        return min(LANE_PITCH, _MOST_LANE_WIDTH / max(len(self._lanes), 1))

    def _width(self) -> float:
        return len(self._lanes) * self._pitch() + 5.0 if self._lanes else 2.4


_TOP_Z = 60.0


class GhostItem(QGraphicsItem):
    """Outline of a new part at the position where it would be added."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setZValue(_TOP_Z)

    def boundingRect(self) -> QRectF:
        """Return the bounds of a node with its border."""
        reach = NODE_RADIUS + 2
        return QRectF(-reach, -reach, 2 * reach, 2 * reach)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw a dashed square the size of a node."""
        colour = QColor(self._look.tokens.accent)
        painter.setPen(QPen(colour, 2, Qt.PenStyle.DashLine))
        colour.setAlpha(40)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(-NODE_RADIUS, -NODE_RADIUS, 2 * NODE_RADIUS, 2 * NODE_RADIUS), 9, 9)


class RubberLineItem(QGraphicsItem):
    """The line from a node to the mouse: dashed until the mouse reaches another node."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._line = QLineF()
        self._is_joined = False
        # Below the nodes, so that the line emerges from them; the line ignores the mouse.
        self.setZValue(15)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def set_ends(self, start: QPointF, end: QPointF, *, is_joined: bool) -> None:
        """Set the ends of the line, in scene coordinates; a joined line is solid."""
        self.prepareGeometryChange()
        self._line = QLineF(start, end)
        self._is_joined = is_joined

    def boundingRect(self) -> QRectF:
        """Return the bounds of the line and of the dot at its end."""
        return QRectF(self._line.p1(), self._line.p2()).normalized().adjusted(-8, -8, 8, 8)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the line, with a dot at the end that follows the mouse."""
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
    """A path as drawn: its colour, its links, and whether it is chosen."""

    colour: str
    hops: tuple[Hop, ...]
    is_wanted: bool


class PreviewItem(QGraphicsItem):
    """All ribbons, side by side on shared links; chosen ribbons are broad, the others thin and dashed."""

    def __init__(self) -> None:
        super().__init__()
        self._strokes: list[tuple[QPainterPath, QPen]] = []
        self._bounds = QRectF()
        # Above the links with their lanes, below the nodes; clicks pass through to the links.
        self.setZValue(12)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def shape(self) -> QPainterPath:
        """Return an empty area, so that clicks and hovering reach the link below."""
        return QPainterPath()

    def show_ribbons(self, ribbons: Sequence[Ribbon], curves: Mapping[str, LinkCurve]) -> None:
        """Draw ribbons along the curves of their links."""
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
        """Return the bounds of all ribbons."""
        return self._bounds

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the strokes that `show_ribbons` has prepared."""
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
