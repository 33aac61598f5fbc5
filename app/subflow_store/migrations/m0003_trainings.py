"""Version 3: trainings of agents, with their metrics in chunks and their evaluations."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import run_script


def upgrade(connection: Connection) -> None:
    """Create the tables; unlike runs, trainings stay mutable, because a training may be continued."""
    run_script(connection, _TABLES)


_TABLES = """
CREATE TABLE training (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    scenario_name TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL,
    message TEXT NOT NULL, -- why it failed
    folder TEXT NOT NULL, -- its checkpoints and policies
    version TEXT NOT NULL,
    note TEXT NOT NULL,
    started_at TEXT NOT NULL, updated_at TEXT NOT NULL, ended_at TEXT,
    elapsed_s REAL NOT NULL,
    steps INTEGER NOT NULL,
    best_step INTEGER, best_score REAL, best_goodput_bps REAL,
    policy_hash TEXT NOT NULL, -- of the best policy file
    parent_id INTEGER,
    reports_read INTEGER NOT NULL, -- bytes of the folder's reports that are in here
    process_host TEXT NOT NULL, process_boot TEXT NOT NULL, process_pid INTEGER NOT NULL, -- who trains: liveness.py
    process_started TEXT NOT NULL,
    CONSTRAINT training_state CHECK
    (state IN ('waiting', 'running', 'paused', 'finished', 'stopped', 'failed', 'interrupted')),
    FOREIGN KEY(parent_id) REFERENCES training (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX training_by_parent ON training (parent_id);

CREATE TABLE training_document (
    training_id INTEGER NOT NULL,
    kind TEXT NOT NULL, -- scenario (TOML), config (JSON)
    text TEXT NOT NULL,
    PRIMARY KEY (training_id, kind),
    FOREIGN KEY(training_id) REFERENCES training (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE training_metric (
    training_id INTEGER NOT NULL,
    name TEXT NOT NULL, -- `step` and `elapsed_s` are in every chunk
    idx INTEGER NOT NULL, -- the chunk: the same for all metrics that were reported together
    n INTEGER NOT NULL,
    codec TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (training_id, name, idx),
    FOREIGN KEY(training_id) REFERENCES training (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE training_evaluation (
    training_id INTEGER NOT NULL,
    step INTEGER NOT NULL,
    controller TEXT NOT NULL,
    metric TEXT NOT NULL,
    mean REAL,
    ci95 REAL, -- half width of the 95 % confidence interval of the mean
    n INTEGER NOT NULL, -- seeds
    PRIMARY KEY (training_id, step, controller, metric),
    FOREIGN KEY(training_id) REFERENCES training (id) ON DELETE CASCADE
) WITHOUT ROWID, STRICT;
"""
