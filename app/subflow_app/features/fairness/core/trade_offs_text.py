"""Trade-offs between runs as a table of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from subflow_app.features.fairness.core.trade_offs import TRADE_OFFS, Point, TradeOffKind
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable
from subflow_sim.stats import Estimate


def point_table(points: Sequence[Point], kind: TradeOffKind, run_ids: Sequence[int]) -> TextTable:
    """A row per point; those on the Pareto front have a star."""
    spec = TRADE_OFFS[kind]
    columns: list[Column[Point]] = [
        Column("Best", lambda point: "*" if point.is_best else ""),
        Column("Experiment", lambda point: point.title),
        *_columns(spec.y.metric, lambda point: point.y),
        *_columns(spec.x.metric, lambda point: point.x),
        Column("Runs", lambda point: ", ".join(str(run_ids[run]) for run in point.runs)),
    ]
    return TextTable.of(points, columns)


def _columns(shown: Measure, found: Callable[[Point], Estimate]) -> tuple[Column[Point], ...]:
    return (
        NumberColumn(shown.title, lambda point: found(point).mean, shown.text, shown.unit),
        NumberColumn("±", lambda point: found(point).ci95, shown.text, shown.unit),
    )
