"""Bars of a paper figure: a category each, with error bars, and a hatch for each experiment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from subflow_app.features.paper.core.figure_plan import PlotData
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH, PaperStyle
from subflow_app.features.plots.core import Bar, interval_text
from subflow_app.features.plots.core.bars import bar_places
from subflow_app.vocabulary import palette

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Bars of several experiments are told apart as the dashes of their curves are, also on a printer without colours.
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")
_EDGE = "#333333"
_PATCH = "#BBBBBB"
# Width of a letter in multiples of its height, and the share of the figure's width that the axes take: together they
# say whether the names of categories fit beside each other.
_LETTER = 0.55
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
    names = [_shortened(name) for name in places.categories]
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
    return (longest + 1) * _LETTER * style.small_pt / 72.0 > room_in


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
