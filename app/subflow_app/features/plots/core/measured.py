"""Means of curves over the measured interval, with the digits of the summary where both are the same number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import count

from subflow_app.features.history.core.run_columns import RunColumn, Value, column
from subflow_app.features.plots.core.spec import Curve, PlotSpec, mean_rates, measured_mean
from subflow_app.features.traces.core.traces import FLOW, LINK, Traces
from subflow_app.vocabulary.measures import rate_measure
from subflow_app.vocabulary.number_text import finite
from subflow_app.vocabulary.owners import trace_owner, written

_TOTAL = "total"
_ROUNDING = 1e-5  # of samples, which are float32, and of their mean


def measured_value(spec: PlotSpec, curve: Curve, figures: Mapping[str, Value], warmup_s: float) -> float:
    """The mean of a curve over the measured interval, weighted by time, without gaps; SI, NaN for no samples.

    The samples of a rate are means themselves. Their mean is the number that the summary has, but for the rounding of
    the samples, so that the summary's number stands for it with all its digits. A summary has other means of a state
    (of cwnd over the time established, of the RTT over packets): those are not the mean of the curve.

    Args:
        spec: plot of the curve.
        curve: whole, over time.
        figures: of the run, as `run_figures` has them; empty where it has no summary.
        warmup_s: where the warm-up ends on the curve's time, s.
    """
    mean = measured_mean(curve, warmup_s)
    told = _told(spec, curve, figures) if spec.is_rate else math.nan
    return told if math.isclose(told, mean, rel_tol=_ROUNDING, abs_tol=_ROUNDING) else mean


def _told(spec: PlotSpec, curve: Curve, figures: Mapping[str, Value]) -> float:
    names = dict(spec.figures)
    if curve.kind == _TOTAL and "subflow" in names:
        # The summary has the parts: their sum agrees with each of them.
        parts = list(_parts(figures, curve.owner, names["subflow"]))
        return math.fsum(parts) if parts else math.nan
    value = figures.get(_key(curve, names[curve.kind])) if curve.kind in names else None
    return float(value) if isinstance(value, int | float) else math.nan


def flow_rates(traces: Traces) -> dict[str, float]:
    """The rates by which flows are compared, by flow, bit/s of payload: of transfers while active, else goodputs.

    While a run goes on they are means from the end of the warm-up to now; NaN before the first sample.
    """
    rates = mean_rates(traces, "goodput_bps")
    for flow in (traces.row.summary or {}).get("flows", ()) if traces.row is not None else ():
        rate = finite(flow.get(rate_measure(flow).key))
        owner = trace_owner(FLOW, str(flow.get("name")))
        if rate is not None and owner in rates:
            rates[owner] = rate
    return rates


def figure_column(spec: PlotSpec) -> RunColumn | None:
    """How the list of runs shows the means of this plot's curves; None if no summary has them, or in other units."""
    if not spec.figures:
        return None
    shown = column(spec.figures[0][1])
    return shown if shown.scale == spec.scale else None


def _key(curve: Curve, figure: str) -> str:
    if curve.kind == "all":
        return figure
    return f"{'links' if curve.kind == LINK else 'flows'}.{written(curve.owner)}.{figure}"


def _parts(figures: Mapping[str, Value], flow: str, figure: str) -> Iterator[float]:
    """The figure of each subflow of a flow; they are numbered from 1."""
    for number in count(1):
        value = figures.get(f"flows.{written(flow)}/{number}.{figure}")
        if not isinstance(value, int | float):
            return
        yield value
