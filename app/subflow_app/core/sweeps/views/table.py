"""The table of a sweep: a row per point, parameters and mean ± 95 % interval of the figures; and its runs as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from subflow_app.core.errors import ExportError
from subflow_app.core.language import tr, translatable
from subflow_app.core.sweeps.views.study import Study, StudyFigure
from subflow_app.core.sweeps.views.view import TABLE, SweepView
from subflow_sim.stats import Estimate
from subflow_sim.whole_file import write_whole

SortKey = tuple[int, float, str]


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
        runs: how many there are.
    """

    point: int
    levels: tuple[str, ...]
    positions: tuple[int, ...]
    figures: tuple[Estimate, ...]
    runs: int

    def sort_key(self, column: int) -> SortKey:
        """Orders rows by a column: parameters by level, figures by mean, then the number of runs; unknown first."""
        if column < len(self.positions):
            return (1, float(self.positions[column]), "")
        column -= len(self.positions)
        value = self.figures[column].mean if column < len(self.figures) else float(self.runs)
        return (1, value, "") if math.isfinite(value) else (0, 0.0, "")


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
        rows.append(StudyRow(number, levels, point.places, found, len(point.runs)))
    return rows


def row_texts(study: Study, row: StudyRow, figures: Sequence[StudyFigure]) -> list[str]:
    """The cells of a row as people read them; units stand in the headings."""
    texts = list(row.levels)
    for figure, found in zip(figures, row.figures, strict=True):
        texts.append(figure.interval_text(found).removesuffix(f" {figure.unit}"))
    return [*texts, str(row.runs)]


def headings(study: Study, figures: Sequence[StudyFigure]) -> list[str]:
    """The titles of the columns, in the language of the window."""
    return [*(parameter.key for parameter in study.parameters), *(f.axis_title for f in figures), tr("Runs")]


def tab_separated(study: Study, rows: Sequence[StudyRow], figures: Sequence[StudyFigure]) -> str:
    """Rows for the clipboard: spreadsheets and text editors both take them."""
    lines = [headings(study, figures), *(row_texts(study, row, figures) for row in rows)]
    return "\n".join("\t".join(line) for line in lines) + "\n"


def runs_csv(study: Study) -> str:
    """Every run of a sweep with its parameters as they are written and its figures in SI units, a line each."""
    keys = [figure.key for figure in study.figures]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(parameter.key for parameter in study.parameters), "seed", "run_id", *keys])
    for point in study.points:
        levels = [p.levels[place].text for p, place in zip(study.parameters, point.places, strict=True)]
        for run in point.runs:
            values = [run.figures.get(key, math.nan) for key in keys]
            cells = [repr(value) if math.isfinite(value) else "" for value in values]
            writer.writerow([*levels, run.seed, "" if run.run_id is None else run.run_id, *cells])
    return text.getvalue()


def write_runs(study: Study, path: Path) -> Path:
    """Writes :func:`runs_csv` to a file in one step.

    Raises:
        ExportError: if it cannot be written.
    """
    try:
        write_whole(path, runs_csv(study).encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise ExportError(f"{path} cannot be written: {reason}; choose another folder") from error
    return path


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
