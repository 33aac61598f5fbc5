"""Bringing a database file to the schema of this version.

The version mark is PRAGMA user_version, which SQLite keeps in the file's header and changes within the transaction. The
migrations are an explicit list of functions: a folder of scripts read at run time is not there in a frozen app.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from sqlite3 import Connection

from subflow_store.errors import StoreForeign, StoreNewer, StoreReadOnly
from subflow_store.migrations import MIGRATIONS

APPLICATION_ID = 0x53464C57
"""PRAGMA application_id of our files: "SFLW". `file(1)` and we tell by it a Subflow database from any other."""


def head() -> int:
    """The schema version this program reads and writes."""
    return len(MIGRATIONS)


def check_version(connection: Connection, label: str) -> int:
    """Tell the schema version of an open database; 0 is a file with nothing in it.

    Raises:
        StoreForeign: if it is a database of another program.
        StoreNewer: if a newer Subflow wrote it.
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
            f"a newer Subflow wrote this database (its schema is version {version}, this program knows {head()})",
            path=label,
            way_on="Update Subflow, or choose another file with --db.",
        )
    return version


def check_up_to_date(version: int, label: str) -> None:
    """Refuse a database that would have to be upgraded where nothing may be written.

    Raises:
        StoreReadOnly: if it is older than this program.
    """
    if version < head():
        raise StoreReadOnly(
            f"this database has to be upgraded first (schema version {version}, needed is {head()})",
            path=label,
            way_on="Open it once for writing, or work on a copy of the file.",
        )


def upgrade(connection: Connection, path: Path | None, version: int) -> None:
    """Bring the database from `version` to the head in one transaction; the file as it was is kept beside it.

    If any step fails, nothing has changed and no copy is left.

    Args:
        connection: to the database, outside a transaction.
        path: the file, or None for a database in memory.
        version: what `check_version` said.
    """
    backup = None
    if path is not None and version > 0:
        backup = _unused_backup_path(path, version)
        connection.execute("VACUUM INTO ?", (str(backup),))
    try:
        # Rebuilding a table drops the old one, which must not cascade. The pragma has no effect inside a transaction.
        connection.execute("PRAGMA foreign_keys = OFF")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            for migrate in MIGRATIONS[check_version(connection, str(path)) :]:  # another process may have come first
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


def _unused_backup_path(path: Path, version: int) -> Path:
    """A name beside the file for its copy, e.g. subflow.v1.db, counted up while it is taken."""
    count = 1
    backup = path.with_name(f"{path.stem}.v{version}{path.suffix}")
    while backup.exists():
        count += 1
        backup = path.with_name(f"{path.stem}.v{version}-{count}{path.suffix}")
    return backup


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
