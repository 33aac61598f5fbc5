"""Collects the samples and events appended to a run into blobs to be stored.

Samples become chunks, statistics and pyramids. Events become chunks with an index that locates them.

This module does not access the database. Pending data stay pending until `mark_stored`, so that a failed commit can be
repeated without loss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_store.codec import SAMPLES, Codec, codec, codec_for
from subflow_store.streams import StreamSpec
from subflow_store.values import EventTable

CHUNK_SAMPLES = 4096
"""Samples in a chunk: 41 s at 100 Hz. Compared with one blob per series this costs 9 % in size, but allows appending to
a running series and reading a window separately. A crash loses only uncommitted data.
"""

PYRAMID_STEPS = {1: 64, 2: 4096}
"""Samples per group at each pyramid level. Each divides CHUNK_SAMPLES."""


class Statistics(NamedTuple):
    """Statistics of the samples of each column so far, ignoring NaN; None for a column of NaN only.

    The mean is also None if a column contains infinities of both signs.
    """

    vmin: list[float | None]
    vmax: list[float | None]
    mean: list[float | None]


class SampleIngest:
    """Cuts appended blocks into chunks, column by column."""

    def __init__(self, n_columns: int) -> None:
        """Start with no samples."""
        self.n_samples = 0
        self.n_columns = n_columns
        self._codec = codec(SAMPLES)
        self._tail = np.empty((n_columns, CHUNK_SAMPLES), np.float32)  # samples after the last complete chunk
        self._full: list[tuple[int, list[bytes]]] = []  # complete chunks not stored yet: index, blob of each column
        self._vmin: list[NDArray[np.float32]] = []  # level 1 of the pyramid of each complete chunk: [n_columns, groups]
        self._vmax: list[NDArray[np.float32]] = []
        self._least = np.full(n_columns, np.nan, np.float32)
        self._greatest = np.full(n_columns, np.nan, np.float32)
        self._sum = np.zeros(n_columns)
        self._count = np.zeros(n_columns, np.int64)

    @property
    def pending_bytes(self) -> int:
        """Size of the complete chunks not stored yet."""
        return sum(len(blob) for _, blobs in self._full for blob in blobs)

    def append(self, block: NDArray[np.float32]) -> None:
        """Append samples.

        Args:
            block: float32 [n, n_columns].
        """
        position = 0
        while position < len(block):
            filled = self.n_samples % CHUNK_SAMPLES
            step = min(CHUNK_SAMPLES - filled, len(block) - position)
            self._tail[:, filled : filled + step] = block[position : position + step].T
            position += step
            self.n_samples += step
            if filled + step == CHUNK_SAMPLES:
                self._close_chunk()

    def pending_chunks(self) -> list[tuple[int, int, list[bytes]]]:
        """Chunks to store: index, sample count, blob of each column. The last may be partial and is replaced later."""
        rows = [(index, CHUNK_SAMPLES, blobs) for index, blobs in self._full]
        filled = self.n_samples % CHUNK_SAMPLES
        if filled:
            rows.append((self.n_samples // CHUNK_SAMPLES, filled, self._codec.encode_rows(self._tail[:, :filled])))
        return rows

    def mark_stored(self) -> None:
        """Mark the data from `pending_chunks` as stored."""
        self._full.clear()

    def statistics(self) -> Statistics:
        """Minimum, maximum and mean of each column over all samples so far."""
        tail = self._tail[:, : self.n_samples % CHUNK_SAMPLES]
        least = np.fmin(self._least, _reduce(np.fmin, tail))
        greatest = np.fmax(self._greatest, _reduce(np.fmax, tail))
        tail_sum, tail_count = _sum_and_count(tail)
        count = self._count + tail_count
        with np.errstate(invalid="ignore"):  # 0 / 0 in a column without numbers, and sums with both infinities
            mean = (self._sum + tail_sum) / count
        return Statistics(_numbers(least), _numbers(greatest), _numbers(mean))

    def pyramid(self, level: int) -> tuple[int, list[bytes]]:
        """A level of the pyramid so far: number of groups, and for each column a blob of minima and maxima."""
        tail = self._tail[:, : self.n_samples % CHUNK_SAMPLES]
        vmin = np.concatenate([*self._vmin, group(np.fmin, tail, PYRAMID_STEPS[1])], axis=1)
        vmax = np.concatenate([*self._vmax, group(np.fmax, tail, PYRAMID_STEPS[1])], axis=1)
        if level > 1:
            step = PYRAMID_STEPS[level] // PYRAMID_STEPS[1]
            vmin, vmax = group(np.fmin, vmin, step), group(np.fmax, vmax, step)
        return vmin.shape[1], self._codec.encode_rows(np.concatenate([vmin, vmax], axis=1))

    def _close_chunk(self) -> None:
        self._full.append((self.n_samples // CHUNK_SAMPLES - 1, self._codec.encode_rows(self._tail)))
        vmin, vmax = group(np.fmin, self._tail, PYRAMID_STEPS[1]), group(np.fmax, self._tail, PYRAMID_STEPS[1])
        self._vmin.append(vmin)
        self._vmax.append(vmax)
        self._least = np.fmin(self._least, _reduce(np.fmin, vmin))
        self._greatest = np.fmax(self._greatest, _reduce(np.fmax, vmax))
        chunk_sum, chunk_count = _sum_and_count(self._tail)
        with np.errstate(invalid="ignore"):
            self._sum += chunk_sum
        self._count += chunk_count


def group(reduce: np.ufunc, columns: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Reduce each group of `step` values along the last axis to one value; the last group may be smaller.

    Args:
        reduce: np.fmin or np.fmax, which ignore NaN unless all values are NaN.
        columns: float32 [n_columns, n].
        step: values in a group.

    Returns:
        float32 [n_columns, ceil(n / step)].
    """
    n_columns, n = columns.shape
    whole = n // step
    out = np.empty((n_columns, -(-n // step)), np.float32)
    reduce.reduce(columns[:, : whole * step].reshape(n_columns, whole, step), axis=2, out=out[:, :whole])
    if whole * step < n:
        out[:, whole] = reduce.reduce(columns[:, whole * step :], axis=1)
    return out


def _reduce(reduce: np.ufunc, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """The reduction of each column; NaN if the columns are empty."""
    if columns.shape[1] == 0:
        return np.full(columns.shape[0], np.nan, np.float32)
    reduced: NDArray[np.float32] = reduce.reduce(columns, axis=1)
    return reduced


def _sum_and_count(columns: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum and count of each column's values, ignoring NaN. Columns without NaN take a fast path."""
    with np.errstate(invalid="ignore"):  # infinities of both signs
        total = columns.sum(axis=1, dtype=np.float64)
    count = np.full(len(columns), columns.shape[1], np.int64)
    for column in np.flatnonzero(np.isnan(total)):
        numbers = columns[column][~np.isnan(columns[column])]
        with np.errstate(invalid="ignore"):
            total[column] = numbers.sum(dtype=np.float64)
        count[column] = len(numbers)
    return total, count


def _numbers(values: NDArray[np.float32] | NDArray[np.float64]) -> list[float | None]:
    """Python numbers, None in place of NaN."""
    return [None if value != value else value for value in values.tolist()]


EVENT_CHUNK = 4096
"""Rows in a chunk, the smallest unit of reading: about 100 kB for a stream with twenty columns."""


class Span(NamedTuple):
    """The rows of one owner in one chunk: number of the owner, index of the chunk, number of rows, times in ns."""

    owner: int
    idx: int
    n: int
    t_first_ns: int
    t_last_ns: int


class PendingEvents(NamedTuple):
    """Rows for the three tables of events."""

    chunks: list[tuple[int, str, int, str, bytes]]
    """Chunk index, field, number of rows, codec, blob."""
    spans: list[Span]
    names: list[tuple[str, int, str]]
    """Field, number, name."""


class _Chunk(NamedTuple):
    idx: int
    n: int
    blobs: list[bytes]  # one blob per field
    spans: list[Span]


def spans_of(idx: int, owners: NDArray[np.int32], time_ns: NDArray[np.int64]) -> list[Span]:
    """The spans of a chunk, from the columns common to all streams."""
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
        self._codecs: list[Codec] = []  # one per field; the first rows determine the width of vectors
        self._names: dict[str, dict[str, int]] = {field: {} for field in spec.named}
        self._stored_names = dict.fromkeys(spec.named, 0)
        # rows after the last complete chunk, one array per column; allocated with the first row
        self._tail: list[NDArray[Any]] = []
        self._filled = 0  # rows in the tail
        self._stored = 0  # stored rows in the tail
        self._next_chunk = 0
        self._full: list[_Chunk] = []  # complete chunks not stored yet

    @property
    def has_pending(self) -> bool:
        """True if rows are waiting to be stored."""
        return bool(self._full) or self._stored < self._filled

    @property
    def pending_bytes(self) -> int:
        """Size of the complete chunks not stored yet."""
        return sum(len(blob) for chunk in self._full for blob in chunk.blobs)

    def append(self, table: EventTable) -> None:
        """Append rows in order of time; the first rows determine the width of vectors."""
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
        """Rows to store. The last chunk may be partial and is replaced later."""
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
        """Mark the rows from `pending` as stored."""
        self._stored_names = {field: len(names) for field, names in self._names.items()}
        self._full.clear()
        self._stored = self._filled

    def _encoded(self) -> _Chunk:
        """The tail encoded as a chunk."""
        columns = {field: tail[: self._filled] for field, tail in zip(self._spec.fields, self._tail, strict=True)}
        blobs = [each.encode(column) for each, column in zip(self._codecs, columns.values(), strict=True)]
        spans = spans_of(self._next_chunk, columns["owner"], columns["time_ns"])
        return _Chunk(self._next_chunk, self._filled, blobs, spans)

    def _renumbered(self, field: str, table: EventTable) -> NDArray[np.int32]:
        """A column of names, converted from the numbers of the table to those of this run.

        Only names that occur get a number, because a table may contain many more.
        """
        names = self._names[field]
        used, where = np.unique(table[field], return_inverse=True)
        numbers = [names.setdefault(table.names[field][number], len(names)) for number in used.tolist()]
        return np.array(numbers, np.int32)[where]
