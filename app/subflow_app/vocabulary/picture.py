"""A picture of values: axes with units, series with intervals, legend and notes. Screen and file draw the same one.

`features.plots.qt.panel_plot` draws it on the screen, `features.paper.core.figures` into files and reports.

Boxes show how much the runs of a point differ, and not only their mean. Whiskers reach to the last value within 1.5
times the height of the box; values further out are drawn by themselves.

Source: Tukey 1977, "Exploratory Data Analysis".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.vocabulary.palette import ColourKey

FloatArray = NDArray[np.float64]
PanelForm = Literal["lines", "bars", "trace", "table", "box", "scatter", "map"]

GROUP = 0.82
"""Share of the room between points that bars and boxes take."""
_BOX = 0.84  # share of its room that a box takes
_WHISKER = 1.5
_SPREAD = 0.6  # share of a box over which the dots of its runs are spread
_MOST_DOTS = 60


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
class Box:
    """A box with whiskers.

    Attributes:
        middle: of it, along the picture.
        width: of it.
        low: end of the lower whisker.
        q1: lower quartile.
        median: of the values.
        q3: upper quartile.
        high: end of the upper whisker.
        dots: places along the picture of the single values that are drawn, by their number: all where they are few,
            else those beyond the whiskers.
    """

    middle: float
    width: float
    low: float
    q1: float
    median: float
    q3: float
    high: float
    dots: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, values: FloatArray, middle: float, width: float) -> Box:
        """That of these values, float64 [n], of which none is NaN and one exists at least."""
        q1, median, q3 = (float(quartile) for quartile in np.percentile(values, (25, 50, 75)))
        reach = _WHISKER * (q3 - q1)
        within = values[(values >= q1 - reach) & (values <= q3 + reach)]
        low, high = float(within.min()), float(within.max())
        drawn = np.flatnonzero((values < low) | (values > high) | (len(values) <= _MOST_DOTS))
        # Beside each other in their order, so that equal ones are all seen.
        shares = np.linspace(-0.5, 0.5, len(drawn)) if len(drawn) > 1 else np.zeros(len(drawn))
        places = middle + shares * width * _SPREAD
        return cls(middle, width, low, q1, median, q3, high, tuple(zip(drawn.tolist(), places.tolist(), strict=True)))


@dataclass(frozen=True, slots=True)
class ColourScale:
    """Meaning of colours.

    Attributes:
        title: with the unit.
        low: value of the first colour.
        high: value of the last colour, never the same.
        colours: rising from dark to light; fading from both sides to a neutral middle; or parted in the middle, where
            nothing fades, so that marks just below it look different from those just above.
        ticks: values with a text; empty: numbers.
    """

    title: str
    low: float
    high: float
    colours: Literal["rising", "fading", "parted"] = "rising"
    ticks: tuple[tuple[float, str], ...] = ()

    def shares(self, values: FloatArray) -> FloatArray:
        """Places of values in the scale, 0 to 1; NaN stays."""
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Hit:
    """Something in a picture that can be pointed at.

    Attributes:
        x: where it is, in the coordinates of the axes.
        y: likewise.
        text: its description.
        points: numbers of everything that it stands for.
        run_ids: a single run of them; empty: all of theirs.
    """

    x: float
    y: float
    text: str
    points: tuple[int, ...]
    run_ids: tuple[int, ...] = ()


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
        shades: clouds: values in the colour scale of the panel, float64 [n]; empty: the colour of the series.
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
    shades: FloatArray = field(default_factory=lambda: np.empty(0))


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
        better: clouds: 1 where more is better along x and y, -1 where less is, so that the axis is reversed: the better
            corner is at the top right. A line joins the series that are ours, which are those of the Pareto front.
            0: neither is better.
        legend: parameter whose values the names of series are; empty: none.
        least: stretch that the value axis shows at least, so that what hardly differs does not look far apart.
        x_ticks: clouds and maps: places along x with their names; empty: the axis has numbers.
        y_ticks: likewise of y.
        cells: maps: rows of cells from below, float64 [columns] each; NaN: not known.
        cell_texts: of the cells, likewise.
        scale: of the colours of cells and shades; None: the panel has neither.
        cell_area: first and last x and y of all cells; None: each is around whole numbers.
        view: first and last x and y to be shown; None: everything.
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
    legend: str = ""
    least: float = 0.0
    x_ticks: tuple[tuple[float, str], ...] = ()
    y_ticks: tuple[tuple[float, str], ...] = ()
    cells: tuple[FloatArray, ...] = ()
    cell_texts: tuple[tuple[str, ...], ...] = ()
    scale: ColourScale | None = None
    cell_area: tuple[float, float, float, float] | None = None
    view: tuple[float, float, float, float] | None = None

    def ends(self, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
        """Ends of the intervals of a series as they are drawn."""
        return interval_ends(series.means, series.halves, is_signed=self.is_signed)

    def x_ends(self, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
        """Those along x."""
        return interval_ends(series.x, series.x_halves, is_signed=self.x_is_signed)

    @property
    def has_values(self) -> bool:
        """True if any series or cell has a value."""
        return any(np.isfinite(values).any() for values in (*(series.means for series in self.series), *self.cells))

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """First and last x and y of the cells of a map."""
        return self.cell_area or (-0.5, len(self.cells[0]) - 0.5, -0.5, len(self.cells) - 0.5)

    @property
    def is_single(self) -> bool:
        """True if the names below its bars or boxes are those of series."""
        return self.form in ("bars", "box") and len(self.points) == 1

    def box(self, number: int, point: int) -> Box | None:
        """The box of a series at a point; None: it has no value there."""
        values = self.series[number].values[point]
        known = values[np.isfinite(values)]
        room = GROUP / (1 if self.is_single else max(1, len(self.series)))
        middle = float(number) if self.is_single else point - GROUP / 2 + room * (number + 0.5)
        return Box.of(known, middle, _BOX * room) if len(known) else None

    @property
    def front(self) -> list[tuple[float, float]]:
        """Corners of the Pareto front from left to right: what is behind its steps is beaten by one of the front."""
        best = sorted((float(each.x[0]), float(each.means[0])) for each in self.series if each.is_ours)
        if 0 in self.better or not best:
            return []
        corners = best[:1]
        for (x, y), (next_x, next_y) in pairwise(best):
            # Neither has the better of both: the step bends where both values are the worse ones.
            corners += [(x if self.better[0] > 0 else next_x, min(y, next_y) if self.better[1] > 0 else max(y, next_y))]
            corners += [(next_x, next_y)]
        return corners
