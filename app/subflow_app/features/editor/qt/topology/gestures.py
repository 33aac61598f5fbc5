"""What a mouse drag on the canvas means: one object per gesture, so that each can be read, ended and given up alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, QRect, QSize
from PySide6.QtWidgets import QGraphicsView, QRubberBand

from subflow_app.features.editor.core.arrange import snapped_shift
from subflow_app.features.editor.qt.topology.drawing_items import GhostItem, RubberLineItem
from subflow_app.features.editor.qt.topology.scene import TopologyScene


class Gesture(Protocol):
    """A drag from press to release; positions are those of the view's viewport."""

    def move(self, position: QPoint) -> None:
        """Follow the mouse."""

    def finish(self) -> None:
        """The button was released: make it count."""

    def cancel(self) -> None:
        """It was given up: leave everything as it was."""


class PanGesture:
    """Drags the view across the scene."""

    def __init__(self, view: QGraphicsView, start: QPoint) -> None:
        self._view = view
        self._last = start

    def move(self, position: QPoint) -> None:
        """Keep the scene point under the mouse."""
        delta = position - self._last
        self._last = position
        horizontal, vertical = self._view.horizontalScrollBar(), self._view.verticalScrollBar()
        horizontal.setValue(horizontal.value() - delta.x())
        vertical.setValue(vertical.value() - delta.y())

    def finish(self) -> None:
        """Stay where it was dragged to."""

    def cancel(self) -> None:
        """Stay too: nothing was changed that could need undoing."""


class MoveGesture:
    """Drags nodes and notes; the document hears of it once, at the end."""

    def __init__(
        self,
        view: QGraphicsView,
        scene: TopologyScene,
        names: Iterable[str],
        start: QPoint,
        commit: Callable[[Mapping[str, QPointF]], None],
        held: str,
        grid: float | None = None,
    ) -> None:
        self._view = view
        self._scene = scene
        self._start = view.mapToScene(start)
        positions = scene.places()
        self._origins = {name: positions[name] for name in names}
        self._commit = commit
        self._held = held
        self._grid = grid
        self._has_moved = False

    def move(self, position: QPoint) -> None:
        """Draw the nodes under the mouse, on whole units or with the held one on the grid."""
        shift = self._view.mapToScene(position) - self._start
        if self._grid is not None:
            origin = self._origins[self._held]
            shift = QPointF(*snapped_shift((origin.x(), origin.y()), (shift.x(), shift.y()), self._grid))
        self._has_moved = True
        self._scene.move_nodes(
            {name: QPointF(round(at.x() + shift.x()), round(at.y() + shift.y())) for name, at in self._origins.items()}
        )

    def finish(self) -> None:
        """Write the new places down."""
        positions = self._scene.places()
        places = {name: positions[name] for name in self._origins}
        if self._has_moved and places != self._origins:
            self._commit(places)

    def cancel(self) -> None:
        """Put the nodes back."""
        self._scene.move_nodes(self._origins)


class PlaceGesture:
    """Shows where a new part will stand, and places it at the end."""

    def __init__(
        self, view: QGraphicsView, scene: TopologyScene, start: QPoint, place: Callable[[QPointF], None]
    ) -> None:
        self._view = view
        self._at = view.mapToScene(start)
        self._place = place
        self._ghost = GhostItem(scene.look)
        self._ghost.setPos(self._at)
        scene.addItem(self._ghost)

    def move(self, position: QPoint) -> None:
        """Follow the mouse."""
        self._at = self._view.mapToScene(position)
        self._ghost.setPos(self._at)

    def finish(self) -> None:
        """Place it."""
        self._end()
        self._place(self._at)

    def cancel(self) -> None:
        """Place nothing."""
        self._end()

    def _end(self) -> None:
        self._ghost.scene().removeItem(self._ghost)


class JoinGesture:
    """Pulls a line from a node to another; `join` is told both, the second as the first if it was left nowhere."""

    def __init__(
        self, view: QGraphicsView, scene: TopologyScene, first: str, start: QPoint, join: Callable[[str, str], None]
    ) -> None:
        self._view = view
        self._scene = scene
        self._first = first
        self._second = ""
        self._join = join
        self._line = RubberLineItem(scene.look)
        scene.addItem(self._line)
        self.move(start)

    def move(self, position: QPoint) -> None:
        """Pull the line to the mouse, or to the node under it."""
        item = self._scene.item_at(self._view.mapToScene(position), self._view.viewportTransform())
        node = item.key.partition(".")[2] if item is not None and item.key.startswith("nodes.") else ""
        places = self._scene.node_positions()
        if node != self._second:
            for name in (self._second, node):
                self._scene.point_at_node(name, name == node and name != self._first)
            self._second = node
        end = places[node] if node else self._view.mapToScene(position)
        self._line.set_ends(places[self._first], end, is_joined=bool(node) and node != self._first)

    def finish(self) -> None:
        """Join the two, if the mouse is on a node."""
        self._end()
        self._join(self._first, self._second)

    def cancel(self) -> None:
        """Join nothing."""
        self._end()

    def _end(self) -> None:
        self._scene.point_at_node(self._second, False)
        self._line.scene().removeItem(self._line)


class PickGesture:
    """A click that is to be told, and nothing else."""

    def __init__(self, pick: Callable[[], None]) -> None:
        self._pick = pick

    def move(self, position: QPoint) -> None:
        """A click has no way."""

    def finish(self) -> None:
        """Tell it."""
        self._pick()

    def cancel(self) -> None:
        """Tell nothing."""


class BandGesture:
    """Draws a rectangle and selects the nodes whose middle and the links of which all is in it."""

    def __init__(self, view: QGraphicsView, scene: TopologyScene, start: QPoint, keep: Iterable[str]) -> None:
        self._view = view
        self._scene = scene
        self._start = start
        self._before = scene.chosen
        self._keep = tuple(keep)
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, view.viewport())

    def move(self, position: QPoint) -> None:
        """Select what the rectangle covers so far."""
        rect = QRect(self._start, position).normalized()
        self._band.setGeometry(rect.adjusted(0, 0, 1, 1) if rect.isValid() else QRect(self._start, QSize(1, 1)))
        self._band.show()
        area = self._view.mapToScene(rect).boundingRect()
        self._scene.choose([*self._keep, *self._scene.keys_inside(area)])

    def finish(self) -> None:
        """Keep the selection."""
        self._end()

    def cancel(self) -> None:
        """Select what was selected before."""
        self._end()
        self._scene.choose(self._before)

    def _end(self) -> None:
        self._band.hide()
        self._band.deleteLater()
