"""A picture of values: axes with units, series with intervals, legend and notes, the same on screen and in files.

`features.plots.qt.panel_plot` draws it on the screen, `features.paper.core.figures` into files and reports.

Boxes show the spread of the runs at a point, in addition to their mean. Whiskers extend to the last value within 1.5
times the height of the box; values beyond them are drawn as dots.

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
PanelForm = Literal["lines", "bars", "trace", "table", "box", "scatter", "map", "topology"]

GROUP = 0.82
"""Share of the distance between points that bars and boxes occupy."""
_BOX = 0.84  # share of the available width for a box
_WHISKER = 1.5
_SPREAD = 0.6  # share of a box over which the dots of its runs are spread
_MOST_DOTS = 60


def interval_ends(means: FloatArray, halves: FloatArray, *, is_signed: bool) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends of intervals for drawing; NaN for a mean that has no interval.

    Student's t ignores bounds: the interval of a few goodputs may extend below zero, although no goodput is negative,
    so it is cut there. Negative values keep their whole interval.

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
        middle: position of its centre on the axis of the points.
        width: width on the axis of the points.
        low: end of the lower whisker.
        q1: lower quartile.
        median: median of the values.
        q3: upper quartile.
        high: end of the upper whisker.
        dots: indices of the values drawn as dots, with their positions on the axis of the points: all values if they
            are few, else those beyond the whiskers.
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
        """The box of these values, float64 [n], n >= 1, without NaN."""
        q1, median, q3 = (float(quartile) for quartile in np.percentile(values, (25, 50, 75)))
        reach = _WHISKER * (q3 - q1)
        within = values[(values >= q1 - reach) & (values <= q3 + reach)]
        low, high = float(within.min()), float(within.max())
        drawn = np.flatnonzero((values < low) | (values > high) | (len(values) <= _MOST_DOTS))
        # Dots lie side by side in the order of the values, so that equal values are all visible.
        shares = np.linspace(-0.5, 0.5, len(drawn)) if len(drawn) > 1 else np.zeros(len(drawn))
        places = middle + shares * width * _SPREAD
        return cls(middle, width, low, q1, median, q3, high, tuple(zip(drawn.tolist(), places.tolist(), strict=True)))


@dataclass(frozen=True, slots=True)
class ColourScale:
    """A scale that maps values to colours.

    Attributes:
        title: title with the unit.
        low: value of the first colour.
        high: value of the last colour, different from `low`.
        colours: "rising" from dark to light; "fading" from both ends to a neutral middle; or "parted", with a step in
            the middle that separates values just below from those just above.
        ticks: values with their labels; empty: the scale shows numbers.
    """

    title: str
    low: float
    high: float
    colours: Literal["rising", "fading", "parted"] = "rising"
    ticks: tuple[tuple[float, str], ...] = ()

    def shares(self, values: FloatArray) -> FloatArray:
        """Positions of values in the scale, 0 to 1; NaN remains NaN."""
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Hit:
    """An element of a picture that responds to the mouse pointer.

    Attributes:
        x: x coordinate on the axes of the panel.
        y: y coordinate on the axes of the panel.
        text: description of the element.
        points: numbers of all points that it represents.
        run_ids: number of the individual run that it represents; empty: all runs of the points.
    """

    x: float
    y: float
    text: str
    points: tuple[int, ...]
    run_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A value reported by other authors, for comparison with one of ours.

    Attributes:
        point: its index among the points of the panel.
        value: value in the unit of the panel.
        is_implied: whether it follows from the reported improvement and our value of the baseline.
        baseline: the colour of the baseline; None: the mark has the colour of its series.
    """

    point: int
    value: float
    is_implied: bool = False
    baseline: ColourKey | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PanelSeries:
    """A line, a group of bars, a row of boxes, a curve, or a row of a table.

    Attributes:
        name: name in the legend.
        colour: its colour in all figures.
        shape: index of its marker and its dash.
        is_ours: whether it is the subject of the figure.
        means: float64 [n_points], in the unit of the panel; NaN for a missing measurement. Traces: [n_samples].
        halves: half widths of the 95 % intervals, like `means`; NaN for a missing interval. Traces: empty.
        values: results of the individual runs at each point, for boxes and scatter plots.
        references: values reported by other authors.
        x: traces: times or other positions of the samples; scatter plots: means of the other quantity; else empty.
        x_halves: scatter plots: half widths of the intervals of `x`; else empty.
        words: name in tool tips; empty: `name`.
        shades: scatter plots: values in the colour scale of the panel, float64 [n]; empty: the colour of the series.
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


@dataclass(frozen=True, slots=True)
class SketchNode:
    """A node of a topology; y points upwards."""

    name: str
    x: float
    y: float
    is_router: bool


@dataclass(frozen=True, slots=True)
class SketchLink:
    """A link from (x0, y0) to (x1, y1); ``bow`` bends it away from parallel links, ``lanes`` are subflow colours."""

    x0: float
    y0: float
    x1: float
    y1: float
    bow: float
    label: str
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopologySketch:
    """Content of the drawing of a topology.

    Attributes:
        nodes: the nodes, at least one.
        links: the links.
        ways: label and colour, ``#rrggbb``, of each subflow.
        notes: text and position of each note.
    """

    nodes: tuple[SketchNode, ...]
    links: tuple[SketchLink, ...]
    ways: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, float, float], ...] = ()

    @property
    def aspect(self) -> float:
        """Ratio of height to width, limited to values suitable for a page."""
        xs, ys = [node.x for node in self.nodes], [node.y for node in self.nodes]
        width, height = max(max(xs) - min(xs), 1.0), max(ys) - min(ys)
        return min(0.75, max(0.28, (height + 0.18 * width) / (width * 1.2)))

    @property
    def names(self) -> tuple[str, ...]:
        """Texts in the drawing, each once: names of nodes, labels of links, and notes."""
        texts = (
            *(node.name for node in self.nodes),
            *(link.label for link in self.links),
            *(n for n, _, _ in self.notes),
        )
        return tuple(dict.fromkeys(filter(None, texts)))


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A coordinate system with its series, or the drawing of a topology.

    Attributes:
        form: form of the drawing.
        title: title above the panel; empty for none.
        x_text: title of the x axis, with its unit.
        y_text: title of the y axis, with its unit.
        points: names of the points.
        positions: numeric positions of the points, in any order; empty: points at equal distances.
        series: series in the order of the legend.
        note: a line of text below the panel, on missing data or the meaning of a mark.
        is_log_x: whether the x axis is logarithmic; positions over a wide range have the same effect.
        is_log_y: whether the value axis is logarithmic.
        area: series drawn behind a trace as a filled area, e.g. the capacity of links.
        is_signed: whether values may be negative; otherwise intervals are cut at zero.
        x_is_signed: scatter plots: whether values along x may be negative.
        better: scatter plots: for x and y, 1 if larger is better, -1 if smaller is better, and 0 if neither. The value
            -1 reverses the axis, so that the better corner is at the top right. If neither is 0, a line joins the
            series marked as ours, which form the Pareto front.
        legend: parameter whose values are the names of the series; empty: none.
        least: least range of the value axis, so that small differences do not look large.
        x_ticks: scatter plots and maps: positions along x with their names; empty: numbers.
        y_ticks: scatter plots and maps: positions along y with their names; empty: numbers.
        cells: maps: rows of cells from the bottom up, float64 [columns] each; NaN: unknown.
        cell_texts: texts of the cells, like `cells`.
        scale: colour scale of cells and shades; None: the panel has neither.
        cell_area: first and last x and y of all cells; None: each cell is centred at whole numbers.
        view: first and last x and y in view; None: everything.
        sketch: content of the form "topology"; None for other forms.
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
    sketch: TopologySketch | None = None

    @classmethod
    def of_topology(cls, sketch: TopologySketch) -> Panel:
        """The drawing of a topology."""
        return cls("topology", "", "", "", (), np.empty(0), (), sketch=sketch)

    def ends(self, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
        """Ends of the intervals of a series for drawing."""
        return interval_ends(series.means, series.halves, is_signed=self.is_signed)

    def x_ends(self, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
        """Ends of the intervals along x."""
        return interval_ends(series.x, series.x_halves, is_signed=self.x_is_signed)

    @property
    def has_values(self) -> bool:
        """True if any series or cell has a value, or a topology is drawn."""
        return self.sketch is not None or any(
            np.isfinite(values).any() for values in (*(series.means for series in self.series), *self.cells)
        )

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """First and last x and y of the cells of a map."""
        return self.cell_area or (-0.5, len(self.cells[0]) - 0.5, -0.5, len(self.cells) - 0.5)

    @property
    def is_single(self) -> bool:
        """True if bars or boxes are labelled with the names of the series rather than of the points."""
        return self.form in ("bars", "box") and len(self.points) == 1

    def box(self, number: int, point: int) -> Box | None:
        """The box of a series at a point; None if the series has no values there."""
        values = self.series[number].values[point]
        known = values[np.isfinite(values)]
        room = GROUP / (1 if self.is_single else max(1, len(self.series)))
        middle = float(number) if self.is_single else point - GROUP / 2 + room * (number + 0.5)
        return Box.of(known, middle, _BOX * room) if len(known) else None

    @property
    def front(self) -> list[tuple[float, float]]:
        """Corners of the Pareto front, left to right, with a step between neighbours; empty if `better` contains 0."""
        best = sorted((float(each.x[0]), float(each.means[0])) for each in self.series if each.is_ours)
        if 0 in self.better or not best:
            return []
        corners = best[:1]
        for (x, y), (next_x, next_y) in pairwise(best):
            # A step bends at the worse values of both neighbours.
            corners += [(x if self.better[0] > 0 else next_x, min(y, next_y) if self.better[1] > 0 else max(y, next_y))]
            corners += [(next_x, next_y)]
        return corners
