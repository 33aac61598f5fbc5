"""Where runs branch off: a line through all plots over time, at the top with what was changed there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole

from subflow_app.features.forking.core.words import Ghost
from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.toolkit.theme import LIGHT, Tokens

_DASH = (3.0, 3.0)
# Where the words of the first fork stand, as a share of the height of the plot; those of the next below.
_LABEL_HEIGHT = 0.93
_LABEL_STEP = 0.13
_LONGEST_LABEL = 60
_Z = 15  # above the curves, below crosshair and cursors


class ForkLines:
    """Their lines in whatever plots there are."""

    def __init__(self) -> None:
        """None."""
        self._plots: tuple[TimePlot, ...] = ()
        self._ghosts: tuple[Ghost, ...] = ()
        # Made once and hidden when there is nothing to show: Qt crashes when a line goes that a label hangs on.
        self._lines: list[list[Any]] = []  # of each fork, one in every plot
        self._labels: list[list[Any]] = []  # of each fork, in the plot at the top; side by side in each column
        self._tokens = LIGHT

    @property
    def texts(self) -> list[tuple[float, str]]:
        """Time of each fork, s, and what its line says."""
        return [(ghost.at_s, _text(ghost)) for ghost in self._ghosts]

    def attach(self, plots: Sequence[TimePlot]) -> None:
        """Draws the lines in these plots, and in no others any more; what was in those has gone with them."""
        self._plots = tuple(plots)
        self._lines.clear()
        self._labels.clear()
        self._draw()

    def show(self, ghosts: Sequence[Ghost]) -> None:
        """Shows where these branch off."""
        self._ghosts = tuple(ghosts)
        self._draw()

    def recolour(self, tokens: Tokens) -> None:
        """Recolours the lines."""
        self._tokens = tokens
        for lines in self._lines:
            for line in lines:
                line.setPen(make_pen(tokens.accent, _DASH))
        for labels in self._labels:
            for label in labels:
                label.fill = pg.mkBrush(tokens.base)
                label.setColor(tokens.accent)

    def _draw(self) -> None:
        while self._plots and len(self._lines) < len(self._ghosts):
            self._add()
        for number, lines in enumerate(self._lines):
            ghost = self._ghosts[number] if number < len(self._ghosts) else None
            for plot, line in zip(self._plots, lines, strict=True):
                line.setVisible(ghost is not None and plot.has_run(ghost.fork))
                if ghost is not None:
                    line.setValue(ghost.at_s)
            if ghost is not None:
                for label in self._labels[number]:
                    label.setFormat(_text(ghost))

    def _add(self) -> None:
        """A line in every plot for one more fork."""
        lines, labels = [], []
        for plot in self._plots:
            line = pg.InfiniteLine(angle=90, movable=False)
            line.setZValue(_Z)
            if plot.spec is self._plots[0].spec:
                # To the right of the line while there is room: that is where the change shows.
                height = _LABEL_HEIGHT - _LABEL_STEP * len(self._lines)
                labels.append(pg.InfLineLabel(line, "", position=height, anchors=[(0.0, 0.5), (1.0, 0.5)]))
            plot.item.addItem(line, ignoreBounds=True)
            lines.append(line)
        self._lines.append(lines)
        self._labels.append(labels)
        self.recolour(self._tokens)


def _text(ghost: Ghost) -> str:
    text = ghost.text
    # It is a format of numbers to the label.
    text = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return text.replace("{", "(").replace("}", ")")
