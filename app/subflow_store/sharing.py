"""The files that SQLite keeps beside a database, and how to read a database without leaving any to its owner.

A database in WAL mode has two of them while it is open: "-wal" with the changes that are not folded in yet, and "-shm",
by which its users share it. Whoever opens the database makes them, and they belong to him. Made by a reader who may not
change the database, they would lock its owner out until somebody removes them.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from subflow_store.errors import StoreReadOnly
from subflow_store.files import is_there


class Standing(NamedTuple):
    """All by which a database tells from outside that somebody changes it; None for files that are not there."""

    file: tuple[int, int] | None
    wal: tuple[int, int] | None
    is_shared: bool


def wal_of(path: Path) -> Path:
    """The file of a database with the changes that are not folded in yet."""
    return path.with_name(f"{path.name}-wal")


def shm_of(path: Path) -> Path:
    """The file of a database by which its users share it."""
    return path.with_name(f"{path.name}-shm")


def standing_of(path: Path) -> Standing:
    """How a database stands now."""
    return Standing(_size_and_time(path), _size_and_time(wal_of(path)), is_there(shm_of(path)))


def may_make_files(path: Path) -> bool:
    """True if files beside the database belong to its owner; those of root do, as SQLite passes the owner on."""
    if not os.access(path, os.W_OK):
        return False
    return os.name == "nt" or os.geteuid() in (0, path.stat().st_uid)


def traceless(path: Path) -> tuple[str, bool]:
    """How to read a database so that nothing is made beside it.

    Returns:
        The address for SQLite, and whether SQLite does not notice when others begin to change the file.

    Raises:
        StoreReadOnly: if it has changes that only a program that makes files could read.
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
        return f"{path.as_uri()}?mode=ro", False  # SQLite knows by its locks whether this is being written or is left
    # With neither file, nobody has it open.
    return f"{path.as_uri()}?mode=ro&immutable=1", True


def share_with_group(path: Path) -> None:
    """Give the files beside a database its group, where somebody else than its owner has made them by opening it."""
    if os.name == "nt":
        return
    group = path.stat().st_gid
    for beside in (wal_of(path), shm_of(path)):
        with contextlib.suppress(OSError):
            status = beside.stat()
            if status.st_uid == os.geteuid() and status.st_gid != group:
                os.chown(beside, -1, group)


def in_the_way(path: Path) -> StoreReadOnly | None:
    """The error that names the files of somebody else beside a database that keep it from being written; None: none."""
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
    return "somebody else"
