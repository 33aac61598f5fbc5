"""Which runs branched off which: read as `Store.forks`, written with the start of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Connection
from types import NoneType
from typing import Any

from subflow_store.damage import row_of, typed
from subflow_store.database import Database
from subflow_store.rows import insert
from subflow_store.values import RunFork

_FIELDS = ("parent_id", "parent_name", "forked_at_s", "difference")
_KINDS = (int, (int, NoneType), str, (float, int), str, str)
_SELECT = f"SELECT run_id, {', '.join(_FIELDS)}, changes FROM run_fork"


class ForkStore:
    """The lineage of the runs of a store. All methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        """For the store."""
        self._database = database

    def origin_of(self, run_id: int) -> RunFork | None:
        """Where a run branched off another one; None if it has a beginning of its own.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = reader.execute(f"{_SELECT} WHERE run_id = ?", (run_id,)).fetchone()
        return None if row is None else _fork(row)

    def of(self, run_id: int) -> dict[int, RunFork]:
        """The runs that branched off a run, by number, the oldest first; deleted ones are not in it.

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
    """The forks among the runs of these numbers, deleted ones too."""
    rows = reader.execute(f"{_SELECT} WHERE run_id BETWEEN ? AND ?", (first, last)).fetchall()
    return {row[0]: _fork(row) for row in rows}


def insert_fork(connection: Connection, run_id: int, fork: RunFork | None) -> None:
    """Note where a run branches off; nothing if it has a beginning of its own."""
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
