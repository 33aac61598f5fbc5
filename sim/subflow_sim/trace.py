"""What a run leaves behind besides its figures: sampled columns and marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scope: TypeAlias = Literal["flow", "subflow", "link"]


@dataclass(frozen=True, slots=True)
class Column:
    """One quantity of one object over time; sample k is at (k + 1) * the sampling interval.

    Attributes:
        scope: what the owner is.
        owner: "download.1" (flow), "download.1/2" (its second subflow), "wifi/forward" (link direction).
        name: field's term with its unit, e.g. "cwnd_pkts". Rates and counts are over the interval that ends at the
            sample, the rest is the state at that instant. NaN: not defined (yet).
        unit: symbol of that unit, empty for a ratio.
    """

    scope: Scope
    owner: str
    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a point in time.

    Attributes:
        time_s: when.
        owner: as in `Column`.
        kind: "loss" (fast retransmit began), "rto", "recovered", "established", "closed", "penalised" (its window was
            halved because it held up a faster subflow) of subflows; "completed", "meta_rto" (nothing was DATA_ACKed
            for so long that the connection itself retransmits) of flows; "link_up", "link_down", "link_change" of link
            directions.
        value: for subflows a window in packets: ssthresh for "loss" and "rto", else cwnd; for "completed" the seconds
            since the flow's start, for "meta_rto" those since the last progress or expiry; otherwise 0.
        time_ns: the same time, exactly.
    """

    time_s: float
    owner: str
    kind: str
    value: float
    time_ns: int
