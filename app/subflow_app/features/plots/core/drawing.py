"""Look of curves in all plots of a window, as a person chooses it: colours, smoothing, and combined curves.

Colours distinguish the subflows of each run, its controllers, or the runs themselves. Curves over time show the samples
of the run, or their means over bins of equal length.

A combined curve represents many: the median of very many flows with percentile bands, or the mean of seeds with its
interval. A hundred flows are three hundred lines, and five seeds of one experiment are five lines for one answer.
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
from subflow_app.vocabulary.palette import TOTAL, ColourKey, label_of, split_owner
from subflow_app.vocabulary.picture import interval_ends
from subflow_sim.stats import CONFIDENCE, half_width

ColourBy = Literal["run", "controller", "subflow"]
BY_RUN: ColourBy = "run"
BY_CONTROLLER: ColourBy = "controller"
BY_SUBFLOW: ColourBy = "subflow"

# The total of a flow is darker than its parts, where they have one hue.
_SHADE_OF_TOTAL = 2


class Colouring:
    """Colours and dashes of the lines of several runs."""

    def __init__(self, runs: Sequence[Traces], by: ColourBy, ranks: Sequence[int]) -> None:
        """Tells apart what ``by`` says.

        Args:
            runs: that are shown.
            by: of a single run, colour by run is colour by subflow.
            ranks: of each run, its place among what is told apart as a run: a fork and its original have the same.
        """
        self._ranks = tuple(ranks)
        self.by: ColourBy = BY_SUBFLOW if by == BY_RUN and len(set(ranks)) < 2 else by
        names = dict.fromkeys(name for traces in runs for name in traces.controllers.values())
        hues = {name: hue for hue, name in enumerate(names)}
        self._hues: list[Mapping[str, int]] = [
            {flow: hues[name] for flow, name in traces.controllers.items()} for traces in runs
        ]

    def colour(self, own: ColourKey, run: int, owner: str) -> ColourKey:
        """The colour of a line whose own one, among the lines of its run, is ``own``."""
        if self.by == BY_RUN:
            return _of_hue(self._ranks[run], own)
        if self.by == BY_CONTROLLER:
            hue = self._hues[run].get(owner.partition("/")[0])
            # What no controller governs, as links, keeps its own.
            return own if hue is None else _of_hue(hue, own)
        return own

    def dash(self, own: ColourKey, run: int) -> int:
        """Number of the dash pattern: what the hue does not tell apart."""
        if self.by == BY_RUN or (self.by == BY_CONTROLLER and len(set(self._ranks)) < 2):
            return max(0, own.hue)
        return self._ranks[run]


def _of_hue(hue: int, own: ColourKey) -> ColourKey:
    """A line of this hue, whose shade says which line of its run it is."""
    return ColourKey(hue, own.shade + (_SHADE_OF_TOTAL if own.hue == TOTAL else own.hue))


@dataclass(frozen=True, slots=True)
class CurveChoices:
    """What was chosen.

    Attributes:
        bin_s: in bins of which length curves over time are drawn, s; zero: as sampled, None: as the zoom asks for.
        colour_by: what colours tell apart.
        seeds_averaged: whether runs of one experiment are drawn as their mean, where they are enough.
        crowds_summed_up: whether of very many flows the median is drawn.
        ghosts_shown: whether originals are drawn behind their forks.
    """

    bin_s: float | None = None
    colour_by: ColourBy = BY_RUN
    seeds_averaged: bool = True
    crowds_summed_up: bool = True
    ghosts_shown: bool = True


RAW_S = 0.0
"""The bin of the samples as they are."""
BIN_WIDTHS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Bins to choose from, s; else the time in view says which."""

# More points of a rate than this are not a line but a band of noise: 200 s are drawn as means of 1 s.
MOST_RATE_POINTS = 250
# States at an instant are not noise: their saw-teeth and peaks stay as long as a screen has a pixel for each sample.
MOST_STATE_POINTS = 1000


def sample_intervals_s(curves: Sequence[Curve]) -> tuple[float, ...]:
    """The intervals between the samples of curves over time, each once, s."""
    return tuple(dict.fromkeys(interval for interval in map(sample_interval_s, curves) if interval is not None))


def sample_interval_s(curve: Curve) -> float | None:
    """Between the samples of a curve over time, s; None while that is not known."""
    return float(curve.time_s[1] - curve.time_s[0]) if len(curve.time_s) > 1 else None


def bin_width_s(intervals_s: Sequence[float], span_s: float, *, chosen_s: float | None, is_rate: bool) -> float:
    """The bins that curves of one plot are drawn with, s; zero: as they are.

    All curves of a plot have the same bins, also when the runs of an overlay were sampled differently.

    Args:
        intervals_s: between the samples of the curves, s.
        span_s: how much of the time is in view.
        chosen_s: what a person chose; None: as wide as the time in view asks for.
        is_rate: whether samples are means over the interval that ends there.
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
    """How many samples of a curve one bin holds; at least one."""
    interval_s = sample_interval_s(curve)
    return 1 if interval_s is None else max(1, round(bin_s / interval_s))


def in_bins(curve: Curve, bin_s: float) -> Curve:
    """The curve with the mean of each bin in place of its samples."""
    return curve if bin_s == RAW_S else replace(averaged(curve, samples_in(curve, bin_s)), bin_s=bin_s)


MOST_FLOWS = 12
"""Of a run, that have a line each; of more the median is drawn."""
LEAST_SEEDS = 3
"""Of an experiment, whose mean is drawn instead of their lines: two have an interval that says next to nothing."""

# Percentiles of a crowd: the edges of its bands, the widest first.
_EDGES = ((0.10, 0.90), (0.25, 0.75))


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Flows of one definition.

    Attributes:
        curve: their median, with a band of 10 to 90 and one of 25 to 75 %.
        members: their curves, as sampled.
    """

    curve: Curve
    members: tuple[Curve, ...]


def percentiles(values: NDArray[np.float32], shares: Sequence[float]) -> NDArray[np.float32]:
    """Percentiles over rows, linear between neighbours; NaN does not count, and gives NaN where there is nothing else.

    Args:
        values: float32 [rows, n].
        shares: of the rows that lie below, 0 to 1.

    Returns:
        float32 [len(shares), n].
    """
    # Numpy's nanpercentile goes column by column in Python: seconds for a thousand flows.
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
    """The curves with the median of each crowd in the place of its first member; and the crowds.

    A run has a crowd where more than `MOST_FLOWS` of its flows have curves: the copies of a flow definition.

    Args:
        curves: as sampled, with their runs.
        bin_s: bins in which the curves of the crowds are drawn; zero: as sampled.
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
    """The curve of the crowds that is nearest to a value at a time; None where none has a value."""
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
    """The mean of the same line of several runs, with its 95 % interval by Student's t as a band.

    Where a run has no value, or is not as far yet, the mean is of the others; of one value there is no interval.

    Args:
        curves: with the same bins; two or more.
        is_signed: whether values may be negative; intervals of others are drawn from zero on.
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
        # The interval is that of `Estimate`, with the width of a unit variance taken once for all times.
        half[here] = half_width(1.0, int(how_many)) * np.sqrt(squares[here] / (how_many - 1))
    low, high = interval_ends(mean, half, is_signed=is_signed)
    band = Band(CONFIDENCE, low.astype(np.float32), high.astype(np.float32))
    return replace(curves[0], time_s=longest.time_s[: len(mean)], values=mean.astype(np.float32), bands=(band,))


def _median(members: Sequence[Curve], bin_s: float) -> Curve:
    first = members[0]
    # A live run publishes samples while we read.
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
