"""Jain's fairness index among the flows, over the last seconds of each instant."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.plots.core.spec import FAIRNESS, Curve, PlotSpec, column_curves, trailing_sum, transport_flows
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces
from subflow_app.vocabulary import palette

_COLUMN = "goodput_bps"
WINDOW_S = 5.0
ALL_FLOWS = "all flows"


def curves(traces: Traces) -> list[Curve]:
    """One curve, 1/n to 1; NaN where fewer than two flows are active or nothing arrived.

    The rates that are compared are the goodputs of tcp and mptcp flows over the last 5 s, or since they became active.
    A flow is active from its first byte that arrives until its transfer is complete or all its subflows are closed: one
    that starves counts with nothing.

    Source: Jain, Chiu, Hawe 1984 (DEC-TR-301).
    """
    rates = [curve for curve in column_curves(traces, FLOW, _COLUMN) if curve.owner in transport_flows(traces)]
    # A live run publishes samples while we read.
    count = min((len(curve.values) for curve in rates), default=0)
    colour = palette.ColourKey(palette.TOTAL, 0)
    if len(rates) < 2 or count == 0:
        return [Curve(ALL_FLOWS, ALL_FLOWS, "all", colour, np.empty(0), np.empty(0, np.float32))]
    time_s = rates[0].time_s[:count]
    interval_s = float(time_s[0])
    ends_s = flow_ends_s(traces)
    means, active = np.zeros((len(rates), count)), np.zeros((len(rates), count), np.bool_)
    for row, curve in enumerate(rates):
        values = curve.values[:count]
        is_on = (np.cumsum(values > 0) > 0) & (time_s <= ends_s.get(curve.owner, math.inf) + interval_s)
        samples = trailing_sum(is_on.astype(np.float32), interval_s, WINDOW_S)
        sums = trailing_sum(np.where(is_on, values, 0.0).astype(np.float32), interval_s, WINDOW_S)
        means[row] = np.divide(sums, samples, out=np.zeros(count), where=samples > 0)
        active[row] = is_on
    index = jain_over_time(np.where(active, means, 0.0), active.sum(axis=0))
    return [Curve(ALL_FLOWS, ALL_FLOWS, "all", colour, time_s, index.astype(np.float32))]


def jain_over_time(rates: NDArray[np.float64], flows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Jain's index at each time.

    Args:
        rates: float64 [n_flows, n], each >= 0; zero where a flow does not count.
        flows: int64 [n], how many count.

    Returns:
        float64 [n], 1/flows to 1; NaN where fewer than two count or every rate is zero.
    """
    squares = flows * np.square(rates).sum(axis=0)
    index = np.full(len(flows), np.nan)
    np.divide(np.square(rates.sum(axis=0)), squares, out=index, where=(flows > 1) & (squares > 0))
    return index


def flow_ends_s(traces: Traces) -> dict[str, float]:
    """When flows ended, s, of those that did."""
    subflows = {key.owner for key in traces.keys() if key.scope == SUBFLOW}  # noqa: SIM118 - a sequence
    ends: dict[str, float] = {}
    closed: dict[str, float] = {}
    for mark in traces.marks():
        if mark.kind == "completed":
            ends[mark.owner] = mark.time_s
        elif mark.kind == "closed":
            closed[mark.owner] = mark.time_s
        elif mark.kind == "established":
            # Subflows may be opened again.
            closed.pop(mark.owner, None)
    for flow in {owner.partition("/")[0] for owner in closed}:
        own = {owner for owner in subflows if owner.partition("/")[0] == flow}
        if own <= closed.keys():
            ends.setdefault(flow, max(closed[owner] for owner in own))
    return ends


PLOT = PlotSpec(
    id="jain",
    title="Fairness over time",
    y_label="Jain index, last 5 s",
    unit="",
    scale=1.0,
    columns=((FLOW, _COLUMN),),
    curves=curves,
    figures=(("all", "jain"),),
    ceiling=1.0,
    least_flows=2,
    needs="at least two tcp or mptcp flows, because one flow shares nothing",
    group=FAIRNESS,
)
