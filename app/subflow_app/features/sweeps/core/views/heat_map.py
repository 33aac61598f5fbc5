"""A figure over two parameters, as the cells of a map."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from subflow_app.features.sweeps.core.views.picture import Cells, Hit, Picture, PictureAxis, level_text, names_axis
from subflow_app.features.sweeps.core.views.span import span_of
from subflow_app.features.sweeps.core.views.study import Study
from subflow_app.features.sweeps.core.views.view import MAP, SweepView, averaged_note
from subflow_app.vocabulary.language import tr, translatable, trn


def heat_map(study: Study, figure: str, x: str, y: str = "", fixed: Mapping[str, int] | None = None) -> Picture:
    """The map of a figure.

    The colours reach from the least to the greatest mean, but over no less than an interval is wide on average: means
    that do not differ have colours that do not differ.

    Args:
        study: the sweep.
        figure: key of the figure.
        x: key of the parameter along the map.
        y: key of the parameter up the map; empty for a single row.
        fixed: level of each further parameter; those that are left out are averaged over.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    shown, across, up = study.figure(figure), study.parameter(x), study.parameter(y) if y else None
    members = study.by_levels((y, x), fixed)
    rows = [
        [members.get((row, column), []) for column in range(len(across.levels))]
        for row in range(len(up.levels) if up else 1)
    ]
    means = [[study.mean(points, figure) for points in row] for row in rows]
    values = np.array([[found.mean for found in row] for row in means], dtype=np.float64) * shown.scale
    halves = [found.ci95 for row in means for found in row if math.isfinite(found.ci95)]
    width = 2 * math.fsum(halves) / len(halves) * shown.scale if halves else 0.0
    low, high = span_of(values)
    missing = max(0.0, width - (high - low))
    notes = [averaged_note(study, (x, y), fixed)]
    if missing:
        text = shown.text(width / shown.scale)
        notes.append(
            tr("The colours span {width}, the mean width of the intervals: the cells hardly differ.", width=text)
        )
    hits, texts = [], []
    for row, cells in enumerate(rows):
        for column, points in enumerate(cells):
            found = means[row][column]
            lines = [level_text(across, column), level_text(up, row)]
            if math.isfinite(found.mean):
                told = trn("{count} run", "{count} runs", found.n)
                if len(points) > 1:
                    told = tr(
                        "mean over {count} settings of the other parameters, {runs}", count=len(points), runs=told
                    )
                lines += [shown.mean_text(found), told]
            else:
                lines.append(tr("no run yet"))
            hits.append(Hit(column, row, "\n".join(filter(None, lines)), tuple(points)))
        texts.append(tuple(shown.interval_text(found, with_unit=False) for found in means[row]))
    return Picture(
        names_axis(across),
        names_axis(up) if up else PictureAxis(" ", ("",)),
        tuple(hits),
        cells=Cells(values, (low - missing / 2, high + missing / 2), shown.axis_title, tuple(texts)),
        note=" ".join(filter(None, notes)),
    )


VIEW = SweepView(
    "heat",
    translatable("Heat map"),
    translatable("Heat map of a figure over two parameters"),
    {"figure": translatable("C&olour"), "x": translatable("A&long"), "y": translatable("&Up")},
    lambda study, choice: heat_map(study, choice.figure, choice.x, choice.y or "", choice.fixed),
    form=MAP,
)
