"""Figures for papers, drawn by matplotlib without a display: SVG, PDF and PNG of exactly the requested size.

matplotlib takes more than a second to import, so that the first figure imports it. The command line draws in its own
process; the window has `figure_process` draw, because the import alone would delay it.

Figures are readable with twenty curves, and with rates that were sampled too often. A plot of many flows (five MPTCP
flows against five TCP flows are twenty curves) is drawn by group: the instances of a flow as thin lines, their mean as
a thick one, one legend entry. Bars have a category each, error bars, and a hatch for each experiment.
"""

from __future__ import annotations

import io
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from subflow_app.features.paper.core.figure_plan import FigureKind, FigurePlan, PlotData, figure_kind
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH, PaperStyle, rc_settings
from subflow_app.features.plots.core import BARS, TIME, Bar, Curve, interval_text
from subflow_app.features.plots.core.bars import bar_places
from subflow_app.features.plots.core.drawing import RAW_S, bin_width_s, in_bins, mean_of_seeds, sample_intervals_s
from subflow_app.features.traces.core.traces import LINK
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.palette import label_of, split_owner
from subflow_app.vocabulary.plain_text import readable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


# Up to this many curves of one run each have their line and their legend entry; beyond, instances are grouped.
_MOST_SINGLE_CURVES = 12
# A queue that never holds more than this share of the longest one is left out.
_IDLE_QUEUE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line to draw.

    Attributes:
        curve: what it shows.
        entry: its legend text, empty for none.
        width: in multiples of the style's.
        alpha: opacity.
    """

    curve: Curve
    entry: str
    width: float
    alpha: float


def lines_of(plot: PlotData, time_range: tuple[float, float]) -> tuple[list[Line], str]:
    """The lines of a plot, and what the value axis has to say besides its title, e.g. ", mean of 1 s"."""
    if plot.kind != TIME:
        return _lines(plot.curves), ""
    curves, averaging = _readable(plot, time_range[1] - time_range[0])
    return _lines([_within(curve, time_range) for curve in curves]), averaging


def _readable(plot: PlotData, span_s: float) -> tuple[list[Curve], str]:
    """Rates averaged so far that they are lines and not noise, and the words that say so on the axis."""
    curves, bin_s = list(plot.curves), plot.bin_s
    if bin_s is None:
        intervals_s = sample_intervals_s(curves)
        bin_s = bin_width_s(intervals_s, span_s, chosen_s=None, is_rate=True) if plot.is_rate else RAW_S
        curves = [in_bins(curve, bin_s) for curve in curves]
    return curves, f", mean of {bin_s:g} s" if bin_s != RAW_S else ""


def _within(curve: Curve, time_range: tuple[float, float]) -> Curve:
    """The samples in view and one on either side: what nobody sees costs no bytes in the file."""
    first = max(0, int(np.searchsorted(curve.time_s, time_range[0])) - 1)
    last = int(np.searchsorted(curve.time_s, time_range[1], side="right")) + 1
    bands = [replace(band, low=band.low[first:last], high=band.high[first:last]) for band in curve.bands]
    return replace(curve, time_s=curve.time_s[first:last], values=curve.values[first:last], bands=tuple(bands))


def _without_idle_links(curves: Sequence[Curve]) -> list[Curve]:
    """The curves without queues that stay next to empty: they are lines at zero and cost a legend entry each."""
    longest = max((_longest(curve) for curve in curves if curve.kind == LINK), default=0.0)
    return [
        curve for curve in curves if curve.kind != LINK or longest == 0.0 or _longest(curve) > _IDLE_QUEUE * longest
    ]


def _longest(curve: Curve) -> float:
    return float(np.max(curve.values, initial=0.0))


def _lines(curves: Sequence[Curve]) -> list[Line]:
    """Each curve, or the instances of each flow with their mean when there are too many curves."""
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
            # Curves over another quantity than time have no places in common at which to take their mean.
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


# Bars of several experiments are told apart as the dashes of their curves are, also on a printer without colours.
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")
_EDGE = "#333333"
_PATCH = "#BBBBBB"
# Width of a letter in multiples of its height, and the share of the figure's width that the axes take: together they
# say whether the names of categories fit beside each other.
_BAR_LETTER = 0.55
_AXES_SHARE = 0.82
_LONGEST_NAME = 28


def draw_bars(axes: Axes, plot: PlotData, style: PaperStyle) -> None:
    """Draw the bars of a plot: categories along the axis, the bars of several experiments beside each other."""
    places = bar_places(plot.bars)
    hatches = _hatches(plot.bars)
    for bar, (middle, width) in zip(plot.bars, places.bars, strict=True):
        if math.isnan(bar.mean):
            axes.text(middle, 0.0, f" {bar.note}", rotation=90, ha="center", va="bottom", fontsize=style.small_pt)
            continue
        axes.bar(
            middle,
            bar.mean * plot.scale,
            width,
            yerr=None if math.isnan(bar.ci95) else [[part * plot.scale] for part in bar.reach(is_signed=False)],
            color=palette.hex_colour(bar.colour),
            hatch=hatches[bar.run],
            # Hatches are drawn in the colour of the edge: white ones show on every colour, and in grey.
            edgecolor="white",
            linewidth=0.0,
            error_kw={
                "ecolor": _EDGE,
                "elinewidth": 0.9 * style.line_pt,
                "capthick": 0.9 * style.line_pt,
                "capsize": 2.4 * style.line_pt,
            },
        )
    names = [_shortened_bar(name) for name in places.categories]
    axes.set_xticks(range(len(names)), names)
    if _is_crowded(names, style):
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(interval_text(plot.bars))


def experiment_handles(plots: Sequence[PlotData]) -> list[Artist]:
    """Legend handles of the experiments of these plots, each with its text as group id."""
    from matplotlib.patches import Patch

    bars = [bar for plot in plots for bar in plot.bars]
    hatches = _hatches(bars)
    titles = {bar.run: bar.run_title for bar in bars}
    return [
        Patch(facecolor=_PATCH, edgecolor="white", linewidth=0.0, hatch=hatches[run], gid=title)
        for run, title in titles.items()
    ]


def _hatches(bars: Sequence[Bar]) -> dict[int, str]:
    runs = dict.fromkeys(bar.run for bar in bars)
    return {run: _HATCHES[number % len(_HATCHES)] for number, run in enumerate(runs)}


def _is_crowded(names: Sequence[str], style: PaperStyle) -> bool:
    room_in = style.width_mm / MM_PER_INCH * _AXES_SHARE / max(1, len(names))
    longest = max((len(name) for name in names), default=0)
    return (longest + 1) * _BAR_LETTER * style.small_pt / 72.0 > room_in


def _shortened_bar(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


POINTS_PER_INCH = 72.0

_MOST_LEGEND_ENTRIES = 24
_LEGEND_HANDLE_CHARACTERS = 7
_MOST_LEGEND_COLUMNS = 4
# Width of a letter in multiples of its height, on average.
_LETTER = {"DejaVu Sans": 0.6}
_NARROW_LETTER = 0.47
# Room for a row of the legend and for the heading, in multiples of their letters.
_LEGEND_ROW = 1.7
_HEADING_ROW = 2.2
# By hue, so that the same subflow has the same shape in every plot.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_MARKERS_PER_CURVE = 8
_BAND_OPACITY = 0.2
_MOST_POINTS_TO_AVOID = 20_000

# matplotlib's settings are global; figures are drawn one at a time.
_drawing = threading.Lock()


def save_figure(plan: FigurePlan, path: str | Path) -> Path:
    """Draw a figure into a file; its suffix (.svg, .pdf, .png) says the format, whatever the plan says.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the suffix is none of these, there is nothing to draw, or no figure is that large.
    """
    target = Path(path)
    return write_file(target, render_figure(replace(plan, kind=figure_kind(target))))


def render_figure(plan: FigurePlan) -> bytes:
    """The content of the file.

    Raises:
        InputError: if there is nothing to draw, or no figure is that large.
    """
    plan.checked()
    return drawn_file(plan.style, plan.kind, plan.dpi, lambda: figure_size_in(plan), lambda f: fill_figure(f, plan))


def drawn_file(
    style: PaperStyle,
    kind: FigureKind,
    dpi: int,
    size_in: Callable[[], tuple[float, float]],
    fill: Callable[[Figure], None],
    background: str = "white",
) -> bytes:
    """The content of a file with what `fill` draws into a figure of this width and height, inches."""
    from matplotlib.figure import Figure

    # Without a date, the same run gives the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    content = io.BytesIO()
    with drawing(style):
        figure = Figure(figsize=size_in(), layout="constrained", facecolor=background)
        fill(figure)
        spell_controls(figure)
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata, facecolor=background)
    return content.getvalue()


def spell_controls(figure: Figure) -> None:
    """Spells out controls in all texts of a figure: XML has no way to hold them, and they turn lines around."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(readable(text.get_text()))


@contextmanager
def drawing(style: PaperStyle) -> Iterator[None]:
    """Everything that matplotlib draws inside has this style."""
    import matplotlib as mpl

    with _drawing, mpl.rc_context(rc_settings(style)), warnings.catch_warnings():
        # A letter that no font has is drawn as a box. The figure is good all the same.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def figure_size_in(plan: FigurePlan) -> tuple[float, float]:
    """Width and height of a figure, inches."""
    style = plan.style
    rows = 0
    if plan.legend in ("above", "below"):
        handles, columns = _legend(plan, [lines_of(plot, plan.time_range)[0] for plot in plan.plots])
        rows = -(-len(handles) // columns) if handles else 0
    height = len(plan.plots) * style.plot_height_mm / MM_PER_INCH
    height += rows * _LEGEND_ROW * style.small_pt / POINTS_PER_INCH
    height += _HEADING_ROW * style.font_pt / POINTS_PER_INCH if plan.title else 0.0
    return style.width_mm / MM_PER_INCH, height


def fill_figure(figure: Figure, plan: FigurePlan) -> None:
    """Draw a plan into a figure of `figure_size_in`; call it within `drawing`."""
    style = plan.style
    drawn = [lines_of(plot, plan.time_range) for plot in plan.plots]
    handles, columns = _legend(plan, [lines for lines, _ in drawn]) if plan.legend in ("above", "below") else ([], 1)
    every_axes = figure.subplots(len(plan.plots), squeeze=False)[:, 0]
    for number, (plot, axes, (lines, averaging)) in enumerate(zip(plan.plots, every_axes, drawn, strict=True)):
        _draw_plot(axes, plan, plot, lines, averaging)
        if plot.kind == TIME and number + 1 < len(plan.plots) and plan.plots[number + 1].kind == TIME:
            # The plot below has the same times.
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    figure.align_ylabels(every_axes)
    heading_pt = style.font_pt * 1.1
    has_head = bool(handles) and plan.legend == "above"
    if plan.title and not has_head:
        figure.suptitle(plan.title, fontsize=heading_pt)
    if handles:
        legend = figure.legend(
            handles=handles,
            loc="outside upper center" if has_head else "outside lower center",
            ncols=columns,
            handlelength=2.4,
            columnspacing=1.4,
        )
        name_entries(legend, handles)
        if plan.title and has_head:
            # Both would stand in the same place.
            legend.set_title(plan.title)
            legend.get_title().set_fontsize(heading_pt)


def _draw_plot(axes: Axes, plan: FigurePlan, plot: PlotData, lines: Sequence[Line], averaging: str) -> None:
    if plot.kind == BARS:
        draw_bars(axes, plot, plan.style)
    for number, line in enumerate(lines):
        _draw_line(axes, line, plot, plan.style, number)
    axes.set_ylabel(_broken(plot.axis_text, averaging, plan.style))
    if plot.kind != BARS:
        axes.set_xlabel(plot.x_text)
    if plot.kind == TIME:
        # Before the values: fitting looks at what is in view.
        axes.set_xlim(*plan.time_range)
    axes.margins(y=0.05)
    _bound_values(axes, plan, plot)
    if plan.legend == "inside":
        handles, _ = _legend(replace(plan, plots=(plot,)), [lines])
        if handles:
            # The best place is looked for among all points, which takes long for many.
            points = sum(len(line.curve.values) for line in lines)
            legend = axes.legend(
                handles=handles,
                loc="best" if points < _MOST_POINTS_TO_AVOID else "upper right",
                frameon=True,
                framealpha=0.85,
                edgecolor="none",
            )
            name_entries(legend, handles)


def _bound_values(axes: Axes, plan: FigurePlan, plot: PlotData) -> None:
    if plan.is_log and plot.kind != BARS:
        axes.set_yscale("log", nonpositive="mask")
    elif plot.from_zero:
        axes.set_ylim(bottom=0.0)
    if plot.ceiling is not None:
        # A hair more, so that a line along the ceiling is whole.
        axes.set_ylim(top=max(axes.get_ylim()[1], plot.ceiling * 1.02))
    if plot.value_range is not None:
        axes.set_ylim(*plot.value_range)


def _broken(text: str, more: str, style: PaperStyle) -> str:
    """The text of a value axis, in two lines where one is longer than the axis."""
    letters = style.plot_height_mm / MM_PER_INCH / _letter_in(style, style.font_pt)
    if len(text + more) <= letters:
        return text + more
    if more:
        return f"{text}\n{more.removeprefix(', ')}"
    head, _, unit = text.rpartition(" (")
    return f"{head}\n({unit}" if head else text


def _draw_line(axes: Axes, line: Line, plot: PlotData, style: PaperStyle, number: int) -> None:
    curve = line.curve
    every = max(1, len(curve.values) // _MARKERS_PER_CURVE)
    marker = _marker(curve, style) if line.entry else None
    for band in curve.bands:
        axes.fill_between(
            curve.positions * plot.x_scale,
            band.low * plot.scale,
            band.high * plot.scale,
            color=palette.hex_colour(curve.colour),
            alpha=_BAND_OPACITY,
            linewidth=0.0,
            zorder=1.5,
        )
    axes.plot(
        curve.positions * plot.x_scale,
        curve.values * plot.scale,
        color=palette.hex_colour(curve.colour),
        linestyle=_line_style(curve.dash),
        linewidth=line.width * style.line_pt,
        alpha=line.alpha,
        # When one subflow is all there is, its colour shows, not the total's.
        zorder=1.9 if curve.kind == "total" else 2.0,
        # Shapes of different curves stand beside each other, not on top.
        markevery=(every * (2 * (number % 4) + 1) // 8, every),
        **_marker_look(marker, style),
    )


def _marker(curve: Curve, style: PaperStyle) -> str | None:
    if not style.has_markers or curve.colour.hue == palette.TOTAL:
        return None
    return _MARKERS[curve.colour.hue % len(_MARKERS)]


def _marker_look(marker: str | None, style: PaperStyle) -> dict[str, Any]:
    if marker is None:
        return {}
    return {
        "marker": marker,
        "markersize": 3.2 * style.line_pt,
        "markeredgewidth": 0.8 * style.line_pt,
        "markerfacecolor": "white",
    }


def _legend(plan: FigurePlan, groups: Sequence[Sequence[Line]]) -> tuple[list[Artist], int]:
    """Legend handles, each with its text as group id, and the number of columns that fit.

    Several runs have the colours once and then the dashes: three curves of four runs are seven entries, not twelve.
    Where colours tell the runs apart, each line has an entry with its run.
    """
    from matplotlib.lines import Line2D

    style = plan.style
    entries: dict[tuple[str, str], Artist] = {}
    runs: dict[int, Artist] = {}
    dashes = {(line.curve.run, line.curve.dash) for lines in groups for line in lines}
    # One pattern for each run, and one run for each pattern.
    are_dashed = len(dashes) == len({run for run, _ in dashes}) == len({dash for _, dash in dashes})
    for line in (line for lines in groups for line in lines):
        curve, colour = line.curve, palette.hex_colour(line.curve.colour)
        title = curve.run_title or f"run {curve.run + 1}"
        if line.entry:
            look = _marker_look(_marker(curve, style), style)
            entry = line.entry if are_dashed else f"{title}: {line.entry}"
            if not are_dashed:
                look["linestyle"] = _line_style(curve.dash)
            handle = Line2D([], [], color=colour, linewidth=line.width * style.line_pt, gid=entry, **look)
            entries.setdefault((entry, colour), handle)
        if are_dashed:
            pattern = _line_style(curve.dash)
            dashed = Line2D([], [], color="#555555", linewidth=style.line_pt, linestyle=pattern, gid=title)
            runs.setdefault(curve.run, dashed)
    handles: list[Artist] = list(entries.values())
    experiments = experiment_handles([plot for plot in plan.plots if plot.kind == BARS])
    if len(handles) > _MOST_LEGEND_ENTRIES:
        more = len(handles) - _MOST_LEGEND_ENTRIES + 1
        handles = [*handles[: _MOST_LEGEND_ENTRIES - 1], Line2D([], [], linestyle="none", gid=f"and {more} more")]
    if len(runs) > 1:
        handles += [runs[number] for number in sorted(runs)]
    if len(experiments) > 1:
        handles += experiments
    letters = int(style.width_mm / MM_PER_INCH / _letter_in(style, style.small_pt))
    for each in handles:
        each.set_gid(_shortened(str(each.get_gid()), letters - _LEGEND_HANDLE_CHARACTERS))
    longest = max((len(str(each.get_gid())) for each in handles), default=1)
    fitting = letters // (longest + _LEGEND_HANDLE_CHARACTERS)
    most_columns = max(1, min(_MOST_LEGEND_COLUMNS, len(handles), fitting))
    # As few rows as fit, then as few columns as these rows need: five entries are 2 + 2 + 1, not 2 + 1 + 1 + 1.
    rows = -(-len(handles) // most_columns)
    columns = max(1, -(-len(handles) // max(1, rows)))
    return handles, columns


def name_entries(legend: Legend, handles: Sequence[Artist]) -> None:
    """Write the group ids of its handles beside them."""
    # Afterwards, because matplotlib leaves out entries whose text begins with an underscore, as names may.
    for shown, handle in zip(legend.get_texts(), handles, strict=True):
        shown.set_text(str(handle.get_gid()))


def _letter_in(style: PaperStyle, size_pt: float) -> float:
    return _LETTER.get(style.font, _NARROW_LETTER) * size_pt / POINTS_PER_INCH


def _shortened(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: max(1, letters - 1)]}…"


def _line_style(dash: int) -> Literal["-"] | tuple[float, tuple[float, ...]]:
    pattern = palette.dash(dash)
    return (0.0, pattern) if pattern else "-"
