"""Slope of the round-trip time within each monitor interval."""

from __future__ import annotations

from subflow_app.core.plots.spec import INTERVALS, Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "interval_rtt_gradient"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow that sends by monitor intervals, s/s; NaN where it had too few samples."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="rtt_gradient",
    title="RTT gradient",
    y_label="RTT gradient",
    unit="ms/s",
    scale=1e3,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    from_zero=False,
    is_signed=True,
    group=INTERVALS,
    needs="a controller that sends by monitor intervals",
)
