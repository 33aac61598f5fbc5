"""Where the plots of a stack stand: those over time above each other, the others below in pairs, a title above each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from subflow_app.qt.plotting.legend_strip import LegendStrip
from subflow_app.qt.plotting.plot_item import INNER_AXIS_HEIGHT
from subflow_app.qt.plotting.stacked_plot import StackedPlot

# Room for half of the last number of the time axis.
_RIGHT_MARGIN = 16
_TOP_MARGIN = 2
_BOTTOM_MARGIN = 4
_LEAST_HEIGHT = 20.0  # of a plot, px


class PlotGrid:
    """The rows and columns of one stack, and their heights."""

    def __init__(self, stack: Any, *, paper: bool) -> None:
        """Nothing has a place yet.

        Args:
            stack: the `PlotStack`.
            paper: for print: no titles above the plots.
        """
        self._stack = stack
        self._paper = paper
        self._head: LegendStrip | None = None
        self._time_plots: Sequence[StackedPlot] = ()
        self._others: Sequence[StackedPlot] = ()

    def place(self, time_plots: Sequence[StackedPlot], others: Sequence[StackedPlot]) -> None:
        """Plots over time as wide as the stack, the others in pairs below them; a title above each."""
        self._time_plots, self._others = time_plots, others
        for number, plot in enumerate([*time_plots, *others]):
            row, column, columns = self._cell(number)
            if not self._paper:
                self._stack.addItem(plot.title, row=2 * row, col=column, colspan=columns)
            self._stack.addItem(plot.item, row=2 * row + 1, col=column, colspan=columns)
        layout = self._stack.ci.layout
        layout.setSpacing(0)
        layout.setContentsMargins(4, _TOP_MARGIN, _RIGHT_MARGIN, _BOTTOM_MARGIN)
        for column in range(2 if len(others) > 1 else 1):
            layout.setColumnStretchFactor(column, 1)
            layout.setColumnPreferredWidth(column, 100)

    def set_head(self, head: LegendStrip) -> None:
        """Puts the legend of a paper figure above its plots."""
        self._head = head
        # Row 0 is where the title of the first plot would be.
        columns = self._cell(0)[2] if self._time_plots else min(2, len(self._others))
        self._stack.addItem(head, row=0, col=0, colspan=columns)
        self.share_height()

    def share_height(self) -> None:
        """Gives all plots the same height."""
        plots = [*self._time_plots, *self._others]
        if not plots:
            return
        # The grid layout would give every row the same height, and those with an axis have to pay it from that.
        layout = self._stack.ci.layout
        cells = [self._cell(number)[0] for number in range(len(plots))]
        rows = max(cells) + 1
        titles = 0.0 if self._paper else rows * plots[0].title.minimumHeight()
        titles += self._head.maximumHeight() if self._head is not None else 0.0
        axis = plots[-1].time_axis_height - INNER_AXIS_HEIGHT
        # Every row of the others has an axis of its own; of those over time the lowest.
        with_axis = {row for row, plot in zip(cells, plots, strict=True) if plot not in self._time_plots[:-1]}
        left = self._stack.height() - titles - _TOP_MARGIN - _BOTTOM_MARGIN - axis * len(with_axis)
        height = max(_LEAST_HEIGHT, left / rows)
        for row in range(rows):
            layout.setRowFixedHeight(2 * row + 1, height + (axis if row in with_axis else 0.0))

    def _cell(self, number: int) -> tuple[int, int, int]:
        """Row, column and number of columns of a plot."""
        above = len(self._time_plots)
        if len(self._others) < 2:
            return number, 0, 1
        other = number - above
        if other < 0 or (other == len(self._others) - 1 and other % 2 == 0):
            return above + other // 2 if other >= 0 else number, 0, 2
        return above + other // 2, other % 2, 1
