"""The database of the window: opened in the background, replaced, copied, and watched for changes by other programs.

The window works without a database. When another program changes the open database, the window reads its lists of runs
again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.foundation.file_kinds import DATABASE_SUFFIXES
from subflow_app.foundation.paths import default_database
from subflow_app.foundation.run_databases import open_database
from subflow_app.toolkit.dialogs import DATABASE_FILTER, Dialogs
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr
from subflow_sim.gate import is_there
from subflow_store import StoreCorrupt, StoreError, StoreReadOnly

if TYPE_CHECKING:
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.workers import Workers
    from subflow_store import Store


_log = logging.getLogger(__name__)


class DatabaseControl(QObject):
    """Owns the open store, and opens, replaces, copies and closes it."""

    opened = Signal(object)  # Store
    failed = Signal(object)  # StoreError of a failed opening; an earlier store remains open
    copied = Signal(object)  # Path
    purged = Signal(int)  # number of removed runs

    def __init__(self, workers: Workers, dialogs: Dialogs, notices: Notices, parent: QObject) -> None:
        """Start without a store."""
        super().__init__(parent)
        self._workers = workers
        self.dialogs = dialogs
        self._notices = notices
        self.store: Store | None = None
        self.wanted: Path | None = None  # the last requested file
        self.damage: StoreCorrupt | None = None  # damage that makes the open store read-only; None if it is sound
        self._guest: Path | None = None  # database given on the command line
        self.is_opening = False  # true while a file is being opened
        self._is_closed = False
        self._waits: list[Callable[[], object]] = []  # functions that wait for the last writers of the replaced store

    @property
    def path(self) -> Path | None:
        """The open file, or the last requested one."""
        return self.store.path if self.store is not None else self.wanted

    @property
    def writable(self) -> Store | None:
        """The open store if it is writable, else None."""
        return self.store if self.can_write else None

    @property
    def can_write(self) -> bool:
        """True if the open store is writable."""
        return self.store is not None and not self.store.is_read_only

    @property
    def is_guest(self) -> bool:
        """True if the open file was given on the command line; the next start opens the usual database again."""
        return self._guest is not None and self.wanted == self._guest

    def start_on(self, path: Path) -> None:
        """Make :meth:`open_first` open this file."""
        self._guest = path.absolute()

    def open_first(self, usual: str | None) -> None:
        """Open the file given on the command line, or else ``usual``; None or "" means the default database."""
        self.open(self._guest or (Path(usual) if usual else None))

    def open(self, path: Path | None = None) -> None:
        """Open a database (None: the default one) in the background; without write permission, it is read-only."""
        wanted = (path or default_database()).absolute()
        self.wanted = wanted
        self.is_opening = True
        self._workers.start(
            "open database",
            lambda: _open(wanted),
            succeeded=lambda opened: self._on_opened(wanted, *opened),
            failed=lambda error: self._on_failed(wanted, error),
        )

    def ask_open(self) -> None:
        """Ask for a new or existing file, and open it."""
        suggested = self.path or default_database()
        path = self.dialogs.database_path(tr("Open or create a database"), suggested)
        if path is not None:
            self._guest = None  # an explicit choice, and so saved in the settings
            self.open(path)

    def ask_save_copy(self) -> None:
        """Ask for a file and copy the whole database to it."""
        store = self.store
        if store is None:
            return
        source = store.path or default_database()
        suggested = source.with_name(f"{source.stem}-copy{DATABASE_SUFFIXES[0]}")
        path = self.dialogs.save_path(tr("Save a copy of the database"), tr(DATABASE_FILTER), suggested)
        if path is not None:
            # If the file exists, the user has already agreed to replace it.
            self._workers.start(
                "copy database",
                lambda: store.save_copy(path, overwrite=True),
                succeeded=lambda _none: self.copied.emit(path),
                failed=lambda error: self._notices.copy_failed(error, self.ask_save_copy),
            )

    def ask_purge(self, *, asks: bool = True) -> None:
        """Remove all deleted runs permanently, after confirmation unless `asks` is False."""
        store = self.store
        if store is not None and (
            not asks
            or self.dialogs.confirm(
                tr("Remove deleted runs"),
                tr("Remove all deleted runs for good?"),
                tr("Their disk space is freed. They cannot be brought back, not even by undo."),
                tr("Remove for good"),
            )
        ):
            refuse = self._notices.history_failed
            self._workers.start("purge database", store.purge_deleted, succeeded=self.purged.emit, failed=refuse)

    def close_after(self, wait: Callable[[], object]) -> None:
        """Keep the store that is being replaced open until ``wait`` returns; to be called by slots of `opened`.

        Args:
            wait: called in a worker thread.
        """
        self._waits.append(wait)

    def close(self) -> None:
        """Close the store; a store that is still being opened is closed once it is open."""
        self._is_closed = True
        if self.store is not None:
            self.store.close()
            self.store = None

    # ---- internals ----

    def _on_opened(self, wanted: Path, store: Store, damage: StoreCorrupt | None) -> None:
        if self._is_closed or wanted != self.wanted:
            store.close()
            return
        self.is_opening = False
        before, self.store = self.store, store
        self.damage = damage
        self.opened.emit(store)
        # Views have released the old store by now.
        waits, self._waits = self._waits, []
        if before is not None:

            def close() -> None:
                for wait in waits:
                    wait()
                before.close()

            # Close it in a worker, after the requested changes, because closing waits for pending writes.
            self._workers.start(
                "close database", close, succeeded=lambda _none: None, failed=self._on_close_failed, in_turn=True
            )

    def _on_close_failed(self, error: Exception) -> None:
        _log.warning("%s", error)

    def _on_failed(self, wanted: Path, error: Exception) -> None:
        if wanted == self.wanted:
            self.is_opening = False
        _log.warning("%s", error)
        if not self._is_closed:
            self.failed.emit(error)


def _open(path: Path) -> tuple[Store, StoreCorrupt | None]:
    """Open a database, read-only if it is damaged or cannot be written; returns the store and the damage, if any.

    Raises:
        StoreError: if the file cannot be opened at all.
    """
    try:
        return open_database(path), None
    except StoreReadOnly:
        if not is_there(path):
            raise
        return open_database(path, read_only=True), None
    except StoreCorrupt as error:
        try:
            return open_database(path, read_only=True), error
        except StoreError:
            raise error from None


_LOOK_MS = 1000  # a change appears within two seconds


class DatabaseWatch(QObject):
    """Checks once a second, in a thread, for changes by other programs; the window's own writes do not count."""

    changed = Signal()

    def __init__(self, database: DatabaseControl, workers: Workers, parent: QObject) -> None:
        """Watch the database that is open at the time of each check."""
        super().__init__(parent)
        self._database = database
        self._workers = workers
        self._store: Store | None = None  # store of the last answer
        self._known: object = None
        self._is_asking = False
        self._timer = timer(self, self.look, _LOOK_MS)
        self._timer.start()

    def stop(self) -> None:
        """Start no more checks; a pending check may still emit `changed`."""
        self._timer.stop()

    def look(self) -> None:
        """Start a check, unless one is pending."""
        store = self._database.store
        if store is None or self._is_asking:
            return
        self._is_asking = True
        self._workers.start(
            "look at database",
            store.changes_by_others,
            succeeded=lambda found: self._on_answer(store, found),
            failed=self._on_failed,
        )

    def _on_answer(self, store: Store, found: object) -> None:
        self._is_asking = False
        # The first answer counts as a change, because the lists may have been read before it.
        is_change = store is not self._store or found != self._known
        self._store, self._known = store, found
        if is_change and store is self._database.store:
            self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        # Readers and writers report the error themselves.
        self._is_asking = False
        _log.debug("the database does not answer: %s", error)
