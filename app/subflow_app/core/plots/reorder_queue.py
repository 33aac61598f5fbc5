"""What each connection holds back at the receiver because earlier data is missing."""

from __future__ import annotations

from subflow_app.core.plots.spec import CONNECTION, Curve, PlotSpec, column_curves
from subflow_app.core.traces import FLOW, Traces

_COLUMN = "reorder_queue_bytes"


def curves(traces: Traces) -> list[Curve]:
    """One curve per multipath flow, bytes."""
    return column_curves(traces, FLOW, _COLUMN)


PLOT = PlotSpec(
    id="reorder_queue",
    title="Reorder queue",
    y_label="Reorder queue",
    unit="kB",
    scale=1e-3,
    columns=((FLOW, _COLUMN),),
    curves=curves,
    group=CONNECTION,
    needs="an mptcp flow with several paths",
)
