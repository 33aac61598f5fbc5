"""Share of the packets of each subflow that were lost, over the last second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from subflow_app.features.plots.core.spec import Curve, PlotSpec, column_curves, trailing_sum
from subflow_app.features.traces.core.traces import SUBFLOW, Traces

_LOSSES, _RATE = "losses_pkts", "throughput_bps"
_WINDOW_S = 1.0
# What a packet carries besides its payload, bytes: 1500 on the wire with the default of 1448.
_HEADER_BYTES = 52


def curves(traces: Traces) -> list[Curve]:
    """One curve per subflow, 0 to 1: lost / (lost + delivered) in the last second; NaN where nothing was either.

    A packet counts when its fate is known, not when it was sent, so that a burst of losses after an idle second is 1.
    """
    wire_bits = 8 * (traces.mss_bytes + _HEADER_BYTES)
    delivered = {curve.owner: curve for curve in column_curves(traces, SUBFLOW, _RATE)}
    made = []
    for losses in column_curves(traces, SUBFLOW, _LOSSES):
        arrived = delivered.get(losses.owner)
        if arrived is None:
            continue  # of a measurement, which need not have both
        # A live run publishes samples while we read.
        count = min(len(losses.values), len(arrived.values))
        time_s = losses.time_s[:count]
        interval_s = float(time_s[0]) if count else _WINDOW_S
        lost_pkts = trailing_sum(losses.values[:count], interval_s, _WINDOW_S)
        arrived_pkts = trailing_sum(arrived.values[:count], interval_s, _WINDOW_S) * interval_s / wire_bits
        known = lost_pkts + arrived_pkts
        share = np.divide(lost_pkts, known, out=np.full(count, np.nan), where=known > 0)
        made.append(replace(losses, time_s=time_s, values=share.astype(np.float32)))
    return made


PLOT = PlotSpec(
    id="loss_ratio",
    title="Loss ratio",
    y_label="Lost in the last second",
    unit="%",
    scale=100.0,
    columns=((SUBFLOW, _LOSSES), (SUBFLOW, _RATE)),
    curves=curves,
    is_joined=True,
    figures=((SUBFLOW, "loss_ratio"),),
    needs="a tcp or mptcp flow",
)
