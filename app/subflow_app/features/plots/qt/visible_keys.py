"""Which traces are behind the curves that are visible; free of pyqtgraph, because the view exists before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subflow_app.features.plots.core import PlotSpec
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.traces.core.traces import SeriesKey, Traces

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_stack import PlotStack


def visible_keys(
    stacks: Sequence[PlotStack], specs: Sequence[PlotSpec], runs: Sequence[Traces], hidden: frozenset[CurveId]
) -> list[list[SeriesKey]]:
    """Per run, the traces behind the lines that are not hidden, also those that a median or a mean stands for."""
    visible = {behind for stack in stacks for key in stack.curves if key not in hidden for behind in stack.behind(key)}
    # The total of a flow is made of its subflows, so their traces are the data behind it.
    return [
        [key for spec in specs for key in spec.series(traces) if (run, key.owner) in visible]
        for run, traces in enumerate(runs)
    ]
