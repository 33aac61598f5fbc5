"""The legend under a topology: one entry for each subflow, in its colour; it never covers the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
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
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from subflow_app.features.editor.qt.topology.look import paint_clock
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_SWATCH = 18
_GAP = 7
_CLOCK = 6
_PADDING = QSize(8, 4)
_MOST_ROWS = 3


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One subflow: key of its flow (`flows.download`), text, colour, and what the tooltip says."""

    key: str
    text: str
    colour: str
    tip: str
    is_dashed: bool
    has_events: bool


class Legend(QWidget):
    """A row of entries that wraps; entries can be clicked, and walked with the arrow keys."""

    chosen = Signal(str)  # key of a flow
    menu_wanted = Signal(str, QPoint)  # key of a flow, global position

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[LegendEntry, ...] = ()  # what is listed
        self._rects: list[QRect] = []
        self._chosen_key = ""
        self._current = 0
        self._hovered = -1
        named(self, "topologyLegend", tr("Subflows"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_entries(self, entries: Sequence[LegendEntry]) -> None:
        """List other subflows."""
        self.entries = tuple(entries)
        self._current = min(self._current, max(len(self.entries) - 1, 0))
        self._lay_out()
        self.setAccessibleDescription("; ".join(entry.text for entry in self.entries))

    def set_chosen(self, key: str) -> None:
        """Mark the entries of a flow."""
        self._chosen_key = key
        self.update()

    def hasHeightForWidth(self) -> bool:
        """The height follows from how many rows the width makes."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height that all entries need at a width."""
        rects = self._rects_for(width)
        return rects[-1].bottom() + 1 + 5 if rects else 0

    def sizeHint(self) -> QSize:
        """Return one row's size."""
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def minimumSizeHint(self) -> QSize:
        """Return the height that is needed; the width may be anything."""
        return QSize(80, self.heightForWidth(max(self.width(), 80)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap anew."""
        super().resizeEvent(event)
        self._lay_out()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the entries."""
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
        """Mark what a click would choose."""
        self._set_hovered(self._index_at(event.position().toPoint()))

    def leaveEvent(self, _event: QEvent) -> None:
        """Mark nothing."""
        self._set_hovered(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the flow of an entry."""
        index = self._index_at(event.position().toPoint())
        if index >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._choose(index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of an entry's flow."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self._current if is_by_key else self._index_at(event.pos())
        if 0 <= index < len(self.entries):
            self._choose(index)
            at = self.mapToGlobal(self._rects[index].bottomLeft()) if is_by_key else event.globalPos()
            self.menu_wanted.emit(self.entries[index].key, at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk with the arrow keys."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        key = Qt.Key(event.key())
        if key in steps and self.entries:
            self._choose((self._current + steps[key]) % len(self.entries))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.entries:
            self._choose(self._current)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which entry is meant."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide it again."""
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

    # --- inside -----------------------------------------------------------------------------------------------------

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

    def _lay_out(self) -> None:
        self._rects = self._rects_for(self.width())
        self.updateGeometry()
        self.update()

    def _rects_for(self, width: int) -> list[QRect]:
        """Return the rectangles of all entries at a width; rows beyond the most there may be narrow the entries."""
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
