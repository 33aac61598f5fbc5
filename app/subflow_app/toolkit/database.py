"""The database of the window: opened in the background, replaced, copied, and watched for changes from outside.

The window works without a database. When another program changes the open database, its lists are read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.foundation.file_kinds import DATABASE_SUFFIXES
from subflow_app.foundation.paths import default_database
from subflow_app.toolkit.dialogs import DATABASE_FILTER, Dialogs
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr
from subflow_sim.gate import is_there
from subflow_store import StoreCorrupt, StoreError, StoreReadOnly, open_store

if TYPE_CHECKING:
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.workers import Workers
    from subflow_store import Store


_log = logging.getLogger(__name__)


class DatabaseControl(QObject):
    """Owns the open store."""

    opened = Signal(object)  # Store
    failed = Signal(object)  # StoreError: it could not be opened; the store before, if any, stays
    copied = Signal(object)  # Path
    purged = Signal(int)  # how many runs are gone for good

    def __init__(self, workers: Workers, dialogs: Dialogs, notices: Notices, parent: QObject) -> None:
        """No store yet."""
        super().__init__(parent)
        self._workers = workers
        self.dialogs = dialogs
        self._notices = notices
        self.store: Store | None = None  # the open store
        self.wanted: Path | None = None  # the file that was last asked for
        self.damage: StoreCorrupt | None = None  # why the open store is open for reading alone
        self._guest: Path | None = None  # what the program was started on
        self.is_opening = False  # whether a file is being opened right now
        self._is_closed = False
        self._waits: list[Callable[[], object]] = []  # for whoever still writes to the store that is replaced

    @property
    def path(self) -> Path | None:
        """The file that is open, or that was to be opened."""
        return self.store.path if self.store is not None else self.wanted

    @property
    def writable(self) -> Store | None:
        """The open store, if runs can be kept and changed in it."""
        return self.store if self.can_write else None

    @property
    def can_write(self) -> bool:
        """Whether runs can be kept and changed."""
        return self.store is not None and not self.store.is_read_only

    @property
    def is_guest(self) -> bool:
        """Whether the program was started on the file that is open: the next start opens the usual one again."""
        return self._guest is not None and self.wanted == self._guest

    def start_on(self, path: Path) -> None:
        """Has :meth:`open_first` open this file."""
        self._guest = path.absolute()

    def open_first(self, usual: str | None) -> None:
        """Opens what the program was started on, else the usual file, by default the user's own."""
        self.open(self._guest or (Path(usual) if usual else None))

    def open(self, path: Path | None = None) -> None:
        """Opens a database, the user's own by default; a file that cannot be written is opened for reading."""
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
        """Asks for a file, which may be new, and opens it."""
        suggested = self.path or default_database()
        path = self.dialogs.database_path(tr("Open or create a database"), suggested)
        if path is not None:
            self._guest = None  # chosen, and so remembered
            self.open(path)

    def ask_save_copy(self) -> None:
        """Asks for a file and writes a copy of the whole database to it."""
        store = self.store
        if store is None:
            return
        source = store.path or default_database()
        suggested = source.with_name(f"{source.stem}-copy{DATABASE_SUFFIXES[0]}")
        path = self.dialogs.save_path(tr("Save a copy of the database"), tr(DATABASE_FILTER), suggested)
        if path is not None:
            # The file dialog has asked whether an existing file may go.
            self._workers.start(
                "copy database",
                lambda: store.save_copy(path, overwrite=True),
                succeeded=lambda _none: self.copied.emit(path),
                failed=lambda error: self._notices.copy_failed(error, self.ask_save_copy),
            )

    def ask_purge(self, *, asks: bool = True) -> None:
        """Removes all deleted runs for good, if the person means it."""
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
        """Keeps the store that is being replaced open until this returns; for those who hear `opened`.

        Args:
            wait: called in a worker thread.
        """
        self._waits.append(wait)

    def close(self) -> None:
        """Closes the store; one that is still being opened is closed when it arrives."""
        self._is_closed = True
        if self.store is not None:
            self.store.close()
            self.store = None

    # ---- inside ----

    def _on_opened(self, wanted: Path, store: Store, damage: StoreCorrupt | None) -> None:
        if self._is_closed or wanted != self.wanted:
            store.close()
            return
        self.is_opening = False
        before, self.store = self.store, store
        self.damage = damage
        self.opened.emit(store)
        # Views have let go of the old store only now.
        waits, self._waits = self._waits, []
        if before is not None:

            def close() -> None:
                for wait in waits:
                    wait()
                before.close()

            # After the changes that were asked for, and not here: closing waits for what is still to be written.
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
    """Opens for writing if possible; a file on a read-only disk, or a damaged one, can still be looked at."""
    try:
        return open_store(path), None
    except StoreReadOnly:
        if not is_there(path):
            raise
        return open_store(path, read_only=True), None
    except StoreCorrupt as error:
        try:
            return open_store(path, read_only=True), error
        except StoreError:
            raise error from None


_LOOK_MS = 1000  # a person sees it within two seconds


class DatabaseWatch(QObject):
    """Asks the database in a thread, once a second; what this window itself writes does not count."""

    changed = Signal()

    def __init__(self, database: DatabaseControl, workers: Workers, parent: QObject) -> None:
        """Watches whatever database is opened."""
        super().__init__(parent)
        self._database = database
        self._workers = workers
        self._store: Store | None = None  # of which the last answer is
        self._known: object = None
        self._is_asking = False
        self._timer = timer(self, self.look, _LOOK_MS)
        self._timer.start()

    def stop(self) -> None:
        """Asks no more."""
        self._timer.stop()

    def look(self) -> None:
        """Asks, unless the answer before is still to come."""
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
        # The first answer is no earlier than what the lists have read, and may be later.
        is_change = store is not self._store or found != self._known
        self._store, self._known = store, found
        if is_change and store is self._database.store:
            self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        # Whoever reads or writes is told of it.
        self._is_asking = False
        _log.debug("the database does not answer: %s", error)
