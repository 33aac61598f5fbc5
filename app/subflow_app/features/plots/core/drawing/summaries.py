"""Curves that stand for many: the median of very many flows with percentile bands, the mean of seeds with its interval.

A hundred flows are three hundred lines, and five seeds of one experiment are five lines for one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.plots.core.drawing.bins import samples_in
from subflow_app.features.plots.core.spec import Band, Curve, bin_means
from subflow_app.features.traces.core.traces import LINK
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.owners import label_of, split_owner
from subflow_app.vocabulary.picture import interval_ends
from subflow_sim.stats import CONFIDENCE, half_width

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
