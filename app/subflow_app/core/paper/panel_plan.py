"""Figures of panels, in plain values: series over points with their intervals, and what others report beside them.

Where `figure_plan` shows the curves of runs, this shows what came out of many runs, as papers do: lines, bars, boxes,
clouds, traces and tables. `panel_figure` draws it wherever matplotlib is loaded; a plan can be sent there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.core.errors import InputError
from subflow_app.core.palette import ColourKey
from subflow_app.core.paper.figure_plan import FigureKind
from subflow_app.core.paper.paper_styles import DEFAULT_STYLE, MM_PER_INCH, PaperStyle, checked_dpi

FloatArray = NDArray[np.float64]
PanelForm = Literal["lines", "bars", "trace", "table", "box", "scatter"]

# Narrower than this, panels stand above each other.
_TWO_COLUMNS_MM = 130.0
MOST_PANELS = 12
"""Of a figure; more fit on no page."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a figure is drawn on.

    Attributes:
        background: behind everything, ``#rrggbb``.
        ink: of texts and axes.
        muted: of what is less important.
        grid: of the grid.
        is_dark: whether colours have to show on a dark ground.
    """

    background: str = "#ffffff"
    ink: str = "#1b1b1b"
    muted: str = "#555555"
    grid: str = "#dddddd"
    is_dark: bool = False


PAPER = Ground()


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

    @property
    def has_values(self) -> bool:
        """Whether there is anything of ours to draw."""
        return any(np.isfinite(series.means).any() for series in self.series)


@dataclass(frozen=True, slots=True, eq=False)
class PanelFigure:
    """A figure.

    Attributes:
        panels: in reading order; several stand beside and below each other.
        style: size, fonts and lines; its height is that of a panel.
        kind: format of the file.
        dpi: px per inch of a PNG.
        title: heading; empty for none, as in papers, which have captions.
        ground: what it is drawn on.
        reference_text: legend of what others report.
        implied_text: legend of what follows from an improvement that they report.
        is_thumbnail: whether the first panel is drawn alone and without words.
    """

    panels: tuple[Panel, ...]
    style: PaperStyle = DEFAULT_STYLE
    kind: FigureKind = "pdf"
    dpi: int = 150
    title: str = ""
    ground: Ground = PAPER
    reference_text: str = "paper"
    implied_text: str = "paper, from its improvement"
    is_thumbnail: bool = False

    @property
    def rows(self) -> tuple[tuple[Panel, ...], ...]:
        """Panels that stand beside each other, row by row; tables, and one that is left over, take the whole width."""
        most = 2 if self.style.width_mm >= _TWO_COLUMNS_MM else 1
        rows: list[tuple[Panel, ...]] = []
        for panel in self.panels:
            can_join = rows and len(rows[-1]) < most and "table" not in (panel.form, rows[-1][-1].form)
            if can_join:
                rows[-1] = (*rows[-1], panel)
            else:
                rows.append((panel,))
        return tuple(rows)

    def width_in(self, panel: Panel) -> float:
        """The width of one of the panels with its texts, inches."""
        beside = next((len(row) for row in self.rows if any(each is panel for each in row)), 1)
        return self.style.width_mm / MM_PER_INCH / beside

    def checked(self) -> PanelFigure:
        """The figure, once it is known that it can be drawn.

        Raises:
            InputError: if it cannot.
        """
        self.style.sized(self.style.width_mm, self.style.plot_height_mm)
        if not any(panel.has_values for panel in self.panels):
            raise InputError("there is nothing to draw: no run of this experiment has ended yet")
        if len(self.panels) > MOST_PANELS:
            raise InputError(f"a figure has {MOST_PANELS} panels at most, not {len(self.panels)}")
        if self.kind == "png":
            checked_dpi(self.dpi)
        return self

    def as_thumbnail(self, width_mm: float, height_mm: float) -> PanelFigure:
        """Its first panel alone, small."""
        shown = next((panel for panel in self.panels if panel.form != "table" and panel.has_values), self.panels[0])
        style = replace(self.style, width_mm=width_mm, plot_height_mm=height_mm, font_pt=5.5, small_pt=5.0, line_pt=1.0)
        return replace(self, panels=(shown,), style=style, title="", is_thumbnail=True)
