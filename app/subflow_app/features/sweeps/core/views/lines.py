"""A figure over a parameter with its 95 % intervals: for each value of another a line, or points where it has names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from subflow_app.features.sweeps.core.views.picture import (
    NOTHING,
    Hit,
    Marks,
    Picture,
    PictureAxis,
    hit_text,
    level_text,
    names_axis,
)
from subflow_app.features.sweeps.core.views.study import Study
from subflow_app.features.sweeps.core.views.view import SweepView, averaged_note
from subflow_app.vocabulary.language import translatable

_ASIDE = 0.12
_LEAST_SHARE = 0.1


def line_plot(
    study: Study, figure: str, parameter: str, series: str = "", fixed: Mapping[str, int] | None = None
) -> Picture:
    """Lines of a figure over a parameter; over names, between which there is nothing, points with their intervals.

    The axis of the figure reaches over a tenth of its values and the mean width of the intervals, at least.

    Args:
        study: the sweep.
        figure: key of the figure.
        parameter: key of the parameter along the plot; one with names has its places in their order.
        series: key of the parameter that tells lines apart; empty or the same one: a single line.
        fixed: level of each further parameter; those that are left out are averaged over.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    series = "" if series == parameter else series
    shown, along = study.figure(figure), study.parameter(parameter)
    told_apart = study.parameter(series) if series else None
    lines, hits = [], []
    members = study.by_levels((series, parameter), fixed)
    ranks = sorted({rank for rank, _level in members})
    for rank in ranks:
        # Points of the same name stand beside each other.
        aside = 0.0 if along.is_numeric else _ASIDE * (rank - (len(ranks) - 1) / 2)
        found = [
            (along.position(level) + aside, points, study.mean(points, figure))
            for (own, level), points in sorted(members.items())
            if own == rank
        ]
        known = [(x, points, mean) for x, points, mean in found if math.isfinite(mean.mean)]
        lines.append(
            Marks(
                rank,
                np.array([x for x, _, _ in known]),
                np.array([mean.mean for _, _, mean in known]) * shown.scale,
                np.array([mean.ci95 for _, _, mean in known]) * shown.scale,
                NOTHING if along.is_numeric else np.zeros(len(known)),
            )
        )
        for x, points, mean in known:
            at = f"{x:.6g} {along.unit}".strip() if along.is_numeric else along.levels[round(x)].text
            parts = [level_text(told_apart, rank), f"{along.key}: {at}", shown.mean_text(mean)]
            hits.append(Hit(x, mean.mean * shown.scale, hit_text(parts, mean.n), tuple(points)))
    levels = [level.number for level in along.levels]
    # Where they span a decade and none is zero, each is seen on such an axis.
    is_log = along.is_numeric and bool(levels) and levels[0] > 0 and levels[-1] >= 10 * levels[0]
    return Picture(
        PictureAxis(along.title, is_log=is_log) if along.is_numeric else names_axis(along),
        PictureAxis(shown.axis_title, least=_least(lines), is_signed=shown.is_signed),
        tuple(hits),
        told_apart,
        tuple(lines),
        note=averaged_note(study, (parameter, series), fixed),
    )


def _least(lines: Sequence[Marks]) -> float:
    """What an axis of values reaches over at least: a tenth of the largest, and the mean width of their intervals."""
    halves = [half for half in chain.from_iterable(line.y_halves for line in lines) if math.isfinite(half)]
    largest = max((abs(y) for line in lines for y in line.y), default=0.0)
    return float(max(_LEAST_SHARE * largest, 2 * math.fsum(halves) / len(halves) if halves else 0.0))


VIEW = SweepView(
    "lines",
    translatable("Lines"),
    translatable("Lines of a figure over a parameter, with 95 % intervals"),
    {"figure": translatable("&Figure"), "x": translatable("A&long"), "series": translatable("&Compare")},
    lambda study, choice: line_plot(study, choice.figure, choice.x, choice.series or "", choice.fixed),
)
