"""The plan of a figure, in plain values, and the user's choices for exported figures.

A figure contains plots, which show curves and bars of runs, or panels, which show results of many runs. The process
that reads the traces builds the plan, and `figures` draws the figure in a process that loads matplotlib. The plan
contains neither functions nor traces, so that it can be sent to the drawing process. Choices are saved for the next
export.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal, TypeVar

import numpy as np

from subflow_app.features.paper.core.paper_styles import (
    DEFAULT_STYLE,
    DPI_RANGE,
    HEIGHT_RANGE_MM,
    LEGENDS,
    MM_PER_INCH,
    MOST_MEGAPIXELS,
    SHOWN_STYLE,
    STYLES_BY_ID,
    WIDTH_RANGE_MM,
    Legend,
    PaperStyle,
    checked_dpi,
    checked_height,
)
from subflow_app.features.plots.core import BARS, Bar, Curve, PlotSpec, Ticks, interval_text
from subflow_app.features.plots.core.spec import Kind
from subflow_app.features.traces.core.traces import Traces
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.picture import Panel

FigureKind = Literal["svg", "pdf", "png"]
KindT = TypeVar("KindT", bound=str)
FIGURE_KINDS: tuple[FigureKind, ...] = ("svg", "pdf", "png")

PlacedWord = tuple[str, float, float, float, float]
"""A text of a drawn figure before replacement, with its left, upper, right and lower edge as shares of the figure."""
TITLE = "\0title"
"""Stands for the heading of the figure among its texts."""

MOST_PLOTS = 12
"""Maximum number of plots and panels in a figure, limited by the size of a page."""
# Figures narrower than this stack their panels in one column.
_TWO_COLUMNS_MM = 130.0


@dataclass(frozen=True, slots=True)
class Ground:
    """Colours of the parts of a figure that belong to no series.

    Attributes:
        background: background colour, ``#rrggbb``.
        ink: colour of text.
        muted: colour of axes and secondary elements.
        grid: colour of the grid.
        is_dark: True for a dark background.
    """

    background: str = "#ffffff"
    ink: str = "#000000"
    muted: str = "#555555"
    grid: str = "#dddddd"
    is_dark: bool = False


PAPER = Ground()


@dataclass(frozen=True, slots=True)
class FigureLook:
    """Look of figures, independent of their content.

    Attributes:
        style: size, fonts and lines.
        legend: place of the legend.
        title: heading of the figure; empty in papers, which use captions.
        dpi: px per inch of a PNG.
        is_stacked: whether all plots are stacked in one figure; otherwise, each plot is a separate file.
        height_mm: height that all plots of a figure share, unless the plots would be too low; 0: the style defines the
            height of each plot.
    """

    style: PaperStyle = DEFAULT_STYLE
    legend: Legend = "below"
    title: str = ""
    dpi: int = 300
    is_stacked: bool = False
    height_mm: float = 0.0

    def of(self, plan: FigurePlan, kind: FigureKind) -> FigurePlan:
        """The plan with this look and format; plots keep a minimum height if the figure has many rows."""
        style = self.style
        if self.height_mm and len(plan.rows) > _FEW_ROWS:
            style = replace(style, plot_height_mm=_LEAST_OF_MANY_MM)
        return replace(
            plan,
            style=style,
            legend=self.legend,
            title=self.title,
            dpi=self.dpi,
            kind=kind,
            height_mm=self.height_mm,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlotData:
    """Settings of a plot, and its curves in SI units.

    Attributes:
        id: id of the plot.
        title: heading.
        axis_text: title of the value axis, with its unit.
        scale: factor from SI to the unit of the value axis.
        from_zero: whether the value axis starts at zero.
        is_rate: whether each sample is a mean over the interval that ends at its time.
        kind: curves over time, curves over another quantity, or bars.
        x_text: title of the x axis, with its unit.
        x_scale: factor from SI to the unit of the x axis.
        ceiling: minimum upper end of the value axis, in the unit of the axis; None: the axis fits the values.
        curves: curves to draw.
        bars: bars to draw.
        value_range: lowest and highest value of the axis in its unit; None: the axis fits the curves.
        bin_s: length of the bins over which curves are averaged, s; zero for unaveraged samples; None: only rates are
            averaged, as much as the figure requires.
        ticks: events over time.
        column: name of the column if plots of one quantity are side by side; empty if the plot covers all runs.
    """

    id: str
    title: str
    axis_text: str
    scale: float
    from_zero: bool
    is_rate: bool
    kind: Kind
    x_text: str
    x_scale: float
    ceiling: float | None
    curves: tuple[Curve, ...]
    bars: tuple[Bar, ...] = ()
    value_range: tuple[float, float] | None = None
    bin_s: float | None = None
    ticks: tuple[Ticks, ...] = ()
    column: str = ""


@dataclass(frozen=True, slots=True)
class FigureTexts:
    """Texts of a figure that can be replaced.

    Attributes:
        across: titles of horizontal axes.
        up: titles of vertical axes.
        others: headings of panels, legends and colour scales.
    """

    across: tuple[str, ...]
    up: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FigurePlan:
    """Content and look of a figure.

    Attributes:
        plots: plots from top to bottom, each as wide as the figure, unless plots of one quantity are side by side.
        time_range: first and last visible time of the plots over time, s.
        style: size, fonts and lines; its height is the height of one plot or panel.
        kind: format of the file.
        dpi: px per inch of a PNG.
        legend: place of the legend.
        title: heading of the figure; empty in papers, which use captions.
        is_log: whether value axes of plots are logarithmic.
        panels: panels below the plots in reading order, in one or two columns.
        ground: colours of the parts that belong to no series.
        reference_text: legend of reported values.
        implied_text: legend of values computed from a reported improvement.
        is_thumbnail: True if the figure is drawn without text.
        height_mm: minimum height of the figure.
        words: other texts for titles of axes, entries of the legend and names on axes, by the text that they replace.
    """

    plots: tuple[PlotData, ...] = ()
    time_range: tuple[float, float] = (0.0, 0.0)
    style: PaperStyle = DEFAULT_STYLE
    kind: FigureKind = "pdf"
    dpi: int = 300
    legend: Legend = "below"
    title: str = ""
    is_log: bool = False
    panels: tuple[Panel, ...] = ()
    ground: Ground = PAPER
    reference_text: str = "paper"
    implied_text: str = "paper, from its improvement"
    is_thumbnail: bool = False
    height_mm: float = 0.0
    words: Mapping[str, str] = field(default_factory=dict)

    def word(self, text: str) -> str:
        """The text that the figure shows in place of a text."""
        return self.words.get(text, text)

    @property
    def rows(self) -> tuple[tuple[PlotData | Panel, ...], ...]:
        """Plots and panels by row: plots of one quantity share a row, and a table fills a row.

        In wide figures, other panels share a row in pairs.
        """
        rows: list[tuple[PlotData | Panel, ...]] = []
        parts: list[PlotData | Panel] = [*self.plots, *self.panels]
        for part in parts:
            if rows and self._fits_beside(rows[-1], part):
                rows[-1] = (*rows[-1], part)
            else:
                rows.append((part,))
        return tuple(rows)

    def _fits_beside(self, row: tuple[PlotData | Panel, ...], part: PlotData | Panel) -> bool:
        last = row[-1]
        if isinstance(part, PlotData) or isinstance(last, PlotData):
            return isinstance(part, PlotData) and isinstance(last, PlotData) and part.id == last.id
        can_pair = self.style.width_mm >= _TWO_COLUMNS_MM and "table" not in (part.form, last.form)
        return can_pair and len(row) == 1

    @property
    def legend_title(self) -> str:
        """Parameter whose values are the names of the series; empty if the names are not values of a parameter."""
        return next((panel.legend for panel in self.panels if panel.legend), "")

    def width_in(self, part: PlotData | Panel) -> float:
        """Width of a plot or panel with its labels, inches."""
        beside = next((len(row) for row in self.rows if any(each is part for each in row)), 1)
        return self.style.width_mm / MM_PER_INCH / beside

    def checked(self) -> FigurePlan:
        """Checks that this plan can be drawn, and returns it.

        Raises:
            InputError: if the plan is empty, too large or invalid.
        """
        style, count = self.style.sized(self.style.width_mm, self.style.plot_height_mm), len(self.plots + self.panels)
        if not any(plot.curves or plot.bars for plot in self.plots) and not any(p.has_values for p in self.panels):
            raise InputError("nothing to draw: no curve is visible, or no run has data for the figure")
        if count > MOST_PLOTS:
            raise InputError(f"a figure has {MOST_PLOTS} plots at most, not {count}: write one file per plot")
        if self.legend not in LEGENDS:
            raise InputError(f'legend "{self.legend}": must be one of {", ".join(LEGENDS)}')
        if self.kind == "png":
            checked_dpi(self.dpi)
            height_mm = max(self.height_mm, style.plot_height_mm * len(self.rows))
            pixels = style.width_mm * height_mm * (self.dpi / MM_PER_INCH) ** 2
            if pixels > MOST_MEGAPIXELS * 1e6:
                raise InputError(
                    f"this figure would have {pixels / 1e6:.0f} megapixels, and {MOST_MEGAPIXELS} are allowed: choose "
                    f"fewer px per inch than {self.dpi}, or PDF, which has no pixels"
                )
        return self

    def as_thumbnail(self, width_mm: float, height_mm: float) -> FigurePlan:
        """The first panel with values that is not a table, or else the first panel, as a small figure."""
        shown = next((panel for panel in self.panels if panel.form != "table" and panel.has_values), self.panels[0])
        style = replace(self.style, width_mm=width_mm, plot_height_mm=height_mm, font_pt=5.5, small_pt=5.0, line_pt=1.0)
        return replace(self, panels=(shown,), style=style, title="", is_thumbnail=True)

    def with_run_names(self, names: Mapping[int, str]) -> FigurePlan:
        """The figure with new names for runs, by position; other runs keep their names."""
        return replace(
            self,
            plots=tuple(
                replace(
                    plot,
                    curves=tuple(replace(each, run_title=names.get(each.run, each.run_title)) for each in plot.curves),
                    bars=tuple(replace(each, run_title=names.get(each.run, each.run_title)) for each in plot.bars),
                )
                for plot in self.plots
            ),
        )

    def texts(self) -> FigureTexts:
        """The texts that `words` can replace, without the entries of the legend; each once, in their order."""
        across: list[str] = []
        up: list[str] = []
        others: list[str] = []
        for plot in self.plots:
            up.append(plot.axis_text)
            across.append(interval_text(plot.bars) if plot.kind == BARS else plot.x_text)
        for panel in self.panels:
            others += [panel.title, panel.legend]
            across.append(panel.x_text)
            up.append(panel.y_text)
            if panel.scale is not None:
                others.append(panel.scale.title)
        return FigureTexts(*(tuple(dict.fromkeys(filter(None, each))) for each in (across, up, others)))

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Id and title of each plot and panel, in their order."""
        panels = [(f"panel{number}", panel.title or panel.y_text) for number, panel in enumerate(self.panels, 1)]
        return (*((plot.id, plot.title) for plot in self.plots), *panels)

    def only(self, ids: Collection[str]) -> FigurePlan:
        """The figure with only the plots and panels that have these ids, as in `parts`."""
        panels = [panel for number, panel in enumerate(self.panels, 1) if f"panel{number}" in ids]
        return replace(self, plots=tuple(plot for plot in self.plots if plot.id in ids), panels=tuple(panels))

    def one_per_plot(self) -> dict[str, FigurePlan]:
        """A separate figure for each plot and panel, by its id."""
        return {part: self.only((part,)) for part, _ in self.parts}


def plot_data(
    spec: PlotSpec,
    curves: Iterable[Curve],
    bars: Iterable[Bar] = (),
    *,
    value_range: tuple[float, float] | None = None,
    bin_s: float | None = None,
    ticks: Sequence[Ticks] = (),
    column: str = "",
) -> PlotData:
    """A plot of these curves or bars; curves of running simulations are truncated to complete samples."""
    return PlotData(
        id=spec.id,
        title=spec.title,
        axis_text=spec.axis_text,
        scale=spec.scale,
        from_zero=spec.from_zero,
        is_rate=spec.is_rate,
        kind=spec.kind,
        x_text=spec.x_text,
        x_scale=1.0 if spec.x is None else spec.x.scale,
        ceiling=None if spec.ceiling is None else spec.ceiling * spec.scale,
        bars=tuple(bars),
        curves=tuple(_whole(curve) for curve in curves),
        value_range=value_range,
        bin_s=bin_s,
        ticks=tuple(ticks),
        column=column,
    )


def run_plan(specs: Sequence[PlotSpec], runs: Sequence[Traces]) -> FigurePlan:
    """A figure of these plots over the whole duration of the runs, without plots that no run supports.

    Raises:
        InputError: if no run supports any of the plots.
        StoreError: if stored traces cannot be read.
    """
    had = [spec for spec in specs if any(spec.is_in(traces) for traces in runs)]
    plots = [plot_data(spec, spec.overlay(runs), spec.all_bars(runs)) for spec in had]
    plots = [plot for plot in plots if plot.curves or plot.bars]
    if not plots:
        names = " or ".join(spec.title.lower() for spec in specs)
        needs = " and ".join(dict.fromkeys(spec.needs for spec in specs if spec.needs))
        raise InputError(f"no run has data for the {names} figure{f': it takes {needs}' if needs else ''}")
    return FigurePlan(tuple(plots), (0.0, max(traces.duration_s for traces in runs)))


def figure_kind(path: PurePath) -> FigureKind:
    """The figure format that the suffix of a file name selects.

    Raises:
        InputError: if the name has no suffix, or the suffix is not a figure format.
    """
    return kind_of_suffix(path, FIGURE_KINDS, "figures are written as .svg, .pdf or .png")


def kind_of_suffix(path: PurePath, kinds: Sequence[KindT], known: str) -> KindT:
    """The format among `kinds` that equals the suffix of a file name; `known` lists the formats for the message.

    Raises:
        InputError: if the name has no suffix, or the suffix is unknown.
    """
    suffix = path.suffix.lower().lstrip(".")
    for kind in kinds:
        if suffix == kind:
            return kind
    text = f'not "{path.suffix}"' if path.suffix else "and this name has no suffix"
    raise InputError(f"{path.name}: {known}, {text}")


def _whole(curve: Curve) -> Curve:
    count = min(len(curve.positions), len(curve.values))
    return replace(
        curve,
        bands=tuple(replace(band, low=band.low[:count], high=band.high[:count]) for band in curve.bands),
        time_s=np.ascontiguousarray(curve.time_s[:count]),
        values=np.ascontiguousarray(curve.values[:count]),
        x=None if curve.x is None else np.ascontiguousarray(curve.x[:count]),
    )


AS_SHOWN = SHOWN_STYLE.id
"""Style of figures that show the content of the window, with marks and columns of runs."""
CUSTOM = "custom"
"""Style with a size that the user chooses."""
_CUSTOM_LIKE = "ieee"
_FEW_ROWS = 3  # up to this many rows share the height of a figure, even if they become low
_LEAST_OF_MANY_MM = 37.0  # minimum height that keeps axis titles from overlapping


@dataclass(frozen=True, slots=True)
class FigureChoice:
    """Choices for exported figures.

    Attributes:
        style: `AS_SHOWN`, `CUSTOM` or the id of a style.
        kind: format of the file.
        width_mm: width of the figure for `AS_SHOWN` and `CUSTOM`; other styles define their width.
        height_mm: height of each plot; for `AS_SHOWN`, of the figure.
        dpi: px per inch of a PNG.
        legend: place of the legend; for `AS_SHOWN`, always above.
        is_stacked: whether all plots are stacked in one figure; otherwise, each plot is a separate file.
        has_data: whether a CSV file with the data is written next to the figure.
        words: other texts for the figure, as in `FigurePlan.words`.
    """

    style: str = "ieee"
    kind: FigureKind = "pdf"
    width_mm: float = 88.9
    height_mm: float = 46.0
    dpi: int = 300
    legend: Legend = "below"
    is_stacked: bool = True
    has_data: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def paper_style(self) -> PaperStyle:
        """Style of the figures for this choice.

        Raises:
            InputError: if the size is outside the limits.
        """
        if self.style == AS_SHOWN:
            checked_height(self.height_mm)
            return SHOWN_STYLE.sized(self.width_mm)
        if self.style == CUSTOM:
            return STYLES_BY_ID[_CUSTOM_LIKE].sized(self.width_mm, self.height_mm)
        return STYLES_BY_ID[self.style].sized(None, self.height_mm)

    def look(self, title: str) -> FigureLook:
        """The look of the figures.

        Raises:
            InputError: if the size is outside the limits.
        """
        if self.style == AS_SHOWN:
            return FigureLook(self.paper_style, "above", title, dpi=self.dpi, is_stacked=True, height_mm=self.height_mm)
        return FigureLook(self.paper_style, self.legend, title, self.dpi, self.is_stacked)

    def pages(self, plan: FigurePlan) -> dict[str, FigurePlan]:
        """The figures to write, by id: one with all plots and an empty id, or one for each plot."""
        is_one = self.is_stacked or self.style == AS_SHOWN or len(plan.parts) == 1
        return {"": plan} if is_one else plan.one_per_plot()

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any]) -> FigureChoice:
        """The saved choice; default values replace unusable entries."""
        checks: dict[str, Callable[[Any], bool]] = {
            "style": lambda value: value in (AS_SHOWN, CUSTOM, *STYLES_BY_ID),
            "kind": lambda value: value in FIGURE_KINDS,
            "width_mm": lambda value: _is_within(value, WIDTH_RANGE_MM),
            "height_mm": lambda value: _is_within(value, HEIGHT_RANGE_MM),
            "dpi": lambda value: isinstance(value, int) and _is_within(value, DPI_RANGE),
            "legend": lambda value: value in tuple(LEGENDS),
            "is_stacked": lambda value: isinstance(value, bool),
            "has_data": lambda value: isinstance(value, bool),
            "words": lambda value: isinstance(value, dict) and all(isinstance(word, str) for word in value.values()),
        }
        return cls(**{name: entries[name] for name, is_good in checks.items() if is_good(entries.get(name))})


def _is_within(value: object, allowed: tuple[float, float]) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and allowed[0] <= value <= allowed[1]
