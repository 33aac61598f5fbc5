"""Records of a run besides its summary: sampled columns, marks and monitor intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scope: TypeAlias = Literal["flow", "subflow", "link"]


@dataclass(frozen=True, slots=True)
class Column:
    """One quantity of one object over time; sample k is at (k + 1) * the sampling interval.

    Attributes:
        scope: kind of the owner.
        owner: "download.1" (flow), "download.1/2" (its second subflow), "wifi/forward" (link direction).
        name: term with its unit, e.g. "cwnd_pkts". Rates and counts cover the interval that ends at the sample; other
            quantities are the state at that time. NaN is a gap: undefined, not yet defined, or after the end of the
            flow; for round-trip times also after more than a retransmission timeout without a sample.
        unit: symbol of the unit; empty for a ratio.
    """

    scope: Scope
    owner: str
    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class Mark:
    """An event at a point in time.

    Attributes:
        time_s: simulated time, s.
        owner: owner of the mark, as in `Column`.
        kind: for subflows "loss" (fast retransmit began), "rto", "recovered", "established", "closed", "penalised" (its
            window was halved because it delayed a faster subflow), "action" (a learning agent acted), "scripted_drop"
            (a link dropped a data packet listed by the scenario), "marked" (its window was reduced after queues marked
            packets), "stale" (its connection assigns no more data to it until it responds), "announced" (the receiver
            announced its address), "refused" (the receiver refused to open it); for flows "completed", "meta_rto" (the
            connection retransmits after a timeout without DATA_ACK), "controller_change" (a new controller took
            over); for link directions "link_up", "link_down", "link_change".
        value: for subflows a window in packets: ssthresh for "loss" and "rto", otherwise cwnd; for "completed" the time
            since the flow's start in s, for "meta_rto" the time since the last progress or timeout in s, for
            "scripted_drop" the sequence number of the packet in its subflow, from 0; otherwise 0.
        time_ns: simulated time, ns.
    """

    time_s: float
    owner: str
    kind: str
    value: float
    time_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Finished monitor intervals, ordered by the time at which the fate of their last packet became known.

    Controllers with monitor intervals (vivace, mpcc-…) keep one rate for about a round trip. They learn from the
    packets of such an interval as soon as the fate of all these packets is known. All arrays are [n] and own their
    memory. Rates count full-size packets on the wire, headers included, in bit/s. NaN: undefined for lack of packets or
    samples.

    Attributes:
        owners: names of all subflows, as in `Column`.
        owner: int32, index into `owners`.
        number: int32, number of the interval in its subflow, from 0.
        tag: int32, assigned by the controller. vivace: 0 for intervals whose results it ignores. mpcc-… and ddpg-mpcc:
            tag // 8 % 4 is the mode (1 slow start, 2 probing, 3 moving), tag % 8 the position in the round, 7 while
            waiting for results. mplibra: tag % 8 is the stage (2 exploration, 3 the classic controller's candidate, 4
            the agent's, 5 waiting for their results, 6 exploitation).
        time_ns: int64, time at which the last fate became known, ns.
        begin_ns: int64, departure of the first packet, ns.
        end_ns: int64, departure of the first packet of the next interval, ns.
        rate_bps: float64, requested rate; 0: unpaced.
        send_rate_bps: float64, sent packets divided by the time of sending.
        throughput_bps: float64, delivered packets divided by the time of their acknowledgements.
        sent_pkts: int32, sent packets, retransmissions included.
        delivered_pkts: int32, delivered packets.
        lost_pkts: int32, lost packets; delivered and lost packets add up to the sent packets.
        loss_ratio: float64 in [0, 1], lost over sent.
        rtt_mean_s: float64, mean of the RTT samples, s.
        rtt_min_s: float64, minimum of the RTT samples, s.
        rtt_gradient: float64, s/s: slope of the RTT over the time of sending, by least squares; needs at least three
            samples.
        rtt_gradient_error: float64, s/s: standard error of that slope.
        is_app_limited: bool, whether the application had too little data for a part of the interval.
        utility: float64, utility computed by the controller, in its unit; NaN if the controller computes none.
    """

    owners: tuple[str, ...]
    owner: NDArray[np.int32]
    number: NDArray[np.int32]
    tag: NDArray[np.int32]
    time_ns: NDArray[np.int64]
    begin_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    rate_bps: NDArray[np.float64]
    send_rate_bps: NDArray[np.float64]
    throughput_bps: NDArray[np.float64]
    sent_pkts: NDArray[np.int32]
    delivered_pkts: NDArray[np.int32]
    lost_pkts: NDArray[np.int32]
    loss_ratio: NDArray[np.float64]
    rtt_mean_s: NDArray[np.float64]
    rtt_min_s: NDArray[np.float64]
    rtt_gradient: NDArray[np.float64]
    rtt_gradient_error: NDArray[np.float64]
    is_app_limited: NDArray[np.bool_]
    utility: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time_ns)
