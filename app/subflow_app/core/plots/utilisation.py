"""How busy each link direction is."""

from __future__ import annotations

from subflow_app.core.plots.spec import Curve, PlotSpec, link_curves
from subflow_app.core.traces import LINK, Traces

_COLUMN = "utilisation"


def curves(traces: Traces) -> list[Curve]:
    """One curve per link direction, 0 to 1: share of the sampling interval in which it sent."""
    return link_curves(traces, _COLUMN)


PLOT = PlotSpec(
    id="utilisation",
    title="Link utilisation",
    y_label="Utilisation",
    unit="%",
    scale=100.0,
    columns=((LINK, _COLUMN),),
    curves=curves,
    figures=((LINK, _COLUMN),),
    is_rate=True,
    ceiling=1.0,
)
