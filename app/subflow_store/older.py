"""A database of an older version, upgraded because somebody asks for that."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from subflow_store.database import BUSY_TIMEOUT_S, Database
from subflow_store.upgrade import head


class Upgraded(NamedTuple):
    """What became of a file that was to be upgraded.

    Attributes:
        before: the version of its schema until then.
        after: the version now.
        backup: the copy of the file as it was; None if it was of this version.
    """

    before: int
    after: int
    backup: Path | None


def upgrade_file(path: Path) -> Upgraded:
    """Upgrade a database to the schema of this version, if it is older.

    Raises:
        StoreError: if it is missing, empty, none of ours, or cannot be upgraded; it is as it was then.
    """
    # Which does not make a new one where there is none.
    Database(path, read_only=True, busy_timeout_s=BUSY_TIMEOUT_S, any_version=True).close()
    database = Database(path, read_only=False, busy_timeout_s=BUSY_TIMEOUT_S)
    database.close()
    return Upgraded(database.version_found, head(), database.backup)
