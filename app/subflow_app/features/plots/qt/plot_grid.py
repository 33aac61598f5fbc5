"""Layout of a stack of plots: plots over time above each other, other plots below in pairs, each with a title.

In the side-by-side view, each run has a column of plots over time, and other plots are as wide as the stack. The title
of a column is the full name of its run if it fits, else the part that distinguishes it from the other columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.history.core.run_names import PlotColumn
from subflow_app.features.plots.qt.stacked_plot import INNER_AXIS_HEIGHT, INNER_AXIS_WIDTH, LEAST_HEIGHT, StackedPlot
from subflow_app.toolkit.theme import Tokens
from subflow_app.toolkit.widgets.shorthand import as_written, sized

_MARGIN = 4.0


class ColumnTitle(QGraphicsWidget):
    """Title of a column; its tool tip shows the full name of the run."""

    def __init__(self, column: PlotColumn, font: QFont, indent: float) -> None:
        """The title of ``column``, indented by ``indent`` px to align with the plots below."""
        super().__init__()
        self._column = column
        self._indent = indent
        self._font = sized(font, is_bold=True)
        self._colour = QColor("#000000")
        self.setToolTip(as_written(column.title))
        height = QFontMetricsF(self._font).height() + 2 * _MARGIN
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)

    def set_colour(self, colour: str) -> None:
        """Writes in this colour, ``#RRGGBB``."""
        self._colour = QColor(colour)
        self.update()

    def shown_text(self) -> str:
        """The part of the name that fits into the column."""
        metrics = QFontMetricsF(self._font)
        room = self.size().width() - self._indent - _MARGIN
        for text in (self._column.title, self._column.short_title):
            if metrics.horizontalAdvance(text) <= room:
                return text
        # Names differ mostly at their ends, in the controller or a number.
        return metrics.elidedText(self._column.short_title, Qt.TextElideMode.ElideMiddle, room)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        metrics = QFontMetricsF(self._font)
        painter.setFont(self._font)
        painter.setPen(self._colour)
        painter.drawText(QPointF(self._indent, _MARGIN + metrics.ascent()), self.shown_text())


LEAST_COLUMN_WIDTH = 220  # minimum width of a column of runs, px; columns that do not fit into the window scroll
_NO_LIMIT = 16_777_215.0  # Qt's maximum width, px
_LEFT_MARGIN = 4
# Space for the right half of the last number on the time axis.
_RIGHT_MARGIN = 16
_TOP_MARGIN = 2
_BOTTOM_MARGIN = 4
_FIRST_ROW = 2  # first layout row below the titles of columns


class PlotGrid:
    """Rows and columns of one stack, and their sizes."""

    def __init__(self, stack: Any, font: QFont) -> None:
        """Starts without plots.

        Args:
            stack: the `PlotStack`.
            font: font of column titles.
        """
        self._stack = stack
        self.font = font
        self._rows: Sequence[Sequence[StackedPlot]] = ()
        self._others: Sequence[StackedPlot] = ()
        self.column_titles: list[ColumnTitle] = []

    def place(
        self, rows: Sequence[Sequence[StackedPlot]], others: Sequence[StackedPlot], columns: Sequence[PlotColumn]
    ) -> None:
        """Places the plots over time in rows as wide as the stack, and other plots in pairs below.

        Args:
            rows: plots of each quantity over time: one per column of runs, or one for all runs.
            others: plots not over time.
            columns: columns of runs; empty if runs are overlaid.
        """
        self._rows, self._others = rows, others
        self.column_titles = [
            ColumnTitle(column, self.font, self._axis_width(number)) for number, column in enumerate(columns)
        ]
        if rows:
            for number, title in enumerate(self.column_titles):
                self._stack.addItem(title, row=1, col=number * self._span, colspan=self._span)
        for number, plots in enumerate(rows):
            self._stack.addItem(plots[0].title, row=_title_row(number), col=0, colspan=self._width)
            for column, plot in enumerate(plots):
                where = column * self._span
                self._stack.addItem(plot.item, row=_title_row(number) + 1, col=where, colspan=self._width // len(plots))
        for number, plot in enumerate(others):
            row, where, span = self._place_below(number)
            self._stack.addItem(plot.title, row=_title_row(row), col=where, colspan=span)
            self._stack.addItem(plot.item, row=_title_row(row) + 1, col=where, colspan=span)
        layout = self._stack.ci.layout
        layout.setSpacing(0)
        layout.setContentsMargins(_LEFT_MARGIN, _TOP_MARGIN, _RIGHT_MARGIN, _BOTTOM_MARGIN)
        for place in range(max(layout.columnCount(), self._width)):
            layout.setColumnMinimumWidth(place, 0.0)
            layout.setColumnMaximumWidth(place, _NO_LIMIT)
            layout.setColumnPreferredWidth(place, 100 if place < self._width else 0)
            layout.setColumnStretchFactor(place, 1 if place < self._width else 0)

    def share_room(self) -> None:
        """Gives all plots the same height, and the columns of runs the same width.

        Plots do not shrink below a readable height. If they do not fit, the stack requests more height and scrolls.
        """
        rows = len(self._rows) + (len(self._others) + 1) // 2
        plots = [*(row[0] for row in self._rows), *self._others]
        if not plots:
            return
        # Equal row heights of the grid layout would shrink the plots with a bottom axis.
        layout = self._stack.ci.layout
        titles = rows * plots[0].title.minimumHeight()
        titles += self.column_titles[0].maximumHeight() if self._rows and self.column_titles else 0.0
        # Among the plots over time, only the lowest row has a bottom axis; all rows of other plots have one.
        axes = [0.0] * rows
        for row in range(max(0, len(self._rows) - 1), rows):
            plot = self._rows[row][0] if row < len(self._rows) else plots[-1]
            axes[row] = plot.axis_height - INNER_AXIS_HEIGHT
        beside = titles + _TOP_MARGIN + _BOTTOM_MARGIN + sum(axes)
        self._stack.setMinimumHeight(math.ceil(beside + LEAST_HEIGHT * rows))
        height = max(LEAST_HEIGHT, (self._stack.height() - beside) / rows)
        for row in range(rows):
            layout.setRowFixedHeight(_title_row(row) + 1, height + axes[row])
        self._share_width()

    def recolour(self, tokens: Tokens) -> None:
        for title in self.column_titles:
            title.set_colour(tokens.text)

    def _share_width(self) -> None:
        """Adds the width of the value axis to the first column, so that all plots of a row are equally wide."""
        count = len(self.column_titles) if self._rows else 0
        margins = _LEFT_MARGIN + _RIGHT_MARGIN
        extra = self._axis_width(0) - self._axis_width(1)
        self._stack.setMinimumWidth(round(count * LEAST_COLUMN_WIDTH + extra + margins) if count else 0)
        if count:
            width = max(1.0, (self._stack.width() - margins - extra) / count)
            for place in range(self._width):
                wider = extra if place < self._span else 0.0
                self._stack.ci.layout.setColumnFixedWidth(place, (width + wider) / self._span)

    def _axis_width(self, column: int) -> float:
        plot = next((row[0] for row in self._rows), None)
        return float(plot.item.getAxis("left").minimumWidth()) if plot is not None and column == 0 else INNER_AXIS_WIDTH

    @property
    def _span(self) -> int:
        """Number of layout columns per column of runs: two if other plots are placed in pairs below, else one."""
        return 2 if len(self._others) > 1 else 1

    @property
    def _width(self) -> int:
        """Number of layout columns."""
        return self._span * max(1, len(self.column_titles))

    def _place_below(self, number: int) -> tuple[int, int, int]:
        """Layout row, first layout column, and number of layout columns of a plot that is not over time."""
        above = len(self._rows)
        if len(self._others) < 2:
            return above + number, 0, self._width
        if number == len(self._others) - 1 and number % 2 == 0:
            return above + number // 2, 0, self._width
        half = self._width // 2
        return above + number // 2, (number % 2) * half, half


def _title_row(row: int) -> int:
    """Layout row of the title of a row of plots; the plots follow in the next row."""
    return _FIRST_ROW + 2 * row
