"""The whole picture in a corner of the canvas, with a frame around what the canvas shows."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QGraphicsView, QWidget

from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.toolkit.theme import Tokens, current_tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_SIZE = QSize(150, 104)
_MARGIN = 8
_INSET = 6.0
_LEAST_CANVAS = QSize(330, 220)
_STEP = 0.25  # of the view, for arrow keys


class Minimap(QWidget):
    """Shown while the picture is larger than the view; a click or drag moves the view there."""

    def __init__(self, view: QGraphicsView, scene: TopologyScene) -> None:
        super().__init__(view)
        self._view = view
        self._scene = scene
        self._is_wanted = True
        self._picture: QPixmap | None = None
        self._drawn_in: Tokens | None = None
        self._content = QRectF()
        named(self, "topologyMinimap", tr("Overview of the whole picture"), tr("Click or drag to move the view"))
        self.setFixedSize(_SIZE)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()
        scene.laid_out.connect(self._on_laid_out)
        view.horizontalScrollBar().valueChanged.connect(self.refresh)
        view.verticalScrollBar().valueChanged.connect(self.refresh)

    def set_wanted(self, wanted: bool) -> None:
        """Switch it on or off."""
        self._is_wanted = wanted
        self.refresh()

    def refresh(self) -> None:
        """Stand in the corner, if there is something out of view and room to stand."""
        viewport = self._view.viewport()
        shown = self._shown_rect()
        if self._content.isNull():
            self._content = self._scene.node_rect()
        has_room = viewport.width() >= _LEAST_CANVAS.width() and viewport.height() >= _LEAST_CANVAS.height()
        is_needed = self._is_wanted and has_room and not self._content.isNull() and not shown.contains(self._content)
        if is_needed:
            at = viewport.geometry().bottomRight()
            self.move(at.x() - self.width() - _MARGIN, at.y() - self.height() - _MARGIN)
            self.update()
        self.setVisible(is_needed)

    def _on_laid_out(self) -> None:
        self._picture = None
        self._content = QRectF()
        self.refresh()

    def _shown_rect(self) -> QRectF:
        viewport = self._view.viewport().rect()
        return self._view.mapToScene(viewport).boundingRect()

    def _scale(self) -> float:
        area = self._content
        room = QRectF(self.rect()).adjusted(_INSET, _INSET, -_INSET, -_INSET)
        return min(room.width() / max(area.width(), 1.0), room.height() / max(area.height(), 1.0))

    def _to_map(self, point: QPointF) -> QPointF:
        return QRectF(self.rect()).center() + (point - self._content.center()) * self._scale()

    def _to_scene(self, point: QPointF) -> QPointF:
        return self._content.center() + (point - QRectF(self.rect()).center()) / self._scale()

    # --- mouse and keyboard -----------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the view to the click."""
        self._view.centerOn(self._to_scene(event.position()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the view with the mouse."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._view.centerOn(self._to_scene(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the view with the arrow keys."""
        steps = {
            Qt.Key.Key_Left: QPointF(-1, 0),
            Qt.Key.Key_Right: QPointF(1, 0),
            Qt.Key.Key_Up: QPointF(0, -1),
            Qt.Key.Key_Down: QPointF(0, 1),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        shown = self._shown_rect()
        self._view.centerOn(
            shown.center() + QPointF(step.x() * shown.width() * _STEP, step.y() * shown.height() * _STEP)
        )

    # --- drawing ----------------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the picture, which is kept, and the frame over it."""
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(0, 0, self._drawn(tokens))
        shown = self._shown_rect()
        frame = QRectF(self._to_map(shown.topLeft()), self._to_map(shown.bottomRight()))
        fill = QColor(tokens.accent)
        fill.setAlpha(36)
        painter.setBrush(fill)
        painter.setPen(QPen(QColor(tokens.accent), 1.4))
        painter.drawRect(frame.intersected(QRectF(self.rect()).adjusted(1, 1, -1, -1)))

    def _drawn(self, tokens: Tokens) -> QPixmap:
        is_sharp = self._picture is not None and self._picture.devicePixelRatio() == self.devicePixelRatio()
        if self._picture is not None and is_sharp and self._drawn_in is tokens:
            return self._picture
        self._drawn_in = tokens
        picture = QPixmap(self.size() * self.devicePixelRatio())
        picture.setDevicePixelRatio(self.devicePixelRatio())
        picture.fill(QColor(tokens.window))
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens.border), 1))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.setPen(QPen(QColor(tokens.link_line), 0.8))
        scale, origin = self._scale(), QRectF(self.rect()).center() - self._content.center() * self._scale()
        painter.drawLines(
            [QLineF(origin + first * scale, origin + second * scale) for first, second in self._scene.link_ends()]
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.node_border))
        for place in self._scene.node_positions().values():
            painter.drawEllipse(origin + place * scale, 1.8, 1.8)
        painter.end()
        self._picture = picture
        return picture
