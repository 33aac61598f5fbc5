"""Share of a connection's packets that each of its subflows was given."""

from __future__ import annotations

from subflow_app.core.plots.spec import CONNECTION, Curve, PlotSpec, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_COLUMN = "schedule_share"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow of a multipath flow, 0 to 1; NaN where the flow sent nothing."""
    return column_curves(traces, SUBFLOW, _COLUMN)


PLOT = PlotSpec(
    id="schedule_share",
    title="Schedule shares",
    y_label="Share of packets",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    figures=((SUBFLOW, _COLUMN),),
    group=CONNECTION,
    needs="an mptcp flow with several paths",
)
