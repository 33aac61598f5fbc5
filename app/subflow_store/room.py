"""Permanent removal of deleted runs, and release of their disk space."""

from __future__ import annotations

from sqlite3 import Connection

_PAGES_AT_A_TIME = 2000


def purge(connection: Connection) -> int:
    """Remove deleted runs, except running ones; returns their number."""
    removed = connection.execute("DELETE FROM run WHERE deleted_at IS NOT NULL AND status <> 'running'").rowcount
    connection.execute("DELETE FROM value_key WHERE NOT EXISTS (SELECT 1 FROM run_value WHERE key_id = value_key.id)")
    return removed


def give_space_back(connection: Connection) -> None:
    """Shorten the file by its unused pages; must run outside a transaction."""
    pages = -1
    # In pieces, because moved pages take up space in the -wal file until it is merged.
    while pages != (pages := connection.execute("PRAGMA freelist_count").fetchone()[0]):
        # The statement makes one step per page, and only executescript runs it to the last step.
        connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_A_TIME}); PRAGMA wal_checkpoint(TRUNCATE)")
