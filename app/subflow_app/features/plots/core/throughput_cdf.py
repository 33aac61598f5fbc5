"""Distribution of the throughput of each flow."""

from __future__ import annotations

from subflow_app.features.plots.core import throughput
from subflow_app.features.plots.core.spec import STATISTICS, Curve, PlotSpec, XAxis, averaged, distribution
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces

_SECOND = 1.0


def curves(traces: Traces) -> list[Curve]:
    """One curve per flow: the share of seconds after the warm-up, 0 to 1, in which its throughput is at most x bit/s.

    Seconds, because a rate sampled more often than a window is sent jumps between full and empty.
    """
    parts = throughput.curves(traces)
    with_total = {curve.owner for curve in parts if curve.kind == "total"}
    made = []
    for curve in parts:
        if curve.kind == SUBFLOW and curve.owner.partition("/")[0] in with_total:
            continue
        interval_s = float(curve.time_s[0]) if len(curve.time_s) else _SECOND
        made.append(distribution(averaged(curve, max(1, round(_SECOND / interval_s))), traces.warmup_s))
    return made


PLOT = PlotSpec(
    id="throughput_cdf",
    title="Distribution of throughput",
    y_label="Share of seconds",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, "throughput_bps"), (FLOW, "goodput_bps")),
    curves=curves,
    x=XAxis("Throughput", "Mbit/s", 1e-6, "throughput_bps"),
    ceiling=1.0,
    group=STATISTICS,
)
