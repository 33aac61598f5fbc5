"""Means of the measured interval by curve: what the summary of a run says, and of all else the mean of the trace."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import count

from subflow_app.core.history.run_columns import RunColumn, Value, column
from subflow_app.core.plots.spec import Curve, PlotSpec, measured_mean
from subflow_app.core.traces import LINK
from subflow_app.vocabulary.owners import written

_TOTAL = "total"


def measured_value(spec: PlotSpec, curve: Curve, figures: Mapping[str, Value], warmup_s: float) -> float:
    """The mean of a curve over the measured interval of its run, SI; NaN where nothing is known.

    Args:
        spec: plot of the curve.
        curve: whole, over time.
        figures: of the run, as `run_figures` has them; empty where it has no summary.
        warmup_s: where the warm-up ends on the curve's time, s.
    """
    names = dict(spec.figures)
    if curve.kind == _TOTAL and "subflow" in names:
        # The summary has the parts: their sum agrees with what it says of each.
        parts = list(_parts(figures, curve.owner, names["subflow"]))
        if parts:
            return math.fsum(parts)
    elif curve.kind in names:
        value = figures.get(_key(curve, names[curve.kind]))
        if isinstance(value, int | float):
            return float(value)
    return measured_mean(curve, warmup_s)


def figure_column(spec: PlotSpec) -> RunColumn | None:
    """How the list of runs shows the means of this plot's curves; None if no summary has them, or in other units."""
    if not spec.figures:
        return None
    shown = column(spec.figures[0][1])
    return shown if shown.scale == spec.scale else None


def _key(curve: Curve, figure: str) -> str:
    if curve.kind == "all":
        return figure
    return f"{'links' if curve.kind == LINK else 'flows'}.{written(curve.owner)}.{figure}"


def _parts(figures: Mapping[str, Value], flow: str, figure: str) -> Iterator[float]:
    """The figure of each subflow of a flow; they are numbered from 1."""
    for number in count(1):
        value = figures.get(f"flows.{written(flow)}/{number}.{figure}")
        if not isinstance(value, int | float):
            return
        yield value
