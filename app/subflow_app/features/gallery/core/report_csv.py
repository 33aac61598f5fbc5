"""The numbers of experiments as CSV: a line for each value of each run, and one for each check."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core.report_tables import expected_text, ours_text, shown_text, why_text
from subflow_app.vocabulary.tables import csv_flag, csv_number, csv_text
from subflow_sim.units import Dimension

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.results import Results

_SI: Mapping[Dimension, str] = defaultdict(
    str,
    {
        Dimension.RATE: "bit/s",
        Dimension.TIME: "s",
        Dimension.SIZE: "B",
        Dimension.QUEUE: "pkt",
    },
)
RESULT_COLUMNS = ("experiment", "quick", "series", "point", "seed", "measure", "unit", "value")
VERDICT_COLUMNS = (
    "experiment",
    "quick",
    "figure",
    "check",
    "kind",
    "ours",
    "expected",
    "verdict",
    "cause",
    "shown",
    "why",
)


def results_csv(every: Sequence[Results]) -> str:
    """A line for each measured value, in SI units; what was not measured has none."""
    rows = []
    for results in every:
        recipe = results.recipe
        for series in results.series:
            for point in results.points:
                for measure in recipe.measures.values():
                    cell = results.cell(measure.name, series, point)
                    place = (recipe.name, csv_flag(results.is_quick), series, point)
                    for seed, value in zip(results.seeds, cell.values, strict=False):
                        if math.isfinite(value):
                            rows.append((*place, seed, measure.name, _SI[measure.kind.dimension], csv_number(value)))
    return csv_text(RESULT_COLUMNS, rows)


def verdicts_csv(every: Sequence[Results]) -> str:
    """A line for each check."""
    rows = []
    for results in every:
        recipe = results.recipe
        for verdict in results.verdicts():
            rows.append(
                (
                    recipe.name,
                    csv_flag(results.is_quick),
                    recipe.figure,
                    verdict.check.says,
                    "band" if verdict.outcome.is_band else "claim",
                    ours_text(verdict),
                    expected_text(verdict),
                    verdict.kind.value,
                    "" if verdict.explanation is None else verdict.explanation.cause.kind.value,
                    "" if verdict.explanation is None else shown_text(verdict.explanation),
                    why_text(verdict),
                )
            )
    return csv_text(VERDICT_COLUMNS, rows)
