"""What a run records besides its figures: sampled columns, marks and monitor intervals."""

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
        scope: what the owner is.
        owner: "download.1" (flow), "download.1/2" (its second subflow), "wifi/forward" (link direction).
        name: field's term with its unit, e.g. "cwnd_pkts". Rates and counts are over the interval that ends at the
            sample, the rest is the state at that instant. NaN is a gap: not defined, not yet, or not any more because
            the flow has ended; of round-trip times also where none was measured for longer than a retransmission
            timeout.
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
            halved because it held up a faster subflow), "action" (a learning agent acted), "scripted_drop" (a link lost
            a data packet because the scenario says so), "marked" (its window was reduced because queues had marked
            packets), "stale" (its connection assigns no more data to it until it responds), "announced" (its
            address was, by the receiver), "refused" (by the receiver, when it was to be opened) of subflows;
            "completed",
            "meta_rto" (nothing was DATA_ACKed for so long that the connection itself retransmits), "controller_change"
            (another one took over) of flows; "link_up", "link_down", "link_change" of link directions.
        value: for subflows a window in packets: ssthresh for "loss" and "rto", else cwnd; for "completed" the seconds
            since the flow's start, for "meta_rto" those since the last progress or expiry, for "scripted_drop" the
            sequence number of the packet in its subflow, from 0; otherwise 0.
        time_ns: the same time, exactly.
    """

    time_s: float
    owner: str
    kind: str
    value: float
    time_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Finished monitor intervals, one per position, in the order in which the fate of their last packet was known.

    Controllers that send by monitor intervals (vivace, mpcc-…) hold one rate for about a round trip and learn from the
    fate of the packets sent in it, as soon as it is known. All arrays are [n] and own their memory. Rates count
    packets of full size on the wire, headers included, in bit/s. NaN: there was nothing to compute it from.

    Attributes:
        owners: names of all subflows, as in `Column`.
        owner: int32, index into `owners`.
        number: int32, counts the intervals of the subflow from 0.
        tag: int32, the controller's own. vivace: 0 for intervals whose results it does not wait for. mpcc-… and
            ddpg-mpcc: tag // 8 % 4 is the mode (1 slow start, 2 probing, 3 moving), tag % 8 the position in the round,
            7 while results are waited for. mplibra: tag % 8 is the stage (2 exploration, 3 the classic controller's
            candidate, 4 the agent's, 5 waiting for their results, 6 exploitation).
        time_ns: int64, when the last fate was known, ns.
        begin_ns: int64, when the first packet left, ns.
        end_ns: int64, when the first packet of the next interval left, ns.
        rate_bps: float64, the rate that was requested; 0: unpaced.
        send_rate_bps: float64, packets sent over the time of sending.
        throughput_bps: float64, packets delivered over the time of their acknowledgements.
        sent_pkts: int32, retransmissions included.
        delivered_pkts: int32.
        lost_pkts: int32; delivered and lost make up what was sent.
        loss_ratio: float64 in [0, 1], lost over sent.
        rtt_mean_s: float64, s, of the RTT samples of its packets.
        rtt_min_s: float64, s.
        rtt_gradient: float64, s/s: slope of the RTT over the time of sending, by least squares; needs at least three
            samples.
        rtt_gradient_error: float64, s/s: standard error of that slope.
        is_app_limited: bool, there was nothing to send for part of it.
        utility: float64, as the controller computed it, in its own unit; NaN if it has none.
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
