"""Opens a database file, manages its connections, and converts SQLite's errors to errors of the store.

The writer thread owns the only write connection, and each reading thread has a read-only connection. A database in
memory has one connection for all threads, and a lock in place of SQLite's isolation.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from subflow_store import sharing, upgrade
from subflow_store.codec import CodecError
from subflow_store.damage import RowError, is_damage, primary_code
from subflow_store.errors import (
    RunClosed,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreReadOnly,
)
from subflow_store.files import is_folder, is_there, make_private, unused_sibling

IN_MEMORY = ":memory:"

BUSY_TIMEOUT_S = 5.0
"""Default of the longest wait for a lock of another process, s."""

_HEADER = b"SQLite format 3\0"
COPY_PAGE_BYTES = 8192
"""Page size of copies: summaries of runs have a few kB, and pages of 4 kB would leave a tenth more space unused."""

_LOOK_INTERVAL_S = 0.5  # a check is cheap, but reading a run would make a hundred of them
_STEPS_WITHOUT_PYTHON = 2_000_000  # instructions of SQLite's virtual machine, about 20 ms
_ELSEWHERE = "Choose another file with --db, or save the run as CSV."


class Database:
    """An open database, checked and upgraded.

    Attributes:
        label: name in messages: the path, or ":memory:".
        path: the file; None in memory.
        read_only: whether it was opened read-only.
        version_found: for a file opened for writing, the version of its schema before the upgrade.
        backup: the copy of the file from before the upgrade; None without an upgrade.
        is_alone: whether the disk is too full for SQLite's auxiliary files, so that all threads share one connection
            without them. Only changes that free space are then possible.
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        read_only: bool,
        busy_timeout_s: float,
        any_version: bool = False,
    ) -> None:
        """Open the database, creating or upgrading the file if needed.

        Args:
            target: the file, or ":memory:".
            read_only: change nothing.
            busy_timeout_s: longest wait for a lock of another process.
            any_version: whether an older file is opened without an upgrade in read-only mode.

        Raises:
            StoreError: a subclass, if the file cannot be used.
        """
        is_memory = os.fspath(target) == IN_MEMORY
        self.path: Path | None = None if is_memory else Path(target).expanduser().absolute()
        self.label = IN_MEMORY if self.path is None else str(self.path)
        self.read_only = read_only
        self.version_found = upgrade.head()
        self.backup: Path | None = None
        # used only in memory or without auxiliary files
        self.write_lock: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        self._busy_timeout_s = busy_timeout_s
        self._readers: dict[threading.Thread, _Reader] = {}
        self._readers_lock = threading.Condition()
        self._n_readings = 0
        self._watching: sqlite3.Connection | None = None
        self._standing: sharing.Standing | None = None  # set if SQLite would not detect writes of other processes
        self.is_alone = False
        self._is_open = True
        self.write_connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._looked_at = 0.0
        with self.translated():
            if self.path is None:
                self._open_in_memory()
            elif read_only:
                self._open_for_reading(self.path, any_version=any_version)
            else:
                self._open_for_writing(self.path)
        if self.path is not None:
            self._file = _identity(self.path)

    # Opening

    def _open_in_memory(self) -> None:
        # With a shared cache or the memdb VFS, each thread could have its own connection, but then a reader in a loop
        # can block the writer for seconds, and vice versa. One connection and a fair lock suffice.
        self.write_lock = threading.RLock()
        self.write_connection = self._connect("file::memory:")
        self.write_connection.execute("PRAGMA trusted_schema = ON")
        upgrade.upgrade(self.write_connection, None, 0)

    def _open_for_reading(self, path: Path, *, any_version: bool) -> None:
        if not is_there(path):
            raise StoreMissing("no such file", path=self.label, way_on="Check the name.")
        _check_header(path)
        # mode rw, because ro could not remove the -shm file when the last connection closes
        self._reading_uri = f"{path.as_uri()}?mode=rw"
        if not sharing.may_make_files(path):
            self._read_traceless(path)
        try:
            version = self._version()
        except sqlite3.OperationalError as error:
            cannot_share = primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or is_full(error)
            if self._standing is not None or not cannot_share:
                raise
            # On a medium that is read-only or full, the file is read without auxiliary files.
            self._read_traceless(path)
            version = self._version()
        if version == 0:
            raise StoreMissing(
                "the file is empty", path=self.label, way_on="The first run that is kept in it makes it a database."
            )
        if not any_version:
            upgrade.check_up_to_date(version, self.label)

    def _open_for_writing(self, path: Path) -> None:
        provide_folder(path)
        _check_header(path)
        if is_there(path) and not os.access(path, os.W_OK):
            raise self._unwritable()  # SQLite would silently open it read-only, and fail at the first change
        try:
            make_private(path)
        except OSError as error:
            raise StoreError(
                f"the file cannot be created ({error.strerror})", path=self.label, way_on=_ELSEWHERE
            ) from error
        try:
            self._open_shared(path)
        except sqlite3.OperationalError as error:
            if not is_full(error):
                raise
            self._open_alone(path, error)

    def _open_shared(self, path: Path) -> None:
        """Open for writing, shared with other processes."""
        connection = self._connect(f"{path.as_uri()}?mode=rw")
        try:
            version = upgrade.check_version(connection, self.label)
            # trusted, because the schema is ours and its triggers update the search index
            connection.execute("PRAGMA trusted_schema = ON")
            if version == 0:
                # Only an empty file accepts this mode; purging can then free space without rewriting the file.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._use_wal(connection)
            # safe with WAL: a power cut loses recent changes, but does not damage the file
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < upgrade.head():
                self.backup = upgrade.upgrade(connection, path, version)
            self.version_found = version
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # creates the auxiliary files
            sharing.share_with_group(path)
        except BaseException:
            connection.close()
            raise
        self.write_connection = connection
        self.write_lock = contextlib.nullcontext()
        self.is_alone = False
        self._reading_uri = f"{path.as_uri()}?mode=ro"

    def _open_alone(self, path: Path, full: Exception) -> None:
        """Open for writing on a full disk, without auxiliary files; changes go directly into the file.

        A power cut during a change would damage the file, so this mode is only for freeing space. The alternative,
        reserving disk space, would need an additional file for each database.

        Raises:
            Exception: `full`, if the file needs an upgrade or its journal mode cannot be changed.
        """
        connection = self._connect(f"{path.as_uri()}?mode=rw")
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            journal = connection.execute("PRAGMA journal_mode = MEMORY").fetchone()[0]
            if journal != "memory" or upgrade.check_version(connection, self.label) != upgrade.head():
                raise full
            connection.execute("PRAGMA trusted_schema = ON")
            # The file is now in a mode without auxiliary files: other processes may read it, and write in the same
            # mode.
            connection.execute("PRAGMA locking_mode = NORMAL")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        self.write_connection = connection
        self.write_lock = threading.RLock()  # one connection for all threads, as in memory
        self.is_alone = True

    def work_alone(self) -> None:
        """Continue without auxiliary files, to free space on a full disk.

        Raises:
            StoreFull: if other threads are reading.
        """
        self._reopen(is_alone=True)

    def share_again(self) -> None:
        """Reopen the file normally after work without auxiliary files.

        Raises:
            StoreFull: if the disk still lacks the space, or other threads are reading.
        """
        self._reopen(is_alone=False)

    def _reopen(self, *, is_alone: bool) -> None:
        full = sqlite3.OperationalError("database or disk is full")
        with self.translated(), self._readers_lock:
            path, before = self.path, self.write_connection
            is_free = self._readers_lock.wait_for(lambda: self._n_readings == 0, self._busy_timeout_s)
            if path is None or before is None or not is_free:
                raise self._full(full)
            was_alone = self.is_alone
            while self._readers:
                self._readers.popitem()[1].connection.close()
            before.close()
            try:
                self._open_alone(path, full) if is_alone else self._open_shared(path)
            except sqlite3.OperationalError:
                self._open_alone(path, full) if was_alone else self._open_shared(path)
                raise

    def _read_traceless(self, path: Path) -> None:
        standing = sharing.standing_of(path)
        self._reading_uri, is_unnoticed = sharing.traceless(path)
        self._standing = standing if is_unnoticed else None

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Turn write-ahead logging on, so that readers and the writer never wait for each other."""
        if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            return
        # The switch needs exclusive access, for which SQLite does not wait with its busy timeout.
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _version(self) -> int:
        with contextlib.closing(self._connect(self._reading_uri)) as connection:
            return upgrade.check_version(connection, self.label)

    def _connect(self, uri: str) -> sqlite3.Connection:
        # isolation_level None: only explicit BEGIN starts a transaction, not the first change. Only one thread at a
        # time uses a connection, but it need not be the opening thread.
        connection = sqlite3.connect(
            uri, uri=True, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        # Python handles signals only between its own instructions, so a long statement calls this handler periodically.
        connection.set_progress_handler(lambda: 0, _STEPS_WITHOUT_PYTHON)
        return connection

    # Reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Provide the calling thread's connection for reading.

        Raises:
            StoreError: for errors of SQLite and codecs, usually a subclass.
        """
        self.check_file()
        with self.write_lock, self.translated():
            self._look_for_changes()
            reader = self._reader()
            try:
                yield reader.connection
            except Exception as error:
                if self._has_changed(reader):
                    raise self._changed() from error
                raise
            finally:
                with self._readers_lock:
                    self._n_readings -= 1
                    self._readers_lock.notify_all()
            if self._has_changed(reader):
                raise self._changed()

    def _look_for_changes(self) -> None:
        """Open new connections if other processes have written and SQLite would not detect it."""
        if self._standing is None or self.path is None:
            return
        with self._readers_lock:
            if sharing.standing_of(self.path) != self._standing:
                self._read_traceless(self.path)

    def _has_changed(self, reader: _Reader) -> bool:
        """True if another process wrote while this one read; the data read may then mix two states of the file."""
        return (
            reader.standing is not None
            and self.path is not None
            and (sharing.standing_of(self.path).file != reader.standing.file)
        )

    def _changed(self) -> StoreError:
        return StoreLocked("another program wrote to it while it was read", path=self.label, way_on="Try again.")

    def check_file(self, *, at_most_every_s: float = _LOOK_INTERVAL_S) -> None:
        """Check that the file is still at its path.

        SQLite does not detect that the file was deleted or replaced: it continues to use the open descriptor, and its
        changes are lost when the program ends.

        Args:
            at_most_every_s: time after a successful check within which the next check is skipped, s.

        Raises:
            StoreMissing: if the file is missing, or was replaced.
        """
        if self._file is None or self.path is None or time.monotonic() - self._looked_at < at_most_every_s:
            return
        found = _identity(self.path)
        if found == self._file:
            self._looked_at = time.monotonic()
            return
        raise StoreMissing(
            "the file is gone: it was deleted, renamed, or its drive was disconnected"
            if found is None
            else "another file has taken its place since it was opened",
            path=self.label,
            way_on="Put it back and try again, or choose another file; runs that are in memory can be saved there.",
        )

    def _reader(self) -> _Reader:
        """The reader of the calling thread, which is counted as reading from now on."""
        thread = threading.current_thread()
        with self._readers_lock:
            if not self._is_open:
                raise StoreClosed("the store is closed", path=self.label)
            if self.path is None or self.is_alone:
                assert self.write_connection is not None
                reader = _Reader(self.write_connection, None, "")
            else:
                for gone in [each for each in self._readers if not each.is_alive()]:
                    self._readers.pop(gone).connection.close()
                found = self._readers.get(thread)
                if found is not None and found[1:] != (self._standing, self._reading_uri):
                    self._readers.pop(thread).connection.close()
                    found = None
                reader = found or _Reader(self._connect(self._reading_uri), self._standing, self._reading_uri)
                self._readers[thread] = reader
            self._n_readings += 1
            return reader

    def changes_by_others(self) -> object:
        """A value that changes whenever another connection changes the file; None in memory.

        For a file open for writing, only the writing thread may call this.
        """
        if self.path is None:
            return None
        with self.translated(), self._readers_lock:
            if self._standing is not None:
                return sharing.standing_of(self.path)
            if self.write_connection is None and self._watching is None and self._is_open:
                self._watching = self._connect(self._reading_uri)
            connection = self.write_connection or self._watching
            return None if connection is None else connection.execute("PRAGMA data_version").fetchone()

    # Copying and closing

    def save_copy(self, path: str | os.PathLike[str], *, overwrite: bool) -> None:
        """Write a complete copy to another file; see `Store.save_copy`."""
        target = Path(path).expanduser().absolute()
        if target == self.path:
            raise StoreError("a copy cannot take the place of its original", path=str(target))
        if is_there(target) and not overwrite:
            raise StoreError("the file exists already", path=str(target), way_on="Choose another name.")
        part = unused_sibling(target)
        provide_folder(target)
        try:
            make_private(part)
            with self.reading() as reader:
                reader.execute(f"PRAGMA page_size = {COPY_PAGE_BYTES}")
                reader.execute("VACUUM INTO ?", (str(part),))
            part.replace(target)
        except OSError as error:
            raise StoreError(
                f"the copy cannot be written ({error.strerror})", path=str(target), way_on="Choose another place."
            ) from error
        except StoreFull as error:
            # The message must name the copy, not the database from which it was read.
            raise StoreFull(error.problem, path=str(target), way_on="Choose another place.") from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def close(self) -> None:
        """Close all connections. The write connection, closed last, merges the -wal file into the database."""
        with self._readers_lock:
            self._is_open = False
            readers, self._readers = [reader.connection for reader in self._readers.values()], {}
            watching, self._watching = self._watching, None
        for connection in (*readers, watching):
            if connection is not None:
                connection.close()
        if self.write_connection is not None:
            self.write_connection.close()

    # Errors

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Within this context, convert errors of SQLite, damaged data and lack of memory to StoreError."""
        try:
            yield
        except (sqlite3.Error, CodecError, RowError, UnicodeDecodeError, MemoryError) as error:
            explained = self.explain(error)
            if explained is error:
                raise
            raise explained from error

    def explain(self, error: Exception) -> Exception:
        """The StoreError that explains an error of SQLite to the user; an unexpected error is returned unchanged."""
        if is_damage(error):
            return self._corrupt(str(error))
        if isinstance(error, MemoryError):
            return self._no_memory(error)
        make = _EXPLANATIONS.get(primary_code(error) or -1)
        explained = None if make is None else make(self, error)
        return error if explained is None else explained

    def _corrupt(self, detail: str) -> StoreError:
        return StoreCorrupt(
            f"the database is damaged ({detail})",
            path=self.label,
            way_on=f"`subflow check {self.label}` shows what is lost; `subflow salvage {self.label} -o NEW`"
            " copies what is sound. The damaged file is left as it is.",
        )

    def _mistaken(self, error: Exception) -> StoreError | None:
        # A statement that SQLite cannot compile is a bug of Subflow, unless the file has other tables.
        if self.path is None:
            return None
        try:
            with contextlib.closing(self._connect(self._reading_uri)) as connection:
                is_sound = upgrade.has_schema(connection)
        except (sqlite3.Error, UnicodeDecodeError):
            is_sound = False
        return None if is_sound else self._corrupt(str(error))

    def _no_memory(self, _error: Exception) -> StoreError:
        return StoreError("not enough memory", path=self.label, way_on="Close other programs and try again.")

    def _locked(self, _error: Exception) -> StoreError:
        return StoreLocked(
            f"another program has kept it locked for more than {self._busy_timeout_s:g} s",
            path=self.label,
            way_on="Close that program and try again, or choose another file with --db.",
        )

    def _unwritable(self, _error: Exception | None = None) -> StoreError:
        blocked = None if self.path is None else sharing.in_the_way(self.path)
        return blocked or StoreReadOnly("the file or its folder cannot be written", path=self.label, way_on=_ELSEWHERE)

    def _unopenable(self, error: Exception) -> StoreError:
        # SQLite also reports "cannot open" if it may not create its -wal and -shm files.
        if self.path is not None and (sharing.in_the_way(self.path) or not os.access(self.path.parent, os.W_OK)):
            return self._unwritable(error)
        return StoreError(f"the file cannot be opened ({error})", path=self.label, way_on=_ELSEWHERE)

    def _full(self, _error: Exception) -> StoreError:
        return StoreFull(
            "no space left to write",
            path=self.label,
            way_on="Free some space, choose a file on another disk with --db, or save the run as CSV.",
        )

    def _failed_io(self, error: Exception) -> StoreError:
        if is_full(error):
            return self._full(error)
        return StoreError(f"reading or writing failed ({error})", path=self.label, way_on=_ELSEWHERE)

    def _refused(self, error: Exception) -> StoreError | None:
        if "immutable" in str(error):  # text of our triggers
            return RunClosed("the run is closed and takes no more data", path=self.label)
        return None


_EXPLANATIONS: dict[int, Callable[[Database, Exception], StoreError | None]] = {
    sqlite3.SQLITE_BUSY: Database._locked,
    sqlite3.SQLITE_LOCKED: Database._locked,
    sqlite3.SQLITE_READONLY: Database._unwritable,
    sqlite3.SQLITE_PERM: Database._unwritable,
    sqlite3.SQLITE_CANTOPEN: Database._unopenable,
    sqlite3.SQLITE_FULL: Database._full,
    sqlite3.SQLITE_IOERR: Database._failed_io,
    sqlite3.SQLITE_ERROR: Database._mistaken,
    sqlite3.SQLITE_NOMEM: Database._no_memory,
    sqlite3.SQLITE_PROTOCOL: Database._locked,
    sqlite3.SQLITE_CONSTRAINT: Database._refused,
}
"""Explanations by primary result code of SQLite. Codes that indicate damage are handled earlier; any code missing here
is a bug of Subflow.
"""


class _Reader(NamedTuple):
    """A connection for reading, and the state of the file at its opening if SQLite does not detect changes."""

    connection: sqlite3.Connection
    standing: sharing.Standing | None
    uri: str


def is_full(error: Exception) -> bool:
    """True if an error of SQLite means that the disk is full."""
    # The second condition is true if the shared-memory file could not grow.
    return primary_code(error) == sqlite3.SQLITE_FULL or (
        getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE
    )


def provide_folder(path: Path) -> None:
    """Create the folder of a file to be written.

    Raises:
        StoreError: if `path` is itself a folder, or its folder cannot be created.
        StoreReadOnly: if the folder may not be made or written.
    """
    if is_folder(path):
        raise StoreError("this is a folder, not a file", path=str(path), way_on="Give the name of a file in it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        kind = StoreReadOnly if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else StoreError
        raise kind(f"its folder cannot be created ({error.strerror})", path=str(path), way_on=_ELSEWHERE) from error
    if not os.access(path.parent, os.W_OK):
        raise StoreReadOnly("its folder cannot be written", path=str(path), way_on=_ELSEWHERE)


def _identity(path: Path) -> tuple[int, int] | None:
    """Identity of the file at a path; None if the file is missing or its drive does not respond."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_header(path: Path) -> None:
    """Check that an existing file is empty or begins as an SQLite database; a missing file is accepted.

    Raises:
        StoreError: if it cannot be read, or is a pipe or a character device.
        StoreCorrupt: if it begins differently.
    """
    try:
        # Opening a pipe would wait for a writer.
        if stat.S_ISFIFO(path.stat().st_mode) or stat.S_ISCHR(path.stat().st_mode):
            raise StoreError("it is not a regular file", path=str(path), way_on=_ELSEWHERE)
        with path.open("rb") as file:
            start = file.read(len(_HEADER))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"the file cannot be read ({error.strerror})", path=str(path), way_on=_ELSEWHERE) from error
    if start and start != _HEADER:
        raise StoreCorrupt(
            "this is not a database, or its beginning is damaged",
            path=str(path),
            way_on="Choose another file with --db; this one is left as it is.",
        )
