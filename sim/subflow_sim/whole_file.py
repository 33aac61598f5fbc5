"""Atomic replacement of files: readers find the old or the new content, even after a crash."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, content: bytes) -> None:
    """Writes to a temporary file, flushes it to disk, then renames it over the target.

    The permissions of an existing file are kept.

    Raises:
        OSError: if the file cannot be written; the existing file remains, and the temporary file is removed.
    """
    # Opened by name instead of mkstemp, so that a new file gets default permissions.
    part = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Flushes a folder to disk, so that a new name in it survives a power failure; does nothing on Windows."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
