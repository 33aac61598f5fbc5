"""Where the dialog of figures has them from: the plots of the window, and the process that draws for paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from subflow_app.features.paper.core.figure_choice import AS_SHOWN, FigureChoice
from subflow_app.features.paper.core.figure_plan import FigurePlan, plot_data
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.plots.core import TIME
from subflow_app.toolkit.workers import Workers

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_stack import PlotStack
    from subflow_app.features.plots.qt.stacked_plot import StackedPlot


class FigureSource(QObject):
    """Figures of what a stack of plots shows at the moment at which this is made."""

    def __init__(self, shown: PlotStack, workers: Workers, process: FigureProcess, parent: QObject) -> None:
        """Draws in ``process``, in tasks of ``workers``; figures as shown are drawn here, with widgets."""
        super().__init__(parent)
        self._shown = shown
        self.workers = workers
        self._process = process
        self.plan = shown_plan(shown)

    def as_shown(self, choice: FigureChoice) -> bytes:
        """The figure as the window shows it; on the GUI thread, because it is drawn with widgets.

        Raises:
            InputError: if nothing is shown.
        """
        from subflow_app.features.plots.qt.figure import figure_content
        from subflow_app.features.plots.qt.figure_file import FigureSize

        assert choice.style == AS_SHOWN
        size = FigureSize(choice.width_mm, choice.height_mm, choice.dpi)
        return figure_content(self._shown, choice.kind, size)

    def draw(self, plan: FigurePlan) -> bytes:
        """Has a figure drawn, which takes a moment."""
        return self._process.draw(plan)


def shown_plan(shown: PlotStack) -> FigurePlan:
    """What the plots of the window show: the visible curves, the range of time, and of values where it was set."""
    plots = tuple(
        plot_data(
            spec,
            [curve for plot in plots for curve in plot.shown_curves()],
            [bar for plot in plots for bar in plot.shown_bars()],
            value_range=_value_range(plots[0], is_log=shown.is_log),
            bin_s=shown.bin_s(spec),
        )
        for spec, plots in shown.plots_by_spec()
    )
    low_s, high_s = shown.time_range
    # The window can show a bit of nothing before the start and after the end.
    end_s = max((run.duration_s for run in shown.runs), default=high_s)
    return FigurePlan(plots, (max(0.0, low_s), min(end_s, high_s)), is_log=shown.is_log)


def _value_range(plot: StackedPlot, *, is_log: bool) -> tuple[float, float] | None:
    if plot.spec.kind != TIME or plot.view.is_fitting_values:
        return None
    low, high = plot.view.viewRange()[1]
    # A logarithmic axis of pyqtgraph counts in exponents.
    return (10.0**low, 10.0**high) if is_log else (float(low), float(high))
