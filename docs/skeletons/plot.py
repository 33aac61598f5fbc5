"""Queueing delay of each subflow: its round-trip time minus the smallest. Save beside the other plots."""

from __future__ import annotations

from dataclasses import replace

from subflow_app.features.plots.core.spec import Curve, PlotSpec, column_curves
from subflow_app.features.traces.core.traces import SUBFLOW, Traces

_RTT, _LEAST = "srtt_s", "min_rtt_s"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow, s; NaN before the first sample."""
    least = {curve.owner: curve for curve in column_curves(traces, SUBFLOW, _LEAST)}
    made = []
    for curve in column_curves(traces, SUBFLOW, _RTT):
        below = least[curve.owner].values
        count = min(len(curve.values), len(below))  # a live run publishes samples while we read
        made.append(replace(curve, time_s=curve.time_s[:count], values=curve.values[:count] - below[:count]))
    return made


PLOT = PlotSpec(
    id="queueing_delay",
    title="Queueing delay",
    y_label="RTT above the smallest",
    unit="ms",
    scale=1e3,
    columns=((SUBFLOW, _RTT), (SUBFLOW, _LEAST)),
    curves=curves,
    needs="a tcp or mptcp flow",
)
