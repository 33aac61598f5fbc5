"""Packets as they pass the network cards of a flow's two hosts: what tcpdump would see there."""

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
"""`CapturedPackets.kind` of the packets that open a subflow."""
ADD_ADDR_ECHO, ADD_ADDR, REMOVE_ADDR, RESET = 4, 5, 7, 9
"""`CapturedPackets.seq` of those that tell of addresses, whose number from 0 is `data_seq`, and of a reset."""
NO_EDGE: Final = 0xFFFFFFFF
"""`CapturedPackets.right_edge` of an ACK whose receive window has no limit."""
DEFAULT_CAPACITY: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CapturedPackets:
    """Packets that left or reached a host, in order of time. All arrays are [n] and read-only.

    A data packet passes the card of the sending host when it leaves and that of the receiving host when it arrives, if
    it does; an ACK goes the other way. Sequence numbers count packets of one MSS, as everywhere in the simulator.

    Attributes:
        subflows: names of all subflows, as in `Column.owner`.
        time_ns: int64, when.
        subflow: int32, index into `subflows`.
        kind: uint8, `instant.DATA`, `instant.ACK`, `instant.DATAGRAM` or `HANDSHAKE`.
        station: uint8, `SENDER` or `RECEIVER` of the flow's data: whose card it is.
        seq: uint32, of data the subflow's sequence number, of an ACK the next one that is expected, of a handshake 0
            the SYN, 1 the SYN-ACK, 2 the ACK of that, 3 the ACK of that where a further subflow joins; or `ADD_ADDR`
            and so on.
        data_seq: uint32, the same on the level of the connection: the DSN, and the DATA_ACK.
        echo_ns: int64, of data when it left the sender, of an ACK what it echoes of that (RFC 7323).
        transmission: uint32, number of the ACK on its subflow, the same when it leaves and when it arrives; those of
            handshakes are counted apart.
        right_edge: uint32, of an ACK one past the last packet that there is room for; `NO_EDGE`: no limit.
        sack: uint32 [n, 3, 2], ranges that an ACK reports, first and one past the last.
        sack_count: uint8, how many of these mean something.
        size_bytes: uint16, on the wire as the simulator counts it.
        payload_bytes: uint16, of these.
        incarnation: uint8, counts how often the subflow was opened again.
        ecn: uint8, the ECN field of the IP header: 0 cannot be marked, 1 ECT(1), 2 ECT(0), 3 marked.
        ecn_flags: uint8, of the TCP header: AE (4), CWR (2) and ECE (1); with AccECN the ACE field.
        has_ecn_option: uint8, 1 where an ACK carries the AccECN option.
        ecn_bytes: uint32 [n, 3], its counters: bytes that came with ECT(0), marked, and with ECT(1).
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
    """The packets as the core hands them over, which stay valid whatever the simulation does next."""
    names = [name for name in CapturedPackets.__slots__ if name not in ("subflows", "subflow")]
    columns = {name: getattr(table, name) for name in names}
    return CapturedPackets(subflows=tuple(subflows), subflow=table.subflow.astype(np.int32), **columns)
