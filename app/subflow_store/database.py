"""One database file: opening it, its connections, and turning SQLite's errors into ours.

There is one write connection, which the writer thread owns, and one read-only connection for each thread that reads.
A database in memory has a single connection behind all of them, and a lock in place of SQLite's own isolation.
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
"""How long to wait for another process to let go of a file, if nothing else is said."""

_HEADER = b"SQLite format 3\0"
_COPY_PAGE_BYTES = 8192  # summaries of runs have a few kB: on pages of 4 kB a tenth more stays empty
_LOOK_INTERVAL_S = 0.5  # a look at the file costs little, but reading a run reads a hundred times
_STEPS_WITHOUT_PYTHON = 2_000_000  # some 20 ms
_ELSEWHERE = "Choose another file with --db, or save the run as CSV."


class Database:
    """An open database, checked and brought up to date.

    Attributes:
        label: what messages call it: the path, or ":memory:".
        path: the file, or None in memory.
        read_only: whether it was opened for reading alone.
        version_found: of a file that was opened for writing, the version of its schema before it was upgraded.
        backup: the copy of the file as it was then, if it was upgraded.
        is_alone: whether the disk was too full for the files beside it, and all threads share one connection without
            them. What makes room can be written then.
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        read_only: bool,
        busy_timeout_s: float,
        any_version: bool = False,
    ) -> None:
        """Open it, creating or upgrading the file where needed.

        Args:
            target: the file, or ":memory:".
            read_only: change nothing.
            busy_timeout_s: how long to wait for another process to let go of the file.
            any_version: whether an older file is opened as it is, where nothing may be changed.

        Raises:
            StoreError: one of its kinds, if the file cannot be used.
        """
        is_memory = os.fspath(target) == IN_MEMORY
        self.path: Path | None = None if is_memory else Path(target).expanduser().absolute()
        self.label = IN_MEMORY if self.path is None else str(self.path)
        self.read_only = read_only
        self.version_found = upgrade.head()
        self.backup: Path | None = None
        self.write_lock: contextlib.AbstractContextManager[object] = contextlib.nullcontext()  # of one in memory alone
        self._busy_timeout_s = busy_timeout_s
        self._readers: dict[threading.Thread, _Reader] = {}
        self._readers_lock = threading.Condition()
        self._n_readings = 0
        self._watching: sqlite3.Connection | None = None
        self._standing: sharing.Standing | None = None  # where SQLite would not notice that others write
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
        # Shared cache or the memdb VFS would give every thread its own connection, but there a reader in a loop can
        # lock the writer out for seconds, and the other way round. One connection and a fair turn each is enough.
        self.write_lock = threading.RLock()
        self.write_connection = self._connect("file::memory:")
        self.write_connection.execute("PRAGMA trusted_schema = ON")
        upgrade.upgrade(self.write_connection, None, 0)

    def _open_for_reading(self, path: Path, *, any_version: bool) -> None:
        if not is_there(path):
            raise StoreMissing("no such file", path=self.label, way_on="Check the name.")
        _check_header(path)
        self._reading_uri = f"{path.as_uri()}?mode=rw"  # not ro: as the last one it could not clear the -shm file away
        if not sharing.may_make_files(path):
            self._read_traceless(path)
        try:
            version = self._version()
        except sqlite3.OperationalError as error:
            cannot_share = primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or is_full(error)
            if self._standing is not None or not cannot_share:
                raise
            # On a medium that cannot be written, or is full, the file is read as it stands.
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
            raise self._unwritable()  # SQLite would open it silently for reading, and fail at the first change
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
        """Open for writing, beside others."""
        connection = self._connect(f"{path.as_uri()}?mode=rw")
        try:
            version = upgrade.check_version(connection, self.label)
            connection.execute("PRAGMA trusted_schema = ON")  # it is ours, and its triggers keep the search up to date
            if version == 0:
                # Only an empty file takes this one; purging then gives space back without rewriting the file.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")  # safe with WAL: a power cut loses, never breaks
            if version < upgrade.head():
                self.backup = upgrade.upgrade(connection, path, version)
            self.version_found = version
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # from here on its files are there
            sharing.share_with_group(path)
        except BaseException:
            connection.close()
            raise
        self.write_connection = connection
        self.write_lock = contextlib.nullcontext()
        self.is_alone = False
        self._reading_uri = f"{path.as_uri()}?mode=ro"

    def _open_alone(self, path: Path, full: Exception) -> None:
        """Open for writing where no file beside it can be made for want of space: changes go into the file at once.

        A loss of power in the middle of a change would damage the file, so this is for making room alone. A reserve of
        space instead would have to be a file of its own beside each database.

        Raises:
            Exception: `full`, if the file has to be upgraded or checked first, which takes space.
        """
        connection = self._connect(f"{path.as_uri()}?mode=rw")
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            journal = connection.execute("PRAGMA journal_mode = MEMORY").fetchone()[0]
            if journal != "memory" or upgrade.check_version(connection, self.label) != upgrade.head():
                raise full
            connection.execute("PRAGMA trusted_schema = ON")
            # The file is of a mode now that needs no files beside it: others may read, and write in the same way.
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
        """Go on without files beside the database, to make room on a full disk.

        Raises:
            StoreFull: if others read.
        """
        self._reopen(is_alone=True)

    def share_again(self) -> None:
        """Open the file as usual again, after work without files beside it.

        Raises:
            StoreFull: if the disk still has no space for that.
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
        """Turn write-ahead logging on: readers never wait for the writer, nor the writer for them."""
        if connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            return
        # The switch needs the file for itself, and SQLite does not wait for that by its busy timeout.
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
        # isolation_level None: transactions begin where we say so, not before the first change. Connections are used
        # by one thread at a time, but not always by the one that opened them.
        connection = sqlite3.connect(
            uri, uri=True, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        # Signals reach Python between two of its own steps alone: a long statement makes some.
        connection.set_progress_handler(lambda: 0, _STEPS_WITHOUT_PYTHON)
        return connection

    # Reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The calling thread's connection for reading; SQLite's and the codecs' errors leave as ours.

        Raises:
            StoreError: one of its kinds.
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
        """Where SQLite does not notice them: begin anew, with connections that see what others have written since."""
        if self._standing is None or self.path is None:
            return
        with self._readers_lock:
            if sharing.standing_of(self.path) != self._standing:
                self._read_traceless(self.path)

    def _has_changed(self, reader: _Reader) -> bool:
        """True if another process wrote during the reading, whose result may mix two states of the file."""
        return (
            reader.standing is not None
            and self.path is not None
            and (sharing.standing_of(self.path).file != reader.standing.file)
        )

    def _changed(self) -> StoreError:
        return StoreLocked("another program wrote to it while it was read", path=self.label, way_on="Try again.")

    def check_file(self, *, at_most_every_s: float = _LOOK_INTERVAL_S) -> None:
        """See whether the file is still where it was opened.

        SQLite would not notice: a file that was deleted or replaced is still read and written through the open
        descriptor, and what is written there is gone with the program.

        Raises:
            StoreMissing: if it is gone, or another one is in its place.
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
        """The one of the calling thread; it counts as reading from here on."""
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
        """Something that differs from what it was before whenever another connection has changed the file.

        Of a file that is open for writing, the writing thread has to ask.
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

    # Closing

    def save_copy(self, path: str | os.PathLike[str], *, overwrite: bool) -> None:
        """Write all of it to another file; see `Store.save_copy`."""
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
                reader.execute(f"PRAGMA page_size = {_COPY_PAGE_BYTES}")
                reader.execute("VACUUM INTO ?", (str(part),))
            part.replace(target)
        except OSError as error:
            raise StoreError(
                f"the copy cannot be written ({error.strerror})", path=str(target), way_on="Choose another place."
            ) from error
        except StoreFull as error:
            # It is the copy that the user has to hear of, not the file that was read.
            raise StoreFull(error.problem, path=str(target), way_on="Choose another place.") from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def close(self) -> None:
        """Close all connections, the write connection last: it then folds the -wal file into the database."""
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
        """Turn errors of SQLite and the codecs raised inside into StoreError; others pass unchanged."""
        try:
            yield
        except (sqlite3.Error, CodecError, RowError, UnicodeDecodeError, MemoryError) as error:
            explained = self.explain(error)
            if explained is error:
                raise
            raise explained from error

    def explain(self, error: Exception) -> Exception:
        """The StoreError that says what an error of SQLite means for the user; our own bugs come back unchanged."""
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
        # A statement that SQLite cannot make sense of is a bug of ours, unless the tables are not those that we made.
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
        # "Cannot open" is also what SQLite says when it may not make its -wal and -shm files.
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
        if "immutable" in str(error):  # what our triggers say
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
"""What each primary result code of SQLite means here; a code that is missing is a bug of ours."""


class _Reader(NamedTuple):
    """A connection for reading, and how the file stood when it was opened if SQLite does not notice changes."""

    connection: sqlite3.Connection
    standing: sharing.Standing | None
    uri: str


def is_full(error: Exception) -> bool:
    """True if an error of SQLite means that the disk has no space."""
    # The second: its shared-memory file could not grow.
    return primary_code(error) == sqlite3.SQLITE_FULL or (
        getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE
    )


def provide_folder(path: Path) -> None:
    """Make the folder of a file that is to be written.

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
    """What tells the file at a path from any other; None if there is none, or its drive does not answer."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_header(path: Path) -> None:
    """See at once whether an existing file is a SQLite database at all; an empty one will become one.

    Raises:
        StoreError: if it cannot be read.
        StoreCorrupt: if it is something else.
    """
    try:
        # The opening of a pipe would wait for somebody who writes.
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
