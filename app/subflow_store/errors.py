"""What the store raises when the world says no: each error names the file, what is wrong and a way on."""

from __future__ import annotations


class StoreError(Exception):
    """Base of every error of the store that is not a bug.

    Attributes:
        path: the database file, or None when the error concerns no file.
        problem: what is wrong, as a clause without a full stop.
        way_on: what the user can do now, as full sentences; may be empty.
    """

    def __init__(self, problem: str, *, path: str | None = None, way_on: str = "") -> None:
        """Join the parts to one message: 'file: problem. Way on.'."""
        super().__init__(problem, path, way_on)
        self.path = path
        self.problem = problem
        self.way_on = way_on

    def __str__(self) -> str:
        """The whole message for a dialog or for stderr."""
        head = f"{self.path}: {self.problem}" if self.path else self.problem
        return f"{head}. {self.way_on}" if self.way_on else head


class StoreReadOnly(StoreError):
    """The file, its folder or its file system cannot be written, or the store was opened read-only."""


class StoreOlder(StoreReadOnly):
    """The file was written by an older Subflow and has to be upgraded, where nothing may be written."""


class StoreLocked(StoreError):
    """Another process kept the database locked for longer than the busy timeout."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not an SQLite database at all."""


class StoreForeign(StoreError):
    """The file is a sound SQLite database, but of another program."""


class StoreNewer(StoreError):
    """The file was written by a newer Subflow than this one."""


class StoreFull(StoreError):
    """There is no space left for what was to be written."""


class StoreMissing(StoreError):
    """The database file does not exist and was not to be created."""


class RunNotFound(StoreError):
    """No run or series has the id that was asked for."""


class RunClosed(StoreError):
    """The run takes no more data: it was finished, or another process found its writer gone and closed it."""


class RunBusy(StoreError):
    """The run is still being recorded, and cannot be deleted."""


class StoreClosed(StoreError):
    """The store was used after it had been closed."""
