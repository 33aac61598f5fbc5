"""Reads tables of packets that ``tshark -T fields -E header=y`` prints, with any separator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subflow_app.features.measured.core.bins import Bins, FlowNames, Named
from subflow_app.features.measured.core.csv_reader import rows_of, table_shape
from subflow_app.features.measured.core.measured_table import MeasuredTable, ReadingOptions
from subflow_app.features.measured.core.text_lines import time_of
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import counted

_MOST_STREAMS = 64
_TIMES = ("frame.time_relative", "frame.time_epoch", "tcp.time_relative", "_ws.col.time", "frame.time")
_SOURCES = ("ip.src", "ipv6.src", "tcp.srcport", "udp.srcport")
_RTTS = ("tcp.analysis.ack_rtt",)
_FLIGHTS = ("tcp.analysis.bytes_in_flight", "mptcp.analysis.bytes_in_flight")
_PAYLOADS = ("tcp.len", "udp.length")
_AGAIN = ("tcp.analysis.retransmission", "tcp.analysis.fast_retransmission", "tcp.analysis.spurious_retransmission")
_WIRE = ("frame.len", "ip.len")
_STREAMS = ("tcp.stream", "udp.stream")
_CONNECTIONS = ("mptcp.stream",)
_TRUE = ("1", "true", "set")
_UNITS = {"srtt_s": "s", "inflight_pkts": "B"}
_GAIN = 1 / 8  # gain of the smoothed RTT (RFC 6298)
_ADVICE = (
    "tshark -r FILE -T fields -E header=y -E separator=, -e frame.time_relative -e tcp.stream -e tcp.srcport"
    " -e tcp.len -e tcp.analysis.ack_rtt -e tcp.analysis.bytes_in_flight -e tcp.analysis.retransmission"
)


@dataclass(frozen=True, slots=True)
class _Fields:
    """Places of the columns, by the names of tshark's fields in lower case."""

    places: Mapping[str, int]

    def text(self, row: Sequence[str], names: Sequence[str]) -> str:
        """The first text that a row has in one of these fields; of several values in a cell, the first."""
        for name in names:
            place = self.places.get(name)
            if place is not None and place < len(row) and row[place].strip():
                return row[place].strip().strip('"').partition(",")[0]
        return ""

    def number(self, row: Sequence[str], names: Sequence[str]) -> float | None:
        """The number that a row has in one of these fields; None without a number."""
        try:
            return float(self.text(row, names))
        except ValueError:
            return None

    def has(self, names: Sequence[str]) -> bool:
        """True if the table has one of these fields."""
        return any(name in self.places for name in names)


@dataclass(slots=True)
class _Side:
    """The packets of one sender in a stream."""

    payload: float = 0.0
    packets: int = 0
    srtt_s: float | None = None


def looks_like_tshark(head: bytes) -> bool:
    """True if the first line of a file has names of tshark's fields."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff").partition("\n")[0].lower()
    return any(name in first for name in _TIMES[:3]) or sum(name in first for name in ("frame.", "tcp.", "ip.")) >= 2


def read_tshark(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a table; each stream becomes a flow, or a subflow if the table has mptcp.stream.

    Raises:
        InputError: if the table has no times, or neither RTTs nor lengths.
        OSError: if the table cannot be read.
    """
    encoding, shape = table_shape(path)
    fields = _Fields({title.lower().strip(): place for place, title in reversed([*enumerate(shape.headings)])})
    if not fields.has(_TIMES):
        raise InputError(f"{path.name} has no times of packets; allowed: {', '.join(_TIMES)}. For example: {_ADVICE}")
    if not fields.has((*_RTTS, *_FLIGHTS, *_PAYLOADS, *_WIRE)):
        raise InputError(f"{path.name} has neither RTTs nor lengths of packets. For example: {_ADVICE}")
    has_sides = fields.has(_SOURCES)
    bins = Bins(options.interval_s)
    sides: dict[str, dict[str, _Side]] = {}
    connections: dict[str, str] = {}
    untimed = beyond = 0
    for number, row in rows_of(path, encoding, shape.separator, options.watch):
        if number <= shape.first_row:
            continue
        at_s = _time_of(fields, row)
        if at_s is None:
            untimed += 1
            continue
        stream = fields.text(row, _STREAMS)
        if fields.has(_STREAMS) and not stream:
            beyond += 1
            continue
        if stream not in sides and len(sides) >= _MOST_STREAMS:
            beyond += 1
            continue
        source = "|".join(fields.text(row, (name,)) for name in _SOURCES) if has_sides else ""
        ends = sides.setdefault(stream, {})
        side = ends.setdefault(source, _Side())
        # The first packets of a stream may lack the number of the MPTCP connection.
        connection = fields.text(row, _CONNECTIONS)
        if connection or stream not in connections:
            connections[stream] = connection or f"stream {stream}"
        place = bins.place_of(at_s)
        key = f"{stream} {source}"
        payload, wire = fields.number(row, _PAYLOADS), fields.number(row, _WIRE)
        side.packets += 1
        side.payload += payload if payload is not None else wire or 0.0
        if payload or payload is None:
            bins.add(key, "throughput_bps", place, wire if wire is not None else payload or 0.0)
        if any(fields.text(row, (name,)).lower() in _TRUE for name in _AGAIN):
            bins.add(key, "losses_pkts", place, 1.0)
        elif fields.has(_AGAIN):
            bins.add(key, "losses_pkts", place, 0.0)
        flight = fields.number(row, _FLIGHTS)
        if flight is not None:
            bins.hold(key, "inflight_pkts", place, flight)
        rtt_s = fields.number(row, _RTTS)
        if rtt_s is not None and rtt_s >= 0:
            # The packet with the sample is the ACK, which comes from the other end than the data.
            other = next((each for each in ends if each != source), source) if has_sides else source
            sender = ends[other]
            sender.srtt_s = rtt_s if sender.srtt_s is None else sender.srtt_s + _GAIN * (rtt_s - sender.srtt_s)
            bins.hold(f"{stream} {other}", "srtt_s", place, sender.srtt_s)
    notices = []
    if untimed:
        notices.append(f"{counted(untimed, 'line')} without a time: left out.")
    if beyond:
        notices.append(f"{counted(beyond, 'packet')} of no stream or of streams after {_MOST_STREAMS}: left out.")
    if not has_sides:
        notices.append("the table does not name senders (-e tcp.srcport): both directions of a stream are one.")
    names = FlowNames(options.flow)
    named = {}
    for stream, ends in sides.items():
        source = max(ends, key=lambda end: ends[end].payload)
        key = f"{stream} {source}"
        if key in bins.keys:
            title = f"stream {stream}" if stream else "packets"
            named[key] = Named(names.subflow_of(connections[stream]), title)
            notices.append(f"{named[key].owner} is {title}: {counted(ends[source].packets, 'packet')}.")
    if not named:
        raise InputError(
            f"{path.name}: none of its lines has the time and the figures of a packet. For example: {_ADVICE}"
        )
    columns = bins.columns(path.name, named, _UNITS)
    kind = "MPTCP" if fields.has(_CONNECTIONS) else "TCP" if fields.has(("tcp.stream",)) else ""
    return MeasuredTable("tshark", tuple(columns), tuple(notices), transport=kind, tool="tshark")


def _time_of(fields: _Fields, row: Sequence[str]) -> float | None:
    at_s = fields.number(row, _TIMES)
    return at_s if at_s is not None else time_of(fields.text(row, _TIMES))


FORMATS = (TraceFormat("tshark", "table of tshark", (".csv", ".tsv"), looks_like_tshark, read_tshark),)
