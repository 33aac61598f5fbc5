"""Reads throughput, bytes in flight, RTT and retransmissions of TCP connections from the headers in a capture."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from subflow_app.distribution import install_command
from subflow_app.features.measured.core.measured_table import (
    LEAST_INTERVAL_S,
    MOST_CELLS,
    MOST_SAMPLES,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    Target,
)
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.vocabulary.number_text import count_text, counted
from subflow_sim.gate import MOST_SECONDS, open_file

INTERVAL_S = 0.1
"""Default sampling interval in seconds, as for simulated runs. `ReadingOptions.interval_s` overrides it."""

MOST_CONNECTIONS = 64
"""Maximum number of connections read from a capture. The connections whose packets appear first are read."""

MOST_RECORD_BYTES = 16 << 20
"""Maximum size of a record, bytes. Loopback packets reach 64 KiB, and pcapng adds blocks of comments."""

_LARGEST_PAYLOAD = 9000
_WRAP = 1 << 32
_NANOS_MAGIC = (b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1")
_MAGICS = (b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", *_NANOS_MAGIC, b"\x0a\x0d\x0d\x0a")
_GAIN = 1 / 8  # gain of the smoothed RTT (RFC 6298)


class _Records:
    """Wraps a file and refuses reads above `MOST_RECORD_BYTES`, because a damaged capture may contain any length."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = ""  # dpkt reads this attribute
        self.seek = file.seek
        self.fileno = file.fileno

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MOST_RECORD_BYTES:
            raise ValueError(f"a record of {size} bytes")
        return self._file.read(size)


def looks_like_pcap(start: bytes) -> bool:
    """True if a file with these first bytes is a capture."""
    return start[:4] in _MAGICS


@dataclass(slots=True)
class _Side:
    """One direction of a connection: the data sent, and the ACKs from the other end."""

    isn: int | None = None
    next_seq: int = 0  # one past the last byte sent, relative to the first byte
    acked: int = 0
    payload: int = 0
    largest: int = 0
    unacked: deque[tuple[int, float, bool]] = field(default_factory=deque)  # end, time in s, whether sent only once
    sent: dict[int, int] = field(default_factory=dict)  # bytes on the wire by interval
    delivered: dict[int, int] = field(default_factory=dict)
    again: dict[int, int] = field(default_factory=dict)  # retransmitted packets by interval
    flight: dict[int, int] = field(default_factory=dict)
    srtt_s: float | None = None
    rtts: dict[int, float] = field(default_factory=dict)
    least_s: float = float("inf")
    leasts: dict[int, float] = field(default_factory=dict)


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
    interval_s = options.interval_s or INTERVAL_S
    if not LEAST_INTERVAL_S <= interval_s <= MOST_SECONDS:
        raise InputError(f"an interval of {interval_s:g} s; allowed: from {LEAST_INTERVAL_S:g} s to {MOST_SECONDS:g} s")
    sides: dict[tuple[str, str], _Side] = {}
    notices: list[str] = []
    first_s: float | None = None
    last = packets = foreign = back = 0
    before_s = 0.0
    widest = (0.0, 0.0)  # length and start of the longest gap, s
    with open_file(path) as file:
        if not file.read(1):
            raise InputError(f"{path.name} is empty")
        file.seek(0)
        try:
            reader = dpkt.pcap.UniversalReader(_Records(file))
            link = reader.datalink()
        except (ValueError, dpkt.Error, OSError) as error:
            raise InputError(f"{path.name} is not a readable capture: {error}") from error
        for stamp, frame in _packets(reader, dpkt, notices):
            packets += 1
            at_s = float(stamp)
            if not abs(at_s) <= MOST_SECONDS:
                raise InputError(f"{path.name}: packet {packets} is at {at_s:g} s; allowed: up to {MOST_SECONDS:g} s")
            first_s = at_s if first_s is None else first_s
            if at_s < before_s:
                back += 1
            elif packets > 1:
                widest = max(widest, (at_s - before_s, before_s - first_s))
            before_s = at_s
            segment = _segment(frame, link, dpkt)
            if segment is None:
                foreign += 1
                continue
            # Network cards may reorder neighbouring packets. A packet whose time precedes that of the first packet
            # counts in the first interval.
            place = max(0, int((at_s - first_s) / interval_s))
            last = max(last, place)
            if segment[:2] not in sides and len(sides) >= 2 * MOST_CONNECTIONS:
                foreign += 1
                continue
            _take(sides, segment, at_s, place)
    if back:
        notices.append(f"{back} packets are older than their predecessors: each counts at its own time.")
    if foreign:
        notices.append(
            f"{foreign} of {packets} packets are not TCP of the first {MOST_CONNECTIONS} connections: left out."
        )
    senders = _senders(sides)
    cells = (last + 1) * len(senders) * _COLUMNS
    if cells > MOST_CELLS or last >= MOST_SAMPLES:
        raise InputError(
            f"{path.name}: {counted(len(senders), 'connection')} over {(last + 1) * interval_s:.6g} s, every"
            f" {interval_s:g} s, would be {count_text(last + 1)} samples of {len(senders) * _COLUMNS} traces; at most"
            f" {count_text(MOST_SAMPLES)} samples and {count_text(MOST_CELLS)} figures are read. The longest"
            f" gap without a packet is {widest[0]:.6g} s, {widest[1]:.6g} s after the first: choose a longer interval,"
            " or cut the capture (editcap -A START -B STOP)"
        )
    columns, mss = _columns(senders, last + 1, interval_s, first_s or 0.0, options.flow, notices)
    if not packets:
        raise InputError(f"{path.name} has no whole packet: it was cut off, or nothing was captured")
    if not columns:
        raise InputError(f"{path.name}: none of its {packets} packets carries TCP data")
    return MeasuredTable("pcap", tuple(columns), tuple(notices), mss)


def _packets(reader: Any, dpkt: Any, notices: list[str]) -> Iterator[tuple[Any, bytes]]:
    """Timestamps and frames of all complete packets; a truncated capture ends with its last complete packet."""
    count = 0
    iterator = iter(reader)
    while True:
        try:
            stamp, frame = next(iterator)
        except StopIteration:
            return
        except (dpkt.Error, ValueError, IndexError) as error:
            notices.append(
                f"the file is cut off or damaged after packet {count} ({error}): the packets before were read."
            )
            return
        count += 1
        yield stamp, frame


def _segment(frame: bytes, link: int, dpkt: Any) -> tuple[str, str, Any, int, int] | None:
    """Sender, receiver, TCP header, payload bytes and bytes on the wire; None unless the frame is TCP over IP."""
    try:
        if link == dpkt.pcap.DLT_EN10MB:
            packet = dpkt.ethernet.Ethernet(frame).data
        elif link == dpkt.pcap.DLT_LINUX_SLL:
            packet = dpkt.sll.SLL(frame).data
        elif link == getattr(dpkt.pcap, "DLT_LINUX_SLL2", 276):
            packet = dpkt.sll2.SLL2(frame).data
        elif link == dpkt.pcap.DLT_NULL:
            packet = dpkt.loopback.Loopback(frame).data
        else:
            packet = dpkt.ip6.IP6(frame) if frame[:1] and frame[0] >> 4 == 6 else dpkt.ip.IP(frame)
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
    sides: dict[tuple[str, str], _Side], segment: tuple[str, str, Any, int, int], at_s: float, place: int
) -> None:
    source, target, tcp, payload, total = segment
    side = sides.setdefault((source, target), _Side())
    is_syn = bool(tcp.flags & 0x02)
    if side.isn is None or is_syn:
        side.isn = tcp.seq + (1 if is_syn else 0)
    if payload:
        begin = _relative(tcp.seq, side.isn, side.next_seq)
        end = begin + payload
        is_again = end <= side.next_seq
        side.sent[place] = side.sent.get(place, 0) + total
        side.payload += payload
        side.largest = max(side.largest, payload)
        if is_again:
            side.again[place] = side.again.get(place, 0) + 1
            # Karn's algorithm: the ACK of a retransmitted segment yields no RTT sample.
            side.unacked = deque((e, t, once and not begin < e <= end) for e, t, once in side.unacked)
        else:
            side.unacked.append((end, at_s, True))
            side.next_seq = end
        side.flight[place] = side.next_seq - side.acked
    other = sides.get((target, source))
    if other is not None and other.isn is not None and tcp.flags & 0x10:
        _acknowledge(other, _relative(tcp.ack, other.isn, other.acked), at_s, place)


def _acknowledge(side: _Side, ack: int, at_s: float, place: int) -> None:
    if not side.acked < ack <= side.next_seq:
        return
    side.delivered[place] = side.delivered.get(place, 0) + ack - side.acked
    side.acked = ack
    measured_s: float | None = None
    while side.unacked and side.unacked[0][0] <= ack:
        _, sent_s, is_once = side.unacked.popleft()
        measured_s = at_s - sent_s if is_once else None
    if measured_s is not None and measured_s >= 0:
        side.srtt_s = measured_s if side.srtt_s is None else side.srtt_s + _GAIN * (measured_s - side.srtt_s)
        side.least_s = min(side.least_s, measured_s)
    if side.srtt_s is not None:
        side.rtts[place] = side.srtt_s
        side.leasts[place] = side.least_s
    side.flight[place] = side.next_seq - side.acked


def _relative(number: int, isn: int, near: int) -> int:
    """Sequence number relative to the first byte, unwrapped beyond 4 GiB: the candidate nearest to `near`."""
    value = (number - isn) % _WRAP
    return value + _WRAP * round((near - value) / _WRAP)


def _senders(sides: Mapping[tuple[str, str], _Side]) -> list[tuple[tuple[str, str], _Side]]:
    """For each connection, the direction with more payload, which becomes the subflow; both if they are equal."""
    return [
        (key, side)
        for key, side in sides.items()
        if side.payload and side.payload >= (sides[key[::-1]].payload if key[::-1] in sides else 0)
    ]


_COLUMNS = 6  # columns per connection, listed in `_columns`


def _columns(
    senders: Sequence[tuple[tuple[str, str], _Side]],
    count: int,
    interval_s: float,
    first_s: float,
    flow: str,
    notices: list[str],
) -> tuple[list[RawColumn], int | None]:
    time_s = first_s + interval_s * np.arange(1, count + 1, dtype=np.float64)
    # Payloads above the limit are ignored: they do not reveal the MSS, because hosts merge received packets (GRO).
    largest = max((side.largest for _, side in senders if side.largest <= _LARGEST_PAYLOAD), default=0)
    columns: list[RawColumn] = []
    for number, ((source, target), side) in enumerate(senders, start=1):
        owner = f"{flow}/{number}"
        notices.append(f"{owner} is {source} to {target}, {side.payload} bytes of payload.")
        for trace, unit, values in (
            ("throughput_bps", "bit/s", _rate(side.sent, count, interval_s)),
            ("goodput_bps", "bit/s", _rate(side.delivered, count, interval_s)),
            ("inflight_pkts", "B", _held(side.flight, count)),
            ("srtt_s", "s", _held(side.rtts, count)),
            ("min_rtt_s", "s", _held(side.leasts, count)),
            ("losses_pkts", "pkt", _counts(side.again, count)),
        ):
            title = f"{source} > {target}: {trace.rpartition('_')[0]}"
            columns.append(RawColumn(title, time_s, values, unit, Target(SUBFLOW, owner, trace)))
    return columns, largest or None


def _rate(by_place: dict[int, int], count: int, interval_s: float) -> NDArray[np.float64]:
    rate: NDArray[np.float64] = _counts(by_place, count) * 8 / interval_s
    return rate


def _counts(by_place: dict[int, int], count: int) -> NDArray[np.float64]:
    values = np.zeros(count)
    values[list(by_place)] = list(by_place.values())
    return values


def _held(by_place: dict[int, Any], count: int) -> NDArray[np.float64]:
    """Series that holds each value until the next one; NaN before the first."""
    values = np.full(count, np.nan)
    values[list(by_place)] = list(by_place.values())
    places = np.where(np.isfinite(values), np.arange(count), -1)
    last = np.maximum.accumulate(places)
    return np.where(last >= 0, values[np.maximum(last, 0)], np.nan)
