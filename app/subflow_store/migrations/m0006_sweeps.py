"""Version 6: sweeps, the runs that belong to them, and keys for finding existing runs."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import run_script


def upgrade(connection: Connection) -> None:
    """Create the tables; runs of older versions have no key and belong to no sweep.

    A sweep and its runs are independent: deleting one leaves the other.
    """
    run_script(connection, _TABLES)


_TABLES = """
CREATE TABLE sweep (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    "plan" TEXT NOT NULL, -- TOML, with its scenario in it
    version TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT NOT NULL, -- why it failed
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, ended_at TEXT,
    process_host TEXT NOT NULL, process_boot TEXT NOT NULL, process_pid INTEGER NOT NULL, -- who is at it: liveness.py
    process_started TEXT NOT NULL,
    CONSTRAINT sweep_state CHECK
    (state IN ('waiting', 'running', 'paused', 'finished', 'stopped', 'failed', 'interrupted'))
) STRICT;

CREATE TABLE sweep_point (
    sweep_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    parameters TEXT NOT NULL, -- JSON: key -> text as the scenario has it
    PRIMARY KEY (sweep_id, idx),
    FOREIGN KEY(sweep_id) REFERENCES sweep (id) ON DELETE CASCADE
) WITHOUT ROWID, STRICT;

CREATE TABLE sweep_run (
    sweep_id INTEGER NOT NULL,
    point INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    run_id INTEGER,
    message TEXT NOT NULL, -- why there is no run
    PRIMARY KEY (sweep_id, point, seed),
    FOREIGN KEY(sweep_id) REFERENCES sweep (id) ON DELETE CASCADE,
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE SET NULL
) WITHOUT ROWID, STRICT;
CREATE INDEX sweep_run_by_run ON sweep_run (run_id);

CREATE TABLE run_key (
    run_id INTEGER NOT NULL,
    "key" TEXT NOT NULL, -- runs of the same key are the same, bit for bit
    has_traces INTEGER NOT NULL,
    PRIMARY KEY (run_id),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX run_key_by_key ON run_key ("key");
"""
