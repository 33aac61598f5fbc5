"""Queue length of each link direction."""

from __future__ import annotations

from subflow_app.core.palette import link_colour_keys
from subflow_app.core.traces import LINK, Traces, select_keys
from subflow_app.plots.spec import Curve, PlotSpec

_COLUMN = "queue_pkts"


def curves(traces: Traces) -> list[Curve]:
    """One curve per link direction, packets."""
    keys = select_keys(traces, LINK, _COLUMN)
    colours = link_colour_keys(key.owner for key in keys)
    return [Curve(traces.labels[key.owner], key.owner, LINK, colours[key.owner], *traces.read(key)) for key in keys]


PLOT = PlotSpec(
    id="queue",
    title="Queue",
    y_label="Queue",
    unit="packets",
    scale=1.0,
    columns=((LINK, _COLUMN),),
    curves=curves,
)
