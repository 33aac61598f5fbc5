"""Creates files that only the owner can read, under a temporary name until they are complete."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

PRIVATE = 0o600
"""Mode of new databases: only the owner may read and write them, because they reveal the owner's work."""


def unused_sibling(path: Path) -> Path:
    """An unused file name in the folder of `path`, for a file that replaces `path` when complete."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")


def make_private(path: Path) -> None:
    """Create an empty file for a database if it is missing; SQLite gives its -wal and -shm files the same mode.

    Raises:
        OSError: if the file cannot be created.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))


# Repeated here, because the store must not import the simulator, whose `gate` has the same function.
def is_there(path: Path) -> bool:
    """True if a file or folder has this name; False for a text that is too long for a name."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises OSError for such a text


def is_folder(path: Path) -> bool:
    """True if a folder has this name."""
    return os.path.isdir(path)  # noqa: PTH112
