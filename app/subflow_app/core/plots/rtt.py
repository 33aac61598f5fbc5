"""Smoothed round-trip time of each subflow."""

from __future__ import annotations

from subflow_app.core.plots.spec import Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "srtt_s"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow, s; NaN before its first sample."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="rtt",
    title="Round-trip time",
    y_label="Smoothed RTT",
    unit="ms",
    scale=1e3,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    figures=((SUBFLOW, "mean_rtt_s"),),
    from_zero=False,
    needs="a tcp or mptcp flow",
)
