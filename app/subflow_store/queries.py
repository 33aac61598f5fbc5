"""Reading rows: runs, series, samples and pyramids."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_store.codec import codec
from subflow_store.conditions import Condition, where
from subflow_store.forks import forks_between
from subflow_store.ingest import PYRAMID_STEPS, group
from subflow_store.rows import time_of, unsigned
from subflow_store.values import PyramidData, RunFork, RunRow, SeriesData, SeriesInfo

_AFTER_ALL = 1 << 52  # a sample index beyond any series
_ROUNDING = 1e-6  # in samples
_NO_DOCUMENTS = (None, None, None)  # scenario_text, summary and machine in a list

# RunRow's fields up to the documents, in their order.
_RUN_FIELDS = RunRow._fields[: RunRow._fields.index("deleted")]
_SELECT_RUNS = f"SELECT {', '.join(_RUN_FIELDS)}, deleted_at IS NOT NULL FROM run"
_SEED = RunRow._fields.index("seed")
_STATUS = RunRow._fields.index("status")
_STARTED_AT = RunRow._fields.index("started_at")
_ENDED_AT = RunRow._fields.index("ended_at")
_DELETED = RunRow._fields.index("deleted")


def list_runs(
    reader: Connection,
    conditions: Sequence[Condition],
    *,
    include_deleted: bool,
    limit: int | None,
    offset: int,
    gone: frozenset[int],
) -> list[RunRow]:
    """The runs that meet all conditions, newest first.

    Args:
        reader: the connection.
        conditions: which runs.
        include_deleted: whether deleted runs are listed too.
        limit: how many at most.
        offset: how many to skip.
        gone: runs which the file says are running, but which are known to be interrupted.
    """
    keys = value_keys(reader) if any(condition.is_recorded for condition in conditions) else {}
    status = f"iif(id IN ({', '.join(map(str, gone))}), 'interrupted', status)" if gone else "status"
    text, parameters = where(conditions, keys, status)
    kept = "TRUE" if include_deleted else "deleted_at IS NULL"
    query = f"{_SELECT_RUNS} WHERE {text} AND {kept} ORDER BY id DESC LIMIT ? OFFSET ?"
    parameters += [-1 if limit is None else limit, offset]
    return _run_rows(reader, reader.execute(query, parameters).fetchall(), gone)


def load_run(reader: Connection, run_id: int, gone: frozenset[int]) -> RunRow | None:
    """One run with its documents, or None."""
    rows = _run_rows(reader, reader.execute(f"{_SELECT_RUNS} WHERE id = ?", (run_id,)).fetchall(), gone)
    if not rows:
        return None
    documents = dict(reader.execute("SELECT kind, text FROM run_document WHERE run_id = ?", (run_id,)).fetchall())
    return rows[0]._replace(
        scenario_text=documents["scenario"],
        summary=json.loads(documents.get("summary", "{}")),
        machine=json.loads(documents["machine"]),
    )


def value_keys(reader: Connection) -> dict[str, int]:
    """The keys of recorded values, with their numbers in the database."""
    return dict(reader.execute("SELECT key, id FROM value_key ORDER BY key").fetchall())


def read_values(reader: Connection, key: str) -> dict[int, float | str]:
    """What each run has recorded under a key: the number, or the text of what is none."""
    query = (
        "SELECT run_id, coalesce(number, text) FROM run_value"
        " WHERE key_id = (SELECT id FROM value_key WHERE key = ?) AND coalesce(number, text) IS NOT NULL"
    )
    return dict(reader.execute(query, (key,)).fetchall())


def list_tags(reader: Connection) -> list[str]:
    """The tags of all runs that are not deleted, sorted."""
    query = "SELECT DISTINCT tag FROM run_tag JOIN run ON run.id = run_id WHERE deleted_at IS NULL ORDER BY tag"
    return [tag for (tag,) in reader.execute(query).fetchall()]


def list_series(reader: Connection, run_id: int) -> list[SeriesInfo]:
    """The series of a run in the order of its columns."""
    query = f"SELECT {', '.join(SeriesInfo._fields)} FROM series WHERE run_id = ? ORDER BY id"
    return [SeriesInfo._make(row) for row in reader.execute(query, (run_id,)).fetchall()]


# Samples


def read_samples(reader: Connection, series_id: int, t_from_s: float | None, t_to_s: float | None) -> SeriesData | None:
    """The samples with t_from_s <= t <= t_to_s, or None if there is no such series."""
    row = reader.execute("SELECT t0_s, dt_s, codec, chunk_samples FROM series WHERE id = ?", (series_id,)).fetchone()
    if row is None:
        return None
    t0_s, dt_s, codec_name, chunk_samples = row
    first = 0 if t_from_s is None else _sample_index(t_from_s, t0_s, dt_s, math.ceil)
    end = _AFTER_ALL if t_to_s is None else max(first, _sample_index(t_to_s, t0_s, dt_s, math.floor) + 1)
    first_chunk = first // chunk_samples
    chunks = reader.execute(
        "SELECT n, data FROM chunk WHERE series_id = ? AND idx BETWEEN ? AND ? ORDER BY idx",
        (series_id, first_chunk, (end - 1) // chunk_samples),
    ).fetchall()
    values = decode(codec_name, chunks)
    read_from = first_chunk * chunk_samples
    return SeriesData(t0_s + first * dt_s, dt_s, values[first - read_from : end - read_from])


def read_pyramid(reader: Connection, series_id: int, level: int) -> PyramidData | None:
    """A level of a series' pyramid, or None if there is no such series.

    Where it is not stored (the run is still running, was interrupted, or is too short for this level to be worth
    it), it is worked out of the level below, at last of the samples.
    """
    row = reader.execute("SELECT t0_s, dt_s FROM series WHERE id = ?", (series_id,)).fetchone()
    if row is None:
        return None
    t0_s, dt_s = row
    stored = reader.execute(
        "SELECT level, n, codec, data FROM pyramid WHERE series_id = ? AND level <= ? ORDER BY level DESC LIMIT 1",
        (series_id, level),
    ).fetchone()
    if stored is None:
        samples = read_samples(reader, series_id, None, None)
        if samples is None:
            return None
        found_step, vmin, vmax = 1, samples.values, samples.values
    else:
        found_level, n, codec_name, blob = stored
        found_step = PYRAMID_STEPS[found_level]
        vmin, vmax = codec(codec_name).decode(blob, 2 * n).reshape(2, n)
    step = PYRAMID_STEPS[level]
    if found_step != step:
        vmin = group(np.fmin, vmin[np.newaxis], step // found_step)[0]
        vmax = group(np.fmax, vmax[np.newaxis], step // found_step)[0]
    return PyramidData(t0_s, step * dt_s, vmin, vmax)


def decode(codec_name: str, chunks: Sequence[tuple[int, bytes]]) -> NDArray[Any]:
    """The elements of consecutive chunks (elements, blob), as one array."""
    decoder = codec(codec_name)
    values = np.empty(decoder.shape(sum(n for n, _ in chunks)), decoder.dtype)
    position = 0
    for n, blob in chunks:
        decoder.decode_into(blob, values[position : position + n])
        position += n
    return values


def _sample_index(t_s: float, t0_s: float, dt_s: float, to_whole: Callable[[float], int]) -> int:
    """The first sample at or after a time (math.ceil), or the last at or before it (math.floor); at least -1.

    A time that differs from a sample's by rounding alone, like 0.1 + 0.2 from 0.3, counts as that sample's.
    """
    index = min(max((t_s - t0_s) / dt_s, -1.0), _AFTER_ALL - 1.0)
    nearest = round(index)
    whole = nearest if abs(index - nearest) < _ROUNDING else to_whole(index)
    return max(whole, 0) if to_whole is math.ceil else whole


# Rows


def _run_rows(reader: Connection, rows: Sequence[Sequence[Any]], gone: frozenset[int]) -> list[RunRow]:
    """Rows of `_SELECT_RUNS` with their tags and forks, read in one go: asking for each run takes as long again."""
    if not rows:
        return []
    # The rows are in order of their numbers, so one stretch of the tags' table holds those of all of them.
    bounds = sorted((rows[0][0], rows[-1][0]))
    tags: dict[int, list[str]] = {}
    for run_id, tag in reader.execute("SELECT run_id, tag FROM run_tag WHERE run_id BETWEEN ? AND ?", bounds):
        tags.setdefault(run_id, []).append(tag)
    forks = forks_between(reader, *bounds)
    return [_run_row(row, tags.get(row[0]), forks.get(row[0]), gone) for row in rows]


def _run_row(row: Sequence[Any], tags: list[str] | None, fork: RunFork | None, gone: frozenset[int]) -> RunRow:
    values = list(row)
    values[_SEED] = unsigned(values[_SEED])
    values[_STARTED_AT] = time_of(values[_STARTED_AT])
    values[_ENDED_AT] = time_of(values[_ENDED_AT])
    values[_DELETED] = bool(values[_DELETED])
    values.append(tuple(sorted(tags)) if tags else ())
    values.append(fork)
    if gone and values[0] in gone:
        values[_STATUS] = "interrupted"
    values += _NO_DOCUMENTS
    return RunRow._make(values)
