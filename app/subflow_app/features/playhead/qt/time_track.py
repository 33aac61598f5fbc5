"""Timeline of the transport bar: position of the playhead, simulated part of the run, and ticks for events."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_STEPS = 100_000  # resolution of the value for screen readers
LEFT, RIGHT_MARGIN = 48, 16  # px: position of time 0, and distance of the end of the run from the right edge
_GROOVE, _KNOB = 4.0, 5.5
_BOTTOM = 7.0  # px from the middle of the groove to the lower edge
_KEY_SHARE, _SHIFT_SHARE = 0.01, 0.1
# Colour token and length of the ticks by kind of event, px from the groove.
_TICKS: Mapping[str, tuple[str, float]] = {
    "loss": ("muted_text", 4.0),
    "start": ("accent", 7.0),
    "rto": ("error", 7.0),
    "meta_rto": ("error", 8.0),
    "scripted_drop": ("error", 5.0),
    "link_change": ("warning", 7.0),
    "scenario": ("warning", 7.0),
    "live": ("warning", 8.0),
    "link_up": ("ok", 8.0),
    "link_down": ("error", 8.0),
}


class TimeTrack(QSlider):
    """Slider over the time of a run. It only emits the times that the user chooses; `show_time` sets its position."""

    wanted = Signal(float)  # s
    pointed = Signal(object)  # time under the mouse, s, or None
    play_wanted = Signal()

    def __init__(self, height: int, parent: QWidget | None = None) -> None:
        """Starts without a run."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        named(self, "time_track", tr("Time of the run"))
        self.setRange(0, _STEPS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._height = height
        self._end_s = 1.0
        self._known_s = 0.0
        self.time_s = 0.0  # position of the knob, s
        self._prepared = 1.0
        self._ticks: Mapping[str, NDArray[np.float64]] = {}
        self._sides = (float(LEFT), float(RIGHT_MARGIN))
        self._seen: tuple[float, float] | None = None
        self.setMouseTracking(True)

    def set_sides(self, left: float, right_margin: float) -> None:
        """Draw time 0 at ``left``, and the end of the run ``right_margin`` from the right edge, both px."""
        if (left, right_margin) != self._sides:
            self._sides = (left, right_margin)
            self.update()

    def show_seen(self, seen_s: tuple[float, float] | None) -> None:
        """Draw brackets around the times that the plots show, s; None: the whole run."""
        if seen_s != self._seen:
            self._seen = seen_s
            self.update()

    # ---- displayed state ----

    def show_time(self, time_s: float, known_s: float, end_s: float, text: str) -> None:
        """Moves the knob to a time of a run; ``text`` is the time for screen readers."""
        shown = (time_s, known_s, end_s)
        if shown == (self.time_s, self._known_s, self._end_s):
            return
        self.time_s, self._known_s, self._end_s = time_s, known_s, max(end_s, 1e-9)
        blocked = self.blockSignals(True)
        self.setValue(round(time_s / self._end_s * _STEPS))
        self.blockSignals(blocked)
        self.setAccessibleDescription(text)
        self.update()

    def show_ticks(self, ticks: Mapping[str, NDArray[np.float64]]) -> None:
        """Draws ticks at these times, float64 [n] by kind, s."""
        self._ticks = ticks
        self.update()

    def show_prepared(self, share: float) -> None:
        """Draws the share (0 to 1) of the run that is covered by snapshots, which make seeking fast."""
        if share != self._prepared:
            self._prepared = share
            self.update()

    def tick_columns(self, kind: str) -> list[int]:
        """Distinct positions of the ticks of a kind, px; several ticks may share a pixel."""
        times = self._ticks.get(kind, np.empty(0))
        # np.unique would load numpy's masked arrays, which would delay the first picture of the first run.
        return sorted(set(np.round(self._x_of(times)).astype(np.int64).tolist()))

    # ---- mouse and keys ----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Moves to the clicked time."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._go_to_x(event.position().x())
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Moves with the dragged mouse."""
        if self.isSliderDown():
            self._go_to_x(event.position().x())
        else:
            self.pointed.emit(self._time_at(event.position().x()))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Point at no time."""
        super().leaveEvent(event)
        self.pointed.emit(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Moves by hundredths of the run, or with Shift by tenths."""
        notches = (event.angleDelta().y() or event.angleDelta().x()) / 120.0
        self._go_by(-notches, event.modifiers())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Moves by a hundredth with arrow keys, by a tenth with page keys or Shift; Home and End jump, Space plays."""
        by = {
            Qt.Key.Key_Left: -1.0,
            Qt.Key.Key_Down: -1.0,
            Qt.Key.Key_Right: 1.0,
            Qt.Key.Key_Up: 1.0,
            Qt.Key.Key_PageDown: -10.0,
            Qt.Key.Key_PageUp: 10.0,
        }.get(Qt.Key(event.key()))
        if by is not None:
            self._go_by(by, event.modifiers())
        elif event.key() == Qt.Key.Key_Home:
            self.wanted.emit(0.0)
        elif event.key() == Qt.Key.Key_End:
            self.wanted.emit(self._known_s)
        elif event.key() == Qt.Key.Key_Space:
            self.play_wanted.emit()
        else:
            event.ignore()
            return
        event.accept()

    def _go_by(self, steps: float, modifiers: Qt.KeyboardModifier) -> None:
        share = _SHIFT_SHARE if modifiers & Qt.KeyboardModifier.ShiftModifier else _KEY_SHARE
        self.wanted.emit(min(max(self.time_s + steps * share * self._end_s, 0.0), self._known_s))

    def _go_to_x(self, x: float) -> None:
        self.wanted.emit(self._time_at(x))

    def _time_at(self, x: float) -> float:
        left, right_margin = self._sides
        share = (x - left) / max(1.0, self.width() - left - right_margin)
        return min(max(share * self._end_s, 0.0), self._known_s)

    # ---- drawing ----

    def sizeHint(self) -> QSize:
        """240 px wide, with the height given to the constructor."""
        return QSize(240, self._height)

    def minimumSizeHint(self) -> QSize:
        """80 px wide, with the height given to the constructor."""
        return QSize(80, self._height)

    def _x_of(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        left, right_margin = self._sides
        return left + time_s / self._end_s * (self.width() - left - right_margin)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() - _BOTTOM
        left, right = self._sides[0], self.width() - self._sides[1]
        knob_x, known_x = (float(self._x_of(np.array(t))) for t in (self.time_s, self._known_s))
        painter.setPen(Qt.PenStyle.NoPen)
        for end, colour in ((right, tokens.border), (known_x, tokens.link_line), (knob_x, tokens.accent)):
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(left, middle - _GROOVE / 2, max(0.0, end - left), _GROOVE), 2, 2)
        if self._prepared < 1.0:
            # Progress of the first simulation pass, as a thin line below the groove until the pass ends.
            painter.setBrush(QColor(tokens.ok))
            painter.drawRect(QRectF(left, self.height() - 2.5, (known_x - left) * self._prepared, 1.5))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for kind, (token, reach) in _TICKS.items():
            columns = self.tick_columns(kind)
            if not columns:
                continue
            painter.setPen(QPen(QColor(getattr(tokens, token)), 1))
            top, bottom = middle - _GROOVE / 2 - reach, middle - _GROOVE / 2 - 1
            painter.drawLines([QLineF(x, top, x, bottom) for x in columns])
        if self._seen is not None:
            painter.setPen(QPen(QColor(tokens.text), 1.5))
            for time_s, way in zip(self._seen, (1, -1), strict=True):
                x = float(self._x_of(np.array(min(max(time_s, 0.0), self._end_s))))
                inner = x + 3 * way
                corners = ((inner, -5), (x, -5), (x, 5), (inner, 5))
                painter.drawPolyline([QPointF(at, middle + by) for at, by in corners])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens.base), 1.5))
        painter.setBrush(QColor(tokens.accent if self.isEnabled() else tokens.muted_text))
        painter.drawEllipse(QRectF(knob_x - _KNOB, middle - _KNOB, 2 * _KNOB, 2 * _KNOB))
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QRectF(knob_x - _KNOB - 2.5, middle - _KNOB - 2.5, 2 * _KNOB + 5, 2 * _KNOB + 5))
