"""The plots of a run, without a drawing library: columns needed, numpy reduction, axis with unit.

To add one: write a file beside these, and list it here. `drawing` has in which bins and colours curves are drawn, and
what stands for many. Start with `spec`, then `throughput`.
"""

from __future__ import annotations

from collections.abc import Mapping

from subflow_app.core.plots import (
    agent_action,
    agent_observation,
    controller_bars,
    convergence,
    cwnd,
    drops,
    fairness_bars,
    goodput,
    goodput_bars,
    hol_blocking,
    inflight,
    interval_loss,
    interval_rate,
    jain,
    loss_ratio,
    phase,
    queue,
    recv_buffer,
    reinjections,
    reorder_queue,
    reward,
    rtt,
    rtt_cdf,
    rtt_gradient,
    schedule_share,
    throughput,
    throughput_cdf,
    utilisation,
    utility,
)
from subflow_app.core.plots.bars import Bar, interval_text
from subflow_app.core.plots.spec import BARS, GROUPS, TIME, XY, Band, Curve, PlotSpec, averaged, samples_to_average

__all__ = [
    "BARS",
    "GROUPS",
    "PLOTS",
    "PLOTS_BY_ID",
    "TIME",
    "XY",
    "Band",
    "Bar",
    "Curve",
    "PlotSpec",
    "averaged",
    "interval_text",
    "samples_to_average",
]

PLOTS: tuple[PlotSpec, ...] = (
    throughput.PLOT,
    cwnd.PLOT,
    rtt.PLOT,
    queue.PLOT,
    goodput.PLOT,
    inflight.PLOT,
    drops.PLOT,
    loss_ratio.PLOT,
    utilisation.PLOT,
    rtt_cdf.PLOT,
    throughput_cdf.PLOT,
    phase.PLOT,
    goodput_bars.PLOT,
    controller_bars.PLOT,
    jain.PLOT,
    fairness_bars.PLOT,
    convergence.PLOT,
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
