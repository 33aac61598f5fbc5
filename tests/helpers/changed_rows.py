"""Rows of finished runs as somebody changes them who takes our triggers away, and puts them back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def changing_rows(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a database whose triggers are away until this is over."""
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        yield connection
        for _, sql in triggers:
            connection.execute(sql)
