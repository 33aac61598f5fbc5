"""Finding room for the labels of links: all at once in small pictures, those in view as they come in large ones.

Looking for the best place of a label compares it with everything around it. In a picture of 700 links that is minutes
of work for labels of which a screen shows a few dozen, so large pictures place only what is in view, and none at all
where labels would cover most of the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF

from subflow_app.features.editor.qt.topology.geometry import LinkCurve, choose_place, label_places
from subflow_app.features.editor.qt.topology.items import LinkItem, NodeItem
from subflow_app.features.editor.qt.topology.label_item import Detail, LabelItem, label_scale

_GAP = 7.0
_FEW_LINKS = 60
_MOST_COVERED = 0.45  # of the picture by labels
_REACH = 60.0  # of a label from its link, besides its own size
_Box = tuple[float, float, float, float]


class LabelRoom:
    """Places the labels of one scene.

    Args:
        nodes: of the scene, as they are now and will be.
        links: likewise.
        labels: likewise, by the names of the links.
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
        self.is_paused = False  # whether labels wait to be placed for another zoom
        self.within: QRectF | None = None  # where labels shall stand in a small picture; None: anywhere
        self.is_quiet = False  # packets move on the links: enlarged labels would cover them

    @property
    def is_large(self) -> bool:
        """Whether there are so many labels that they are placed as they come into view."""
        return len(self._labels) > _FEW_LINKS

    def pause(self) -> None:
        """Place nothing that comes into view until labels are placed for another zoom."""
        self.is_paused = True

    def place(self, names: Iterable[str], zoom: float) -> None:
        """Find room for labels, one after the other; those that are not named stay where they are."""
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
        """Place what waits and is in view now."""
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
        # Links that subflows take come first: where room is scarce, theirs are the labels to see.
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
        """Return where a label may come to stand."""
        size = label.size_as(Detail.FULL, label_scale(self._zoom))
        reach_x, reach_y = size.width() + link.half_width + _REACH, size.height() + link.half_width + _REACH
        left, top, right, bottom = self._bounds(link.name)
        return (left - reach_x, top - reach_y, right + reach_x, bottom + reach_y)

    def _find_room(
        self, link: LinkItem, label: LabelItem, obstacles: Sequence[QRectF], curves: Sequence[LinkCurve]
    ) -> QRectF | None:
        """Place a label, saying as much as fits; returns what it covers, None if it found no room.

        Queue and loss are left out first, then rate and delay, then the name.
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
            # Saying less than everything, it must not cover anything.
            place, is_free = choose_place(places, obstacles, curves, is_free_only=detail is not Detail.FULL)
            is_free = is_free and (self.within is None or self.is_large or self.within.contains(place))
            first = first or place
            if is_free:
                break
        else:
            # At full size a label may cover something rather than be missing; seen from afar it would cover too much.
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
