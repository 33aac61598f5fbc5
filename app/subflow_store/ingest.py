"""Gathering the samples that a run appends into the blobs that are stored: chunks, statistics and pyramids.

Nothing here touches the database. What was handed out as pending stays pending until `mark_stored`, so that a commit
which failed can be tried again with nothing lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_store.codec import SAMPLES, codec

CHUNK_SAMPLES = 4096
"""Samples in a chunk: 41 s at 100 Hz. Against one blob a series this costs 9 % in size and buys live append, reading a
window without the rest, and that a crash loses only what was not yet committed."""

PYRAMID_STEPS = {1: 64, 2: 4096}
"""Samples that one group of each pyramid level covers. Both divide CHUNK_SAMPLES or equal it."""


class Statistics(NamedTuple):
    """What is known of each column so far; NaN samples are left out, and None is where nothing is left."""

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
        self._tail = np.empty((n_columns, CHUNK_SAMPLES), np.float32)  # samples after the last whole chunk
        self._full: list[tuple[int, list[bytes]]] = []  # whole chunks not stored yet: index, blob of each column
        self._vmin: list[NDArray[np.float32]] = []  # level 1 of the pyramid of each whole chunk: [n_columns, groups]
        self._vmax: list[NDArray[np.float32]] = []
        self._least = np.full(n_columns, np.nan, np.float32)
        self._greatest = np.full(n_columns, np.nan, np.float32)
        self._sum = np.zeros(n_columns)
        self._count = np.zeros(n_columns, np.int64)

    @property
    def pending_bytes(self) -> int:
        """Size of the whole chunks not stored yet."""
        return sum(len(blob) for _, blobs in self._full for blob in blobs)

    def append(self, block: NDArray[np.float32]) -> None:
        """Take samples up.

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
        """Chunks to store: index, samples, blob of each column. The last may be partial and is replaced later."""
        rows = [(index, CHUNK_SAMPLES, blobs) for index, blobs in self._full]
        filled = self.n_samples % CHUNK_SAMPLES
        if filled:
            rows.append((self.n_samples // CHUNK_SAMPLES, filled, self._codec.encode_rows(self._tail[:, :filled])))
        return rows

    def mark_stored(self) -> None:
        """What `pending_chunks` gave is stored."""
        self._full.clear()

    def statistics(self) -> Statistics:
        """Minimum, maximum and mean of each column over all samples so far."""
        tail = self._tail[:, : self.n_samples % CHUNK_SAMPLES]
        least = np.fmin(self._least, _reduce(np.fmin, tail))
        greatest = np.fmax(self._greatest, _reduce(np.fmax, tail))
        tail_sum, tail_count = _sum_and_count(tail)
        count = self._count + tail_count
        with np.errstate(invalid="ignore"):  # 0 / 0 where a column has no number, and sums with both infinities
            mean = (self._sum + tail_sum) / count
        return Statistics(_numbers(least), _numbers(greatest), _numbers(mean))

    def pyramid(self, level: int) -> tuple[int, list[bytes]]:
        """A level of the pyramid over all samples so far: number of groups, and a blob for each column."""
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
    """Reduce each run of `step` values along the last axis to one; the last run may be shorter.

    Args:
        reduce: np.fmin or np.fmax, which leave NaN out unless there is nothing else.
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
    """The reduction of each column; NaN where it is empty."""
    if columns.shape[1] == 0:
        return np.full(columns.shape[0], np.nan, np.float32)
    reduced: NDArray[np.float32] = reduce.reduce(columns, axis=1)
    return reduced


def _sum_and_count(columns: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum and number of each column's values without NaN. Most columns have none, which is the fast way through."""
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
