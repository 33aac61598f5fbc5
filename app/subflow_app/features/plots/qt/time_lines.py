"""Lines through all plots over time: the draggable cursors A and B, and the forks of runs.

A label at the top of a fork line describes the changes of the fork.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from subflow_app.features.forking.core.words import Ghost
from subflow_app.features.plots.core import Ticks
from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.theme import LIGHT, Tokens

NAMES = ("A", "B")
# Height of the letters A and B as a share of the plot height. The heights differ, so that the letters of cursors that
# are close together do not overlap.
_LABEL_HEIGHT = {"A": 0.94, "B": 0.82}
_DASH = {"A": (), "B": (5.0, 3.0)}


class SpanCursors(QObject):
    """Times of the cursors A and B, and their lines in all plots."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        """Starts without cursors."""
        super().__init__(parent)
        self._times: dict[str, float] = {}
        self.lines: dict[str, list[Any]] = {name: [] for name in NAMES}
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
        """Limits the cursors to the duration of the runs, s, and moves cursors beyond it to the end."""
        self._end_s = end_s
        for lines in self.lines.values():
            for line in lines:
                line.setBounds((0.0, end_s))
        for name, time_s in self.times.items():
            if time_s > end_s:
                self.set_time(name, end_s)

    def set_time(self, name: str, time_s: float | None) -> None:
        """Sets A or B to a time, s; None removes the cursor."""
        if time_s is None:
            self._times.pop(name, None)
        else:
            self._times[name] = min(max(time_s, 0.0), self._end_s)
        self._draw()
        self.changed.emit()

    def clear(self) -> None:
        """Removes both cursors."""
        if self._times:
            self._times.clear()
            self._draw()
            self.changed.emit()

    def attach(self, plots: Sequence[TimePlot]) -> None:
        """Draws the cursors in these plots instead of the previous ones."""
        for name in NAMES:
            self.lines[name] = []
            for plot in plots:
                line = pg.InfiniteLine(angle=90, movable=True, bounds=(0.0, self._end_s))
                if plot.spec is plots[0].spec:
                    # Labelled only in the top plot of each column.
                    pg.InfLineLabel(line, name, position=_LABEL_HEIGHT[name], movable=False)
                line.setCursor(Qt.CursorShape.SizeHorCursor)
                line.setZValue(30)
                line.sigDragged.connect(partial(self._on_dragged, name))
                plot.item.addItem(line, ignoreBounds=True)
                self.lines[name].append(line)
        self._draw()

    def recolour(self, tokens: Tokens) -> None:
        for name, lines in self.lines.items():
            for line in lines:
                line.setPen(make_pen(tokens.accent, _DASH[name]))
                line.setHoverPen(make_pen(tokens.accent, _DASH[name], 3.0))
                for label in line.childItems():
                    if isinstance(label, pg.InfLineLabel):
                        label.fill = pg.mkBrush(tokens.accent)
                        label.setColor(tokens.base)

    def _draw(self) -> None:
        for name, lines in self.lines.items():
            for line in lines:
                line.setVisible(name in self._times)
                if name in self._times and line.value() != self._times[name]:
                    line.setValue(self._times[name])

    def _on_dragged(self, name: str, line: Any) -> None:
        self.set_time(name, float(line.value()))


_FORK_DASH = (3.0, 3.0)
# Position of the label of the first fork as a share of the plot height; further labels follow below.
_FORK_LABEL_HEIGHT = 0.93
_LABEL_STEP = 0.13
_LONGEST_LABEL = 60
_Z = 15  # above the curves, below crosshair and cursors


class ForkLines:
    """Vertical lines at the times of forks in all plots over time; labels in the top plots describe the changes."""

    def __init__(self) -> None:
        """Starts without forks."""
        self._plots: tuple[TimePlot, ...] = ()
        self._ghosts: tuple[Ghost, ...] = ()
        # Lines are created once and later hidden, because Qt crashes if a line with a label is removed.
        self.lines: list[list[Any]] = []  # by fork, one in every plot
        self._labels: list[list[Any]] = []  # by fork, in the top plot of each column
        self._tokens = LIGHT

    @property
    def texts(self) -> list[tuple[float, str]]:
        """Time of each fork, s, and the label of its line."""
        return [(ghost.at_s, _text(ghost)) for ghost in self._ghosts]

    def ticks(self, plot: TimePlot) -> list[Ticks]:
        """The fork lines of a plot; only the lines in the top plots have labels."""
        ghosts = [ghost for ghost in self._ghosts if plot.has_run(ghost.fork)]
        is_top = bool(self._plots) and plot.spec is self._plots[0].spec
        return [Ticks(np.array([ghost.at_s]), text=_text(ghost) if is_top else "") for ghost in ghosts]

    def attach(self, plots: Sequence[TimePlot]) -> None:
        """Draws the lines in these plots; the previous lines were deleted together with their plots."""
        self._plots = tuple(plots)
        self.lines.clear()
        self._labels.clear()
        self._draw()

    def show(self, ghosts: Sequence[Ghost]) -> None:
        """Shows a line at the time of each of these forks, and hides all others."""
        self._ghosts = tuple(ghosts)
        self._draw()

    def recolour(self, tokens: Tokens) -> None:
        self._tokens = tokens
        for lines in self.lines:
            for line in lines:
                line.setPen(make_pen(tokens.accent, _FORK_DASH))
        for labels in self._labels:
            for label in labels:
                label.fill = pg.mkBrush(tokens.base)
                label.setColor(tokens.accent)

    def _draw(self) -> None:
        while self._plots and len(self.lines) < len(self._ghosts):
            self._add()
        for number, lines in enumerate(self.lines):
            ghost = self._ghosts[number] if number < len(self._ghosts) else None
            for plot, line in zip(self._plots, lines, strict=True):
                line.setVisible(ghost is not None and plot.has_run(ghost.fork))
                if ghost is not None:
                    line.setValue(ghost.at_s)
            if ghost is not None:
                for label in self._labels[number]:
                    label.setFormat(_text(ghost))

    def _add(self) -> None:
        """Creates a line in every plot for one more fork."""
        lines, labels = [], []
        for plot in self._plots:
            line = pg.InfiniteLine(angle=90, movable=False)
            line.setZValue(_Z)
            if plot.spec is self._plots[0].spec:
                # The label is to the right of the line if it fits, because the change takes effect there.
                height = _FORK_LABEL_HEIGHT - _LABEL_STEP * len(self.lines)
                labels.append(pg.InfLineLabel(line, "", position=height, anchors=[(0.0, 0.5), (1.0, 0.5)]))
            plot.item.addItem(line, ignoreBounds=True)
            lines.append(line)
        self.lines.append(lines)
        self._labels.append(labels)
        self.recolour(self._tokens)


def _text(ghost: Ghost) -> str:
    text = ghost.text
    text = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    # The label interprets the text as a format string.
    return text.replace("{", "(").replace("}", ")")
