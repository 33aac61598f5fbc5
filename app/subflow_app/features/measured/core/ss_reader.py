"""Reads logs of repeated ``ss -tin`` output, with timestamps on separate lines or at the beginning of other lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from subflow_app.features.measured.core.bins import FlowNames, titled
from subflow_app.features.measured.core.measured_table import (
    MOST_CELLS,
    MOST_MSS_BYTES,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    Target,
)
from subflow_app.features.measured.core.text_lines import Steps, guess_time_unit, text_lines, time_of
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import counted

_STATES = "ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|UNCONN|CLOSED"
_SOCKET = re.compile(
    rf"(?:(?P<kind>tcp|mptcp)\s+)?(?:(?:{_STATES})\s+)?\d+\s+\d+\s+(?P<local>\S+:\w+)\s+(?P<peer>\S+:\w+)(?:\s|\Z)"
)
# Sockets without congestion control, whose details must not be taken for those of the TCP socket above.
_OTHER = re.compile(
    r"(?:(?:udp|raw|u_str|u_dgr|u_seq|nl|p_raw|p_dgr|v_str|v_dgr|dccp|sctp|icmp6?|xdp|tipc)\s+\S+\s+\d+\s+\d+\s"
    r"|(?:(?:tcp|mptcp)\s+)?LISTEN\s+\d+\s+\d+\s)"
)
_HEADING = re.compile(r"(?:Netid\s+)?State\s+Recv-Q|Recv-Q\s+Send-Q")
_EPOCH = re.compile(r"#?\s*(?:(?:time|ts|timestamp|date)\s*[:=]?\s*)?(\d{9,19}(?:[.,]\d+)?)(?=\s|\Z)", re.IGNORECASE)
_ISO = re.compile(r"#?\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)(?=\s|\Z)")
_TS = re.compile(r"#?\s*([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d\d:\d\d:\d\d(?:\.\d+)?)(?=\s|\Z)")
_DATE = re.compile(r"#?\s*[A-Z]\w+\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d\d:\d\d:\d\d)(?:\s+[AP]M)?\s+\S+\s+(\d{4})\s*\Z")
_DATE_2 = re.compile(
    r"#?\s*[A-Z]\w+\s+(\d{1,2})\s+([A-Z][a-z]{2})\s+(\d{4})\s+(\d\d:\d\d:\d\d)(?:\s+([AP]M))?\s+\S+\s*\Z"
)
_CLOCK = re.compile(r"#?\s*(\d\d:\d\d:\d\d(?:[.,]\d+)?)(?=\s|\Z)")
# A subflow shows the remote and the local token, the first subflow of a client 0000 as the remote one. The socket of a
# whole MPTCP connection shows the local token alone.
_TOKEN = re.compile(r"\btoken:([0-9a-f]+)(?:\(id:\d+\))?(?:/([0-9a-f]+))?")
_BRACKETED = re.compile(r"#?\s*\[([^\]]{8,40})\]\s*")
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
    """Samples of one socket, identified by its kind and 4-tuple."""

    kind: str = "tcp"
    token: str = ""
    times: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    rows: list[dict[str, float]] = field(default_factory=list)

    @property
    def sent(self) -> float:
        """Latest count of bytes sent and acknowledged."""
        counters = ("bytes_acked", "bytes_sent")
        return max((row[name] for row in self.rows[-1:] for name in counters if name in row), default=0.0)


_Key = tuple[str, str, str]  # kind of the socket, local and remote address


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
    sockets, has_times = _collect(text_lines(path, "utf-8", options.watch), options)
    if not sockets:
        raise InputError(f"{path.name}: no connection of ss -tin in it")
    if not has_times and options.interval_s is None:
        raise InputError(
            f"{path.name} has no times: give the time between outputs, e.g. --interval 100ms; or log with"
            " them: while sleep 0.1; do date +%s.%N; ss -tin; done"
        )
    notices: list[str] = []
    columns: list[RawColumn] = []
    names = FlowNames(options.flow)
    mss: list[float] = []
    chosen = _chosen(sockets, notices)
    for key, connection in chosen.items():
        kind, local, peer = key
        # Without a token, the socket is a TCP connection of its own.
        group = connection.token or key
        owner = names.subflow_of(group) if kind == "tcp" else names.flow_of(group)
        where = f" is {local} to {peer}," if options.is_addressed else ":"
        notices.append(f"{owner}{where} {counted(len(connection.rows), 'sample')}.")
        mss += [row["mss"] for row in connection.rows if 1 <= row.get("mss", 0) <= MOST_MSS_BYTES]
        columns += _columns(f"{local} > {peer}", owner, connection, options, notices)
    if not columns:
        raise InputError(f"{path.name}: no connection has figures: run ss with -i, as in ss -tin")
    kinds = {"MPTCP" if connection.token or key[0] == "mptcp" else "TCP" for key, connection in chosen.items()}
    return MeasuredTable(
        "ss",
        tuple(columns),
        tuple(notices),
        round(max(mss)) if mss else None,
        transport=" and ".join(sorted(kinds, reverse=True)),
        tool="ss",
    )


def _chosen(sockets: Mapping[_Key, _Connection], notices: list[str]) -> dict[_Key, _Connection]:
    """The sockets that become subflows or flows: senders, and MPTCP sockets only if the log lacks their subflows."""
    tokens = {each.token for key, each in sockets.items() if key[0] == "tcp" and each.token}
    chosen, totals, receivers = {}, 0, 0
    for key, each in sockets.items():
        kind, local, peer = key
        other = sockets.get((kind, peer, local))
        if kind == "mptcp" and (not each.token or each.token in tokens) and tokens:
            totals += 1
        elif other is not None and (other.sent, peer) > (each.sent, local):
            receivers += 1
        else:
            chosen[key] = each
    if totals:
        notices.append(f"{counted(totals, 'socket')} of whole MPTCP connections left out: their subflows are read.")
    if receivers:
        notices.append(f"{counted(receivers, 'receiving end')} left out: the log has the sending ends, too.")
    return chosen


def looks_like_ss(head: bytes) -> bool:
    """True if a file that begins with these bytes is output of ss."""
    return _is_ss(head.decode("utf-8", "replace"))


def _is_ss(head: str) -> bool:
    return any(_SOCKET.match(_stamp(line)[1].strip()) for line in head.splitlines()) and (
        "cwnd:" in head or "rto:" in head
    )


def _collect(lines: Iterable[str], options: ReadingOptions) -> tuple[dict[_Key, _Connection], bool]:
    """The sockets with figures, and whether the log has times."""
    connections: dict[_Key, _Connection] = {}
    now_s: float | None = None
    has_times = False
    round_number = 0
    seen: set[_Key] = set()
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
            key = (socket["kind"] or "tcp", socket["local"], socket["peer"])
            if key in seen:
                # Without headings (ss -H), the next output begins where a connection appears a second time.
                round_number, seen = round_number + 1, set()
            seen.add(key)
            connection = connections.setdefault(key, _Connection(key[0]))
            at_s = now_s if now_s is not None else (round_number + 1) * (options.interval_s or 1.0)
            row: dict[str, float] = {}
            connection.times.append(at_s)
            connection.lines.append(number)
            connection.rows.append(row)
            current = (connection, row)
            text = text[socket.end() :]
        elif _OTHER.match(text):
            current = None
        if current is not None:
            token = _TOKEN.search(text)
            if token is not None:
                current[0].token = token[2] or token[1]
            current[1].update(_figures(text))
    return {key: each for key, each in connections.items() if any(each.rows)}, has_times


def _columns(
    addressed: str, owner: str, connection: _Connection, options: ReadingOptions, notices: list[str]
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
        target = Target(SUBFLOW if connection.kind == "tcp" else FLOW, owner, trace) if trace not in taken else None
        taken.add(trace)
        title, alias = titled(owner, addressed, name, options)
        columns.append(RawColumn(title, steps.time_s, values, unit, target, is_counter, alias))
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
    bracketed = _BRACKETED.match(line)
    if bracketed is not None:
        stamp, rest = _stamp(bracketed[1])
        if stamp is not None and not rest.strip():
            return stamp, line[bracketed.end() :]
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


FORMATS = (TraceFormat("ss", "ss log", (".ss", ".log"), looks_like_ss, read_ss),)
