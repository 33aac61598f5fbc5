"""The store: all operations on a database of runs."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence, Sized
from datetime import UTC
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import TypeVar

from subflow_store import queries, room
from subflow_store.again import LightRuns, SimulatedAgain, Simulator
from subflow_store.arena import ArenaStore
from subflow_store.codec import SAMPLES
from subflow_store.conditions import TAG, WORDS, Condition
from subflow_store.copies import CopyStore
from subflow_store.damage import Damage
from subflow_store.database import Database
from subflow_store.errors import RunNotFound, StoreCorrupt, StoreFull, StoreReadOnly
from subflow_store.ingest import CHUNK_SAMPLES, PYRAMID_STEPS
from subflow_store.liveness import this_process
from subflow_store.processes import process_columns, refuse_running, running_runs
from subflow_store.queries import ForkStore, insert_fork
from subflow_store.recording_texts import folded
from subflow_store.recordings import keep_all
from subflow_store.rows import insert, now_text, plain_line, plain_lines, signed
from subflow_store.run_values import describe_machine, parameter_values
from subflow_store.run_writer import RunStream, RunWriter, mark_interrupted, store_values
from subflow_store.searches import SearchStore
from subflow_store.streams import AGENT, DECISION, INTERVAL, STREAMS, StreamSpec
from subflow_store.sweeps import SweepStore
from subflow_store.trainings import TrainingStore
from subflow_store.values import (
    ColumnSpec,
    EventExtent,
    EventTable,
    MarkTable,
    PyramidData,
    RunRow,
    RunStart,
    SeriesData,
    SeriesInfo,
)
from subflow_store.writer import Writer

T = TypeVar("T")
S = TypeVar("S", bound=Sized)

_EVER_NS = 4e18
_STARTED = RunRow._fields[1 : RunRow._fields.index("status")]  # columns that a RunStart provides


class Store:
    """An open database of runs, made by `open_store`; close it, or use it as a context manager.

    Any thread may call its methods. A method that changes data waits until the change is committed. Reading never waits
    for writing, except in memory or on a full disk.
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        read_only: bool = False,
        busy_timeout_s: float = 5.0,
        simulator: Simulator | None = None,
    ) -> None:
        """Open the database; see `open_store`."""
        self._database = Database(target, read_only=read_only, busy_timeout_s=busy_timeout_s)
        self._writer: Writer | None = None
        self._gone: frozenset[int] = frozenset()
        self.damaged: tuple[Damage, ...] = ()  # damage found by the last list of runs
        try:
            gone = self._runs_without_writer()
            if read_only or self._database.is_alone:
                self._gone = gone  # the file cannot be changed, so queries correct the status
            if not read_only:
                self._writer = Writer(self._database)
                if gone and not self._gone:
                    self._writer.call(lambda connection: mark_interrupted(connection, gone))
        except BaseException:
            _shut_down(self._writer, self._database)
            raise
        load = partial(_loaded, self._database, self._gone)
        self._light = LightRuns(self._database, simulator, load, partial(Store, ":memory:"))
        # At program exit, or when the last reference is gone, pending data are still written.
        self._shut_down = weakref.finalize(self, _shut_down, self._writer, self._database)

    @property
    def path(self) -> Path | None:
        """The file, absolute; None for a store in memory."""
        return self._database.path

    @property
    def is_read_only(self) -> bool:
        """True if the database was opened read-only."""
        return self._database.read_only

    @property
    def trainings(self) -> TrainingStore:
        """The trainings of agents."""
        # made for each access, because a stored object would create a reference cycle
        return TrainingStore(self._database, self._writing)

    @property
    def forks(self) -> ForkStore:
        """The relations of forks to their parent runs."""
        return ForkStore(self._database)

    @property
    def sweeps(self) -> SweepStore:
        """The sweeps and their runs."""
        return SweepStore(self._database, self._writing)

    @property
    def arena(self) -> ArenaStore:
        """The results of entrants in the arena."""
        return ArenaStore(self._database, self._writing)

    @property
    def searches(self) -> SearchStore:
        """Searches for networks in which a claim fails."""
        return SearchStore(self._database, self._writing)

    @property
    def copies(self) -> CopyStore:
        """Copies of runs, sweeps and trainings from other stores."""
        return CopyStore(self._database, self._writing)

    def close(self) -> None:
        """Commit pending data, mark open runs as interrupted, and close the file."""
        self._light.close()
        self._shut_down()

    def __enter__(self) -> Store:
        """Return this store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    # Storing a run

    def start_run(self, start: RunStart, columns: Sequence[ColumnSpec]) -> RunWriter:
        """Begin to store a run, which lists of runs show as running from now on.

        Args:
            start: data known at the start.
            columns: its sampled signals; no two have the same (scope, owner, name).

        Raises:
            StoreError: if the run cannot be written.
        """
        now = now_text()
        row = {
            **{name: getattr(start, name) for name in _STARTED},
            "seed": signed(start.seed),
            "status": "running",
            "signature": "",
            "started_at": start.started_at_utc.astimezone(UTC).isoformat() if start.started_at_utc else now,
            "simulated_s": 0.0,
            "note": "",
            **process_columns("writer", this_process()),
            "heartbeat_at": now,
        }
        machine = describe_machine() if start.machine is None else dict(start.machine)
        scenario, recordings = folded(start.scenario_text)
        parameters = parameter_values(scenario)
        documents = {"scenario": scenario, "machine": json.dumps(machine, ensure_ascii=False)}

        def add(connection: Connection) -> tuple[int, list[int]]:
            run_id = insert(connection, "run", row)
            for kind, text in documents.items():
                insert(connection, "run_document", {"run_id": run_id, "kind": kind, "text": text})
            keep_all(connection, "run", run_id, recordings)
            store_values(connection, run_id, parameters)
            insert_fork(connection, run_id, start.fork)
            return run_id, self._insert_series(connection, run_id, start, columns)

        writer = self._writing()
        run_id, series_ids = writer.call(add)
        stream = RunStream(run_id, series_ids, start.sample_interval_s, self._database.label)
        writer.call_bare(lambda: writer.add_stream(stream))
        return RunWriter(self, writer, stream, run_id, len(columns), self._database.label)

    @staticmethod
    def _insert_series(
        connection: Connection, run_id: int, start: RunStart, columns: Sequence[ColumnSpec]
    ) -> list[int]:
        """Insert the columns together, because runs may have tens of thousands, and return their numbers in order."""
        shared = (start.sample_interval_s, start.sample_interval_s, SAMPLES, CHUNK_SAMPLES)
        connection.executemany(
            "INSERT INTO series (run_id, scope, owner, name, unit, t0_s, dt_s, n, dtype, codec, chunk_samples)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 'f4', ?, ?)",
            [(run_id, column.scope, column.owner, column.name, column.unit, *shared) for column in columns],
        )
        # Rows get ascending numbers in the order of their insertion.
        found = connection.execute("SELECT id FROM series WHERE run_id = ? ORDER BY id", (run_id,))
        return [number for (number,) in found]

    # Reading

    def runs(
        self,
        conditions: Sequence[Condition] = (),
        *,
        search: str = "",
        tag: str | None = None,
        status: str | None = None,
        include_deleted: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[RunRow]:
        """The runs that pass all filters, newest first, without their documents.

        Damaged runs do not affect the others: `damaged` lists the losses of the last list.

        Args:
            conditions: conditions, all of which a run must meet.
            search: words, each of which must begin a word in the run's name, scenario, controllers, note or tags.
            tag: a required tag; case is ignored.
            status: the required status.
            include_deleted: whether to include deleted runs.
            limit: largest number of runs; None: all.
            offset: number of runs to skip.

        Raises:
            StoreError: if the file cannot be read.
        """
        wanted = [
            *conditions,
            *([Condition(WORDS, ":", search)] if search else []),
            *([Condition(TAG, "=", tag)] if tag is not None else []),
            *([Condition("status", "=", status)] if status is not None else []),
        ]
        with self._database.reading() as reader:
            rows, damaged = queries.list_runs(
                reader, wanted, include_deleted=include_deleted, limit=limit, offset=offset, gone=self._gone
            )
        self.damaged = tuple(damaged)
        return rows

    def count(self) -> int:
        """Number of runs that are not deleted.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            return int(reader.execute("SELECT count(*) FROM run WHERE deleted_at IS NULL").fetchone()[0])

    def value_keys(self) -> list[str]:
        """The keys of all recorded values, sorted: parameters and figures of any run.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            return list(queries.value_keys(reader))

    def values(self, key: str) -> dict[int, float | str]:
        """The recorded values under a key, by run: a number in SI units, or text.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            return queries.read_values(reader, key)

    def flow_values(self, names: Collection[str]) -> dict[int, list[dict[str, float]]]:
        """The recorded numbers of flows by run: for each flow, a dictionary of numbers by name.

        Args:
            names: names of the figures in the summary, e.g. ``completion_s``; in SI units. Subflows are excluded.

        Returns:
            The flows of a run in the order of their names, without those that lack all figures.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            return queries.read_flow_values(reader, names)

    def run(self, run_id: int) -> RunRow:
        """One run with its scenario text, summary and machine, even if it is deleted.

        Raises:
            RunNotFound: if the number is unknown.
            StoreError: if the file cannot be read.
        """
        return _loaded(self._database, self._gone, run_id)

    def is_light(self, run_id: int) -> bool:
        """True if a run is stored without its traces: the first reading of a signal or an event simulates it again.

        Raises:
            StoreError: if the file cannot be read.
        """
        return self._light.is_light(run_id)

    def simulate_again(
        self,
        run_id: int,
        *,
        on_progress: Callable[[float], object] = lambda _share: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Simulate a light run again now, unless its traces are in memory; does nothing for any other run.

        Args:
            run_id: the run.
            on_progress: called with the simulated share, 0 to 1.
            is_cancelled: returns True to cancel.

        Raises:
            InterruptedError: after a cancellation.
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read, or the run cannot be simulated here.
        """
        self._light.place(run_id, on_progress, is_cancelled)

    def simulated_again(self) -> tuple[SimulatedAgain, ...]:
        """The light runs that were simulated again since the database was opened."""
        return self._light.simulated()

    def series(self, run_id: int) -> list[SeriesInfo]:
        """The signals of a run, in the order of its columns.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        light = self._light.series(run_id)
        if light is not None:
            return light
        with self._database.reading() as reader:
            return self._rows_of(reader, run_id, queries.list_series(reader, run_id))

    def read(self, series_id: int, t_from_s: float | None = None, t_to_s: float | None = None) -> SeriesData:
        """The samples of a signal with t_from_s <= t <= t_to_s, in its unit; None removes a bound.

        Raises:
            RunNotFound: if the series does not exist.
            StoreError: if the file cannot be read.
        """
        light = self._light.place_of_series(series_id)
        if light is not None:
            return light[0].read(light[1], t_from_s, t_to_s)
        with self._database.reading() as reader:
            return self._found(queries.read_samples(reader, series_id, t_from_s, t_to_s), f"series {series_id}")

    def read_pyramid(self, series_id: int, level: int) -> PyramidData:
        """Minimum and maximum of a signal over groups of samples.

        Args:
            series_id: the signal.
            level: 1 for groups of 64 samples, 2 for groups of 4096.

        Raises:
            ValueError: if the level is unknown.
            RunNotFound: if the series does not exist.
            StoreError: if the file cannot be read.
        """
        if level not in PYRAMID_STEPS:
            raise ValueError(f"pyramid level {level} is not one of {', '.join(map(str, PYRAMID_STEPS))}")
        light = self._light.place_of_series(series_id)
        if light is not None:
            return light[0].read_pyramid(light[1], level)
        with self._database.reading() as reader:
            return self._found(queries.read_pyramid(reader, series_id, level), f"series {series_id}")

    def marks(self, run_id: int) -> MarkTable:
        """The marks of a run, by time.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        light = self._light.place(run_id)
        if light is not None:
            return light[0].marks(light[1])
        with self._database.reading() as reader:
            return self._rows_of(reader, run_id, queries.read_marks(reader, run_id))

    def decisions(
        self, run_id: int, owner: str | None = None, t_from_s: float | None = None, t_to_s: float | None = None
    ) -> EventTable:
        """The decisions with t_from_s <= t <= t_to_s, of one owner (a subflow or flow) or of all, in order of time.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        return self._window(run_id, DECISION, owner, t_from_s, t_to_s)

    def decisions_around(self, run_id: int, owner: str, t_s: float, *, before: int = 1, after: int = 0) -> EventTable:
        """The decisions of an owner around a time, in order.

        Args:
            run_id: the run.
            owner: a subflow or flow.
            t_s: the time, s.
            before: number of decisions at or before the time; fewer at the beginning.
            after: number of decisions after it; fewer at the end.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        light = self._light.place(run_id)
        if light is not None:
            return light[0].decisions_around(light[1], owner, t_s, before=before, after=after)
        with self._database.reading() as reader:
            table = queries.read_around(reader, run_id, DECISION, owner, _nanos(t_s), before, after)
            return self._rows_of(reader, run_id, table)

    def intervals(
        self, run_id: int, owner: str | None = None, t_from_s: float | None = None, t_to_s: float | None = None
    ) -> EventTable:
        """The monitor intervals whose results became known from t_from_s to t_to_s, of one subflow or of all.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        return self._window(run_id, INTERVAL, owner, t_from_s, t_to_s)

    def agent_steps(
        self, run_id: int, agent: str | None = None, t_from_s: float | None = None, t_to_s: float | None = None
    ) -> EventTable:
        """Observations, actions and rewards of one agent or all in a window of time, by decision and subflow.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        return self._window(run_id, AGENT, agent, t_from_s, t_to_s)

    def event_extents(self, run_id: int, stream: str) -> dict[str, EventExtent]:
        """Number and time range of the rows of each owner in a stream ("decision", "interval", "agent").

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read.
        """
        light = self._light.place(run_id)
        if light is not None:
            return light[0].event_extents(light[1], stream)
        with self._database.reading() as reader:
            return self._rows_of(reader, run_id, queries.read_extents(reader, run_id, STREAMS[stream]))

    def tags(self) -> list[str]:
        """The tags in use, sorted.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            return queries.list_tags(reader)

    def changes_by_others(self) -> object:
        """A value that changes whenever another program changes the database; None in memory.

        Raises:
            StoreError: if the file cannot be read.
        """
        if self._writer is None:
            return self._database.changes_by_others()
        return self._writer.call_bare(self._database.changes_by_others)

    # Changes of stored runs

    def rename(self, run_id: int, name: str) -> None:
        """Rename a run.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the name cannot be written.
        """
        self._change(run_id, "UPDATE run SET name = ? WHERE id = ?", (plain_line(name), run_id))

    def set_note(self, run_id: int, text: str) -> None:
        """Replace a run's note.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the note cannot be written.
        """
        self._change(run_id, "UPDATE run SET note = ? WHERE id = ?", (plain_lines(text), run_id))

    def add_tag(self, run_id: int, tag: str) -> None:
        """Add a tag to a run; no effect if the run has this tag already, ignoring case.

        Raises:
            ValueError: if the tag is blank.
            RunNotFound: if the run does not exist.
            StoreError: if the tag cannot be written.
        """
        tag = " ".join(plain_line(tag).split())
        if not tag:
            raise ValueError("a tag must not be blank")

        self._change(run_id, "INSERT INTO run_tag (run_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, tag))

    def remove_tag(self, run_id: int, tag: str) -> None:
        """Remove a tag from a run; no effect if the run lacks the tag.

        Raises:
            RunNotFound: if the run does not exist.
            StoreError: if the change cannot be written.
        """
        tag = " ".join(plain_line(tag).split())
        self._change(run_id, "DELETE FROM run_tag WHERE run_id = ? AND tag = ?", (run_id, tag))

    def delete(self, run_ids: Iterable[int]) -> None:
        """Hide runs from lists; they can be restored until `purge_deleted`. Unknown ids are ignored.

        Raises:
            RunBusy: if one of the runs is still being recorded; then no run is hidden.
            StoreError: if the change cannot be written.
        """
        self._set_deleted(run_ids, now_text())

    def undelete(self, run_ids: Iterable[int]) -> None:
        """Restore deleted runs. Unknown ids are ignored.

        Raises:
            StoreError: if the change cannot be written.
        """
        self._set_deleted(run_ids, None)

    def purge_deleted(self) -> int:
        """Remove deleted runs permanently and free their disk space; runs in progress are kept.

        Returns:
            Number of removed runs.

        Raises:
            StoreError: if the change cannot be written.
        """

        def give_space_back() -> None:
            with writer.no_transaction() as connection:
                room.give_space_back(connection)

        writer = self._writing(makes_room=True)
        purged = self._made_room(room.purge)
        if purged:
            writer.call_bare(give_space_back)
        return purged

    def save_copy(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the whole database to another file, compact, complete, and without a -wal file.

        Args:
            path: the new file.
            overwrite: whether an existing file is replaced.

        Raises:
            StoreError: if the file exists and may not be replaced, or cannot be written.
        """
        self._database.save_copy(path, overwrite=overwrite)

    # Internals

    def _window(
        self, run_id: int, spec: StreamSpec, owner: str | None, t_from_s: float | None, t_to_s: float | None
    ) -> EventTable:
        light = self._light.place(run_id)
        if light is not None:
            return light[0]._window(light[1], spec, owner, t_from_s, t_to_s)
        bounds = [None if t_s is None else _nanos(t_s) for t_s in (t_from_s, t_to_s)]
        with self._database.reading() as reader:
            table = queries.read_window(reader, run_id, spec, owner, *bounds)
            return self._rows_of(reader, run_id, table)

    def _rows_of(self, reader: Connection, run_id: int, rows: S) -> S:
        """The rows; if they are empty, check first that the run exists."""
        if not len(rows):
            self._check_run(reader, run_id)
        return rows

    def _made_room(self, work: Callable[[Connection], T]) -> T:
        """Run a function that frees space, in a transaction and, on a full disk, without auxiliary files."""
        writer = self._writing(makes_room=True)
        try:
            return writer.call(work)
        except StoreFull:
            writer.call_bare(self._database.work_alone)
            return writer.call(work)

    def _writing(self, *, makes_room: bool = False) -> Writer:
        if self._writer is not None and self._database.is_alone and not makes_room:
            self._writer.call_bare(self._database.share_again)
        if self._writer is None:
            raise StoreReadOnly(
                "it was opened for reading only",
                path=self._database.label,
                way_on="Open it for writing, or choose another file with --db.",
            )
        return self._writer

    def _runs_without_writer(self) -> frozenset[int]:
        """Runs marked as running whose process has ended."""
        try:
            with self._database.reading() as reader:
                running = running_runs(reader)
        except StoreCorrupt:
            if not self.is_read_only:
                raise
            return frozenset()  # sound data can be read nevertheless
        return frozenset(run_id for run_id, (_, is_gone) in running.items() if is_gone)

    def _change(self, run_id: int, statement: str, parameters: tuple[object, ...]) -> None:
        def change(connection: Connection) -> None:
            self._check_run(connection, run_id)
            connection.execute(statement, parameters)

        self._writing().call(change)

    def _set_deleted(self, run_ids: Iterable[int], deleted_at: str | None) -> None:
        rows = [(deleted_at, int(run_id)) for run_id in run_ids]

        def change(connection: Connection) -> None:
            if deleted_at is not None:
                refuse_running(connection, {run_id for _, run_id in rows}, self._database.label)
            connection.executemany("UPDATE run SET deleted_at = ? WHERE id = ?", rows)

        self._writing(makes_room=True)
        if rows:
            self._made_room(change)

    def _check_run(self, connection: Connection, run_id: int) -> None:
        self._found(connection.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone(), f"run {run_id}")

    def _found(self, value: T | None, what: str) -> T:
        return _found(self._database, value, what)


def _loaded(database: Database, gone: frozenset[int], run_id: int) -> RunRow:
    """A run with its documents; a function, so that `LightRuns` does not keep the store alive."""
    with database.reading() as reader:
        return _found(database, queries.load_run(reader, run_id, gone), f"run {run_id}")


def _found(database: Database, value: T | None, what: str) -> T:
    if value is None:
        raise RunNotFound(f"unknown {what}", path=database.label, way_on="`subflow runs` lists all runs.")
    return value


def _nanos(t_s: float) -> int:
    """A time in whole nanoseconds, as in events, clipped to their range."""
    return round(min(max(t_s * 1e9, -_EVER_NS), _EVER_NS))


def _shut_down(writer: Writer | None, database: Database) -> None:
    """Close writer and database. A function, not a method, so that the finalizer does not keep the store alive."""
    if writer is not None and writer.is_current_thread():
        # A job held the last reference to the store: the thread cannot wait for its own end.
        threading.Thread(target=_shut_down, args=(writer, database), name="subflow-store-closing").start()
        return
    if writer is not None:
        writer.close()
    database.close()
