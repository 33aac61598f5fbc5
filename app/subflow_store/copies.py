"""Runs, sweeps and trainings of one store taken over into another, with everything that belongs to them.

All of it is one transaction: it is there as a whole, or not at all. What was taken over before is not taken again: a
run is known by its signature and the instant that it began at, a sweep by its plan and a training by its name together
with the instant. Numbers are those of the store that takes, and what names them is changed along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from subflow_store import schema
from subflow_store.database import Database, Reader
from subflow_store.documents import strict_json
from subflow_store.run_stream import store_values
from subflow_store.run_values import figure_values, parameter_values
from subflow_store.writer import Writer

_SWEEP_TAG = re.compile(r"sweep (\d+)", re.IGNORECASE)
_RUN = tuple(column.name for column in schema.run.columns if column.name != "id")
_SERIES = tuple(column.name for column in schema.series.columns if column.name not in ("id", "run_id"))
_SWEEP = tuple(column.name for column in schema.sweep.columns if column.name != "id")
_TRAINING = tuple(column.name for column in schema.training.columns if column.name != "id")
# Whoever wrote it has ended, and its process says nothing elsewhere.
_NO_WRITER = {"writer_host": "", "writer_boot": "", "writer_pid": 0, "writer_started": ""}
_NO_PROCESS = {"process_host": "", "process_boot": "", "process_pid": 0, "process_started": ""}
# Tables of a run that are taken row by row, with the columns that say what a row is about.
_EVENT_TABLES = (schema.event_chunk, schema.event_name, schema.event_span)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to take, by numbers of the other store; what is not there is passed over.

    Attributes:
        runs: that have ended.
        sweeps: their runs are linked where these are taken, too.
        trainings: likewise ended.
    """

    runs: Sequence[int] = ()
    sweeps: Sequence[int] = ()
    trainings: Sequence[int] = ()


def _as_it_is(_kind: str, text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Changes:
    """What becomes other on the way.

    Attributes:
        plain: kind and text of a document of the other store (scenario, summary, machine; config of a training) to the
            text that it stands for.
        document: kind and that text to the one that is kept here.
        folder: of a training to where it is now.
        names: new names of runs, by number in the other store.
        notes: new notes likewise.
        tags: that every run gets.
        series: which time series of a run are taken, by number in the other store; a run that is not in it keeps all.
        streams: which streams of events likewise.
        values: by which keys the figures and parameters of runs are found likewise.
    """

    plain: Callable[[str, str], str] = _as_it_is
    document: Callable[[str, str], str] = _as_it_is
    folder: Callable[[str], str] = str
    names: Mapping[int, str] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    series: Mapping[int, frozenset[int]] = field(default_factory=dict)
    streams: Mapping[int, frozenset[str]] = field(default_factory=dict)
    values: Mapping[int, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Copied:
    """What was taken: numbers here by numbers there, those that were here before among them.

    Attributes:
        runs: all that were wanted and are there.
        sweeps: likewise.
        trainings: likewise.
        n_new: how many of all of these were not here before.
    """

    runs: Mapping[int, int]
    sweeps: Mapping[int, int]
    trainings: Mapping[int, int]
    n_new: int


class CopyStore:
    """Taking over from other stores, as `Store.copies`. May be called from any thread."""

    def __init__(self, database: Database, writing: Callable[[], Writer]) -> None:
        """For the store."""
        self._database = database
        self._writing = writing

    def take(self, source: CopyStore, wanted: Wanted, changes: Changes | None = None) -> Copied:
        """Take over what is wanted from another store, in one transaction.

        Args:
            source: the `copies` of the other store, which may be read-only.
            wanted: what.
            changes: what becomes other; None: nothing.

        Raises:
            StoreError: if the other store cannot be read or this one not be written; nothing was taken then.
        """
        chosen = changes or Changes()

        def work(connection: sa.Connection) -> Copied:
            with source._database.reading() as reader:
                return _Taking(reader, connection, chosen).take(wanted)

        return self._writing().call(work)


class _Taking:
    """One call of `take`, within its transaction."""

    def __init__(self, reader: Reader, connection: sa.Connection, changes: Changes) -> None:
        self._from = reader.raw
        self._into = connection
        self._changes = changes
        self._n_new = 0

    def take(self, wanted: Wanted) -> Copied:
        sweeps = self._each(wanted.sweeps, self._sweep)
        runs: dict[int, int] = {}
        for number in sorted(set(wanted.runs)):  # a fork after what it branched off
            taken = self._run(number, runs, sweeps)
            if taken is not None:
                runs[number] = taken
        for there, here in sweeps.items():
            self._link(there, here, runs)
        trainings = self._each(wanted.trainings, self._training)
        return Copied(runs, sweeps, trainings, self._n_new)

    @staticmethod
    def _each(numbers: Iterable[int], take: Callable[[int], int | None]) -> dict[int, int]:
        taken = {number: take(number) for number in sorted(set(numbers))}
        return {number: here for number, here in taken.items() if here is not None}

    # Runs

    def _run(self, number: int, runs: Mapping[int, int], sweeps: Mapping[int, int]) -> int | None:
        row = self._row("run", _RUN, number)
        if row is None or row["status"] == "running":
            return None
        known = self._into.exec_driver_sql(
            "SELECT id FROM run WHERE signature = ? AND started_at = ? AND seed = ? AND scenario_name = ?"
            " AND deleted_at IS NULL",
            (row["signature"], row["started_at"], row["seed"], row["scenario_name"]),
        ).scalar()
        if known is not None:
            return int(known)
        changes = self._changes
        row |= {"name": changes.names.get(number, row["name"]), "note": changes.notes.get(number, row["note"])}
        # A run that has ended takes nothing more, so this one ends last.
        here = self._insert(schema.run, {**row, **_NO_WRITER, "deleted_at": None, "status": "running"})
        documents = self._documents(number, here)
        self._tags(number, here, sweeps)
        self._values(number, here, documents)
        self._fork(number, here, runs)
        is_whole = self._series(number, here)
        self._events(number, here)
        key = self._from.execute("SELECT key, has_traces FROM run_key WHERE run_id = ?", (number,)).fetchone()
        if key is not None:
            self._into.exec_driver_sql(
                "INSERT INTO run_key (run_id, key, has_traces) VALUES (?, ?, ?)", (here, key[0], key[1] and is_whole)
            )
        self._into.exec_driver_sql("UPDATE run SET status = ? WHERE id = ?", (row["status"], here))
        return here

    def _documents(self, number: int, here: int) -> dict[str, str]:
        """Takes them; returns what they say."""
        rows = self._from.execute("SELECT kind, text FROM run_document WHERE run_id = ?", (number,)).fetchall()
        documents = {kind: self._changes.plain(kind, text) for kind, text in rows}
        if "summary" in documents:
            documents["summary"] = _renumbered(documents["summary"], here)
        self._insert_all(
            "INSERT INTO run_document (run_id, kind, text) VALUES (?, ?, ?)",
            [(here, kind, self._changes.document(kind, text)) for kind, text in documents.items()],
        )
        return documents

    def _tags(self, number: int, here: int, sweeps: Mapping[int, int]) -> None:
        tags = list(self._changes.tags)
        for (tag,) in self._from.execute("SELECT tag FROM run_tag WHERE run_id = ?", (number,)).fetchall():
            match = _SWEEP_TAG.fullmatch(tag)
            if match is None:
                tags.append(tag)
            elif int(match[1]) in sweeps:
                tags.append(f"sweep {sweeps[int(match[1])]}")
        self._insert_all(
            "INSERT INTO run_tag (run_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", [(here, tag) for tag in tags]
        )

    def _values(self, number: int, here: int, documents: Mapping[str, str]) -> None:
        """The index of the documents is made anew: the other store may have kept a part of it."""
        summary = json.loads(documents.get("summary", "{}"))
        values = [*parameter_values(documents["scenario"]), *figure_values(summary)]
        kept = self._changes.values.get(number)
        store_values(self._into, here, [value for value in values if kept is None or value.key in kept])

    def _fork(self, number: int, here: int, runs: Mapping[int, int]) -> None:
        columns = ("parent_id", "parent_name", "forked_at_s", "difference", "changes")
        row = self._from.execute(f"SELECT {', '.join(columns)} FROM run_fork WHERE run_id = ?", (number,)).fetchone()
        if row is not None:
            fork = dict(zip(columns, row, strict=True)) | {"run_id": here, "parent_id": runs.get(row[0])}
            self._into.execute(sa.insert(schema.run_fork), fork)

    def _series(self, number: int, here: int) -> bool:
        """Whether all of them were taken."""
        kept = self._changes.series.get(number)
        is_whole = True
        query = f"SELECT id, {', '.join(_SERIES)} FROM series WHERE run_id = ? ORDER BY id"
        for series, *row in self._from.execute(query, (number,)).fetchall():
            if kept is not None and series not in kept:
                is_whole = False
                continue
            taken = self._insert(schema.series, {"run_id": here, **dict(zip(_SERIES, row, strict=True))})
            chunks = self._from.execute("SELECT idx, n, data FROM chunk WHERE series_id = ?", (series,)).fetchall()
            self._insert_all(
                "INSERT INTO chunk (series_id, idx, n, data) VALUES (?, ?, ?, ?)", [(taken, *chunk) for chunk in chunks]
            )
            levels = self._from.execute(
                "SELECT level, n, codec, data FROM pyramid WHERE series_id = ?", (series,)
            ).fetchall()
            self._insert_all(
                "INSERT INTO pyramid (series_id, level, n, codec, data) VALUES (?, ?, ?, ?, ?)",
                [(taken, *level) for level in levels],
            )
        return is_whole

    def _events(self, number: int, here: int) -> None:
        kept = self._changes.streams.get(number)
        for table in _EVENT_TABLES:
            columns = [column.name for column in table.columns if column.name != "run_id"]
            query = f"SELECT {', '.join(columns)} FROM {table.name} WHERE run_id = ?"
            place = columns.index("stream")
            self._insert_all(
                f"INSERT INTO {table.name} (run_id, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})",
                [
                    (here, *row)
                    for row in self._from.execute(query, (number,)).fetchall()
                    if kept is None or row[place] in kept
                ],
            )

    # Sweeps

    def _sweep(self, number: int) -> int | None:
        row = self._row("sweep", _SWEEP, number)
        if row is None:
            return None
        known = self._into.exec_driver_sql(
            "SELECT id FROM sweep WHERE plan = ? AND created_at = ?", (row["plan"], row["created_at"])
        ).scalar()
        if known is not None:
            return int(known)
        here = self._insert(schema.sweep, {**row, **_NO_PROCESS})
        points = self._from.execute("SELECT idx, parameters FROM sweep_point WHERE sweep_id = ?", (number,)).fetchall()
        self._insert_all(
            "INSERT INTO sweep_point (sweep_id, idx, parameters) VALUES (?, ?, ?)", [(here, *point) for point in points]
        )
        runs = self._from.execute(
            "SELECT point, seed, key, message FROM sweep_run WHERE sweep_id = ?", (number,)
        ).fetchall()
        self._insert_all(
            "INSERT INTO sweep_run (sweep_id, point, seed, key, message) VALUES (?, ?, ?, ?, ?)",
            [(here, *run) for run in runs],
        )
        return here

    def _link(self, number: int, here: int, runs: Mapping[int, int]) -> None:
        """Runs that a sweep here lacks, deleted ones among them."""
        rows = self._from.execute(
            "SELECT point, seed, key, run_id FROM sweep_run WHERE sweep_id = ? AND run_id IS NOT NULL", (number,)
        ).fetchall()
        self._insert_all(
            "UPDATE sweep_run SET run_id = ?, message = '' WHERE sweep_id = ? AND point = ? AND seed = ? AND key = ?"
            " AND NOT EXISTS (SELECT 1 FROM run WHERE id = sweep_run.run_id AND deleted_at IS NULL)",
            [(runs[run_id], here, point, seed, key) for point, seed, key, run_id in rows if run_id in runs],
        )

    # Trainings

    def _training(self, number: int) -> int | None:
        row = self._row("training", _TRAINING, number)
        if row is None:
            return None
        known = self._into.exec_driver_sql(
            "SELECT id FROM training WHERE name = ? AND agent = ? AND started_at = ?",
            (row["name"], row["agent"], row["started_at"]),
        ).scalar()
        if known is not None:
            return int(known)
        row |= {"folder": self._changes.folder(row["folder"]), "parent_id": None, **_NO_PROCESS}
        here = self._insert(schema.training, row)
        documents = self._from.execute(
            "SELECT kind, text FROM training_document WHERE training_id = ?", (number,)
        ).fetchall()
        self._insert_all(
            "INSERT INTO training_document (training_id, kind, text) VALUES (?, ?, ?)",
            [(here, kind, self._changes.document(kind, self._changes.plain(kind, text))) for kind, text in documents],
        )
        for table in (schema.training_metric, schema.training_evaluation):
            columns = [column.name for column in table.columns if column.name != "training_id"]
            rows = self._from.execute(
                f"SELECT {', '.join(columns)} FROM {table.name} WHERE training_id = ?", (number,)
            ).fetchall()
            self._insert_all(
                f"INSERT INTO {table.name} (training_id, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})",
                [(here, *each) for each in rows],
            )
        return here

    # Inside

    def _row(self, table: str, columns: Sequence[str], number: int) -> dict[str, Any] | None:
        row = self._from.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE id = ?", (number,)).fetchone()
        return None if row is None else dict(zip(columns, row, strict=True))

    def _insert(self, table: sa.Table, row: Mapping[str, Any]) -> int:
        inserted = self._into.execute(sa.insert(table), row).inserted_primary_key
        assert inserted is not None
        if table is not schema.series:
            self._n_new += 1
        return int(inserted[0])

    def _insert_all(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            self._into.exec_driver_sql(statement, list(rows))


def _renumbered(summary: str, run_id: int) -> str:
    """A summary says which run it is of."""
    document = json.loads(summary)
    return strict_json(document | {"run_id": run_id}) if "run_id" in document else summary
