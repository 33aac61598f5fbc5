"""Throughput of each subflow, and the total of each flow that has more than one."""

from __future__ import annotations

import numpy as np

from subflow_app.features.plots.core.spec import Curve, PlotSpec, column_curves, transport_colours
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces

_COLUMN = "throughput_bps"
_ARRIVALS_COLUMN = "goodput_bps"


def curves(traces: Traces) -> list[Curve]:
    """Flow by flow: its subflows, then their total (a flow with one subflow is its own total), bit/s.

    A cbr or onoff flow has no subflows; its curve is what arrives.
    """
    colours = transport_colours(traces)
    subflows: dict[str, list[Curve]] = {}
    for curve in column_curves(traces, SUBFLOW, _COLUMN):
        subflows.setdefault(curve.owner.partition("/")[0], []).append(curve)
    arrivals = {curve.owner: curve for curve in column_curves(traces, FLOW, _ARRIVALS_COLUMN)}
    drawn: list[Curve] = []
    for flow in dict.fromkeys((*arrivals, *subflows)):
        parts = subflows.get(flow, [])
        drawn.extend(parts)
        if not parts:
            drawn.append(arrivals[flow])
        elif len(parts) > 1:
            # A live run publishes samples while we read: the total is as long as the shortest part.
            count = min(len(part.values) for part in parts)
            total = np.stack([part.values[:count] for part in parts]).sum(axis=0, dtype=np.float32)
            label = f"{traces.labels[flow]} · total"
            drawn.append(Curve(label, flow, "total", colours[flow], parts[0].time_s[:count], total))
    return drawn


PLOT = PlotSpec(
    id="throughput",
    title="Throughput",
    y_label="Throughput",
    unit="Mbit/s",
    scale=1e-6,
    columns=((SUBFLOW, _COLUMN), (FLOW, _ARRIVALS_COLUMN)),
    curves=curves,
    figures=((SUBFLOW, _COLUMN), (FLOW, _ARRIVALS_COLUMN)),
    is_rate=True,
)
