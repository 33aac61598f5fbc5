"""Version 7: outcomes of the arena, one per entrant and network."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import run_script


def upgrade(connection: Connection) -> None:
    """Create the table. Outcomes belong to no stored run, because their runs can be reproduced."""
    run_script(connection, _TABLE)


_TABLE = """
CREATE TABLE arena_outcome (
    "key" TEXT NOT NULL, -- outcomes of the same key are the same: of network, entry, seed and version
    entrant TEXT NOT NULL, -- what people call it
    entry TEXT NOT NULL, -- hash of controller, options and policy
    network TEXT NOT NULL,
    version TEXT NOT NULL,
    made_at TEXT NOT NULL,
    result TEXT NOT NULL, -- JSON
    PRIMARY KEY ("key")
) WITHOUT ROWID, STRICT;
"""
