"""A figure by the values of a parameter, as boxes: how much runs differ, and not only their mean.

Source: Tukey 1977, "Exploratory Data Analysis": whiskers reach to the last value within 1.5 times the height of the
box, what lies further out is drawn by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from subflow_app.features.sweeps.core.views.picture import (
    Box,
    Hit,
    Picture,
    PictureAxis,
    hit_text,
    level_text,
    names_axis,
)
from subflow_app.features.sweeps.core.views.study import Study
from subflow_app.features.sweeps.core.views.view import SweepView, averaged_over
from subflow_app.vocabulary.language import tr, translatable

WHISKER = 1.5
"""How far whiskers reach at most, in heights of the box."""
_FILLED = 0.84  # share of a place that its boxes take
_SPREAD = 0.6  # share of a box over which its dots are spread
_MOST_DOTS = 60


def box_plot(
    study: Study, figure: str, parameter: str, series: str = "", fixed: Mapping[str, int] | None = None
) -> Picture:
    """Boxes of a figure by a parameter.

    Args:
        study: the sweep.
        figure: key of the figure.
        parameter: key of the parameter along the plot.
        series: key of the parameter that tells boxes beside each other apart; empty or the same one: none.
        fixed: level of each further parameter; all levels of those that are left out count.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    series = "" if series == parameter else series
    shown, along = study.figure(figure), study.parameter(parameter)
    told_apart = study.parameter(series) if series else None
    members = {
        place: runs
        for place, points in sorted(study.by_levels((parameter, series), fixed).items())
        if (runs := study.single_runs(points, figure))
    }
    used = sorted({rank for _level, rank in members})
    room = _FILLED / max(1, len(used))
    boxes, hits = [], []
    for (level, rank), runs in members.items():
        values = np.array([value for _point, _run, value in runs])
        q1, median, q3 = (float(quartile) for quartile in np.percentile(values, (25, 50, 75)))
        reach = WHISKER * (q3 - q1)
        within = values[(values >= q1 - reach) & (values <= q3 + reach)]
        low, high = float(within.min()), float(within.max())
        is_outlier = (values < low) | (values > high)
        drawn = [number for number in range(len(runs)) if len(runs) <= _MOST_DOTS or is_outlier[number]]
        middle, width = level + (used.index(rank) + 0.5) * room - _FILLED / 2, room * 0.86
        # Beside each other in the order of the sweep, so that equal ones are all seen.
        places = middle + (np.linspace(-0.5, 0.5, len(drawn)) if len(drawn) > 1 else np.zeros(1)) * width * _SPREAD
        dots = [(float(x), runs[n][2] * shown.scale, bool(is_outlier[n])) for x, n in zip(places, drawn, strict=False)]
        where = [level_text(along, level), level_text(told_apart, rank)]
        quartiles = tr(
            "median {median}, half of the runs between {q1} and {q3}",
            median=shown.text(median),
            q1=shown.text(q1),
            q3=shown.text(q3),
        )
        low, q1, middle_y, q3, high = (value * shown.scale for value in (low, q1, median, q3, high))
        boxes.append(Box(rank, middle, width, low, q1, middle_y, q3, high, tuple(dots)))
        points = tuple(dict.fromkeys(point for point, _run, _value in runs))
        hits.append(Hit(middle, middle_y, hit_text([*where, quartiles], len(runs)), points))
        for (x, y, _is_outlier), number in zip(dots, drawn, strict=True):
            point, run, value = runs[number]
            words = [*filter(None, where), tr("seed {seed}", seed=run.seed), shown.text(value)]
            ids = () if run.run_id is None else (run.run_id,)
            hits.append(Hit(x, y, "\n".join(words), (point,), ids))
    averaged = ", ".join(averaged_over(study, (parameter, series), fixed))
    note = tr("Each box has runs with all values of {keys}.", keys=averaged) if averaged else ""
    axis = PictureAxis(shown.axis_title)
    return Picture(names_axis(along), axis, tuple(hits), told_apart, boxes=tuple(boxes), note=note)


VIEW = SweepView(
    "boxes",
    translatable("Boxes"),
    translatable("Box plots of a figure by a parameter"),
    {"figure": translatable("&Figure"), "x": translatable("B&y"), "series": translatable("&Compare")},
    lambda study, choice: box_plot(study, choice.figure, choice.x, choice.series or "", choice.fixed),
    is_mean_of_held=False,
)
