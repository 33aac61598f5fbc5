"""What lies between the cursors A and B, as rows of their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.core.reading import stretch
from subflow_app.features.plots.qt.curve_id import CurveId, run_names
from subflow_app.features.plots.qt.span_model import SpanRow
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.time_plot import TimePlot


def span_rows(
    plots: Sequence[TimePlot],
    curves: Mapping[CurveId, Curve],
    hidden: frozenset[CurveId],
    span_s: tuple[float, float],
) -> list[SpanRow]:
    """What each visible curve over time did between two times, s."""
    names = run_names(curves.values())
    rows = []
    for plot in plots:
        for key, item in plot.curves.items():
            if key not in hidden:
                label = curves[key].label
                line = f"{label} ({names[key.run]})" if len(names) > 1 else label
                values = stretch(item.time_s, item.shown_values, *span_s)
                rows.append(SpanRow(tr(plot.spec.title), plot.spec.unit, line, values))
    return rows
