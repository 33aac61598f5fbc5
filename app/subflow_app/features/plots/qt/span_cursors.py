"""The cursors A and B: two lines through all plots over time that a person drags."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QObject, Qt, Signal

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.toolkit.theme import Tokens

NAMES = ("A", "B")
# Where the letter stands, as a share of the height of the plot: apart, so that close cursors can both be read.
_LABEL_HEIGHT = {"A": 0.94, "B": 0.82}
_DASH = {"A": (), "B": (5.0, 3.0)}


class SpanCursors(QObject):
    """Their times, and their lines in whatever plots there are."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        """Neither is set."""
        super().__init__(parent)
        self._times: dict[str, float] = {}
        self._lines: dict[str, list[Any]] = {name: [] for name in NAMES}
        self._end_s = 1.0

    @property
    def times(self) -> dict[str, float]:
        """Time of each cursor that is set, s."""
        return dict(self._times)

    @property
    def span_s(self) -> tuple[float, float] | None:
        """Times of A and B, s; None until both are set."""
        return (self._times["A"], self._times["B"]) if len(self._times) == len(NAMES) else None

    def set_duration(self, end_s: float) -> None:
        """Bounds them to the length of the runs, s; beyond it they are moved to its end."""
        self._end_s = end_s
        for lines in self._lines.values():
            for line in lines:
                line.setBounds((0.0, end_s))
        for name, time_s in self.times.items():
            if time_s > end_s:
                self.set_time(name, end_s)

    def set_time(self, name: str, time_s: float | None) -> None:
        """Puts A or B to a time, s; None takes it away."""
        if time_s is None:
            self._times.pop(name, None)
        else:
            self._times[name] = min(max(time_s, 0.0), self._end_s)
        self._draw()
        self.changed.emit()

    def clear(self) -> None:
        """Takes both away."""
        if self._times:
            self._times.clear()
            self._draw()
            self.changed.emit()

    def attach(self, plots: Sequence[TimePlot]) -> None:
        """Draws the cursors in these plots, and in no others any more."""
        for name in NAMES:
            self._lines[name] = []
            for plot in plots:
                line = pg.InfiniteLine(angle=90, movable=True, bounds=(0.0, self._end_s))
                if plot.spec is plots[0].spec:
                    # Named once, in the plot at the top; side by side in each column.
                    pg.InfLineLabel(line, name, position=_LABEL_HEIGHT[name], movable=False)
                line.setCursor(Qt.CursorShape.SizeHorCursor)
                line.setZValue(30)
                line.sigDragged.connect(partial(self._on_dragged, name))
                plot.item.addItem(line, ignoreBounds=True)
                self._lines[name].append(line)
        self._draw()

    def recolour(self, tokens: Tokens) -> None:
        """Recolours the lines."""
        for name, lines in self._lines.items():
            for line in lines:
                line.setPen(make_pen(tokens.accent, _DASH[name]))
                line.setHoverPen(make_pen(tokens.accent, _DASH[name], 3.0))
                for label in line.childItems():
                    if isinstance(label, pg.InfLineLabel):
                        label.fill = pg.mkBrush(tokens.accent)
                        label.setColor(tokens.base)

    def _draw(self) -> None:
        for name, lines in self._lines.items():
            for line in lines:
                line.setVisible(name in self._times)
                if name in self._times and line.value() != self._times[name]:
                    line.setValue(self._times[name])

    def _on_dragged(self, name: str, line: Any) -> None:
        self.set_time(name, float(line.value()))
