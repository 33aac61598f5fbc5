"""Reading events: marks, decisions, monitor intervals and steps of agents.

Marks are few and read whole. The other streams may have millions of rows: the index says which chunks hold the rows of
an owner in a window of time, and only these are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_store.codec import Codec, codec
from subflow_store.damage import row_of, typed
from subflow_store.queries import decode
from subflow_store.streams import MARK, StreamSpec
from subflow_store.values import EventExtent, EventTable, MarkTable

_EVER_NS = (1 << 63) - 1


def read_marks(reader: Connection, run_id: int) -> MarkTable:
    """The marks of a run by time; those of the same instant stay in the order in which they were added."""
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
    """The rows with t_from_ns <= t <= t_to_ns, of one owner or of all, in order of time."""
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
    """The last rows of an owner at or before a time, `before` of them at most, and the first ones after it."""
    key = (run_id, spec.name, _owner_number(reader, run_id, spec, owner))
    where = "FROM event_span WHERE run_id = ? AND stream = ? AND owner = ?"
    chunks: list[int] = []
    # Of the chunk that the time falls into it is not known how many rows are on which side: one at least.
    spans = reader.execute(f"SELECT idx, n {where} AND t_first_ns <= ? ORDER BY idx DESC", (*key, t_ns))
    chunks += _enough(spans, before)
    spans = reader.execute(f"SELECT idx, n {where} AND t_last_ns > ? ORDER BY idx", (*key, t_ns))
    chunks += _enough(spans, after)
    table = _of_owner(_read_chunks(reader, run_id, spec, chunks), owner)
    middle = int(np.searchsorted(table["time_ns"], t_ns, side="right"))
    return table.select(slice(max(0, middle - before), middle + after))


def read_extents(reader: Connection, run_id: int, spec: StreamSpec) -> dict[str, EventExtent]:
    """How much there is of each owner, by name, in the order in which these were numbered."""
    rows = reader.execute(
        "SELECT name, sum(n), min(t_first_ns), max(t_last_ns)"
        " FROM event_span JOIN event_name USING (run_id, stream)"
        " WHERE run_id = ? AND stream = ? AND field = 'owner' AND event_name.idx = owner GROUP BY owner",
        (run_id, spec.name),
    ).fetchall()
    with row_of("event_span", "run", run_id):
        return {name: EventExtent(*extent) for name, *extent in typed(rows, str, int, int, int)}


def _enough(spans: Iterable[tuple[int, int]], wanted: int) -> list[int]:
    """The first chunks of these that hold `wanted` rows for certain, if only one row of the very first counts."""
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
            # Each row names its own codec; chunks of one stream may differ in it.
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
    """A column that the version which wrote the run did not have yet."""
    return np.full(kind.shape(n), np.nan if kind.dtype.kind == "f" else 0, kind.dtype)


def _owner_number(reader: Connection, run_id: int, spec: StreamSpec, owner: str) -> int | None:
    """What stands for an owner in the stream; None, which equals nothing in SQL, if it has no row there."""
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
