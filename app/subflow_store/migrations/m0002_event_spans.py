"""Version 2: an index of event chunks by owner and time, so that a window of a stream can be read without the rest."""

from __future__ import annotations

from sqlite3 import Connection

from subflow_store.migrations.script import make_immutable, run_script


def upgrade(connection: Connection) -> None:
    """Create the index; marks of older runs have no rows in the index, and are still read as a whole."""
    run_script(connection, _TABLES)
    make_immutable(connection, ("event_span",))


_TABLES = """
CREATE TABLE event_span (
    run_id INTEGER NOT NULL,
    stream TEXT NOT NULL,
    owner INTEGER NOT NULL, -- its number in event_name
    idx INTEGER NOT NULL, -- the chunk
    n INTEGER NOT NULL, -- rows of this owner in it
    t_first_ns INTEGER NOT NULL, t_last_ns INTEGER NOT NULL,
    PRIMARY KEY (run_id, stream, owner, idx),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) WITHOUT ROWID, STRICT;
"""
