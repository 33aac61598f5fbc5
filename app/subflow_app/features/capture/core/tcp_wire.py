"""The TCP connections of one flow as bytes: what real hosts would have put on the wire for what was simulated.

The simulator counts packets; here they get bytes, numbers and options. The host that sends the data opens each
connection, as in an upload. Where the simulator establishes a subflow without packets, the handshake is made up so that
it ends then. Everything that is made up follows from the run's signature, so the same run gives the same bytes.

Headers of IPv4, TCP, UDP and their options, MPTCP's among them, as bytes.

Source: RFC 791, RFC 9293, RFC 2018 (SACK), RFC 7323 (timestamps, window scale), RFC 8684 (MPTCP version 1),
RFC 3168 and RFC 9768 (ECN).
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from subflow_sim.packets import ADD_ADDR, ADD_ADDR_ECHO, NO_EDGE, RECEIVER, REMOVE_ADDR, RESET, SENDER

TCP, UDP = 6, 17
SYN, RST, PSH, ACK = 0x02, 0x04, 0x08, 0x10
IP_BYTES, TCP_BYTES, UDP_BYTES = 20, 20, 8
MOST_OPTION_BYTES: Final = 40
"""That the header of TCP has room for."""
LARGEST_WINDOW: Final = 0xFFFF
LARGEST_WINDOW_SCALE: Final = 14
"""RFC 7323 section 2.3: a window of up to 1 GiB."""

_MPTCP = 30
_MP_CAPABLE, _MP_JOIN, _DSS, _ADD_ADDR, _REMOVE_ADDR = 0, 1, 2, 3, 4
_ECHO = 0x01
_VERSION = 1
_HMAC_SHA256 = 0x01  # flag H of MP_CAPABLE
_DSN_8_OCTETS, _HAS_MAPPING, _HAS_DATA_ACK = 0x08, 0x04, 0x01
_BACKUP = 0x01
_NOP = b"\x01"
_MASK_32 = 0xFFFFFFFF


class End(NamedTuple):
    """An end of a TCP connection.

    Attributes:
        address: IPv4, 4 bytes.
        port: of the connection.
    """

    address: bytes
    port: int


def mss(size: int) -> bytes:
    """Option of a SYN: payload that a packet may carry, bytes."""
    return struct.pack(">BBH", 2, 4, size)


def sack_permitted() -> bytes:
    """Option of a SYN: SACK may be used."""
    return b"\x04\x02"


def window_scale(shift: int) -> bytes:
    """Option of a SYN: windows count multiples of 2^shift bytes."""
    return bytes((3, 3, shift))


def timestamps(value: int, echo: int) -> bytes:
    """Time at the sender of the packet and the one that it echoes; RFC 7323 section 3."""
    return struct.pack(">BBII", 8, 10, value & _MASK_32, echo & _MASK_32)


def sack(ranges: Sequence[tuple[int, int]]) -> bytes:
    """Bytes received beyond the cumulative acknowledgement, each range with its first and the one past its last."""
    edges = [edge & _MASK_32 for pair in ranges for edge in pair]
    return struct.pack(f">BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)


def accurate_ecn(with_ect0: int, marked: int, with_ect1: int) -> bytes:
    """Bytes received in packets of each kind; RFC 9768 section 3.2.3, the order of AccECN0."""
    return b"".join((bytes((172, 11)), *(struct.pack(">I", count)[1:] for count in (with_ect0, marked, with_ect1))))


def with_ecn(packet: bytes, ecn: int) -> bytes:
    """A packet on whose way the ECN field of the IP header became this one."""
    return _with_checksum(packet[:1] + bytes((packet[1] & 0xFC | ecn,)) + packet[2:IP_BYTES]) + packet[IP_BYTES:]


def mp_capable(*keys: bytes) -> bytes:
    """Section 3.1: without a key in the SYN, with the sender's in the SYN/ACK, with both in the ACK after it."""
    head = struct.pack(">BBBB", _MPTCP, 4 + sum(map(len, keys)), _MP_CAPABLE << 4 | _VERSION, _HMAC_SHA256)
    return head + b"".join(keys)


def mp_join_syn(token: bytes, nonce: bytes, address_id: int, *, is_backup: bool) -> bytes:
    """Section 3.2, figure 5."""
    first = _MP_JOIN << 4 | (_BACKUP if is_backup else 0)
    return struct.pack(">BBBB", _MPTCP, 12, first, address_id) + token + nonce


def mp_join_syn_ack(proof: bytes, nonce: bytes, address_id: int, *, is_backup: bool) -> bytes:
    """Section 3.2, figure 6: with the leftmost 64 bits of the proof."""
    first = _MP_JOIN << 4 | (_BACKUP if is_backup else 0)
    return struct.pack(">BBBB", _MPTCP, 16, first, address_id) + proof[:8] + nonce


def mp_join_ack(proof: bytes) -> bytes:
    """Section 3.2, figure 7: with the leftmost 160 bits of the proof."""
    return struct.pack(">BBBB", _MPTCP, 24, _MP_JOIN << 4, 0) + proof[:20]


def add_addr(address_id: int, address: bytes, proof: bytes = b"") -> bytes:
    """Section 3.4.1: with the rightmost 64 bits of the proof; without any it is the echo."""
    first = _ADD_ADDR << 4 | (0 if proof else _ECHO)
    return struct.pack(">BBBB", _MPTCP, 8 + len(proof[-8:]), first, address_id) + address + proof[-8:]


def remove_addr(address_id: int) -> bytes:
    """Section 3.4.2, of one address."""
    return struct.pack(">BBBB", _MPTCP, 4, _REMOVE_ADDR << 4, address_id)


def address_proof(own_key: bytes, other_key: bytes, address_id: int, address: bytes) -> bytes:
    """What shows that an announcement is of an end that knows both keys; section 3.4.1, without a port."""
    return hmac.digest(own_key + other_key, bytes([address_id]) + address + b"\0\0", "sha256")


def dss(data_ack: int, mapping: tuple[int, int, int] | None = None) -> bytes:
    """Section 3.3: the data sequence signal, without checksum.

    Args:
        data_ack: next byte of the connection that is expected; its lower 32 bits are sent.
        mapping: data sequence number, subflow sequence number relative to the SYN's, and length in bytes; None: none.
    """
    if mapping is None:
        return struct.pack(">BBBBI", _MPTCP, 8, _DSS << 4, _HAS_DATA_ACK, data_ack & _MASK_32)
    data_seq, subflow_seq, length = mapping
    flags = _HAS_DATA_ACK | _HAS_MAPPING | _DSN_8_OCTETS
    head = struct.pack(">BBBBI", _MPTCP, 22, _DSS << 4, flags, data_ack & _MASK_32)
    return head + struct.pack(">QIH", data_seq & (1 << 64) - 1, subflow_seq & _MASK_32, length)


def token_of(key: bytes) -> bytes:
    """What names a connection in MP_JOIN: the leftmost 32 bits of the key's hash; section 3.2."""
    return hashlib.sha256(key).digest()[:4]


def initial_data_seq(key: bytes) -> int:
    """The initial data sequence number: the rightmost 64 bits of the key's hash; section 3.1."""
    return int.from_bytes(hashlib.sha256(key).digest()[-8:], "big")


def join_proof(own_key: bytes, other_key: bytes, own_nonce: bytes, other_nonce: bytes) -> bytes:
    """What shows that a joining end knows both keys; section 3.2."""
    return hmac.digest(own_key + other_key, own_nonce + other_nonce, "sha256")


def tcp_packet(
    source: End,
    destination: End,
    *,
    seq: int,
    ack: int,
    flags: int,
    window: int,
    options: Sequence[bytes],
    payload_bytes: int,
    identification: int,
    ecn: int = 0,
) -> bytes:
    """IP and TCP header of a packet whose payload is zeros.

    Args:
        source: end that sends it.
        destination: end that it goes to.
        seq: of its first byte; taken modulo 2^32.
        ack: the next one expected, likewise.
        flags: SYN, ACK, PSH, and what `ecn_flags` makes.
        window: the field, 0 to 65535.
        options: in order; each is filled up to four bytes.
        payload_bytes: behind the headers.
        identification: of the IP packet; taken modulo 2^16.
        ecn: field of the IP header.
    """
    option_bytes = b"".join(_NOP * (-len(option) % 4) + option for option in options)  # as Linux fills up each
    offset = (TCP_BYTES + len(option_bytes)) // 4
    head = struct.pack(
        ">HHIIBBHHH",
        source.port,
        destination.port,
        seq & _MASK_32,
        ack & _MASK_32,
        offset << 4 | flags >> 8,
        flags & 0xFF,
        window,
        0,
        0,
    )
    segment = head + option_bytes
    length = len(segment) + payload_bytes
    pseudo = struct.pack(">4s4sBBH", source.address, destination.address, 0, TCP, length)
    # Zeros of the payload add nothing to the sum.
    checksum = _checksum(pseudo + segment)
    segment = segment[:16] + struct.pack(">H", checksum) + segment[18:]
    return ip_header(source, destination, TCP, length, identification, ecn) + segment


def udp_packet(source: End, destination: End, *, payload_bytes: int, identification: int) -> bytes:
    """IP and UDP header of a datagram whose payload is zeros."""
    length = UDP_BYTES + payload_bytes
    head = struct.pack(">HHHH", source.port, destination.port, length, 0)
    pseudo = struct.pack(">4s4sBBH", source.address, destination.address, 0, UDP, length)
    checksum = _checksum(pseudo + head) or 0xFFFF  # RFC 768: zero would mean that there is none
    return ip_header(source, destination, UDP, length, identification) + head[:6] + struct.pack(">H", checksum)


def ip_header(
    source: End, destination: End, protocol: int, payload_bytes: int, identification: int, ecn: int = 0
) -> bytes:
    """IPv4 header without options; fragments are not allowed."""
    head = struct.pack(
        ">BBHHHBBH4s4s",
        0x45,
        ecn,
        IP_BYTES + payload_bytes,
        identification & 0xFFFF,
        0x4000,
        64,
        protocol,
        0,
        source.address,
        destination.address,
    )
    return _with_checksum(head)


def ecn_flags(field: int) -> int:
    """AE (4), CWR (2) and ECE (1) as `flags` of a packet; RFC 9768 section 3.1, figure 1."""
    return field << 6


def _with_checksum(head: bytes) -> bytes:
    return head[:10] + struct.pack(">H", _checksum(head[:10] + bytes(2) + head[12:])) + head[12:]


def _checksum(data: bytes) -> int:
    """Ones' complement of the ones' complement sum of 16-bit words; RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    total += total >> 16
    return ~total & 0xFFFF


HANDSHAKE = "Made up: the simulator sends no packets to open a connection"

_MILLISECOND_NS = 1_000_000
# Clocks of timestamps are not zero where times before the start of the run are told.
_CLOCK_START_MS = 1 << 20
# Packets that open it are numbered apart from those of each station.
_OPENING = 2
# Of options, filled up to four bytes
_TIMESTAMP_BYTES, _DATA_ACK_BYTES, _COUNTER_BYTES, _SACK_HEAD_BYTES, _SACK_RANGE_BYTES = 12, 8, 12, 4, 8


class WirePacket(NamedTuple):
    """A packet at a network card.

    Attributes:
        time_ns: simulated time.
        station: `packets.SENDER` or `packets.RECEIVER`: whose card.
        captured: its headers.
        length: with its payload, bytes.
        comment: empty: none.
        opens: belongs to a handshake.
    """

    time_ns: int
    station: int
    captured: bytes
    length: int
    comment: str = ""
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Secrets:
    """Keys of the two hosts of an MPTCP connection, and what follows from them.

    Attributes:
        sender: key of the host that sends the data, which opens the connection.
        receiver: key of the host that receives it.
    """

    sender: bytes
    receiver: bytes

    @classmethod
    def of(cls, flow: str, signature: str) -> Secrets:
        """Keys that are the same whenever the run is."""
        return cls(_made_up(flow, signature, "sender key")[:8], _made_up(flow, signature, "receiver key")[:8])

    @property
    def first_data_seq(self) -> int:
        """Number of the first byte of data."""
        return initial_data_seq(self.sender) + 1

    @property
    def first_data_ack(self) -> int:
        """What the sender of data acknowledges all the time: nothing comes back to it."""
        return initial_data_seq(self.receiver) + 1


@dataclass(slots=True)
class TcpWire:
    """One TCP connection: a subflow from when it opens until it is closed.

    Attributes:
        sender: end that opens the connection and sends data.
        receiver: end that receives it.
        mss_bytes: payload of a full packet.
        size_bytes: of the transfer, which its last packet may not fill; None: endless.
        window_limit_bytes: the receive buffer; None: no limit.
        secrets: of the MPTCP connection; None: plain TCP.
        joins: whether it is a further subflow of its connection.
        ordinal: of the subflow, from 1: the address identifier.
        is_backup: carries data only while no other does.
        seed: text that initial sequence numbers follow from.
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
    _offsets: list[int] = field(default_factory=lambda: [0])  # of the first byte of each packet, and the next one's
    _under_way: dict[tuple[int, int], tuple[bytes, int]] = field(default_factory=dict)
    _opening_echo_ms: list[int] = field(
        default_factory=lambda: [0, 0]
    )  # likewise while it opens: at the sender, receiver
    _echo_ms: int = 0  # latest timestamp of the receiver that has reached the sender
    _has_answered: bool = False  # the SYN
    _told: int = 0  # what the receiver acknowledged last
    _sent: int = 0
    _acked: int = 0
    _isn_sender: int = field(init=False)
    _isn_receiver: int = field(init=False)
    _window_shift: int = field(init=False)

    def __post_init__(self) -> None:
        self._isn_sender = int.from_bytes(_made_up(self.seed, "sender number")[:4], "big")
        self._isn_receiver = int.from_bytes(_made_up(self.seed, "receiver number")[:4], "big")
        limit = self.window_limit_bytes
        # The smallest shift by which the buffer fits the field, so that it is told as exactly as may be.
        needed = LARGEST_WINDOW_SCALE if limit is None else max(0, limit.bit_length() - 16)
        self._window_shift = min(needed, LARGEST_WINDOW_SCALE)

    def made_up_handshake(
        self, at_ns: int, one_way_ns: tuple[int, int], ecn_flags: Sequence[int]
    ) -> Iterator[WirePacket]:
        """The three packets that open it, of which the last one leaves when it is established.

        Args:
            at_ns: when it is.
            one_way_ns: delay from the sender to the receiver, and back.
            ecn_flags: of each packet, as in `CapturedPackets`.
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
        """A packet that opens it, at the host that sends it: SYN (0), SYN/ACK (1), ACK (2), and ACK of a join (3)."""
        from_sender = step % 2 == 0
        is_syn = step < 2
        self._has_answered |= step == 1
        # What the packet answers has reached its host.
        echo_ms = self._opening_echo_ms[0 if from_sender else 1] if step else 0
        options = [timestamps(_clock_ms(time_ns), echo_ms)]
        if is_syn:
            scale = window_scale(self._window_shift)
            options = [mss(self.mss_bytes), sack_permitted(), *options, scale]
        if self.secrets is not None:
            options.append(dss(self.secrets.first_data_seq) if step == 3 else self._opening(step))
        own, other = self._isn_sender, self._isn_receiver
        if not from_sender:
            own, other = other, own
        packet = tcp_packet(
            *((self.sender, self.receiver) if from_sender else (self.receiver, self.sender)),
            seq=own if is_syn else own + 1,
            ack=other + 1 if step else 0,
            flags=(SYN, SYN | ACK, ACK, ACK)[step] | ecn_flags(ecn_flags),
            window=LARGEST_WINDOW if is_syn else self._window(self.window_limit_bytes),
            options=options,
            payload_bytes=0,
            identification=step,
        )
        self._under_way[_OPENING, transmission] = packet, _clock_ms(time_ns)
        return WirePacket(time_ns, SENDER if from_sender else RECEIVER, packet, len(packet), comment, opens=True)

    def signal_leaves(self, time_ns: int, step: int, transmission: int, address_id: int, address: bytes) -> WirePacket:
        """A packet that tells of an address, at the host that sends it, or a reset: `packets.ADD_ADDR` and so on.

        Args:
            time_ns: when.
            step: what it says.
            transmission: its number among those that open the subflow.
            address_id: of the address that it tells of.
            address: four bytes.
        """
        from_sender = step == ADD_ADDR_ECHO
        seq, ack = self._isn_receiver + 1, self._isn_sender + 1 + self._offset(self._told)
        if from_sender:
            seq, ack = self._isn_sender + 1 + self._offsets[-1], self._isn_receiver + 1
        elif not self._has_answered:  # RFC 9293 section 3.10.7.1: of a SYN
            seq = 0
        options = [timestamps(_clock_ms(time_ns), self._opening_echo_ms[0 if from_sender else 1])]
        if self.secrets is not None and step == ADD_ADDR:
            proof = address_proof(self.secrets.receiver, self.secrets.sender, address_id, address)
            options.append(add_addr(address_id, address, proof))
        elif self.secrets is not None and step == ADD_ADDR_ECHO:
            options.append(add_addr(address_id, address))
        elif self.secrets is not None and step == REMOVE_ADDR:
            options.append(remove_addr(address_id))
        packet = tcp_packet(
            *((self.sender, self.receiver) if from_sender else (self.receiver, self.sender)),
            seq=seq,
            ack=ack,
            flags=RST | ACK if step == RESET else ACK,
            window=LARGEST_WINDOW,
            options=options,
            payload_bytes=0,
            identification=step,
        )
        self._under_way[_OPENING, transmission] = packet, _clock_ms(time_ns)
        return WirePacket(time_ns, SENDER if from_sender else RECEIVER, packet, len(packet), opens=True)

    def handshake_arrives(self, time_ns: int, step: int, transmission: int, comment: str = "") -> WirePacket | None:
        """The same at the other host; None: it left before the capture began."""
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
        """A data packet at the sender."""
        while len(self._offsets) <= seq:
            self._offsets.append(self._offsets[-1] + self.mss_bytes)  # not seen: it was sent before the capture began
        if seq == len(self._offsets) - 1:
            self._offsets.append(self._offsets[-1] + payload_bytes)
        offset = self._offsets[seq]
        options = [timestamps(_clock_ms(time_ns), self._echo_ms)]
        if self.secrets is not None:
            mapping = (self.secrets.first_data_seq + self._data_offset(data_seq), 1 + offset, payload_bytes)
            options.append(dss(self.secrets.first_data_ack, mapping))
        self._sent += 1
        packet = tcp_packet(
            self.sender,
            self.receiver,
            seq=self._isn_sender + 1 + offset,
            ack=self._isn_receiver + 1,
            flags=(ACK | PSH if payload_bytes < self.mss_bytes else ACK) | ecn_flags(ecn_flags),
            window=LARGEST_WINDOW,
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
        """An ACK at the receiver; `ecn_bytes`: the counters of its AccECN option, if it has one."""
        counters = [accurate_ecn(*ecn_bytes)] if ecn_bytes else []
        self._told = seq
        options = [timestamps(_clock_ms(time_ns), _clock_ms(echo_ns))]
        first = self._isn_sender + 1
        if ranges:
            taken = _TIMESTAMP_BYTES + (_DATA_ACK_BYTES if self.secrets else 0) + len(counters) * _COUNTER_BYTES
            told = ranges[: (MOST_OPTION_BYTES - taken - _SACK_HEAD_BYTES) // _SACK_RANGE_BYTES]
            if told:
                options.append(sack([(first + self._offset(a), first + self._offset(b)) for a, b in told]))
        if self.secrets is not None:
            options.append(dss(self.secrets.first_data_seq + self._data_offset(data_seq)))
        options += counters
        self._acked += 1
        room = None if right_edge == NO_EDGE else max(0, right_edge - data_seq) * self.mss_bytes
        packet = tcp_packet(
            self.receiver,
            self.sender,
            seq=self._isn_receiver + 1,
            ack=first + self._offset(seq),
            flags=ACK | ecn_flags(ecn_flags),
            window=self._window(room),
            options=options,
            payload_bytes=0,
            identification=self._acked + 2,
        )
        self._under_way[RECEIVER, transmission] = packet, _clock_ms(time_ns)
        return WirePacket(time_ns, RECEIVER, packet, len(packet))

    def data_arrives(self, time_ns: int, transmission: int, ecn: int = 0) -> WirePacket | None:
        """A data packet at the receiver; None: it was sent before the capture began."""
        known = self._under_way.pop((SENDER, transmission), None)
        if known is None:
            return None
        packet, length = known
        return WirePacket(time_ns, RECEIVER, with_ecn(packet, ecn), length)

    def ack_arrives(self, time_ns: int, transmission: int) -> WirePacket | None:
        """An ACK at the sender; likewise."""
        known = self._under_way.pop((RECEIVER, transmission), None)
        if known is None:
            return None
        packet, self._echo_ms = known
        return WirePacket(time_ns, SENDER, packet, len(packet))

    # ---- inside ----

    def _offset(self, seq: int) -> int:
        """Of the first byte of a packet; of one that was not sent, of the end."""
        return self._offsets[min(seq, len(self._offsets) - 1)]

    def _data_offset(self, data_seq: int) -> int:
        offset = data_seq * self.mss_bytes
        return offset if self.size_bytes is None else min(offset, self.size_bytes)

    def _window(self, room_bytes: int | None) -> int:
        """The field of a packet that is not a SYN; without a limit the largest there is."""
        if room_bytes is None:
            return LARGEST_WINDOW
        return min(LARGEST_WINDOW, room_bytes >> self._window_shift)

    def _opening(self, step: int) -> bytes:
        """The MPTCP option of the SYN (0), the SYN/ACK (1) or the ACK (2)."""
        assert self.secrets is not None
        sender, receiver = self.secrets.sender, self.secrets.receiver
        if not self.joins:
            return mp_capable(*((), (receiver,), (sender, receiver))[step])
        nonce_sender = _made_up(self.seed, "sender nonce")[:4]
        nonce_receiver = _made_up(self.seed, "receiver nonce")[:4]
        if step == 0:
            return mp_join_syn(token_of(receiver), nonce_sender, self.ordinal, is_backup=self.is_backup)
        if step == 1:
            proof = join_proof(receiver, sender, nonce_receiver, nonce_sender)
            return mp_join_syn_ack(proof, nonce_receiver, self.ordinal, is_backup=self.is_backup)
        return mp_join_ack(join_proof(sender, receiver, nonce_sender, nonce_receiver))


def _clock_ms(time_ns: int) -> int:
    return _CLOCK_START_MS + time_ns // _MILLISECOND_NS


def _made_up(*parts: str) -> bytes:
    """Bytes that look random and follow from a text."""
    return hashlib.sha256("/".join(parts).encode()).digest()
