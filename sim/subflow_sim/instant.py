"""The state of a simulation at a point in time: packets in transit, queues, windows, deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from subflow_sim import _core

DATA: Final = 0
ACK: Final = 1
DATAGRAM: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class PacketsUnderWay:
    """All packets sent that have neither arrived nor been dropped; each is on exactly one link.

    All arrays are [n] and read-only. They are ordered by link, first the packets on the wire in order of arrival, then
    the queue from its head. FQ-CoDel serves its queues in turn: its packets are in the order in which they would be
    sent without further arrivals or drops.

    Attributes:
        link: int32, index into `LinksNow.names`.
        subflow: int32, index into `SubflowsNow.names`.
        kind: uint8, `DATA`, `ACK` (including ACKs of a handshake) or `DATAGRAM`.
        seq: uint32, in packets: sequence number of data on the subflow, or the next number that an ACK expects.
        size_bytes: uint16, size on the wire.
        progress: float32, 0 to 1 along the wire; 0 while queued or in transmission. Computed from the remaining time
            and the link's delay. If the delay changes, packets on the wire keep their arrival times, so their progress
            jumps.
        queue_position: int32, -1 on the wire, 0 in transmission, 1 or more while waiting.
    """

    link: NDArray[np.int32]
    subflow: NDArray[np.int32]
    kind: NDArray[np.uint8]
    seq: NDArray[np.uint32]
    size_bytes: NDArray[np.uint16]
    progress: NDArray[np.float32]
    queue_position: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.link)


@dataclass(frozen=True, slots=True, eq=False)
class LinksNow:
    """Link directions. All arrays are [len(names)] and read-only.

    Attributes:
        names: "wifi/forward", as in `Column.owner`.
        queue_pkts: int32, packets waiting or in transmission.
        queue_bytes: int64, size of these packets.
        is_up: bool, whether the direction is in service.
        delivered_pkts: int64, packets that reached the far end since the start.
        dropped_pkts: int64, packets dropped by the queue, at random or by an outage since the start.
    """

    names: tuple[str, ...]
    queue_pkts: NDArray[np.int32]
    queue_bytes: NDArray[np.int64]
    is_up: NDArray[np.bool_]
    delivered_pkts: NDArray[np.int64]
    dropped_pkts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SubflowsNow:
    """The subflows of all flows, and the paths of flows that send datagrams. All arrays are [len(names)] and read-only.

    NaN means undefined: not established, datagrams, no ssthresh, no RTT sample, no pacing.

    Attributes:
        names: "download.1/2", as in `Column.owner`.
        is_established: bool.
        state: "closed", "joining", "open", "recovery" (after a fast retransmit), "loss" (after a timeout), "reduced"
            (while the window shrinks after ECN marks) or "datagrams".
        cwnd_pkts: float64, congestion window.
        ssthresh_pkts: float64, slow-start threshold.
        inflight_pkts: float64, the sender's estimate of its packets in the network.
        srtt_s: float64, smoothed RTT.
        min_rtt_s: float64, minimum RTT.
        rto_s: float64, retransmission timeout without backoff.
        pacing_rate_bps: float64, bit/s on the wire.
    """

    names: tuple[str, ...]
    is_established: NDArray[np.bool_]
    state: tuple[str, ...]
    cwnd_pkts: NDArray[np.float64]
    ssthresh_pkts: NDArray[np.float64]
    inflight_pkts: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    min_rtt_s: NDArray[np.float64]
    rto_s: NDArray[np.float64]
    pacing_rate_bps: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FlowsNow:
    """The flows. All arrays are [len(names)] and read-only.

    Attributes:
        names: "download.1", as in `Column.owner`.
        delivered_bytes: int64, payload delivered to the application in order; for datagrams, all arrived payload.
        reorder_queue_bytes: int64, payload that waits for missing earlier data.
        is_active: bool, whether the flow has started and is neither complete nor stopped with all data arrived.
    """

    names: tuple[str, ...]
    delivered_bytes: NDArray[np.int64]
    reorder_queue_bytes: NDArray[np.int64]
    is_active: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    """The state of a simulation at a point in time, which later steps of the simulation do not change.

    Attributes:
        now_s: simulated time, s.
        packets: packets in transit.
        links: state of the link directions.
        subflows: state of the subflows, and of the paths of datagrams.
        flows: state of the flows.
    """

    now_s: float
    packets: PacketsUnderWay
    links: LinksNow
    subflows: SubflowsNow
    flows: FlowsNow


_STATES: Final = {int(value.value): name.lower() for name, value in _core.SubflowState.__members__.items()}


def from_core(
    instant: _core.Instant, links: tuple[str, ...], subflows: tuple[str, ...], flows: tuple[str, ...]
) -> Instant:
    """The core's state with the names of link directions, subflows and flows, in the order of the core."""
    p, ln, s, f = instant.packets, instant.links, instant.subflows, instant.flows
    return Instant(
        instant.now_ns / 1e9,
        PacketsUnderWay(p.link, p.subflow, p.kind, p.seq, p.size_bytes, p.progress, p.queue_position),
        LinksNow(links, ln.queue_pkts, ln.queue_bytes, ln.is_up.view(np.bool_), ln.delivered_pkts, ln.dropped_pkts),
        SubflowsNow(
            subflows,
            s.is_established.view(np.bool_),
            tuple(_STATES[state] for state in s.state.tolist()),
            s.cwnd_pkts,
            s.ssthresh_pkts,
            s.inflight_pkts,
            s.srtt_s,
            s.min_rtt_s,
            s.rto_s,
            s.pacing_rate_bps,
        ),
        FlowsNow(flows, f.delivered_bytes, f.reorder_queue_bytes, f.is_active.view(np.bool_)),
    )
