"""Tools of the canvas: the tool bar, the effect of tools on the left mouse button, and gestures.

A gesture object handles one mouse drag, from press to release or cancellation. The tool bar is left of the canvas; some
of its buttons form a palette of parts to drag onto the canvas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAction, QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QGridLayout, QRubberBand, QToolButton, QWidget

from subflow_app.features.editor.core.layout import snapped_shift
from subflow_app.features.editor.qt.topology.items import GhostItem, RubberLineItem
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.toolkit.theme import Tokens, set_style
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr


class Gesture(Protocol):
    """A drag from press to release; positions are in the view's viewport."""

    def move(self, position: QPoint) -> None:
        """Follow the mouse."""

    def finish(self) -> None:
        """Apply the gesture after the release of the button."""

    def cancel(self) -> None:
        """Cancel the gesture: restore the previous state."""


class PanGesture:
    """Drags the view across the scene."""

    def __init__(self, view: QGraphicsView, start: QPoint) -> None:
        self._view = view
        self._last = start

    def move(self, position: QPoint) -> None:
        """Scroll so that the same point of the scene remains under the mouse."""
        delta = position - self._last
        self._last = position
        horizontal, vertical = self._view.horizontalScrollBar(), self._view.verticalScrollBar()
        horizontal.setValue(horizontal.value() - delta.x())
        vertical.setValue(vertical.value() - delta.y())

    def finish(self) -> None:
        """Keep the final position."""

    def cancel(self) -> None:
        """Keep the final position, because panning changes nothing in the document."""


class MoveGesture:
    """Drags nodes and notes; the document changes once, at the end."""

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
        """Move the nodes with the mouse, in whole units or so that the dragged node is on the grid."""
        shift = self._view.mapToScene(position) - self._start
        if self._grid is not None:
            origin = self._origins[self._held]
            shift = QPointF(*snapped_shift((origin.x(), origin.y()), (shift.x(), shift.y()), self._grid))
        self._has_moved = True
        self._scene.move_nodes(
            {name: QPointF(round(at.x() + shift.x()), round(at.y() + shift.y())) for name, at in self._origins.items()}
        )

    def finish(self) -> None:
        """Commit the new positions."""
        positions = self._scene.places()
        places = {name: positions[name] for name in self._origins}
        if self._has_moved and places != self._origins:
            self._commit(places)

    def cancel(self) -> None:
        """Restore the original positions."""
        self._scene.move_nodes(self._origins)


class PlaceGesture:
    """Previews a new part under the mouse, and places it at the end of the drag."""

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
        """Place the part."""
        self._end()
        self._place(self._at)

    def cancel(self) -> None:
        """Remove the preview."""
        self._end()

    def _end(self) -> None:
        self._ghost.scene().removeItem(self._ghost)


class JoinGesture:
    """Draws a line from one node to another and passes both to `join`; a click passes the first node twice."""

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
        """Draw the line to the mouse, or to the node under it."""
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
        """Pass both nodes to `join`; the second is empty if the button was released outside all nodes."""
        self._end()
        self._join(self._first, self._second)

    def cancel(self) -> None:
        """Remove the line."""
        self._end()

    def _end(self) -> None:
        self._scene.point_at_node(self._second, False)
        self._line.scene().removeItem(self._line)


class PickGesture:
    """A click without a drag."""

    def __init__(self, pick: Callable[[], None]) -> None:
        self._pick = pick

    def move(self, position: QPoint) -> None:
        """Ignore the movement."""

    def finish(self) -> None:
        """Report the click."""
        self._pick()

    def cancel(self) -> None:
        """Report nothing."""


class BandGesture:
    """Draws a rectangle, and selects nodes whose middle is inside, and links and notes entirely inside."""

    def __init__(self, view: QGraphicsView, scene: TopologyScene, start: QPoint, keep: Iterable[str]) -> None:
        self._view = view
        self._scene = scene
        self._start = start
        self._before = scene.chosen
        self._keep = tuple(keep)
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, view.viewport())

    def move(self, position: QPoint) -> None:
        """Select the items in the current rectangle."""
        rect = QRect(self._start, position).normalized()
        self._band.setGeometry(rect.adjusted(0, 0, 1, 1) if rect.isValid() else QRect(self._start, QSize(1, 1)))
        self._band.show()
        area = self._view.mapToScene(rect).boundingRect()
        self._scene.choose([*self._keep, *self._scene.keys_inside(area)])

    def finish(self) -> None:
        """Keep the new selection."""
        self._end()

    def cancel(self) -> None:
        """Restore the previous selection."""
        self._end()
        self._scene.choose(self._before)

    def _end(self) -> None:
        self._band.hide()
        self._band.deleteLater()


Place: TypeAlias = Callable[[str, QPointF], None]
Join: TypeAlias = Callable[[str, str, str], None]


class Tool(Protocol):
    """A tool: provides the gesture for a mouse press, and an equivalent for the Enter key."""

    name: str
    cursor: Qt.CursorShape

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Return the gesture for a press on the part with this key, or None to leave the press to the select tool."""

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Apply the tool by keyboard; False if it does not handle Enter."""


class PlaceTool:
    """Places a host, a router or a note where the button is released.

    Args:
        name: `host`, `router` or `note`.
        place: called with the name and the position.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self._place = place

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Start placing a part; None if the press is on an existing item."""
        if key:
            return None
        return PlaceGesture(view, scene, position, lambda at: self._place(self.name, at))

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Place the part at a free position near the middle of the view."""
        middle = view.mapToScene(view.viewport().rect().center())
        self._place(self.name, scene.free_place_near(middle))
        return True


class JoinTool:
    """Creates a link or a flow between two nodes, by a drag or by a click on each.

    Args:
        name: `link` or `flow`.
        join: called with the name and the two nodes.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, name: str, join: Join) -> None:
        self.name = name
        self._join = join
        self._first = ""

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Start a line at this node, or at the previously clicked node; None outside nodes."""
        if not key.startswith("nodes."):
            self._first = ""
            return None
        node = key.partition(".")[2]
        first, self._first = self._first, ""
        if first not in scene.node_positions():
            first = node
        return JoinGesture(view, scene, first, position, self._finish)

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Join the two selected nodes; False unless two nodes are selected."""
        nodes = [key.partition(".")[2] for key in scene.chosen if key.startswith("nodes.")]
        if len(nodes) != 2:
            return False
        self._join(self.name, *nodes)
        return True

    def _finish(self, first: str, second: str) -> None:
        if first == second:
            # A click on the first node; the next click sets the second node.
            self._first = first
        elif second:
            self._join(self.name, first, second)


class PickTool:
    """Reports clicks on items.

    Args:
        name: name of the tool.
        pick: called with the key of the clicked item.
    """

    cursor = Qt.CursorShape.PointingHandCursor

    def __init__(self, name: str, pick: Callable[[str], None]) -> None:
        self.name = name
        self._pick = pick

    def begin(self, view: QGraphicsView, scene: TopologyScene, key: str, position: QPoint) -> Gesture | None:
        """Start a click on an item; None on the background."""
        return PickGesture(lambda: self._pick(key)) if key else None

    def enter(self, view: QGraphicsView, scene: TopologyScene) -> bool:
        """Pick the item selected last; False without a selection."""
        if not scene.chosen:
            return False
        self._pick(scene.chosen[-1])
        return True


PART_MIME = "application/x-subflow-part"
"""MIME type of a drag from the palette, with the name of the tool as data."""

PALETTE = ("host", "router", "note")
"""Tools whose buttons can be dragged onto the canvas."""

_ICON = 18
_LEAST_HEIGHT = 26  # px; minimum height of a button
LEAST_HEIGHT_OF_COLUMN = 194  # px; over a lower canvas, the buttons lie side by side


class ToolStrip(QFrame):
    """Buttons over the canvas, in one column, or in a row over a low canvas; hidden until `set_actions` is called."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "topologyTools", tr("Drawing tools"))
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(3, 3, 3, 3)
        self._layout.setSpacing(2)
        self._buttons: list[QToolButton] = []
        self._is_flat: bool | None = None
        set_style(self, _style)
        self.hide()

    def set_actions(self, actions: Sequence[QAction]) -> None:
        """Add a button for each action; those named in `PALETTE` can be dragged."""
        for action in actions:
            name = action.objectName().rpartition("_")[2]
            button = PaletteButton(name, self) if name in PALETTE else QToolButton(self)
            button.setDefaultAction(action)
            named(button, f"tool_{name}", action.text().replace("&", ""))
            button.setAutoRaise(True)
            button.setIconSize(QSize(_ICON, _ICON))
            # Every tool has a key and a menu entry, so Tab skips the buttons.
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setMinimumHeight(_LEAST_HEIGHT)
            self._buttons.append(button)
        self._is_flat = None
        self.setVisible(bool(actions))

    def fit_over(self, height: int) -> None:
        """Take the size of all buttons, in a column or a row, for a canvas of this height, px."""
        is_flat = height < LEAST_HEIGHT_OF_COLUMN
        if is_flat != self._is_flat:
            self._is_flat = is_flat
            for position, button in enumerate(self._buttons):
                self._layout.addWidget(button, *((0, position) if is_flat else (position, 0)))
        self._layout.activate()
        self.resize(self.sizeHint())


def _style(t: Tokens) -> str:
    return (
        f"#topologyTools {{ background: {t.window}; border: 1px solid {t.border}; border-radius: 6px; }}"
        "QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 4px; }"
        f"QToolButton:hover {{ background: {t.button_hover}; }}"
        f"QToolButton:checked {{ background: {t.button_hover}; border-color: {t.accent}; }}"
    )


class PaletteButton(QToolButton):
    """A tool button that can also be dragged onto the canvas."""

    def __init__(self, part: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._part = part
        self._press: QPoint | None = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Store the start of a possible drag."""
        self._press = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Treat a press without a drag as a click."""
        self._press = None
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Start a drag after a minimum distance."""
        position = event.position().toPoint()
        if self._press is None or not self.isEnabled():
            return
        if (position - self._press).manhattanLength() < QApplication.startDragDistance():
            return
        self._press = None
        self.setDown(False)
        drag = QDrag(self)
        data = QMimeData()
        data.setData(PART_MIME, self._part.encode())
        drag.setMimeData(data)
        drag.setPixmap(self.icon().pixmap(QSize(2 * _ICON, 2 * _ICON)))
        drag.exec(Qt.DropAction.CopyAction)
