"""The table read from a file of measurements, before it becomes a run: columns with times and meanings, and notices.

The module also maps the names and units that other programs use to the traces of Subflow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
    """A trace of Subflow, with the names that other programs use.

    Attributes:
        name: name in runs, with the SI unit as suffix.
        unit: symbol of the SI unit.
        scope: default scope: subflow, flow or link; the owner of a column may imply another.
        names: names in other programs, in lower case, without units, blanks or underscores.
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
    Quantity("one_way_delay_s", "s", SUBFLOW, ("onewaydelay", "owd")),
    Quantity("ack_delay_s", "s", SUBFLOW, ()),
    Quantity("jitter_s", "s", SUBFLOW, ("jitter",)),
    Quantity("reordered_pkts", "pkt", SUBFLOW, ()),
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
"""The traces that can be imported. If several have the same name in other programs, the first is used."""

BY_NAME: Mapping[str, Quantity] = {quantity.name: quantity for quantity in QUANTITIES}

COUNTERS = ("bytesacked", "bytessent", "bytesreceived", "byterecv", "bytesrecv", "totalbytes")
"""Names of columns that count bytes from the start, so that their increase per second is a throughput."""

TIME_NAMES = ("time", "t", "timestamp", "ts", "date", "datetime", "epoch", "elapsed", "seconds", "sec", "x")
OWNER_NAMES = ("owner", "flow", "subflow", "connection", "conn", "id", "path", "interface", "iface", "src")
METRIC_NAMES = ("name", "metric", "column", "variable", "quantity", "kind", "field", "key")

# Spellings of units in lower case without blanks, which may also be suffixes of names (cwnd_pkts, rtt_ms).
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
# Spellings that are case-sensitive: B means byte and b means bit, a factor of 8.
_CASED: Mapping[str, str] = {"B/s": "B/s", "kB/s": "kB/s", "KB/s": "kB/s", "MB/s": "MB/s", "B": "B", "kB": "kB"}

_BRACKETS = re.compile(r"\s*[(\[]\s*([^)\]]*?)\s*[)\]]\s*\Z")
_NUMBERED = re.compile(
    r"(?:(?:subflow|sf|flow|path|conn)[\s_.-]?)?(\d{1,3})\Z|\A(?:subflow|sf)[\s_.-]?(\d{1,3})[\s_.:-]"
)


class Heading(NamedTuple):
    """Parts of the heading of a column.

    Attributes:
        owner: text before a colon, e.g. ``download/1`` in ``download/1:cwnd_pkts``, or ``/N`` for a number N in the
            name; empty if the heading contains no owner.
        name: remaining text in lower case, without blanks, underscores and unit.
        unit: a unit of `units_of`; empty if the heading contains no unit.
    """

    owner: str
    name: str
    unit: str


def read_heading(text: str) -> Heading:
    """Splits a heading like ``cwnd (pkts)``, ``rtt_ms``, ``run 1:download/1:srtt_s`` or ``Throughput [Mbps]``."""
    rest = text.strip().strip('"')
    owner, colon, last = rest.rpartition(":")
    if colon and last.strip():
        # Exported plots of several runs put "run 1:" in front of the owner.
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
    """The quantity with this name; None if the name is unknown."""
    return next((each for each in QUANTITIES if name in each.names or name == _without_unit(each.name)), None)


def _without_unit(name: str) -> str:
    return re.sub(r"_(?:bps|pkts|s|bytes)\Z", "", name).replace("_", "")


def unit_named(text: str) -> str | None:
    """The unit with this spelling; None if the spelling is unknown."""
    compact = text.strip().replace(" ", "")
    return _CASED.get(compact) or _SPELLINGS.get(compact.lower())


def units_of(unit: str) -> Mapping[str, float]:
    """Units allowed for a quantity, with their factors to its SI unit.

    A quantity in packets may also be given in bytes; `factor` then divides by the MSS.
    """
    if unit == "pkt":
        return {"pkt": 1.0, **_SIZES}
    return {"bit/s": _RATES, "s": _TIMES, "B": _SIZES, "": _SHARES}.get(unit, {unit: 1.0})


def factor(from_unit: str, quantity_unit: str, mss_bytes: int) -> float | None:
    """Factor from a unit to the SI unit of a quantity; None if the unit does not fit the quantity."""
    found = units_of(quantity_unit).get(from_unit)
    if found is None or quantity_unit != "pkt" or from_unit == "pkt":
        return found
    return found / mss_bytes


MOST_CELLS = 20_000_000
"""Maximum number of values read from a file. They take 160 MB of memory, and 80 MB more for the run in float32."""

MOST_SAMPLES = 2_000_000
"""Maximum number of samples of a trace; resampling needs about 80 bytes per sample."""

LEAST_INTERVAL_S = 1e-9
"""Minimum sampling interval in seconds, because the store keeps times in whole nanoseconds."""

MOST_MSS_BYTES = 65_535
"""Maximum payload of a packet, because the length field of IP has 16 bits."""

MOST_LINE_BYTES = 1_000_000
"""Maximum length of a line of a text file, characters."""

MOST_TRACES = 1000
"""Maximum number of traces of a run, because each trace is drawn, listed and included in the results of its flow."""

UNNAMED_FLOW = "measured"
"""Name of the first connection unless the user names it."""

Clock = Literal["refuse", "sort", "drop", "join"]
CLOCKS: tuple[Clock, ...] = ("refuse", "sort", "drop", "join")
"""Treatments of times that go back: refuse the file, sort or drop samples, or shift the rest to join the parts."""


@dataclass(frozen=True, slots=True)
class Target:
    """The trace that a column becomes in the run.

    Attributes:
        scope: subflow, flow or link, as in `traces`.
        owner: name of the subflow, flow or link direction, e.g. "download/1".
        name: name of a `Quantity`.
    """

    scope: str
    owner: str
    name: str

    @property
    def text(self) -> str:
        """Text form that `--map` accepts: ``cwnd_pkts:download/1``."""
        return f"{self.name}:{self.owner}"

    @property
    def flow(self) -> str:
        """Name of the flow or link. For a subflow, this is the owner without the number after the last slash."""
        return self.owner.rpartition("/")[0] if self.scope == SUBFLOW else self.owner


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """A column of a file of measurements.

    Attributes:
        title: unique title: the heading in the file, with a number if it repeats.
        time_s: float64 [n], s, in the time base of the file; several columns may share the array.
        values: float64 [n], in `unit`; NaN for missing values.
        unit: unit in the file, a key of `units_of`; empty for the SI unit of the target.
        target: guessed or chosen trace; None if the column is left out.
        is_counter: whether the values count from the start, so that their differences are used.
        alias: title with addresses, which choices of meanings and units accept, too; empty if it equals the title.
    """

    title: str
    time_s: NDArray[np.float64]
    values: NDArray[np.float64]
    unit: str = ""
    target: Target | None = None
    is_counter: bool = False
    alias: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """The columns of a file of measurements.

    Attributes:
        format: name of the `trace_format.TraceFormat` that read the file.
        columns: columns in the order of the file.
        notices: notes for the user, one sentence each.
        mss_bytes: payload of a full packet; None if it does not follow from the file.
        transport: protocol of the connections, such as "MPTCP"; empty if unknown.
        tool: program that wrote the file, with its version if the file states it; empty if unknown.
        is_whole: False if the file is cut off or damaged, and only its beginning was read.
    """

    format: str
    columns: tuple[RawColumn, ...]
    notices: tuple[str, ...] = ()
    mss_bytes: int | None = None
    transport: str = ""
    tool: str = ""
    is_whole: bool = True

    @property
    def has_certain_units(self) -> bool:
        """True if the program that wrote the file determines all units, so that users need not state any."""
        return self.format != "csv" or bool(self.tool)


def _unwatched(_fraction: float) -> None:
    """Ignore the progress of a reader."""


@dataclass(slots=True)
class ReadingOptions:
    """Options that the user chose for reading a file of measurements.

    Attributes:
        format: one of `trace_formats.format_names`.
        time_unit: unit of the time column; if empty, the unit in its heading, or else a guess from the first time.
        time_column: title of the time column; if empty, a column with a name in `TIME_NAMES`, or else the first column.
        interval_s: sampling interval for files without times, s; None if unknown.
        clock: treatment of times that go back.
        flow: flow name for connections without a name.
        mss_bytes: payload of a full packet; None for the value in the file, or else 1448.
        maps: chosen trace by column title, in the form of `Target.text`; empty or "-" leaves the column out.
        units: chosen unit by column title.
        is_addressed: whether titles and notices contain the addresses of hosts.
        watch: called while the file is read, with the fraction that is read, from 0 to 1; may raise to end the reading.
    """

    format: str = "auto"
    time_unit: str = ""
    time_column: str = ""
    interval_s: float | None = None
    clock: Clock = "refuse"
    flow: str = UNNAMED_FLOW
    mss_bytes: int | None = None
    maps: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    is_addressed: bool = False
    watch: Callable[[float], None] = field(default=_unwatched, compare=False)


def guess_target(heading: Heading, flow: str) -> Target | None:
    """The trace that a heading suggests; None if the heading is unknown. `flow` is the default owner."""
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
    """Parse the text form of a trace, ``cwnd_pkts:download/1``.

    The default owner is the flow "measured", or its first subflow if the trace belongs to subflows.

    Raises:
        InputError: if the name is not a trace of Subflow.
    """
    name, _, owner = text.partition(":")
    quantity = BY_NAME.get(name.strip())
    if quantity is None:
        raise InputError(f'"{text}": "{name}" is not a trace; allowed: {", ".join(BY_NAME)}')
    owner = owner.strip() or ("measured/1" if quantity.scope == SUBFLOW else "measured")
    return Target(_scope_of(owner, quantity.scope), owner, quantity.name)


def distinct_targets(columns: list[RawColumn]) -> list[RawColumn]:
    """Change the targets of columns so that each is unique.

    If the target of a subflow is repeated, it moves to the next free subflow number. If the target of a flow or link is
    repeated, it becomes None.
    """
    taken: set[Target] = set()
    latest: dict[tuple[str, str, str], int] = {}  # highest subflow number tried so far
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
