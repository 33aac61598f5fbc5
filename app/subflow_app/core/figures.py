"""Figures for papers, drawn by matplotlib without a display: SVG, PDF and PNG.

The legend stands below the axes, never on the data. A plot of many flows (five MPTCP flows against five TCP flows are
twenty curves) is drawn by group: the instances of a flow as thin lines, their mean as a thick one, one legend entry.
matplotlib takes a second to import, so it is imported when the first figure is drawn.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from subflow_app.core import palette
from subflow_app.core.errors import ExportError, InputError
from subflow_app.core.traces import LINK, Traces
from subflow_app.plots import TIME, Bar, Curve, PlotSpec, averaged, interval_text, samples_to_average
from subflow_app.plots.bars import bar_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.typing import RcKeyType

_STYLE: dict[RcKeyType, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so figures are the same on every machine
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "lines.linewidth": 1.2,
    "lines.solid_joinstyle": "round",
    "path.simplify_threshold": 0.2,
    "figure.dpi": 100.0,
    "savefig.dpi": 300.0,
    "svg.fonttype": "none",  # text stays text: it can be searched, edited and restyled
    "svg.hashsalt": "subflow",  # the same figure gives the same bytes
    "pdf.fonttype": 42,  # TrueType: some publishers refuse Type 3 fonts
}

_WIDTH_IN = 6.3
_AXES_HEIGHT_IN = 2.7
_LEGEND_ROW_IN = 0.19
# Up to this many curves of one run each have their line and their legend entry; beyond, instances are grouped.
_MOST_SINGLE_CURVES = 12
_MOST_LEGEND_ENTRIES = 24
# More points of a rate than this are no line but a band of noise: 200 s are drawn as means of 1 s.
_MOST_RATE_POINTS = 250
# A queue that never holds more than this share of the longest one is left out.
_IDLE_QUEUE = 0.05
# Bars of several experiments are told apart as the dashes of their curves are.
_HATCHES = ("", "///", "...", "xxx", "\\\\\\")
_LEGEND_WIDTH_CHARACTERS = 92
_LEGEND_HANDLE_CHARACTERS = 7

# matplotlib's settings are global; figures are drawn in worker threads, one at a time.
_drawing = threading.Lock()


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """One line to draw; `entry` is its legend text, empty for none."""

    curve: Curve
    entry: str
    width: float
    alpha: float


def save_figure(plot: PlotSpec, runs: Sequence[Traces], path: str | Path) -> Path:
    """Draw a plot of one or several runs into a file; the suffix (.svg, .pdf, .png) says the format.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the suffix is none of these, or no run has the traces of this plot.
        StoreError: if traces are stored and cannot be read.
    """
    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind not in ("svg", "pdf", "png"):
        raise InputError(f'{target.name}: figures are written as .svg, .pdf or .png, not "{target.suffix}"')
    has_data = [traces for traces in runs if plot.is_in(traces)]
    curves, bars = plot.overlay(runs), plot.all_bars(runs)
    if not has_data or not (curves or bars):
        needed = f": it takes {plot.needs}" if plot.needs else ""
        raise InputError(f"no run has what the {plot.title.lower()} figure shows{needed}")
    import matplotlib as mpl

    # Without a date, the same run gives the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with _drawing, mpl.rc_context(_STYLE):
        if bars:
            figure = draw_bars(plot, bars)
        else:
            figure = draw_figure(plot, curves, end_s=max(traces.duration_s for traces in runs))
        try:
            figure.savefig(target, format=kind, metadata=metadata)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ExportError(f"{target} cannot be written: {reason}; choose another folder") from error
    return target


def draw_figure(plot: PlotSpec, curves: Sequence[Curve], *, end_s: float) -> Figure:
    """The figure of these curves, over time or over another quantity; a time axis ends at `end_s` (s)."""
    from matplotlib.figure import Figure

    curves, averaging = _readable(plot, curves, end_s)
    lines = _lines(curves)
    handles, columns = _legend(lines)
    rows = -(-len(handles) // columns) if handles else 0
    figure = Figure(figsize=(_WIDTH_IN, _AXES_HEIGHT_IN + rows * _LEGEND_ROW_IN), layout="constrained")
    axes = figure.add_subplot()
    for line in lines:
        _draw(axes, line, plot)
    axes.set_xlabel(plot.x_text)
    axes.set_ylabel(plot.axis_text + averaging)
    if plot.kind == TIME:
        axes.set_xlim(0.0, end_s)
    axes.margins(y=0.05)
    _bound_values(axes, plot)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=2.4, columnspacing=1.4)
    return figure


def draw_bars(plot: PlotSpec, bars: Sequence[Bar]) -> Figure:
    """The figure of these bars: categories along the axis, the bars of several experiments beside each other."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    places = bar_places(bars)
    titles = {bar.run: bar.run_title for bar in bars}
    has_legend = len(titles) > 1
    figure = Figure(figsize=(_WIDTH_IN, _AXES_HEIGHT_IN + has_legend * _LEGEND_ROW_IN), layout="constrained")
    axes = figure.add_subplot()
    hatches = {run: _HATCHES[number % len(_HATCHES)] for number, run in enumerate(titles)}
    for bar, (middle, width) in zip(bars, places.bars, strict=True):
        if math.isnan(bar.mean):
            axes.text(middle, 0.0, f" {bar.note}", rotation=90, ha="center", va="bottom", fontsize=8.0)
            continue
        axes.bar(
            middle,
            bar.mean * plot.scale,
            width,
            yerr=None if math.isnan(bar.ci95) else bar.ci95 * plot.scale,
            color=palette.hex_colour(bar.colour),
            hatch=hatches[bar.run],
            edgecolor="white",
            linewidth=0.0,
            error_kw={"ecolor": "#333333", "elinewidth": 1.0, "capsize": 3.0},
        )
    axes.set_xticks(range(len(places.categories)), places.categories)
    axes.set_xlim(-0.5, len(places.categories) - 0.5)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(plot.axis_text)
    axes.set_xlabel(interval_text(bars))
    _bound_values(axes, plot)
    if has_legend:
        handles = [
            Patch(facecolor="#999999", edgecolor="white", hatch=hatches[run], label=title)
            for run, title in titles.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))
    return figure


def _bound_values(axes: Axes, plot: PlotSpec) -> None:
    if plot.from_zero:
        axes.set_ylim(bottom=0.0)
    if plot.ceiling is not None:
        # A hair more, so that a line along the ceiling is whole.
        axes.set_ylim(top=max(axes.get_ylim()[1], plot.ceiling * plot.scale * 1.02))


def _readable(plot: PlotSpec, curves: Sequence[Curve], end_s: float) -> tuple[list[Curve], str]:
    """Rates averaged so far that they are lines and not noise, and the words that say so on the axis."""
    intervals = [float(curve.time_s[1] - curve.time_s[0]) for curve in curves if len(curve.time_s) > 1]
    if plot.kind != TIME or not plot.is_rate or not intervals:
        return list(curves), ""
    # All curves over the same time, also when the runs of an overlay were sampled differently.
    span_s = min(intervals) * samples_to_average(min(intervals), end_s, _MOST_RATE_POINTS)
    drawn = [averaged(curve, max(1, round(span_s / _interval(curve, span_s)))) for curve in curves]
    return drawn, f", mean of {span_s:g} s" if span_s > 1.001 * min(intervals) else ""


def _interval(curve: Curve, default_s: float) -> float:
    return float(curve.time_s[1] - curve.time_s[0]) if len(curve.time_s) > 1 else default_s


def _without_idle_links(curves: Sequence[Curve]) -> list[Curve]:
    """The curves without queues that stay next to empty: they are lines at zero and cost a legend entry each."""
    longest = max((float(np.max(curve.values, initial=0.0)) for curve in curves if curve.kind == LINK), default=0.0)
    return [
        curve
        for curve in curves
        if curve.kind != LINK or longest == 0.0 or np.max(curve.values, initial=0.0) > _IDLE_QUEUE * longest
    ]


def _lines(curves: Sequence[Curve]) -> list[_Line]:
    """What to draw: each curve, or the instances of each flow with their mean when there are too many curves."""
    seen = _without_idle_links(curves)
    fullest_run = max(sum(curve.run == run for curve in seen) for run in {curve.run for curve in seen})
    if fullest_run <= _MOST_SINGLE_CURVES:
        return [_Line(curve, curve.label, 1.0 if curve.kind == "total" else 1.2, 1.0) for curve in seen]
    groups: dict[tuple[int, str, int, str], list[Curve]] = {}
    for curve in seen:
        name, _, ordinal = palette.split_owner(curve.owner) if curve.kind != LINK else (curve.owner, 0, 0)
        groups.setdefault((curve.run, name, ordinal, curve.kind), []).append(curve)
    thin: list[_Line] = []
    thick: list[_Line] = []
    for (_, name, _, _), members in groups.items():
        if len(members) == 1:
            thick.append(_Line(members[0], members[0].label, 1.2, 1.0))
            continue
        base = palette.ColourKey(members[0].colour.hue, 0)
        thin.extend(_Line(replace(member, colour=base), "", 0.5, 0.35) for member in members)
        if any(member.x is not None for member in members):
            # Curves over another quantity than time have no places in common at which to take their mean.
            thin[-1] = replace(thin[-1], entry=f"{name} ({len(members)} curves)")
            continue
        label = members[0].label.replace(members[0].owner.partition("/")[0], name, 1)
        thick.append(_Line(_mean(members, base), f"{label} (mean of {len(members)})", 1.6, 1.0))
    return thin + thick


def _mean(members: Sequence[Curve], colour: palette.ColourKey) -> Curve:
    """The mean of curves sampled at the same times; where some are unknown, of the others."""
    count = min(len(member.values) for member in members)
    table = np.array([member.values[:count] for member in members], dtype=np.float64)
    known = ~np.isnan(table)
    how_many = known.sum(axis=0)
    mean = np.where(how_many > 0, np.where(known, table, 0.0).sum(axis=0) / np.maximum(how_many, 1), np.nan)
    return replace(members[0], colour=colour, time_s=members[0].time_s[:count], values=mean.astype(np.float32))


def _draw(axes: Axes, line: _Line, plot: PlotSpec) -> None:
    curve = line.curve
    x_scale = 1.0 if plot.x is None else plot.x.scale
    count = min(len(curve.positions), len(curve.values))
    axes.plot(
        curve.positions[:count] * x_scale,
        curve.values[:count] * plot.scale,
        color=palette.hex_colour(curve.colour),
        linestyle=_line_style(curve.run),
        linewidth=line.width,
        alpha=line.alpha,
        # When one subflow is all there is, its colour shows, not the total's.
        zorder=1.9 if curve.kind == "total" else 2.0,
    )


def _legend(lines: Iterable[_Line]) -> tuple[list[Line2D], int]:
    """Legend handles and the number of columns that fit.

    Several runs have the colours once and then the dashes: three curves of four runs are seven entries, not twelve.
    """
    from matplotlib.lines import Line2D

    entries: dict[tuple[str, str], Line2D] = {}
    runs: dict[int, Line2D] = {}
    for line in lines:
        curve, colour = line.curve, palette.hex_colour(line.curve.colour)
        if line.entry:
            entries.setdefault(
                (line.entry, colour), Line2D([], [], color=colour, linewidth=line.width, label=line.entry)
            )
        title = curve.run_title or f"run {curve.run + 1}"
        runs.setdefault(
            curve.run, Line2D([], [], color="#555555", linewidth=1.2, linestyle=_line_style(curve.run), label=title)
        )
    handles = list(entries.values())
    if len(handles) > _MOST_LEGEND_ENTRIES:
        more = len(handles) - _MOST_LEGEND_ENTRIES + 1
        handles = [*handles[: _MOST_LEGEND_ENTRIES - 1], Line2D([], [], linestyle="none", label=f"and {more} more")]
    if len(runs) > 1:
        handles += list(runs.values())
    longest = max((len(str(handle.get_label())) for handle in handles), default=1)
    most_columns = max(1, min(4, len(handles), _LEGEND_WIDTH_CHARACTERS // (longest + _LEGEND_HANDLE_CHARACTERS)))
    # As few rows as fit, then as few columns as these rows need: five entries are 2 + 2 + 1, not 2 + 1 + 1 + 1.
    rows = -(-len(handles) // most_columns)
    columns = max(1, -(-len(handles) // max(1, rows)))
    return handles, columns


def _line_style(run: int) -> Literal["-"] | tuple[float, tuple[float, ...]]:
    pattern = palette.dash(run)
    return (0.0, pattern) if pattern else "-"
