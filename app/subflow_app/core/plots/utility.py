"""Utility that the controller found each monitor interval to have."""

from __future__ import annotations

from subflow_app.core.plots.spec import INTERVALS, Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "utility"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow that sends by monitor intervals, in the controller's own unit."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="utility",
    title="Utility",
    y_label="Utility",
    unit="",
    scale=1.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    from_zero=False,
    is_signed=True,
    group=INTERVALS,
    needs="a controller that sends by monitor intervals",
)
