"""Version 9: recordings that scenarios follow, each stored once for all runs, sweeps and trainings that need it."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import make_immutable, run_script

_OWNERS = ("run", "training", "sweep")


def upgrade(connection: Connection) -> None:
    """Create the tables. Records of older versions keep their recordings in their texts."""
    run_script(connection, _RECORDINGS)
    for owner in _OWNERS:
        run_script(connection, _NEEDED.format(owner=owner))
    make_immutable(connection, ("run_recording",))


_RECORDINGS = """
CREATE TABLE recording (
    id INTEGER NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE, -- SHA-256 of the text, hexadecimal: scenarios name it by that
    data BLOB NOT NULL -- the text, zstd
) STRICT;
CREATE TRIGGER recording_fixed BEFORE UPDATE ON recording
    BEGIN SELECT RAISE(ABORT, 'recordings are immutable'); END;
"""

# Deleting the last owner of a recording deletes the recording.
_NEEDED = """
CREATE TABLE {owner}_recording (
    {owner}_id INTEGER NOT NULL,
    recording_id INTEGER NOT NULL,
    PRIMARY KEY ({owner}_id, recording_id),
    FOREIGN KEY({owner}_id) REFERENCES {owner} (id) ON DELETE CASCADE,
    FOREIGN KEY(recording_id) REFERENCES recording (id)
) STRICT;
CREATE INDEX {owner}_recording_by_recording ON {owner}_recording (recording_id);
CREATE TRIGGER {owner}_recording_last AFTER DELETE ON {owner}_recording BEGIN
    DELETE FROM recording WHERE id = OLD.recording_id
    AND NOT EXISTS (SELECT 1 FROM run_recording WHERE recording_id = OLD.recording_id)
    AND NOT EXISTS (SELECT 1 FROM training_recording WHERE recording_id = OLD.recording_id)
    AND NOT EXISTS (SELECT 1 FROM sweep_recording WHERE recording_id = OLD.recording_id); END;
"""
