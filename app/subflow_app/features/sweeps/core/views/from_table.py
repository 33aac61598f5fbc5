"""The table of a sweep as its views see it."""

from __future__ import annotations

import math

from subflow_app.features.sweeps.core.axes import SweptValue
from subflow_app.features.sweeps.core.sweep_table import SweepTable
from subflow_app.features.sweeps.core.views.study import (
    Level,
    Study,
    StudyPoint,
    StudyRun,
    make_figure,
    parameter_of_levels,
)
from subflow_app.vocabulary.language import tr


def study_of(table: SweepTable) -> Study:
    """What a table tells, run by run; seeds without a finished run are left out."""
    steps = {key: table.steps(key) for key in table.keys}
    parameters = tuple(parameter_of_levels(key, [_level(value) for value in steps[key]]) for key in table.keys)
    points = []
    for row in table.rows:
        places = tuple(steps[key].index(value) for key, value in zip(table.keys, row.values, strict=True))
        runs = []
        for place, seed in enumerate(table.seeds):
            figures = {key: cell.values[place] for key, cell in row.cells.items() if math.isfinite(cell.values[place])}
            run_id = row.run_ids[place] if place < len(row.run_ids) else None
            if figures or run_id is not None:
                signature = row.signatures[place] if place < len(row.signatures) else ""
                runs.append(StudyRun(seed, run_id, figures, signature))
        points.append(StudyPoint(places, tuple(runs)))
    return Study(table.name, parameters, tuple(map(make_figure, table.figures)), tuple(points))


def _level(value: SweptValue) -> Level:
    return Level(value.text or tr("as in the scenario"), math.nan if value.number is None else value.number)
