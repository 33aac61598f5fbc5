"""Goodput of each flow: payload that arrived in order, what an application sees."""

from __future__ import annotations

from subflow_app.core.plots.spec import Curve, PlotSpec, column_curves
from subflow_app.core.traces import FLOW, Traces

_COLUMN = "goodput_bps"


def curves(traces: Traces) -> list[Curve]:
    """One curve per flow, bit/s of payload."""
    return column_curves(traces, FLOW, _COLUMN)


PLOT = PlotSpec(
    id="goodput",
    title="Goodput",
    y_label="Goodput",
    unit="Mbit/s",
    scale=1e-6,
    columns=((FLOW, _COLUMN),),
    curves=curves,
    figures=((FLOW, _COLUMN),),
    is_rate=True,
)
