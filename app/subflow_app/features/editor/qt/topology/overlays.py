"""Widgets around the picture of a topology: notice, zoom buttons, minimap and legend.

The minimap shows the whole picture in a corner of the canvas, with a frame around the visible part. The legend has an
entry in its colour for each subflow. It lies over the lower end of the canvas, which the fitted picture leaves free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsView, QLabel, QToolButton, QToolTip, QWidget

from subflow_app.features.editor.qt.topology.items import paint_clock
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, set_style
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named
from subflow_app.vocabulary.language import tr

NoticeKind: TypeAlias = Literal["empty", "hint", "banner"]


class Notice(Label):
    """A message over the canvas: a banner at its top, a hint at its bottom, or the empty state in its middle."""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._kind: NoticeKind = "empty"
        self.setObjectName("topologyNotice")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        follow_theme(self._recolour)
        self.hide()

    @property
    def text_shown(self) -> str:
        """The visible text; empty if the notice is hidden."""
        return QLabel.text(self) if not self.isHidden() else ""

    def say(self, text: str, kind: NoticeKind = "empty") -> None:
        """Show a message; an empty text hides the notice."""
        self.setText(text)
        self._kind = kind
        self.setVisible(bool(text))
        self._recolour(current_tokens())
        self.place()

    def _recolour(self, tokens: Tokens) -> None:
        if self._kind == "hint":
            style = (
                f"color: {tokens.text}; background: {tokens.base}; border: 1px solid {tokens.border};"
                "border-radius: 6px; padding: 5px 12px;"
            )
        elif self._kind == "banner":
            style = (
                f"color: {tokens.text}; background: {tokens.warning_fill}; border: 1px solid {tokens.warning};"
                "border-radius: 6px; padding: 5px 12px;"
            )
        else:
            style = f"color: {tokens.muted_text}; background: transparent;"
        self.setStyleSheet(style)

    def place(self) -> None:
        """Move the notice to the top, bottom or middle of the canvas, depending on its kind."""
        room = self._canvas.rect().adjusted(16, 10, -16, -10)
        width = min(self._natural_width(), room.width())
        height = self.heightForWidth(width)
        tops = {"banner": room.top(), "hint": room.bottom() - height, "empty": room.center().y() - height // 2}
        self.setGeometry(QRect(room.center().x() - width // 2, tops[self._kind], width, height))

    def _natural_width(self) -> int:
        lines = self.text().split("\n")
        return max(self.fontMetrics().horizontalAdvance(line) for line in lines) + 40


class ZoomBar(QFrame):
    """Buttons to zoom and to unlock nodes, over the lower right corner of the canvas."""

    fit_wanted = Signal()
    zoom_in_wanted = Signal()
    zoom_out_wanted = Signal()
    reset_wanted = Signal()
    unlock_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("topologyZoomBar")
        self._out = self._button("zoom_out", tr("Zoom out (Ctrl+-)"), "zoomOutButton", self.zoom_out_wanted)
        self._reset = self._button("", tr("Zoom to 100 % (Ctrl+0)"), "zoomResetButton", self.reset_wanted)
        self._in = self._button("zoom_in", tr("Zoom in (Ctrl++)"), "zoomInButton", self.zoom_in_wanted)
        self._fit = self._button("fit", tr("Fit to view (F)"), "zoomFitButton", self.fit_wanted)
        self._reset.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self._reset.setMinimumWidth(self.fontMetrics().horizontalAdvance("600 %") + 8)
        self._lock = self._button(
            "lock", tr("Nodes are locked: click to let them be moved"), "unlockButton", self.unlock_wanted
        )
        self._lock.setIcon(icon("lock", "warning"))
        self._lock.hide()
        h_box(self, self._lock, self._out, self._reset, self._in, self._fit, margins=(4, 4, 6, 4), spacing=1)
        set_style(self, _zoom_style)
        self.show_zoom(1.0)

    def _button(self, icon_name: str, tip: str, name: str, wanted: SignalInstance) -> QToolButton:
        button = named(QToolButton(self, autoRaise=True), name, tip.partition(" (")[0], tip)
        button.setIconSize(QSize(16, 16))
        # The canvas has a key for each button, so Tab skips the buttons.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if icon_name:
            button.setIcon(icon(icon_name, "muted_text"))
        button.clicked.connect(wanted)
        return button

    def show_zoom(self, zoom: float) -> None:
        """Show the zoom in percent."""
        self._reset.setText(f"{zoom * 100:.0f} %")

    def show_locked(self, locked: bool) -> None:
        """Show or hide the lock."""
        self._lock.setVisible(locked)


def _zoom_style(t: Tokens) -> str:
    return (
        "#topologyZoomBar { background: transparent; border: none; }"
        f"QToolButton {{ color: {t.muted_text}; border: none; border-radius: 4px; padding: 3px; }}"
        f"QToolButton:hover {{ background: {t.button_hover}; color: {t.text}; }}"
    )


_SIZE = QSize(150, 104)
_MARGIN = 8
_INSET = 6.0
_LEAST_CANVAS = QSize(330, 220)
_STEP = 0.25  # share of the view by which an arrow key moves the view


class Minimap(QWidget):
    """Overview shown while the picture is larger than the view; a click or drag moves the view."""

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
        """Enable or disable the minimap."""
        self._is_wanted = wanted
        self.refresh()

    def refresh(self) -> None:
        """Show the minimap in the corner if nodes are out of view and the canvas is large enough."""
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
        """Draw the cached picture, and the frame over it."""
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


_SWATCH = 18
_GAP = 7
_CLOCK = 6
_PADDING = QSize(8, 4)
_MOST_ROWS = 3


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A subflow: key of its flow (`flows.download`), text, colour and tooltip."""

    key: str
    text: str
    colour: str
    tip: str
    is_dashed: bool
    has_events: bool


class Legend(QWidget):
    """A wrapping row of entries, which can be selected by mouse or keyboard."""

    chosen = Signal(str)  # key of a flow
    menu_wanted = Signal(str, QPoint)  # key of a flow, global position

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[LegendEntry, ...] = ()
        self._rects: list[QRect] = []
        self._chosen_key = ""
        self._current = 0
        self._hovered = -1
        named(self, "topologyLegend", tr("Subflows"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)

    def set_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Set the listed subflows."""
        self.entries = tuple(entries)
        self._current = min(self._current, max(len(self.entries) - 1, 0))
        self._wrap()
        self.updateGeometry()
        self.setAccessibleDescription("; ".join(entry.text for entry in self.entries))

    def set_chosen(self, key: str) -> None:
        """Mark the entries of a flow."""
        self._chosen_key = key
        self.update()

    def heightForWidth(self, width: int) -> int:
        """Return the height of all entries at a width."""
        rects = self._rects_for(width)
        return rects[-1].bottom() + 1 + 5 if rects else 0

    def width_in(self, room: int) -> int:
        """Return the width of the entries if they wrap at a width of `room` px."""
        return max((rect.right() + 5 for rect in self._rects_for(room)), default=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the entries again."""
        super().resizeEvent(event)
        self._wrap()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the entries, and highlight the chosen, the hovered and the focused entry."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, (entry, rect) in enumerate(zip(self.entries, self._rects, strict=True)):
            self._paint_entry(painter, index, entry, rect)

    def _paint_entry(self, painter: QPainter, index: int, entry: LegendEntry, rect: QRect) -> None:
        tokens = current_tokens()
        is_chosen = entry.key == self._chosen_key
        if is_chosen or index == self._hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.info_fill if is_chosen else tokens.button_hover))
            painter.drawRoundedRect(rect, 5, 5)
        if self.hasFocus() and index == self._current:
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 5, 5)
        middle = rect.center().y() + 0.5
        left = rect.left() + _PADDING.width()
        pen = QPen(QColor(entry.colour), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
        if entry.is_dashed:
            pen.setDashPattern([1.6, 0.8])
        painter.setPen(pen)
        painter.drawLine(QPointF(left, middle), QPointF(left + _SWATCH, middle))
        painter.setPen(QColor(tokens.text))
        text_rect = rect.adjusted(_PADDING.width() + _SWATCH + _GAP, 0, -_PADDING.width(), 0)
        if entry.has_events:
            paint_clock(painter, QPointF(text_rect.right() - _CLOCK + 1, middle), _CLOCK, tokens)
            text_rect.adjust(0, 0, -2 * _CLOCK - 4, 0)
            painter.setPen(QColor(tokens.text))
        text = self.fontMetrics().elidedText(entry.text, Qt.TextElideMode.ElideRight, text_rect.width())
        painter.drawText(text_rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    # --- mouse and keyboard -----------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the entry under the mouse."""
        self._set_hovered(self._index_at(event.position().toPoint()))

    def leaveEvent(self, _event: QEvent) -> None:
        """Remove the highlight."""
        self._set_hovered(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the flow of the clicked entry."""
        index = self._index_at(event.position().toPoint())
        if index >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._choose(index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of an entry's flow."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self._current if is_by_key else self._index_at(event.pos())
        if 0 <= index < len(self.entries):
            self._choose(index)
            at = self.mapToGlobal(self._rects[index].bottomLeft()) if is_by_key else event.globalPos()
            self.menu_wanted.emit(self.entries[index].key, at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the adjacent entry with an arrow key, or the current entry with Enter."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        key = Qt.Key(event.key())
        if key in steps and self.entries:
            self._choose((self._current + steps[key]) % len(self.entries))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.entries:
            self._choose(self._current)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus frame of the current entry."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus frame."""
        super().focusOutEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of the entry under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self._index_at(event.pos())
            if index >= 0:
                QToolTip.showText(event.globalPos(), self.entries[index].tip, self, self._rects[index])
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    # --- internals --------------------------------------------------------------------------------------------------

    def _choose(self, index: int) -> None:
        self._current = index
        self.update()
        self.chosen.emit(self.entries[index].key)

    def _set_hovered(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.update()

    def _index_at(self, position: QPoint) -> int:
        return next((index for index, rect in enumerate(self._rects) if rect.contains(position)), -1)

    def _wrap(self) -> None:
        self._rects = self._rects_for(self.width())
        self.update()

    def _rects_for(self, width: int) -> list[QRect]:
        """Return the rectangles of all entries at a width; entries that would need too many rows become narrower."""
        metrics = QFontMetrics(self.font())
        height = metrics.height() + 2 * _PADDING.height()
        fixed = 2 * _PADDING.width() + _SWATCH + _GAP + 2
        wanted = [
            fixed + metrics.horizontalAdvance(entry.text) + (2 * _CLOCK + 4 if entry.has_events else 0)
            for entry in self.entries
        ]
        rects: list[QRect] = []
        for most in (width, 260, 190, 150, 120, 96):
            rects = []
            x, y = 4, 5
            for each in wanted:
                each = min(each, most, max(width - 8, 60))
                if x > 4 and x + each > width - 4:
                    x, y = 4, y + height
                rects.append(QRect(x, y, each, height))
                x += each + 2
            if not rects or (y - 5) // height < _MOST_ROWS:
                return rects
        return rects
