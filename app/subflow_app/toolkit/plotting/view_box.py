"""Zoom and pan of one plot: over time, wheel and mouse move time alone; over another quantity, both axes."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QPoint, Qt, Signal

_X, _Y = 0, 1


class PlotViewBox(pg.ViewBox):  # type: ignore[misc] # pyqtgraph is untyped
    """A view box in which a person cannot get lost: a double-click shows everything, Shift and drag a rectangle."""

    reset_requested = Signal()
    menu_requested = Signal(QPoint)  # global position

    def __init__(self) -> None:
        """A view box without pyqtgraph's own menu, whose export is broken on this version of Qt."""
        super().__init__(enableMenu=False)

    @property
    def is_fitting_values(self) -> bool:
        """Whether the value axis still follows the curves."""
        return bool(self.autoRangeEnabled()[_Y])

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Pans, zooms an axis (right button) or zooms to a rectangle (Shift)."""
        left = event.button() == Qt.MouseButton.LeftButton
        with_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if left and axis is None and (with_shift or self.state["mouseMode"] == self.RectMode):
            # Set at every move, so that letting go of Shift before the button does not leave the rubber band behind.
            self.setMouseMode(self.RectMode)
            super().mouseDragEvent(event, axis=None)
            if event.isFinish():
                self.setMouseMode(self.PanMode)
            return
        super().mouseDragEvent(event, axis=self._dragged_axis(axis) if left else axis)

    def _dragged_axis(self, axis: int | None) -> int | None:
        return axis

    def mouseClickEvent(self, event: Any) -> None:
        """Asks for the menu on a right click."""
        if event.button() == Qt.MouseButton.RightButton:
            event.accept()
            self.menu_requested.emit(event.screenPos().toPoint())

    def mouseDoubleClickEvent(self, event: Any) -> None:
        """Asks to show everything again."""
        event.accept()
        self.reset_requested.emit()


class TimeViewBox(PlotViewBox):
    """Of a plot over time.

    Several beside each other can share one value axis, which fits itself to the curves of all of them.

    Wheel and left drag act on time alone while the value axis fits itself to what is in view; over the value axis, or
    with the right button, they act on values (and from then on a drag moves both).
    """

    _leader: TimeViewBox | None = None  # that has the value axis of this one

    def __init__(self) -> None:
        """Values fit themselves."""
        self._followers: list[TimeViewBox] = []
        super().__init__()
        self.enableAutoRange(x=False, y=True)
        # The value axis fits the part of the curves that is in view, not all of it.
        self.setAutoVisible(y=True)

    def share_values(self, leader: TimeViewBox) -> None:
        """Takes the value axis of another view from now on, which looks at the curves of this one too."""
        self.setYLink(leader)
        self._leader = leader
        leader._followers.append(self)

    @property
    def is_fitting_values(self) -> bool:
        """Whether the value axis still follows the curves."""
        return bool((self._leader or self).autoRangeEnabled()[_Y])

    def fit_values(self) -> None:
        """Lets the value axis follow the curves again."""
        (self._leader or self).enableAutoRange(y=True)

    def fit_now(self) -> None:
        """Fits the values without waiting for the next picture."""
        (self._leader or self).updateAutoRange()

    def enableAutoRange(self, axis: Any = None, enable: Any = True, x: Any = None, y: Any = None) -> None:
        """As pyqtgraph does; what takes the axis of another view never fits its own."""
        if self._leader is None or enable is False or x is not None or y is not None:
            super().enableAutoRange(axis, enable, x, y)

    def childrenBounds(self, *args: Any, **kwargs: Any) -> Any:
        """Bounds of the curves, of their values in all views that share the axis."""
        bounds = super().childrenBounds(*args, **kwargs)
        for follower in self._followers:
            values = follower.childrenBounds(*args, **kwargs)[_Y]
            if values is not None:
                own = bounds[_Y] or values
                bounds[_Y] = [min(own[0], values[0]), max(own[1], values[1])]
        return bounds

    def itemBoundsChanged(self, item: Any) -> None:
        """Has the values fitted anew, by the view that has their axis."""
        super().itemBoundsChanged(item)
        if self._leader is not None:
            self._leader.queueUpdateAutoRange()

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zooms around the cursor."""
        super().wheelEvent(event, axis=_X if axis is None and self.is_fitting_values else axis)

    def _dragged_axis(self, axis: int | None) -> int | None:
        return _X if axis is None and self.is_fitting_values else axis
