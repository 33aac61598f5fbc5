"""A picture of values: axes with units, series with intervals, legend and notes. Screen and file draw the same one.

`toolkit.plotting.panel_view` paints it on the screen, `features.paper.core.figures` into files and reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.vocabulary.palette import ColourKey

FloatArray = NDArray[np.float64]
PanelForm = Literal["lines", "bars", "trace", "table", "box", "scatter"]


def interval_ends(means: FloatArray, halves: FloatArray, *, is_signed: bool) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends of intervals as they are drawn; NaN where there is none.

    Student's t knows nothing of bounds: the interval of a few goodputs may reach below zero. No goodput does, so it is
    cut there. Values that are negative all the same keep their interval.

    Args:
        means: float64 [n], in any unit.
        halves: float64 [n], half widths.
        is_signed: whether the quantity may be negative.
    """
    low, high = means - halves, means + halves
    return (low if is_signed else np.where(means < 0.0, low, np.maximum(low, 0.0))), high


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that others report, beside one of ours.

    Attributes:
        point: its position among the points of the panel.
        value: in the unit of the panel.
        is_implied: whether it follows from an improvement that they report and from our value of the baseline.
        baseline: the colour of that baseline; None: the mark has that of its series.
    """

    point: int
    value: float
    is_implied: bool = False
    baseline: ColourKey | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PanelSeries:
    """A line, a group of bars, a row of boxes, a curve, or a row of a table.

    Attributes:
        name: in the legend.
        colour: of it in all figures.
        shape: position of its marker and its dash among those there are.
        is_ours: whether it is what the figure is about.
        means: float64 [n_points], in the unit of the panel; NaN where nothing was measured. Traces: [n_samples].
        halves: half widths of their 95 % intervals, likewise; NaN where there is none. Traces: empty.
        values: of each point what the single runs came to; boxes and clouds need them.
        references: what others report.
        x: traces: times or other positions of the samples; clouds: the means of the other quantity. Else empty.
        x_halves: clouds: half widths of the intervals of `x`. Else empty.
        words: of tooltips on a screen; empty: the name.
    """

    name: str
    colour: ColourKey
    shape: int
    is_ours: bool
    means: FloatArray
    halves: FloatArray
    values: tuple[FloatArray, ...] = ()
    references: tuple[Reference, ...] = ()
    x: FloatArray = field(default_factory=lambda: np.empty(0))
    x_halves: FloatArray = field(default_factory=lambda: np.empty(0))
    words: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One coordinate system.

    Attributes:
        form: how series are drawn.
        title: above it; empty for none.
        x_text: of the x axis, with its unit.
        y_text: of the y axis, with its unit.
        points: names of the points.
        positions: of the points where they are numbers, ascending or not; empty: names stand in equal distances.
        series: in the order of the legend.
        note: a line below: what is missing, or what a mark means here.
        is_log_x: whether positions are drawn logarithmically; they are anyway where they reach far.
        is_log_y: whether values are.
        area: drawn behind a trace as a filled area, as the capacity of links is.
        is_signed: whether values may be negative; intervals of others are drawn from zero on.
        x_is_signed: clouds: likewise of the values along x.
        better: clouds: 1 where more is better along x and y, -1 where less is; a line joins the series that are ours,
            which are those of the Pareto front. (0, 0): there is no front.
    """

    form: PanelForm
    title: str
    x_text: str
    y_text: str
    points: tuple[str, ...]
    positions: FloatArray
    series: tuple[PanelSeries, ...]
    note: str = ""
    is_log_x: bool = False
    is_log_y: bool = False
    area: PanelSeries | None = None
    is_signed: bool = False
    x_is_signed: bool = False
    better: tuple[int, int] = (0, 0)

    def ends(self, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
        """Ends of the intervals of a series as they are drawn."""
        return interval_ends(series.means, series.halves, is_signed=self.is_signed)

    def x_ends(self, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
        """Those along x."""
        return interval_ends(series.x, series.x_halves, is_signed=self.x_is_signed)

    @property
    def has_values(self) -> bool:
        """True if any series of ours has a value."""
        return any(np.isfinite(series.means).any() for series in self.series)

    @property
    def front(self) -> list[tuple[float, float]]:
        """Corners of the Pareto front from left to right: what is behind its steps is beaten by one of the front."""
        best = sorted((float(each.x[0]), float(each.means[0])) for each in self.series if each.is_ours)
        if self.better == (0, 0) or not best:
            return []
        corners = best[:1]
        for (x, y), (next_x, next_y) in pairwise(best):
            # Neither has the better of both: the step bends where both values are the worse ones.
            corners += [(x if self.better[0] > 0 else next_x, min(y, next_y) if self.better[1] > 0 else max(y, next_y))]
            corners += [(next_x, next_y)]
        return corners
