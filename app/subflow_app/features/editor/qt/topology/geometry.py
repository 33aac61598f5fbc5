"""Geometry of a link: its curve, the lanes along it, and the candidate positions of its label.

All values are in scene coordinates with y down. Curves are lists of points, because lanes, hit tests, arrow heads and
labels need points along the curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QPainterPath

PARALLEL_SPACING = 92.0
"""Distance between neighbouring parallel links at their middle: room for a label."""

_CURVE_POINTS = 33
_RANK_COST = 20.0
_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)
_FURTHER = (26.0, 54.0)


@dataclass(frozen=True, slots=True)
class LinkCurve:
    """The centre line of a link.

    Attributes:
        points: points from the first end to the second.
        normals: unit vector at each point, to the left of the direction.
        bulge: side of the straight line on which the curve lies, along `normals`: 1 or -1; 0 for a straight link.
        bounds: smallest upright rectangle around the points.
        corners: x and y of the points, as plain numbers.
    """

    points: tuple[QPointF, ...]
    normals: tuple[QPointF, ...]
    bulge: int
    bounds: QRectF
    corners: tuple[tuple[float, float], ...]

    def at(self, share: float) -> tuple[QPointF, QPointF]:
        """Return the point and the normal at a fraction (0..1) of the curve."""
        position = min(max(share, 0.0), 1.0) * (len(self.points) - 1)
        index = min(int(position), len(self.points) - 2)
        rest = position - index
        point = self.points[index] * (1 - rest) + self.points[index + 1] * rest
        normal = self.normals[index] * (1 - rest) + self.normals[index + 1] * rest
        return point, _unit(normal)

    def path(self, offset: float = 0.0) -> QPainterPath:
        """Return the curve shifted sideways by `offset`, positive to the left of its direction."""
        path = QPainterPath(self.points[0] + self.normals[0] * offset)
        for point, normal in zip(self.points[1:], self.normals[1:], strict=True):
            path.lineTo(point + normal * offset)
        return path

    def point_at_distance(self, distance: float, offset: float, *, from_end: bool) -> tuple[QPointF, QPointF]:
        """Return the point of the shifted curve at `distance` from an end node's centre, and the direction there.

        The direction always points from the first end to the second.
        """
        centre = self.points[-1] if from_end else self.points[0]
        order = range(len(self.points) - 1, 0, -1) if from_end else range(len(self.points) - 1)
        step = -1 if from_end else 1
        for index in order:
            inner = self.points[index] + self.normals[index] * offset
            outer = self.points[index + step] + self.normals[index + step] * offset
            if _length(outer - centre) >= distance:
                direction = (outer - inner) * step
                return inner + (outer - inner) * _leaves_circle(inner - centre, outer - centre, distance), _unit(
                    direction
                )
        normal = self.normals[0]
        return centre, QPointF(-normal.y(), normal.x())


def link_curve(first: QPointF, second: QPointF, bow: float) -> LinkCurve:
    """Build the curve of a link.

    Args:
        first: centre of the node at the first end.
        second: centre of the node at the second end.
        bow: position among parallel links, see `PictureLink.bow`; positive bends up, or right for a vertical link.
    """
    along = second - first
    direction = _unit(along)
    normal = QPointF(direction.y(), -direction.x())
    # A cubic curve with both handles at this height reaches three quarters of it in the middle.
    height = bow * PARALLEL_SPACING / 0.75 * (1 if _is_upward(normal) else -1)
    if height == 0 or _length(along) == 0:
        ends = (first.x(), first.y()), (second.x(), second.y())
        return LinkCurve((first, second), (normal, normal), 0, QRectF(first, second).normalized(), ends)
    handle_1 = first + along * 0.22 + normal * height
    handle_2 = first + along * 0.78 + normal * height
    points: list[QPointF] = []
    normals: list[QPointF] = []
    for index in range(_CURVE_POINTS):
        t = index / (_CURVE_POINTS - 1)
        u = 1 - t
        points.append(first * u**3 + handle_1 * (3 * u * u * t) + handle_2 * (3 * u * t * t) + second * t**3)
        way = (handle_1 - first) * (u * u) + (handle_2 - handle_1) * (2 * u * t) + (second - handle_2) * (t * t)
        way = _unit(way)
        normals.append(QPointF(way.y(), -way.x()))
    xs, ys = [point.x() for point in points], [point.y() for point in points]
    bounds = QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys)))
    return LinkCurve(tuple(points), tuple(normals), 1 if height > 0 else -1, bounds, tuple(zip(xs, ys, strict=True)))


def label_places(curve: LinkCurve, half_width: float, size: QSizeF) -> Iterator[QRectF]:
    """Yield candidate rectangles next to the curve for a label of this size, the best first.

    Args:
        curve: centre line of the link.
        half_width: half the width of the drawn link, including the gap to the label.
        size: size of the label.
    """
    ways = {share: curve.at(share) for share in _SHARES}
    normal = ways[0.5][1]
    # Prefer the outside of a bow. For a straight link, prefer the place above it, or to its right if it is vertical.
    best_side = curve.bulge or (1 if _is_upward(normal) else -1)

    def place(share: float, side: int, gap: float) -> QRectF:
        point, normal = ways[share]
        # Half extent of the label towards the line, so that it also clears a slanted line.
        reach = abs(normal.x()) * size.width() / 2 + abs(normal.y()) * size.height() / 2
        centre = point + normal * (side * (gap + reach))
        return QRectF(centre.x() - size.width() / 2, centre.y() - size.height() / 2, size.width(), size.height())

    # A place away from the middle is better than one on the other side. Long labels of short links may only fit
    # further away, past the nodes.
    for side in (best_side, -best_side):
        for share in _SHARES:
            yield place(share, side, half_width)
    for far in _FURTHER:
        for side in (best_side, -best_side):
            for share in _SHARES[:3]:
                yield place(share, side, half_width + far)


def choose_place(
    places: Iterable[QRectF], obstacles: Sequence[QRectF], lines: Sequence[LinkCurve], *, is_free_only: bool = False
) -> tuple[QRectF, bool]:
    """Return the place where a label covers the least of the drawing, and whether it covers nothing there.

    Covering labels and nodes costs more than covering lines.

    Args:
        places: candidate places, the best first.
        obstacles: other labels and nodes.
        lines: curves of the links.
        is_free_only: whether to accept only a place where nothing is covered. The rectangle is empty if no place is
            free.
    """
    places = list(places)
    area = QRectF()
    for place in places:
        area = area.united(place)
    # In a large network, most obstacles are far from all places, so they are filtered once instead of once per place.
    obstacles = [obstacle for obstacle in obstacles if area.intersects(obstacle)]
    # The bounds of a horizontal line have a height of 0 and would not intersect anything.
    lines = [line for line in lines if area.intersects(line.bounds.adjusted(-1, -1, 1, 1))]
    best, best_cost = QRectF(), 0.0 if is_free_only else math.inf
    for rank, place in enumerate(places):
        # Adding stops once the cost exceeds that of the best place. In a crowded picture, most places fail at the first
        # obstacle.
        covered = 0.0
        most = best_cost - rank * _RANK_COST
        for obstacle in obstacles:
            if place.intersects(obstacle):
                overlap = place.intersected(obstacle)
                covered += 300.0 + overlap.width() * overlap.height()
                if covered >= most:
                    break
        else:
            for line in lines:
                if crosses(line, place):
                    covered += 250.0
                    if covered >= most:
                        break
        if covered == 0:
            return place, True
        if covered < most:
            best, best_cost = place, covered + rank * _RANK_COST
    return best, False


def crosses(curve: LinkCurve, rect: QRectF) -> bool:
    """True if a curve crosses a rectangle."""
    left, top, right, bottom = rect.left(), rect.top(), rect.right(), rect.bottom()
    bounds = curve.bounds
    # Written out because QRectF.intersects returns False for a curve without height, such as a horizontal line.
    if bounds.left() > right or bounds.right() < left or bounds.top() > bottom or bounds.bottom() < top:
        return False
    # Plain numbers for speed: fitting a picture calls this thousands of times.
    ways = iter(curve.corners)
    x, y = next(ways)
    for to_x, to_y in ways:
        # A segment entirely on one side of the rectangle cannot cross it.
        is_aside = max(x, to_x) < left or min(x, to_x) > right or max(y, to_y) < top or min(y, to_y) > bottom
        if not is_aside and _meets(x - left, y - top, to_x - x, to_y - y, right - left, bottom - top):
            return True
        x, y = to_x, to_y
    return False


def _meets(x: float, y: float, dx: float, dy: float, width: float, height: float) -> bool:
    """Clip a segment against a rectangle at the origin; True if a part remains. Source: Liang and Barsky 1984."""
    start, end = 0.0, 1.0
    for at, delta, size in ((x, dx, width), (y, dy, height)):
        if delta == 0:
            if not 0 <= at <= size:
                return False
            continue
        enter, leave = -at / delta, (size - at) / delta
        start, end = max(start, min(enter, leave)), min(end, max(enter, leave))
        if start > end:
            return False
    return True


def _leaves_circle(inner: QPointF, outer: QPointF, radius: float) -> float:
    """Return the fraction from `inner` to `outer` at which the distance from the origin exceeds the radius."""
    way = outer - inner
    a = QPointF.dotProduct(way, way)
    b = 2 * QPointF.dotProduct(inner, way)
    c = QPointF.dotProduct(inner, inner) - radius * radius
    discriminant = b * b - 4 * a * c
    if a == 0 or discriminant < 0:
        return 0.0
    return min(max((-b + math.sqrt(discriminant)) / (2 * a), 0.0), 1.0)


def _is_upward(normal: QPointF) -> bool:
    """True if a normal points up on the screen, or right if it is horizontal."""
    return normal.y() < -1e-6 or (abs(normal.y()) <= 1e-6 and normal.x() > 0)


def _length(vector: QPointF) -> float:
    return math.hypot(vector.x(), vector.y())


def _unit(vector: QPointF) -> QPointF:
    length = _length(vector)
    return vector / length if length else QPointF(1.0, 0.0)
