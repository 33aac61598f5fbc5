"""What fills the receive buffer of each connection."""

from __future__ import annotations

from subflow_app.core.plots.spec import CONNECTION, Curve, PlotSpec, column_curves
from subflow_app.core.traces import FLOW, Traces

_COLUMN = "recv_buffer_bytes"


def curves(traces: Traces) -> list[Curve]:
    """One curve per flow, bytes."""
    return column_curves(traces, FLOW, _COLUMN)


PLOT = PlotSpec(
    id="recv_buffer",
    title="Receive buffer",
    y_label="Receive buffer",
    unit="kB",
    scale=1e-3,
    columns=((FLOW, _COLUMN),),
    curves=curves,
    group=CONNECTION,
)
