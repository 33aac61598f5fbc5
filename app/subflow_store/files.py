"""Files that are made: under another name until they are whole, and for nobody else's eyes."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

PRIVATE = 0o600
"""Who may read and write a database that is made: its owner alone, as with all that tells of what somebody did."""


def unused_sibling(path: Path) -> Path:
    """A file name beside `path` that nobody uses, for a file that will take its place when complete."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")


def make_private(path: Path) -> None:
    """Make an empty file for a database, if there is none; SQLite gives its -wal and -shm files the same mode.

    Raises:
        OSError: if it cannot be made.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))


# The store knows no simulator, whose `gate` has the same.
def is_there(path: Path) -> bool:
    """True if a file or folder has this name; a text that is too long for a name has none."""
    return os.path.exists(path)  # noqa: PTH110 - which raises for such a text


def is_folder(path: Path) -> bool:
    """True if a folder has this name."""
    return os.path.isdir(path)  # noqa: PTH112
