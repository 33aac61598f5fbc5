"""From a curve to its run: a click near it selects the run in the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.qt.plotting.curve_id import CurveId


class CurveFinder(QObject):
    """Follows clicks on curves of one window."""

    def __init__(self, window: MainWindow) -> None:
        """Finds the runs of its plots in its history."""
        super().__init__(window)
        self._plots = window.plots
        self._shown = window.shown
        self._history = window.history
        self._docks = window.docks
        self._tell = window.tell
        window.plots.curve_clicked.connect(self._on_clicked)
        window.plots.told.connect(window.tell)

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

    def _on_clicked(self, curve: CurveId) -> None:
        self._select(curve)

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
