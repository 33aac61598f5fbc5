"""Files that are written in one step: whoever reads them, also after a crash, finds the old one or the new one."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the target, flush to disk, then rename over it; keeps the permissions of the file that was there.

    Raises:
        OSError: if it cannot be written; what was there still is, and nothing of the attempt.
    """
    # Opened by name rather than by mkstemp, so that a new file gets the permissions that any new file would.
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
    """Make a new name in a folder survive a power cut, where the system lets folders be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
