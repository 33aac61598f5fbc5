"""An outline around what a step of a lab speaks of, wherever that is in the window just now."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QElapsedTimer, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QStyle, QWidget

from subflow_app.features.labs.core.lab import Target
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import timer

Finder = Callable[[Target], QRect | None]
"""Where something is in the window, px; None while it is not to be seen."""

_TICK_MS = 60
_STILL_TICK_MS = 250
_PULSE_MS = 1600
_MARGIN = 3


class Spotlight(QWidget):
    """Lies over the window, takes no clicks, and shows nothing while there is nothing to point at."""

    def __init__(self, window: QWidget, find: Finder) -> None:
        """Points at nothing."""
        super().__init__(window)
        self.setObjectName("lab_spotlight")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._window = window
        self._find = find
        self.targets: tuple[Target, ...] = ()  # what it points at
        self.places: list[QRect] = []  # where that is, px in the window
        self._clock = QElapsedTimer()
        self._timer = timer(self, self._follow)
        self.hide()

    def point_at(self, targets: Sequence[Target]) -> None:
        """Points at these; at nothing if there are none."""
        self.targets = tuple(targets)
        if not self.targets:
            self._timer.stop()
            self.places = []
            self.hide()
            return
        self._clock.start()
        # A still outline follows what it points at, too, only less often.
        self._timer.start(_TICK_MS if moves() else _STILL_TICK_MS)
        self._follow()

    def _follow(self) -> None:
        found = [place for target in self.targets if (place := self._find(target)) is not None]
        places = [place.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN) for place in found]
        is_elsewhere = places != self.places
        self.places = places
        if not places:
            self.hide()
            return
        around = places[0]
        for place in places[1:]:
            around = around.united(place)
        around = around.adjusted(-3, -3, 3, 3).intersected(self._window.rect())
        if is_elsewhere or not self.isVisible():
            self.setGeometry(around)
            self.show()
            self.raise_()
        if is_elsewhere or moves():
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The outlines, which grow stronger and weaker."""
        strength = 1.0
        if moves():
            strength = 0.65 + 0.35 * math.cos(2 * math.pi * self._clock.elapsed() / _PULSE_MS)
        colour = QColor(current_tokens().warning)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.pos())
        for width, alpha in ((4.0, 0.25), (2.0, 1.0)):
            colour.setAlphaF(alpha * strength)
            painter.setPen(QPen(colour, width))
            for place in self.places:
                painter.drawRoundedRect(place, 6, 6)


def moves() -> bool:
    """Whether the desktop wants anything to move by itself."""
    duration = QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
    return duration > 0 and QApplication.isEffectEnabled(Qt.UIEffect.UI_General)
