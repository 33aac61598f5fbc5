"""Files that are written in one step: whoever reads them, also after a crash, finds the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from uuid import uuid4


def write_whole(target: Path, content: bytes) -> None:
    """Write beside the target, flush to disk, then rename over it; keeps the permissions of the file that was there.

    Raises:
        OSError: if it cannot be written; nothing is left of the attempt.
    """
    # Opened by name rather than by mkstemp, so that a new file gets the permissions that any new file would.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{uuid4().hex[:8]}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
