"""Bar plots of goodput, fairness and convergence, and the means of curves that tables show.

Goodput and Jain's fairness index are means over runs, with intervals. The goodput of a transfer is measured while the
transfer is active. Convergence is the time until a flow reaches its final share.

Means of curves cover the measured interval. If the summary contains the same value with more exact digits, the value of
the summary is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.history.core.run_columns import RunColumn, Value, column
from subflow_app.features.plots.core.bars import Bar, flow_bars, make_bar, repetitions
from subflow_app.features.plots.core.curve_plots import jain_over_time
from subflow_app.features.plots.core.spec import (
    FAIRNESS,
    STATISTICS,
    Curve,
    PlotSpec,
    averaged,
    column_curves,
    mean_rates,
    measured_mean,
    no_curves,
    transport_colours,
    transport_flows,
)
from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW, Traces
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.measures import rate_measure
from subflow_app.vocabulary.number_text import finite
from subflow_app.vocabulary.palette import trace_owner, written

_COLUMN = "goodput_bps"


def run_index(traces: Traces) -> float:
    """Jain's index of the goodputs of tcp and mptcp flows while active, as stored with the run.

    If the run has no stored index, e.g. because it is still running, the index compares the mean goodputs since the end
    of the warm-up. NaN for fewer than two flows, or if all goodputs are zero.
    """
    if traces.row is not None and traces.row.jain is not None:
        return traces.row.jain
    means = mean_rates(traces, _COLUMN)
    rates = np.array([means[flow] for flow in transport_flows(traces) if flow in means])
    return float(jain_over_time(rates[:, np.newaxis], np.array([len(rates)]))[0])


def fairness_bars(runs: Sequence[Traces]) -> list[Bar]:
    """One bar of Jain's index per experiment, from 1/n to 1 for n flows."""
    groups = [group for group in repetitions(runs) if FAIRNESS_BARS.reads(group.runs[0])]
    made = []
    for rank, group in enumerate(groups):
        values = [run_index(traces) for traces in group.runs]
        made.append(make_bar(group.title, group.title, palette.ColourKey(rank, 0), group, values, kind="run"))
    return made


FAIRNESS_BARS = PlotSpec(
    id="fairness_bars",
    title="Fairness",
    y_label="Jain index of goodputs",
    unit="",
    scale=1.0,
    columns=((FLOW, _COLUMN),),
    curves=no_curves,
    bars=fairness_bars,
    ceiling=1.0,
    least_flows=2,
    needs="at least two tcp or mptcp flows, because one flow shares nothing",
    group=FAIRNESS,
)


_BAND = 0.25
_STAYS = 5  # seconds that the rate must stay within the band
_SHARE = 4  # the final share is the mean over the last quarter of the flow's life


def convergence_bars(runs: Sequence[Traces]) -> list[Bar]:
    """One bar per flow and experiment: convergence time in s from the first byte that arrives."""
    return flow_bars(runs, transport_colours, convergence_times, note=translatable("not converged"))


def convergence_times(traces: Traces) -> Mapping[str, float]:
    """Convergence time of each tcp or mptcp flow, s from the arrival of its first byte; NaN for unconverged flows."""
    wanted = transport_flows(traces)
    times: dict[str, float] = {}
    for curve in column_curves(traces, FLOW, _COLUMN):
        if curve.owner in wanted:
            interval_s = float(curve.time_s[0]) if len(curve.time_s) else 1.0
            seconds = averaged(curve, max(1, round(1.0 / interval_s)))
            times[curve.owner] = convergence_time(seconds.values)
    return times


def convergence_time(rates: NDArray[np.float32]) -> float:
    """Seconds until a rate has converged, from its first second above zero.

    The time is the earliest t such that the rate in each second from t to t + 5 s is within 25 % of the final share.

    DEVIATION: the source uses the ideal equal rate as the final share. With several paths, that rate depends on the
    goal of the controllers. This function therefore compares each flow with its mean rate in the last quarter of its
    life.

    Args:
        rates: float32 [n], mean rate in each second.

    Returns:
        s; NaN for a rate that does not converge, or is active for less than 10 s.

    Source: Dong et al. 2015, PCC (NSDI), section 4.2.2, "forward-looking" convergence time.
    """
    known = np.nan_to_num(rates.astype(np.float64), posinf=0.0, neginf=0.0)
    alive = np.flatnonzero(known > 0)
    if len(alive) == 0 or alive[-1] - alive[0] + 1 < 2 * _STAYS:
        return math.nan
    life = known[alive[0] : alive[-1] + 1]
    share = life[-(len(life) // _SHARE) :].mean()
    is_near = np.abs(life - share) <= _BAND * share
    stays = np.lib.stride_tricks.sliding_window_view(is_near, _STAYS).all(axis=1)
    first = np.flatnonzero(stays)
    return float(first[0]) if len(first) else math.nan


CONVERGENCE = PlotSpec(
    id="convergence",
    title="Convergence time",
    y_label="Time to ±25 % of final share",
    unit="s",
    scale=1.0,
    columns=((FLOW, _COLUMN),),
    curves=no_curves,
    bars=convergence_bars,
    needs="a tcp or mptcp flow",
    group=FAIRNESS,
)


_TOTAL = "total"
_ROUNDING = 1e-5  # relative rounding error of float32 samples and of their mean


def measured_value(spec: PlotSpec, curve: Curve, figures: Mapping[str, Value], warmup_s: float) -> float:
    """Time-weighted mean of a curve over the measured interval, SI; NaN for a curve without samples.

    Gaps do not count. If the mean of a rate equals the value in the summary apart from rounding, the function returns
    the value in the summary, which is more exact. For states, the summary contains different means: it averages the
    congestion window while the subflow is established, and the RTT over packets.

    Args:
        spec: plot of the curve.
        curve: the whole curve over time.
        figures: results of the run, as returned by `run_figures`; empty for a run without a summary.
        warmup_s: end of the warm-up on the time axis of the curve, s.
    """
    mean = measured_mean(curve, warmup_s)
    stated = _told(spec, curve, figures) if spec.is_rate else math.nan
    return stated if math.isclose(stated, mean, rel_tol=_ROUNDING, abs_tol=_ROUNDING) else mean


def _told(spec: PlotSpec, curve: Curve, figures: Mapping[str, Value]) -> float:
    names = dict(spec.figures)
    if curve.kind == _TOTAL and "subflow" in names:
        # The summary contains only the values of subflows, whose sum is the total.
        parts = list(_parts(figures, curve.owner, names["subflow"]))
        return math.fsum(parts) if parts else math.nan
    value = figures.get(_key(curve, names[curve.kind])) if curve.kind in names else None
    return float(value) if isinstance(value, int | float) else math.nan


def flow_rates(traces: Traces) -> dict[str, float]:
    """Payload rate of each flow for comparisons, bit/s.

    The rate of a transfer is its goodput while active, and the rate of any other flow is its goodput after the warm-up.
    In a running simulation, rates are means since the end of the warm-up, and NaN before the first sample.
    """
    rates = mean_rates(traces, "goodput_bps")
    for flow in (traces.row.summary or {}).get("flows", ()) if traces.row is not None else ():
        rate = finite(flow.get(rate_measure(flow).key))
        owner = trace_owner(FLOW, str(flow.get("name")))
        if rate is not None and owner in rates:
            rates[owner] = rate
    return rates


def figure_column(spec: PlotSpec) -> RunColumn | None:
    """Column of the list of runs that shows the mean of this plot in the same unit; None if no column does."""
    if not spec.figures:
        return None
    shown = column(spec.figures[0][1])
    return shown if shown.scale == spec.scale else None


def _key(curve: Curve, figure: str) -> str:
    if curve.kind == "all":
        return figure
    return f"{'links' if curve.kind == LINK else 'flows'}.{written(curve.owner)}.{figure}"


def _parts(figures: Mapping[str, Value], flow: str, figure: str) -> Iterator[float]:
    """The value of each subflow of a flow, in the order of subflow numbers, which start at 1."""
    for number in count(1):
        value = figures.get(f"flows.{written(flow)}/{number}.{figure}")
        if not isinstance(value, int | float):
            return
        yield value


def goodput_bars(runs: Sequence[Traces]) -> list[Bar]:
    """One bar per flow and experiment: payload rate in bit/s, while active for a transfer, else after the warm-up."""
    return flow_bars(runs, transport_colours, flow_rates, note=translatable("no samples"))


GOODPUT_BARS = PlotSpec(
    id="goodput_bars",
    title="Mean goodput",
    y_label="Mean goodput, of transfers while active",
    unit="Mbit/s",
    scale=1e-6,
    columns=((FLOW, _COLUMN),),
    curves=no_curves,
    bars=goodput_bars,
    group=STATISTICS,
)


def controller_bars(runs: Sequence[Traces]) -> list[Bar]:
    """One bar per controller and experiment: payload rate in bit/s, averaged over the flows of the controller."""
    names = dict.fromkeys(name for traces in runs for name in traces.controllers.values())
    groups = repetitions(runs)
    made = []
    for rank, name in enumerate(names):
        for group in groups:
            values = [_mean(traces, name) for traces in group.runs if name in traces.controllers.values()]
            if values:
                made.append(make_bar(name, name, palette.ColourKey(rank, 0), group, values, kind="controller"))
    return made


def _mean(traces: Traces, controller: str) -> float:
    means = flow_rates(traces)
    own = [means[flow] for flow, name in traces.controllers.items() if name == controller and flow in means]
    return fmean(own) if own else math.nan


CONTROLLER_BARS = PlotSpec(
    id="controller_bars",
    title="Mean goodput by controller",
    y_label="Mean goodput per flow, of transfers while active",
    unit="Mbit/s",
    scale=1e-6,
    columns=((FLOW, _COLUMN), (SUBFLOW, _COLUMN)),
    curves=no_curves,
    bars=controller_bars,
    needs="a tcp or mptcp flow",
    group=STATISTICS,
)
