"""Upgrade of an older database on request."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from subflow_store.database import BUSY_TIMEOUT_S, Database
from subflow_store.upgrade import head


class Upgraded(NamedTuple):
    """Result of an upgrade.

    Attributes:
        before: version of the schema before the upgrade.
        after: version of the schema now.
        backup: the copy of the old file; None if no upgrade was needed.
    """

    before: int
    after: int
    backup: Path | None


def upgrade_file(path: Path) -> Upgraded:
    """Upgrade a database to the schema of this version, if it is older.

    Raises:
        StoreError: if the file is missing, empty, no Subflow database, or cannot be upgraded; it is then unchanged.
    """
    # Opening for reading checks that the file exists; opening for writing would create it.
    Database(path, read_only=True, busy_timeout_s=BUSY_TIMEOUT_S, any_version=True).close()
    database = Database(path, read_only=False, busy_timeout_s=BUSY_TIMEOUT_S)
    database.close()
    return Upgraded(database.version_found, head(), database.backup)
