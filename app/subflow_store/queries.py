"""Queries of the store: runs with their forks, series, samples and pyramids, marks and other events.

`Store.forks` reads the relations of forks to their parent runs, which are written at the start of a run.

Events are marks, decisions, monitor intervals and steps of agents. Marks are few and read as a whole. The other streams
may have millions of rows: an index gives the chunks with rows of an owner in a window of time, and only these are read.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from sqlite3 import Connection
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_store.checksums import KIND as CHECKSUMS
from subflow_store.checksums import checksum
from subflow_store.codec import Codec, codec
from subflow_store.conditions import Condition, where
from subflow_store.damage import Damage, RowError, is_damage, row_of, typed
from subflow_store.database import Database
from subflow_store.ingest import PYRAMID_STEPS, group
from subflow_store.packs import packed_documents
from subflow_store.recordings import restored
from subflow_store.rows import insert, time_of, unsigned
from subflow_store.streams import MARK, StreamSpec
from subflow_store.values import (
    EventExtent,
    EventTable,
    MarkTable,
    PyramidData,
    RunFork,
    RunRow,
    SeriesData,
    SeriesInfo,
)

_FIELDS = ("parent_id", "parent_name", "forked_at_s", "difference")
_KINDS = (int, (int, NoneType), str, (float, int), str, str)
_SELECT = f"SELECT run_id, {', '.join(_FIELDS)}, changes FROM run_fork"


class ForkStore:
    """The forks of runs in a store. Any thread may call its methods."""

    def __init__(self, database: Database) -> None:
        """Use the database of the store."""
        self._database = database

    def origin_of(self, run_id: int) -> RunFork | None:
        """Origin of a fork: its parent run, time and changes; None if the run is not a fork.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = reader.execute(f"{_SELECT} WHERE run_id = ?", (run_id,)).fetchone()
        return None if row is None else _fork(row)

    def of(self, run_id: int) -> dict[int, RunFork]:
        """The forks of a run by number, oldest first, without deleted ones.

        Raises:
            StoreError: if the file cannot be read.
        """
        query = (
            f"{_SELECT} WHERE parent_id = ? AND run_id IN (SELECT id FROM run WHERE deleted_at IS NULL) ORDER BY run_id"
        )
        with self._database.reading() as reader:
            rows = reader.execute(query, (run_id,)).fetchall()
        return {row[0]: _fork(row) for row in rows}


def forks_between(reader: Connection, first: int, last: int) -> dict[int, RunFork]:
    """The forks among the runs in this range of numbers, including deleted ones."""
    rows = reader.execute(f"{_SELECT} WHERE run_id BETWEEN ? AND ?", (first, last)).fetchall()
    return {row[0]: _fork(row) for row in rows}


def insert_fork(connection: Connection, run_id: int, fork: RunFork | None) -> None:
    """Store the origin of a fork; does nothing for None."""
    if fork is not None:
        changes = json.dumps(fork.changes, ensure_ascii=False)
        insert(
            connection,
            "run_fork",
            {"run_id": run_id, **{name: getattr(fork, name) for name in _FIELDS}, "changes": changes},
        )


def _fork(row: Sequence[Any]) -> RunFork:
    with row_of("run_fork", "run", row[0]):
        ((_run_id, parent_id, parent_name, forked_at_s, difference, text),) = typed([row], *_KINDS)
        changes = json.loads(text)
        if not (isinstance(changes, list) and all(isinstance(change, dict) for change in changes)):
            raise ValueError("the changes are not a list of JSON objects")
        return RunFork(parent_id, parent_name, forked_at_s, difference, changes)


_AFTER_ALL = 1 << 52  # a sample index beyond any series
_ROUNDING = 1e-6  # tolerance of times, in samples
_NO_DOCUMENTS = (None, None, None)  # scenario_text, summary and machine of a run in a list

# Fields of RunRow before the documents, in their order.
_RUN_FIELDS = RunRow._fields[: RunRow._fields.index("deleted")]
_SELECT_RUNS = f"SELECT {', '.join(_RUN_FIELDS)}, deleted_at IS NOT NULL FROM run"
_SEED = RunRow._fields.index("seed")
_INTERVAL = RunRow._fields.index("sample_interval_s")
_STATUS = RunRow._fields.index("status")
_STARTED_AT = RunRow._fields.index("started_at")
_ENDED_AT = RunRow._fields.index("ended_at")
_DELETED = RunRow._fields.index("deleted")

_NUMBER = (float, int)
_MAYBE = (float, int, NoneType)
_RUN_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(_RUN_FIELDS, str),
    **dict.fromkeys(("id", "seed", "mss_bytes"), int),
    **dict.fromkeys(("duration_s", "warmup_s", "sample_interval_s", "simulated_s"), _NUMBER),
    **dict.fromkeys(("wall_s", "goodput_bps", "mean_rtt_s", "jain", "packets"), _MAYBE),
    "ended_at": (str, NoneType),
}
_SERIES_KINDS = (int, int, str, str, str, str, _NUMBER, _NUMBER, int, str, str, _MAYBE, _MAYBE, _MAYBE)


def list_runs(
    reader: Connection,
    conditions: Sequence[Condition],
    *,
    include_deleted: bool,
    limit: int | None,
    offset: int,
    gone: frozenset[int],
) -> tuple[list[RunRow], list[Damage]]:
    """The runs that meet all conditions, newest first, and the damage found.

    A damaged row does not affect the others: if one query cannot read the list, the runs are read one by one. If this
    finds no run either, the error of the first query is raised.

    Args:
        reader: the connection.
        conditions: conditions on the runs.
        include_deleted: whether deleted runs are included.
        limit: largest number of runs; None: all.
        offset: number of runs to skip.
        gone: runs marked as running in the file, but known to be interrupted.
    """
    keys = value_keys(reader) if any(condition.is_recorded for condition in conditions) else {}
    status = f"iif(id IN ({', '.join(map(str, gone))}), 'interrupted', status)" if gone else "status"
    text, parameters = where(conditions, keys, status)
    kept = "TRUE" if include_deleted else "deleted_at IS NULL"
    query = f"{_SELECT_RUNS} WHERE {text} AND {kept}"
    count = -1 if limit is None else limit
    try:
        rows = reader.execute(f"{query} ORDER BY id DESC LIMIT ? OFFSET ?", (*parameters, count, offset)).fetchall()
        return _run_rows(reader, rows, gone), []
    except (sqlite3.Error, UnicodeDecodeError, RowError) as error:
        if not is_damage(error):
            raise
        whole = error
    damaged: list[Damage] = []
    found: list[RunRow] = []
    for number in sorted(known_numbers(reader, "run"), reverse=True):
        try:
            rows = reader.execute(f"{query} AND id = ?", (*parameters, number)).fetchall()
            found += _run_rows(reader, rows, gone)
        except (sqlite3.Error, UnicodeDecodeError, RowError) as error:
            if not is_damage(error):
                raise
            damaged.append(error.damage if isinstance(error, RowError) else Damage("run", "run", number, str(error)))
    if not found:
        raise whole
    return found[offset:][:limit], damaged


def known_numbers(reader: Connection, table: str) -> set[int]:
    """The numbers of all runs, trainings or sweeps that occur in any part of a damaged database."""
    return {number for query in _NUMBERS_OF[table] for number in _until_damage(reader, query)}


# Each table is queried from both ends, because a damaged page ends a query, and through indexes of dependent tables.
_NUMBERS_OF = {
    "run": (
        "SELECT id FROM run ORDER BY id",
        "SELECT id FROM run ORDER BY id DESC",
        "SELECT run_id FROM run_document ORDER BY run_id",
        "SELECT run_id FROM run_document ORDER BY run_id DESC",
        "SELECT DISTINCT run_id FROM series ORDER BY run_id",
        "SELECT rowid FROM run_search",
    ),
    "training": (
        "SELECT id FROM training ORDER BY id",
        "SELECT id FROM training ORDER BY id DESC",
        "SELECT training_id FROM training_document ORDER BY training_id",
    ),
    "sweep": (
        "SELECT id FROM sweep ORDER BY id",
        "SELECT id FROM sweep ORDER BY id DESC",
        "SELECT DISTINCT sweep_id FROM sweep_run ORDER BY sweep_id",
    ),
}


def _until_damage(reader: Connection, query: str) -> Iterator[int]:
    try:
        for (number,) in reader.execute(query):
            if isinstance(number, int) and number > 0:
                yield number
    except sqlite3.Error:
        return  # another query may find the rest


def load_run(reader: Connection, run_id: int, gone: frozenset[int]) -> RunRow | None:
    """One run with its documents; None if it does not exist."""
    rows = _run_rows(reader, reader.execute(f"{_SELECT_RUNS} WHERE id = ?", (run_id,)).fetchall(), gone)
    if not rows:
        return None
    with row_of("run_document", "run", run_id):
        found = reader.execute("SELECT kind, text FROM run_document WHERE run_id = ?", (run_id,)).fetchall()
        documents = dict(typed(found, str, str)) | packed_documents(reader, run_id)
        sums = json_object(documents.get(CHECKSUMS, "{}"))
        if sums.get("run_document", checksum(documents.items())) != checksum(documents.items()):
            raise ValueError("part of it is not what was written")
        return rows[0]._replace(
            scenario_text=restored(reader, documents["scenario"]),
            summary=summary_document(documents.get("summary", "{}")),
            machine=json_object(documents["machine"]),
        )


def json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        ValueError: if the text is not a JSON object.
    """
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("the document is not a JSON object")
    return document


def summary_document(text: str) -> dict[str, Any]:
    """A summary document, after a check of the types of flows, subflows, links and fairness, if present.

    Raises:
        ValueError: if the text is not a JSON object, or one of these parts has another type.
    """
    summary = json_object(text)
    flows = _objects(summary, "flows")
    for owner, key in ((summary, "links"), *((flow, "subflows") for flow in flows)):
        _objects(owner, key)
    if not isinstance(summary.get("fairness") or {}, dict):
        raise ValueError('"fairness" of the summary is no JSON object')
    return summary


def _objects(owner: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    found = owner.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f'"{key}" of the summary is no list of JSON objects')
    return found


def value_keys(reader: Connection) -> dict[str, int]:
    """The keys of recorded values with their numbers in the database."""
    with row_of("value_key"):
        return dict(typed(reader.execute("SELECT key, id FROM value_key ORDER BY key").fetchall(), str, int))


def read_values(reader: Connection, key: str) -> dict[int, float | str]:
    """The recorded values under a key, by run number: a number in SI units if available, otherwise the text."""
    query = (
        "SELECT run_id, coalesce(number, text) FROM run_value"
        " WHERE key_id = (SELECT id FROM value_key WHERE key = ?) AND coalesce(number, text) IS NOT NULL"
    )
    with row_of("run_value"):
        return dict(typed(reader.execute(query, (key,)).fetchall(), int, (float, int, str)))


def read_flow_values(reader: Connection, names: Collection[str]) -> dict[int, list[dict[str, float]]]:
    """The recorded numbers of flows by run: for each flow, a dictionary of numbers by name.

    Args:
        reader: the connection.
        names: names of the figures in the summary. Subflows are excluded.
    """
    owners: dict[int, tuple[str, str]] = {}
    for key, number in value_keys(reader).items():
        owner, _, name = key.rpartition(".")
        if name in names and owner.startswith("flows."):
            owners[number] = (owner, name)
    found: dict[int, dict[str, dict[str, float]]] = {}
    for key_id, (owner, name) in owners.items():
        query = "SELECT run_id, number FROM run_value WHERE key_id = ? AND number IS NOT NULL"
        with row_of("run_value"):
            for run_id, number in typed(reader.execute(query, (key_id,)).fetchall(), int, _NUMBER):
                found.setdefault(run_id, {}).setdefault(owner, {})[name] = float(number)
    return {
        run_id: [values for owner, values in flows.items() if not _is_subflow(owner, flows)]
        for run_id, flows in found.items()
    }


def _is_subflow(owner: str, owners: Collection[str]) -> bool:
    """True if `owner` consists of the name of a flow of the same run, a slash and a number.

    Names of flows may also contain slashes.
    """
    flow, slash, number = owner.rpartition("/")
    return bool(slash) and flow in owners and number.isascii() and number.isdigit()


def list_tags(reader: Connection) -> list[str]:
    """The tags of all runs except deleted ones, sorted."""
    query = "SELECT DISTINCT tag FROM run_tag JOIN run ON run.id = run_id WHERE deleted_at IS NULL ORDER BY tag"
    with row_of("run_tag"):
        return [tag for (tag,) in typed(reader.execute(query).fetchall(), str)]


def list_series(reader: Connection, run_id: int) -> list[SeriesInfo]:
    """The series of a run in the order of its columns."""
    query = f"SELECT {', '.join(SeriesInfo._fields)} FROM series WHERE run_id = ? ORDER BY id"
    with row_of("series", "run", run_id):
        rows = typed(reader.execute(query, (run_id,)).fetchall(), *_SERIES_KINDS)
        return [SeriesInfo._make(row) for row in rows]


# Samples


def read_samples(reader: Connection, series_id: int, t_from_s: float | None, t_to_s: float | None) -> SeriesData | None:
    """The samples with t_from_s <= t <= t_to_s, where None removes a bound; None if the series does not exist."""
    row = reader.execute("SELECT t0_s, dt_s, codec, chunk_samples FROM series WHERE id = ?", (series_id,)).fetchone()
    if row is None:
        return None
    with row_of("series"):
        ((t0_s, dt_s, codec_name, chunk_samples),) = typed([row], _NUMBER, _NUMBER, str, int)
        if not (t0_s > 0 and dt_s > 0 and chunk_samples > 0):
            raise ValueError(f"samples {dt_s} s apart from {t0_s} s on, {chunk_samples} in a chunk")
    first = 0 if t_from_s is None else _sample_index(t_from_s, t0_s, dt_s, math.ceil)
    end = _AFTER_ALL if t_to_s is None else max(first, _sample_index(t_to_s, t0_s, dt_s, math.floor) + 1)
    first_chunk = first // chunk_samples
    chunks = reader.execute(
        "SELECT n, data FROM chunk WHERE series_id = ? AND idx BETWEEN ? AND ? ORDER BY idx",
        (series_id, first_chunk, (end - 1) // chunk_samples),
    ).fetchall()
    values = decode("chunk", codec_name, chunks)
    read_from = first_chunk * chunk_samples
    return SeriesData(t0_s + first * dt_s, dt_s, values[first - read_from : end - read_from])


def read_pyramid(reader: Connection, series_id: int, level: int) -> PyramidData | None:
    """A level of a series' pyramid; None if the series does not exist.

    A level that is not stored (because the run is running, was interrupted, or is too short) is computed from the
    highest stored level below, or else from the samples.
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
        with row_of("pyramid"):
            ((found_level, n, codec_name, blob),) = typed([stored], int, int, str, bytes)
            found_step = PYRAMID_STEPS[found_level]
            vmin, vmax = codec(codec_name).decode(blob, 2 * n).reshape(2, n)
    step = PYRAMID_STEPS[level]
    if found_step != step:
        vmin = group(np.fmin, vmin[np.newaxis], step // found_step)[0]
        vmax = group(np.fmax, vmax[np.newaxis], step // found_step)[0]
    return PyramidData(t0_s, step * dt_s, vmin, vmax)


def decode(table: str, codec_name: str, chunks: Sequence[tuple[int, bytes]]) -> NDArray[Any]:
    """The elements of consecutive chunks of a table, each (number of elements, blob), as one array."""
    decoder = codec(codec_name)
    with row_of(table):
        typed(chunks, int, bytes)
        for n, blob in chunks:
            decoder.check(blob, n)
        values = np.empty(decoder.shape(sum(n for n, _ in chunks)), decoder.dtype)
        position = 0
        for n, blob in chunks:
            decoder.decode_into(blob, values[position : position + n])
            position += n
    return values


def _sample_index(t_s: float, t0_s: float, dt_s: float, to_whole: Callable[[float], int]) -> int:
    """Index of the first sample at or after a time (math.ceil), or of the last at or before it (math.floor).

    The index is at least 0 for math.ceil, and at least -1 for math.floor.

    A time that differs from a sample's time only by rounding, like 0.1 + 0.2 from 0.3, counts as the sample's time.
    """
    index = min(max((t_s - t0_s) / dt_s, -1.0), _AFTER_ALL - 1.0)
    nearest = round(index)
    whole = nearest if abs(index - nearest) < _ROUNDING else to_whole(index)
    return max(whole, 0) if to_whole is math.ceil else whole


# Rows


def _run_rows(reader: Connection, rows: Sequence[Sequence[Any]], gone: frozenset[int]) -> list[RunRow]:
    """Rows of `_SELECT_RUNS` with their tags and forks, read together, which halves the time."""
    if not rows:
        return []
    # The rows are in order of their numbers, so one range of the tags' table contains the tags of all of them.
    bounds = sorted((rows[0][0], rows[-1][0]))
    tags: dict[int, list[str]] = {}
    found = reader.execute("SELECT run_id, tag FROM run_tag WHERE run_id BETWEEN ? AND ?", bounds).fetchall()
    with row_of("run_tag", "run", bounds[0]):
        for run_id, tag in typed(found, int, str):
            tags.setdefault(run_id, []).append(tag)
    forks = forks_between(reader, *bounds)
    with row_of("run", "run", bounds[0]):
        typed(rows, *_RUN_KINDS.values(), int)
    return [_run_row(row, tags.get(row[0]), forks.get(row[0]), gone) for row in rows]


def _run_row(row: Sequence[Any], tags: list[str] | None, fork: RunFork | None, gone: frozenset[int]) -> RunRow:
    values = list(row)
    values[_SEED] = unsigned(values[_SEED])
    try:
        values[_STARTED_AT] = time_of(values[_STARTED_AT])
        values[_ENDED_AT] = time_of(values[_ENDED_AT])
        if not 0 < values[_INTERVAL] < math.inf:
            raise ValueError(f"sample_interval_s {values[_INTERVAL]} is not greater than 0")
    except ValueError as error:
        raise RowError(Damage("run", "run", values[0], str(error))) from error
    values[_DELETED] = bool(values[_DELETED])
    values.append(tuple(sorted(tags)) if tags else ())
    values.append(fork)
    if gone and values[0] in gone:
        values[_STATUS] = "interrupted"
    values += _NO_DOCUMENTS
    return RunRow._make(values)


_EVER_NS = (1 << 63) - 1


def read_marks(reader: Connection, run_id: int) -> MarkTable:
    """The marks of a run by time; marks of the same instant keep the order in which they were added."""
    marks = _read_chunks(reader, run_id, MARK, None)
    marks = marks.select(np.argsort(marks["time_ns"], kind="stable"))
    return MarkTable(
        time_ns=marks["time_ns"],
        owner_index=marks["owner"],
        kind_index=marks["kind"],
        value=marks["value"],
        owners=marks.names["owner"],
        kinds=marks.names["kind"],
    )


def read_window(
    reader: Connection, run_id: int, spec: StreamSpec, owner: str | None, t_from_ns: int | None, t_to_ns: int | None
) -> EventTable:
    """The rows with t_from_ns <= t <= t_to_ns, of one owner or of all, in order of time; None removes a bound."""
    first = -_EVER_NS if t_from_ns is None else t_from_ns
    last = _EVER_NS if t_to_ns is None else t_to_ns
    query = "SELECT DISTINCT idx FROM event_span WHERE run_id = ? AND stream = ? AND t_last_ns >= ? AND t_first_ns <= ?"
    parameters: list[int | str | None] = [run_id, spec.name, first, last]
    if owner is not None:
        query += " AND owner = ?"
        parameters.append(_owner_number(reader, run_id, spec, owner))
    table = _read_chunks(reader, run_id, spec, [idx for (idx,) in reader.execute(query, parameters).fetchall()])
    begin = np.searchsorted(table["time_ns"], first, side="left")
    end = np.searchsorted(table["time_ns"], last, side="right")
    return _of_owner(table.select(slice(begin, end)), owner)


def read_around(
    reader: Connection, run_id: int, spec: StreamSpec, owner: str, t_ns: int, before: int, after: int
) -> EventTable:
    """The last `before` rows of an owner at or before a time, and the first `after` rows after it."""
    key = (run_id, spec.name, _owner_number(reader, run_id, spec, owner))
    where = "FROM event_span WHERE run_id = ? AND stream = ? AND owner = ?"
    chunks: list[int] = []
    # The chunk around the time has an unknown number of rows on each side, at least one.
    spans = reader.execute(f"SELECT idx, n {where} AND t_first_ns <= ? ORDER BY idx DESC", (*key, t_ns))
    chunks += _enough(spans, before)
    spans = reader.execute(f"SELECT idx, n {where} AND t_last_ns > ? ORDER BY idx", (*key, t_ns))
    chunks += _enough(spans, after)
    table = _of_owner(_read_chunks(reader, run_id, spec, chunks), owner)
    middle = int(np.searchsorted(table["time_ns"], t_ns, side="right"))
    return table.select(slice(max(0, middle - before), middle + after))


def read_extents(reader: Connection, run_id: int, spec: StreamSpec) -> dict[str, EventExtent]:
    """Number and time range of the rows of each owner, by name, in the order of the owners' numbers."""
    rows = reader.execute(
        "SELECT name, sum(n), min(t_first_ns), max(t_last_ns)"
        " FROM event_span JOIN event_name USING (run_id, stream)"
        " WHERE run_id = ? AND stream = ? AND field = 'owner' AND event_name.idx = owner GROUP BY owner",
        (run_id, spec.name),
    ).fetchall()
    with row_of("event_span", "run", run_id):
        return {name: EventExtent(*extent) for name, *extent in typed(rows, str, int, int, int)}


def _enough(spans: Iterable[tuple[int, int]], wanted: int) -> list[int]:
    """The first chunks that certainly contain `wanted` rows on one side of a time.

    Only one row of the first chunk counts, because the time may lie within that chunk.
    """
    chunks: list[int] = []
    certain = 0
    for idx, n in spans:
        if certain >= wanted:
            break
        certain += n if chunks else 1
        chunks.append(idx)
    return chunks


def _read_chunks(reader: Connection, run_id: int, spec: StreamSpec, chunks: Iterable[int] | None) -> EventTable:
    """The rows of these chunks, or of all, in the order in which they were added."""
    names: dict[str, list[str]] = {field: [] for field in spec.named}
    found = reader.execute(
        "SELECT field, name FROM event_name WHERE run_id = ? AND stream = ? ORDER BY field, idx", (run_id, spec.name)
    ).fetchall()
    with row_of("event_name", "run", run_id):
        for field, name in typed(found, str, str):
            names[field].append(name)
    query = "SELECT field, codec, n, data FROM event_chunk WHERE run_id = ? AND stream = ?"
    if chunks is None:
        rows = reader.execute(f"{query} ORDER BY idx", (run_id, spec.name)).fetchall()
    else:
        rows = []
        for idx in sorted(set(chunks)):
            rows += reader.execute(f"{query} AND idx = ?", (run_id, spec.name, idx)).fetchall()
    columns = {"time_ns": np.empty(0, np.int64)}
    with row_of("event_chunk", "run", run_id):
        rows = typed(rows, str, str, int, bytes)
        for field, codec_name in spec.fields.items():
            # Each row names its codec, because chunks of one stream may have different codecs.
            parts = [
                decode("event_chunk", name, [(n, blob)]) for row_field, name, n, blob in rows if row_field == field
            ]
            columns[field] = np.concatenate(parts) if parts else _unknown(codec(codec_name), len(columns["time_ns"]))
            if len(columns[field]) != len(columns["time_ns"]):
                raise ValueError(f"{len(columns[field])} rows of {field} at {len(columns['time_ns'])} times")
        for field, each in names.items():
            if len(columns[field]) and not 0 <= columns[field].min() <= columns[field].max() < len(each):
                raise ValueError(f"a {field} without a name")
    return EventTable(columns, {field: tuple(each) for field, each in names.items()})


def _unknown(kind: Codec, n: int) -> NDArray[Any]:
    """A column of NaN or zeros, for runs of versions that did not record it."""
    return np.full(kind.shape(n), np.nan if kind.dtype.kind == "f" else 0, kind.dtype)


def _owner_number(reader: Connection, run_id: int, spec: StreamSpec, owner: str) -> int | None:
    """The number of an owner in the stream; None, which equals nothing in SQL, if the owner has no row there."""
    row = reader.execute(
        "SELECT idx FROM event_name WHERE run_id = ? AND stream = ? AND field = 'owner' AND name = ?",
        (run_id, spec.name, owner),
    ).fetchone()
    return None if row is None else int(row[0])


def _of_owner(table: EventTable, owner: str | None) -> EventTable:
    if owner is None:
        return table
    number = table.names["owner"].index(owner) if owner in table.names["owner"] else -1
    return table.select(table["owner"] == number)
