"""Distribution of the round-trip time of each subflow."""

from __future__ import annotations

from subflow_app.features.plots.core.spec import STATISTICS, Curve, PlotSpec, XAxis, column_curves, distribution
from subflow_app.features.traces.core.traces import SUBFLOW, Traces

_COLUMN = "srtt_s"


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow: the share of samples after the warm-up, 0 to 1, whose smoothed RTT is at most x s."""
    return [distribution(curve, traces.warmup_s) for curve in column_curves(traces, SUBFLOW, _COLUMN)]


PLOT = PlotSpec(
    id="rtt_cdf",
    title="Distribution of RTT",
    y_label="Share of samples",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, _COLUMN),),
    curves=curves,
    x=XAxis("Smoothed RTT", "ms", 1e3, _COLUMN),
    ceiling=1.0,
    needs="a tcp or mptcp flow",
    group=STATISTICS,
)
