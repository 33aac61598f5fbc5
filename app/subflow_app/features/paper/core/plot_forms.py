"""Drawing of plots of runs with matplotlib: curves over time or another quantity, bars of experiments, and legends.

Plots remain readable with twenty curves, and with rates sampled at short intervals. If the flows are many (five MPTCP
flows and five TCP flows give twenty curves), the instances of each flow are drawn as thin lines, and their mean as a
thick line with a legend entry. Bars have categories, error bars, and a hatch for each experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_app.features.paper.core.figure_plan import FigurePlan, PlotData
from subflow_app.features.paper.core.panel_forms import (
    MARKERS,
    axis_names,
    dashes,
    draw_bar,
    line_handle,
    names_axis,
    panel_entries,
    patch_handle,
)
from subflow_app.features.paper.core.paper_styles import PaperStyle
from subflow_app.features.plots.core import BARS, TIME, Bar, Curve, Ticks, interval_text
from subflow_app.features.plots.core.bars import bar_places
from subflow_app.features.plots.core.drawing import RAW_S, bin_width_s, in_bins, mean_of_seeds, sample_intervals_s
from subflow_app.features.traces.core.traces import LINK
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.palette import label_of, split_owner

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Up to this many curves of a run have individual lines and legend entries; more curves are grouped.
_MOST_SINGLE_CURVES = 12
# A queue is left out if its maximum is at most this share of the longest queue.
_IDLE_QUEUE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of a plot.

    Attributes:
        curve: data of the line.
        entry: legend text; empty for a line without a legend entry.
        width: line width in multiples of the style's line width.
        alpha: opacity.
    """

    curve: Curve
    entry: str
    width: float
    alpha: float


def _lines_of(plot: PlotData, plan: FigurePlan) -> tuple[list[Line], str]:
    """The lines of a plot, and an addition to the title of the value axis, e.g. ", mean of 1 s"."""
    if plot.kind != TIME:
        return _lines(plot.curves), ""
    curves, averaging = _readable(plot, plan.time_range[1] - plan.time_range[0])
    seen = [_within(curve, plan.time_range) for curve in curves]
    return [_single(curve) for curve in seen] if plan.height_mm else _lines(seen), averaging


def _readable(plot: PlotData, span_s: float) -> tuple[list[Curve], str]:
    """Curves with readable bins, and a text about the bins for the axis; by default, only rates are averaged."""
    curves, bin_s = list(plot.curves), plot.bin_s
    if bin_s is None:
        intervals_s = sample_intervals_s(curves)
        bin_s = bin_width_s(intervals_s, span_s, chosen_s=None, is_rate=True) if plot.is_rate else RAW_S
        curves = [in_bins(curve, bin_s) for curve in curves]
    return curves, f", mean of {bin_s:g} s" if bin_s != RAW_S else ""


def _within(curve: Curve, time_range: tuple[float, float]) -> Curve:
    """The samples in view and one on either side, because invisible samples would only enlarge the file."""
    first = max(0, int(np.searchsorted(curve.time_s, time_range[0])) - 1)
    last = int(np.searchsorted(curve.time_s, time_range[1], side="right")) + 1
    bands = [replace(band, low=band.low[first:last], high=band.high[first:last]) for band in curve.bands]
    return replace(curve, time_s=curve.time_s[first:last], values=curve.values[first:last], bands=tuple(bands))


def _without_idle_links(curves: Sequence[Curve]) -> list[Curve]:
    """Leaves out nearly empty queues, each of which would add a legend entry and a line close to zero."""
    longest = max((_longest(curve) for curve in curves if curve.kind == LINK), default=0.0)
    return [
        curve for curve in curves if curve.kind != LINK or longest == 0.0 or _longest(curve) > _IDLE_QUEUE * longest
    ]


def _longest(curve: Curve) -> float:
    return float(np.max(curve.values, initial=0.0))


def _lines(curves: Sequence[Curve]) -> list[Line]:
    """One line per curve; if the curves are too many, thin lines for the instances of each flow, and their mean."""
    seen = _without_idle_links(curves)
    fullest_run = max((sum(curve.run == run for curve in seen) for run in {curve.run for curve in seen}), default=0)
    if fullest_run <= _MOST_SINGLE_CURVES:
        return [_single(curve) for curve in seen]
    groups: dict[tuple[int, str, int, str], list[Curve]] = {}
    for curve in seen:
        name, _, ordinal = split_owner(curve.owner) if curve.kind != LINK else (curve.owner, 0, 0)
        groups.setdefault((curve.run, name, ordinal, curve.kind), []).append(curve)
    thin: list[Line] = []
    thick: list[Line] = []
    for (_, name, _, _), members in groups.items():
        if len(members) == 1:
            thick.append(Line(members[0], members[0].label, 1.0, 1.0))
            continue
        base = palette.ColourKey(members[0].colour.hue, 0)
        thin.extend(Line(replace(member, colour=base), "", 0.42, 0.35) for member in members)
        if any(member.x is not None for member in members):
            # Curves over a quantity other than time lack common positions at which to average them.
            thin[-1] = replace(thin[-1], entry=f"{label_of(name)} ({len(members)} curves)")
            continue
        label = members[0].label.replace(label_of(members[0].owner.partition("/")[0]), label_of(name), 1)
        thick.append(
            Line(replace(mean_of_seeds(members), colour=base, bands=()), f"{label} (mean of {len(members)})", 1.33, 1.0)
        )
    return thin + thick


def _single(curve: Curve) -> Line:
    if curve.is_ghost:
        return Line(curve, curve.label, 0.7, palette.GHOST_OPACITY)
    return Line(curve, curve.label, 0.85 if curve.kind == "total" else 1.0, 1.0)


# Hatches distinguish the experiments of bars, as dashes do for curves, even in print without colours.
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")
_PATCH = "#BBBBBB"
_MARKERS_PER_CURVE = 8
_BAND_OPACITY = 0.2
_MOST_LEGEND_ENTRIES = 24
_MOST_TICKS = 1000


def draw_plot(axes: Axes, plot: PlotData, plan: FigurePlan) -> str:
    """Draws a plot, and returns an addition to the title of its value axis."""
    lines, averaging = _lines_of(plot, plan)
    if plot.kind == BARS:
        _draw_bars(axes, plot, plan)
    for number, line in enumerate(lines):
        _draw_line(axes, line, plot, plan.style, number)
    axes.set_xlabel(interval_text(plot.bars) if plot.kind == BARS else plot.x_text)
    if plot.kind == TIME:
        # The time range is set first, because the value axis adapts to the data in view.
        axes.set_xlim(*plan.time_range)
    axes.margins(y=0.05)
    for ticks in plot.ticks:
        _draw_ticks(axes, ticks, plan)
    if plan.is_log and plot.kind != BARS:
        axes.set_yscale("log", nonpositive="mask")
    elif plot.from_zero:
        axes.set_ylim(bottom=0.0)
    if plot.ceiling is not None:
        # The axis ends slightly above the ceiling, so that a line at the ceiling is not cut off.
        axes.set_ylim(top=max(axes.get_ylim()[1], plot.ceiling * 1.02))
    if plot.value_range is not None:
        axes.set_ylim(*plot.value_range)
    return averaging


def _draw_bars(axes: Axes, plot: PlotData, plan: FigurePlan) -> None:
    """Draws categories along the axis, with the bars of several experiments side by side."""
    hatches = _hatches(plot.bars)
    for bar, place in zip(plot.bars, bar_places(plot.bars).bars, strict=True):
        reach = None if math.isnan(bar.ci95) else np.array([bar.reach(is_signed=False)]).T * plot.scale
        # Hatches have the colour of the edge. White is visible on every colour, even in greyscale.
        look = {"color": palette.hex_colour(bar.colour), "hatch": hatches[bar.run], "edgecolor": "white"}
        draw_bar(axes, place, bar.mean * plot.scale, reach, bar.note, plan, linewidth=0.0, **look)
    names_axis(axes, plot, plan)


def _draw_ticks(axes: Axes, ticks: Ticks, plan: FigurePlan) -> None:
    """Draws events as ticks, at most one in each of `_MOST_TICKS` equal parts of the visible axis."""
    low, high = plan.time_range
    times = ticks.times_s[(ticks.times_s >= low) & (ticks.times_s <= high)]
    times = times[np.unique(np.floor((times - low) / (high - low) * _MOST_TICKS), return_index=True)[1]]
    colour = plan.ground.muted if ticks.colour is None else palette.hex_colour(ticks.colour, dark=plan.ground.is_dark)
    style, width = "-" if ticks.height < 1.0 else (0.0, (2.0, 3.0)), 0.8 * plan.style.line_pt
    place = axes.get_xaxis_transform()
    axes.vlines(times, 0.0, ticks.height, color=colour, linestyle=style, linewidth=width, transform=place, zorder=1.2)
    if ticks.text:
        size = plan.style.small_pt
        for time_s in times:
            axes.text(time_s, 0.98, f" {ticks.text}", va="top", fontsize=size, transform=place, clip_on=True)


def _hatches(bars: Sequence[Bar]) -> dict[int, str]:
    runs = dict.fromkeys(bar.run for bar in bars)
    return {run: _HATCHES[number % len(_HATCHES)] for number, run in enumerate(runs)}


def _draw_line(axes: Axes, line: Line, plot: PlotData, style: PaperStyle, number: int) -> None:
    curve, colour = line.curve, palette.hex_colour(line.curve.colour)
    x, every = curve.positions * plot.x_scale, max(1, len(curve.values) // _MARKERS_PER_CURVE)
    for band in curve.bands:
        low, high = band.low * plot.scale, band.high * plot.scale
        axes.fill_between(x, low, high, color=colour, alpha=_BAND_OPACITY, linewidth=0.0, zorder=1.5)
    axes.plot(
        x,
        curve.values * plot.scale,
        color=colour,
        linestyle=dashes(curve.dash),
        linewidth=line.width * style.line_pt,
        alpha=line.alpha,
        # A total may coincide with a subflow, so the total is drawn below.
        zorder=1.9 if curve.kind == "total" else 2.0,
        # Markers of different curves are offset, so that they do not overlap.
        markevery=(every * (2 * (number % 4) + 1) // 8, every),
        **_marker_look(line, style),
    )


def _marker_look(line: Line, style: PaperStyle) -> dict[str, Any]:
    hue = line.curve.colour.hue
    if not (line.entry and style.has_markers) or hue == palette.TOTAL:
        return {}
    return {
        # The marker depends on the hue, so that a subflow has the same marker in every plot.
        "marker": MARKERS[hue % len(MARKERS)],
        "markersize": 3.2 * style.line_pt,
        "markeredgewidth": 0.8 * style.line_pt,
        "markerfacecolor": "white",
    }


def plot_entries(plan: FigurePlan) -> list[tuple[str, Callable[[], Artist]]]:
    """Legend entries of the plots: their texts, and functions that make their handles with matplotlib.

    For several runs, the legend lists the colours once, followed by the dashes: three curves of four runs need seven
    entries instead of twelve. If colours distinguish the runs, the entry of each line also contains the run.
    """
    style = plan.style
    entries: dict[tuple[str, str], Callable[[], Artist]] = {}
    runs: dict[int, tuple[str, Callable[[], Artist]]] = {}
    lines = [line for plot in plan.plots for line in _lines_of(plot, plan)[0]]
    patterns = {(line.curve.run, line.curve.dash) for line in lines}
    # True if runs and dash patterns correspond one to one.
    are_dashed = len(patterns) == len({run for run, _ in patterns}) == len({dash for _, dash in patterns})
    for line in lines:
        curve, colour = line.curve, palette.hex_colour(line.curve.colour)
        title = curve.run_title or f"run {curve.run + 1}"
        if line.entry:
            look = _marker_look(line, style)
            entry = line.entry if are_dashed else f"{title}: {line.entry}"
            if not are_dashed:
                look["linestyle"] = dashes(curve.dash)
            make = partial(line_handle, color=colour, linewidth=line.width * style.line_pt, **look)
            entries.setdefault((entry, colour), make)
        if are_dashed:
            pattern = dashes(curve.dash)
            dashed = partial(line_handle, color="#555555", linewidth=style.line_pt, linestyle=pattern)
            runs.setdefault(curve.run, (title, dashed))
    found = [(text, make) for (text, _), make in entries.items()]
    if len(found) > _MOST_LEGEND_ENTRIES:
        more = len(found) - _MOST_LEGEND_ENTRIES + 1
        found = [*found[: _MOST_LEGEND_ENTRIES - 1], (f"and {more} more", partial(line_handle, linestyle="none"))]
    if len(runs) > 1:
        found += [runs[number] for number in sorted(runs)]
    bars = [bar for plot in plan.plots for bar in plot.bars]
    hatches, titles = _hatches(bars), {bar.run: bar.run_title for bar in bars}
    if len(titles) > 1:
        look = {"facecolor": _PATCH, "edgecolor": "white", "linewidth": 0.0}
        found += [(title, partial(patch_handle, hatch=hatches[run], **look)) for run, title in titles.items()]
    return found


def names_in(plan: FigurePlan) -> tuple[str, ...]:
    """Names in a figure that `FigurePlan.words` can replace: entries of the legend, and names on axes; each once."""
    entries = [text for text, _ in (*plot_entries(plan), *panel_entries(plan))]
    parts = [part for row in plan.rows for part in row]
    on_axes = [name for part in parts for name in axis_names(part)]
    up = [name for panel in plan.panels for _, name in panel.y_ticks]
    in_tables = [series.name for panel in plan.panels if panel.form == "table" for series in panel.series]
    in_sketches = [name for panel in plan.panels if panel.sketch is not None for name in panel.sketch.names]
    return tuple(dict.fromkeys(filter(None, (*entries, *on_axes, *up, *in_tables, *in_sketches))))
