"""Packets that a connection sent again on another subflow."""

from __future__ import annotations

from subflow_app.core.plots.spec import CONNECTION, Curve, PlotSpec, column_curves
from subflow_app.core.traces import FLOW, Traces

_COLUMN = "reinjections_pkts"


def curves(traces: Traces) -> list[Curve]:
    """One curve per multipath flow, packets in the sampling interval."""
    return column_curves(traces, FLOW, _COLUMN)


PLOT = PlotSpec(
    id="reinjections",
    title="Reinjections",
    y_label="Reinjections per sample",
    unit="packets",
    scale=1.0,
    columns=((FLOW, _COLUMN),),
    curves=curves,
    group=CONNECTION,
    needs="an mptcp flow with several paths",
)
