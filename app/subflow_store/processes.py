"""The state of trainings and sweeps, and the process that carries each of them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from sqlite3 import Connection
from types import NoneType
from typing import Any, ClassVar, TypeVar

from subflow_store.damage import row_of, typed
from subflow_store.database import Database
from subflow_store.errors import RunBusy, RunNotFound
from subflow_store.liveness import ProcessIdentity
from subflow_store.rows import age_s, now_text, time_of, update
from subflow_store.values import OPEN_STATES, TRAINING_STATES
from subflow_store.writer import Writer

T = TypeVar("T")


class ProcessStore:
    """A table of trainings or sweeps. Any thread may call its methods."""

    table: ClassVar[str]
    """The name of the table, also used for one of its records in messages."""

    def __init__(self, database: Database, writing: Callable[[], Writer]) -> None:
        """Use the database of the store; ``writing`` returns its writer, or raises StoreReadOnly."""
        self._database = database
        self._writing = writing

    def set_state(self, number: int, state: str, *, message: str = "", process: ProcessIdentity | None = None) -> None:
        """Set the state of a record.

        Args:
            number: number of the record.
            state: one of TRAINING_STATES.
            message: reason of a failure; empty otherwise.
            process: process that carries out the activity; None if no process does.

        Raises:
            RunNotFound: if the number is unknown.
            StoreError: if the state cannot be written.
        """
        self._change(number, state_columns(state, message, process))

    def rename(self, number: int, name: str) -> None:
        """Rename a record.

        Raises:
            RunNotFound: if the number is unknown.
            StoreError: if the name cannot be written.
        """
        self._change(number, {"name": name})

    def delete(self, numbers: Iterable[int]) -> None:
        """Delete records; a training's folder and a sweep's runs are kept. Unknown numbers are ignored.

        Raises:
            StoreError: if the records cannot be deleted.
        """
        rows = [(int(number),) for number in numbers]
        writer = self._writing()

        def remove(connection: Connection) -> None:
            connection.executemany(f"DELETE FROM {self.table} WHERE id = ?", rows)

        if rows:
            writer.call(remove)

    def _change(self, number: int, values: Mapping[str, Any]) -> None:
        def change(connection: Connection) -> None:
            self._check(connection, number)
            update(connection, self.table, number, values)

        self._writing().call(change)

    def _check(self, connection: Connection, number: int) -> None:
        self._found(connection.execute(f"SELECT 1 FROM {self.table} WHERE id = ?", (number,)).fetchone(), number)

    def _found(self, value: T | None, number: int) -> T:
        if value is None:
            raise RunNotFound(
                f"unknown {self.table} {number}",
                path=self._database.label,
                way_on=f"`subflow {self.table}s` lists all {self.table}s.",
            )
        return value


_NUMBER = (float, int)
_MAYBE = (float, int, NoneType)
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(
        ("id", "seed", "steps", "reports_read", "process_pid", "points", "runs", "finished", "failed"), int
    ),
    **dict.fromkeys(("best_step", "best_score", "best_goodput_bps"), _MAYBE),
    "elapsed_s": _NUMBER,
    "parent_id": (int, NoneType),
    "ended_at": (str, NoneType),
}


def state_columns(state: str, message: str, process: ProcessIdentity | None) -> dict[str, Any]:
    """Columns of a row for its state; ValueError for an unknown state."""
    if state not in TRAINING_STATES:
        raise ValueError(f'"{state}" is not one of {", ".join(TRAINING_STATES)}')
    now = now_text()
    ended_at = None if state in OPEN_STATES else now
    return {
        "state": state,
        "message": message,
        "updated_at": now,
        "ended_at": ended_at,
        **process_columns("process", process),
    }


def process_columns(prefix: str, process: ProcessIdentity | None) -> dict[str, Any]:
    """Columns of a row for a process; None means no process."""
    who = ProcessIdentity("", "", 0, "") if process is None else process
    return {f"{prefix}_{name}": getattr(who, name) for name in ("host", "boot", "pid", "started")}


def read_state(table: str, fields: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """A row as a dictionary by column; a running or paused record whose process has ended is interrupted.

    Args:
        table: table of the row.
        fields: columns; process_host, process_boot and process_started follow them and are not in the result.
        row: the values.

    Raises:
        RowError: if the row is damaged.
    """
    with row_of(table, table, row[0]):
        typed([row], *(_KINDS.get(name, str) for name in (*fields, "process_host", "process_boot", "process_started")))
        *_, host, boot, started = row
        values = dict(zip(fields, row[:-3], strict=True))
        for name in ("started_at", "created_at", "updated_at", "ended_at"):
            if name in values:
                values[name] = time_of(values[name])
        if values["updated_at"].tzinfo is None:
            raise ValueError(f"{values['updated_at']} without a time zone")
    if values["state"] in ("running", "paused"):
        age_s = (datetime.now(UTC) - values["updated_at"]).total_seconds()
        if ProcessIdentity(host, boot, values["process_pid"], started).is_gone(age_s):
            values |= {"state": "interrupted", "process_pid": 0, "ended_at": values["updated_at"]}
    return values


def running_runs(connection: Connection) -> dict[int, tuple[ProcessIdentity, bool]]:
    """The writer of each run that is marked as running, by number of the run, and True if the writer has ended."""
    now = datetime.now(UTC)
    query = (
        "SELECT id, heartbeat_at, writer_host, writer_boot, writer_pid, writer_started"
        " FROM run WHERE status = 'running'"
    )
    found = {}
    for run_id, heartbeat_at, *identity in connection.execute(query).fetchall():
        writer = ProcessIdentity(*identity)
        found[run_id] = writer, writer.is_gone(age_s(now, heartbeat_at))
    return found


def refuse_running(connection: Connection, run_ids: Collection[int], label: str) -> None:
    """Refuse to delete runs that are still being recorded.

    Raises:
        RunBusy: if one of the runs is still being recorded.
    """
    for run_id, (writer, is_gone) in running_runs(connection).items():
        if run_id in run_ids and not is_gone:
            raise RunBusy(
                f"run {run_id} is still being recorded by process {writer.pid} on {writer.host}",
                path=label,
                way_on="Stop it or wait for its end, then delete it.",
            )
