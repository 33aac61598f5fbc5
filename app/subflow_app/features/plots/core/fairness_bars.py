"""Jain's fairness index of each experiment: its mean over the runs, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subflow_app.features.plots.core.bars import Bar, make_bar, repetitions
from subflow_app.features.plots.core.jain import jain_over_time
from subflow_app.features.plots.core.spec import FAIRNESS, PlotSpec, mean_rates, no_curves, transport_flows
from subflow_app.features.traces.core.traces import FLOW, Traces
from subflow_app.vocabulary import palette

_COLUMN = "goodput_bps"


def run_index(traces: Traces) -> float:
    """Jain's index of the goodputs while active of the tcp and mptcp flows; NaN while nothing arrived.

    While a run goes on it is that of the mean goodputs from the end of the warm-up to now.
    """
    if traces.row is not None and traces.row.jain is not None:
        return traces.row.jain
    means = mean_rates(traces, _COLUMN)
    rates = np.array([means[flow] for flow in transport_flows(traces) if flow in means])
    return float(jain_over_time(rates[:, np.newaxis], np.array([len(rates)]))[0])


def bars(runs: Sequence[Traces]) -> list[Bar]:
    """A bar per experiment, 1/n to 1."""
    groups = [group for group in repetitions(runs) if PLOT.reads(group.runs[0])]
    made = []
    for rank, group in enumerate(groups):
        values = [run_index(traces) for traces in group.runs]
        made.append(make_bar(group.title, group.title, palette.ColourKey(rank, 0), group, values, kind="run"))
    return made


PLOT = PlotSpec(
    id="fairness_bars",
    title="Fairness",
    y_label="Jain index of goodputs",
    unit="",
    scale=1.0,
    columns=((FLOW, _COLUMN),),
    curves=no_curves,
    bars=bars,
    ceiling=1.0,
    least_flows=2,
    needs="at least two tcp or mptcp flows, because one flow shares nothing",
    group=FAIRNESS,
)
