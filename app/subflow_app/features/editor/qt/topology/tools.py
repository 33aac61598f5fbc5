"""Tools of the canvas: the bar that offers them, their effect on the left mouse button, and gestures.

A gesture is the meaning of one mouse drag: one object, so that it can be read, ended and given up alone. The bar lies
left of the canvas: it has tools to hold, and a palette of parts to drag onto the canvas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAction, QDrag, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QGridLayout, QRubberBand, QToolButton, QWidget

from subflow_app.features.editor.core.layout import snapped_shift
from subflow_app.features.editor.qt.topology.items import GhostItem, RubberLineItem
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.toolkit.theme import Tokens, set_style
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr


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


PART_MIME = "application/x-subflow-part"
"""What is dragged from the palette: the name of its tool as data."""

PALETTE = ("host", "router", "note")
"""Tools whose buttons can be dragged onto the canvas."""

_ICON = 18
_LEAST_HEIGHT = 26  # of a button, px
_LEAST_ROWS = 3  # of buttons: a lower strip is cut off


class ToolStrip(QFrame):
    """Buttons in one column, in more where it is low; empty and hidden until it gets its actions."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "topologyTools", tr("Drawing tools"))
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(3, 4, 3, 4)
        self._layout.setSpacing(2)
        self._layout.setSizeConstraint(QGridLayout.SizeConstraint.SetNoConstraint)
        self._buttons: list[QToolButton] = []
        self._rows = 0
        set_style(self, _style)
        self.hide()

    def set_actions(self, actions: Sequence[QAction]) -> None:
        """Show a button for each; those named as in `PALETTE` can be dragged."""
        for action in actions:
            name = action.objectName().rpartition("_")[2]
            button = PaletteButton(name, self) if name in PALETTE else QToolButton(self)
            button.setDefaultAction(action)
            named(button, f"tool_{name}", action.text().replace("&", ""))
            button.setAutoRaise(True)
            button.setIconSize(QSize(_ICON, _ICON))
            # Every tool has a key and a menu entry: Tab should not stop here on the way.
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setMinimumHeight(_LEAST_HEIGHT)
            self._buttons.append(button)
        self._arrange()
        self.setVisible(bool(actions))

    def sizeHint(self) -> QSize:
        """One column of all buttons."""
        return self._size_of(len(self._buttons), self._buttons[0].sizeHint().height() if self._buttons else 0)

    def minimumSizeHint(self) -> QSize:
        """As many columns as leave the least number of rows."""
        return QSize(self._size_of(self._rows).width(), self._size_of(_LEAST_ROWS).height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Uses the height there is."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        count = len(self._buttons)
        rows = next((rows for rows in range(count, _LEAST_ROWS, -1) if self._fits(rows)), min(count, _LEAST_ROWS))
        if rows == self._rows:
            return
        self._layout.setRowStretch(self._rows, 0)
        self._rows = rows
        for position, button in enumerate(self._buttons):
            self._layout.addWidget(button, position % rows, position // rows)
        self._layout.setRowStretch(rows, 1)
        self.setFixedWidth(self._size_of(rows).width())

    def _fits(self, rows: int) -> bool:
        return self._size_of(rows).height() <= self.height()

    def _size_of(self, rows: int, height: int = _LEAST_HEIGHT) -> QSize:
        """Of the strip with that many rows of buttons of this height."""
        if not self._buttons:
            return QSize()
        width, gap = self._buttons[0].sizeHint().width(), self._layout.spacing()
        margins = self._layout.contentsMargins()
        columns = -(-len(self._buttons) // max(rows, 1))
        return QSize(
            columns * (width + gap) - gap + margins.left() + margins.right() + 2 * self.frameWidth() + 1,
            rows * (height + gap) - gap + margins.top() + margins.bottom(),
        )


def _style(t: Tokens) -> str:
    return (
        f"#topologyTools {{ background: {t.base}; border: none; border-right: 1px solid {t.border}; }}"
        "QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 4px; }"
        f"QToolButton:hover {{ background: {t.button_hover}; }}"
        f"QToolButton:checked {{ background: {t.button_hover}; border-color: {t.accent}; }}"
    )


class PaletteButton(QToolButton):
    """A tool that can also be dragged onto the canvas."""

    def __init__(self, part: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._part = part
        self._press: QPoint | None = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag would begin."""
        self._press = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click after all."""
        self._press = None
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Begin a drag once the mouse has really moved."""
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
