"""Which lines a paper figure has: readable with twenty curves, and with rates that were sampled too often.

A plot of many flows (five MPTCP flows against five TCP flows are twenty curves) is drawn by group: the instances of a
flow as thin lines, their mean as a thick one, one legend entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subflow_app.features.paper.core.figure_plan import PlotData
from subflow_app.features.plots.core import TIME, Curve
from subflow_app.features.plots.core.drawing import RAW_S, bin_width_s, in_bins, mean_of_seeds, sample_intervals_s
from subflow_app.features.traces.core.traces import LINK
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.palette import label_of, split_owner

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
