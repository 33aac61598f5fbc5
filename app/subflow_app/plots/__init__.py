"""The plots of a run. To add one: write a file beside these, and list it here."""

from __future__ import annotations

from collections.abc import Mapping

from subflow_app.plots import cwnd, queue, rtt, throughput
from subflow_app.plots.spec import Curve, PlotSpec, averaged, samples_to_average

__all__ = ["PLOTS", "PLOTS_BY_ID", "Curve", "PlotSpec", "averaged", "samples_to_average"]

PLOTS: tuple[PlotSpec, ...] = (throughput.PLOT, cwnd.PLOT, rtt.PLOT, queue.PLOT)

PLOTS_BY_ID: Mapping[str, PlotSpec] = {plot.id: plot for plot in PLOTS}
