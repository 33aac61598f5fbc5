"""Packets captured at the network cards of the two hosts of a flow, as by tcpdump."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from subflow_sim import _core

SENDER: Final = 0
RECEIVER: Final = 1
HANDSHAKE: Final = 3
"""`CapturedPackets.kind` of the packets of a subflow's handshake."""
ADD_ADDR_ECHO, ADD_ADDR, REMOVE_ADDR, RESET = 4, 5, 7, 9
"""`CapturedPackets.seq` of address options, whose `data_seq` is the number of the address from 0, and of a reset."""
NO_EDGE: Final = 0xFFFFFFFF
"""`CapturedPackets.right_edge` of an ACK whose receive window has no limit."""
DEFAULT_CAPACITY: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CapturedPackets:
    """Packets sent or received by the hosts of a flow, in order of time.

    All arrays are read-only, [n] unless stated otherwise.

    A data packet passes the card of the sending host at departure and that of the receiving host on arrival, unless
    lost; an ACK passes them in reverse. Sequence numbers count packets of one MSS, as everywhere in the simulator.

    Attributes:
        subflows: names of all subflows, as in `Column.owner`.
        time_ns: int64, time of capture, ns.
        subflow: int32, index into `subflows`.
        kind: uint8, `instant.DATA`, `instant.ACK`, `instant.DATAGRAM` or `HANDSHAKE`.
        station: uint8, `SENDER` or `RECEIVER` of the flow's data: the host of the card.
        seq: uint32, for data the subflow's sequence number, for an ACK the next expected one, for a handshake 0 for the
            SYN, 1 for the SYN-ACK, 2 for the ACK, 3 for the fourth packet of MP_JOIN; or `ADD_ADDR_ECHO`, `ADD_ADDR`,
            `REMOVE_ADDR` or `RESET`, which are of the kind `HANDSHAKE`, too.
        data_seq: uint32, sequence number of the connection: the DSN of data, the DATA_ACK of an ACK.
        echo_ns: int64, for data the departure time from the sender, for an ACK its echo (RFC 7323).
        transmission: uint32, number of the transmission on the subflow, equal at departure and arrival; data, ACKs and
            handshakes are numbered separately.
        right_edge: uint32, for an ACK one past the last packet of the receive window; `NO_EDGE`: no limit.
        sack: uint32 [n, 3, 2], SACK ranges of an ACK: first, and one past the last.
        sack_count: uint8, number of valid SACK ranges.
        size_bytes: uint16, wire size in the simulator.
        payload_bytes: uint16, payload of the packet.
        incarnation: uint8, number of times that the subflow was reopened.
        ecn: uint8, ECN field of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
        ecn_flags: uint8, flags of the TCP header: AE (4), CWR (2) and ECE (1); with AccECN the ACE field.
        has_ecn_option: uint8, 1 if an ACK carries the AccECN option.
        ecn_bytes: uint32 [n, 3], counters of the option: bytes received with ECT(0), CE and ECT(1).
    """

    subflows: tuple[str, ...]
    time_ns: NDArray[np.int64]
    subflow: NDArray[np.int32]
    kind: NDArray[np.uint8]
    station: NDArray[np.uint8]
    seq: NDArray[np.uint32]
    data_seq: NDArray[np.uint32]
    echo_ns: NDArray[np.int64]
    transmission: NDArray[np.uint32]
    right_edge: NDArray[np.uint32]
    sack: NDArray[np.uint32]
    sack_count: NDArray[np.uint8]
    size_bytes: NDArray[np.uint16]
    payload_bytes: NDArray[np.uint16]
    incarnation: NDArray[np.uint8]
    ecn: NDArray[np.uint8]
    ecn_flags: NDArray[np.uint8]
    has_ecn_option: NDArray[np.uint8]
    ecn_bytes: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.time_ns)


def from_core(table: _core.PacketTable, subflows: Sequence[str]) -> CapturedPackets:
    """The captured packets of the core; independent of later steps of the simulation."""
    names = [name for name in CapturedPackets.__slots__ if name not in ("subflows", "subflow")]
    columns = {name: getattr(table, name) for name in names}
    return CapturedPackets(subflows=tuple(subflows), subflow=table.subflow.astype(np.int32), **columns)
