"""Room in a database and on its disk: what is deleted goes for good."""

from __future__ import annotations

from sqlite3 import Connection

_PAGES_AT_A_TIME = 2000


def purge(connection: Connection) -> int:
    """Remove deleted runs, but for those that are still running; returns how many."""
    removed = connection.execute("DELETE FROM run WHERE deleted_at IS NOT NULL AND status <> 'running'").rowcount
    connection.execute("DELETE FROM value_key WHERE NOT EXISTS (SELECT 1 FROM run_value WHERE key_id = value_key.id)")
    return removed


def give_space_back(connection: Connection) -> None:
    """Shorten the file by the pages that nothing uses; outside any transaction."""
    pages = -1
    # Piece by piece: pages that move take up space in the -wal file until it is folded in.
    while pages != (pages := connection.execute("PRAGMA freelist_count").fetchone()[0]):
        # Giving back takes a step for each page, and only a script is carried through to its last step.
        connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_A_TIME}); PRAGMA wal_checkpoint(TRUNCATE)")
