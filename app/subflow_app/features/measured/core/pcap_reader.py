"""Reads throughput, bytes in flight, RTT and retransmissions of TCP connections from the headers in a capture."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

from subflow_app.distribution import install_command
from subflow_app.features.measured.core.bins import Bins, FlowNames, Named
from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn, ReadingOptions
from subflow_app.features.measured.core.pcap_files import frames, looks_like_pcap
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.vocabulary.number_text import counted
from subflow_sim.gate import MOST_SECONDS

MOST_CONNECTIONS = 64
"""Maximum number of connections read from a capture. The connections whose packets appear first are read."""

_LARGEST_PAYLOAD = 9000
_WRAP = 1 << 32
_GAIN = 1 / 8  # gain of the smoothed RTT (RFC 6298)
_SYN, _ACK = 0x02, 0x10
_MPTCP, _CAPABLE, _JOIN, _SIGNAL = 30, 0, 1, 2  # the TCP option and three of its subtypes (RFC 8684)

_HANDSHAKE = 4  # segments at the beginning of a connection that may have keys or tokens

# Link-layer types of captures, and the number of bytes before the IP header where it is constant.
_ETHERNET, _COOKED, _COOKED_2 = 1, 113, 276
_OFFSETS = {0: 4, 108: 4, 9: 2, 12: 0, 14: 0, 101: 0, 228: 0, 229: 0}
_PPP = 9
_LINK_NAMES = "Ethernet, Linux cooked (SLL, SLL2), raw IP, PPP, loopback"


@dataclass(slots=True)
class _Side:
    """One direction of a connection: the data sent, and the ACKs from the other end."""

    key: str
    isn: int | None = None
    next_seq: int = 0  # one past the last byte sent, relative to the first byte
    acked: int = 0
    payload: int = 0
    largest: int = 0
    unacked: deque[tuple[int, float, bool]] = field(default_factory=deque)  # end, time in s, whether sent only once
    srtt_s: float | None = None
    least_s: float = float("inf")


@dataclass(slots=True)
class _Connections:
    """The directions of all TCP connections, and the MPTCP connections to which they belong.

    Attributes:
        sides: direction by (sender, receiver).
        tokens: the connection, as a pair of ends, that announced the key of a token.
        joins: token of the MPTCP connection that a TCP connection joined, by its pair of ends.
        clients: sender of the SYN, by pair of ends.
        looked_at: number of segments whose options were read, by pair of ends.
        signals: pairs of ends whose segments have data sequence signals of MPTCP.
    """

    sides: dict[tuple[str, str], _Side] = field(default_factory=dict)
    tokens: dict[bytes, frozenset[str]] = field(default_factory=dict)
    joins: dict[frozenset[str], bytes] = field(default_factory=dict)
    clients: dict[frozenset[str], str] = field(default_factory=dict)
    looked_at: dict[frozenset[str], int] = field(default_factory=dict)
    signals: set[frozenset[str]] = field(default_factory=set)

    def group_of(self, ends: frozenset[str]) -> Hashable:
        """The MPTCP or TCP connection to which a pair of ends belongs."""
        token = self.joins.get(ends)
        return ends if token is None else self.tokens.get(token, token)

    @property
    def mptcp(self) -> set[Hashable]:
        """The groups that are MPTCP connections."""
        return {*self.tokens.values(), *map(self.group_of, self.joins), *self.strays}

    @property
    def strays(self) -> set[Hashable]:
        """The subflows of MPTCP whose handshake the capture lacks, so that their connection is unknown."""
        return {ends for ends in self.signals if ends not in self.joins and ends not in self.tokens.values()}

    def take_options(self, source: str, target: str, tcp: Any, dpkt: Any) -> None:
        """Note keys and tokens in the TCP options of a SYN, or of the first segments of a connection."""
        ends = frozenset((source, target))
        count = self.looked_at.get(ends, 0)
        if count >= _HANDSHAKE and not tcp.flags & _SYN:
            return
        self.looked_at[ends] = count + 1
        if tcp.flags & _SYN and not tcp.flags & _ACK:
            self.clients[ends] = source
        for kind, value in dpkt.tcp.parse_opts(tcp.opts):
            if kind != _MPTCP or not value:
                continue
            if value[0] >> 4 == _SIGNAL:
                self.signals.add(ends)
            if value[0] >> 4 == _CAPABLE:
                # RFC 8684, 3.1: the token is the beginning of the hash of a key; version 0 took SHA-1 (RFC 6824).
                digest = sha1 if value[0] & 0x0F == 0 else sha256
                for at in (2, 10):
                    key = value[at : at + 8]
                    if len(key) == 8:
                        self.tokens[digest(key, usedforsecurity=False).digest()[:4]] = ends
            elif value[0] >> 4 == _JOIN and len(value) == 10 and tcp.flags & _SYN and not tcp.flags & _ACK:
                self.joins[ends] = bytes(value[2:6])


def read_pcap(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a capture.

    Raises:
        InputError: if the file contains no TCP data, or is not a capture.
        AppError: if dpkt is not installed.
        OSError: if the file cannot be read.
    """
    try:
        import dpkt
    except ImportError:
        raise AppError(f"reading captures takes the package dpkt: {install_command('pcap')}") from None
    bins = Bins(options.interval_s)
    connections = _Connections()
    sides = connections.sides
    damages: list[str] = []
    packets = foreign = back = 0
    before_s = 0.0
    unread: set[int] = set()
    for at_s, frame, link in frames(path, options.watch, damages):
        packets += 1
        if not abs(at_s) <= MOST_SECONDS:
            raise InputError(f"{path.name}: packet {packets} is at {at_s:g} s; allowed: up to {MOST_SECONDS:g} s")
        back += packets > 1 and at_s < before_s
        before_s = at_s
        # Network cards may reorder neighbouring packets. A packet whose time precedes that of the first packet
        # counts in the first interval.
        place = bins.place_of(at_s)
        segment = _segment(frame, link, dpkt)
        if segment is None:
            if link not in _OFFSETS and link not in (_ETHERNET, _COOKED, _COOKED_2):
                unread.add(link)
            foreign += 1
            continue
        source, target, tcp = segment[:3]
        if (source, target) not in sides and len(sides) >= 2 * MOST_CONNECTIONS:
            foreign += 1
            continue
        connections.take_options(source, target, tcp, dpkt)
        _take(bins, sides, segment, at_s, place)
    notices = list(damages)
    if back:
        notices.append(f"{back} packets are older than their predecessors: each counts at its own time.")
    if foreign:
        notices.append(
            f"{foreign} of {packets} packets are not TCP of the first {MOST_CONNECTIONS} connections: left out."
        )
    senders = _senders(connections)
    columns, mss = _columns(path.name, bins, connections, senders, options, notices)
    if not packets:
        raise InputError(f"{path.name} has no whole packet: it was cut off, or nothing was captured")
    if unread and not columns:
        raise InputError(
            f"{path.name}: its frames have the link-layer type {', '.join(map(str, sorted(unread)))}, which is not"
            f" read; allowed: {_LINK_NAMES}"
        )
    if not columns:
        raise InputError(f"{path.name}: none of its {packets} packets carries TCP data")
    groups = {connections.group_of(frozenset(key)) for key, _ in senders}
    strays, mptcp = groups & connections.strays, groups & connections.mptcp
    if strays:
        notices.append(
            f"{counted(len(strays), 'subflow')} of MPTCP began before the capture, so that their connections are"
            " unknown: each is a flow of its own."
        )
    kinds = [name for name, some in (("TCP", groups - mptcp), ("MPTCP", mptcp)) if some]
    return MeasuredTable(
        "pcap", tuple(columns), tuple(notices), mss, transport=" and ".join(kinds), is_whole=not damages
    )


def _segment(frame: bytes, link: int, dpkt: Any) -> tuple[str, str, Any, int, int] | None:
    """Sender, receiver, TCP header, payload bytes and bytes on the wire; None unless the frame is TCP over IP."""
    try:
        if link == _ETHERNET:
            packet = dpkt.ethernet.Ethernet(frame).data
        elif link == _COOKED:
            packet = dpkt.sll.SLL(frame).data
        elif link == _COOKED_2:
            packet = dpkt.sll2.SLL2(frame).data
        elif link in _OFFSETS:
            # HDLC-like framing may put address and control (ff 03) before the protocol of PPP (RFC 1662).
            start = _OFFSETS[link] + (2 if link == _PPP and frame[:2] == b"\xff\x03" else 0)
            packet = dpkt.ip6.IP6(frame[start:]) if frame[start] >> 4 == 6 else dpkt.ip.IP(frame[start:])
        else:
            return None
        if isinstance(packet, dpkt.ip.IP):
            family, header = socket.AF_INET, packet.hl * 4
            # The length field is 0 if the network card segments the packet (TSO); the frame then provides the length.
            total = packet.len or len(bytes(packet))
        elif isinstance(packet, dpkt.ip6.IP6):
            family, header = socket.AF_INET6, 40
            total = packet.plen + 40
        else:
            return None
        tcp = packet.data
        if not isinstance(tcp, dpkt.tcp.TCP):
            return None
        source = f"{socket.inet_ntop(family, packet.src)}:{tcp.sport}"
        target = f"{socket.inet_ntop(family, packet.dst)}:{tcp.dport}"
        # Lengths come from the headers, because captures often truncate packets.
        payload = max(0, total - header - tcp.off * 4)
    except (dpkt.Error, ValueError, IndexError, AttributeError):
        return None
    return source, target, tcp, payload, total


def _take(
    bins: Bins, sides: dict[tuple[str, str], _Side], segment: tuple[str, str, Any, int, int], at_s: float, place: int
) -> None:
    source, target, tcp, payload, total = segment
    side = sides.setdefault((source, target), _Side(f"{source} > {target}"))
    is_syn = bool(tcp.flags & _SYN)
    if side.isn is None or is_syn:
        side.isn = tcp.seq + (1 if is_syn else 0)
    if payload:
        begin = _relative(tcp.seq, side.isn, side.next_seq)
        end = begin + payload
        is_again = end <= side.next_seq
        bins.add(side.key, "throughput_bps", place, total)
        side.payload += payload
        side.largest = max(side.largest, payload)
        bins.add(side.key, "losses_pkts", place, 1.0 if is_again else 0.0)
        if is_again:
            # Karn's algorithm: the ACK of a retransmitted segment yields no RTT sample.
            side.unacked = deque((e, t, once and not begin < e <= end) for e, t, once in side.unacked)
        else:
            side.unacked.append((end, at_s, True))
            side.next_seq = end
        bins.hold(side.key, "inflight_pkts", place, side.next_seq - side.acked)
    other = sides.get((target, source))
    if other is not None and other.isn is not None and tcp.flags & _ACK:
        _acknowledge(bins, other, _relative(tcp.ack, other.isn, other.acked), at_s, place)


def _acknowledge(bins: Bins, side: _Side, ack: int, at_s: float, place: int) -> None:
    if not side.acked < ack <= side.next_seq:
        return
    bins.add(side.key, "goodput_bps", place, ack - side.acked)
    side.acked = ack
    measured_s: float | None = None
    while side.unacked and side.unacked[0][0] <= ack:
        _, sent_s, is_once = side.unacked.popleft()
        measured_s = at_s - sent_s if is_once else None
    if measured_s is not None and measured_s >= 0:
        side.srtt_s = measured_s if side.srtt_s is None else side.srtt_s + _GAIN * (measured_s - side.srtt_s)
        side.least_s = min(side.least_s, measured_s)
    if side.srtt_s is not None:
        bins.hold(side.key, "srtt_s", place, side.srtt_s)
        bins.hold(side.key, "min_rtt_s", place, side.least_s)
    bins.hold(side.key, "inflight_pkts", place, side.next_seq - side.acked)


def _relative(number: int, isn: int, near: int) -> int:
    """Sequence number relative to the first byte, unwrapped beyond 4 GiB: the candidate nearest to `near`."""
    value = (number - isn) % _WRAP
    return value + _WRAP * round((near - value) / _WRAP)


def _senders(connections: _Connections) -> list[tuple[tuple[str, str], _Side]]:
    """The directions that become subflows: for each connection, the one with more payload; both if they are equal.

    The subflows of an MPTCP connection send in the same direction, which their payloads together decide.
    """
    sides = connections.sides
    payloads: dict[tuple[Hashable, bool], int] = {}

    def way(key: tuple[str, str]) -> tuple[Hashable, bool]:
        """The group of a direction, and whether it leads from client to server."""
        ends = frozenset(key)
        return connections.group_of(ends), connections.clients.get(ends, min(ends)) == key[0]

    for key, side in sides.items():
        payloads[way(key)] = payloads.get(way(key), 0) + side.payload
    chosen = []
    for key, side in sides.items():
        group, is_forward = way(key)
        if side.payload and payloads[group, is_forward] >= payloads.get((group, not is_forward), 0):
            chosen.append((key, side))
    return chosen


def _columns(
    file: str,
    bins: Bins,
    connections: _Connections,
    senders: Sequence[tuple[tuple[str, str], _Side]],
    options: ReadingOptions,
    notices: list[str],
) -> tuple[list[RawColumn], int | None]:
    # Payloads above the limit are ignored: they do not reveal the MSS, because hosts merge received packets (GRO).
    largest = max((side.largest for _, side in senders if side.largest <= _LARGEST_PAYLOAD), default=0)
    names = FlowNames(options.flow)
    named = {}
    for (source, target), side in senders:
        owner = names.subflow_of(connections.group_of(frozenset((source, target))))
        named[side.key] = Named(owner, side.key if options.is_addressed else owner, side.key)
        where = f" is {source} to {target}," if options.is_addressed else " sent"
        notices.append(f"{owner}{where} {side.payload} bytes of payload.")
    columns = bins.columns(file, named, {"inflight_pkts": "B", "srtt_s": "s", "min_rtt_s": "s"})
    return columns, largest or None


FORMATS = (TraceFormat("pcap", "capture", (".pcap", ".pcapng", ".cap"), looks_like_pcap, read_pcap, is_binary=True),)
