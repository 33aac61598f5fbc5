"""The TCP connections of one simulated flow as bytes, as real hosts would put them on the wire.

The simulator counts packets; this module assigns bytes, sequence numbers and options to them. The host that sends the
data opens each connection, as in an upload. If the simulator establishes a subflow without packets, a handshake is
generated that ends at that time. All generated values derive from the run's signature, so the same run gives the same
bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from subflow_app.features.capture.core import headers
from subflow_app.features.capture.core.headers import ACK, SYN, End
from subflow_sim.packets import ADD_ADDR, ADD_ADDR_ECHO, NO_EDGE, RECEIVER, REMOVE_ADDR, RESET, SENDER

HANDSHAKE = "Made up: the simulator sends no packets to open a connection"

_MILLISECOND_NS = 1_000_000
# Timestamp clocks start above zero, so that generated handshakes can precede the start of the run.
_CLOCK_START_MS = 1 << 20
# Replaces the host in keys of `_under_way`, because handshake packets have transmission numbers of their own.
_OPENING = 2
# Lengths of options, padded to four bytes
_TIMESTAMP_BYTES, _DATA_ACK_BYTES, _COUNTER_BYTES, _SACK_HEAD_BYTES, _SACK_RANGE_BYTES = 12, 8, 12, 4, 8


class WirePacket(NamedTuple):
    """A packet at a network interface.

    Attributes:
        time_ns: simulated time, ns.
        station: host of the interface, `packets.SENDER` or `packets.RECEIVER`.
        captured: headers of the packet.
        length: length with the payload, bytes.
        comment: comment on the packet; may be empty.
        opens: whether the packet belongs to a handshake, signals a change of addresses, or is a reset.
    """

    time_ns: int
    station: int
    captured: bytes
    length: int
    comment: str = ""
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Secrets:
    """Keys of the two hosts of an MPTCP connection, and values derived from them.

    Attributes:
        sender: key of the host that opens the connection and sends the data.
        receiver: key of the host that receives the data.
    """

    sender: bytes
    receiver: bytes

    @classmethod
    def of(cls, flow: str, signature: str) -> Secrets:
        """Derive the keys from the flow's name and the run's signature, so that equal runs have equal keys."""
        return cls(_made_up(flow, signature, "sender key")[:8], _made_up(flow, signature, "receiver key")[:8])

    @property
    def first_data_seq(self) -> int:
        """Data sequence number of the first byte."""
        return headers.initial_data_seq(self.sender) + 1

    @property
    def first_data_ack(self) -> int:
        """Data acknowledgement in the sender's packets, which is constant because no data flow back to the sender."""
        return headers.initial_data_seq(self.receiver) + 1


@dataclass(slots=True)
class TcpWire:
    """One TCP connection, i.e. a subflow from its opening to its closing.

    Attributes:
        sender: end that opens the connection and sends data.
        receiver: end that receives the data.
        mss_bytes: payload of a full packet.
        size_bytes: size of the transfer, whose last packet may be shorter; None for an endless transfer.
        window_limit_bytes: receive buffer, bytes; None for no limit.
        secrets: keys of the MPTCP connection; None for plain TCP.
        joins: whether the subflow joins an existing connection.
        ordinal: number of the subflow, from 1; also the address identifier.
        is_backup: whether the subflow carries data only if no other subflow can.
        seed: text from which initial sequence numbers are derived.
    """

    sender: End
    receiver: End
    mss_bytes: int
    size_bytes: int | None
    window_limit_bytes: int | None
    secrets: Secrets | None
    joins: bool
    ordinal: int
    is_backup: bool
    seed: str
    _offsets: list[int] = field(default_factory=lambda: [0])  # byte offset of each packet, and of the next one
    _under_way: dict[tuple[int, int], tuple[bytes, int]] = field(default_factory=dict)
    _opening_echo_ms: list[int] = field(
        default_factory=lambda: [0, 0]
    )  # latest timestamp received during the handshake: at the sender, at the receiver
    _echo_ms: int = 0  # latest timestamp of the receiver that reached the sender
    _has_answered: bool = False  # true after the SYN/ACK
    _told: int = 0  # packet number in the latest ACK: the next expected packet
    _sent: int = 0
    _acked: int = 0
    _isn_sender: int = field(init=False)
    _isn_receiver: int = field(init=False)
    _window_shift: int = field(init=False)

    def __post_init__(self) -> None:
        self._isn_sender = int.from_bytes(_made_up(self.seed, "sender number")[:4], "big")
        self._isn_receiver = int.from_bytes(_made_up(self.seed, "receiver number")[:4], "big")
        limit = self.window_limit_bytes
        # The smallest shift with which the buffer fits into the field gives the finest resolution.
        needed = headers.LARGEST_WINDOW_SCALE if limit is None else max(0, limit.bit_length() - 16)
        self._window_shift = min(needed, headers.LARGEST_WINDOW_SCALE)

    def generated_handshake(
        self, at_ns: int, one_way_ns: tuple[int, int], ecn_flags: Sequence[int]
    ) -> Iterator[WirePacket]:
        """Yield the departures and arrivals of a generated handshake, whose ACK leaves when the subflow is established.

        Args:
            at_ns: time at which the subflow is established.
            one_way_ns: delays from the sender to the receiver and back.
            ecn_flags: ECN flags of each packet, as in `CapturedPackets.ecn_flags`.
        """
        there, back = one_way_ns
        leaves_ns = (at_ns - back - there, at_ns - back, at_ns)
        for step, time_ns in enumerate(leaves_ns):
            yield self.handshake_leaves(time_ns, step, -1 - step, ecn_flags[step], HANDSHAKE)
            arrives = self.handshake_arrives(time_ns + (back if step == 1 else there), step, -1 - step, HANDSHAKE)
            assert arrives is not None
            yield arrives

    def handshake_leaves(
        self, time_ns: int, step: int, transmission: int, ecn_flags: int, comment: str = ""
    ) -> WirePacket:
        """A handshake packet as it leaves its host: SYN (0), SYN/ACK (1), ACK (2), or the ACK of an MP_JOIN (3)."""
        from_sender = step % 2 == 0
        is_syn = step < 2
        self._has_answered |= step == 1
        # Echoes the timestamp of the answered packet.
        echo_ms = self._opening_echo_ms[0 if from_sender else 1] if step else 0
        options = [headers.timestamps(_clock_ms(time_ns), echo_ms)]
        if is_syn:
            scale = headers.window_scale(self._window_shift)
            options = [headers.mss(self.mss_bytes), headers.sack_permitted(), *options, scale]
        if self.secrets is not None:
            options.append(headers.dss(self.secrets.first_data_seq) if step == 3 else self._opening(step))
        own, other = self._isn_sender, self._isn_receiver
        if not from_sender:
            own, other = other, own
        packet = headers.tcp_packet(
            *((self.sender, self.receiver) if from_sender else (self.receiver, self.sender)),
            seq=own if is_syn else own + 1,
            ack=other + 1 if step else 0,
            flags=(SYN, SYN | ACK, ACK, ACK)[step] | headers.ecn_flags(ecn_flags),
            window=headers.LARGEST_WINDOW if is_syn else self._window(self.window_limit_bytes),
            options=options,
            payload_bytes=0,
            identification=step,
        )
        self._under_way[_OPENING, transmission] = packet, _clock_ms(time_ns)
        return WirePacket(time_ns, SENDER if from_sender else RECEIVER, packet, len(packet), comment, opens=True)

    def signal_leaves(self, time_ns: int, step: int, transmission: int, address_id: int, address: bytes) -> WirePacket:
        """A packet, as it leaves its host, that adds, confirms or removes an address, or resets the subflow.

        Args:
            time_ns: time of sending.
            step: kind of the packet, `packets.ADD_ADDR` etc.
            transmission: number among the packets of the handshake.
            address_id: identifier of the address.
            address: IPv4 address, four bytes.
        """
        from_sender = step == ADD_ADDR_ECHO
        seq, ack = self._isn_receiver + 1, self._isn_sender + 1 + self._offset(self._told)
        if from_sender:
            seq, ack = self._isn_sender + 1 + self._offsets[-1], self._isn_receiver + 1
        elif not self._has_answered:  # RFC 9293 section 3.10.7.1: the reset answers a SYN
            seq = 0
        options = [headers.timestamps(_clock_ms(time_ns), self._opening_echo_ms[0 if from_sender else 1])]
        if self.secrets is not None and step == ADD_ADDR:
            proof = headers.address_proof(self.secrets.receiver, self.secrets.sender, address_id, address)
            options.append(headers.add_addr(address_id, address, proof))
        elif self.secrets is not None and step == ADD_ADDR_ECHO:
            options.append(headers.add_addr(address_id, address))
        elif self.secrets is not None and step == REMOVE_ADDR:
            options.append(headers.remove_addr(address_id))
        packet = headers.tcp_packet(
            *((self.sender, self.receiver) if from_sender else (self.receiver, self.sender)),
            seq=seq,
            ack=ack,
            flags=headers.RST | ACK if step == RESET else ACK,
            window=headers.LARGEST_WINDOW,
            options=options,
            payload_bytes=0,
            identification=step,
        )
        self._under_way[_OPENING, transmission] = packet, _clock_ms(time_ns)
        return WirePacket(time_ns, SENDER if from_sender else RECEIVER, packet, len(packet), opens=True)

    def handshake_arrives(self, time_ns: int, step: int, transmission: int, comment: str = "") -> WirePacket | None:
        """A handshake packet as it arrives at its destination; None if it was sent before the capture began."""
        known = self._under_way.pop((_OPENING, transmission), None)
        if known is None:
            return None
        packet, sent_ms = known
        to_sender = step % 2 == 1
        self._opening_echo_ms[0 if to_sender else 1] = sent_ms
        if to_sender:
            self._echo_ms = sent_ms
        return WirePacket(time_ns, SENDER if to_sender else RECEIVER, packet, len(packet), comment, opens=True)

    def data_leaves(
        self,
        time_ns: int,
        seq: int,
        data_seq: int,
        transmission: int,
        payload_bytes: int,
        ecn: int = 0,
        ecn_flags: int = 0,
    ) -> WirePacket:
        """A data packet as it leaves the sender.

        `seq` counts packets of the subflow, `data_seq` those of the connection; `transmission` identifies the packet
        until its arrival.
        """
        while len(self._offsets) <= seq:
            self._offsets.append(self._offsets[-1] + self.mss_bytes)  # packets sent before the capture began
        if seq == len(self._offsets) - 1:
            self._offsets.append(self._offsets[-1] + payload_bytes)
        offset = self._offsets[seq]
        options = [headers.timestamps(_clock_ms(time_ns), self._echo_ms)]
        if self.secrets is not None:
            mapping = (self.secrets.first_data_seq + self._data_offset(data_seq), 1 + offset, payload_bytes)
            options.append(headers.dss(self.secrets.first_data_ack, mapping))
        self._sent += 1
        packet = headers.tcp_packet(
            self.sender,
            self.receiver,
            seq=self._isn_sender + 1 + offset,
            ack=self._isn_receiver + 1,
            flags=(ACK | headers.PSH if payload_bytes < self.mss_bytes else ACK) | headers.ecn_flags(ecn_flags),
            window=headers.LARGEST_WINDOW,
            options=options,
            payload_bytes=payload_bytes,
            identification=self._sent + 1,
            ecn=ecn,
        )
        self._under_way[SENDER, transmission] = packet, len(packet) + payload_bytes
        return WirePacket(time_ns, SENDER, packet, len(packet) + payload_bytes)

    def ack_leaves(
        self,
        time_ns: int,
        echo_ns: int,
        seq: int,
        data_seq: int,
        transmission: int,
        right_edge: int,
        ranges: Sequence[Sequence[int]],
        ecn_flags: int = 0,
        ecn_bytes: Sequence[int] = (),
    ) -> WirePacket:
        """An ACK as it leaves the receiver, with an AccECN option if `ecn_bytes` contains the counters for it."""
        counters = [headers.accurate_ecn(*ecn_bytes)] if ecn_bytes else []
        self._told = seq
        options = [headers.timestamps(_clock_ms(time_ns), _clock_ms(echo_ns))]
        first = self._isn_sender + 1
        if ranges:
            taken = _TIMESTAMP_BYTES + (_DATA_ACK_BYTES if self.secrets else 0) + len(counters) * _COUNTER_BYTES
            told = ranges[: (headers.MOST_OPTION_BYTES - taken - _SACK_HEAD_BYTES) // _SACK_RANGE_BYTES]
            if told:
                options.append(headers.sack([(first + self._offset(a), first + self._offset(b)) for a, b in told]))
        if self.secrets is not None:
            options.append(headers.dss(self.secrets.first_data_seq + self._data_offset(data_seq)))
        options += counters
        self._acked += 1
        room = None if right_edge == NO_EDGE else max(0, right_edge - data_seq) * self.mss_bytes
        packet = headers.tcp_packet(
            self.receiver,
            self.sender,
            seq=self._isn_receiver + 1,
            ack=first + self._offset(seq),
            flags=ACK | headers.ecn_flags(ecn_flags),
            window=self._window(room),
            options=options,
            payload_bytes=0,
            identification=self._acked + 2,
        )
        self._under_way[RECEIVER, transmission] = packet, _clock_ms(time_ns)
        return WirePacket(time_ns, RECEIVER, packet, len(packet))

    def data_arrives(self, time_ns: int, transmission: int, ecn: int = 0) -> WirePacket | None:
        """A data packet as it arrives at the receiver; None if it was sent before the capture began."""
        known = self._under_way.pop((SENDER, transmission), None)
        if known is None:
            return None
        packet, length = known
        return WirePacket(time_ns, RECEIVER, headers.with_ecn(packet, ecn), length)

    def ack_arrives(self, time_ns: int, transmission: int) -> WirePacket | None:
        """An ACK as it arrives at the sender; None if it was sent before the capture began."""
        known = self._under_way.pop((RECEIVER, transmission), None)
        if known is None:
            return None
        packet, self._echo_ms = known
        return WirePacket(time_ns, SENDER, packet, len(packet))

    # ---- internals ----

    def _offset(self, seq: int) -> int:
        """Byte offset of a packet; for a packet not sent yet, the end of the data."""
        return self._offsets[min(seq, len(self._offsets) - 1)]

    def _data_offset(self, data_seq: int) -> int:
        offset = data_seq * self.mss_bytes
        return offset if self.size_bytes is None else min(offset, self.size_bytes)

    def _window(self, room_bytes: int | None) -> int:
        """Window field of a packet other than a SYN; the largest value if ``room_bytes`` is None."""
        if room_bytes is None:
            return headers.LARGEST_WINDOW
        return min(headers.LARGEST_WINDOW, room_bytes >> self._window_shift)

    def _opening(self, step: int) -> bytes:
        """The MPTCP option of the SYN (0), the SYN/ACK (1) or the ACK (2)."""
        assert self.secrets is not None
        sender, receiver = self.secrets.sender, self.secrets.receiver
        if not self.joins:
            return headers.mp_capable(*((), (receiver,), (sender, receiver))[step])
        nonce_sender = _made_up(self.seed, "sender nonce")[:4]
        nonce_receiver = _made_up(self.seed, "receiver nonce")[:4]
        if step == 0:
            return headers.mp_join_syn(headers.token_of(receiver), nonce_sender, self.ordinal, is_backup=self.is_backup)
        if step == 1:
            proof = headers.join_proof(receiver, sender, nonce_receiver, nonce_sender)
            return headers.mp_join_syn_ack(proof, nonce_receiver, self.ordinal, is_backup=self.is_backup)
        return headers.mp_join_ack(headers.join_proof(sender, receiver, nonce_sender, nonce_receiver))


def _clock_ms(time_ns: int) -> int:
    return _CLOCK_START_MS + time_ns // _MILLISECOND_NS


def _made_up(*parts: str) -> bytes:
    """Pseudo-random bytes derived from strings."""
    return hashlib.sha256("/".join(parts).encode()).digest()
