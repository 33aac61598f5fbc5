"""Gathering the events that a run appends into the blobs that are stored, with an index of what lies where.

As with samples, nothing here touches the database, and what was handed out stays pending until `mark_stored`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_store.codec import Codec, codec_for
from subflow_store.streams import StreamSpec
from subflow_store.values import EventTable

EVENT_CHUNK = 4096
"""Rows in a chunk: what is read at least for a single row, about 100 kB of a stream with twenty columns."""


class Span(NamedTuple):
    """The rows of one owner in one chunk."""

    owner: int
    idx: int
    n: int
    t_first_ns: int
    t_last_ns: int


class PendingEvents(NamedTuple):
    """Rows for three tables."""

    chunks: list[tuple[int, str, int, str, bytes]]
    """Chunk index, field, rows, codec, blob."""
    spans: list[Span]
    names: list[tuple[str, int, str]]
    """Field, number, name."""


class _Chunk(NamedTuple):
    idx: int
    n: int
    blobs: list[bytes]  # of each field
    spans: list[Span]


def spans_of(idx: int, owners: NDArray[np.int32], time_ns: NDArray[np.int64]) -> list[Span]:
    """The spans of a chunk, by the columns that every stream has."""
    order = np.argsort(owners, kind="stable")
    found, starts, counts = np.unique(owners[order], return_index=True, return_counts=True)
    first = np.minimum.reduceat(time_ns[order], starts)
    last = np.maximum.reduceat(time_ns[order], starts)
    columns = (found.tolist(), counts.tolist(), first.tolist(), last.tolist())
    return [Span(owner, idx, n, begin, end) for owner, n, begin, end in zip(*columns, strict=True)]


class EventIngest:
    """Cuts the appended rows of one stream into chunks, column by column, with names replaced by numbers."""

    def __init__(self, spec: StreamSpec) -> None:
        """Start with no rows."""
        self._spec = spec
        self._codecs: list[Codec] = []  # of each field; the first rows tell how wide those of several numbers are
        self._names: dict[str, dict[str, int]] = {field: {} for field in spec.named}
        self._stored_names = dict.fromkeys(spec.named, 0)
        self._tail: list[NDArray[Any]] = []  # rows after the last whole chunk, a column each; made with the first row
        self._filled = 0  # of the tail
        self._stored = 0  # of the tail
        self._next_chunk = 0
        self._full: list[_Chunk] = []  # whole chunks not stored yet

    @property
    def has_pending(self) -> bool:
        """Whether there is anything to store."""
        return bool(self._full) or self._stored < self._filled

    @property
    def pending_bytes(self) -> int:
        """Size of the whole chunks not stored yet."""
        return sum(len(blob) for chunk in self._full for blob in chunk.blobs)

    def append(self, table: EventTable) -> None:
        """Take rows up."""
        if not self._tail:
            self._codecs = [codec_for(name, table[field]) for field, name in self._spec.fields.items()]
            self._tail = [np.empty(each.shape(EVENT_CHUNK), each.dtype) for each in self._codecs]
        columns = [
            self._renumbered(field, table) if field in self._names else table[field] for field in self._spec.fields
        ]
        position = 0
        while position < len(table):
            step = min(EVENT_CHUNK - self._filled, len(table) - position)
            for tail, column in zip(self._tail, columns, strict=True):
                tail[self._filled : self._filled + step] = column[position : position + step]
            position += step
            self._filled += step
            if self._filled == EVENT_CHUNK:
                self._full.append(self._encoded())
                self._next_chunk += 1
                self._filled = self._stored = 0

    def pending(self) -> PendingEvents:
        """What is to be stored. The last chunk may be partial and is replaced later."""
        chunks = [*self._full, self._encoded()] if self._stored < self._filled else self._full
        return PendingEvents(
            [
                (chunk.idx, field, chunk.n, each.name, blob)
                for chunk in chunks
                for field, each, blob in zip(self._spec.fields, self._codecs, chunk.blobs, strict=True)
            ],
            [span for chunk in chunks for span in chunk.spans],
            [
                (field, number, name)
                for field, names in self._names.items()
                for name, number in list(names.items())[self._stored_names[field] :]
            ],
        )

    def mark_stored(self) -> None:
        """What `pending` gave is stored."""
        self._stored_names = {field: len(names) for field, names in self._names.items()}
        self._full.clear()
        self._stored = self._filled

    def _encoded(self) -> _Chunk:
        """The tail as a chunk."""
        columns = {field: tail[: self._filled] for field, tail in zip(self._spec.fields, self._tail, strict=True)}
        blobs = [each.encode(column) for each, column in zip(self._codecs, columns.values(), strict=True)]
        spans = spans_of(self._next_chunk, columns["owner"], columns["time_ns"])
        return _Chunk(self._next_chunk, self._filled, blobs, spans)

    def _renumbered(self, field: str, table: EventTable) -> NDArray[np.int32]:
        """A column of names with the numbers that they have in this run instead of those that they have in the table.

        Only names that occur get a number: a table may know many more.
        """
        names = self._names[field]
        used, where = np.unique(table[field], return_inverse=True)
        numbers = [names.setdefault(table.names[field][number], len(names)) for number in used.tolist()]
        return np.array(numbers, np.int32)[where]
