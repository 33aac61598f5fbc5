"""Definitions of the plots of a run, independent of the drawing library.

A definition contains the required columns, the computation with numpy, and the axis with its unit. To add a plot that
shows a column of the traces unchanged, add a `column_plot` to `PLOTS`. For a computed plot, add a module to this
folder, and its plot to `PLOTS`. `drawing` chooses bins and colours, and combines many curves. Start with `spec`, then
`curve_plots`.
"""

from __future__ import annotations

from collections.abc import Mapping

from subflow_app.features.plots.core import bar_plots, curve_plots, distributions
from subflow_app.features.plots.core.bars import Bar, interval_text
from subflow_app.features.plots.core.spec import (
    BARS,
    CONNECTION,
    GROUPS,
    LEARNERS,
    MARKED,
    MONITORED,
    MULTIPATH,
    SIGNED,
    TIME,
    TRANSPORT,
    XY,
    Band,
    Curve,
    PlotSpec,
    Ticks,
    agent_plot,
    averaged,
    column_plot,
    samples_to_average,
)
from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW
from subflow_app.features.training.core.agent_explanations import REWARD

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
    "Ticks",
    "averaged",
    "interval_text",
    "samples_to_average",
]

PLOTS: tuple[PlotSpec, ...] = (
    curve_plots.THROUGHPUT,
    column_plot(
        "cwnd",
        "Congestion window",
        "cwnd_pkts",
        SUBFLOW,
        unit="packets",
        figures=((SUBFLOW, "mean_cwnd_pkts"),),
        **TRANSPORT,
    ),
    column_plot(
        "rtt",
        "Round-trip time",
        "srtt_s",
        SUBFLOW,
        unit="ms",
        y_label="Smoothed RTT",
        figures=((SUBFLOW, "mean_rtt_s"),),
        from_zero=False,
        **TRANSPORT,
    ),
    column_plot("queue", "Queue", "queue_pkts", LINK, unit="packets", figures=((LINK, "mean_queue_pkts"),)),
    column_plot(
        "goodput", "Goodput", "goodput_bps", FLOW, unit="Mbit/s", figures=((FLOW, "goodput_bps"),), is_rate=True
    ),
    column_plot("inflight", "In flight", "inflight_pkts", SUBFLOW, unit="packets", **TRANSPORT),
    curve_plots.DROPS,
    curve_plots.LOSS,
    column_plot(
        "utilisation",
        "Link utilisation",
        "utilisation",
        LINK,
        unit="%",
        y_label="Utilisation",
        figures=((LINK, "utilisation"),),
        is_rate=True,
        ceiling=1.0,
    ),
    distributions.RTT_CDF,
    distributions.THROUGHPUT_CDF,
    distributions.PHASE,
    bar_plots.GOODPUT_BARS,
    bar_plots.CONTROLLER_BARS,
    curve_plots.JAIN,
    bar_plots.FAIRNESS_BARS,
    bar_plots.CONVERGENCE,
    column_plot(
        "schedule_share",
        "Schedule shares",
        "schedule_share",
        SUBFLOW,
        unit="%",
        y_label="Share of packets",
        figures=((SUBFLOW, "schedule_share"),),
        **MULTIPATH,
    ),
    column_plot("reorder_queue", "Reorder queue", "reorder_queue_bytes", FLOW, unit="kB", **MULTIPATH),
    column_plot("recv_buffer", "Receive buffer", "recv_buffer_bytes", FLOW, unit="kB", group=CONNECTION),
    column_plot(
        "hol_blocking",
        "Head-of-line blocking",
        "hol_blocking_s",
        FLOW,
        unit="ms",
        figures=((FLOW, "mean_hol_blocking_s"),),
        **MULTIPATH,
    ),
    column_plot(
        "reinjections",
        "Reinjections",
        "reinjections_pkts",
        FLOW,
        unit="packets",
        y_label="Reinjections per sample",
        **MULTIPATH,
    ),
    column_plot(
        "marks",
        "Marked by queues",
        "marks_pkts",
        LINK,
        unit="packets",
        y_label="Packets marked per sample",
        **MARKED,
    ),
    column_plot(
        "marked_arrivals",
        "Marked packets",
        "marks_pkts",
        SUBFLOW,
        unit="packets",
        y_label="Marked packets per sample",
        **MARKED,
    ),
    column_plot(
        "interval_rate",
        "Interval rate",
        "interval_rate_bps",
        SUBFLOW,
        unit="Mbit/s",
        y_label="Rate of monitor interval",
        **MONITORED,
    ),
    column_plot(
        "interval_loss",
        "Interval loss",
        "interval_loss_ratio",
        SUBFLOW,
        unit="%",
        y_label="Loss in monitor interval",
        **MONITORED,
    ),
    column_plot("rtt_gradient", "RTT gradient", "interval_rtt_gradient", SUBFLOW, unit="ms/s", **SIGNED, **MONITORED),
    # Each controller defines the units of its utility and reward, so these axes show no unit.
    column_plot("utility", "Utility", "utility", SUBFLOW, **SIGNED, **MONITORED),
    column_plot("reward", "Reward", REWARD, FLOW, SUBFLOW, **SIGNED, **LEARNERS),
    agent_plot("agent_action", "Agent action", "Action", "action"),
    agent_plot("agent_observation", "Agent observation", "Observation, scaled", "observation"),
)

PLOTS_BY_ID: Mapping[str, PlotSpec] = {plot.id: plot for plot in PLOTS}
