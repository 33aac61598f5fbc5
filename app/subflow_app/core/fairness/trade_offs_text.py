"""Trade-offs between runs as a table of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from subflow_app.core.fairness.trade_offs import TRADE_OFFS, Point, Quantity, TradeOffKind
from subflow_app.core.number_text import NOTHING, fixed_text
from subflow_app.core.text_table import TextColumn, TextTable


def point_table(points: Sequence[Point], kind: TradeOffKind, run_ids: Sequence[int]) -> TextTable:
    """A row per point; those on the Pareto front have a star."""
    spec = TRADE_OFFS[kind]
    columns = [TextColumn("Best", is_number=False), TextColumn("Experiment", is_number=False)]
    for quantity in (spec.y, spec.x):
        columns += [TextColumn(quantity.label, quantity.unit), TextColumn("±", quantity.unit)]
    columns.append(TextColumn("Runs", is_number=False))
    rows = tuple(
        (
            "*" if point.is_best else "",
            point.title,
            *_cells(point.y.mean, point.y.ci95, spec.y),
            *_cells(point.x.mean, point.x.ci95, spec.x),
            ", ".join(str(run_ids[run]) for run in point.runs),
        )
        for point in points
    )
    return TextTable("", tuple(columns), rows)


def _cells(mean: float, half: float, quantity: Quantity) -> tuple[str, str]:
    interval = NOTHING if math.isnan(half) else fixed_text(half * quantity.scale, 3)
    return fixed_text(mean * quantity.scale, 3), interval
