"""Reads logs of repeated ``ss -tin`` output, with timestamps on separate lines or at the beginning of other lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from subflow_app.features.measured.core.measured_table import (
    MOST_CELLS,
    MOST_MSS_BYTES,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    Target,
)
from subflow_app.features.measured.core.text_lines import Steps, guess_time_unit, text_lines, time_of
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.foundation.errors import InputError

_STATES = "ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|UNCONN|CLOSED"
_SOCKET = re.compile(rf"(?:tcp\s+)?(?:(?:{_STATES})\s+)?\d+\s+\d+\s+(\S+:\w+)\s+(\S+:\w+)(?:\s|\Z)")
_HEADING = re.compile(r"(?:Netid\s+)?State\s+Recv-Q|Recv-Q\s+Send-Q")
_EPOCH = re.compile(r"#?\s*(?:(?:time|ts|timestamp|date)\s*[:=]?\s*)?(\d{9,19}(?:[.,]\d+)?)(?=\s|\Z)", re.IGNORECASE)
_ISO = re.compile(r"#?\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)(?=\s|\Z)")
_TS = re.compile(r"#?\s*([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d\d:\d\d:\d\d(?:\.\d+)?)(?=\s|\Z)")
_DATE = re.compile(r"#?\s*[A-Z]\w+\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d\d:\d\d:\d\d)(?:\s+[AP]M)?\s+\S+\s+(\d{4})\s*\Z")
_DATE_2 = re.compile(
    r"#?\s*[A-Z]\w+\s+(\d{1,2})\s+([A-Z][a-z]{2})\s+(\d{4})\s+(\d\d:\d\d:\d\d)(?:\s+([AP]M))?\s+\S+\s*\Z"
)
_CLOCK = re.compile(r"#?\s*(\d\d:\d\d:\d\d(?:[.,]\d+)?)(?=\s|\Z)")
_TOKEN = re.compile(r"token:([0-9a-f]+)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RATE = re.compile(r"([\d.]+)([KMGT]?)bps\Z")
_RATE_FACTORS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

# By field name of ss: the trace, the unit in ss, and whether the value counts from the start.
_FIELDS: dict[str, tuple[str, str, bool]] = {
    "cwnd": ("cwnd_pkts", "pkt", False),
    "ssthresh": ("ssthresh_pkts", "pkt", False),
    "rtt": ("srtt_s", "ms", False),
    "minrtt": ("min_rtt_s", "ms", False),
    "unacked": ("inflight_pkts", "pkt", False),
    "pacing_rate": ("pacing_rate_bps", "bit/s", False),
    "bytes_acked": ("goodput_bps", "B", True),
    "bytes_received": ("goodput_bps", "B", True),
    "bytes_sent": ("throughput_bps", "B", True),
    "delivery_rate": ("throughput_bps", "bit/s", False),
    "retrans": ("losses_pkts", "pkt", True),
    "lost": ("losses_pkts", "pkt", False),
}


@dataclass(slots=True)
class _Connection:
    """Samples of one connection, identified by its 4-tuple."""

    token: str = ""
    times: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    rows: list[dict[str, float]] = field(default_factory=list)


def read_ss(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a log.

    Raises:
        InputError: if the log is too large or contains no connection, if times go back while `options.clock` is
            "refuse", or if neither times nor an interval are known.
        OSError: if the log cannot be read.
    """
    if path.stat().st_size > MOST_CELLS * 10:
        raise InputError(
            f"{path.name} has {path.stat().st_size / 1e6:.0f} MB; at most {MOST_CELLS // 100_000} MB are read"
        )
    connections, has_times = _collect(text_lines(path, "utf-8"), options)
    if not connections:
        raise InputError(f"{path.name}: no connection of ss -tin in it")
    if not has_times and options.interval_s is None:
        raise InputError(
            f"{path.name} has no times: give the time between outputs, e.g. --interval 100ms; or log with"
            " them: while sleep 0.1; do date +%s.%N; ss -tin; done"
        )
    notices: list[str] = []
    columns: list[RawColumn] = []
    flows: dict[str, str] = {}
    ordinals: dict[str, int] = {}
    mss: list[float] = []
    for (local, peer), connection in connections.items():
        if connection.token and connection.token not in flows:
            flows[connection.token] = options.flow if not flows else f"{options.flow}.{len(flows) + 1}"
        flow = flows.get(connection.token, options.flow)
        ordinals[flow] = ordinals.get(flow, 0) + 1
        owner = f"{flow}/{ordinals[flow]}"
        notices.append(f"{owner} is {local} to {peer}, {len(connection.rows)} samples.")
        mss += [row["mss"] for row in connection.rows if 1 <= row.get("mss", 0) <= MOST_MSS_BYTES]
        columns += _columns(f"{local} > {peer}", owner, connection, options, notices)
    if not columns:
        raise InputError(f"{path.name}: no connection has figures: run ss with -i, as in ss -tin")
    return MeasuredTable("ss", tuple(columns), tuple(notices), round(max(mss)) if mss else None)


def looks_like_ss(head: str) -> bool:
    """True if a text with this beginning is output of ss."""
    return any(_SOCKET.match(_stamp(line)[1].strip()) for line in head.splitlines()) and (
        "cwnd:" in head or "rto:" in head
    )


def _collect(lines: Iterable[str], options: ReadingOptions) -> tuple[dict[tuple[str, str], _Connection], bool]:
    connections: dict[tuple[str, str], _Connection] = {}
    now_s: float | None = None
    has_times = False
    round_number = 0
    seen: set[tuple[str, str]] = set()
    current: tuple[_Connection, dict[str, float]] | None = None
    for number, line in enumerate(lines, start=1):
        stamp, rest = _stamp(line)
        if stamp is not None:
            now_s, has_times = stamp, True
        text = rest.strip()
        if not text:
            continue
        if _HEADING.match(text):
            if seen:
                round_number, seen = round_number + 1, set()
            continue
        socket = _SOCKET.match(text)
        if socket is not None:
            key = (socket[1], socket[2])
            if key in seen:
                # Without headings (ss -H), the next output begins where a connection appears a second time.
                round_number, seen = round_number + 1, set()
            seen.add(key)
            connection = connections.setdefault(key, _Connection())
            at_s = now_s if now_s is not None else (round_number + 1) * (options.interval_s or 1.0)
            row: dict[str, float] = {}
            connection.times.append(at_s)
            connection.lines.append(number)
            connection.rows.append(row)
            current = (connection, row)
            text = text[socket.end() :]
        if current is not None:
            token = _TOKEN.search(text)
            if token is not None:
                current[0].token = token[1]
            current[1].update(_figures(text))
    return {key: each for key, each in connections.items() if any(each.rows)}, has_times


def _columns(
    title: str, owner: str, connection: _Connection, options: ReadingOptions, notices: list[str]
) -> list[RawColumn]:
    steps = Steps(np.array(connection.times), options.clock, connection.lines)
    notices += [f"{owner}: {notice}" for notice in steps.notices]
    names = dict.fromkeys(name for row in connection.rows for name in row if name in _FIELDS)
    columns = []
    taken: set[str] = set()
    for name in sorted(names, key=list(_FIELDS).index):
        trace, unit, is_counter = _FIELDS[name]
        values = np.array([row.get(name, np.nan) for row in connection.rows])[steps.kept]
        if name == "retrans":
            # ss omits the field until the first retransmission, so missing values are 0.
            values = np.nan_to_num(values)
        # Only the first of several fields for one trace is used: a sender reports bytes_acked, a receiver
        # bytes_received.
        target = None if trace in taken else Target(SUBFLOW, owner, trace)
        taken.add(trace)
        columns.append(RawColumn(f"{title}: {name}", steps.time_s, values, unit, target, is_counter))
    return columns


def _figures(text: str) -> dict[str, float]:
    """The values on a line of details by field name, in the units of ss."""
    found: dict[str, float] = {}
    words = text.split()
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, colon, value = word.partition(":")
        if colon and name in ("cwnd", "ssthresh", "mss", "minrtt", "unacked", "lost", *_BYTES):
            _note(found, name, value)
        elif colon and name == "rtt":
            _note(found, name, value.partition("/")[0])
        elif colon and name == "retrans":
            _note(found, name, value.rpartition("/")[2])
        elif word in ("pacing_rate", "delivery_rate"):
            rate = _RATE.match(following)
            if rate is not None:
                _note(found, word, rate[1], _RATE_FACTORS[rate[2]])
    return found


_BYTES = ("bytes_acked", "bytes_sent", "bytes_received")


def _note(found: dict[str, float], name: str, value: str, factor: float = 1.0) -> None:
    try:
        number = float(value) * factor
    except ValueError:
        return
    if math.isfinite(number):
        found[name] = number


def _stamp(line: str) -> tuple[float | None, str]:
    """Split a line into a timestamp at its beginning, s, and the rest; None and the whole line without a timestamp."""
    for pattern in (_DATE, _DATE_2):
        date = pattern.match(line.strip())
        if date is not None:
            return _of_date(pattern is _DATE, date), ""
    epoch = _EPOCH.match(line)
    if epoch is not None:
        value = float(epoch[1].replace(",", "."))
        scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[guess_time_unit(value)]
        return value * scale, line[epoch.end() :]
    for pattern in (_ISO, _CLOCK):
        found = pattern.match(line)
        if found is not None:
            return time_of(found[1]), line[found.end() :]
    stamped = _TS.match(line)
    if stamped is not None and stamped[1] in _MONTHS:
        day = _day(2000, _MONTHS.index(stamped[1]) + 1, int(stamped[2]))
        return None if day is None else day + (time_of(stamped[3]) or 0.0), line[stamped.end() :]
    return None, line


def _day(year: int, month: int, day: int) -> float | None:
    """Start of a day in seconds since 1970; None if the calendar does not contain this day."""
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _of_date(is_usual: bool, date: re.Match[str]) -> float | None:
    month, day, clock, year = (date[1], date[2], date[3], date[4]) if is_usual else (date[2], date[1], date[4], date[3])
    start = _day(int(year), _MONTHS.index(month) + 1 if month in _MONTHS else 1, int(day))
    seconds = time_of(clock) or 0.0
    if not is_usual and date[5] is not None:
        seconds = seconds % 43200 + (43200 if date[5] == "PM" else 0)
    return None if start is None else start + seconds
