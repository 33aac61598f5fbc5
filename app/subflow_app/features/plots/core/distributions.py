"""Distributions of flow throughput and of subflow round-trip time, and the phase plot of each subflow.

The phase plot shows round-trip time against congestion window, and connects the points in the order of time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.plots.core import curve_plots
from subflow_app.features.plots.core.spec import (
    STATISTICS,
    Curve,
    PlotSpec,
    XAxis,
    averaged,
    column_curves,
    distribution,
)
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces

_SECOND = 1.0


def throughput_distribution(traces: Traces) -> list[Curve]:
    """One curve per flow: share of seconds after the warm-up, 0 to 1, with a throughput of at most x bit/s.

    The curve counts seconds instead of samples, because a rate sampled several times per RTT alternates between zero
    and the link rate.
    """
    parts = curve_plots.throughput_curves(traces)
    with_total = {curve.owner for curve in parts if curve.kind == "total"}
    made = []
    for curve in parts:
        if curve.kind == SUBFLOW and curve.owner.partition("/")[0] in with_total:
            continue
        interval_s = float(curve.time_s[0]) if len(curve.time_s) else _SECOND
        made.append(distribution(averaged(curve, max(1, round(_SECOND / interval_s))), traces.warmup_s))
    return made


THROUGHPUT_CDF = PlotSpec(
    id="throughput_cdf",
    title="Distribution of throughput",
    y_label="Share of seconds",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, "throughput_bps"), (FLOW, "goodput_bps")),
    curves=throughput_distribution,
    x=XAxis("Throughput", "Mbit/s", 1e-6, "throughput_bps"),
    ceiling=1.0,
    group=STATISTICS,
)


_COLUMN = "srtt_s"


def rtt_distribution(traces: Traces) -> list[Curve]:
    """One curve per subflow: share of samples after the warm-up, 0 to 1, with a smoothed RTT of at most x s."""
    return [distribution(curve, traces.warmup_s) for curve in column_curves(traces, SUBFLOW, _COLUMN)]


RTT_CDF = PlotSpec(
    id="rtt_cdf",
    title="Distribution of RTT",
    y_label="Share of samples",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=rtt_distribution,
    x=XAxis("Smoothed RTT", "ms", 1e3, _COLUMN),
    ceiling=1.0,
    needs="a tcp or mptcp flow",
    group=STATISTICS,
)


_CWND, _RTT = "cwnd_pkts", "srtt_s"
# Longer curves are thinned out evenly, because more points would look like a cloud instead of a line.
_MOST_POINTS = 4000


def phase_curves(traces: Traces) -> list[Curve]:
    """One curve per subflow: smoothed RTT in s over the congestion window in packets, with the time of each point.

    NaN interrupts the curve at gaps. While the window grows at constant RTT, it fills the pipe; once the RTT rises with
    it, it fills the queue.
    """
    windows = {curve.owner: curve for curve in column_curves(traces, SUBFLOW, _CWND)}
    made = []
    for rtt in column_curves(traces, SUBFLOW, _RTT):
        if rtt.owner not in windows:
            continue  # a measurement may lack either column
        # In a live run, the column that was read later may have more samples.
        count = min(len(rtt.values), len(windows[rtt.owner].values))
        x, y, time_s = windows[rtt.owner].values[:count], rtt.values[:count], rtt.time_s[:count]
        kept = _kept(np.isfinite(x) & np.isfinite(y))
        made.append(replace(rtt, time_s=time_s[kept], values=y[kept], x=x[kept].astype(np.float64)))
    return made


def _kept(is_known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Indices of the points to draw, and of the first NaN of each gap between them, which interrupts the curve."""
    known = np.flatnonzero(is_known)
    gaps = np.flatnonzero(is_known[:-1] & ~is_known[1:]) + 1
    kept = known[:: max(1, -(-len(known) // _MOST_POINTS))]
    return np.sort(np.concatenate([kept, gaps[gaps < kept.max(initial=0)]]))


PHASE = PlotSpec(
    id="phase",
    title="RTT against window",
    y_label="Smoothed RTT",
    unit="ms",
    scale=1e3,
    columns=((SUBFLOW, _RTT), (SUBFLOW, _CWND)),
    curves=phase_curves,
    x=XAxis("Congestion window", "packets", 1.0, _CWND),
    is_joined=True,
    from_zero=False,
    needs="a tcp or mptcp flow",
    group=STATISTICS,
)
