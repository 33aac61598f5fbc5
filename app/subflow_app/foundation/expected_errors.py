"""Expected errors, which are shown as one sentence; all other errors are bugs in Subflow."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from subflow_app.foundation.errors import AppError

_WORLD = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO", "EMFILE", "ENFILE", "ENAMETOOLONG", "EFBIG")
    if hasattr(errno, name)
)
# Messages of the other errors that library loaders and threads raise when memory runs out.
_SHORT_OF_MEMORY = re.compile(r"failed to map segment|[Cc]annot allocate memory|can't start new thread")
_PART = re.compile(r"^\.(.+)\.[0-9a-f]{8}\.part$")


def is_expected(error: BaseException) -> bool:
    """True if an error was caused by the input, the machine or a file rather than by a bug."""
    if is_short_of_memory(error) or is_of_the_system(error):
        return True
    # Imported late, because `subflow --help` needs none of these packages.
    from subflow_agents.errors import AgentError
    from subflow_sim.errors import SimError
    from subflow_store.errors import StoreError

    return isinstance(error, AppError | AgentError | SimError | StoreError)


def message_of(error: BaseException) -> str:
    """The message of an expected error, for users.

    For a lack of memory or a removed working folder, it includes a remedy; for other system errors, the file.
    """
    if is_short_of_memory(error):
        return "not enough memory: close other programs, or ask for less"
    if isinstance(error, OSError) and is_of_the_system(error):
        if _is_working_folder_gone():
            return "the folder in which this program works was removed: change to another one and try again"
        found = error.filename2 or error.filename
        if not isinstance(found, str | bytes):
            return f"the system refuses: {error.strerror}"
        file = Path(os.fsdecode(found))
        # An incomplete file has a temporary name; show its final name.
        shown = file.with_name(_PART.sub(r"\1", file.name)) if file.name else file
        return f"{shown}: {error.strerror}"
    return str(error)


def is_short_of_memory(error: BaseException) -> bool:
    """True if an error means that memory ran out, also while loading a library or starting a thread."""
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    return isinstance(error, MemoryError) or (
        isinstance(error, ImportError | RuntimeError | OSError) and _SHORT_OF_MEMORY.search(str(error)) is not None
    )


def is_of_the_system(error: BaseException) -> bool:
    """True if the system refused an operation, e.g. because the disk is full or a folder is not writable."""
    return isinstance(error, OSError) and (
        error.errno in _WORLD or (isinstance(error, FileNotFoundError) and _is_working_folder_gone())
    )


def _is_working_folder_gone() -> bool:
    try:
        Path.cwd()
    except OSError:
        return True
    return False
