"""Trade-offs between runs as a table of text."""

from __future__ import annotations

from collections.abc import Sequence

from subflow_app.core.fairness.trade_offs import TRADE_OFFS, Point, TradeOffKind
from subflow_app.core.text_table import TextColumn, TextTable


def point_table(points: Sequence[Point], kind: TradeOffKind, run_ids: Sequence[int]) -> TextTable:
    """A row per point; those on the Pareto front have a star."""
    spec = TRADE_OFFS[kind]
    columns = [TextColumn("Best", is_number=False), TextColumn("Experiment", is_number=False)]
    for quantity in (spec.y, spec.x):
        shown = quantity.metric
        columns += [TextColumn(shown.title, shown.unit), TextColumn("±", shown.unit)]
    columns.append(TextColumn("Runs", is_number=False))
    rows = tuple(
        (
            "*" if point.is_best else "",
            point.title,
            *(
                quantity.metric.text(value)
                for quantity, found in ((spec.y, point.y), (spec.x, point.x))
                for value in (found.mean, found.ci95)
            ),
            ", ".join(str(run_ids[run]) for run in point.runs),
        )
        for point in points
    )
    return TextTable("", tuple(columns), rows)
