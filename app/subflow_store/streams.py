"""The event streams: data recorded when events occur, as opposed to samples.

A stream is a table with its own columns, stored column by column in chunks. To add a field or a stream, add it here:
the database stores the name and the codec of each column, so older runs can still be read, with NaN or 0 in new
columns. `time_ns` comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from subflow_store.codec import VECTORS, codec
from subflow_store.values import EventTable

_TIME = "i8/delta/shuffle/zstd3"
_WHOLE = "i4/shuffle/zstd3"
_LONG = "i8/shuffle/zstd3"
_REAL = "f8/shuffle/zstd3"
_SINGLE = "f4/shuffle/zstd3"

DECISION_NUMBERS = 8
"""Largest number of values that a decision records for its rule."""


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """The columns of a stream.

    Attributes:
        name: name in the table `event_chunk`.
        fields: name of the codec by column; every stream has `time_ns` and `owner`.
        named: the columns whose numbers are indices into lists of names.
    """

    name: str
    fields: Mapping[str, str]
    named: tuple[str, ...]

    def empty(self) -> EventTable:
        """An empty table with these columns."""
        columns = {field: np.empty(codec(name).shape(0), codec(name).dtype) for field, name in self.fields.items()}
        return EventTable(columns, dict.fromkeys(self.named, ()))


MARK = StreamSpec("mark", {"time_ns": _TIME, "owner": _WHOLE, "kind": _WHOLE, "value": _REAL}, ("owner", "kind"))

DECISION = StreamSpec(
    "decision",
    {
        "time_ns": _TIME,
        "owner": _WHOLE,
        "cause": _WHOLE,
        "rule": _WHOLE,
        "cwnd_before_pkts": _REAL,
        "cwnd_after_pkts": _REAL,
        "rate_before_bps": _REAL,
        "rate_after_bps": _REAL,
        **{f"number_{index}": _REAL for index in range(1, DECISION_NUMBERS + 1)},
        "chosen": _WHOLE,
        "available": _LONG,
        "usable": _LONG,
        "data_seq": _LONG,
    },
    ("owner", "cause", "rule"),
)
"""Decisions of controllers and schedulers with their reasons. The caller chooses the text that identifies a rule.
"""

INTERVAL = StreamSpec(
    "interval",
    {
        "time_ns": _TIME,
        "owner": _WHOLE,
        "number": _WHOLE,
        "begin_ns": _TIME,
        "end_ns": _TIME,
        "tag": _WHOLE,
        "rate_bps": _REAL,
        "send_rate_bps": _REAL,
        "throughput_bps": _REAL,
        "sent_pkts": _WHOLE,
        "delivered_pkts": _WHOLE,
        "lost_pkts": _WHOLE,
        "loss_ratio": _REAL,
        "rtt_mean_s": _REAL,
        "rtt_min_s": _REAL,
        "rtt_gradient": _REAL,
        "rtt_gradient_error": _REAL,
        "is_app_limited": _WHOLE,
        "utility": _REAL,
    },
    ("owner",),
)
"""Monitor intervals: packets sent at one rate, and the fate of exactly these packets."""

AGENT = StreamSpec(
    "agent",
    {
        "time_ns": _TIME,
        "owner": _WHOLE,
        "agent": _WHOLE,
        "number": _WHOLE,
        "subflow": _WHOLE,
        "is_acting": _WHOLE,
        "value": _SINGLE,
        "reward": _SINGLE,
        "epoch_s": _SINGLE,
        "sending_rate_bps": _SINGLE,
        "goodput_bps": _SINGLE,
        "loss_ratio": _SINGLE,
        "rtt_s": _SINGLE,
        "min_rtt_s": _SINGLE,
        "schedule_share": _SINGLE,
        "cwnd_before_pkts": _SINGLE,
        "cwnd_after_pkts": _SINGLE,
        "rate_before_bps": _SINGLE,
        "rate_after_bps": _SINGLE,
        "observation": VECTORS,
        "action": VECTORS,
    },
    ("owner", "agent", "subflow"),
)
"""Observations, actions and rewards of learning agents: one row per decision and observed subflow.

Owners are the agents; `agent` is the text with which the caller identifies an agent. Controllers differ in the size of
their observations, and an option sets the length of the history. So `observation` and `action` have the width of the
widest agent in the run, and shorter rows end with NaN. One column per number would limit their count and cost a blob
each; one row per number would repeat time, agent and subflow.
"""

STREAMS: Mapping[str, StreamSpec] = {spec.name: spec for spec in (MARK, DECISION, INTERVAL, AGENT)}


def table_of_marks(rows: Iterable[tuple[int, str, str, float]]) -> EventTable:
    """A table of marks from tuples (time_ns, owner, kind, value)."""
    owners: dict[str, int] = {}
    kinds: dict[str, int] = {}
    numbered = [
        (
            int(time_ns),
            owners.setdefault(str(owner), len(owners)),
            kinds.setdefault(str(kind), len(kinds)),
            float(value),
        )
        for time_ns, owner, kind, value in rows
    ]
    columns = zip(*numbered, strict=True) if numbered else ((),) * len(MARK.fields)
    return EventTable(
        {
            field: np.array(column, codec(name).dtype)
            for (field, name), column in zip(MARK.fields.items(), columns, strict=True)
        },
        {"owner": tuple(owners), "kind": tuple(kinds)},
    )
