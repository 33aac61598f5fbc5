"""Packets that each link direction dropped: queue overflow, random loss, and while the link was down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from subflow_app.features.plots.core.spec import Curve, PlotSpec, column_curves
from subflow_app.features.traces.core.traces import LINK, Traces

_COLUMN = "drops_pkts"


def curves(traces: Traces) -> list[Curve]:
    """One curve per link direction, packets/s: mean over the sampling interval that ends there."""
    return [_per_second(curve) for curve in column_curves(traces, LINK, _COLUMN)]


def _per_second(curve: Curve) -> Curve:
    # Samples stand at whole multiples of the interval, so that the time of the first is the interval.
    interval_s = float(curve.time_s[0]) if len(curve.time_s) else 1.0
    return replace(curve, values=(curve.values / interval_s).astype(np.float32))


PLOT = PlotSpec(
    id="drops",
    title="Drops",
    y_label="Drops",
    unit="packets/s",
    scale=1.0,
    columns=((LINK, _COLUMN),),
    curves=curves,
    is_rate=True,
)
