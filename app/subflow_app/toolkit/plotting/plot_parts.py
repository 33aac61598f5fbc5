"""Parts of plots: view boxes for zoom and pan, axes, titles, event marks, and a layout that scrolls.

On plots over time, wheel and mouse move only the time axis while the value axis is automatic; on other plots, they move
both axes. On a logarithmic axis, the ticks 1 and 10 have numbers, and also 2 and 5 if a decade is long enough.

A title is one line of coloured text, elided at its end. Losses are ticks at the bottom of a plot, and changes of links
and controllers are lines across it. A layout of several plots passes scroll events to the surrounding scroll area.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPainterPath, QPen, QWheelEvent
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.widgets.shorthand import sized
from subflow_app.vocabulary.number_text import typeset

_X, _Y = 0, 1


class PlotViewBox(pg.ViewBox):  # type: ignore[misc] # pyqtgraph is untyped
    """A view box in which Shift+drag zooms to a rectangle, and a double-click shows all data again."""

    reset_requested = Signal()
    menu_requested = Signal(QPoint)  # global position

    def __init__(self) -> None:
        """Create a view box without pyqtgraph's menu, whose export fails with this version of Qt."""
        super().__init__(enableMenu=False)

    @property
    def is_fitting_values(self) -> bool:
        """True if the value axis follows the curves."""
        return bool(self.autoRangeEnabled()[_Y])

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Pan, zoom an axis (right button) or zoom to a rectangle (Shift)."""
        left = event.button() == Qt.MouseButton.LeftButton
        with_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if left and axis is None and (with_shift or self.state["mouseMode"] == self.RectMode):
            # Set at every move, so that no rubber band remains if Shift is released before the button.
            self.setMouseMode(self.RectMode)
            super().mouseDragEvent(event, axis=None)
            if event.isFinish():
                self.setMouseMode(self.PanMode)
            return
        super().mouseDragEvent(event, axis=self._dragged_axis(axis) if left else axis)

    def _dragged_axis(self, axis: int | None) -> int | None:
        return axis

    def mouseClickEvent(self, event: Any) -> None:
        """Request the menu on a right click."""
        if event.button() == Qt.MouseButton.RightButton:
            event.accept()
            self.menu_requested.emit(event.screenPos().toPoint())

    def mouseDoubleClickEvent(self, event: Any) -> None:
        """Request that all data be shown."""
        event.accept()
        self.reset_requested.emit()


class TimeViewBox(PlotViewBox):
    """The view box of a plot over time.

    Several view boxes side by side can share one value axis, which fits the curves of all of them.

    While the value axis is automatic, wheel and left drag move only the time axis. Over the value axis, or with the
    right button, they move the value axis, and from then on a drag moves both axes.
    """

    _leader: TimeViewBox | None = None  # the view whose value axis this one uses

    def __init__(self) -> None:
        """Start with an automatic value axis."""
        self._followers: list[TimeViewBox] = []
        super().__init__()
        self.enableAutoRange(x=False, y=True)
        # The value axis fits only the visible part of the curves.
        self.setAutoVisible(y=True)

    def share_values(self, leader: TimeViewBox) -> None:
        """From now on, use the value axis of another view, which then also fits the curves of this view."""
        self.setYLink(leader)
        self._leader = leader
        leader._followers.append(self)

    @property
    def is_fitting_values(self) -> bool:
        """True if the value axis follows the curves."""
        return bool((self._leader or self).autoRangeEnabled()[_Y])

    def fit_values(self) -> None:
        """Let the value axis follow the curves again."""
        (self._leader or self).enableAutoRange(y=True)

    def fit_now(self) -> None:
        """Fit the values immediately instead of at the next paint."""
        (self._leader or self).updateAutoRange()

    def enableAutoRange(self, axis: Any = None, enable: Any = True, x: Any = None, y: Any = None) -> None:
        """Enable automatic ranges as pyqtgraph does.

        A view that uses the value axis of another view ignores calls without `x` and `y`, unless they disable ranges.
        """
        if self._leader is None or enable is False or x is not None or y is not None:
            super().enableAutoRange(axis, enable, x, y)

    def childrenBounds(self, *args: Any, **kwargs: Any) -> Any:
        """Bounds of the curves, with the values of all views that share the axis."""
        bounds = super().childrenBounds(*args, **kwargs)
        for follower in self._followers:
            values = follower.childrenBounds(*args, **kwargs)[_Y]
            if values is not None:
                own = bounds[_Y] or values
                bounds[_Y] = [min(own[0], values[0]), max(own[1], values[1])]
        return bounds

    def itemBoundsChanged(self, item: Any) -> None:
        """Schedule a fit of the values in the view that owns the value axis."""
        super().itemBoundsChanged(item)
        if self._leader is not None:
            self._leader.queueUpdateAutoRange()

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom around the cursor."""
        super().wheelEvent(event, axis=_X if axis is None and self.is_fitting_values else axis)

    def _dragged_axis(self, axis: int | None) -> int | None:
        return _X if axis is None and self.is_fitting_values else axis


# Space beyond each end of the axis, px, which holds half of the number at that end.
_OVERHANG = 15.0
# Minimum length of a decade on a logarithmic axis, px, at which the ticks 2 and 5 also have numbers.
_DECADE_WITH_STEPS = 60.0


class Axis(pg.AxisItem):  # type: ignore[misc] # pyqtgraph is untyped
    """An axis that shows all its numbers even with a grid, and the numbers 1, 2 and 5 on a logarithmic scale."""

    unit = ""  # written after each number

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        """Numbers of the ticks, with the unit."""
        texts = [typeset(text) for text in super().tickStrings(values, scale, spacing)]
        return [f"{text} {self.unit}" if text else text for text in texts] if self.unit else texts

    def boundingRect(self) -> QRectF:
        """The area in which the axis draws.

        WORKAROUND(pyqtgraph 0.14.0): with a grid, pyqtgraph omits the space beyond the ends and the numbers there, so
        that an axis that starts at zero lacks the 0.
        """
        area: QRectF = super().boundingRect()
        if self.grid is False:
            return area
        if self.orientation in ("left", "right"):
            return area.adjusted(0.0, -_OVERHANG, 0.0, _OVERHANG)
        return area.adjusted(-_OVERHANG, 0.0, _OVERHANG, 0.0)

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """Spacings of the ticks and their offsets, such that numbers on a short vertical axis do not overlap."""
        spacings: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        if not spacings or self.orientation not in ("left", "right"):
            return spacings
        least = (high - low) * self.style["tickTextHeight"] / size
        if spacings[0][0] >= least:
            return spacings
        decade = 10.0 ** math.floor(math.log10(least))
        return [(next(digit * decade for digit in (1, 2, 5, 10) if digit * decade >= least), 0.0)]

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Ticks with their spacing; empty for an axis that only closes the frame, because each tick would be a dot."""
        if self.style["tickLength"] == 0:
            return []
        ticks: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
        return ticks

    def logTickValues(
        self, low: float, high: float, size: float, _linear: Sequence[tuple[float, Sequence[float]]]
    ) -> list[tuple[float | None, list[float]]]:
        """Ticks of a logarithmic axis, as exponents: ticks with numbers first, then ticks with only a grid line."""
        decades = range(math.floor(low), math.ceil(high) + 1)
        numbered = (1, 2, 5) if size >= _DECADE_WITH_STEPS * (high - low) else (1,)

        def ticks(digits: Sequence[int]) -> list[float]:
            values = (decade + math.log10(digit) for decade in decades for digit in digits)
            return [value for value in values if low <= value <= high]

        return [(None, ticks(numbered)), (None, ticks([digit for digit in range(1, 10) if digit not in numbered]))]

    def logTickStrings(self, values: Sequence[float], _scale: float, _spacing: float | None) -> list[str]:
        """Numbers of the ticks 1, 2 and 5 times a power of ten; empty texts for all other ticks."""
        numbers = [10.0**value for value in values]
        return [fmt.number(number, 1) if _leading_digit(number) in (1, 2, 5) else "" for number in numbers]


def _leading_digit(number: float) -> int:
    return round(number / 10.0 ** math.floor(math.log10(number) + 1e-9))


_MARGIN = 4.0


class Span(NamedTuple):
    """A piece of the title with one colour and weight."""

    text: str
    colour: str
    bold: bool = False


class TitleItem(QGraphicsWidget):
    """A title in a graphics layout; pyqtgraph's label would widen the whole layout to fit a long text."""

    def __init__(self, font: QFont) -> None:
        """Make an empty line in this font."""
        super().__init__()
        self._font = QFont(font)
        self._bold = sized(font, is_bold=True)
        self._spans: tuple[Span, ...] = ()
        height = QFontMetricsF(self._bold).height() + 2 * _MARGIN - 2
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)

    def set_spans(self, spans: Sequence[Span]) -> None:
        """Replace the text."""
        new = tuple(spans)
        if new != self._spans:
            self._spans = new
            self.update()

    def text(self) -> str:
        """The whole text, including elided parts."""
        return "".join(span.text for span in self._spans)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the spans until the width is used up."""
        x, right = _MARGIN, self.size().width() - _MARGIN
        metrics = QFontMetricsF(self._bold)
        baseline = (self.size().height() + metrics.ascent() - metrics.descent()) / 2
        for span in self._spans:
            font = self._bold if span.bold else self._font
            metrics = QFontMetricsF(font)
            text = metrics.elidedText(span.text, Qt.TextElideMode.ElideRight, right - x)
            painter.setFont(font)
            painter.setPen(QColor(span.colour))
            painter.drawText(QPointF(x, baseline), text)
            x += metrics.horizontalAdvance(text)
            if text != span.text:
                break


# Heights of ticks, as shares of the plot's height: tall for rare and severe events, short for the frequent actions of
# agents.
HEIGHTS = {"action": 0.02, "loss": 0.045, "penalised": 0.075, "rto": 0.11}
# Above this number, only one tick per column of pixels is drawn, because an agent may act more often than a screen
# has columns.
_MOST_TICKS = 2000
LINE_KINDS = ("link_down", "link_up", "link_change", "controller_change")


class EventTicks(pg.UIGraphicsItem):  # type: ignore[misc] # pyqtgraph is untyped
    """Vertical ticks at given times, whose height is a fixed share of the view, whatever its range of values."""

    def __init__(self) -> None:
        """Start without ticks."""
        super().__init__()
        self._height = 0.0
        self._pen = QPen()
        self.times = np.empty(0)  # times of the ticks, float64 [n], s
        self._path = QPainterPath()
        self.setZValue(-10)

    def set_times(self, times: NDArray[np.float64]) -> None:
        """Replace the ticks.

        Args:
            times: float64 [n], s.
        """
        self.times = times
        self._path = _path(times[:_MOST_TICKS])
        self.update()

    def set_height(self, height: float) -> None:
        """Set the height as a share of the view, 0 to 1, measured from its bottom."""
        self._height = height
        self.update()

    def set_pen(self, pen: QPen) -> None:
        """Set the pen of the ticks."""
        self._pen = pen
        self.update()

    def dataBounds(self, *_args: object, **_kwargs: object) -> None:
        """None, because ticks never affect the range of the view."""

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draw the ticks from the bottom of the view."""
        view = self.boundingRect()
        # The scene's y axis points down and pyqtgraph's up, so the smaller y is the bottom of the plot.
        painter.translate(0.0, view.top())
        painter.scale(1.0, view.height() * self._height)
        painter.setPen(self._pen)
        painter.drawPath(self._path if len(self.times) <= _MOST_TICKS else self.thinned(painter))

    def thinned(self, painter: QPainter) -> QPainterPath:
        """A path with only the first tick in each column of pixels of the view."""
        view = self.boundingRect()
        times = self.times[(self.times >= view.left()) & (self.times <= view.right())]
        columns = np.floor(times * painter.deviceTransform().m11())
        return _path(times[np.unique(columns, return_index=True)[1]])


def _path(times: NDArray[np.float64]) -> QPainterPath:
    """A path of ticks from 0 to 1 at these times."""
    path: QPainterPath = pg.arrayToQPath(
        np.repeat(times, 2), np.tile(np.array([0.0, 1.0]), len(times)), connect="pairs"
    )
    return path


_SCROLL_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class ScrolledPlots(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    """A layout of plots; the attribute ``item`` of each plot is its plot item."""

    plots: Sequence[Any]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom over a plot and its axes; between the plots, scroll the surrounding area."""
        position = self.mapToScene(event.position().toPoint())
        if any(plot.item.sceneBoundingRect().contains(position) for plot in self.plots):
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pass scroll keys on to the scroll area."""
        if event.key() in _SCROLL_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)
