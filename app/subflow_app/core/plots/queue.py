"""Queue length of each link direction."""

from __future__ import annotations

from subflow_app.core.plots.spec import Curve, PlotSpec, link_curves
from subflow_app.core.traces import LINK, Traces

_COLUMN = "queue_pkts"


def curves(traces: Traces) -> list[Curve]:
    """One curve per link direction, packets."""
    return link_curves(traces, _COLUMN)


PLOT = PlotSpec(
    id="queue",
    title="Queue",
    y_label="Queue",
    unit="packets",
    scale=1.0,
    columns=((LINK, _COLUMN),),
    curves=curves,
    figures=((LINK, "mean_queue_pkts"),),
)
