"""The table of a sweep: a row per point, parameters and mean ± 95 % interval of the figures; and its runs as CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from subflow_app.features.sweeps.core.views.study import Study, StudyFigure
from subflow_app.features.sweeps.core.views.view import TABLE, SweepView
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn, csv_number, csv_text
from subflow_sim.stats import Estimate


@dataclass(frozen=True, slots=True, eq=False)
class TableContent:
    """What the table shows: rows, and the figures that have columns."""

    study: Study
    figures: tuple[StudyFigure, ...]
    rows: tuple[StudyRow, ...]


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A row.

    Attributes:
        point: its number.
        levels: of the parameters, as they are written.
        positions: of the levels, in the order of their parameter.
        figures: in SI units.
        runs: how many count.
    """

    point: int
    levels: tuple[str, ...]
    positions: tuple[int, ...]
    figures: tuple[Estimate, ...]
    runs: int


def study_rows(study: Study, figures: Sequence[str]) -> list[StudyRow]:
    """The rows, in the order of the sweep.

    Args:
        study: the sweep.
        figures: keys of those that have a column.
    """
    rows = []
    for number, point in enumerate(study.points):
        levels = tuple(
            parameter.levels[place].text for parameter, place in zip(study.parameters, point.places, strict=True)
        )
        found = tuple(study.mean([number], key) for key in figures)
        rows.append(StudyRow(number, levels, point.places, found, point.distinct_runs))
    return rows


def study_columns(study: Study, figures: Sequence[StudyFigure]) -> list[Column[StudyRow]]:
    """Parameters as they are written, figures in their units, and how many runs there are; titles are translated."""

    def parameter(place: int) -> Column[StudyRow]:
        shown = study.parameters[place]
        return Column(
            shown.key,
            lambda row: row.levels[place],
            is_number=shown.is_numeric,
            sort=lambda row: row.positions[place],
            tip=shown.key,
        )

    def figure(place: int) -> Column[StudyRow]:
        shown = figures[place]
        return NumberColumn(
            shown.axis_title,
            lambda row: row.figures[place],
            lambda found: shown.interval_text(found).removesuffix(f" {shown.unit}"),
            # What is not known comes first.
            sort=lambda row: row.figures[place].mean if math.isfinite(row.figures[place].mean) else -math.inf,
            tip=shown.axis_title,
        )

    return [
        *map(parameter, range(len(study.parameters))),
        *map(figure, range(len(figures))),
        NumberColumn(tr("Runs"), lambda row: row.runs, tip=tr("Runs")),
    ]


def runs_csv(study: Study) -> str:
    """Every run of a sweep with its parameters as they are written and its figures in SI units, a line each."""
    keys = [figure.key for figure in study.figures]
    lines: list[list[object]] = []
    for point in study.points:
        levels = [p.levels[place].text for p, place in zip(study.parameters, point.places, strict=True)]
        for run in point.runs:
            values = [run.figures.get(key, math.nan) for key in keys]
            lines.append([*levels, run.seed, "" if run.run_id is None else run.run_id, *map(csv_number, values)])
    return csv_text([*(parameter.key for parameter in study.parameters), "seed", "run_id", *keys], lines)


def write_runs(study: Study, path: Path) -> Path:
    """Writes :func:`runs_csv` to a file in one step.

    Raises:
        ExportError: if it cannot be written.
    """
    return write_file(path, runs_csv(study))


VIEW = SweepView(
    "table",
    translatable("Table"),
    translatable("Means of the sweep with their 95 % intervals"),
    {"figures": translatable("Fi&gures")},
    lambda study, choice: TableContent(
        study, tuple(map(study.figure, choice.figures)), tuple(study_rows(study, choice.figures))
    ),
    form=TABLE,
)
