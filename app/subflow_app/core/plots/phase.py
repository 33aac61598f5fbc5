"""Phase plot: round-trip time against congestion window, point by point in the order of time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from subflow_app.core.plots.spec import STATISTICS, Curve, PlotSpec, XAxis, column_curves
from subflow_app.core.traces import SUBFLOW, Traces

_CWND, _RTT = "cwnd_pkts", "srtt_s"
# More points are not a path to the eye but a cloud; every second, third ... one is left out then.
_MOST_POINTS = 4000


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow: smoothed RTT, s, over the congestion window, packets; with the time of each point.

    A window that grows along a flat stretch fills the path; one that climbs fills the queue.
    """
    windows = {curve.owner: curve for curve in column_curves(traces, SUBFLOW, _CWND)}
    made = []
    for rtt in column_curves(traces, SUBFLOW, _RTT):
        if rtt.owner not in windows:
            continue  # of a measurement, which need not have both
        # A live run publishes samples while we read.
        count = min(len(rtt.values), len(windows[rtt.owner].values))
        x, y, time_s = windows[rtt.owner].values[:count], rtt.values[:count], rtt.time_s[:count]
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        kept = known[:: max(1, -(-len(known) // _MOST_POINTS))]
        made.append(replace(rtt, time_s=time_s[kept], values=y[kept], x=x[kept].astype(np.float64)))
    return made


PLOT = PlotSpec(
    id="phase",
    title="RTT against window",
    y_label="Smoothed RTT",
    unit="ms",
    scale=1e3,
    columns=((SUBFLOW, _RTT), (SUBFLOW, _CWND)),
    curves=curves,
    x=XAxis("Congestion window", "packets", 1.0, _CWND),
    is_joined=True,
    from_zero=False,
    needs="a tcp or mptcp flow",
    group=STATISTICS,
)
