"""Version 5: the parent run and time of a fork, and its changes."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import run_script


def upgrade(connection: Connection) -> None:
    """Create the table; runs of older versions are not forks.

    The table is not immutable: purging a parent run changes the rows of its forks, which remain.
    """
    run_script(connection, _TABLES)


_TABLES = """
CREATE TABLE run_fork (
    run_id INTEGER NOT NULL,
    parent_id INTEGER, -- unknown once that is purged
    parent_name TEXT NOT NULL,
    forked_at_s REAL NOT NULL,
    difference TEXT NOT NULL, -- in English words
    changes TEXT NOT NULL, -- JSON
    PRIMARY KEY (run_id),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE,
    FOREIGN KEY(parent_id) REFERENCES run (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX run_fork_by_parent ON run_fork (parent_id);
"""
