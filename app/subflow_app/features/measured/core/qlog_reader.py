"""Reads qlog files of QUIC connections, as JSON, JSON-SEQ or lines of JSON, from version 0.3 to the current drafts.

Sources: draft-ietf-quic-qlog-main-schema (files and times) and draft-ietf-quic-qlog-quic-events (events). Metrics give
windows and round-trip times; packets give rates and losses. Multipath stacks name the path in each event or its data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subflow_app.features.measured.core.bins import Bins, FlowNames, Named
from subflow_app.features.measured.core.measured_table import (
    MOST_TRACES,
    MeasuredTable,
    ReadingOptions,
)
from subflow_app.features.measured.core.text_lines import text_lines
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import counted
from subflow_sim.gate import json_tree, read_file

_MOST_BYTES = 256_000_000
_RECORD = "\x1e"  # RFC 7464: a record of a JSON text sequence begins with it

# Metrics of the events: the trace and its unit. Windows are bytes, times are milliseconds.
_METRICS: Mapping[str, tuple[str, str]] = {
    "congestion_window": ("cwnd_pkts", "B"),
    "cwnd": ("cwnd_pkts", "B"),  # aioquic
    "ssthresh": ("ssthresh_pkts", "B"),
    "bytes_in_flight": ("inflight_pkts", "B"),
    "smoothed_rtt": ("srtt_s", "ms"),
    "min_rtt": ("min_rtt_s", "ms"),
    "pacing_rate": ("pacing_rate_bps", "bit/s"),
}
_MOST_PACKET_BYTES = 65535
_UNITS = dict(_METRICS.values())
_PATH_KEYS = ("path_id", "path", "tuple")
_SENT, _RECEIVED, _ACKED = "throughput_bps", "received_bps", "goodput_bps"
_ONE_RTT = ("1RTT", "0RTT")  # packet types that share a space of packet numbers (RFC 9000, 12.3)
_MOST_OUTSTANDING = 1_000_000
# Initial value of a threshold that is not reached yet.
_UNLIMITED = float(1 << 53)


@dataclass(slots=True)
class _Trace:
    """One connection of a file, as seen at one end.

    Attributes:
        number: place of the trace in the file.
        end: "client", "server" or another text.
        format: meaning of the times: absolute, relative or delta.
        reference_ms: time at which relative times begin, ms.
        scale: factor from the file's unit of time to seconds.
        common: fields that all its events share.
        clock_s: time of the latest event, s.
        paths: identifiers of all paths, in the order of their first events.
        sent: bytes of the packets sent, by path, packet number space and number, until they are acknowledged.
    """

    number: int
    end: str = ""
    format: str = "relative"
    reference_ms: float = 0.0
    scale: float = 1e-3
    common: Mapping[str, Any] = field(default_factory=dict)
    clock_s: float = 0.0
    paths: dict[str, None] = field(default_factory=dict)
    sent: dict[tuple[str, str, int], float] = field(default_factory=dict)

    def key(self, path: str) -> str:
        """Key of a path in `Bins`."""
        return f"{self.number} {path}"


def looks_like_qlog(head: bytes) -> bool:
    """True if a file that begins with these bytes is a qlog file."""
    start = head.lstrip(b"\x1e \t\r\n")
    return start.startswith(b"{") and (b'"qlog_version"' in start or b"ietf:params:qlog" in start)


def read_qlog(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a file; each trace becomes a flow, each path a subflow.

    Raises:
        InputError: if the file is not qlog, has another version, or contains no metrics and no packets.
        OSError: if the file cannot be read.
    """
    bins = Bins(options.interval_s)
    traces: dict[int, _Trace] = {}
    packet_bytes: list[int] = []
    damages: list[str] = []
    tools: list[str] = []
    unread = 0
    try:
        for trace, event in _events(path, options, damages, tools):
            traces[trace.number] = trace
            at_s = _time_of(trace, event)
            if at_s is None or not isinstance(event.get("data"), dict):
                unread += 1
                continue
            trace.paths.setdefault(_path_of(trace, event))
            if len(trace.paths) * len(traces) > MOST_TRACES:
                raise InputError(f"{path.name} has more than {MOST_TRACES} paths")
            size = event["data"].get("max_datagram_size")
            if isinstance(size, int) and 0 < size <= _MOST_PACKET_BYTES:
                packet_bytes.append(size)
            _take(bins, trace, event, at_s)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"{path.name} is not a readable qlog file: {type(error).__name__}: {error}") from error
    notices = list(damages)
    if unread:
        notices.append(f"{counted(unread, 'event')} without a time or data: left out.")
    named = _named(bins, traces.values(), options, notices)
    if not named:
        raise InputError(
            f"{path.name}: none of its events has metrics or packets (recovery_metrics_updated, packet_sent,"
            " packet_received): log them, too"
        )
    columns = bins.columns(path.name, named, _UNITS)
    return MeasuredTable(
        "qlog",
        tuple(columns),
        tuple(notices),
        transport="QUIC",
        tool=tools[0] if tools else "",
        is_whole=not damages,
        mss_bytes=packet_bytes[0] if packet_bytes else None,
    )


def _named(bins: Bins, traces: Iterable[_Trace], options: ReadingOptions, notices: list[str]) -> dict[str, Named]:
    """Name and title of each subflow by its key in `bins`; adds a notice for each."""
    names = FlowNames(options.flow)
    named = {}
    for trace in traces:
        paths = [path for path in trace.paths if trace.key(path) in bins.keys]
        if len(paths) > 1 and "" in paths:
            # With several paths, packets that name none cannot be assigned.
            paths.remove("")
            notices.append("some events name no path, although others do: left out.")
        for path in paths:
            key = trace.key(path)
            owner = names.subflow_of(trace.number)
            title = (f"path {path}" if path else "connection") + (
                f" of trace {trace.number + 1}" if trace.number else ""
            )
            named[key] = Named(owner, title)
            sent, received = bins.total(key, _SENT), bins.total(key, _RECEIVED)
            is_receiver = received > sent
            if is_receiver:
                # At a receiver, the rate of arrivals is the rate of the flow; the packets sent are acknowledgements.
                bins.drop(key, _SENT)
                bins.drop(key, _ACKED)
                bins.rename(key, _RECEIVED, _SENT)
            else:
                bins.drop(key, _RECEIVED)
            end = f" at the {trace.end}" if trace.end else ""
            packets = f": {received:.0f} bytes received" if is_receiver else f": {sent:.0f} bytes sent" if sent else ""
            notices.append(f"{owner} is {title}{end}{packets}.")
    return named


# ---- files ----


def _events(
    path: Path, options: ReadingOptions, damages: list[str], tools: list[str]
) -> Iterator[tuple[_Trace, Mapping[str, Any]]]:
    """Yield all events with their traces."""
    lines = text_lines(path, "utf-8", options.watch)
    first = next(lines, "").lstrip("\ufeff")
    try:
        header = json_tree(first.strip().lstrip(_RECORD))
        is_sequence = isinstance(header, dict) and "traces" not in header
    except ValueError:
        header, is_sequence = None, False  # one document over several lines
    if not is_sequence:
        document = json_tree(read_file(path, _MOST_BYTES)) if header is None else header
        _check_version(document)
        for number, content in enumerate(document["traces"]):
            trace = _trace(number, content, document, tools)
            for event in content.get("events") or ():
                yield trace, event
        return
    _check_version(header)
    trace = _trace(0, header.get("trace") or {}, header, tools)
    for number, line in enumerate(lines, start=2):
        text = line.strip().lstrip(_RECORD)
        if not text:
            continue
        try:
            event = json_tree(text)
        except ValueError:
            damages.append(f"the file is cut off or damaged at line {number}: the lines before were read.")
            return
        if isinstance(event, dict):
            yield trace, event


def _check_version(header: Any) -> None:
    version = str(header.get("qlog_version", ""))
    if version and version[:3] not in ("0.3", "0.4") and not version.startswith("1"):
        raise InputError(f'qlog_version = "{version}"; allowed: 0.3, 0.4 and the drafts since (file_schema)')


def _trace(number: int, content: Mapping[str, Any], header: Mapping[str, Any], tools: list[str]) -> _Trace:
    common = content.get("common_fields") or {}
    end = content.get("vantage_point") or {}
    reference = common.get("reference_time", 0)
    if isinstance(reference, dict):  # since draft 8: an object with the epoch of a clock
        reference = 0
    units = str((content.get("configuration") or {}).get("time_units") or common.get("time_units") or "ms")
    version = (content.get("configuration") or {}).get("code_version")
    for each in (end.get("name"), content.get("title"), header.get("title")):
        if isinstance(each, str) and each.strip():
            tools.append(f"{each.strip()[:80]} {version if isinstance(version, str) else ''}".strip())
            break
    kind = end.get("type")
    return _Trace(
        number,
        kind if kind in ("client", "server", "network") else "",
        str(common.get("time_format", "relative")),
        float(reference),
        1e-6 if units == "us" else 1e-3,
        common,
    )


def _time_of(trace: _Trace, event: Mapping[str, Any]) -> float | None:
    """Time of an event since the reference of its trace, s; None if the time is missing."""
    value = event.get("time", event.get("relative_time", event.get("delta_time")))
    if not isinstance(value, (int, float)):
        return None
    at_s = float(value) * trace.scale
    if trace.format in ("delta", "relative_to_previous_event"):
        at_s += trace.clock_s
    elif trace.format == "absolute":
        at_s -= trace.reference_ms * trace.scale
    trace.clock_s = at_s
    return at_s


def _path_of(trace: _Trace, event: Mapping[str, Any]) -> str:
    """Identifier of the path of an event; empty if the event names none."""
    data = event.get("data")
    header = data.get("header") if isinstance(data, dict) else None
    for place in (data, header, event, trace.common):
        if isinstance(place, dict):
            for key in _PATH_KEYS:
                if isinstance(place.get(key), (str, int)):
                    return str(place[key])[:40]
    return ""


# ---- events ----


def _take(bins: Bins, trace: _Trace, event: Mapping[str, Any], at_s: float) -> None:
    """Add the figures of an event to its path."""
    name = str(event.get("name", "")).rpartition(":")[2]
    data = event["data"]
    path = _path_of(trace, event)
    key = trace.key(path)
    if name in ("metrics_updated", "recovery_metrics_updated"):
        place = bins.place_of(at_s)
        for metric, (target, _) in _METRICS.items():
            value = data.get(metric)
            if isinstance(value, (int, float)) and abs(value) < _UNLIMITED:
                bins.hold(key, target, place, float(value))
    elif name in ("packet_sent", "packet_received"):
        header = data.get("header") or {}
        length = (data.get("raw") or {}).get("length", header.get("packet_size"))  # packet_size: early drafts
        place = bins.place_of(at_s)
        is_sent = name == "packet_sent"
        if isinstance(length, (int, float)):
            bins.add(key, _SENT if is_sent else _RECEIVED, place, float(length))
        number, space = header.get("packet_number"), _space_of(header)
        if is_sent and isinstance(number, int) and isinstance(length, (int, float)):
            if len(trace.sent) >= _MOST_OUTSTANDING:
                trace.sent.pop(next(iter(trace.sent)))
            trace.sent[path, space, number] = float(length)
        elif not is_sent:
            for frame in data.get("frames") or ():
                acked = frame.get("acked_ranges") if isinstance(frame, dict) else None
                if acked:
                    _acknowledge(bins, trace, str(frame.get("path_id", path)), space, acked, place)
    elif name == "packet_lost":
        bins.add(key, "losses_pkts", bins.place_of(at_s), 1.0)


def _space_of(header: Mapping[str, Any]) -> str:
    kind = str(header.get("packet_type", "1RTT"))
    return "1RTT" if kind in _ONE_RTT else kind


def _acknowledge(bins: Bins, trace: _Trace, path: str, space: str, ranges: Sequence[Any], place: int) -> None:
    """Count the bytes of the packets that an ACK frame reports for the first time."""
    for each in ranges:
        first, last = (int(each[0]), int(each[-1])) if isinstance(each, list) else (int(each), int(each))
        if last - first < len(trace.sent):
            found = [key for number in range(first, last + 1) if (key := (path, space, number)) in trace.sent]
        else:
            found = [key for key in trace.sent if key[:2] == (path, space) and first <= key[2] <= last]
        for key in found:
            bins.add(trace.key(path), _ACKED, place, trace.sent.pop(key))


FORMATS = (TraceFormat("qlog", "qlog file", (".qlog", ".sqlog", ".jsonl"), looks_like_qlog, read_qlog),)
