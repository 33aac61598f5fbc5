"""How long each flow takes to reach the share that it ends up with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.plots.core.bars import Bar, flow_bars
from subflow_app.features.plots.core.spec import (
    FAIRNESS,
    PlotSpec,
    averaged,
    column_curves,
    no_curves,
    transport_colours,
    transport_flows,
)
from subflow_app.features.traces.core.traces import FLOW, Traces
from subflow_app.vocabulary.language import translatable

_COLUMN = "goodput_bps"
_BAND = 0.25
_STAYS = 5  # seconds
_SHARE = 4  # the share is the mean of the last quarter of its life


def bars(runs: Sequence[Traces]) -> list[Bar]:
    """A bar per flow and experiment: s from its first byte that arrives."""
    return flow_bars(runs, transport_colours, convergence_times, note=translatable("not converged"))


def convergence_times(traces: Traces) -> Mapping[str, float]:
    """By tcp or mptcp flow, seconds from its first byte until it has converged; NaN if it does not."""
    wanted = transport_flows(traces)
    times: dict[str, float] = {}
    for curve in column_curves(traces, FLOW, _COLUMN):
        if curve.owner in wanted:
            interval_s = float(curve.time_s[0]) if len(curve.time_s) else 1.0
            seconds = averaged(curve, max(1, round(1.0 / interval_s)))
            times[curve.owner] = convergence_time(seconds.values)
    return times


def convergence_time(rates: NDArray[np.float32]) -> float:
    """Seconds until a rate has converged, from its first second that is not zero.

    The earliest t such that the rate in each second from t to t + 5 s is within 25 % of the share.

    DEVIATION: the source takes the ideal equal rate as the share. In a topology of several paths that depends on the
    goal of the controllers, so each flow is compared with what it has in the last quarter of its own life.

    Args:
        rates: float32 [n], mean rate in each second.

    Returns:
        s; NaN for a rate that does not converge, or lives for less than 10 s.

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


PLOT = PlotSpec(
    id="convergence",
    title="Convergence time",
    y_label="Time to ±25 % of final share",
    unit="s",
    scale=1.0,
    columns=((FLOW, _COLUMN),),
    curves=no_curves,
    bars=bars,
    needs="a tcp or mptcp flow",
    group=FAIRNESS,
)
