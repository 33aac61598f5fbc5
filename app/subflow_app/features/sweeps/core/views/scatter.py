"""Throughput against delay, a mark with its 95 % intervals for each point of a sweep.

As in Pantheon's reports the delay axis runs from right to left, so that the corner everybody wants is at the top right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from subflow_app.features.sweeps.core.views.picture import Hit, Marks, Picture, PictureAxis, hit_text, level_text
from subflow_app.features.sweeps.core.views.study import Study
from subflow_app.features.sweeps.core.views.view import SweepView
from subflow_app.vocabulary.language import translatable
from subflow_sim.stats import Estimate


def scatter(study: Study, x: str, y: str, series: str = "", fixed: Mapping[str, int] | None = None) -> Picture:
    """Marks of two figures.

    Args:
        study: the sweep.
        x: key of the figure along the plot.
        y: key of the figure up the plot.
        series: key of the parameter that tells marks apart; empty: none.
        fixed: levels of parameters; points with others are left out.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    held = {key: level for key, level in (fixed or {}).items() if key != series}
    along, up = study.figure(x), study.figure(y)
    told_apart = study.parameter(series) if series else None
    members: dict[int, list[tuple[Estimate, Estimate]]] = {}
    hits = []
    for point in study.chosen(held):
        found_x, found_y = study.mean([point], x), study.mean([point], y)
        if math.isfinite(found_x.mean) and math.isfinite(found_y.mean):
            rank = study.place(point, series) if series else 0
            members.setdefault(rank, []).append((found_x, found_y))
            parts = [level_text(told_apart, rank), study.words(point, (series, *held))]
            parts += [f"{f.name}: {f.interval_text(v)}" for f, v in ((up, found_y), (along, found_x))]
            at = (found_x.mean * along.scale, found_y.mean * up.scale)
            hits.append(Hit(*at, hit_text(parts, found_x.n), (point,)))
    marks = [
        Marks(
            rank,
            np.array([each.mean for each, _ in pairs]) * along.scale,
            np.array([each.mean for _, each in pairs]) * up.scale,
            np.array([each.ci95 for _, each in pairs]) * up.scale,
            np.array([each.ci95 for each, _ in pairs]) * along.scale,
        )
        for rank, pairs in sorted(members.items())
    ]
    return Picture(
        # Less delay stands further right, and less loss higher up: the better corner is always the same one.
        PictureAxis(along.axis_title, is_reversed=along.better < 0, is_signed=along.is_signed),
        PictureAxis(up.axis_title, is_reversed=up.better < 0, is_signed=up.is_signed),
        tuple(hits),
        told_apart,
        tuple(marks),
        has_better_corner=along.better != 0 and up.better != 0,
    )


VIEW = SweepView(
    "scatter",
    translatable("Scatter"),
    translatable("Scatter of two figures, a mark per point of the sweep"),
    {"figure": translatable("&Up"), "other": translatable("Ac&ross"), "series": translatable("&Compare")},
    lambda study, choice: scatter(study, choice.other, choice.figure, choice.series or "", choice.fixed),
    is_mean_of_held=False,
)
