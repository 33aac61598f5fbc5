"""Congestion window of each subflow."""

from __future__ import annotations

from subflow_app.core.plots.spec import Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "cwnd_pkts"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow, packets."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="cwnd",
    title="Congestion window",
    y_label="Congestion window",
    unit="packets",
    scale=1.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    figures=((SUBFLOW, "mean_cwnd_pkts"),),
    needs="a tcp or mptcp flow",
)
