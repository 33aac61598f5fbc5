"""Drawing of panels: lines over points, bars, boxes, scatter plots, maps, traces and tables, with reported values.

Reported values are results that papers state, for comparison with our own.

`plot_forms` also uses the functions for bars and for the names below them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from subflow_app.features.paper.core.figure_plan import FigurePlan, PlotData
from subflow_app.features.paper.core.sketch_form import draw_topology, topology_entries
from subflow_app.features.plots.core.bars import bar_places
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.picture import GROUP, ColourScale, FloatArray, Panel, PanelForm, PanelSeries, Reference

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap

MARKERS = ("o", "^", "v", "P", "X", "<", ">", "p", "h", "*")
"""Markers of series; squares and diamonds are reserved for reported values."""
PAPER_HATCH, IMPLIED_HATCH = "////", "\\\\\\\\"
_OURS, _OTHERS = 1.8, 1.0  # line widths in multiples of the style's
_BAND = 0.18
# The x axis is logarithmic if the ratio of the largest to the smallest position reaches this value.
_LOG_FROM = 25.0
_LETTER = 0.6
_MOST_TRACE_POINTS = 300
_MOST_ABOVE = 1.6  # upper limit of a value axis in multiples of the largest value; longer intervals are cut off
_NOTHING = "–"
_PT_PER_INCH = 72.0
_LEAST_TABLE_PT = 5.0
TABLE_LINE = 2.3
"""Height of a table row in multiples of the font size."""
_HEAD_LINE = 0.65  # height of each further line of a heading, in rows
_MOST_SKETCHED = 5  # maximum number of rows and columns of a table in a thumbnail
_ASKEW = 0.6  # sine of the angle of rotated names
_LONGEST_NAME = 28  # maximum length of the names of bars, in characters
# The colours of the window's scale, but without pale colours, which would be invisible on white.
_PARTED = ((0.0, "#b3231b"), (0.4999, "#e4b2af"), (0.5001, "#b1c8e9"), (1.0, "#1f63c1"))
_MOST_NUMBERS = 240  # with more cells, the numbers in the cells would not be readable


def dashes(number: int) -> Literal["-"] | tuple[float, tuple[float, ...]]:
    """Dash pattern with this number in matplotlib's form; number 0 is solid."""
    pattern = palette.dash(number)
    return (0.0, pattern) if pattern else "-"


def _dashes(series: PanelSeries) -> Literal["-"] | tuple[float, tuple[float, ...]]:
    """Dash pattern of a series: solid for the subjects of the figure, different patterns for the others."""
    return "-" if series.is_ours else dashes(series.shape)


def draw_lines(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws lines over the points with 95 % bands; hollow markers are reported values."""
    x = _positions(panel)
    line_pt = plan.style.line_pt
    for series in panel.series:
        colour = _colour(series, plan)
        is_known = np.isfinite(series.means)
        low, high = panel.ends(series)
        has_band = is_known & np.isfinite(series.halves)
        if has_band.sum() > 1:
            axes.fill_between(
                x[has_band], low[has_band], high[has_band], color=colour, alpha=_BAND, linewidth=0.0, zorder=1.5
            )
        elif has_band.any():
            axes.errorbar(
                x[has_band],
                series.means[has_band],
                _reach(series.means, (low, high))[:, has_band],
                fmt="none",
                ecolor=colour,
                capsize=2.0,
            )
        axes.plot(
            x[is_known],
            series.means[is_known],
            color=colour,
            linestyle=_dashes(series),
            linewidth=line_pt * (_OURS if series.is_ours else _OTHERS),
            marker=MARKERS[series.shape % len(MARKERS)],
            markersize=line_pt * (4.4 if series.is_ours else 3.6),
            zorder=3.0 if series.is_ours else 2.0,
        )
        for mark in series.references:
            _mark(axes, x[mark.point], mark, series, plan)
    _x_axis_of_points(axes, panel, plan)
    _value_axis(axes, panel)


def draw_bars(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws groups of bars by point, or one bar per series for a single point; hatched bars are reported values."""
    is_single = len(panel.points) == 1
    # Reported values are drawn to the right of their bar. Each group is as wide as its bars.
    groups = [
        [(series, point) for series in panel.series] if not is_single else [(panel.series[point], 0)]
        for point in range(len(panel.series) if is_single else len(panel.points))
    ]
    slots = [sum(1 + _marks(series, point) for series, point in group) for group in groups]
    for place, (group, count) in enumerate(zip(groups, slots, strict=True)):
        # With names on the axis, bar widths may differ; with a legend, all bars have the same width.
        width = GROUP / (max(count, 2) if is_single else max(slots))
        middle = place - (count - 1) * width / 2
        for series, point in group:
            _bar(axes, panel, series, point, middle, width, plan)
            middle += width * (1 + _marks(series, point))
    names_axis(axes, panel, plan)
    _value_axis(axes, panel)


def _bar(
    axes: Axes, panel: Panel, series: PanelSeries, point: int, middle: float, width: float, plan: FigurePlan
) -> None:
    style = plan.style
    has_interval = math.isfinite(series.halves[point])
    draw_bar(
        axes,
        (middle, 0.94 * width),
        float(series.means[point]),
        _reach(series.means, panel.ends(series))[:, [point]] if has_interval else None,
        "not measured",
        plan,
        color=_colour(series, plan),
        edgecolor=plan.ground.ink if series.is_ours else "none",
        linewidth=style.line_pt if series.is_ours else 0.0,
    )
    for mark in series.references:
        if mark.point == point:
            middle += width
            axes.bar(
                middle,
                mark.value,
                0.94 * width,
                facecolor=plan.ground.background,
                edgecolor=_mark_colour(mark, series, plan),
                hatch=IMPLIED_HATCH if mark.is_implied else PAPER_HATCH,
                linewidth=0.9 * style.line_pt,
                zorder=2.0,
            )


def draw_bar(
    axes: Axes,
    place: tuple[float, float],
    mean: float,
    reach: FloatArray | None,
    note: str,
    plan: FigurePlan,
    **look: Any,
) -> None:
    """Draws a bar.

    Args:
        axes: axes to draw on.
        place: middle and width of the bar.
        mean: height of the bar; NaN: the note replaces the bar.
        reach: distances from the mean to the ends of its interval, [2, 1]; None for a bar without an interval.
        note: text in place of a bar without a height.
        plan: plan of the figure.
        look: keyword arguments of matplotlib's `bar` for the look of the bar.
    """
    if math.isnan(mean):
        small, muted = plan.style.small_pt, plan.ground.muted
        axes.text(place[0], 0.0, f" {note}", rotation=90, ha="center", va="bottom", fontsize=small, color=muted)
        return
    width = 0.9 * plan.style.line_pt
    error = {"ecolor": plan.ground.ink, "elinewidth": width, "capthick": width, "capsize": 2.2 * width}
    axes.bar(place[0], mean, place[1], yerr=reach, error_kw=error, zorder=2.0, **look)


def _marks(series: PanelSeries, point: int) -> int:
    return sum(mark.point == point for mark in series.references)


def draw_box(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws a box over the runs of each point: quartiles, whiskers up to 1.5 interquartile ranges, and dots.

    Dots show all runs if the runs are few, else only the outliers. Thumbnails omit the dots.
    """
    line_pt, ink = plan.style.line_pt, plan.ground.ink
    for number, series in enumerate(panel.series):
        colour = _colour(series, plan)
        for point, values in enumerate(series.values):
            known, box = values[np.isfinite(values)], panel.box(number, point)
            if box is not None:
                axes.boxplot(
                    [known],
                    positions=[box.middle],
                    widths=box.width,
                    patch_artist=True,
                    manage_ticks=False,
                    boxprops={"facecolor": colour, "edgecolor": ink, "linewidth": 0.8 * line_pt},
                    medianprops={"color": ink, "linewidth": 1.6 * line_pt},
                    whiskerprops={"color": ink, "linewidth": 0.8 * line_pt},
                    capprops={"color": ink, "linewidth": 0.8 * line_pt},
                    showfliers=False,
                )
                if not plan.is_thumbnail:
                    x, dots = [place for _, place in box.dots], [known[place] for place, _ in box.dots]
                    axes.plot(x, dots, "o", markersize=2.5 * line_pt, mfc="white", mec=ink, mew=0.5 * line_pt, zorder=3)
            for mark in series.references:
                if mark.point == point:
                    _mark(axes, float(number if panel.is_single else point), mark, series, plan)
    names_axis(axes, panel, plan)
    _value_axis(axes, panel)


def draw_scatter(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws the means of two quantities with intervals for each series and point, or markers on a colour scale."""
    for series in panel.series:
        colour = _colour(series, plan)
        if panel.scale is not None:
            # The lowest values of the scale are drawn last, on top.
            order = np.argsort(-series.shades)
            marks = axes.scatter(
                series.x[order],
                series.means[order],
                (3.0 * plan.style.line_pt) ** 2,
                series.shades[order],
                cmap=_colours(panel.scale),
                vmin=panel.scale.low,
                vmax=panel.scale.high,
                linewidths=0.0,
            )
            _colour_bar(axes, marks, panel, plan)
            continue
        axes.errorbar(
            series.x,
            series.means,
            xerr=_reach(series.x, panel.x_ends(series)) if _is_known(series.x_halves) else None,
            yerr=_reach(series.means, panel.ends(series)) if _is_known(series.halves) else None,
            fmt=MARKERS[series.shape % len(MARKERS)],
            color=colour,
            markersize=plan.style.line_pt * (6.0 if series.is_ours else 4.6),
            markeredgecolor=plan.ground.ink if series.is_ours else colour,
            elinewidth=0.8 * plan.style.line_pt,
            zorder=3.0 if series.is_ours else 2.0,
        )
        for mark in series.references:
            if math.isfinite(series.x[mark.point]):
                _mark(axes, float(series.x[mark.point]), mark, series, plan)
    if panel.front:
        axes.plot(
            *zip(*panel.front, strict=True), color=plan.ground.muted, linestyle="--", linewidth=plan.style.line_pt
        )
    axes.margins(0.12 if panel.scale is None else 0.03)
    if panel.x_ticks:
        names_axis(axes, panel, plan)
        if panel.scale is None:
            axes.set_xlim(-0.6, len(panel.x_ticks) - 0.4)
    if panel.y_ticks:
        axes.set_yticks([place for place, _ in panel.y_ticks], [plan.word(name) for _, name in panel.y_ticks])
    if 0 not in panel.better:
        size = plan.style.small_pt
        axes.text(0.99, 0.98, "better ↗", ha="right", va="top", fontsize=size, transform=axes.transAxes)


def draw_map(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws coloured cells, with their values if the cells are few."""
    assert panel.scale is not None
    values, colours = np.stack(panel.cells), _colours(panel.scale)
    left, right, low, high = panel.extent
    edges = np.linspace(left, right, values.shape[1] + 1), np.linspace(low, high, values.shape[0] + 1)
    mesh = axes.pcolormesh(*edges, values, cmap=colours, vmin=panel.scale.low, vmax=panel.scale.high)
    for (row, column), value in np.ndenumerate(values):
        if panel.cell_texts and values.size <= _MOST_NUMBERS and math.isfinite(value):
            red, green, blue, _ = mesh.to_rgba(np.array([value]))[0]
            ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
            text, size = panel.cell_texts[row][column], plan.style.small_pt
            axes.text(column, row, text, color=ink, ha="center", va="center", fontsize=size)
    if panel.x_ticks:
        names_axis(axes, panel, plan)
    if panel.y_ticks:
        axes.set_yticks([place for place, _ in panel.y_ticks], [plan.word(name) for _, name in panel.y_ticks])
    axes.grid(visible=False)
    _colour_bar(axes, mesh, panel, plan)


def _colours(scale: ColourScale) -> Colormap:
    """Perceptually uniform colours that are safe for the colour-blind; "parted" uses fixed colours."""
    import matplotlib as mpl
    from matplotlib.colors import LinearSegmentedColormap

    if scale.colours == "parted":
        return LinearSegmentedColormap.from_list("parted", _PARTED)
    return mpl.colormaps["viridis" if scale.colours == "rising" else "RdBu_r"]


def _colour_bar(axes: Axes, shaded: ScalarMappable, panel: Panel, plan: FigurePlan) -> None:
    assert panel.scale is not None
    figure = axes.get_figure()
    assert figure is not None
    bar = figure.colorbar(shaded, ax=axes)
    bar.set_label(plan.word(panel.scale.title), color=plan.ground.ink)
    if panel.scale.ticks:
        bar.set_ticks([value for value, _ in panel.scale.ticks], labels=[text for _, text in panel.scale.ticks])


def draw_trace(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws curves over time or another continuous quantity."""
    if panel.area is not None:
        x, y = _corners(panel.area.x, panel.area.means)
        axes.fill_between(x, y, color=plan.ground.grid, alpha=0.7, linewidth=0.0, step="post", zorder=0.5)
    for series in panel.series:
        x, y = _readable(series)
        axes.plot(
            x,
            y,
            color=_colour(series, plan),
            linestyle=_dashes(series),
            linewidth=plan.style.line_pt * (1.4 if series.is_ours else 1.0),
            zorder=3.0 if series.is_ours else 2.0,
        )
    spans = [series.x for series in panel.series if len(series.x)]
    if spans:
        first, last = min(float(x.min()) for x in spans), max(float(x.max()) for x in spans)
        if last > first:
            axes.set_xlim(min(first, 0.0) if first < 0.1 * last else first, last)
    axes.margins(y=0.05)
    _value_axis(axes, panel)


def draw_table(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws a table with a row for each series, a column for each point, and reported values in parentheses."""
    axes.set_axis_off()
    style, ground = plan.style, plan.ground
    if plan.is_thumbnail:
        _sketch_table(axes, panel, plan)
        return
    layout = table_layout(panel, plan)
    line = 1.0 / layout.lines
    head = 1.0 + (layout.head_lines - 1) * _HEAD_LINE
    table = axes.table(
        cellText=layout.cells,
        cellLoc="right",
        edges="horizontal",
        colWidths=list(layout.shares),
        bbox=(0.0, 0.0, 1.0, (head + len(panel.series)) * line),  # type: ignore[arg-type]
    )
    table.auto_set_font_size(False)
    for (row, column), cell in table.get_celld().items():
        cell.set_edgecolor(ground.grid)
        cell.set_height((head if row == 0 else 1.0) * line)
        text = cell.get_text()
        text.set_fontsize(layout.font_pt)
        text.set_color(ground.ink)
        is_ours = row > 0 and panel.series[row - 1].is_ours
        if row == 0 or (column == 0 and is_ours):
            text.set_fontweight("bold")
        if column == 0:
            text.set_horizontalalignment("left")
            cell.PAD = 0.01
    axes.text(
        0.0,
        1.0 - 0.5 * line,
        panel.y_text,
        fontsize=style.small_pt,
        color=ground.muted,
        va="center",
        transform=axes.transAxes,
    )


def _sketch_table(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws the cells of a table as bars, because its numbers are too small to read in a thumbnail."""
    rows, columns = min(_MOST_SKETCHED, len(panel.series)) + 1, min(_MOST_SKETCHED, len(panel.points)) + 1
    axes.set(xlim=(0.0, columns), ylim=(rows, 0.0))
    for row in range(rows):
        is_head = row == 0
        for column in range(columns):
            # Names are aligned left, and the shorter numbers right.
            left = column + (0.12 if column == 0 else 0.4)
            is_named = column == 0 and not is_head
            colour = _colour(panel.series[row - 1], plan) if is_named else plan.ground.muted
            axes.barh(row + 0.5, 0.5, 0.34, left, color=colour, alpha=1.0 if is_head or is_named else 0.45)
        axes.axhline(row + 1.0, color=plan.ground.muted if is_head else plan.ground.grid, linewidth=0.7)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Texts of a table, and widths of its columns.

    Attributes:
        cells: the headings, which may have several lines, followed by the rows.
        shares: width of each column as a share of the width of the table.
        head_lines: number of lines of the longest heading.
        font_pt: font size, points.
    """

    cells: tuple[tuple[str, ...], ...]
    shares: tuple[float, ...]
    head_lines: int
    font_pt: float

    @property
    def lines(self) -> float:
        """Height of the table in rows of `TABLE_LINE`: its title, the headings and the series."""
        return 1.0 + (self.head_lines - 1) * _HEAD_LINE + len(self.cells)


def table_layout(panel: Panel, plan: FigurePlan) -> TableLayout:
    """Layout with columns as wide as their numbers; longer headings are broken into lines."""
    rows = [
        (plan.word(series.name), *(table_cell(series, point) for point in range(len(panel.points))))
        for series in panel.series
    ]
    # The first heading names the quantity of the points.
    heads = [plan.word(text) for text in (panel.x_text, *panel.points)]
    room = int(plan.width_in(panel) * _PT_PER_INCH / _LETTER / plan.style.small_pt)
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(len(heads))]
    widths = [
        max(width, *(len(word) + 1 for word in head.split()), 1) + 2 for width, head in zip(widths, heads, strict=True)
    ]
    # Remaining width goes to columns with long headings.
    spare = room - sum(widths)
    wishes = [max(0, len(head) + 4 - width) for width, head in zip(widths, heads, strict=True)]
    if spare > 0 and any(wishes):
        share = min(1.0, spare / sum(wishes))
        widths = [width + int(share * wish) for width, wish in zip(widths, wishes, strict=True)]
    broken = tuple("\n".join(wrap(head, max(4, width - 3))) for head, width in zip(heads, widths, strict=True))
    size = min(1.0, room / sum(widths)) * plan.style.small_pt
    return TableLayout(
        (broken, *rows),
        tuple(width / sum(widths) for width in widths),
        max(head.count("\n") + 1 for head in broken),
        max(_LEAST_TABLE_PT, size),
    )


def table_cell(series: PanelSeries, point: int) -> str:
    """Mean, interval and reported values, e.g. ``3.02 ± 0.11 (paper 3.2)``."""
    mean, half = float(series.means[point]), float(series.halves[point])
    told = interval_text(mean, half)
    reported = [
        ("≈ " if mark.is_implied else "") + number_text(mark.value) for mark in series.references if mark.point == point
    ]
    return f"{told} (paper {', '.join(reported)})" if reported else told


def number_text(value: float) -> str:
    """A number with three significant digits; a dash for NaN and infinity.

    Integer parts are shown in full, and decimals up to six.
    """
    if not math.isfinite(value):
        return _NOTHING
    if value == 0.0:
        return "0"
    return f"{value:,.{_decimals(value)}f}".replace(",", " ")


def interval_text(mean: float, half: float) -> str:
    """A mean and half the width of its interval, rounded up, e.g. ``3.02 ± 0.11``.

    If either number is not finite, the text contains only the mean.
    """
    told = number_text(mean)
    if not (math.isfinite(mean) and math.isfinite(half)):
        return told
    digits = _decimals(max(abs(mean), half))
    scale = 10.0**digits
    # Without the tolerance, 0.11000000000000001 would become 0.12.
    shown = math.ceil(half * scale - 1e-6) / scale
    return f"{told} ± {f'{shown:,.{digits}f}'.replace(',', ' ') if shown else '0'}"


def _decimals(value: float) -> int:
    """Number of decimals for three significant digits."""
    exponent = int(f"{value:.2e}".partition("e")[2]) if value else 0
    return min(6, max(0, 2 - exponent))


FORMS: Mapping[PanelForm, Callable[[Axes, Panel, FigurePlan], None]] = {
    "lines": draw_lines,
    "bars": draw_bars,
    "box": draw_box,
    "scatter": draw_scatter,
    "trace": draw_trace,
    "table": draw_table,
    "map": draw_map,
    "topology": draw_topology,
}


def _colour(series: PanelSeries, plan: FigurePlan) -> str:
    return palette.hex_colour(series.colour, dark=plan.ground.is_dark)


def _mark_colour(mark: Reference, series: PanelSeries, plan: FigurePlan) -> str:
    return palette.hex_colour(mark.baseline or series.colour, dark=plan.ground.is_dark)


def _mark(axes: Axes, x: float, mark: Reference, series: PanelSeries, plan: FigurePlan) -> None:
    axes.plot(
        [x],
        [mark.value],
        linestyle="none",
        marker="D" if mark.is_implied else "s",
        markersize=(6.0 if mark.is_implied else 7.0) * plan.style.line_pt,
        markerfacecolor="none",
        markeredgecolor=_mark_colour(mark, series, plan),
        markeredgewidth=1.2 * plan.style.line_pt,
        zorder=3.5,
    )


def _positions(panel: Panel) -> FloatArray:
    return panel.positions if len(panel.positions) else np.arange(len(panel.points), dtype=np.float64)


def _x_axis_of_points(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    x = _positions(panel)
    if not len(panel.positions):
        names_axis(axes, panel, plan)
        return
    is_log = x.min() > 0 and (panel.is_log_x or (len(x) > 2 and x.max() / x.min() >= _LOG_FROM))
    if is_log:
        axes.set_xscale("log")
        from matplotlib.ticker import NullFormatter, NullLocator

        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(x, _unless_crowded(x, panel, plan, is_log=is_log))


def _unless_crowded(x: FloatArray, panel: Panel, plan: FigurePlan, *, is_log: bool) -> list[str]:
    """Names of the points, in which empty texts replace names that would overlap; the last name always remains."""
    names = [plan.word(name) for name in panel.points]
    place = np.log(x) if is_log else x
    span = float(place.max() - place.min()) or 1.0
    room_pt = 0.78 * plan.width_in(panel) * _PT_PER_INCH
    order = np.argsort(place)
    shown: list[int] = []
    for index in order[::-1]:  # from the last
        width = _LETTER * plan.style.small_pt * (len(names[index]) + 1.5)
        if not shown or float(place[shown[-1]] - place[index]) / span * room_pt >= width:
            shown.append(int(index))
    return [name if index in shown else "" for index, name in enumerate(names)]


def names_axis(axes: Axes, part: PlotData | Panel, plan: FigurePlan) -> None:
    """Writes the names of bars, boxes or points below the axis, in several lines or rotated in narrow plots."""
    names = [plan.word(name) for name in axis_names(part)]
    letters = _name_letters(len(names), part, plan)
    places = [place for place, _ in part.x_ticks] if isinstance(part, Panel) and part.x_ticks else range(len(names))
    axes.set_xticks(places, [_broken(name, letters) for name in names])
    if _longest_word(names) > letters and not plan.is_thumbnail:
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    if isinstance(part, PlotData) or part.form in ("bars", "box"):
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.grid(visible=False, axis="x")
        axes.tick_params(axis="x", length=0)
    if isinstance(part, Panel) and part.is_single:
        for label, series in zip(axes.get_xticklabels(), part.series, strict=True):
            label.set_fontweight("bold" if series.is_ours else "normal")


def names_lines(part: PlotData | Panel, plan: FigurePlan) -> float:
    """Height of the names below a plot or panel, measured in lines."""
    names = [plan.word(name) for name in axis_names(part)]
    letters = _name_letters(len(names), part, plan)
    if _longest_word(names) > letters:
        return 1.0 + _ASKEW * max(map(len, names)) * _LETTER
    return float(max((_broken(name, letters).count("\n") + 1 for name in names), default=1))


def axis_names(part: PlotData | Panel) -> Sequence[str]:
    """Names below a plot or panel; empty if its axis shows numbers."""
    if isinstance(part, PlotData):
        names = bar_places(part.bars).categories
        return [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names]
    if part.form in ("trace", "scatter", "map") or (part.form == "lines" and len(part.positions)):
        return [name for _, name in part.x_ticks]
    return [series.name for series in part.series] if part.is_single else part.points


def _name_letters(count: int, part: PlotData | Panel, plan: FigurePlan) -> int:
    """Number of characters that fit into a name below a plot or panel."""
    room_pt = 0.82 * plan.width_in(part) * _PT_PER_INCH / max(1, count)
    return max(1, int(room_pt / (_LETTER * plan.style.small_pt)) - 1)


def _broken(name: str, letters: int) -> str:
    return "\n".join(wrap(name, letters, break_long_words=False, break_on_hyphens=False)) or name


def _longest_word(names: Sequence[str]) -> int:
    return max((len(word) for name in names for word in name.split()), default=0)


def _value_axis(axes: Axes, panel: Panel) -> None:
    """Starts the value axis at zero, unless it is logarithmic, a value is negative, or the panel sets a minimum range.

    Bars and bands that do not start at zero would mislead.
    """
    if panel.is_log_y:
        from matplotlib.ticker import FuncFormatter, NullFormatter

        axes.set_yscale("log", nonpositive="mask")
        # Powers of ten would need mathematical text, which is off because names of runs are not formulas.
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,.10g}".replace(",", " ")))
        axes.yaxis.set_minor_formatter(NullFormatter())
        return
    if panel.least:
        low, high = axes.get_ylim()
        more = max(0.0, panel.least - (high - low)) / 2
        axes.set_ylim(low - more, high + more)
        return
    values = [value for series in panel.series for value in series.means if math.isfinite(value)]
    values += [mark.value for series in panel.series for mark in series.references]
    if not values or min(values) < 0.0:
        return
    axes.set_ylim(bottom=0.0)
    if max(values) > 0.0 and panel.form in ("lines", "bars"):
        # The interval of two runs extends six times their difference to either side, and would flatten everything else.
        axes.set_ylim(top=min(axes.get_ylim()[1], _MOST_ABOVE * max(values)))


def _corners(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points of a step function, without points that repeat the previous value."""
    if len(x) < 2:
        return x, y
    is_corner = np.concatenate(([True], y[1:] != y[:-1]))
    is_corner[-1] = True
    return x[is_corner], y[is_corner]


def _is_known(halves: FloatArray) -> bool:
    return bool(len(halves) and np.isfinite(halves).any())


def _reach(means: FloatArray, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Distances from the means to the ends of their intervals, float64 [2, n]; 0 for means without an interval."""
    return np.nan_to_num(np.stack([means - ends[0], ends[1] - means]))


def _readable(series: PanelSeries) -> tuple[FloatArray, FloatArray]:
    """The curve averaged to at most `_MOST_TRACE_POINTS` points, because more points look like a band of noise."""
    every = -(-len(series.x) // _MOST_TRACE_POINTS)
    if every < 2:
        return series.x, series.means
    whole = len(series.x) // every * every
    return (
        series.x[:whole].reshape(-1, every).mean(axis=1),
        series.means[:whole].reshape(-1, every).mean(axis=1),
    )


def panel_entries(plan: FigurePlan) -> list[tuple[str, Callable[[], Artist]]]:
    """Legend entries of the panels: their texts, and functions that make their handles with matplotlib."""
    entries: dict[str, tuple[str, Callable[[], Artist]]] = {}
    panels = [panel for panel in plan.panels if panel.form not in ("table", "map")]
    for panel in panels:
        if panel.sketch is not None:
            # Subflows that share a name have different colours.
            entries |= {
                f"\0{text} {number}": (text, make) for number, (text, make) in enumerate(topology_entries(panel))
            }
        if panel.is_single or panel.scale is not None:
            continue  # the axis shows the names of the series, or a colour scale replaces them
        for series in panel.series:
            if not series.name:
                continue  # a tick of an axis names it
            entries.setdefault(series.name, (series.name, partial(_handle, series, panel, plan)))
        if panel.area is not None:
            name, look = panel.area.name, {"facecolor": plan.ground.grid, "edgecolor": "none"}
            entries.setdefault(f"\0{name}", (name, partial(patch_handle, **look)))
    for is_implied, text in ((False, plan.reference_text), (True, plan.implied_text)):
        having = [
            panel
            for panel in panels
            if any(mark.is_implied == is_implied for series in panel.series for mark in series.references)
        ]
        if having:
            entries.setdefault(f"\0{text}", (text, partial(_reference_handle, having[0], is_implied, plan)))
    return list(entries.values())


def line_handle(**look: Any) -> Artist:
    """A line with its marker for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def patch_handle(**look: Any) -> Artist:
    """A filled rectangle for a legend."""
    from matplotlib.patches import Patch

    return Patch(**look)


def _handle(series: PanelSeries, panel: Panel, plan: FigurePlan) -> Artist:
    colour = palette.hex_colour(series.colour, dark=plan.ground.is_dark)
    if panel.form in ("bars", "box"):
        return patch_handle(facecolor=colour, edgecolor=plan.ground.ink if series.is_ours else "none")
    line = plan.style.line_pt * (1.8 if series.is_ours else 1.0)
    has_marker = panel.form != "trace"
    return line_handle(
        color=colour,
        linewidth=0.0 if panel.form == "scatter" else line,
        linestyle=_dashes(series),
        marker=MARKERS[series.shape % len(MARKERS)] if has_marker else "none",
        markersize=4.0 * plan.style.line_pt,
    )


def _reference_handle(panel: Panel, is_implied: bool, plan: FigurePlan) -> Artist:
    muted = plan.ground.muted
    if panel.form == "bars":
        hatch = IMPLIED_HATCH if is_implied else PAPER_HATCH
        return patch_handle(facecolor=plan.ground.background, edgecolor=muted, hatch=hatch, linewidth=0.8)
    return line_handle(
        linestyle="none",
        marker="D" if is_implied else "s",
        markersize=5.5 * plan.style.line_pt,
        markerfacecolor="none",
        markeredgecolor=muted,
        markeredgewidth=1.1 * plan.style.line_pt,
    )
