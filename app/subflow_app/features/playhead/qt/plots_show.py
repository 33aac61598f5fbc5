"""The playhead in the plots: a line at its time, which can be dragged, and the values there in the legend."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt

from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.toolkit.widgets.shorthand import timer

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_view import PlotView

# While it plays, so often the plots follow: each time they are drawn anew as a whole.
_PLAYING_MS = 66


class PlotsShow(QObject):
    """Moves the line of one view."""

    def __init__(self, playhead: Playhead, plots: PlotView) -> None:
        """Follows the playhead from now on."""
        super().__init__(playhead)
        self._playhead = playhead
        self._plots = plots
        self._lines: weakref.WeakSet[Any] = weakref.WeakSet()
        self._timer = timer(self, self._show, _PLAYING_MS, is_single=True)
        playhead.moved.connect(self._on_moved)
        playhead.left.connect(self._on_left)

    def _on_moved(self, _time_s: float) -> None:
        if not self._playhead.transport.is_playing:
            self._timer.stop()
            self._show()
        elif not self._timer.isActive():
            self._timer.start()

    def _on_left(self) -> None:
        self._timer.stop()
        self._plots.set_pin(None)

    def _show(self) -> None:
        time_s = self._playhead.time_s
        if time_s is None:
            return
        self._let_lines_be_dragged()
        self._plots.set_pin(time_s)

    def _let_lines_be_dragged(self) -> None:
        for stack in self._plots.stacks:
            for plot in stack.time_plots:
                if plot.pin not in self._lines:
                    self._lines.add(plot.pin)
                    plot.pin.setMovable(True)
                    plot.pin.setCursor(Qt.CursorShape.SizeHorCursor)
                    # Over the crosshair, which rests at the same time.
                    plot.pin.setZValue(21)
                    plot.pin.sigDragged.connect(self._on_dragged)

    def _on_dragged(self, line: Any) -> None:
        if self._playhead.run is not None:
            self._playhead.seek(float(line.value()))
