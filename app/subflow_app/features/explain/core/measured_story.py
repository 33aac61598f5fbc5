"""Explains a point of a measured run as far as the measurement allows: values before and after, without a rule.

A measurement shows what the sender saw. It rarely shows queues, and never the decisions of the controller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from subflow_app.features.traces.core.traces import LINK, SUBFLOW, Traces, select_keys
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import rounded_text

# Traces of a subflow in the order in which they explain each other: factor and unit of the text.
_SHOWN = {
    "cwnd_pkts": (1.0, "packets"),
    "inflight_pkts": (1.0, "packets"),
    "srtt_s": (1e3, "ms"),
    "throughput_bps": (1e-6, "Mbit/s"),
    "goodput_bps": (1e-6, "Mbit/s"),
}
_LOSSES = "losses_pkts"


def measured_story(traces: Traces, owner: str, at_s: float) -> dict[str, Any]:
    """Values of a measured subflow around a time, as a JSON document.

    Args:
        traces: the measured run.
        owner: the subflow.
        at_s: time, s.

    Returns:
        ``from_s`` and ``to_s``, the times of the samples around `at_s`; ``changes``, the values before and after by
        trace, in SI units; ``lost``, retransmitted packets between the samples, or None if not measured;
        ``queue_known``, whether the run has queue lengths.

    Raises:
        InputError: if the run has no trace of this subflow.
    """
    keys = select_keys(traces, SUBFLOW, None, owner)
    if not keys:
        raise InputError(f'"{owner}" is not a subflow of this run')
    time_s, _ = traces.read(keys[0])
    after = int(np.clip(np.searchsorted(time_s, at_s), 1, max(1, len(time_s) - 1)))
    before = after - 1
    changes: dict[str, list[float | None]] = {}
    lost: float | None = None
    for key in keys:
        _, values = traces.read(key)
        pair = [float(values[at]) if at < len(values) and np.isfinite(values[at]) else None for at in (before, after)]
        if key.name == _LOSSES:
            lost = pair[1]
        elif key.name in _SHOWN and pair != [None, None]:
            changes[key.name] = pair
    minima = select_keys(traces, SUBFLOW, "min_rtt_s", owner)
    least: float | None = None
    if minima:
        _, values = traces.read(minima[0])
        known = values[: after + 1][np.isfinite(values[: after + 1])]
        least = float(known.min()) if len(known) else None
    return {
        "from_s": float(time_s[before]),
        "to_s": float(time_s[min(after, len(time_s) - 1)]),
        "changes": changes,
        "lost": lost,
        "min_rtt_s": least,
        "queue_known": bool(select_keys(traces, LINK, "queue_pkts")),
    }


def measured_lines(story: dict[str, Any]) -> list[str]:
    """The story in lines for people."""
    times = {"begin": f"{story['from_s']:.6g}", "end": f"{story['to_s']:.6g}"}
    lines = [tr("Measured, not simulated: from {begin} s to {end} s.", **times)]
    for name, (scale, unit) in _SHOWN.items():
        before, after = story["changes"].get(name, (None, None))
        texts = [rounded_text(value * scale) if value is not None else "–" for value in (before, after)]
        if (before, after) != (None, None):
            # Names of traces and units are the same in all languages.
            lines.append(f"{name.rpartition('_')[0]}: {texts[0]} → {texts[1]} {unit}")
    if story["lost"] is not None:
        lines.append(tr("Retransmitted packets: {count}", count=f"{story['lost']:g}"))
    rtt_s = story["changes"].get("srtt_s", (None, None))[1]
    if rtt_s is not None and story["min_rtt_s"] is not None:
        extra = rounded_text((rtt_s - story["min_rtt_s"]) * 1e3)
        lines.append(
            tr("The RTT exceeds the lowest one by {time} ms, which queues and delayed ACKs cause.", time=extra)
        )
    if not story["queue_known"]:
        lines.append(tr("The measurement has no queue lengths: the cause in the network stays unknown."))
    return lines
