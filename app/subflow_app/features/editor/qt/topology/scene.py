"""The scene of a topology: items built and updated from a picture, and their selection."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QTransform
from PySide6.QtWidgets import QGraphicsScene

from subflow_app.features.editor.core.topology import Hop, PictureLink, SubflowPath, TopologyPicture
from subflow_app.features.editor.qt.topology.geometry import link_curve
from subflow_app.features.editor.qt.topology.items import (
    NODE_RADIUS,
    CanvasItem,
    Lane,
    LinkItem,
    Look,
    NodeItem,
    PreviewItem,
    Ribbon,
)
from subflow_app.features.editor.qt.topology.labels import (
    LabelItem,
    LabelRoom,
    NoteItem,
    describe_link,
    label_scale,
    link_caption,
)
from subflow_app.toolkit.widgets.shorthand import as_written, timer
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import hex_colour
from subflow_sim.scenario import Note

_MARGIN = 4000.0
_MANY_NODES = 60
_ROOM = 120.0
_MOST_LABELLED_ANEW = 60
_REST_MS = 80  # ms after the last step of the wheel; then zooming counts as ended
_ItemT = TypeVar("_ItemT", NodeItem, LinkItem, LabelItem, NoteItem)


class TopologyScene(QGraphicsScene):
    """Nodes, links, labels and notes, identified by dotted keys (`nodes.client`, `links.wifi`)."""

    chosen_changed = Signal()
    laid_out = Signal()  # nodes were added, removed or moved

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = look  # current colours and fonts
        self.picture: TopologyPicture | None = None  # the shown picture; None for an empty scene
        self._nodes: dict[str, NodeItem] = {}
        self._links: dict[str, LinkItem] = {}
        self._labels: dict[str, LabelItem] = {}
        self._room = LabelRoom(self._nodes, self._links, self._labels)
        self._notes: dict[str, NoteItem] = {}
        self.chosen: tuple[str, ...] = ()  # keys of the selected parts, the latest last
        self._queue_limits: dict[str, float] = {}
        self._zoom = 1.0
        self._rest = timer(self, self.end_zooming, _REST_MS, is_single=True)
        self._ribbons: tuple[Ribbon, ...] = ()
        self._preview = PreviewItem()
        self.addItem(self._preview)
        # Items move so often that maintaining an index would cost more than it saves.
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.setBackgroundBrush(QColor(look.tokens.base))

    def node_positions(self) -> dict[str, QPointF]:
        """Return the current positions of the nodes, even during a drag."""
        return {name: item.pos() for name, item in self._nodes.items()}

    def places(self) -> dict[str, QPointF]:
        """Return the current positions of all movable items: nodes by name, notes as `notes.0`."""
        return {**self.node_positions(), **{item.key: item.pos() for item in self._notes.values()}}

    def keys_in_reading_order(self) -> list[str]:
        """Return the keys of nodes, links and notes; nodes and links from left to right, then top to bottom."""
        nodes = sorted(self._nodes.values(), key=lambda item: (round(item.x()), round(item.y())))
        links = sorted(self._labels.values(), key=lambda item: (round(item.x()), round(item.y())))
        return [item.key for item in (*nodes, *links, *self._notes.values())]

    def centre_of(self, key: str) -> QPointF | None:
        """Return the middle of an item; None for an unknown key."""
        section, _, name = key.partition(".")
        if section == "nodes" and name in self._nodes:
            return self._nodes[name].pos()
        if section == "notes" and name in self._notes:
            return self._notes[name].paper.center()
        link = self._links.get(name) if section == "links" else None
        return link.curve.at(0.5)[0] if link and link.curve else None

    def item_at(self, position: QPointF, transform: QTransform) -> CanvasItem | None:
        """Return the item that a click at a scene position selects; None for the background."""
        found = self.itemAt(position, transform)
        return found if isinstance(found, CanvasItem) else None

    def node_rect(self) -> QRectF:
        """Return the rectangle around all nodes and the bows of parallel links; empty for a scene without nodes."""
        rect = QRectF()
        for node in self._nodes.values():
            rect = rect.united(
                QRectF(-NODE_RADIUS, -NODE_RADIUS, 2 * NODE_RADIUS, 2 * NODE_RADIUS).translated(node.pos())
            )
        for link in self._links.values():
            if link.curve and link.curve.bulge:
                rect = rect.united(link.curve.bounds)
        return rect

    def link_items(self) -> Mapping[str, LinkItem]:
        """Return the drawn links by name, for overlays on them."""
        return self._links

    def set_quiet(self, is_quiet: bool) -> None:
        """Mute the picture while packets are drawn, or restore it.

        Muted lanes are faint. Labels that need enlargement are drawn only while their link is selected or hovered.
        """
        for link in self._links.values():
            link.set_quiet(is_quiet)
        if is_quiet != self._room.is_quiet:
            self._room.is_quiet = is_quiet
            self._place_labels(self._links)

    def link_ends(self) -> list[tuple[QPointF, QPointF]]:
        """Return the two ends of every link."""
        return [(link.curve.points[0], link.curve.points[-1]) for link in self._links.values() if link.curve]

    def keys_inside(self, area: QRectF) -> list[str]:
        """Return the keys of nodes whose middle is in a rectangle, and of links and notes within the rectangle."""
        nodes = [item.key for item in self._nodes.values() if area.contains(item.pos())]
        links = [item.key for item in self._links.values() if item.curve and area.contains(item.curve.bounds)]
        notes = [item.key for item in self._notes.values() if area.contains(item.paper)]
        return nodes + links + notes

    def point_at_node(self, name: str, is_pointed_at: bool) -> None:
        """Draw a node as hovered or not; ignores unknown nodes."""
        if name in self._nodes:
            self._nodes[name].set_hovered(is_pointed_at)

    def free_place_near(self, middle: QPointF) -> QPointF:
        """Return a free place for a node near a point; the point itself if its surroundings are occupied."""
        taken = [item.pos() for item in self._nodes.values()]
        for ring in range(20):
            for column, row in _ring(ring):
                place = QPointF(round(middle.x()) + column * _ROOM, round(middle.y()) + row * _ROOM)
                if all(max(abs(place.x() - at.x()), abs(place.y() - at.y())) >= _ROOM * 0.9 for at in taken):
                    return place
        return middle

    @property
    def is_large(self) -> bool:
        """True if labels are placed only as they come into view, because the picture has too many labels."""
        return self._room.is_large

    def content_rect(self, *, with_labels: bool = True) -> QRectF:
        """Return the rectangle around everything drawn, with or without labels; empty for an empty scene.

        Labels of a large picture are left out, because they are placed only in view and the rectangle would depend on
        the zoom. Labels of a muted picture are left out too, because some of them may be hidden at the resulting
        zoom.
        """
        rect = QRectF()
        zoom = 1.0 if self.is_large else self._zoom
        for node in self._nodes.values():
            rect = rect.united(node.obstacle(zoom))
        counts = with_labels and not self.is_large and not self._room.is_quiet
        for label in self._labels.values() if counts else ():
            if label.isVisible() and not label.is_crowded_out:
                rect = rect.united(label.sceneBoundingRect())
        for link in self._links.values():
            if link.curve:
                reach = link.half_width + 4
                rect = rect.united(link.curve.bounds.adjusted(-reach, -reach, reach, reach))
        for note in self._notes.values():
            rect = rect.united(note.paper)
        return rect

    # --- content ----------------------------------------------------------------------------------------------------

    def show_picture(self, picture: TopologyPicture | None) -> None:
        """Show a different picture; items whose names remain are kept, and so is the selection."""
        before, self.picture = self.picture, picture
        nodes = picture.places if picture else {}
        links = picture.links if picture else {}
        self._keep_only(self._nodes, nodes)
        self._keep_only(self._links, links)
        self._keep_only(self._labels, links)
        self._show_notes(picture.notes if picture else ())
        if picture:
            self._show_nodes(picture)
            self._show_links(picture, _links_to_draw(before, picture))
            self._place_labels(_links_to_label(before, picture))
        self._lay_preview()
        self.setSceneRect(self.content_rect().adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN))
        known = {item.key for item in (*self._nodes.values(), *self._links.values(), *self._notes.values())}
        self.choose([key for key in self.chosen if key in known or key.partition(".")[0] in ("flows", "events")])
        self._show_chosen()
        self.laid_out.emit()

    def show_places(self, picture: TopologyPicture) -> None:
        """Show a picture with the same content but different positions; labels of unaffected links are not moved."""
        self.picture = picture
        self._show_notes(picture.notes)
        self.move_nodes(
            {name: QPointF(x, y) for name, (x, y) in picture.places.items() if self._nodes[name].pos() != QPointF(x, y)}
        )

    def move_nodes(self, places: Mapping[str, QPointF]) -> None:
        """Draw nodes, their links, and notes at new positions without changing the document; keys as in `places`."""
        for name, place in places.items():
            item = self._nodes.get(name) or self._notes[name.partition(".")[2]]
            item.setPos(place)
        if self.picture is None:
            return
        touched = [name for name, item in self.picture.links.items() if not places.keys().isdisjoint(item.link.ends)]
        for name in touched:
            self._lay_link(self.picture.links[name])
        self._place_labels(touched)
        self._lay_preview()
        self.laid_out.emit()

    def set_zoom(self, zoom: float, within: QRectF | None = None) -> bool:
        """Scale labels for readability at a zoom; returns True if labels were placed again.

        Args:
            zoom: zoom of the view.
            within: area for the labels of a small picture, such as the visible area; None for anywhere.
        """
        before, self._zoom = label_scale(self._zoom), zoom
        was_within, self._room.within = self._room.within, within
        if label_scale(zoom) == before and within == was_within and not self._room.is_paused:
            return False
        self._place_labels(self._links)
        return True

    def follow_zoom(self, zoom: float) -> None:
        """Follow one step of zooming; the labels of a large picture are placed when zooming ends."""
        if not self._room.is_large:
            self.set_zoom(zoom)
        elif label_scale(zoom) != label_scale(self._zoom) or self._room.is_paused:
            self._room.pause()
            self._rest.start()
        self._zoom = zoom

    def end_zooming(self) -> None:
        """Place the labels that waited for the end of zooming."""
        if self._room.is_paused:
            self._place_labels(self._links)

    def set_view(self, view: QRectF) -> None:
        """Set the visible area. In a large picture, labels are placed when they enter this area."""
        self._room.show(view)

    def set_labels_shown(self, shown: bool) -> None:
        """Show or hide the labels of links; thumbnails hide them."""
        for label in self._labels.values():
            label.setVisible(shown)

    def set_look(self, look: Look) -> None:
        """Change the colours and fonts of all items."""
        self.look = look
        self.setBackgroundBrush(QColor(look.tokens.base))
        for item in (*self._nodes.values(), *self._links.values(), *self._labels.values(), *self._notes.values()):
            item.set_look(look)
        if self.picture:
            self._show_links(self.picture, self.picture.links)
            self._place_labels(self._links)

    def choose(self, keys: Iterable[str]) -> None:
        """Select exactly these keys."""
        chosen = tuple(dict.fromkeys(keys))
        if chosen != self.chosen:
            self.chosen = chosen
            self._show_chosen()
            self.chosen_changed.emit()

    def set_link_state(self, owner: str, utilisation: float, queue_pkts: float, *, up: bool) -> None:
        """Show the state of a link direction (`wifi/forward`); ignores unknown links."""
        name, _, direction = owner.partition("/")
        link = self._links.get(name)
        if link is None:
            return
        limit = self._queue_limits.get(owner, math.inf)
        link.set_live(direction, utilisation, min(queue_pkts / limit, 1.0), up)
        self._labels[name].set_queue_share(link.queue_share)

    def show_preview(self, ribbons: Sequence[Ribbon], open_links: Collection[str] | None = None) -> None:
        """Over the picture, draw paths that the scenario does not contain yet.

        Args:
            ribbons: the paths; empty to end the preview.
            open_links: links that can be clicked now; all others are faded. None fades no links.
        """
        self._ribbons = tuple(ribbons)
        for name, link in self._links.items():
            is_open = open_links is None or name in open_links
            for item in (link, self._labels[name]):
                item.setOpacity(1.0 if is_open else 0.3)
        self._lay_preview()

    def clear_link_states(self) -> None:
        """Stop showing the state of a run on the links."""
        for name, link in self._links.items():
            link.clear_live()
            self._labels[name].set_queue_share(None)

    # --- internals --------------------------------------------------------------------------------------------------

    def _lay_preview(self) -> None:
        curves = {name: link.curve for name, link in self._links.items() if link.curve}
        self._preview.show_ribbons(self._ribbons, curves)

    def _keep_only(self, items: dict[str, _ItemT], names: Iterable[str]) -> None:
        for name in items.keys() - set(names):
            self.removeItem(items.pop(name))

    def _show_notes(self, notes: Sequence[Note]) -> None:
        self._keep_only(self._notes, [str(number) for number in range(len(notes))])
        for number, note in enumerate(notes):
            item = self._notes.get(str(number))
            if item is None:
                item = self._notes[str(number)] = NoteItem(str(number), self.look)
                self.addItem(item)
            item.set_words(note.text)
            item.setPos(*note.at)

    def _show_nodes(self, picture: TopologyPicture) -> None:
        for name, (x, y) in picture.places.items():
            is_router = name in picture.routers
            item = self._nodes.get(name)
            if item is None or item.is_router != is_router:
                if item is not None:
                    self.removeItem(item)
                item = NodeItem(name, is_router=is_router, look=self.look)
                self._nodes[name] = item
                self.addItem(item)
            item.is_one_of_many = len(picture.places) > _MANY_NODES
            item.setPos(x, y)
            kind = tr("Router") if is_router else tr("Host")
            item.setToolTip(f"{kind} {name}")

    def _show_links(self, picture: TopologyPicture, names: Iterable[str]) -> None:
        is_dark = self.look.tokens.is_dark
        for name in names:
            content = picture.links[name]
            if name not in self._links:
                self._links[name] = LinkItem(name, self.look)
                self._labels[name] = LabelItem(name, self.look)
                self._links[name].companion = self._labels[name]
                self._labels[name].companion = self._links[name]
                self.addItem(self._links[name])
                self.addItem(self._labels[name])
            lanes = [
                _lane(picture.paths[owner], hop, is_dark=is_dark)
                for owner in content.lanes
                for hop in picture.paths[owner].hops
                if hop.link == name
            ]
            first, second = content.link.ends
            self._links[name].set_content(content, lanes, (first in picture.routers, second in picture.routers))
            self._lay_link(content)
            for direction, state in (("forward", content.link.forward), ("reverse", content.link.reverse)):
                limit = state.queue.limit_pkts
                if limit is None and state.queue.limit_bytes is not None:
                    limit = max(state.queue.limit_bytes // 1500, 1)
                self._queue_limits[f"{name}/{direction}"] = limit if limit else math.inf
            tip = describe_link(content)
            self._links[name].setToolTip(as_written(tip))
            self._labels[name].setToolTip(as_written(tip))

    def _lay_link(self, content: PictureLink) -> None:
        first, second = content.link.ends
        start, end = self._nodes[first].pos(), self._nodes[second].pos()
        self._links[content.link.name].set_curve(link_curve(start, end, content.bow))
        along = end - start
        if abs(along.x()) >= abs(along.y()):
            arrows = ("→", "←") if along.x() >= 0 else ("←", "→")
        else:
            arrows = ("↓", "↑") if along.y() >= 0 else ("↑", "↓")
        self._labels[content.link.name].set_caption(
            link_caption(content.link, *arrows, content.unread), len(content.events)
        )

    def _place_labels(self, names: Iterable[str]) -> None:
        if self._room.is_paused:
            # After a pause, all labels need places at the current zoom.
            self._rest.stop()
            names = self._links
        self._room.place(names, self._zoom)

    def _show_chosen(self) -> None:
        chosen = set(self.chosen)
        for item in (*self._nodes.values(), *self._links.values(), *self._labels.values(), *self._notes.values()):
            item.set_chosen(item.key in chosen)
        flows = {key.partition(".")[2] for key in self.chosen if key.startswith("flows.")}
        owners = None
        if flows and self.picture:
            owners = frozenset(p.owner for p in self.picture.paths.values() if p.flow in flows or p.owner in flows)
        for link in self._links.values():
            link.dim_except(owners)


def _links_to_label(before: TopologyPicture | None, now: TopologyPicture) -> list[str]:
    """Return the links whose labels must be placed: all links of a small picture, otherwise only the changed links."""
    if before is None or len(now.links) <= _MOST_LABELLED_ANEW:
        return list(now.links)
    return _changed_links(before, now)


def _links_to_draw(before: TopologyPicture | None, now: TopologyPicture) -> list[str]:
    """Return the links whose drawing has changed."""
    if before is None or before.paths != now.paths:
        return list(now.links)
    return _changed_links(before, now)


def _changed_links(before: TopologyPicture, now: TopologyPicture) -> list[str]:
    moved = {name for name, place in now.places.items() if before.places.get(name) != place}
    moved |= before.routers ^ now.routers
    return [
        name
        for name, content in now.links.items()
        if before.links.get(name) != content or not moved.isdisjoint(content.link.ends)
    ]


def _ring(number: int) -> list[tuple[int, int]]:
    """Return the cells of a square ring around the middle, sorted from right to left, then by vertical distance."""
    reach = range(-number, number + 1)
    cells = [(x, y) for x in reach for y in reach if max(abs(x), abs(y)) == number]
    return sorted(cells, key=lambda cell: (-cell[0], abs(cell[1])))


def _lane(path: SubflowPath, hop: Hop, *, is_dark: bool) -> Lane:
    return Lane(
        path.owner,
        hex_colour(path.colour, dark=is_dark),
        hop.forward,
        is_dashed=path.sends_datagrams,
        is_closed=path.initially_closed,
        ends_here=hop is path.hops[-1],
    )
