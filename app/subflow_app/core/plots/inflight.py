"""Packets of each subflow that are on their way: sent, and neither acknowledged nor given up."""

from __future__ import annotations

from subflow_app.core.plots.spec import Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "inflight_pkts"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow, packets."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="inflight",
    title="In flight",
    y_label="In flight",
    unit="packets",
    scale=1.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    needs="a tcp or mptcp flow",
)
