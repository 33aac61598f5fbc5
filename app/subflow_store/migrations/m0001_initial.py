"""Version 1: runs, their tags and documents, sampled series in chunks with pyramids, event streams, search.

WORKAROUND(SQLite 3.37, that of Ubuntu 22.04): a STRICT table with a BEFORE UPDATE trigger refuses whole numbers in its
REAL columns, so `run` and `series`, which have both, are not STRICT.
"""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import make_immutable, run_script


def upgrade(connection: Connection) -> None:
    """Create all tables, indexes and triggers."""
    run_script(connection, _TABLES)
    run_script(connection, _SEARCH)
    run_script(connection, _FIXED)
    make_immutable(connection, ("run_document", "series", "event_chunk", "event_name"))
    make_immutable(connection, ("chunk", "pyramid"), _OF_FINISHED_SERIES)


_TABLES = """
CREATE TABLE run (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, -- that of a purged run is never given to another
    name TEXT NOT NULL,
    scenario_name TEXT NOT NULL,
    controllers TEXT NOT NULL,
    seed INTEGER NOT NULL,
    duration_s REAL NOT NULL,
    warmup_s REAL NOT NULL,
    sample_interval_s REAL NOT NULL,
    mss_bytes INTEGER NOT NULL,
    profile TEXT NOT NULL,
    version TEXT NOT NULL,
    status TEXT NOT NULL,
    signature TEXT NOT NULL,
    started_at TEXT NOT NULL, ended_at TEXT,
    wall_s REAL,
    simulated_s REAL NOT NULL,
    packets INTEGER, goodput_bps REAL, mean_rtt_s REAL, jain REAL,
    note TEXT NOT NULL,
    deleted_at TEXT,
    writer_host TEXT NOT NULL, writer_boot TEXT NOT NULL, writer_pid INTEGER NOT NULL, -- who writes it: liveness.py
    writer_started TEXT NOT NULL, heartbeat_at TEXT NOT NULL,
    CONSTRAINT run_status CHECK (status IN ('running', 'finished', 'stopped', 'failed', 'interrupted'))
);
-- Opening a store looks for running runs: a partial index holds nothing else, mostly nothing at all.
CREATE INDEX run_running ON run (id) WHERE status = 'running';

CREATE TABLE run_document (
    run_id INTEGER NOT NULL,
    kind TEXT NOT NULL, -- scenario (TOML), summary (JSON), machine (JSON)
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, kind),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE run_tag (
    run_id INTEGER NOT NULL,
    tag TEXT COLLATE "NOCASE" NOT NULL,
    PRIMARY KEY (run_id, tag),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) WITHOUT ROWID, STRICT;
CREATE INDEX run_tag_by_tag ON run_tag (tag);

CREATE TABLE series (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run_id INTEGER NOT NULL,
    scope TEXT NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL,
    unit TEXT NOT NULL,
    t0_s REAL NOT NULL, dt_s REAL NOT NULL, n INTEGER NOT NULL,
    dtype TEXT NOT NULL, codec TEXT NOT NULL, chunk_samples INTEGER NOT NULL,
    vmin REAL, vmax REAL, mean REAL,
    UNIQUE (run_id, scope, owner, name),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);

CREATE TABLE chunk (
    series_id INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    n INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (series_id, idx),
    FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE pyramid (
    series_id INTEGER NOT NULL,
    level INTEGER NOT NULL,
    n INTEGER NOT NULL, -- groups; the blob holds their n minima, then their n maxima
    codec TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (series_id, level),
    FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE event_chunk (
    run_id INTEGER NOT NULL,
    stream TEXT NOT NULL, -- one of streams.STREAMS
    idx INTEGER NOT NULL,
    field TEXT NOT NULL, -- one row for each column of the stream
    n INTEGER NOT NULL,
    codec TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run_id, stream, idx, field),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE event_name (
    run_id INTEGER NOT NULL,
    stream TEXT NOT NULL,
    field TEXT NOT NULL,
    idx INTEGER NOT NULL, -- what the field's numbers stand for
    name TEXT NOT NULL,
    PRIMARY KEY (run_id, stream, field, idx),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) STRICT;
"""

# Full-text index over the fields that users remember of a run, updated by triggers.
_SEARCH = """
CREATE VIRTUAL TABLE run_search USING fts5(name, scenario_name, controllers, note, tags,
    tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE TRIGGER run_search_insert AFTER INSERT ON run BEGIN
    INSERT INTO run_search (rowid, name, scenario_name, controllers, note, tags)
    VALUES (NEW.id, NEW.name, NEW.scenario_name, NEW.controllers, NEW.note, ''); END;
CREATE TRIGGER run_search_update AFTER UPDATE OF name, note ON run BEGIN
    UPDATE run_search SET name = NEW.name, note = NEW.note WHERE rowid = NEW.id; END;
CREATE TRIGGER run_search_delete AFTER DELETE ON run BEGIN DELETE FROM run_search WHERE rowid = OLD.id; END;
CREATE TRIGGER run_search_tag_insert AFTER INSERT ON run_tag BEGIN
    UPDATE run_search SET tags = coalesce((SELECT group_concat(tag, ' ') FROM run_tag
    WHERE run_id = NEW.run_id), '') WHERE rowid = NEW.run_id; END;
CREATE TRIGGER run_search_tag_delete AFTER DELETE ON run_tag BEGIN
    UPDATE run_search SET tags = coalesce((SELECT group_concat(tag, ' ') FROM run_tag
    WHERE run_id = OLD.run_id), '') WHERE rowid = OLD.run_id; END;
"""

# In an ended run, only name, note, tags and deletion mark can change.
_FIXED = """
CREATE TRIGGER run_fixed BEFORE UPDATE OF id, scenario_name, controllers, seed, duration_s, warmup_s, sample_interval_s,
    mss_bytes, profile, version, status, signature, started_at, ended_at, wall_s, simulated_s, packets, goodput_bps,
    mean_rtt_s, jain, writer_host, writer_boot, writer_pid, writer_started, heartbeat_at ON run
    WHEN OLD.status <> 'running' BEGIN SELECT RAISE(ABORT, 'finished runs are immutable'); END;
CREATE TRIGGER run_kept BEFORE DELETE ON run WHEN OLD.deleted_at IS NULL OR OLD.status = 'running'
    BEGIN SELECT RAISE(ABORT, 'only deleted runs can be purged'); END;
"""

_OF_FINISHED_SERIES = (
    "EXISTS (SELECT 1 FROM series JOIN run ON run.id = series.run_id"
    " WHERE series.id = {row}.series_id AND run.status <> 'running')"
)
