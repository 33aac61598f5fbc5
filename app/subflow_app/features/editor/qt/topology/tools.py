"""What the left mouse button does on the canvas while something else than the select tool is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QGraphicsView

from subflow_app.features.editor.qt.topology.gestures import Gesture, JoinGesture, PickGesture, PlaceGesture
from subflow_app.features.editor.qt.topology.scene import TopologyScene

Place: TypeAlias = Callable[[str, QPointF], None]
Join: TypeAlias = Callable[[str, str, str], None]


class Tool(Protocol):
    """A tool: what a press begins, and what Enter does for those who have no mouse."""

    name: str
    cursor: Qt.CursorShape

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Begin a gesture at a press on what has this key; None leaves the press to the select tool."""

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Do the same by the keyboard; False leaves the key to others."""


class PlaceTool:
    """Puts a host, a router or a note where the button is released.

    Args:
        name: `host`, `router` or `note`.
        place: is told the name and the place.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self._place = place

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Begin to place, but not on top of something."""
        if key:
            return None
        return PlaceGesture(view, scene, position, lambda at: self._place(self.name, at))

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Place where there is room, near the middle of what is in view."""
        middle = view.mapToScene(view.viewport().rect().center())
        self._place(self.name, scene.free_place_near(middle))
        return True


class JoinTool:
    """Makes a link or a flow from one node to another: by a drag, or by a click on each.

    Args:
        name: `link` or `flow`.
        join: is told the name and the two nodes.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, name: str, join: Join) -> None:
        self.name = name
        self._join = join
        self._first = ""

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Begin at a node; at a second one if the first has been clicked."""
        if not key.startswith("nodes."):
            self._first = ""
            return None
        node = key.partition(".")[2]
        first, self._first = self._first, ""
        if first not in scene.node_positions():
            first = node
        return JoinGesture(view, scene, first, position, self._finish)

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Join the two nodes that are selected."""
        nodes = [key.partition(".")[2] for key in scene.chosen if key.startswith("nodes.")]
        if len(nodes) != 2:
            return False
        self._join(self.name, *nodes)
        return True

    def _finish(self, first: str, second: str) -> None:
        if first == second:
            # A click: the next one says where it leads.
            self._first = first
        elif second:
            self._join(self.name, first, second)


class PickTool:
    """Tells which link is clicked.

    Args:
        name: of the tool.
        pick: is told the key of what was clicked, empty for nothing.
    """

    cursor = Qt.CursorShape.PointingHandCursor

    def __init__(self, name: str, pick: Callable[[str], None]) -> None:
        self.name = name
        self._pick = pick

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Begin a click."""
        return PickGesture(lambda: self._pick(key)) if key else None

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Pick what is selected."""
        if not scene.chosen:
            return False
        self._pick(scene.chosen[-1])
        return True
