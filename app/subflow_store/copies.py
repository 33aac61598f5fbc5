"""Copies of runs, sweeps and trainings from one store to another, with all dependent data.

A copy is one transaction, so it is complete or absent. Records copied before are not copied again: a run is identified
by its signature, seed, scenario name and start time, a sweep by its plan and creation time, and a training by its name,
agent and start time. Records get new numbers in the target store, and references to them are updated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any, TypeVar

from subflow_store.checksums import KIND as CHECKSUMS
from subflow_store.checksums import checksums_text, insert_checksums
from subflow_store.damage import row_of
from subflow_store.database import Database
from subflow_store.packs import Packer, packed_documents
from subflow_store.processes import process_columns
from subflow_store.recordings import keep
from subflow_store.rows import insert, plain_line, strict_json
from subflow_store.run_values import RunValue, figure_values, parameter_values
from subflow_store.run_writer import store_values
from subflow_store.streams import DECISION
from subflow_store.values import Records, sweep_tag
from subflow_store.writer import Writer

T = TypeVar("T")

_SWEEP_TAG = re.compile(r"sweep (\d+)", re.IGNORECASE)
# The original writer has ended, and its process id means nothing in another store.
_NO_WRITER = process_columns("writer", None)
_NO_PROCESS = process_columns("process", None)


def _as_it_is(_kind: str, text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes to records while they are copied.

    Attributes:
        document: function from the kind ("scenario", "summary", "machine", for trainings "config") and the text of a
            document to the text that the target stores.
        folder: function from the folder of a training to its new location.
        names: new names of runs, by number in the source.
        notes: new notes, by number in the source.
        tags: tags added to every run.
        values: keys of recorded values to index, by number of the run; a run without an entry keeps all.
        measured: values that the caller measured, added to the index, by number of the run and key.
        is_light: whether finished runs are copied without time series and events, which are simulated again when they
            are read, and with their documents in packs.
        is_whole: whether a whole store is copied into an empty one: numbers and deletion marks stay, and runs that
            never ended are marked as interrupted.
    """

    document: Callable[[str, str], str] = _as_it_is
    folder: Callable[[str], str] = str
    names: Mapping[int, str] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    values: Mapping[int, frozenset[str]] = field(default_factory=dict)
    measured: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    is_light: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Copied:
    """Result of a copy: numbers in the target by numbers in the source, including records that existed before.

    Attributes:
        runs: all requested runs that are now in the target.
        sweeps: all requested sweeps that are now in the target.
        trainings: all requested trainings that are now in the target.
        n_new: number of runs, sweeps and trainings that did not exist before.
    """

    runs: Mapping[int, int]
    sweeps: Mapping[int, int]
    trainings: Mapping[int, int]
    n_new: int


class CopyStore:
    """Copies from other stores, as `Store.copies`. Any thread may call its methods."""

    def __init__(self, database: Database, writing: Callable[[], Writer]) -> None:
        """Use the database of the store; ``writing`` returns its writer, or raises StoreReadOnly."""
        self._database = database
        self._writing = writing

    def transaction(self, work: Callable[[Connection], T]) -> T:
        """Run a function that writes one piece of a copy, in a transaction.

        Raises:
            StoreError: if the piece cannot be written.
        """
        return self._writing().call(work)

    def take(self, source: CopyStore, wanted: Records, changes: Changes | None = None) -> Copied:
        """Copy records from another store in one transaction.

        Args:
            source: `copies` of the other store, which may be read-only.
            wanted: the records to copy.
            changes: changes to the records; None: no changes.

        Raises:
            StoreError: if the source cannot be read or the target cannot be written; the target is then unchanged.
        """
        chosen = changes or Changes()

        def work(connection: Connection) -> Copied:
            with source._database.reading() as reader:
                return Taking(rows_of(reader), connection, chosen).take(wanted)

        return self._writing().call(work)


Rows = Callable[[str, str, int], list[dict[str, Any]]]
"""Returns rows as dictionaries by column name, given a table, the column of the owner, and the number of the owner."""


def rows_of(reader: Connection) -> Rows:
    """A function that reads rows of another store, ordered by their first column; packed documents look like rows."""

    def rows(table: str, owner: str, number: int) -> list[dict[str, Any]]:
        cursor = reader.execute(f"SELECT * FROM {table} WHERE {owner} = ? ORDER BY 1", (number,))
        names = [column[0] for column in cursor.description]
        found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        if table == "run_document":
            with row_of(table, "run", number):
                packed = packed_documents(reader, number)
            found += [{"run_id": number, "kind": kind, "text": text} for kind, text in packed.items()]
        return found

    return rows


class Taking:
    """Copies records of another store within one transaction."""

    def __init__(self, rows: Rows, connection: Connection, changes: Changes) -> None:
        """Copy from `rows` into the database of `connection`, in which the caller has begun a transaction."""
        self._rows = rows
        self._into = connection
        self._changes = changes
        self._packer = Packer(connection)
        self._n_new = 0

    def take(self, wanted: Records) -> Copied:
        """Copy all requested records."""
        sweeps = self._each(wanted.sweeps, self._sweep)
        runs: dict[int, int] = {}
        # Parent runs come first, because they have smaller numbers than their forks.
        for number in sorted(set(wanted.runs)):
            taken = self._run(number, runs, sweeps)
            if taken is not None:
                runs[number] = taken
        for there, here in sweeps.items():
            self._link(there, here, runs)
        self._packer.flush()
        trainings = self._each(wanted.trainings, self._training)
        return Copied(runs, sweeps, trainings, self._n_new)

    @staticmethod
    def _each(numbers: Iterable[int], take: Callable[[int], int | None]) -> dict[int, int]:
        taken = {number: take(number) for number in sorted(set(numbers))}
        return {number: here for number, here in taken.items() if here is not None}

    # Runs

    def _run(self, number: int, runs: Mapping[int, int], sweeps: Mapping[int, int]) -> int | None:
        row = self._row("run", number)
        if row is None:
            return None
        changes = self._changes
        if row["status"] == "running":
            if not changes.is_whole:
                return None
            row |= {"status": "interrupted", "ended_at": row["heartbeat_at"]}
        known = self._known(
            "SELECT id FROM run WHERE signature = :signature AND started_at = :started_at AND seed = :seed"
            " AND scenario_name = :scenario_name AND deleted_at IS NULL",
            row,
        )
        if known is not None:
            return known
        row |= {"name": changes.names.get(number, row["name"]), "note": changes.notes.get(number, row["note"])}
        # An ended run accepts no more data, so the status is set last.
        deleted_at = row["deleted_at"] if changes.is_whole else None
        here = self._insert("run", row | _NO_WRITER | {"deleted_at": deleted_at, "status": "running"})
        has_decisions = self._light(number, row)
        documents = self._documents(number, here, is_packed=changes.is_light and has_decisions is not None)
        self._tags(number, here, sweeps)
        self._recordings("run", number, here)
        self._values(number, here, documents)
        for fork in self._rows("run_fork", "run_id", number):
            self._put("run_fork", fork | {"run_id": here, "parent_id": runs.get(fork["parent_id"])})
        self._copy("run_key", "run_id", number, here)
        if has_decisions is None:
            self._series(number, here)
            for table in ("event_chunk", "event_name", "event_span"):
                self._copy(table, "run_id", number, here)
        else:
            self._put("light_run", {"run_id": here, "has_decisions": has_decisions})
        if changes.is_light and has_decisions is not None:
            self._packer.add(here, documents | {CHECKSUMS: checksums_text(self._into, here, documents)})
        else:
            insert_checksums(self._into, here)
        self._into.execute("UPDATE run SET status = ? WHERE id = ?", (row["status"], here))
        return here

    def _light(self, number: int, row: Mapping[str, Any]) -> bool | None:
        """True if a run that is copied without its traces recorded its decisions; None for all other runs."""
        for light in self._rows("light_run", "run_id", number):
            return bool(light["has_decisions"])
        if not self._changes.is_light or row["status"] != "finished" or not row["signature"]:
            return None
        return any(name["stream"] == DECISION.name for name in self._rows("event_name", "run_id", number))

    def _documents(self, number: int, here: int, *, is_packed: bool) -> dict[str, str]:
        """The documents as the target stores them; unless they are packed, they are also written."""
        documents = {
            row["kind"]: self._changes.document(row["kind"], row["text"])
            for row in self._rows("run_document", "run_id", number)
            if row["kind"] != CHECKSUMS
        }
        if "summary" in documents:
            documents["summary"] = _renumbered(documents["summary"], here)
        if not is_packed:
            for kind, text in documents.items():
                self._put("run_document", {"run_id": here, "kind": kind, "text": text})
        return documents

    def _tags(self, number: int, here: int, sweeps: Mapping[int, int]) -> None:
        tags = list(self._changes.tags)
        for row in self._rows("run_tag", "run_id", number):
            match = _SWEEP_TAG.fullmatch(row["tag"])
            if match is None:
                tags.append(row["tag"])
            elif int(match[1]) in sweeps:
                tags.append(sweep_tag(sweeps[int(match[1])]))
        rows = [(here, plain_line(tag)) for tag in tags]
        self._into.executemany("INSERT INTO run_tag (run_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", rows)

    def _values(self, number: int, here: int, documents: Mapping[str, str]) -> None:
        """Index the documents again, because the source may have kept only a part of the index."""
        summary = json.loads(documents.get("summary", "{}"))
        values = [*parameter_values(documents["scenario"]), *figure_values(summary)]
        kept = self._changes.values.get(number)
        values = [value for value in values if kept is None or value.key in kept]
        values += [RunValue(key, value, None) for key, value in self._changes.measured.get(number, {}).items()]
        store_values(self._into, here, values)

    def _series(self, number: int, here: int) -> None:
        for row in self._rows("series", "run_id", number):
            copy = self._put("series", row | {"id": None, "run_id": here})
            if copy is not None:
                self._copy("chunk", "series_id", row["id"], copy)
                self._copy("pyramid", "series_id", row["id"], copy)

    def _recordings(self, owner: str, number: int, here: int) -> None:
        for link in self._rows(f"{owner}_recording", f"{owner}_id", number):
            for row in self._rows("recording", "id", link["recording_id"]):
                keep(self._into, owner, here, row["hash"], row["data"])

    # Sweeps

    def _sweep(self, number: int) -> int | None:
        row = self._row("sweep", number)
        if row is None:
            return None
        known = self._known("SELECT id FROM sweep WHERE plan = :plan AND created_at = :created_at", row)
        if known is not None:
            return known
        here = self._insert("sweep", row | _NO_PROCESS)
        self._recordings("sweep", number, here)
        self._copy("sweep_point", "sweep_id", number, here)
        for run in self._rows("sweep_run", "sweep_id", number):
            self._put("sweep_run", run | {"sweep_id": here, "run_id": None})
        return here

    def _link(self, number: int, here: int, runs: Mapping[int, int]) -> None:
        """Link copied runs to those points and seeds of a sweep whose run is missing or deleted."""
        self._into.executemany(
            "UPDATE sweep_run SET run_id = ?, message = '' WHERE sweep_id = ? AND point = ? AND seed = ? AND key = ?"
            " AND NOT EXISTS (SELECT 1 FROM run WHERE id = sweep_run.run_id AND deleted_at IS NULL)",
            [
                (runs[row["run_id"]], here, row["point"], row["seed"], row["key"])
                for row in self._rows("sweep_run", "sweep_id", number)
                if row["run_id"] in runs
            ],
        )

    # Trainings

    def _training(self, number: int) -> int | None:
        row = self._row("training", number)
        if row is None:
            return None
        known = self._known(
            "SELECT id FROM training WHERE name = :name AND agent = :agent AND started_at = :started_at", row
        )
        if known is not None:
            return known
        changes = self._changes
        parent = (row["parent_id"],) if changes.is_whole else (None,)
        is_here = self._into.execute("SELECT 1 FROM training WHERE id = ?", parent).fetchone() is not None
        moved = {"folder": changes.folder(row["folder"]), "parent_id": row["parent_id"] if is_here else None}
        here = self._insert("training", row | _NO_PROCESS | moved)
        for document in self._rows("training_document", "training_id", number):
            kind = document["kind"]
            text = changes.document(kind, document["text"])
            self._put("training_document", {"training_id": here, "kind": kind, "text": text})
        self._recordings("training", number, here)
        self._copy("training_metric", "training_id", number, here)
        self._copy("training_evaluation", "training_id", number, here)
        return here

    # Internals

    def _row(self, table: str, number: int) -> dict[str, Any] | None:
        return next(iter(self._rows(table, "id", number)), None)

    def _known(self, query: str, row: Mapping[str, Any]) -> int | None:
        """Number of an equal record in the target; None if it is missing, or a whole store is copied."""
        if self._changes.is_whole:
            return None
        return next((number for (number,) in self._into.execute(query, row).fetchall()), None)

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        self._n_new += 1
        return insert(self._into, table, row if self._changes.is_whole else {**row, "id": None})

    def _put(self, table: str, row: Mapping[str, Any]) -> int | None:
        """Insert a dependent row; returns its number, or None if a subclass left the row out."""
        return insert(self._into, table, row)

    def _copy(self, table: str, owner: str, number: int, here: int) -> None:
        for row in self._rows(table, owner, number):
            self._put(table, row | {owner: here})


def _renumbered(summary: str, run_id: int) -> str:
    """A summary with the new number of its run."""
    document = json.loads(summary)
    return strict_json(document | {"run_id": run_id}) if "run_id" in document else summary
