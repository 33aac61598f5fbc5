"""Table of a measured file before it becomes a run: columns with times and meanings, and notices.

A column can mean any of our traces. Other programs write these traces in other units and under other names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import ordinal

BIT, BYTE = "bit/s", "B/s"
_RATES: Mapping[str, float] = {
    "bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "B/s": 8.0, "kB/s": 8e3, "MB/s": 8e6,
}  # fmt: skip
_TIMES: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
_SIZES: Mapping[str, float] = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_SHARES: Mapping[str, float] = {"": 1.0, "%": 0.01}


class Quantity(NamedTuple):
    """One of our traces.

    Attributes:
        name: as in runs, with its SI unit as suffix.
        unit: that unit's symbol.
        scope: what it belongs to, unless the owner tells.
        names: what others call it; lower case, without unit, blanks and underscores.
    """

    name: str
    unit: str
    scope: str
    names: tuple[str, ...]


QUANTITIES: tuple[Quantity, ...] = (
    Quantity("throughput_bps", "bit/s", SUBFLOW, ("throughput", "rate", "bandwidth", "bitrate", "bw", "speed", "tput")),
    Quantity("goodput_bps", "bit/s", SUBFLOW, ("goodput", "deliveryrate", "delivered")),
    Quantity("cwnd_pkts", "pkt", SUBFLOW, ("cwnd", "sndcwnd", "congestionwindow", "window", "cwin")),
    Quantity("ssthresh_pkts", "pkt", SUBFLOW, ("ssthresh", "sndssthresh", "slowstartthreshold")),
    Quantity("srtt_s", "s", SUBFLOW, ("srtt", "rtt", "smoothedrtt", "roundtriptime", "latency", "delay", "ping")),
    Quantity("min_rtt_s", "s", SUBFLOW, ("minrtt", "rttmin", "basertt")),
    Quantity("inflight_pkts", "pkt", SUBFLOW, ("inflight", "unacked", "bytesinflight", "outstanding", "packetsout")),
    Quantity("pacing_rate_bps", "bit/s", SUBFLOW, ("pacingrate", "pacing")),
    Quantity("losses_pkts", "pkt", SUBFLOW, ("losses", "lost", "loss", "retransmits", "retransmissions", "retrans")),
    Quantity("marks_pkts", "pkt", SUBFLOW, ("marks", "ce", "deliveredce")),
    Quantity("recv_buffer_bytes", "B", FLOW, ("recvbuffer", "receivebuffer", "rcvbuf")),
    Quantity("reorder_queue_bytes", "B", FLOW, ("reorderqueue",)),
    Quantity("hol_blocking_s", "s", FLOW, ()),
    Quantity("reinjections_pkts", "pkt", FLOW, ()),
    Quantity("schedule_share", "", SUBFLOW, ()),
    Quantity("interval_rate_bps", "bit/s", SUBFLOW, ()),
    Quantity("interval_throughput_bps", "bit/s", SUBFLOW, ()),
    Quantity("interval_loss_ratio", "", SUBFLOW, ()),
    Quantity("interval_rtt_s", "s", SUBFLOW, ()),
    Quantity("interval_min_rtt_s", "s", SUBFLOW, ()),
    Quantity("interval_rtt_gradient", "", SUBFLOW, ()),
    Quantity("utility", "", SUBFLOW, ()),
    Quantity("reward", "", SUBFLOW, ()),
    Quantity("queue_pkts", "pkt", LINK, ("queue", "backlog", "qlen", "queuelength")),
    Quantity("drops_pkts", "pkt", LINK, ("drops", "dropped")),
    Quantity("utilisation", "", LINK, ("utilisation", "utilization", "util")),
)  # fmt: skip
"""What can be imported, in the order of preference."""

BY_NAME: Mapping[str, Quantity] = {quantity.name: quantity for quantity in QUANTITIES}

COUNTERS = ("bytesacked", "bytessent", "bytesreceived", "byterecv", "bytesrecv", "totalbytes")
"""Columns of these names count bytes from the start on: their rise per second is a throughput."""

TIME_NAMES = ("time", "t", "timestamp", "ts", "date", "datetime", "epoch", "elapsed", "seconds", "sec", "x")
OWNER_NAMES = ("owner", "flow", "subflow", "connection", "conn", "id", "path", "interface", "iface", "src")
METRIC_NAMES = ("name", "metric", "column", "variable", "quantity", "kind", "field", "key")

# What units are called elsewhere, lower case without blanks; the suffixes of names too (cwnd_pkts, rtt_ms).
_SPELLINGS: Mapping[str, str] = {
    "bps": "bit/s", "bit/s": "bit/s", "bits/s": "bit/s", "b/s": "bit/s", "bitspersecond": "bit/s",
    "kbps": "kbit/s", "kbit/s": "kbit/s", "kbits/s": "kbit/s", "kb/s": "kbit/s",
    "mbps": "Mbit/s", "mbit/s": "Mbit/s", "mbits/s": "Mbit/s", "mb/s": "Mbit/s", "mbit": "Mbit/s",
    "gbps": "Gbit/s", "gbit/s": "Gbit/s", "gb/s": "Gbit/s",
    "bytes/s": "B/s", "byte/s": "B/s", "kbytes/s": "kB/s", "mbytes/s": "MB/s",
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "ms": "ms", "msec": "ms", "millis": "ms", "milliseconds": "ms",
    "us": "us", "µs": "us", "usec": "us", "micros": "us", "microseconds": "us",
    "ns": "ns", "nsec": "ns", "nanos": "ns", "nanoseconds": "ns", "min": "min", "minutes": "min",
    "pkt": "pkt", "pkts": "pkt", "packets": "pkt", "packet": "pkt", "segments": "pkt", "segs": "pkt", "mss": "pkt",
    "bytes": "B", "byte": "B", "kb": "kB", "kbytes": "kB", "kib": "kB", "mb": "MB", "mbytes": "MB",
    "%": "%", "percent": "%", "pct": "%",
}  # fmt: skip
# With capitals that tell: of these the case decides, 8 times are at stake.
_CASED: Mapping[str, str] = {"B/s": "B/s", "kB/s": "kB/s", "KB/s": "kB/s", "MB/s": "MB/s", "B": "B", "kB": "kB"}

_BRACKETS = re.compile(r"\s*[(\[]\s*([^)\]]*?)\s*[)\]]\s*\Z")
_NUMBERED = re.compile(
    r"(?:(?:subflow|sf|flow|path|conn)[\s_.-]?)?(\d{1,3})\Z|\A(?:subflow|sf)[\s_.-]?(\d{1,3})[\s_.:-]"
)


class Heading(NamedTuple):
    """What a heading tells.

    Attributes:
        owner: before a colon or a numbered name, as in ``download/1:cwnd_pkts``; empty for none.
        name: the rest, lower case, without blanks, underscores and unit.
        unit: as `units_of` has it; empty if the heading has none.
    """

    owner: str
    name: str
    unit: str


def read_heading(text: str) -> Heading:
    """Takes a heading apart: ``cwnd (pkts)``, ``rtt_ms``, ``run 1:download/1:srtt_s``, ``Throughput [Mbps]``."""
    rest = text.strip().strip('"')
    owner, colon, last = rest.rpartition(":")
    if colon and last.strip():
        # A plot of several runs has "run 1:" before the owner.
        owner, rest = re.sub(r"\Arun \d+:", "", owner.strip()), last
    else:
        owner = ""
    bracket = _BRACKETS.search(rest)
    unit = None
    if bracket is not None:
        unit, rest = unit_named(bracket[1]), rest[: bracket.start()]
    words = re.split(r"[\s_]+", rest.strip())
    if unit is None and len(words) > 1:
        unit = unit_named(words[-1])
        words = words[:-1] if unit is not None else words
    name = "".join(words).lower().replace("-", "").replace(".", "")
    numbered = _NUMBERED.search("_".join(words).lower())
    if numbered is not None and not owner:
        number = numbered[1] or numbered[2]
        shorter = _NUMBERED.sub("", "_".join(words).lower()).replace("_", "").strip(".-:")
        if quantity_named(shorter) is not None:
            owner, name = f"/{number}", shorter
    return Heading(owner, name, unit or "")


def quantity_named(name: str) -> Quantity | None:
    """The quantity that this name means; None if it means none."""
    return next((each for each in QUANTITIES if name in each.names or name == _without_unit(each.name)), None)


def _without_unit(name: str) -> str:
    return re.sub(r"_(?:bps|pkts|s|bytes)\Z", "", name).replace("_", "")


def unit_named(text: str) -> str | None:
    """A unit by any of its spellings; None for what is none."""
    compact = text.strip().replace(" ", "")
    return _CASED.get(compact) or _SPELLINGS.get(compact.lower())


def units_of(unit: str) -> Mapping[str, float]:
    """The units in which a quantity of this SI unit may come, with the factor; bytes as packets need their size."""
    if unit == "pkt":
        return {"pkt": 1.0, **_SIZES}
    return {"bit/s": _RATES, "s": _TIMES, "B": _SIZES, "": _SHARES}.get(unit, {unit: 1.0})


def factor(from_unit: str, quantity_unit: str, mss_bytes: int) -> float | None:
    """What values are multiplied by to come to the SI unit; None if the unit does not fit."""
    found = units_of(quantity_unit).get(from_unit)
    if found is None or quantity_unit != "pkt" or from_unit == "pkt":
        return found
    return found / mss_bytes


MOST_CELLS = 20_000_000
"""Numbers of a file that are read: they take some 160 MB, and half as much again as a run. Nobody plots more."""

MOST_SAMPLES = 2_000_000
"""Of a trace that becomes one of a run. Bringing it on a grid of times takes some 80 bytes for each."""

LEAST_INTERVAL_S = 1e-9
"""Between samples: times are kept in whole nanoseconds."""

MOST_MSS_BYTES = 65_535
"""Payload of a packet: IP has no longer ones."""

MOST_LINE_BYTES = 1_000_000
"""Of a line of text."""

MOST_TRACES = 1000
"""That a file can become. Each is drawn, and listed, and has its place in the figures of its flow."""

Clock = Literal["refuse", "sort", "drop", "join"]
CLOCKS: tuple[Clock, ...] = ("refuse", "sort", "drop", "join")
"""What is done about times that go back: refused; put in order; what goes back is left out; shifted to go on."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which trace of the run a column becomes."""

    scope: str
    owner: str
    name: str

    @property
    def text(self) -> str:
        """As people write it: ``cwnd_pkts:download/1``."""
        return f"{self.name}:{self.owner}"

    @property
    def flow(self) -> str:
        """Name of the flow, whose subflow has a number behind the last slash."""
        return self.owner.rpartition("/")[0] if self.scope == SUBFLOW else self.owner


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """One column.

    Attributes:
        title: as the file has it, once.
        time_s: float64 [n], s, as the file has them; several columns may share it.
        values: float64 [n], in the unit; NaN where the file has none.
        unit: of the file, as `quantities.units_of` names it; empty: SI.
        target: what it is taken for; None: it is left out unless it is told.
        is_counter: whether it counts bytes from the start on.
    """

    title: str
    time_s: NDArray[np.float64]
    values: NDArray[np.float64]
    unit: str = ""
    target: Target | None = None
    is_counter: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """A file.

    Attributes:
        format: name of its `trace_formats.TraceFormat`.
        columns: in the order of the file.
        notices: what was noticed, a sentence each.
        mss_bytes: payload of a full packet, if the file tells it.
    """

    format: str
    columns: tuple[RawColumn, ...]
    notices: tuple[str, ...] = ()
    mss_bytes: int | None = None


@dataclass(slots=True)
class ReadingOptions:
    """What a person told about a file.

    Attributes:
        format: one of `trace_formats.format_names`.
        time_unit: of the time column; empty: as its heading or its size tell.
        time_column: its title; empty: the one that is called so, else the first.
        interval_s: between samples without times; None: not told.
        clock: what is done about times that go back.
        flow: name that connections get which have none.
        mss_bytes: payload of a full packet; None: as the file tells, else 1448.
    """

    format: str = "auto"
    time_unit: str = ""
    time_column: str = ""
    interval_s: float | None = None
    clock: Clock = "refuse"
    flow: str = "measured"
    mss_bytes: int | None = None
    maps: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


def guess_target(heading: Heading, flow: str) -> Target | None:
    """What a heading is taken for; None if it tells nothing."""
    if heading.name in COUNTERS:
        return Target(SUBFLOW, _owner(heading.owner, flow, SUBFLOW), "throughput_bps")
    quantity = quantity_named(heading.name)
    if quantity is None:
        return None
    scope = quantity.scope
    if heading.owner and (not heading.owner.startswith("/") or ordinal(heading.owner[1:]) is None):
        scope = _scope_of(heading.owner, scope)
    return Target(scope, _owner(heading.owner, flow, scope), quantity.name)


def parse_target(text: str) -> Target:
    """A trace as people write it: ``cwnd_pkts:download/1``; without an owner that of a measured flow's first subflow.

    Raises:
        InputError: if it names none of our traces.
    """
    name, _, owner = text.partition(":")
    quantity = BY_NAME.get(name.strip())
    if quantity is None:
        raise InputError(f'"{text}": "{name}" is not a trace; allowed: {", ".join(BY_NAME)}')
    owner = owner.strip() or ("measured/1" if quantity.scope == SUBFLOW else "measured")
    return Target(_scope_of(owner, quantity.scope), owner, quantity.name)


def distinct_targets(columns: list[RawColumn]) -> list[RawColumn]:
    """The same, where no two are taken for one trace: of subflows the later one becomes that of the next subflow."""
    taken: set[Target] = set()
    latest: dict[tuple[str, str, str], int] = {}  # where the search for a free subflow has come to
    distinct = []
    for column in columns:
        target = column.target
        while target is not None and target in taken:
            flow, slash, text = target.owner.rpartition("/")
            number = ordinal(text) if slash and target.scope == SUBFLOW else None
            if number is None:
                target = None
            else:
                key = (target.scope, flow, target.name)
                latest[key] = max(number, latest.get(key, 0)) + 1
                target = Target(target.scope, f"{flow}/{latest[key]}", target.name)
        if target is not None:
            taken.add(target)
        distinct.append(column if target == column.target else replace(column, target=target))
    return distinct


def _scope_of(owner: str, usual: str) -> str:
    last = owner.rpartition("/")[2]
    if last in ("forward", "reverse"):
        return LINK
    if usual == LINK:
        return LINK
    return SUBFLOW if "/" in owner and ordinal(last) else FLOW


def _owner(text: str, flow: str, scope: str) -> str:
    if text.startswith("/") and ordinal(text[1:]) is not None:
        return f"{flow}{text}" if scope == SUBFLOW else flow
    return text or (f"{flow}/1" if scope == SUBFLOW else flow)
