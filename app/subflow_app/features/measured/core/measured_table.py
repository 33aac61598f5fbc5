"""What was read of a measured file, before it becomes a run: columns with times and meanings, and what was noticed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.measured.core.quantities import BY_NAME, COUNTERS, Heading, quantity_named
from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import ordinal

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
        format: "csv", "ss" or "pcap".
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
        format: "csv", "ss", "pcap", or "auto".
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
