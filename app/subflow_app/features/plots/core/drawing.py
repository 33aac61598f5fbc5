"""Appearance of the curves in all plots of a window, as chosen by the user: colours, bins, and combined curves.

Colours distinguish the subflows of each run, the controllers, or the runs. Curves over time show samples, or means over
bins of equal length.

A combined curve represents many curves: it is the median of many flows with percentile bands, or the mean over seeds
with its interval. Without combined curves, a hundred flows with two paths each would appear as three hundred lines,
including their totals, and five seeds as five lines for one result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.plots.core.spec import Band, Curve, averaged, bin_means, samples_to_average
from subflow_app.features.traces.core.traces import LINK, Traces
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import CONTROLLER_COLOURS, TOTAL, ColourKey, free_colour, label_of, split_owner
from subflow_app.vocabulary.picture import interval_ends
from subflow_sim.stats import CONFIDENCE, half_width

ColourBy = Literal["run", "controller", "subflow"]
BY_RUN: ColourBy = "run"
BY_CONTROLLER: ColourBy = "controller"
BY_SUBFLOW: ColourBy = "subflow"

# Added to the shade of a flow's total, so that the total is darker than the subflows, which have the same hue.
_SHADE_OF_TOTAL = 2


class Colouring:
    """Colours and dashes of the lines of several runs."""

    def __init__(self, runs: Sequence[Traces], by: ColourBy, ranks: Sequence[int]) -> None:
        """Assigns colours by run, controller or subflow.

        Args:
            runs: the runs in the plots.
            by: meaning of colours; for a single run, "run" is the same as "subflow".
            ranks: colour number of each run; a fork and its original share one.
        """
        self._ranks = tuple(ranks)
        self.by: ColourBy = BY_SUBFLOW if by == BY_RUN and len(set(ranks)) < 2 else by
        names = dict.fromkeys(name for traces in runs for name in traces.controllers.values())
        colours: dict[str, ColourKey] = {}
        for name in names:
            # The same colour in every comparison.
            colours[name] = free_colour(CONTROLLER_COLOURS.get(name), colours.values())
        self._colours: list[Mapping[str, ColourKey]] = [
            {flow: colours[name] for flow, name in traces.controllers.items()} for traces in runs
        ]

    def colour(self, own: ColourKey, run: int, owner: str) -> ColourKey:
        """Colour of a line; ``own`` is its colour while only one run is shown."""
        if self.by == BY_RUN:
            return _of_hue(self._ranks[run], own)
        if self.by == BY_CONTROLLER:
            # Lines without a controller, e.g. of links, keep their colour.
            return self._colours[run].get(owner.partition("/")[0], own)
        return own

    def dash(self, own: ColourKey, run: int) -> int:
        """Number of the dash pattern, which distinguishes the lines that share a hue."""
        if self.by in (BY_RUN, BY_CONTROLLER):
            return max(0, own.hue)
        return self._ranks[run]


def _of_hue(hue: int, own: ColourKey) -> ColourKey:
    """A colour with this hue, whose shade distinguishes the lines of a run."""
    return ColourKey(hue, own.shade + (_SHADE_OF_TOTAL if own.hue == TOTAL else own.hue))


@dataclass(frozen=True, slots=True)
class CurveChoices:
    """The user's choices for curves.

    Attributes:
        bin_s: bin length of curves over time, s; zero: unaveraged samples; None: depends on the visible time range.
        colour_by: meaning of colours.
        seeds_averaged: whether at least `LEAST_SEEDS` runs of an experiment are drawn as their mean.
        crowds_summed_up: whether copies of a flow are drawn as their median in runs of more than `MOST_FLOWS` flows.
        ghosts_shown: whether originals are drawn behind their forks.
    """

    bin_s: float | None = None
    colour_by: ColourBy = BY_SUBFLOW
    seeds_averaged: bool = True
    crowds_summed_up: bool = True
    ghosts_shown: bool = True


RAW_S = 0.0
"""Bin length that selects unaveraged samples."""
BIN_WIDTHS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Bin lengths that the user can choose, s; by default, the bin length depends on the visible time range."""

# A rate with more points looks like a band of noise. Therefore, 200 s are drawn as means over 1 s.
MOST_RATE_POINTS = 250
# States at an instant are not noisy: sawteeth and peaks remain visible with up to one sample per pixel.
MOST_STATE_POINTS = 1000


def sample_intervals_s(curves: Sequence[Curve]) -> tuple[float, ...]:
    """Distinct sampling intervals of curves over time, s."""
    return tuple(dict.fromkeys(interval for interval in map(sample_interval_s, curves) if interval is not None))


def sample_interval_s(curve: Curve) -> float | None:
    """Sampling interval of a curve over time, s; None for fewer than two samples."""
    return float(curve.time_s[1] - curve.time_s[0]) if len(curve.time_s) > 1 else None


def bin_width_s(intervals_s: Sequence[float], span_s: float, *, chosen_s: float | None, is_rate: bool) -> float:
    """Bin length for the curves of one plot, s; zero for unaveraged samples.

    All curves of a plot have the same bins, even if the runs of an overlay have different sampling intervals.

    Args:
        intervals_s: sampling intervals of the curves, s.
        span_s: length of the visible time range.
        chosen_s: bin length that the user chose, s; None: depends on the visible time range.
        is_rate: whether each sample is a mean over the interval that ends at its time.
    """
    if not intervals_s:
        return RAW_S
    interval_s = min(intervals_s)
    if chosen_s is None:
        samples = samples_to_average(interval_s, span_s, MOST_RATE_POINTS if is_rate else MOST_STATE_POINTS)
    else:
        samples = round(chosen_s / interval_s)
    return samples * interval_s if samples > 1 else RAW_S


def samples_in(curve: Curve, bin_s: float) -> int:
    """Number of samples of a curve per bin, at least one."""
    interval_s = sample_interval_s(curve)
    return 1 if interval_s is None else max(1, round(bin_s / interval_s))


def in_bins(curve: Curve, bin_s: float) -> Curve:
    """The curve with bin means in place of samples."""
    return curve if bin_s == RAW_S else replace(averaged(curve, samples_in(curve, bin_s)), bin_s=bin_s)


MOST_FLOWS = 12
"""Largest number of flows of a run that are drawn separately; among more flows, copies are drawn as their median."""
LEAST_SEEDS = 3
"""Smallest number of runs that are drawn as their mean, because the interval of two runs is too wide to be useful."""

# Percentiles at the edges of the bands of a crowd, the widest band first.
_EDGES = ((0.10, 0.90), (0.25, 0.75))


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Many flows of one definition, drawn as one curve.

    Attributes:
        curve: median of the flows, with bands from 10 to 90 % and from 25 to 75 %.
        members: curves of the flows, unaveraged.
    """

    curve: Curve
    members: tuple[Curve, ...]


def percentiles(values: NDArray[np.float32], shares: Sequence[float]) -> NDArray[np.float32]:
    """Percentiles over rows with linear interpolation; NaN is ignored, and a column of only NaN gives NaN.

    Args:
        values: float32 [rows, n].
        shares: shares of the rows below each percentile, 0 to 1.

    Returns:
        float32 [len(shares), n].
    """
    # numpy.nanpercentile loops over columns in Python, which takes seconds for a thousand flows.
    ordered = np.sort(values.T, axis=1)  # NaN last
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=1) - 1, 0)
    found = []
    for share in shares:
        place = share * last
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, last)
        low = np.take_along_axis(ordered, below[:, np.newaxis], axis=1)[:, 0]
        high = np.take_along_axis(ordered, above[:, np.newaxis], axis=1)[:, 0]
        found.append(low + (high - low) * (place - below))
    return np.array(found, dtype=np.float32).reshape(len(shares), values.shape[1])


def with_crowds(curves: Sequence[Curve], bin_s: float) -> tuple[list[Curve], list[Crowd]]:
    """Replaces the curves of each crowd by their median; returns the curves to draw, and the crowds.

    A crowd consists of two or more copies of a flow definition in a run where more than `MOST_FLOWS` flows have curves.
    Its median takes the place of its first member.

    Args:
        curves: unaveraged curves of all runs.
        bin_s: bin length of the crowds' curves; zero: unaveraged.
    """
    flows: dict[int, set[str]] = {}
    for curve in curves:
        if curve.kind != LINK:
            flows.setdefault(curve.run, set()).add(curve.owner.partition("/")[0])
    crowded = {run for run, names in flows.items() if len(names) > MOST_FLOWS}
    if not crowded:
        return list(curves), []
    members: dict[tuple[int, str, int, str] | int, list[Curve]] = {}
    for number, curve in enumerate(curves):
        if curve.run in crowded and curve.kind != LINK:
            name, _, ordinal = split_owner(curve.owner)
            members.setdefault((curve.run, name, ordinal, curve.kind), []).append(curve)
        else:
            members[number] = [curve]
    crowds = {place: Crowd(_median(group, bin_s), tuple(group)) for place, group in members.items() if len(group) > 1}
    shown = [crowds[place].curve if place in crowds else group[0] for place, group in members.items()]
    return shown, list(crowds.values())


def nearest_member(crowds: Sequence[Crowd], time_s: float, value: float) -> Curve | None:
    """The member whose curve is nearest to a value (SI) at a time (s); None if no member has samples around then."""
    nearest, least = None, np.inf
    for member in (member for crowd in crowds for member in crowd.members):
        count = min(len(member.time_s), len(member.values))
        if count == 0 or not member.time_s[0] / 2 <= time_s <= member.time_s[count - 1]:
            continue
        own = float(member.values[min(int(np.searchsorted(member.time_s[:count], time_s)), count - 1)])
        if abs(own - value) < least:
            nearest, least = member, abs(own - value)
    return nearest


def mean_of_seeds(curves: Sequence[Curve], *, is_signed: bool = False) -> Curve:
    """Mean of the same line over several runs, with its 95 % interval by Student's t as a band.

    At each time, runs without a value, e.g. shorter runs, are left out; a mean of one value has no interval.

    Args:
        curves: two or more curves with the same bins.
        is_signed: whether values may be negative; otherwise intervals are cut at zero.
    """
    longest = max(curves, key=lambda curve: len(curve.values))
    table = np.full((len(curves), min(len(longest.time_s), len(longest.values))), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: len(curve.values)] = curve.values[: len(row)]
    known = ~np.isnan(table)
    count = known.sum(axis=0)
    mean = np.divide(np.where(known, table, 0.0).sum(axis=0), count, out=np.full(len(count), np.nan), where=count > 0)
    squares = np.where(known, np.square(table - mean), 0.0).sum(axis=0)
    half = np.full(len(count), np.nan)
    for how_many in np.unique(count[count > 1]):
        here = count == how_many
        # Equals the interval of `Estimate`; the width for unit variance is computed once for each number of runs.
        half[here] = half_width(1.0, int(how_many)) * np.sqrt(squares[here] / (how_many - 1))
    low, high = interval_ends(mean, half, is_signed=is_signed)
    band = Band(CONFIDENCE, low.astype(np.float32), high.astype(np.float32))
    return replace(curves[0], time_s=longest.time_s[: len(mean)], values=mean.astype(np.float32), bands=(band,))


def _median(members: Sequence[Curve], bin_s: float) -> Curve:
    first = members[0]
    # In a live run, curves that were read later may have more samples.
    count = min(min(len(member.time_s), len(member.values)) for member in members)
    samples = samples_in(first, bin_s) if bin_s else 1
    table = bin_means(np.stack([member.values[:count] for member in members]), samples)
    ends = np.minimum(np.arange(0, count, samples) + samples, count) - 1
    shares = [0.5, *(share for edges in _EDGES for share in edges)]
    middle, *edges = percentiles(table, shares)
    bands = [
        Band(high_share - low_share, low, high)
        for (low_share, high_share), low, high in zip(_EDGES, edges[::2], edges[1::2], strict=True)
    ]
    flow = first.owner.partition("/")[0]
    name = split_owner(first.owner).name
    rest = first.label.removeprefix(label_of(flow)).removeprefix(" · ")
    words = tr("median of {count}", count=len(members))
    return replace(
        first,
        label=f"{label_of(name)} · {rest}, {words}" if rest else f"{label_of(name)} · {words}",
        owner=first.owner.replace(flow, name, 1),
        colour=first.colour._replace(shade=first.colour.shade - split_owner(first.owner).instance),
        time_s=first.time_s[ends],
        values=middle,
        bands=tuple(bands),
        bin_s=bin_s,
    )
