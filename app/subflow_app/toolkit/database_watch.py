"""Notices what other programs change in the open database, so that its lists are read again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.toolkit.widgets.shorthand import timer

if TYPE_CHECKING:
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.workers import Workers
    from subflow_store import Store

_log = logging.getLogger(__name__)

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
