"""Reads the sound data of a damaged database by row number, past damaged pages and without indexes.

A row is sound if SQLite can read it, each value has the type of its column, and the content is possible: documents are
JSON, times are valid, and blobs decode to the declared number of elements. Losses are reported, and gaps are filled so
that the remaining data keep their meaning. Lost samples become NaN, and the row of a run is rebuilt from its documents.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, partial
from sqlite3 import Connection
from typing import Any, NamedTuple

import numpy as np

from subflow_store.checksums import COVERED, checksum
from subflow_store.checksums import KIND as CHECKSUMS
from subflow_store.codec import codec
from subflow_store.damage import Damage, RowError, is_damage, row_of
from subflow_store.ingest import spans_of
from subflow_store.packs import packed_documents
from subflow_store.queries import json_object, summary_document
from subflow_store.recordings import decoded
from subflow_store.rows import signed
from subflow_store.run_values import headline
from subflow_store.streams import STREAMS
from subflow_store.upgrade import tables_of_head
from subflow_store.values import FINAL_STATUSES, TRAINING_STATES

Row = dict[str, Any]

OF_RUN = (
    "run_document",
    "run_recording",
    "run_tag",
    "run_fork",
    "run_key",
    "light_run",
    "series",
    "event_chunk",
    "event_name",
    "event_span",
)
"""Tables of a run, besides those of its series. `run_value` is missing, because it is an index of the documents."""
OF_SERIES = ("chunk", "pyramid")
OF_TRAINING = ("training_document", "training_recording", "training_metric", "training_evaluation")
OF_SWEEP = ("sweep_recording", "sweep_point", "sweep_run")

_MOST_PROBES = 20_000  # limit of rows read one by one in a damaged page
_LAST_ROWID = (1 << 63) - 1
_EARLY = "1970-01-01T00:00:00+00:00"  # replaces a lost time
_TIMES = ("started_at", "ended_at", "created_at", "updated_at", "heartbeat_at")
_DOCUMENTS: Mapping[str, Callable[[str], object]] = {
    "summary": summary_document,
    "machine": json_object,
    "config": json_object,
    CHECKSUMS: json_object,
    "scenario": str,
}
_OWNERS = ("run", "training", "sweep")
_KIND_OF = {
    **dict.fromkeys(("run", *OF_RUN), "run"),
    **dict.fromkeys(("training", *OF_TRAINING), "training"),
    **dict.fromkeys(("sweep", *OF_SWEEP), "sweep"),
    "recording": "",
}


class Column(NamedTuple):
    """A column of a table, with the Python types of its values."""

    name: str
    kinds: tuple[type, ...]


@cache
def columns_of(table: str) -> tuple[Column, ...]:
    """The columns of a table in this version."""
    kinds = {"INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}
    return tuple(
        Column(name, kinds[declared] + (() if is_needed else (type(None),)))
        for name, declared, is_needed in tables_of_head()[table].columns
    )


class SoundRows:
    """The sound rows of an open database, by their owners."""

    def __init__(self, connection: Connection, note: Callable[[Damage], None]) -> None:
        """Read from a connection within a transaction, so that all rows show the same state of the file.

        Args:
            connection: connection to the damaged database.
            note: called with each loss or repair.
        """
        self._connection = connection
        self._note = note
        self._places: dict[str, dict[int, array[int]]] = {}  # by table: the row numbers of each owner
        # for the run read last, by series number: number of the run, row of the series
        self._series: dict[int, tuple[int, Row]] = {}
        # for the run read last, by stream and chunk index: spans of the chunk
        self._kept_events: dict[tuple[str, int], list[tuple[int, ...]]] = {}
        self._named: dict[tuple[str, str], int] = {}  # for the run read last, by stream and field: number of names
        with contextlib.suppress(sqlite3.Error):
            # Use a schema even if parts of it are unreadable.
            connection.execute("PRAGMA writable_schema = ON")
        self._recordings: dict[int, bool] = {}  # by number: whether the content is sound
        self._tables = self._existing()

    def numbers(self, kind: str) -> list[int]:
        """The numbers of all runs, trainings or sweeps found in their table or in at least two documents."""
        numbers = set(self._owners(kind))
        # A number in only one document may be the result of damage.
        documents = self._owners(f"{kind}_document") if kind != "sweep" else {}
        return sorted(numbers | {number for number, places in documents.items() if len(places) > 1})

    def rows(self, table: str, owner: str, number: int) -> list[Row]:
        """The sound rows of a table that belong to an owner, with gaps filled; see `_MENDED`.

        Args:
            table: name of the table.
            owner: column with the owner of a row.
            number: number of the owner.
        """
        found = [row for row in self._read(table, owner, number) if self._is_sound(table, number, row)]
        mend = _MENDED.get(table)
        return found if mend is None else mend(self, number, found)

    # Finding

    def _existing(self) -> set[str]:
        """The existing tables; older versions have fewer."""
        try:
            found = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._note(Damage("sqlite_schema", "", 0, str(error)))
            return set(tables_of_head())
        return {name for (name,) in found}

    def _owners(self, table: str) -> dict[int, array[int]]:
        """The row numbers of each owner, in order."""
        if table not in self._places:
            shape = tables_of_head()[table]
            places: dict[int, array[int]] = {}
            if table in self._tables and shape.has_rowid:
                for rowid, owner in self._scanned(table, shape.owner):
                    if isinstance(owner, int):
                        places.setdefault(owner, array("q")).append(rowid)
                    else:
                        self._note(Damage(table, "", 0, f"row {rowid} belongs to nothing"))
            self._places[table] = places
        return self._places[table]

    def _scanned(self, table: str, owner: str) -> Iterator[tuple[int, Any]]:
        """Number and owner of every reachable row, past all unreadable pages."""
        query = f"SELECT rowid, {owner} FROM {table} NOT INDEXED WHERE rowid"
        last = -_LAST_ROWID
        while last < _LAST_ROWID:
            try:
                for rowid, number in self._connection.execute(f"{query} > ? ORDER BY rowid", (last,)):
                    if rowid <= last:
                        raise RowError(Damage(table, "", 0, "rows are not in their order"))
                    yield rowid, number
                    last = rowid
            except (sqlite3.Error, UnicodeDecodeError, RowError) as error:
                _check_damage(error)
                self._note(Damage(table, "", 0, f"not all rows can be read: {_text(error)}"))
                after = self._next_readable(table, last)
                for probe in range(last + 1, min(after, last + _MOST_PROBES)):
                    with _passing_damage():
                        yield from self._connection.execute(f"{query} = ?", (probe,)).fetchall()
                last = max(after - 1, last + 1)
            else:
                return

    def _next_readable(self, table: str, last: int) -> int:
        """An estimate of the least row number after a damaged page from which rows are readable again."""
        query = f"SELECT rowid FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT 1"

        def from_there(at: int) -> int | None:
            try:
                row = self._connection.execute(query, (at,)).fetchone()
            except (sqlite3.Error, UnicodeDecodeError):
                return None
            return _LAST_ROWID if row is None else max(at, int(row[0]))

        unreadable, step = last + 1, 1
        while (found := from_there(min(unreadable + step, _LAST_ROWID))) is None:
            unreadable += step
            step *= 2
            if unreadable >= _LAST_ROWID:
                return _LAST_ROWID
        readable = unreadable + step
        while readable - unreadable > 1:
            middle = (unreadable + readable) // 2
            at = from_there(middle)
            if at is None:
                unreadable = middle
            else:
                readable, found = middle, at
        return found

    def _read(self, table: str, owner: str, number: int) -> Iterator[Row]:
        """The rows of an owner that SQLite can read, with its packed documents among the documents."""
        if table not in self._tables:
            return
        if table == "run_document" and "packed_run" in self._tables:
            try:
                packed = packed_documents(self._connection, number)
            except (sqlite3.Error, UnicodeDecodeError, ValueError) as error:
                self._lost(table, number, f"its pack cannot be read: {_text(error)}")
                packed = {}
            yield from ({owner: number, "kind": kind, "text": text} for kind, text in packed.items())
        shape = tables_of_head()[table]
        names = [column.name for column in columns_of(table)]
        query = f"SELECT {', '.join(_quoted(names))} FROM {table}"
        if shape.has_rowid:
            for rowid in self._owners(table).get(number, ()):
                try:
                    rows = self._connection.execute(f"{query} NOT INDEXED WHERE rowid = ?", (rowid,)).fetchall()
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    _check_damage(error)
                    if table in _OWNERS:
                        yield self._columns(table, names, rowid)
                    else:
                        self._lost(table, number, f"row {rowid} cannot be read: {_text(error)}")
                    continue
                yield from (dict(zip(names, row, strict=True)) for row in rows)
            return
        # Rows without numbers are in the order of their keys: read from both ends up to the damage.
        seen = set()
        for order in ("ASC", "DESC"):
            keys = ", ".join(f"{key} {order}" for key in _quoted(shape.keys))
            try:
                for row in self._connection.execute(f"{query} WHERE {owner} = ? ORDER BY {keys}", (number,)):
                    if row not in seen:
                        seen.add(row)
                        yield dict(zip(names, row, strict=True))
            except (sqlite3.Error, UnicodeDecodeError) as error:
                _check_damage(error)
                if order == "ASC":
                    self._lost(table, number, f"not all rows can be read: {_text(error)}")
            else:
                return

    def _columns(self, table: str, names: Iterable[str], rowid: int) -> Row:
        """The readable columns of a row, read one by one."""
        row: Row = {}
        for name in names:
            with _passing_damage():
                query = f'SELECT "{name}" FROM {table} NOT INDEXED WHERE rowid = ?'
                (row[name],) = self._connection.execute(query, (rowid,)).fetchone()
        return row

    # Judging

    def _is_sound(self, table: str, number: int, row: Row) -> bool:
        bad = _bad_columns(table, row)
        if not bad or table in _OWNERS:
            return True  # rows of runs, trainings and sweeps are repaired
        self._lost(table, number, f"{_where(table, row)}{', '.join(f'{name}: {why}' for name, why in bad.items())}")
        return False

    def _lost(self, table: str, number: int, problem: str) -> None:
        if table in OF_SERIES:
            number = self._series[number][0] if number in self._series else 0
            self._note(Damage(table, "run" if number else "", number, problem))
        else:
            self._note(Damage(table, _KIND_OF[table], number, problem))

    # Mending

    def _whole_run(self, number: int, found: list[Row]) -> list[Row]:
        # Discard the data of the previous run.
        self._series.clear()
        self._kept_events.clear()
        self._named.clear()
        self._check_sums(number)
        return self._whole("run", number, found, lambda: self._facts_of_run(number))

    def _check_sums(self, number: int) -> None:
        """Report data that look valid but differ from what was written."""
        documents = {row["kind"]: row["text"] for row in self._read("run_document", "run_id", number)}
        try:
            sums = json_object(documents.get(CHECKSUMS, "{}"))
        except (ValueError, TypeError, RecursionError):
            return  # reported like other damaged documents
        for table, (owner, columns) in COVERED.items():
            rows = [[row.get(name) for name in columns] for row in self._read(table, owner, number)]
            try:
                is_as_written = table not in sums or sums[table] == checksum(rows)
            except TypeError:
                is_as_written = False  # a blob in place of a text
            if not is_as_written:
                self._note(Damage(table, "run", number, "part of it is not what was written"))

    def _whole_process(self, table: str, number: int, found: list[Row]) -> list[Row]:
        return self._whole(table, number, found, dict) if found else []

    def _whole(self, table: str, number: int, found: list[Row], facts: Callable[[], Row]) -> list[Row]:
        """The row of a run, training or sweep; lost columns are rebuilt."""
        row = found[0] if found else {}
        bad = _bad_columns(table, row)
        if bad:
            known = facts()
            for name in bad:
                row[name] = known.get(name, _substitute(table, name, number))
            lost = ", ".join(f"{name} ({why})" for name, why in bad.items()) if found else "the row"
            self._note(Damage(table, table, number, f"{lost} is damaged; it is made again as far as is known"))
        return [row]

    def _facts_of_run(self, number: int) -> Row:
        """Values of a run's row that follow from the documents, the series and the search index."""
        documents = {
            row["kind"]: row["text"]
            for row in self._read("run_document", "run_id", number)
            if not _bad_columns("run_document", row)
        }
        with contextlib.suppress(ValueError, RecursionError):
            summary = summary_document(documents.get("summary", "{}"))
            facts = {name: summary[name] for name in _SUMMARY_FACTS if name in summary}
            with row_of("run", "run", number), contextlib.suppress(RowError):
                facts |= headline(summary)._asdict()
            facts |= {"scenario_name": summary.get("scenario"), "name": summary.get("scenario")}
            if isinstance(facts.get("seed"), int) and 0 <= facts["seed"] < 1 << 64:
                facts["seed"] = signed(facts["seed"])
            series = [row for row in self._read("series", "run_id", number) if not _bad_columns("series", row)]
            if series:
                interval_s = series[0]["dt_s"]
                facts |= {"sample_interval_s": interval_s, "simulated_s": interval_s * series[0]["n"]}
            with _passing_damage():
                names = ("name", "scenario_name", "controllers", "note")
                query = f"SELECT {', '.join(names)} FROM run_search WHERE rowid = ?"
                for row in self._connection.execute(query, (number,)).fetchall():
                    facts |= dict(zip(names, row, strict=True))
            return {name: value for name, value in facts.items() if not _bad_columns("run", {name: value}, (name,))}
        return {}

    def _whole_documents(self, table: str, needed: Mapping[str, str], number: int, found: list[Row]) -> list[Row]:
        """Add an empty document for each lost one that is needed to read a run or training."""
        kinds = {row["kind"] for row in found}
        owner = tables_of_head()[table].owner
        for kind, text in needed.items():
            if kind not in kinds:
                self._lost(table, number, f"its {kind} is lost")
                found.append({owner: number, "kind": kind, "text": text})
        return found

    def _whole_recordings(self, number: int, found: list[Row], *, table: str) -> list[Row]:
        """The rows with intact recordings."""
        whole = [row for row in found if self._has_recording(row["recording_id"])]
        if len(whole) < len(found):
            self._lost(table, number, f"{len(found) - len(whole)} recordings of its scenario are lost")
        return whole

    def _has_recording(self, number: int) -> bool:
        if number not in self._recordings:
            rows = self.rows("recording", "id", number)
            self._recordings[number] = any(decoded(row["data"], row["hash"]) is not None for row in rows)
        return self._recordings[number]

    def _known_series(self, number: int, found: list[Row]) -> list[Row]:
        self._series = {row["id"]: (number, row) for row in found}
        return found

    def _whole_chunks(self, number: int, found: list[Row]) -> list[Row]:
        """All chunks of a series; lost samples become NaN."""
        series = self._series[number][1]
        n, size = series["n"], series["chunk_samples"]
        sound = {row["idx"]: row for row in found if self._decodes("chunk", number, row, series["codec"], row["n"])}
        whole = []
        lost = []
        for index in range(-(-n // size)):
            expected = min(size, n - index * size)
            row = sound.get(index)
            if row is None or row["n"] != expected:
                blob = codec(series["codec"]).encode(np.full(expected, np.nan, np.float32))
                row = {"series_id": number, "idx": index, "n": expected, "data": blob}
                lost.append(f"{index * size} to {index * size + expected - 1}")
            whole.append(row)
        if lost:
            signal = f"{series['name']} of {series['owner']}"
            self._lost("chunk", number, f"samples {', '.join(lost)} of {signal} are lost")
        return whole

    def _whole_pyramids(self, number: int, found: list[Row]) -> list[Row]:
        return [row for row in found if self._decodes("pyramid", number, row, row["codec"], 2 * row["n"])]

    def _whole_event_chunks(self, number: int, found: list[Row]) -> list[Row]:
        """Chunks with all their columns; without times and owners the rest would be meaningless."""
        fields: dict[str, set[str]] = {}
        chunks: dict[tuple[str, int], dict[str, Row]] = {}
        for row in found:
            fields.setdefault(row["stream"], set()).add(row["field"])
            chunks.setdefault((row["stream"], row["idx"]), {})[row["field"]] = row
        whole: list[Row] = []
        for (stream, index), rows in sorted(chunks.items()):
            spec = STREAMS.get(stream)
            columns = {
                field: values
                for field, row in rows.items()
                if (values := self._decoded("event_chunk", number, row, row["codec"], row["n"])) is not None
            }
            lengths = set(map(len, columns.values()))
            if (
                spec is None
                or set(columns) != fields[stream]
                or not {"time_ns", "owner"} <= set(columns)
                or (len(lengths) > 1)
            ):
                self._lost("event_chunk", number, f"chunk {index} of its {stream}s is lost")
                continue
            whole += rows.values()
            self._kept_events[stream, index] = [
                tuple(span) for span in spans_of(index, columns["owner"], columns["time_ns"])
            ]
            for field in spec.named:
                if field in columns and len(columns[field]):
                    key = (stream, field)
                    self._named[key] = max(self._named.get(key, 0), int(columns[field].max()) + 1)
        return whole

    def _whole_names(self, number: int, found: list[Row]) -> list[Row]:
        """Give each lost name a substitute, because events refer to names by position."""
        known = {(row["stream"], row["field"], row["idx"]): row for row in found}
        for (stream, field), count in self._named.items():
            for index in range(min(count, 1 << 20)):
                if (stream, field, index) not in known:
                    self._lost("event_name", number, f"{field} {index} of its {stream}s has lost its name")
                    row = {"run_id": number, "stream": stream, "field": field, "idx": index, "name": f"lost {index}"}
                    known[stream, field, index] = row
        return list(known.values())

    def _whole_spans(self, number: int, found: list[Row]) -> list[Row]:
        """Rebuild the index of owners and chunks; databases of the first version have no index."""
        if "event_span" not in self._tables:
            return []
        made = [
            dict(
                zip(
                    (column.name for column in columns_of("event_span")),
                    (number, stream, span[0], *span[1:]),
                    strict=True,
                )
            )
            for (stream, _), spans in self._kept_events.items()
            for span in spans
        ]
        streams = {row["stream"] for row in found}
        lacks = [row for row in made if row not in found]
        if lacks and found:
            self._lost("event_span", number, f"{len(lacks)} rows are damaged, and made again")
        return [row for row in made if row["stream"] in streams or row["stream"] != "mark"]

    def _whole_metrics(self, number: int, found: list[Row]) -> list[Row]:
        """Chunks whose steps exist and have the same number of elements."""
        sound = [row for row in found if self._decodes("training_metric", number, row, row["codec"], row["n"])]
        steps = {row["idx"]: row["n"] for row in sound if row["name"] == "step"}
        whole = [row for row in sound if row["n"] == steps.get(row["idx"])]
        if len(whole) < len(sound):
            self._lost("training_metric", number, f"{len(sound) - len(whole)} chunks without their steps are lost")
        return whole

    def _whole_points(self, number: int, found: list[Row]) -> list[Row]:
        """Give each lost point a substitute without values, because runs refer to points by position."""
        known = {row["idx"]: row for row in found}
        for index in range(min(max(known, default=-1) + 1, 1 << 20)):
            if index not in known:
                self._lost("sweep_point", number, f"the values of point {index} are lost")
                known[index] = {"sweep_id": number, "idx": index, "parameters": "{}"}
        return list(known.values())

    def _decodes(self, table: str, number: int, row: Row, codec_name: str, n: int) -> bool:
        return self._decoded(table, number, row, codec_name, n) is not None

    def _decoded(self, table: str, number: int, row: Row, codec_name: str, n: int) -> Any:
        try:
            with row_of(table):
                return codec(codec_name).decode(row["data"], n)
        except RowError as error:
            self._lost(table, number, f"{_where(table, row)}{error.damage.problem}")
            return None


_MENDED: Mapping[str, Callable[[SoundRows, int, list[Row]], list[Row]]] = {
    "run": SoundRows._whole_run,
    "training": lambda rows, number, found: rows._whole_process("training", number, found),
    "sweep": lambda rows, number, found: rows._whole_process("sweep", number, found),
    "run_document": lambda rows, number, found: rows._whole_documents(
        "run_document", {"scenario": "", "machine": "{}"}, number, found
    ),
    "training_document": lambda rows, number, found: rows._whole_documents(
        "training_document", {"scenario": "", "config": "{}"}, number, found
    ),
    **{f"{owner}_recording": partial(SoundRows._whole_recordings, table=f"{owner}_recording") for owner in _OWNERS},
    "series": SoundRows._known_series,
    "chunk": SoundRows._whole_chunks,
    "pyramid": SoundRows._whole_pyramids,
    "event_chunk": SoundRows._whole_event_chunks,
    "event_name": SoundRows._whole_names,
    "event_span": SoundRows._whole_spans,
    "training_metric": SoundRows._whole_metrics,
    "sweep_point": SoundRows._whole_points,
}

_SUMMARY_FACTS = ("seed", "duration_s", "warmup_s", "signature", "status", "wall_s", "packets", "simulated_s")


def _bad_columns(table: str, row: Row, only: Iterable[str] = ()) -> dict[str, str]:
    """The columns whose values cannot have been written by the program, with the reason."""
    bad = {}
    for name, kinds in columns_of(table):
        if only and name not in only:
            continue
        if name not in row:
            bad[name] = "cannot be read"
        elif not isinstance(row[name], kinds):
            bad[name] = f"a value of another kind ({type(row[name]).__name__})"
        elif (why := _why_bad(table, name, row)) is not None:
            bad[name] = why
    return bad


def _why_bad(table: str, name: str, row: Row) -> str | None:
    value = row[name]
    try:
        if value is None:
            return None
        if name in _TIMES and datetime.fromisoformat(value).tzinfo is None:
            return f"{value} is not a time"
        if name == "text" and table.endswith("_document"):
            _DOCUMENTS[row["kind"]](value)
        if (table, name) in _JSON_TEXTS:
            json.loads(value)
        if name in ("status", "state") and value not in _STATES[table]:
            return f'"{value}" is not one of {", ".join(_STATES[table])}'
        if name in ("t0_s", "dt_s", "sample_interval_s", "chunk_samples") and not value > 0:
            return f"{value} is not greater than 0"
        if name in ("n", "idx") and value < 0:
            return f"{value} is less than 0"
        if name == "codec":
            codec(value)
        if isinstance(value, str):
            value.encode()  # a text with a surrogate is invalid
    except KeyError as error:
        return f"{error} is unknown"
    except (ValueError, RecursionError) as error:
        return str(error) or type(error).__name__
    except Exception as error:
        _check_damage(error)
        return str(error)
    return None


_JSON_TEXTS = {("run_fork", "changes"), ("sweep_point", "parameters")}
_STATES = {"run": ("running", *FINAL_STATUSES), "training": TRAINING_STATES, "sweep": TRAINING_STATES}


def _substitute(table: str, name: str, number: int) -> Any:
    """Value that replaces a lost value."""
    kinds = dict(columns_of(table))[name]
    if name == "id":
        return number
    if name == "name":
        return f"{table.capitalize()} {number}"
    if name in ("status", "state"):
        return "interrupted"
    if type(None) in kinds:
        return None
    if name in _TIMES:
        return _EARLY
    if name in ("sample_interval_s", "duration_s"):
        return 1.0
    return "" if str in kinds else kinds[0]()


def _where(table: str, row: Row) -> str:
    """Position of a row among several, e.g. ``field time_ns, idx 3: ``."""
    keys = [f"{key} {row[key]}" for key in tables_of_head()[table].keys[1:] if isinstance(row.get(key), int | str)]
    return f"{', '.join(keys)}: " if keys else ""


def _quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def _text(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _check_damage(error: Exception) -> None:
    """Raise an error unless it may result from damage, which here, unlike in `is_damage`, includes SQLITE_ERROR."""
    if not is_damage(error) and getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR:
        raise error


@contextlib.contextmanager
def _passing_damage() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        _check_damage(error)
