"""How long packets waited at the receiver for earlier ones that went over other subflows."""

from __future__ import annotations

from subflow_app.core.plots.spec import CONNECTION, Curve, PlotSpec, column_curves
from subflow_app.core.traces import FLOW, Traces

_COLUMN = "hol_blocking_s"


def curves(traces: Traces) -> list[Curve]:
    """One curve per multipath flow, s: mean over the packets of the sampling interval, NaN where there were none."""
    return column_curves(traces, FLOW, _COLUMN)


PLOT = PlotSpec(
    id="hol_blocking",
    title="Head-of-line blocking",
    y_label="Head-of-line blocking",
    unit="ms",
    scale=1e3,
    columns=((FLOW, _COLUMN),),
    curves=curves,
    figures=((FLOW, "mean_hol_blocking_s"),),
    group=CONNECTION,
    needs="an mptcp flow with several paths",
)
