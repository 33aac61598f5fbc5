"""Version 8: searches for networks in which a claim fails, with the networks tried and the counterexamples found."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import run_script


def upgrade(connection: Connection) -> None:
    """Create the tables. The networks tried belong to no stored run, because their runs can be reproduced."""
    run_script(connection, _TABLES)


_TABLES = """
CREATE TABLE search (
    search_id INTEGER PRIMARY KEY,
    "key" TEXT NOT NULL UNIQUE, -- searches of the same key are the same: of claim, space, entry, seed and version
    claim TEXT NOT NULL, -- what people call it
    space TEXT NOT NULL,
    entrant TEXT NOT NULL,
    version TEXT NOT NULL, -- of the simulator
    made_at TEXT NOT NULL,
    elapsed_s REAL NOT NULL, -- time that was spent on it
    document TEXT NOT NULL -- JSON: claim and space as they were written, the seed
) STRICT;

CREATE TABLE search_generation (
    search_id INTEGER NOT NULL REFERENCES search (search_id) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0
    points BLOB NOT NULL, -- 64-bit floats, little-endian: a row of numbers for each network
    margins BLOB NOT NULL, -- 64-bit floats: one for each network
    niches BLOB NOT NULL, -- bytes: a row for each network
    PRIMARY KEY (search_id, number)
) WITHOUT ROWID, STRICT;

CREATE TABLE search_find (
    search_id INTEGER NOT NULL REFERENCES search (search_id) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0, the worst first
    document TEXT NOT NULL, -- JSON: the scenario, the sentence, what confirms it
    PRIMARY KEY (search_id, number)
) WITHOUT ROWID, STRICT;
"""
