"""Files of the store: names and modes of those that are made, and the room that deleted runs take.

A file has another name until it is whole, and a database is for its owner alone. Deleted runs are removed for good, and
their room in the database and on its disk is given back.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from sqlite3 import Connection

PRIVATE = 0o600
"""Who may read and write a database that is made: its owner alone, as with all that tells of what somebody did."""


def unused_sibling(path: Path) -> Path:
    """A file name beside `path` that nobody uses, for a file that will take its place when complete."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")


def make_private(path: Path) -> None:
    """Make an empty file for a database, if there is none; SQLite gives its -wal and -shm files the same mode.

    Raises:
        OSError: if it cannot be made.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))


# The store knows no simulator, whose `gate` has the same.
def is_there(path: Path) -> bool:
    """True if a file or folder has this name; a text that is too long for a name has none."""
    return os.path.exists(path)  # noqa: PTH110 - which raises for such a text


def is_folder(path: Path) -> bool:
    """True if a folder has this name."""
    return os.path.isdir(path)  # noqa: PTH112


_PAGES_AT_A_TIME = 2000


def purge(connection: Connection) -> int:
    """Remove deleted runs, but for those that are still running; returns how many."""
    removed = connection.execute("DELETE FROM run WHERE deleted_at IS NOT NULL AND status <> 'running'").rowcount
    connection.execute("DELETE FROM value_key WHERE NOT EXISTS (SELECT 1 FROM run_value WHERE key_id = value_key.id)")
    return removed


def give_space_back(connection: Connection) -> None:
    """Shorten the file by the pages that nothing uses; outside any transaction."""
    pages = -1
    # Piece by piece: pages that move take up space in the -wal file until it is folded in.
    while pages != (pages := connection.execute("PRAGMA freelist_count").fetchone()[0]):
        # Giving back takes a step for each page, and only a script is carried through to its last step.
        connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_A_TIME}); PRAGMA wal_checkpoint(TRUNCATE)")
