"""View of a topology: zoom, pan, select and move by mouse and keyboard."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QLineF, QMargins, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
    QResizeEvent,
    QShowEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QWidget

from subflow_app.features.editor.qt.topology.labels import label_scale
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.features.editor.qt.topology.tools import PART_MIME, BandGesture, Gesture, MoveGesture, PanGesture, Tool
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_LEAST_ZOOM, _MOST_ZOOM = 0.08, 6.0
_MOST_FIT_ZOOM = 1.5
_ZOOM_STEP = 1.25
_WHEEL_NOTCH = 120.0
_FIT_MARGIN, _LOW_FIT_MARGIN = 20, 8  # px; the smaller one above and below the picture in a low view
_LOW_VIEW = 300  # px
_FIT_ROUNDS = 4
_FIT_ZOOM_OF_FEW_LABELS = 0.9  # maximum zoom for a picture with shortened labels
_LABEL_MARGIN = 13  # px from the border of the view: room for the clock at the corner of a label
_LABEL_PADDING = 5  # px above and below the words of a label
_GRID = 40.0
_LEAST_GRID_PX = 9.0
_NUDGE, _FINE_NUDGE = 10.0, 1.0

_DIRECTIONS = {
    Qt.Key.Key_Left: QPointF(-1, 0),
    Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1),
    Qt.Key.Key_Down: QPointF(0, 1),
}


class TopologyCanvas(QGraphicsView):
    """Shows a `TopologyScene`.

    Keys: Tab and arrows move from item to item (Shift+arrows extend the selection). Ctrl+arrows move the selected nodes
    (with Shift, by one unit). Enter opens the properties or applies the tool, F fits the picture, and Ctrl+0 resets
    the zoom. Space with the mouse pans. Escape cancels a drag, the tool or the selection.
    """

    nodes_moved = Signal(object, int)  # places (name -> QPointF), and the session that joins key presses into one step
    activated = Signal(str)  # key of the part whose properties to show
    zoom_changed = Signal(float)
    space_tapped = Signal()  # Space was pressed and released without dragging
    menu_wanted = Signal(str, QPoint)  # key (or ""), global position
    part_dropped = Signal(str, QPointF)  # name of the dropped tool, and its place in the scene
    tool_given_up = Signal()  # Escape outside a gesture: back to selecting

    def __init__(self, scene: TopologyScene, parent: QWidget | None = None) -> None:
        super().__init__(scene, parent)
        self._scene = scene
        self._gesture: Gesture | None = None
        self.tool: Tool | None = None  # tool of the left button; None selects and moves
        self._press: QPoint | None = None
        self._pending_click: str | None = None
        self._space_is_down = False
        self._space_was_used = False
        self._keeps_fitting = True
        self._inset = QMargins()
        self._fitted_size = QSize()  # size of the view at the last fit
        self._is_editable = True
        self._is_locked = False
        self._grid: float | None = None
        self._sessions = itertools.count(1)
        self._nudge_session = 0
        named(self, "topologyCanvas", tr("Topology"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        scene.chosen_changed.connect(self._end_nudging)

    # --- zoom and place ---------------------------------------------------------------------------------------------

    @property
    def zoom(self) -> float:
        """Logical pixels per scene unit."""
        return self.transform().m11()

    def fit(self) -> None:
        """Show the whole picture, and keep it in view until the user zooms or pans."""
        self._keeps_fitting = True
        self._fit_now()

    def set_zoom(self, zoom: float, anchor: QPointF | None = None) -> None:
        """Zoom around the point under `anchor` in the viewport, by default its middle."""
        self._keeps_fitting = False
        anchor = anchor if anchor is not None else QPointF(self.viewport().rect().center())
        zoom = min(max(zoom, _LEAST_ZOOM), _MOST_ZOOM)
        before = self._to_scene(anchor)
        self._scene.follow_zoom(zoom)
        self.setTransform(QTransform.fromScale(zoom, zoom))
        drift = before - self._to_scene(anchor)
        # Scroll bars hold whole pixels, so the point may still be off by half a pixel.
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + round(drift.x() * zoom))
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + round(drift.y() * zoom))
        self._tell_view()
        self.zoom_changed.emit(self.zoom)

    def zoom_in(self) -> None:
        """Zoom in by one step."""
        self.set_zoom(self.zoom * _ZOOM_STEP)

    def zoom_out(self) -> None:
        """Zoom out by one step."""
        self.set_zoom(self.zoom / _ZOOM_STEP)

    def reset_zoom(self) -> None:
        """Show scene units as pixels (100 %)."""
        self.set_zoom(1.0)

    def content_changed(self) -> None:
        """Fit the changed content, unless the user has zoomed or panned."""
        if self._keeps_fitting:
            self._fit_now()

    def reveal(self, key: str) -> None:
        """Centre the view on an item if the centre of the item is not visible."""
        centre = self._scene.centre_of(key)
        if centre is not None and not self.viewport().rect().contains(self.mapFromScene(centre)):
            self._keeps_fitting = False
            self.centerOn(centre)

    def set_editable(self, editable: bool) -> None:
        """Allow or forbid moving nodes."""
        self._is_editable = editable
        if not editable:
            self._cancel_gesture()

    @property
    def can_move_nodes(self) -> bool:
        """True if nodes can be moved: edits are allowed, and the picture is not locked."""
        return self._is_editable and not self._is_locked

    def set_locked(self, locked: bool) -> None:
        """Protect nodes from accidental moves; all other edits remain possible."""
        self._is_locked = locked
        self._cancel_gesture()

    def set_grid(self, grid: float | None) -> None:
        """Snap drags to a faintly drawn grid with this spacing in scene units; None disables it."""
        self._grid = grid
        self.viewport().update()

    def set_tool(self, tool: Tool | None) -> None:
        """Assign a tool to the left button; None selects and moves parts."""
        self._cancel_gesture()
        self.tool = tool
        self._show_cursor()

    def set_inset(self, inset: QMargins) -> None:
        """Keep these margins, px, free of the picture when it is fitted, for what lies over the canvas."""
        if inset != self._inset:
            self._inset = inset
            self.content_changed()

    def _centre_in(self, room: QRect, centre: QPointF, zoom: float) -> None:
        """Show a point of the scene in the middle of a part of the view."""
        shift = QPointF(room.center() - self.viewport().rect().center()) / zoom
        self.centerOn(centre - shift)

    def _fit_now(self) -> None:
        beside = _FIT_MARGIN
        above = _LOW_FIT_MARGIN if self.viewport().height() < _LOW_VIEW else _FIT_MARGIN
        room = self.viewport().rect().marginsRemoved(self._inset).adjusted(beside, above, -beside, -above)
        if room.width() <= 0 or room.height() <= 0:
            return
        self._fitted_size = self.viewport().size()
        if self._scene.is_large:
            self._fit_large(room)
            return
        # Start from labels at their natural size, so that the result does not depend on the previous zoom.
        self._scene.set_zoom(1.0)
        for _ in range(_FIT_ROUNDS):
            content = self._scene.content_rect()
            if content.isEmpty():
                # At 100 %, the first part drawn appears at the mouse in its natural size.
                self.setTransform(QTransform())
                self.centerOn(0, 0)
                break
            zoom = _fitting_zoom(content, room)
            self.setTransform(QTransform.fromScale(zoom, zoom))
            self._centre_in(room, content.center(), zoom)
            self._tell_view()
            if label_scale(zoom) > 1.0:
                self._fit_without_labels(room)
                break
            # Labels are enlarged at this zoom and may need more room.
            if not self._scene.set_zoom(zoom):
                break
        self.zoom_changed.emit(self.zoom)

    def _fit_without_labels(self, room: QRect) -> None:
        """Fit only nodes and links, because labels would make them too small; shorten the labels to fit the view."""
        least = self.zoom
        line = self.fontMetrics().height() + 2 * _LABEL_PADDING
        room = room.adjusted(0, line, 0, -line)
        for _ in range(_FIT_ROUNDS):
            content = self._scene.content_rect(with_labels=False)
            zoom = max(min(_fitting_zoom(content, room), _FIT_ZOOM_OF_FEW_LABELS), least)
            self.setTransform(QTransform.fromScale(zoom, zoom))
            self._centre_in(room, content.center(), zoom)
            free = self.viewport().rect().marginsRemoved(self._inset)
            seen = free.adjusted(_LABEL_MARGIN, _LABEL_MARGIN, -_LABEL_MARGIN, -_LABEL_MARGIN)
            if not self._scene.set_zoom(zoom, self.mapToScene(seen).boundingRect()):
                break
        self._tell_view()

    def _fit_large(self, room: QRect) -> None:
        """Fit a large picture without its labels, which are placed only when they come into view."""
        content = self._scene.content_rect()
        zoom = _fitting_zoom(content, room)
        self._scene.follow_zoom(zoom)
        self.setTransform(QTransform.fromScale(zoom, zoom))
        self._centre_in(room, content.center(), zoom)
        self._tell_view()
        self._scene.end_zooming()
        self.zoom_changed.emit(self.zoom)

    def _tell_view(self) -> None:
        # A scene that is being destroyed detaches from the view, which then scrolls once more.
        if self.scene() is not None:
            self._scene.set_view(self.mapToScene(self.viewport().rect()).boundingRect())

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Place the labels that come into view."""
        super().scrollContentsBy(dx, dy)
        self._tell_view()

    def _to_scene(self, position: QPointF) -> QPointF:
        inverse, _ = self.viewportTransform().inverted()
        return inverse.map(position)

    # --- mouse ------------------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the point under the cursor."""
        delta = event.angleDelta().y() or event.angleDelta().x()
        if delta:
            self.set_zoom(self.zoom * math.pow(_ZOOM_STEP, delta / _WHEEL_NOTCH), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start a click or a gesture."""
        position = event.position().toPoint()
        if self._gesture is not None:
            return
        if event.button() == Qt.MouseButton.MiddleButton or (
            event.button() == Qt.MouseButton.LeftButton and self._space_is_down
        ):
            self._space_was_used = True
            self._keeps_fitting = False
            self._gesture = PanGesture(self, position)
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        elif event.button() == Qt.MouseButton.LeftButton and self._begin_with_tool(position):
            # Fitting again would move the drawn part away from the mouse.
            self._keeps_fitting = False
        elif event.button() == Qt.MouseButton.LeftButton:
            self._press = position
            self._press_select(position, extend=self._extends(event))
        elif event.button() == Qt.MouseButton.RightButton and self._key_at(position) not in self._scene.chosen:
            # The menu applies to the whole selection if the clicked part belongs to it.
            self._press_select(position, extend=False)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Continue a gesture, or start one after a minimum distance."""
        position = event.position().toPoint()
        if self._gesture is None and self._press is not None:
            if (position - self._press).manhattanLength() < QApplication.startDragDistance():
                return
            self._begin_drag(self._press, extend=self._extends(event))
        if self._gesture is not None:
            self._gesture.move(position)
            event.accept()
            return
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the gesture or the click."""
        gesture, self._gesture = self._gesture, None
        self._press = None
        if gesture is not None:
            gesture.finish()
        elif self._pending_click is not None:
            # A click without a drag on one of several selected nodes selects only this node.
            self._scene.choose([self._pending_click])
        self._pending_click = None
        self._show_cursor()
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the properties of the part under the mouse; with a tool, handle a second click."""
        if self.tool is not None:
            self.mousePressEvent(event)
            return
        key = self._key_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton:
            self.activated.emit(key)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of the part under the mouse, or of the selected part if requested by keyboard."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            key = self._scene.chosen[-1] if self._scene.chosen else ""
            centre = self._scene.centre_of(key)
            at = self.mapFromScene(centre) if centre is not None else self.viewport().rect().center()
            self.menu_wanted.emit(key, self.viewport().mapToGlobal(at))
        else:
            self.menu_wanted.emit(self._key_at(event.pos()), event.globalPos())
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept parts from the palette if the document is editable; the window handles files."""
        event.setAccepted(event.mimeData().hasFormat(PART_MIME) and self._is_editable)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Accept parts from the palette everywhere."""
        event.setAccepted(event.mimeData().hasFormat(PART_MIME))

    def dropEvent(self, event: QDropEvent) -> None:
        """Place the part at the drop position."""
        self._keeps_fitting = False
        event.acceptProposedAction()
        part = bytes(event.mimeData().data(PART_MIME).data()).decode()
        self.part_dropped.emit(part, self._to_scene(event.position()))

    def _begin_with_tool(self, position: QPoint) -> bool:
        if self.tool is None or not self._is_editable:
            return False
        self._gesture = self.tool.begin(self, self._scene, self._key_at(position), position)
        return self._gesture is not None

    def _key_at(self, position: QPoint) -> str:
        item = self._scene.item_at(self.mapToScene(position), self.viewportTransform())
        return item.key if item else ""

    def _extends(self, event: QMouseEvent) -> bool:
        return bool(event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier))

    def _press_select(self, position: QPoint, *, extend: bool) -> None:
        key = self._key_at(position)
        chosen = self._scene.chosen
        if extend and key:
            self._scene.choose([k for k in chosen if k != key] if key in chosen else [*chosen, key])
        elif key and key in chosen and len(chosen) > 1:
            self._pending_click = key
        elif not extend:
            self._scene.choose([key] if key else [])

    def _begin_drag(self, start: QPoint, *, extend: bool) -> None:
        key = self._key_at(start)
        self._press = None
        self._pending_click = None
        if key.startswith(("nodes.", "notes.")) and key in self._scene.chosen:
            if not self.can_move_nodes:
                self.viewport().setCursor(Qt.CursorShape.ForbiddenCursor)
            else:
                names = self._movable_names()
                held = key.removeprefix("nodes.")
                self._gesture = MoveGesture(self, self._scene, names, start, self._commit_move, held, self._grid)
                self._keeps_fitting = False
                self.viewport().setCursor(Qt.CursorShape.SizeAllCursor)
        elif not key:
            self._gesture = BandGesture(self, self._scene, start, self._scene.chosen if extend else ())

    def _commit_move(self, places: Mapping[str, QPointF]) -> None:
        self.nodes_moved.emit(dict(places), 0)

    def _cancel_gesture(self) -> bool:
        gesture, self._gesture = self._gesture, None
        self._press = None
        self._pending_click = None
        if gesture is not None:
            gesture.cancel()
        self._show_cursor()
        return gesture is not None

    def _show_cursor(self) -> None:
        if self._space_is_down:
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
        elif self.tool is not None:
            self.viewport().setCursor(self.tool.cursor)
        else:
            self.viewport().unsetCursor()

    # --- keyboard ---------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Claim Space before shortcuts of the window receive it."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Space
            and event.modifiers() == Qt.KeyboardModifier.NoModifier
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys that move between items, move nodes, apply tools, zoom and pan."""
        key, modifiers = Qt.Key(event.key()), event.modifiers()
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if key in _DIRECTIONS and control:
            fine = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
            self._nudge(_DIRECTIONS[key] * (_FINE_NUDGE if fine else self._grid or _NUDGE))
        elif key in _DIRECTIONS:
            self._walk(_DIRECTIONS[key], extend=bool(modifiers & Qt.KeyboardModifier.ShiftModifier))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._enter_with_tool():
            self._keeps_fitting = False
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated.emit(self._scene.chosen[-1] if self._scene.chosen else "")
        elif key == Qt.Key.Key_Escape:
            if self._cancel_gesture():
                pass
            elif self.tool is not None:
                self.tool_given_up.emit()
            elif self._scene.chosen:
                self._scene.choose([])
            else:
                event.ignore()  # the window may handle it
                return
        elif key == Qt.Key.Key_Space and not control:
            if not event.isAutoRepeat():
                self._space_is_down, self._space_was_used = True, False
                self._show_cursor()
        elif key == Qt.Key.Key_F and not control:
            self.fit()
        elif key == Qt.Key.Key_0 and control:
            self.reset_zoom()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal) and control:
            self.zoom_in()
        elif key == Qt.Key.Key_Minus and control:
            self.zoom_out()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Distinguish a tap of Space from a drag."""
        if event.key() != Qt.Key.Key_Space or event.isAutoRepeat():
            super().keyReleaseEvent(event)
            return
        if self._space_is_down and not self._space_was_used:
            self.space_tapped.emit()
        self._space_is_down = False
        self._show_cursor()
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Reset held keys, because a different widget will receive their release."""
        self._space_is_down = False
        self._end_nudging()
        self._show_cursor()
        super().focusOutEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move through the items with Tab; after the last item, Tab moves to the next widget."""
        keys = self._scene.keys_in_reading_order()
        chosen = self._scene.chosen
        index = keys.index(chosen[-1]) if chosen and chosen[-1] in keys else (-1 if forward else len(keys))
        index += 1 if forward else -1
        if 0 <= index < len(keys):
            self._choose_by_key(keys[index])
            return True
        return super().focusNextPrevChild(forward)

    def _enter_with_tool(self) -> bool:
        return self.tool is not None and self._is_editable and self.tool.enter(self, self._scene)

    def _walk(self, direction: QPointF, *, extend: bool) -> None:
        """Select the nearest item in a direction; a sideways offset counts twice."""
        keys = self._scene.keys_in_reading_order()
        here = self._scene.centre_of(self._scene.chosen[-1]) if self._scene.chosen else None
        if here is None:
            if keys:
                self._choose_by_key(keys[0])
            return
        best: tuple[float, str] | None = None
        for key in keys:
            centre = self._scene.centre_of(key)
            if centre is None or key in self._scene.chosen:
                continue
            offset = centre - here
            ahead = QPointF.dotProduct(offset, direction)
            aside = abs(offset.x() * direction.y()) + abs(offset.y() * direction.x())
            if ahead > 1.0 and aside <= 2.5 * ahead and (best is None or ahead + 2 * aside < best[0]):
                best = (ahead + 2 * aside, key)
        if best is not None:
            self._choose_by_key(best[1], self._scene.chosen if extend else ())

    def _choose_by_key(self, key: str, keep: Sequence[str] = ()) -> None:
        self._scene.choose([*keep, key])
        self.reveal(key)

    def _nudge(self, shift: QPointF) -> None:
        names = self._movable_names()
        if not names or not self.can_move_nodes:
            return
        if not self._nudge_session:
            self._nudge_session = next(self._sessions)
        positions = self._scene.places()
        self._keeps_fitting = False
        self.nodes_moved.emit({name: positions[name] + shift for name in names}, self._nudge_session)

    def _movable_names(self) -> list[str]:
        """Return the names of the selected movable parts, i.e. keys of `TopologyScene.places`."""
        return [k.removeprefix("nodes.") for k in self._scene.chosen if k.startswith(("nodes.", "notes."))]

    def _end_nudging(self) -> None:
        self._nudge_session = 0

    # --- drawing ----------------------------------------------------------------------------------------------------

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Draw the grid that nodes snap to, or else faint dots at a limited density."""
        tokens = self._scene.look.tokens
        painter.fillRect(rect, QColor(tokens.base))
        if self._grid is not None:
            self._draw_grid(painter, QRectF(rect), self._grid)
            return
        step = _GRID
        while step * self.zoom < 22:
            step *= 2
        left, top = math.floor(rect.left() / step) * step, math.floor(rect.top() / step) * step
        columns, rows = int(rect.width() / step) + 2, int(rect.height() / step) + 2
        dots = QPolygonF([QPointF(left + x * step, top + y * step) for x in range(columns) for y in range(rows)])
        pen = painter.pen()
        pen.setCosmetic(True)
        pen.setColor(QColor(tokens.border))
        pen.setWidthF(1.6)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints(dots)

    def _draw_grid(self, painter: QPainter, rect: QRectF, step: float) -> None:
        """Draw the lines that nodes snap to, with a wider spacing at low zoom."""
        while step * self.zoom < _LEAST_GRID_PX:
            step *= 2
        pen = QPen(QColor(self._scene.look.tokens.grid), 1)
        pen.setCosmetic(True)
        painter.setPen(pen)
        left, top = math.floor(rect.left() / step) * step, math.floor(rect.top() / step) * step
        lines = [
            QLineF(left + i * step, rect.top(), left + i * step, rect.bottom())
            for i in range(int(rect.width() / step) + 2)
        ]
        lines += [
            QLineF(rect.left(), top + i * step, rect.right(), top + i * step)
            for i in range(int(rect.height() / step) + 2)
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawLines(lines)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the whole picture in view, unless the user has zoomed or panned."""
        super().resizeEvent(event)
        self._tell_view()
        if self._keeps_fitting and self.isVisible() and event.size() != self._fitted_size:
            self._fit_now()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the picture once the real size is known."""
        super().showEvent(event)
        if self._keeps_fitting and self.viewport().size() != self._fitted_size:
            self._fit_now()


def _fitting_zoom(content: QRectF, room: QRect) -> float:
    zoom = min(room.width() / content.width(), room.height() / content.height(), _MOST_FIT_ZOOM)
    return max(zoom, _LEAST_ZOOM)
