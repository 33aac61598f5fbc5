"""Changes rows of finished runs after removing the triggers of the store, and restores the triggers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def changing_rows(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a database without its triggers, which return at the end."""
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        yield connection
        for _, sql in triggers:
            connection.execute(sql)
