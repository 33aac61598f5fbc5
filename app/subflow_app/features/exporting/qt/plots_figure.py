"""The figure of the plots in the window: visible curves, time range, and manual value ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.features.paper.core.figure_plan import FigurePlan, plot_data
from subflow_app.features.plots.core import TIME
from subflow_app.features.plots.qt.curve_id import short_run_names

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_stack import PlotStack
    from subflow_app.features.plots.qt.stacked_plot import StackedPlot


def shown_plan(shown: PlotStack, *, has_all: bool = False) -> FigurePlan:
    """The content of the plots in the window: visible curves, time range, and manual value ranges.

    Args:
        shown: the plots.
        has_all: whether the plan includes marks, columns of runs and short names of runs.
    """
    by_spec = shown.plots_by_spec()
    if has_all:
        by_spec = [(spec, [plot]) for spec, plots in by_spec for plot in plots]
    plots = tuple(
        plot_data(
            spec,
            [curve for plot in plots for curve in plot.shown_curves()],
            [bar for plot in plots for bar in plot.shown_bars()],
            value_range=_value_range(plots[0], is_log=shown.is_log),
            bin_s=shown.bin_s(spec),
            ticks=shown.ticks(plots[0]) if has_all else (),
            column=shown.column_title(plots[0]) if has_all else "",
        )
        for spec, plots in by_spec
    )
    low_s, high_s = shown.time_range
    # The window can show empty time before the start and after the end of a run.
    end_s = max((run.duration_s for run in shown.runs), default=high_s)
    plan = FigurePlan(plots, (max(0.0, low_s), min(end_s, high_s)), is_log=shown.is_log)
    return plan.with_run_names(short_run_names(curve for plot in plots for curve in plot.curves) if has_all else {})


def _value_range(plot: StackedPlot, *, is_log: bool) -> tuple[float, float] | None:
    if plot.spec.kind != TIME or plot.view.is_fitting_values:
        return None
    low, high = plot.view.viewRange()[1]
    # On logarithmic axes, pyqtgraph gives ranges as exponents.
    return (10.0**low, 10.0**high) if is_log else (float(low), float(high))
