"""From a curve to its run: a click near it selects the run in the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.history.qt import History
    from subflow_app.features.plots.qt.curve_id import CurveId
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.docks import Docks


class CurveFinder:
    """Follows clicks on curves of one window."""

    def __init__(
        self, plots: PlotView, shown: ShownRuns, history: History, docks: Docks, tell: Callable[[str], object]
    ) -> None:
        """Finds the runs of the plots in the history."""
        self._plots = plots
        self._shown = shown
        self._history = history
        self._docks = docks
        self._tell = tell
        plots.curve_clicked.connect(self._select)
        plots.told.connect(tell)

    def find_run(self) -> None:
        """Opens the history at the run of the curve that was clicked last, or of the line chosen in the legend.

        A search that hides the run is given up for it.
        """
        curve = self._plots.current_curve
        if curve is None:
            self._tell(tr("Click a curve first, or choose its line in the legend."))
            return
        run_id = self._select(curve)
        if run_id is None:
            return
        self._history.reveal([run_id])
        self._docks.set_open("history", True)
        self._history.table.setFocus()

    def _select(self, curve: CurveId) -> int | None:
        """Selects the run in the history as it is; None if it is not kept there."""
        run_id = self._shown.id_of(curve.run)
        label, title = self._plots.names_of(curve)
        if run_id is None:
            self._tell(tr("{curve} belongs to a run that is not in the history: {run}", curve=label, run=title))
            return None
        self._history.select([run_id])
        self._tell(tr("{curve} belongs to run {number}: {run}", curve=label, number=run_id, run=title))
        return run_id
