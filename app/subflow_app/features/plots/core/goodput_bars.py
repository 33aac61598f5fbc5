"""Mean goodput of each flow, that of transfers while active, with its interval over the runs."""

from __future__ import annotations

from collections.abc import Sequence

from subflow_app.features.plots.core.bars import Bar, flow_bars
from subflow_app.features.plots.core.measured import flow_rates
from subflow_app.features.plots.core.spec import STATISTICS, PlotSpec, no_curves, transport_colours
from subflow_app.features.traces.core.traces import FLOW, Traces
from subflow_app.vocabulary.language import translatable

_COLUMN = "goodput_bps"


def bars(runs: Sequence[Traces]) -> list[Bar]:
    """A bar per flow and experiment, bit/s of payload after the warm-up."""
    return flow_bars(runs, transport_colours, flow_rates, note=translatable("no samples"))


PLOT = PlotSpec(
    id="goodput_bars",
    title="Mean goodput",
    y_label="Mean goodput, of transfers while active",
    unit="Mbit/s",
    scale=1e-6,
    columns=((FLOW, _COLUMN),),
    curves=no_curves,
    bars=bars,
    group=STATISTICS,
)
