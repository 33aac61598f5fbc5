"""SQLite's auxiliary files of a database, and a way to read a database without creating them.

A database in WAL mode has two auxiliary files while it is open: "-wal" with the changes that are not merged yet, and
"-shm", shared memory of its users. The process that opens the database creates them, and they belong to its user. If a
reader without permission to change the database created them, they would lock the owner out until they are removed.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from subflow_store.errors import StoreReadOnly
from subflow_store.files import is_there


class Standing(NamedTuple):
    """Sizes and modification times of a database's files, which reveal changes; None for missing files.

    `is_shared` is True if the -shm file exists.
    """

    file: tuple[int, int] | None
    wal: tuple[int, int] | None
    is_shared: bool


def wal_of(path: Path) -> Path:
    """The file with the unmerged changes of a database."""
    return path.with_name(f"{path.name}-wal")


def shm_of(path: Path) -> Path:
    """The shared-memory file of a database."""
    return path.with_name(f"{path.name}-shm")


def standing_of(path: Path) -> Standing:
    """Current sizes and times of the files of a database."""
    return Standing(_size_and_time(path), _size_and_time(wal_of(path)), is_there(shm_of(path)))


def may_make_files(path: Path) -> bool:
    """True if the database can be written, and auxiliary files would belong to its owner.

    Also true for root, because SQLite sets the owner.
    """
    if not os.access(path, os.W_OK):
        return False
    return os.name == "nt" or os.geteuid() in (0, path.stat().st_uid)


def traceless(path: Path) -> tuple[str, bool]:
    """A way to read a database without creating auxiliary files.

    Returns:
        The URI for SQLite, and True if SQLite would not detect later changes by other processes.

    Raises:
        StoreReadOnly: if the database has changes that cannot be read without creating files.
    """
    if is_there(shm_of(path)):
        return f"{path.as_uri()}?mode=ro&readonly_shm=1", False
    wal = wal_of(path)
    if _has_content(wal):
        raise StoreReadOnly(
            "it was not closed properly, and its folder is read-only",
            path=str(path),
            way_on=f"Copy it together with {wal.name} to a folder that can be written, and open it there.",
        )
    if _has_content(path.with_name(f"{path.name}-journal")):
        return f"{path.as_uri()}?mode=ro", False  # SQLite's locks show if this file is in use
    # Without a -shm file and a journal, no process is changing the database.
    return f"{path.as_uri()}?mode=ro&immutable=1", True


def share_with_group(path: Path) -> None:
    """Give auxiliary files of this user the group of the database, which may belong to another user."""
    if os.name == "nt":
        return
    group = path.stat().st_gid
    for beside in (wal_of(path), shm_of(path)):
        with contextlib.suppress(OSError):
            status = beside.stat()
            if status.st_uid == os.geteuid() and status.st_gid != group:
                os.chown(beside, -1, group)


def in_the_way(path: Path) -> StoreReadOnly | None:
    """An error that names the auxiliary files of another user if they prevent writing; None if no such file exists."""
    files = [beside for beside in (wal_of(path), shm_of(path)) if is_there(beside) and not os.access(beside, os.W_OK)]
    if not files:
        return None
    names = " and ".join(file.name for file in files)
    owners = " and ".join(sorted({_owner_of(file) for file in files}))
    if _has_content(wal_of(path)):
        way_on = "They hold changes: have their owner or an administrator make them writable for you (chmod, chown)."
    else:
        way_on = "They hold no data: once no program has the database open, remove them and try again."
    return StoreReadOnly(f"{names} beside it cannot be written by you (owner: {owners})", path=str(path), way_on=way_on)


def _has_content(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.stat().st_size > 0
    return False


def _size_and_time(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        status = path.stat()
        return status.st_size, status.st_mtime_ns
    return None


def _owner_of(path: Path) -> str:
    with contextlib.suppress(OSError, KeyError, NotImplementedError):
        return path.owner()
    return "another user"
