"""Sweeps in the store: their plans, the runs that they need, and links to existing runs.

A run belongs to every sweep that needs it: runs have a key, and runs with the same key are equal bit for bit. The key
is stored before a run is closed, so that a finished run can be identified no matter when the program ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from sqlite3 import Connection
from types import NoneType
from typing import Any

from subflow_store.damage import row_of, typed
from subflow_store.processes import ProcessStore, process_columns, read_state
from subflow_store.queries import json_object
from subflow_store.recording_texts import folded
from subflow_store.recordings import keep_all, restored
from subflow_store.rows import insert, now_text, signed, unsigned
from subflow_store.values import SweepRecord, SweepRunRow, SweepStart, sweep_tag

_IS_THERE = "EXISTS (SELECT 1 FROM run WHERE run.id = sweep_run.run_id AND status = 'finished' AND deleted_at IS NULL)"
_FIELDS = SweepRecord._fields[: SweepRecord._fields.index("plan")]
_SELECT = (
    "SELECT id, name, version, state, message, created_at, updated_at, ended_at, process_pid,"
    " (SELECT count(*) FROM sweep_point WHERE sweep_id = sweep.id),"
    " (SELECT count(*) FROM sweep_run WHERE sweep_id = sweep.id),"
    f" (SELECT count(*) FROM sweep_run WHERE sweep_id = sweep.id AND {_IS_THERE}),"
    f" (SELECT count(*) FROM sweep_run WHERE sweep_id = sweep.id AND message <> '' AND NOT {_IS_THERE}),"
    " process_host, process_boot, process_started FROM sweep"
)
_LINK = (
    "UPDATE sweep_run SET message = '', run_id ="
    " (SELECT run_key.run_id FROM run_key JOIN run ON run.id = run_key.run_id"
    "  WHERE run_key.key = sweep_run.key AND has_traces >= ? AND status = 'finished' AND deleted_at IS NULL"
    "  ORDER BY run_key.run_id LIMIT 1)"
    f" WHERE sweep_id = ? AND NOT {_IS_THERE} AND EXISTS"
    " (SELECT 1 FROM run_key JOIN run ON run.id = run_key.run_id"
    "  WHERE run_key.key = sweep_run.key AND has_traces >= ? AND status = 'finished' AND deleted_at IS NULL)"
)


class SweepStore(ProcessStore):
    """The sweeps of a store, as `Store.sweeps`. Any thread may call its methods."""

    table = "sweep"

    # Reading

    def rows(self, *, limit: int | None = None) -> list[SweepRecord]:
        """The sweeps, newest first, without their plans.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            found = reader.execute(f"{_SELECT} ORDER BY id DESC LIMIT ?", (-1 if limit is None else limit,))
            return [_record(row) for row in found.fetchall()]

    def names(self) -> dict[str, str]:
        """Names of all sweeps, by the tag of their runs.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            rows = reader.execute("SELECT id, name FROM sweep").fetchall()
            with row_of("sweep"):
                return {sweep_tag(sweep_id): name for sweep_id, name in typed(rows, int, str)}

    def get(self, sweep_id: int) -> SweepRecord:
        """One sweep with its plan.

        Raises:
            RunNotFound: if the number is unknown.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = self._found(reader.execute(f"{_SELECT} WHERE id = ?", (sweep_id,)).fetchone(), sweep_id)
            with row_of("sweep", "sweep", sweep_id):
                query = "SELECT plan FROM sweep WHERE id = ?"
                ((plan,),) = typed(reader.execute(query, (sweep_id,)).fetchall(), str)
            return _record(row)._replace(plan=restored(reader, plan))

    def of_plan(self, plan: str) -> SweepRecord | None:
        """The latest sweep with exactly this plan, without the plan itself; None for an unknown plan.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = reader.execute(f"{_SELECT} WHERE plan = ? ORDER BY id DESC LIMIT 1", (folded(plan)[0],)).fetchone()
            return None if row is None else _record(row)

    def points(self, sweep_id: int) -> list[dict[str, str]]:
        """The values of each point by key, as text, in order.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            rows = reader.execute("SELECT parameters FROM sweep_point WHERE sweep_id = ? ORDER BY idx", (sweep_id,))
            with row_of("sweep_point", "sweep", sweep_id):
                points = [json_object(text) for (text,) in typed(rows.fetchall(), str)]
                for point in points:
                    typed(point.items(), str, str)
                return points

    def runs(self, sweep_id: int) -> list[SweepRunRow]:
        """The runs of a sweep, by point and seed.

        Raises:
            StoreError: if the file cannot be read.
        """
        query = (
            f"SELECT point, seed, key, iif({_IS_THERE}, run_id, NULL), message FROM sweep_run"
            " WHERE sweep_id = ? ORDER BY point, seed"
        )
        with self._database.reading() as reader:
            rows = reader.execute(query, (sweep_id,)).fetchall()
            with row_of("sweep_run", "sweep", sweep_id):
                typed(rows, int, int, str, (int, NoneType), str)
        return [SweepRunRow(point, unsigned(seed), key, run_id, text) for point, seed, key, run_id, text in rows]

    def figures(
        self, sweep_id: int, is_wanted: Callable[[str], bool]
    ) -> dict[tuple[int, int], tuple[int, dict[str, float]]]:
        """The recorded numbers of the finished runs of a sweep.

        Args:
            sweep_id: the sweep.
            is_wanted: returns True for the wanted keys.

        Returns:
            By point and seed: the number of the run, and its numbers by key.

        Raises:
            StoreError: if the file cannot be read.
        """
        found: dict[tuple[int, int], tuple[int, dict[str, float]]] = {}
        with self._database.reading() as reader:
            for point, seed, run_id in reader.execute(
                f"SELECT point, seed, run_id FROM sweep_run WHERE sweep_id = ? AND {_IS_THERE}", (sweep_id,)
            ):
                found[point, unsigned(seed)] = (run_id, {})
            keys = {number: key for key, number in reader.execute("SELECT key, id FROM value_key") if is_wanted(key)}
            by_run: dict[int, dict[str, float]] = {}
            rows = reader.execute(
                "SELECT run_id, key_id, number FROM run_value WHERE number IS NOT NULL"
                f" AND run_id IN (SELECT run_id FROM sweep_run WHERE sweep_id = ? AND {_IS_THERE})",
                (sweep_id,),
            )
            for run_id, key_id, number in rows:
                if key_id in keys:
                    by_run.setdefault(run_id, {})[keys[key_id]] = number
        return {place: (run_id, by_run.get(run_id, {})) for place, (run_id, _) in found.items()}

    def signatures(self, sweep_id: int) -> dict[tuple[int, int], str]:
        """Signatures of the finished runs of a sweep, by point and seed; equal signatures mean equal runs.

        Raises:
            StoreError: if the file cannot be read.
        """
        query = (
            "SELECT point, sweep_run.seed, signature FROM sweep_run JOIN run ON run.id = run_id"
            f" WHERE sweep_id = ? AND {_IS_THERE}"
        )
        with self._database.reading() as reader:
            rows = reader.execute(query, (sweep_id,)).fetchall()
            with row_of("sweep_run", "sweep", sweep_id):
                return {(point, unsigned(seed)): text for point, seed, text in typed(rows, int, int, str)}

    def known(self, keys: Sequence[str], *, needs_traces: bool) -> frozenset[str]:
        """Those of the keys that a finished run has; with `needs_traces`, a run with traces.

        Raises:
            StoreError: if the file cannot be read.
        """
        query = (
            "SELECT key FROM run_key JOIN run ON run.id = run_key.run_id"
            " WHERE key = ? AND has_traces >= ? AND status = 'finished' AND deleted_at IS NULL LIMIT 1"
        )
        with self._database.reading() as reader:
            return frozenset(key for key in keys if reader.execute(query, (key, needs_traces)).fetchone() is not None)

    # Writing

    def add(self, start: SweepStart) -> int:
        """Add a sweep in the state waiting; returns its number.

        Raises:
            StoreError: if the sweep cannot be written.
        """
        now = now_text()
        plan, recordings = folded(start.plan)
        row = {
            "name": start.name,
            "plan": plan,
            "version": start.version,
            "state": "waiting",
            "message": "",
            "created_at": now,
            "updated_at": now,
            **process_columns("process", None),
        }
        points = [(index, json.dumps(dict(point), ensure_ascii=False)) for index, point in enumerate(start.points)]
        runs = [(point, signed(seed), key) for point, seed, key in start.runs]

        def add(connection: Connection) -> int:
            number = insert(connection, self.table, row)
            keep_all(connection, "sweep", number, recordings)
            connection.executemany(
                "INSERT INTO sweep_point (sweep_id, idx, parameters) VALUES (?, ?, ?)",
                [(number, *point) for point in points],
            )
            connection.executemany(
                "INSERT INTO sweep_run (sweep_id, point, seed, key, message) VALUES (?, ?, ?, ?, '')",
                [(number, *run) for run in runs],
            )
            return number

        return self._writing().call(add)

    def replace_keys(self, sweep_id: int, version: str, keys: Sequence[tuple[int, int, str]]) -> None:
        """Replace the keys of a sweep's runs when a different version of Subflow continues the sweep.

        Runs with changed keys are unlinked.

        Args:
            sweep_id: the sweep.
            version: the version of Subflow that continues the sweep.
            keys: point, seed and key of each run.

        Raises:
            RunNotFound: if the sweep does not exist.
            StoreError: if the keys cannot be written.
        """
        rows = [(key, sweep_id, point, signed(seed), key) for point, seed, key in keys]

        def change(connection: Connection) -> None:
            self._check(connection, sweep_id)
            connection.execute("UPDATE sweep SET version = ? WHERE id = ?", (version, sweep_id))
            connection.executemany(
                "UPDATE sweep_run SET key = ?, run_id = NULL, message = ''"
                " WHERE sweep_id = ? AND point = ? AND seed = ? AND key <> ?",
                rows,
            )

        self._writing().call(change)

    def link_finished(self, sweep_id: int, *, needs_traces: bool) -> int:
        """Link missing runs of a sweep to finished runs with the same key; returns the number of new links.

        With `needs_traces`, runs without traces are ignored.

        Raises:
            StoreError: if the links cannot be written.
        """

        def link(connection: Connection) -> int:
            return connection.execute(_LINK, (needs_traces, sweep_id, needs_traces)).rowcount

        return self._writing().call(link)

    def attach_run(
        self, sweep_id: int, places: Iterable[tuple[int, int]], run_id: int, key: str, *, has_traces: bool
    ) -> None:
        """Link a run that has not ended yet to these points and seeds of a sweep.

        Interrupted runs at these places are deleted, as by `Store.delete`.

        Raises:
            StoreError: if the link cannot be written.
        """
        rows = [(sweep_id, point, signed(seed)) for point, seed in places]
        now = now_text()

        def attach(connection: Connection) -> None:
            connection.executemany(
                "UPDATE run SET deleted_at = ? WHERE status = 'interrupted' AND deleted_at IS NULL AND id IN"
                " (SELECT run_id FROM sweep_run WHERE sweep_id = ? AND point = ? AND seed = ?)",
                [(now, *row) for row in rows],
            )
            insert(connection, "run_key", {"run_id": run_id, "key": key, "has_traces": has_traces})
            connection.executemany(
                "UPDATE sweep_run SET run_id = ?, message = '' WHERE sweep_id = ? AND point = ? AND seed = ?",
                [(run_id, *row) for row in rows],
            )
            connection.execute(
                "INSERT INTO run_tag (run_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, sweep_tag(sweep_id))
            )
            connection.execute("UPDATE sweep SET updated_at = ? WHERE id = ?", (now, sweep_id))

        self._writing().call(attach)

    def set_message(self, sweep_id: int, places: Iterable[tuple[int, int]], message: str) -> None:
        """Store the reason why these runs of a sweep are missing.

        Raises:
            StoreError: if the message cannot be written.
        """
        rows = [(message, sweep_id, point, signed(seed)) for point, seed in places]

        def change(connection: Connection) -> None:
            connection.executemany(
                "UPDATE sweep_run SET message = ? WHERE sweep_id = ? AND point = ? AND seed = ?", rows
            )

        self._writing().call(change)


def _record(row: Sequence[Any]) -> SweepRecord:
    return SweepRecord(**read_state("sweep", _FIELDS, row))
