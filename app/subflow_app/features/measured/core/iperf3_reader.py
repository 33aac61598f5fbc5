"""Reads the reports of iperf3, as JSON (``iperf3 --json``, also of a stream of JSON lines) or as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from subflow_app.features.measured.core.bins import FlowNames
from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn, ReadingOptions, Target
from subflow_app.features.measured.core.text_lines import text_lines
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import json_tree, read_file

_MOST_BYTES = 256_000_000
_ENDS_DIGITS = 2  # of the ends of intervals, s; the shortest interval of iperf3 is 0.1 s
_MOST_STREAMS = 128  # iperf3's own limit of parallel streams

# Names of figures in the JSON: the trace and its unit. Windows are in bytes, round-trip times in microseconds.
_FIELDS: Mapping[str, tuple[str, str]] = {
    "bits_per_second": ("throughput_bps", "bit/s"),
    "snd_cwnd": ("cwnd_pkts", "B"),
    "rtt": ("srtt_s", "us"),
    "retransmits": ("losses_pkts", "pkt"),
    "lost_packets": ("losses_pkts", "pkt"),
    "jitter_ms": ("jitter_s", "ms"),
}
_GOODPUT = "goodput_bps"

_HEADING = re.compile(r"\[\s*ID\](?:\[Role\])?\s+Interval\s+(?:Transfer|\s)", re.IGNORECASE)
_LINE = re.compile(
    r"""\[\s*(?P<stream>\d{1,9}|SUM)\](?:\[(?P<role>[TR]X-[CS])\])?\s+
        (?P<start>\d{1,15}(?:\.\d{1,9})?)-(?P<end>\d{1,15}(?:\.\d{1,9})?)\s+sec\s+
        [\d.]+\s+[KMGT]?Bytes\s+
        (?P<rate>\d{1,15}(?:\.\d{1,9})?)\s+(?P<unit>[KMGT]?(?:bits|Bytes))/sec
        (?P<rest>.*)""",
    re.VERBOSE,
)
_TCP_REST = re.compile(
    r"\s+(?P<retransmits>\d{1,15})(?:\s+(?P<cwnd>\d{1,15}(?:\.\d{1,9})?)\s+(?P<unit>[KMGT]?Bytes))?\s*\Z"
)
_UDP_REST = re.compile(r"\s+(?P<jitter>\d{1,15}(?:\.\d{1,9})?)\s+ms\s+(?P<lost>-?\d{1,15})/(?P<total>\d+)")
_END = re.compile(r"\b(?:sender|receiver)\s*\Z")
_BITS = {"bits": 1.0, "Kbits": 1e3, "Mbits": 1e6, "Gbits": 1e9, "Tbits": 1e12}
# iperf3 counts bytes by powers of 1024, and bits by powers of 1000.
_BYTES = {"Bytes": 1.0, "KBytes": 2.0**10, "MBytes": 2.0**20, "GBytes": 2.0**30, "TBytes": 2.0**40}
_VERSION = re.compile(r"\biperf\s?3?\s+(\d+(?:\.\d+)+\S*)", re.IGNORECASE)
_ROUNDED = "iperf3 rounds its text to three digits; iperf3 --json has all of them, and the round-trip time."


class _Key(NamedTuple):
    """A stream of a report: its number, and whether this host sends in it (None if unknown)."""

    stream: int
    is_sent: bool | None


@dataclass(slots=True)
class _Stream:
    ends_s: list[float] = field(default_factory=list)
    rows: list[dict[str, float]] = field(default_factory=list)


@dataclass(slots=True)
class _Report:
    """Intervals of a report by stream, and its origin."""

    streams: dict[_Key, _Stream] = field(default_factory=dict)
    version: str = ""
    protocol: str = "TCP"
    mss_bytes: int | None = None
    omitted: int = 0

    def add(self, key: _Key, end_s: float, row: dict[str, float]) -> None:
        """Add an interval of a stream."""
        stream = self.streams.setdefault(key, _Stream())
        stream.ends_s.append(end_s)
        stream.rows.append(row)
        if len(self.streams) > 2 * _MOST_STREAMS:
            raise InputError(f"more than {2 * _MOST_STREAMS} streams; iperf3 has at most {_MOST_STREAMS}")


def looks_like_iperf3_json(head: bytes) -> bool:
    """True if a file that begins with these bytes is the JSON of iperf3."""
    start = head.lstrip()
    return start.startswith(b"{") and (
        (b'"start"' in start and b"iperf" in start) or (b'"event"' in start[:12] and b'"start"' in start[:40])
    )


def looks_like_iperf3_text(head: bytes) -> bool:
    """True if a file that begins with these bytes is the text of iperf3."""
    return any(_LINE.search(line) or _HEADING.search(line) for line in head.decode("utf-8", "replace").splitlines())


def read_iperf3_json(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a report in JSON.

    Raises:
        InputError: if the file is not a report, contains no interval, or reports an error of iperf3.
        OSError: if the file cannot be read.
    """
    report = _Report()
    try:
        for kind, content in _documents(path):
            options.watch(0.5)
            if kind == "error" or (kind == "whole" and content.get("error")):
                error = content if isinstance(content, str) else content["error"]
                if not (isinstance(content, dict) and content.get("intervals")):
                    raise InputError(f"{path.name}: iperf3 reports an error: {error}")
            if kind in ("whole", "start"):
                _take_start(report, content["start"] if kind == "whole" else content)
            for interval in content["intervals"] if kind == "whole" else [content] if kind == "interval" else ():
                _take_interval(report, interval)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{path.name} is not the JSON of iperf3: {type(error).__name__}: {error}") from error
    return _table(path, "iperf3", report, options, [])


def read_iperf3_text(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a report in text.

    Raises:
        InputError: if the file contains no interval.
        OSError: if the file cannot be read.
    """
    report = _Report()
    for line in text_lines(path, "utf-8", options.watch):
        version = _VERSION.search(line)
        if version is not None:
            report.version = version[1]
        _take_line(report, line.rstrip())
    return _table(path, "iperf3-text", report, options, [_ROUNDED])


def _documents(path: Path) -> Iterator[tuple[str, Any]]:
    """The whole report, or the events of a report of ``--json-stream``, each with its kind."""
    raw = read_file(path, _MOST_BYTES)
    if b'"event"' not in raw.lstrip()[:12]:
        yield "whole", json_tree(raw)
        return
    for line in raw.splitlines():
        if line.strip():
            event = json_tree(line)
            yield str(event["event"]), event.get("data")


def _take_start(report: _Report, start: Mapping[str, Any]) -> None:
    version = _VERSION.search(str(start.get("version", "")))
    report.version = version[1] if version is not None else ""
    test = start.get("test_start") or {}
    report.protocol = str(test.get("protocol", "TCP"))
    mss = start.get("tcp_mss") or start.get("tcp_mss_default")
    report.mss_bytes = int(mss) if isinstance(mss, (int, float)) and 1 <= mss <= 65535 else None


def _take_interval(report: _Report, interval: Mapping[str, Any]) -> None:
    for stream in interval["streams"]:
        if stream.get("omitted"):
            report.omitted += 1
            continue
        is_sent = stream.get("sender")
        key = _Key(int(stream["socket"]), bool(is_sent) if is_sent is not None else None)
        row = {name: float(stream[name]) for name in _FIELDS if isinstance(stream.get(name), (int, float))}
        report.add(key, float(stream["end"]), row)


def _take_line(report: _Report, line: str) -> None:
    found = _LINE.search(line)
    if found is None or found["stream"] == "SUM" or _END.search(line):
        return
    if "(omitted)" in line:
        report.omitted += 1
        return
    row = {"bits_per_second": float(found["rate"]) * _bits(found["unit"])}
    rest = found["rest"]
    tcp, udp = _TCP_REST.match(rest), _UDP_REST.match(rest)
    if udp is not None:
        report.protocol = "UDP"
        row["jitter_ms"] = float(udp["jitter"])
        row["lost_packets"] = float(udp["lost"])
    elif tcp is not None and tcp["cwnd"] is not None:
        row["retransmits"] = float(tcp["retransmits"])
        row["snd_cwnd"] = float(tcp["cwnd"]) * _BYTES[tcp["unit"]]
    elif tcp is not None:
        report.protocol = "UDP"  # a sender of UDP reports the number of datagrams alone
    # Only senders report a number after the rate. Without it, the line may come from a receiver or another system.
    is_sent = True if tcp is not None else False if udp is not None else None
    if found["role"]:
        is_sent = found["role"].startswith("TX")
    report.add(_Key(int(found["stream"]), is_sent), float(found["end"]), row)


def _bits(unit: str) -> float:
    return _BITS[unit] if unit in _BITS else _BYTES[unit] * 8


def _table(path: Path, format: str, report: _Report, options: ReadingOptions, notices: Iterable[str]) -> MeasuredTable:
    if not report.streams:
        raise InputError(f"{path.name}: iperf3 reported no interval")
    said = list(notices)
    if report.omitted:
        said.append(f"{report.omitted} intervals that iperf3 marks as omitted (-O) are left out.")
    names = FlowNames(options.flow)
    columns: list[RawColumn] = []
    for key, stream in report.streams.items():
        owner = names.subflow_of(key)
        doing = {None: "stream", True: "sent on stream", False: "received on stream"}[key.is_sent]
        said.append(f"{owner} is {doing} {key.stream}, {len(stream.rows)} intervals.")
        # Intervals end some microseconds late, which would move them to the next sample.
        time_s = np.round(stream.ends_s, _ENDS_DIGITS)
        kept = np.append(np.diff(time_s) > 0, True) & (time_s >= np.maximum.accumulate(time_s))
        taken: set[str] = set()
        for name, (trace, unit) in _FIELDS.items():
            values = np.array([row.get(name, np.nan) for row in stream.rows])
            if trace in taken or not np.isfinite(values).any():
                continue
            taken.add(trace)
            # A receiver of TCP counts bytes in order, which is goodput.
            is_goodput = name == "bits_per_second" and key.is_sent is False and report.protocol == "TCP"
            target = Target(SUBFLOW, owner, _GOODPUT if is_goodput else trace)
            columns.append(RawColumn(f"stream {key.stream}: {name}", time_s[kept], values[kept], unit, target))
    tool = f"iperf3 {report.version}".strip()
    return MeasuredTable(format, tuple(columns), tuple(said), report.mss_bytes, transport=report.protocol, tool=tool)


FORMATS = (
    TraceFormat("iperf3", "JSON report", (".json",), looks_like_iperf3_json, read_iperf3_json),
    TraceFormat("iperf3-text", "text report", (".txt",), looks_like_iperf3_text, read_iperf3_text),
)
