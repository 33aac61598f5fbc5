"""Mean goodput of the flows of each controller, of transfers while active, with its interval over the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from subflow_app.features.plots.core.bars import Bar, make_bar, repetitions
from subflow_app.features.plots.core.measured import flow_rates
from subflow_app.features.plots.core.spec import STATISTICS, PlotSpec, no_curves
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces
from subflow_app.vocabulary import palette

_COLUMN = "goodput_bps"


def bars(runs: Sequence[Traces]) -> list[Bar]:
    """A bar per controller and experiment: of each run the mean over the flows that it controls, bit/s of payload."""
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


PLOT = PlotSpec(
    id="controller_bars",
    title="Mean goodput by controller",
    y_label="Mean goodput per flow, of transfers while active",
    unit="Mbit/s",
    scale=1e-6,
    columns=((FLOW, _COLUMN), (SUBFLOW, _COLUMN)),
    curves=no_curves,
    bars=bars,
    needs="a tcp or mptcp flow",
    group=STATISTICS,
)
