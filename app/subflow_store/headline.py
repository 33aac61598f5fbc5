"""The few figures of a run's summary that the list of runs shows and sorts by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Headline(NamedTuple):
    """Figures of a whole run; None where the summary has none."""

    wall_s: float | None
    packets: int | None
    goodput_bps: float | None
    """Sum over the flows."""
    mean_rtt_s: float | None
    """Mean of the flows' mean RTTs."""
    jain: float | None


def headline(summary: Mapping[str, Any]) -> Headline:
    """Read them out of a summary document, as `subflow run --json` prints it.

    Args:
        summary: may lack any of its parts, as that of a failed run does.
    """
    flows = summary.get("flows") or ()
    goodputs = [flow["goodput_bps"] for flow in flows if flow.get("goodput_bps") is not None]
    rtts = [flow["mean_rtt_s"] for flow in flows if flow.get("mean_rtt_s") is not None]
    return Headline(
        wall_s=summary.get("wall_s"),
        packets=summary.get("packets"),
        goodput_bps=sum(goodputs) if goodputs else None,
        mean_rtt_s=sum(rtts) / len(rtts) if rtts else None,
        jain=(summary.get("fairness") or {}).get("jain"),
    )
