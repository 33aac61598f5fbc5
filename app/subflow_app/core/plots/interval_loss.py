"""Loss that the packets of each monitor interval met."""

from __future__ import annotations

from subflow_app.core.plots.spec import INTERVALS, Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "interval_loss_ratio"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow that sends by monitor intervals, 0 to 1; NaN before its first."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="interval_loss",
    title="Interval loss",
    y_label="Loss in monitor interval",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    group=INTERVALS,
    needs="a controller that sends by monitor intervals",
)
