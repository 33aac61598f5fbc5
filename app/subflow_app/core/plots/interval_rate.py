"""Rate that the controller asked for in each monitor interval."""

from __future__ import annotations

from subflow_app.core.plots.spec import INTERVALS, Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "interval_rate_bps"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow that sends by monitor intervals, bit/s on the wire; NaN before its first."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="interval_rate",
    title="Interval rate",
    y_label="Rate of monitor interval",
    unit="Mbit/s",
    scale=1e-6,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    group=INTERVALS,
    needs="a controller that sends by monitor intervals",
)
