"""Plots over time of throughput, packet loss, drops and Jain's fairness index.

Throughput is drawn for each subflow, and as a total for each flow with several subflows. Loss is the share of lost
packets of each subflow in the last second. Drops of a link direction include queue drops, random and scripted losses,
and losses while the link was down. Jain's index compares the goodputs of flows over the last 5 s.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.plots.core.spec import (
    FAIRNESS,
    Curve,
    PlotSpec,
    column_curves,
    trailing_sum,
    transport_colours,
    transport_flows,
)
from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW, Traces
from subflow_app.vocabulary import palette

_THROUGHPUT = "throughput_bps"
_ARRIVALS_COLUMN = "goodput_bps"


def throughput_curves(traces: Traces) -> list[Curve]:
    """Throughput in bit/s of the subflows of each flow, followed by the flow's total if it has several subflows.

    For a cbr or onoff flow, which has no subflows, the curve shows the goodput.
    """
    colours = transport_colours(traces)
    subflows: dict[str, list[Curve]] = {}
    for curve in column_curves(traces, SUBFLOW, _THROUGHPUT):
        subflows.setdefault(curve.owner.partition("/")[0], []).append(curve)
    arrivals = {curve.owner: curve for curve in column_curves(traces, FLOW, _ARRIVALS_COLUMN)}
    drawn: list[Curve] = []
    for flow in dict.fromkeys((*arrivals, *subflows)):
        parts = subflows.get(flow, [])
        drawn.extend(parts)
        if not parts:
            drawn.append(arrivals[flow])
        elif len(parts) > 1:
            # A live run may add samples during the calls above, so the total is only as long as the shortest part.
            count = min(len(part.values) for part in parts)
            total = np.stack([part.values[:count] for part in parts]).sum(axis=0, dtype=np.float32)
            label = f"{traces.labels[flow]} · total"
            drawn.append(Curve(label, flow, "total", colours[flow], parts[0].time_s[:count], total))
    return drawn


THROUGHPUT = PlotSpec(
    id="throughput",
    title="Throughput",
    y_label="Throughput",
    unit="Mbit/s",
    scale=1e-6,
    columns=((SUBFLOW, _THROUGHPUT), (FLOW, _ARRIVALS_COLUMN)),
    curves=throughput_curves,
    figures=((SUBFLOW, _THROUGHPUT), (FLOW, _ARRIVALS_COLUMN)),
    is_rate=True,
)


_LOSSES, _RATE = "losses_pkts", "throughput_bps"
_WINDOW_S = 1.0
# Bytes of headers per packet: the default payload of 1448 bytes gives 1500 bytes on the wire.
_HEADER_BYTES = 52


def loss_curves(traces: Traces) -> list[Curve]:
    """One curve per subflow, 0 to 1: lost / (lost + delivered) in the last second; NaN if both are zero.

    A packet counts when it is lost or delivered, not when it is sent. If a burst of losses follows an idle second, the
    ratio is therefore 1.
    """
    wire_bits = 8 * (traces.mss_bytes + _HEADER_BYTES)
    delivered = {curve.owner: curve for curve in column_curves(traces, SUBFLOW, _RATE)}
    made = []
    for losses in column_curves(traces, SUBFLOW, _LOSSES):
        arrived = delivered.get(losses.owner)
        if arrived is None:
            continue  # a measurement may lack either column
        # In a live run, the column that was read later may have more samples.
        count = min(len(losses.values), len(arrived.values))
        time_s = losses.time_s[:count]
        interval_s = float(time_s[0]) if count else _WINDOW_S
        lost_pkts = trailing_sum(losses.values[:count], interval_s, _WINDOW_S)
        arrived_pkts = trailing_sum(arrived.values[:count], interval_s, _WINDOW_S) * interval_s / wire_bits
        known = lost_pkts + arrived_pkts
        share = np.divide(lost_pkts, known, out=np.full(count, np.nan), where=known > 0)
        made.append(replace(losses, time_s=time_s, values=share.astype(np.float32)))
    return made


LOSS = PlotSpec(
    id="loss_ratio",
    title="Loss ratio",
    y_label="Lost in the last second",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, _LOSSES), (SUBFLOW, _RATE)),
    curves=loss_curves,
    is_joined=True,
    figures=((SUBFLOW, "loss_ratio"),),
    needs="a tcp or mptcp flow",
)


_DROPPED = "drops_pkts"


def drop_curves(traces: Traces) -> list[Curve]:
    """One curve per link direction, packets/s: mean over the sampling interval that ends at each sample."""
    return [_per_second(curve) for curve in column_curves(traces, LINK, _DROPPED)]


def _per_second(curve: Curve) -> Curve:
    # Samples are at whole multiples of the interval, so the first time equals the interval.
    interval_s = float(curve.time_s[0]) if len(curve.time_s) else 1.0
    return replace(curve, values=(curve.values / interval_s).astype(np.float32))


DROPS = PlotSpec(
    id="drops",
    title="Drops",
    y_label="Drops",
    unit="packets/s",
    scale=1.0,
    columns=((LINK, _DROPPED),),
    curves=drop_curves,
    is_rate=True,
)


_ACKED = "goodput_bps"
WINDOW_S = 5.0
ALL_FLOWS = "all flows"


def jain_curves(traces: Traces) -> list[Curve]:
    """One curve of Jain's index, 1/n to 1 for n active flows; NaN for fewer than two, or if all goodputs are zero.

    The index compares the goodputs of tcp and mptcp flows over the last 5 s, or since their start. A flow is active
    from the arrival of its first byte until its transfer is complete or all its subflows are closed. A starving flow
    counts as zero.

    Source: Jain, Chiu, Hawe 1984 (DEC-TR-301).
    """
    rates = [curve for curve in column_curves(traces, FLOW, _ACKED) if curve.owner in transport_flows(traces)]
    # In a live run, curves that were read later may have more samples.
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
        rates: float64 [n_flows, n], each >= 0; zero for a flow that does not count.
        flows: int64 [n], number of flows that count.

    Returns:
        float64 [n], 1/flows to 1; NaN if fewer than two flows count or every rate is zero.
    """
    squares = flows * np.square(rates).sum(axis=0)
    index = np.full(len(flows), np.nan)
    np.divide(np.square(rates.sum(axis=0)), squares, out=index, where=(flows > 1) & (squares > 0))
    return index


def flow_ends_s(traces: Traces) -> dict[str, float]:
    """End of each flow that has ended, s: the completion of its transfer, or else the closing of its last subflow."""
    subflows = {key.owner for key in traces.keys() if key.scope == SUBFLOW}  # noqa: SIM118 - a sequence
    ends: dict[str, float] = {}
    closed: dict[str, float] = {}
    for mark in traces.marks():
        if mark.kind == "completed":
            ends[mark.owner] = mark.time_s
        elif mark.kind == "closed":
            closed[mark.owner] = mark.time_s
        elif mark.kind == "established":
            # A closed subflow may be opened again.
            closed.pop(mark.owner, None)
    for flow in {owner.partition("/")[0] for owner in closed}:
        own = {owner for owner in subflows if owner.partition("/")[0] == flow}
        if own <= closed.keys():
            ends.setdefault(flow, max(closed[owner] for owner in own))
    return ends


JAIN = PlotSpec(
    id="jain",
    title="Fairness over time",
    y_label="Jain index, last 5 s",
    unit="",
    scale=1.0,
    columns=((FLOW, _ACKED),),
    curves=jain_curves,
    figures=(("all", "jain"),),
    ceiling=1.0,
    least_flows=2,
    needs="at least two tcp or mptcp flows, because one flow shares nothing",
    group=FAIRNESS,
)
