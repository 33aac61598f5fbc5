"""Errors of the store, with the file, the problem and a remedy if known."""

from __future__ import annotations


class StoreError(Exception):
    """Base of every error of the store that is not a bug.

    Attributes:
        path: the database file, or None if the error concerns no file.
        problem: the problem, as a clause without a full stop.
        way_on: remedy for the user, in full sentences; may be empty.
    """

    def __init__(self, problem: str, *, path: str | None = None, way_on: str = "") -> None:
        """Join the parts to one message: 'file: problem. Remedy.'."""
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
    """The file was written by an older Subflow and needs an upgrade, but may not be written."""


class StoreLocked(StoreError):
    """Another process kept the database locked for longer than the busy timeout, or changed the file during a read."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not an SQLite database at all."""


class StoreForeign(StoreError):
    """The file is an intact SQLite database of another program."""


class StoreNewer(StoreError):
    """The file was written by a newer Subflow than this one."""


class StoreFull(StoreError):
    """The disk is too full for the data to be written."""


class StoreMissing(StoreError):
    """The database file is missing or empty and must not be created, or was deleted or replaced after opening."""


class RunNotFound(StoreError):
    """No run, series, training or sweep has the requested number."""


class RunClosed(StoreError):
    """The run accepts no more data: it was finished, or another process closed it because its writer seemed dead."""


class RunBusy(StoreError):
    """The run is still being recorded, and cannot be deleted."""


class StoreClosed(StoreError):
    """The store was used after it had been closed."""
