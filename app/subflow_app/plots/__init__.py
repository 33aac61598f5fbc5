"""The plots of a run. To add one: write a file beside these, and list it here."""

from __future__ import annotations

from collections.abc import Mapping

from subflow_app.plots import (
    agent_action,
    agent_observation,
    cwnd,
    hol_blocking,
    interval_loss,
    interval_rate,
    queue,
    recv_buffer,
    reinjections,
    reorder_queue,
    reward,
    rtt,
    rtt_gradient,
    schedule_share,
    throughput,
    utility,
)
from subflow_app.plots.spec import GROUPS, Curve, PlotSpec, averaged, samples_to_average

__all__ = ["GROUPS", "PLOTS", "PLOTS_BY_ID", "Curve", "PlotSpec", "averaged", "samples_to_average"]

PLOTS: tuple[PlotSpec, ...] = (
    throughput.PLOT,
    cwnd.PLOT,
    rtt.PLOT,
    queue.PLOT,
    schedule_share.PLOT,
    reorder_queue.PLOT,
    recv_buffer.PLOT,
    hol_blocking.PLOT,
    reinjections.PLOT,
    interval_rate.PLOT,
    interval_loss.PLOT,
    rtt_gradient.PLOT,
    utility.PLOT,
    reward.PLOT,
    agent_action.PLOT,
    agent_observation.PLOT,
)

PLOTS_BY_ID: Mapping[str, PlotSpec] = {plot.id: plot for plot in PLOTS}
