"""Upgrade of a database file to the schema of this version.

The version is PRAGMA user_version, which SQLite stores in the file's header and changes within the transaction. The
migrations are an explicit list of functions, because a frozen app has no folder of scripts to read at run time.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from subflow_store.damage import Damage, RowError
from subflow_store.errors import StoreError, StoreForeign, StoreNewer, StoreOlder
from subflow_store.files import is_there, make_private, unused_sibling
from subflow_store.migrations import MIGRATIONS

APPLICATION_ID = 0x53464C57
"""PRAGMA application_id of our files: "SFLW". `file(1)` and this program recognise a Subflow database by it."""


_MOST_PARTS = 1000
_TOLD_FIRST = ("view", "trigger", "table", "index")


def head() -> int:
    """The schema version that this program reads and writes."""
    return len(MIGRATIONS)


class Table(NamedTuple):
    """A table in this version.

    Attributes:
        columns: name, declared type and NOT NULL flag of each column.
        keys: the columns of its primary key, in order.
        owner: the column with the run, series, training or sweep of a row; empty if the table has no such column.
        has_rowid: whether its rows have numbers.
    """

    columns: tuple[tuple[str, str, bool], ...]
    keys: tuple[str, ...]
    owner: str
    has_rowid: bool


@cache
def tables_of_head() -> Mapping[str, Table]:
    """The tables in this version, without those of the full-text search."""
    with contextlib.closing(_made(head())) as connection:
        names = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND name NOT LIKE 'run_search%'"
        ).fetchall()
        return {name: _table(connection, name, sql) for name, sql in names}


def _table(connection: Connection, name: str, sql: str) -> Table:
    rows = connection.execute(f"PRAGMA table_info({name})").fetchall()
    columns = tuple((column, kind, bool(is_needed)) for _, column, kind, is_needed, *_ in rows)
    keys = [(place, column) for _, column, _, _, _, place in rows if place]
    owners = ("series_id", "sweep_id", "training_id", "run_id", "id")
    owner = next((each for each in owners if each in {column for column, _, _ in columns}), "")
    if name in ("run", "training", "sweep"):
        owner = "id"
    return Table(columns, tuple(column for _, column in sorted(keys)), owner, "WITHOUT ROWID" not in sql)


def make(connection: Connection, version: int) -> None:
    """Create the schema of a version in an empty database."""
    for migrate in MIGRATIONS[:version]:
        migrate(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")


def _made(version: int) -> Connection:
    """An empty database of a version, in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make(connection, version)
    return connection


@cache
def schema_of(version: int) -> frozenset[tuple[str, str, str]]:
    """Schema of a version: type, name and statement of each table, index and trigger."""
    with contextlib.closing(_made(version)) as connection:
        return _schema(connection)


def has_schema(connection: Connection) -> bool:
    """True if a database has exactly the schema of its version."""
    version = _pragma(connection, "user_version")
    return version <= head() and _schema(connection) == schema_of(version)


def _schema(connection: Connection) -> frozenset[tuple[str, str, str]]:
    # Excludes SQLite's own tables, such as those with statistics. Our schema is small, so a larger one is refused
    # without reading all of it.
    query = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    query += f" LIMIT {_MOST_PARTS}"
    # A damaged page may have bytes or numbers in place of texts.
    found = (tuple(map(str, row)) for row in connection.execute(query).fetchall())
    return frozenset((kind, name, " ".join(sql.split())) for kind, name, sql in found)


def check_version(connection: Connection, label: str) -> int:
    """Return the schema version of an open database; 0 for an empty file.

    The check precedes all other reading: a view in place of a table may be endless, and a trigger may execute anything.

    Raises:
        StoreForeign: if it is a database of another program, or has parts that Subflow did not create.
        StoreNewer: if a newer Subflow wrote it.
        RowError: if a part of the schema of its version is missing.
    """
    version = _pragma(connection, "user_version")
    application_id = _pragma(connection, "application_id")
    if application_id != APPLICATION_ID:
        is_empty = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        if application_id == 0 and version == 0 and is_empty:
            return 0
        raise StoreForeign(
            "this is a database of another program, not of Subflow",
            path=label,
            way_on="Choose another file with --db; this one is left as it is.",
        )
    if version > head():
        raise StoreNewer(
            f"a newer Subflow wrote this database (its schema is version {version}, the newest known is {head()})",
            path=label,
            way_on="Update Subflow, or choose another file with --db.",
        )
    if version < 1:
        raise StoreForeign(
            f"this is not a database that Subflow made: its schema is version {version}, the first is 1",
            path=label,
            way_on="Choose another file with --db; this one is left as it is.",
        )
    _check_schema(connection, version, label)
    return version


def _check_schema(connection: Connection, version: int, label: str) -> None:
    found, made = _schema(connection), schema_of(version)
    if found - made:
        # A damaged page may name a type unknown to SQLite, which comes last.
        kind, name, _sql = min(found - made, key=lambda each: ((*_TOLD_FIRST, each[0]).index(each[0]), each))
        raise StoreForeign(
            f"this is not a database that Subflow made: its {kind} {name!r} is not that of schema version {version}",
            path=label,
            way_on=f"Choose another file with --db; `subflow salvage {label} -o NEW` copies what is sound.",
        )
    if made - found:
        kind, name, _sql = min(made - found)
        raise RowError(Damage("sqlite_schema", "", 0, f"{kind} {name} is missing"))


def check_up_to_date(version: int, label: str) -> None:
    """Refuse a read-only database that would need an upgrade.

    Raises:
        StoreOlder: if the database is older than this program.
    """
    if version < head():
        raise StoreOlder(
            f"this database has to be upgraded first (schema version {version}, needed is {head()})",
            path=label,
            way_on=f"`subflow upgrade {label}` does it, and keeps a copy of the old file next to it.",
        )


def upgrade(connection: Connection, path: Path | None, version: int) -> Path | None:
    """Upgrade the database from `version` to the head in one transaction; a copy of the old file is kept.

    If any step fails, the database is unchanged and no copy remains.

    Args:
        connection: connection to the database, outside a transaction.
        path: the file, or None for a database in memory.
        version: result of `check_version`.

    Returns:
        The copy of the old file; None if the file was empty or in memory, or if another process made the copy.
    """
    backup = _backed_up(connection, path, version) if path is not None and version > 0 else None
    try:
        # Rebuilding a table drops the old one, which must not cascade. The pragma has no effect inside a transaction.
        connection.execute("PRAGMA foreign_keys = OFF")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # reads the version again, because another process may have upgraded the file before the transaction began
            for migrate in MIGRATIONS[check_version(connection, str(path)) :]:
                migrate(connection)
            dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
            if dangling is not None:
                raise AssertionError(f"a migration left a dangling reference: {dangling}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {head()}")
    except BaseException:
        if backup is not None:
            with contextlib.suppress(OSError):
                backup.unlink(missing_ok=True)
        raise
    finally:
        connection.execute("PRAGMA foreign_keys = ON")
    return backup


def _backed_up(connection: Connection, path: Path, version: int) -> Path | None:
    """A complete copy of the database; None if another process has upgraded the file."""
    part = unused_sibling(path)
    try:
        make_private(part)
        connection.execute("VACUUM INTO ?", (str(part),))
        with contextlib.closing(sqlite3.connect(part)) as copied:
            if _pragma(copied, "user_version") != version:
                return None  # another process has upgraded the file, and made the copy
        backup = _unused_backup_path(path, version)
        part.rename(backup)
    except OSError as error:
        raise StoreError(
            f"the old database cannot be copied before the upgrade ({error.strerror})",
            path=str(path),
            way_on="Free some space there, or work on a copy of the file elsewhere.",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return backup


def _unused_backup_path(path: Path, version: int) -> Path:
    """An unused name in the same folder for a copy of the file, e.g. subflow.v1.db, with a number if needed."""
    count = 1
    backup = path.with_name(f"{path.stem}.v{version}{path.suffix}")
    while is_there(backup):
        count += 1
        backup = path.with_name(f"{path.stem}.v{version}-{count}{path.suffix}")
    return backup


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
