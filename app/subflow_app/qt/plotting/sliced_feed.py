"""Feeds very many curves in slices of time, so that input is answered in between: 100 flows of two subflows are 700."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from subflow_app.plots import Curve
from subflow_app.qt.plotting.stacked_plot import StackedPlot
from subflow_app.qt.plotting.time_plot import TimePlot

# As long as a slice takes, s.
_SLICE_S = 0.02


class SlicedFeed(QObject):
    """Curves, marks and plots of one stack that wait for their turn of the event loop."""

    done = Signal()  # everything is fed and about to be painted

    def __init__(self, stack: Any) -> None:
        """Nothing waits.

        Args:
            stack: the `PlotStack`, whose pictures are held back meanwhile: one of each plot at the end is enough.
        """
        super().__init__(stack)
        self._stack = stack
        self._mode = stack.viewportUpdateMode()
        self._curves: deque[tuple[TimePlot, Curve]] = deque()
        self._unmarked: deque[StackedPlot] = deque()
        self._unpainted: deque[TimePlot] = deque()
        self._mark: Callable[[StackedPlot], None] = lambda _plot: None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._go_on)

    @property
    def is_busy(self) -> bool:
        """Whether anything waits for its turn."""
        return bool(self._curves or self._unmarked or self._unpainted)

    def start(
        self,
        curves: Iterable[tuple[TimePlot, Curve]],
        marked: Sequence[StackedPlot],
        mark: Callable[[StackedPlot], None],
        painted: Sequence[TimePlot],
    ) -> None:
        """Feed these curves, then mark and paint plot by plot; the first slice at once."""
        self._curves.extend(curves)
        self._unmarked.extend(marked)
        self._unpainted.extend(painted)
        self._mark = mark
        self._stack.setViewportUpdateMode(self._stack.ViewportUpdateMode.NoViewportUpdate)
        self._go_on()

    def clear(self) -> None:
        """Forget everything that waits."""
        for waiting in (self._curves, self._unmarked, self._unpainted):
            waiting.clear()
        self._timer.stop()
        self._stack.setViewportUpdateMode(self._mode)

    def _go_on(self) -> None:
        if self._curves:
            end = time.perf_counter() + _SLICE_S
            while self._curves and time.perf_counter() < end:
                plot, curve = self._curves.popleft()
                plot.feed([curve])
        elif self._unmarked:
            self._mark(self._unmarked.popleft())
        elif self._unpainted:
            self._paint(self._unpainted.popleft())
        if self.is_busy:
            self._timer.start()
            return
        self._stack.setViewportUpdateMode(self._mode)
        self.done.emit()

    def _paint(self, plot: TimePlot) -> None:
        """One plot at a time: what lies over it and beside it belongs to it."""
        plot.view.prepareForPaint()
        band = self._stack.mapFromScene(plot.title.sceneBoundingRect().united(plot.item.sceneBoundingRect()))
        self._stack.viewport().update(band.boundingRect())
