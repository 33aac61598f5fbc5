"""Changes to stored runs, made one after another in a separate thread; each can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from subflow_app.toolkit.workers import Workers

if TYPE_CHECKING:
    from subflow_store import Store

Change = Callable[["Store"], object]

# Short enough that a change and the new list, for which the window waits up to 60 ms, together appear within 100 ms.
_PATIENCE_MS = 30


class HistoryCommand(QUndoCommand):
    """A change to stored runs as an undo step; it is pending until the database has answered."""

    def __init__(self, text: str, do: Change, undo: Change, changes: RunChanges) -> None:
        """Create a change without executing it."""
        super().__init__(text)
        self._do = do
        self._undo = undo
        self._changes = changes
        self._is_first = True
        self.is_done = False
        self.was_done = False  # True if the change was made at any time

    def redo(self) -> None:
        """Make the change again; the first call, made by the undo stack, does nothing because the change is pending."""
        if self._is_first:
            self._is_first = False
        else:
            self._changes.bring(self, True)

    def undo(self) -> None:
        """Undo the change in a worker."""
        self._changes.bring(self, False)

    def work(self, store: Store, is_wanted: bool) -> None:
        """Make or undo the change in a worker, unless it is in this state already."""
        if self.is_done is not is_wanted:
            (self._do if is_wanted else self._undo)(store)
            self.is_done = is_wanted
            self.was_done = True


class RunChanges(QObject):
    """Executes the changes of one history in order, and keeps its undo stack consistent with the database."""

    changed = Signal()  # the list is outdated, or a change was refused
    failed = Signal(object)  # StoreError
    waiting = Signal()  # a change takes longer than `patience_ms`
    all_done = Signal(bool)  # no change is pending; True if all succeeded

    def __init__(self, stack: QUndoStack, workers: Workers, parent: QObject) -> None:
        """Start without changes."""
        super().__init__(parent)
        self.patience_ms = _PATIENCE_MS
        self._stack = stack
        self._workers = workers
        self._store: Store | None = None
        self._count = 0  # number of pending changes
        self._was_refused = False

    @property
    def is_busy(self) -> bool:
        """True if changes are pending."""
        return self._count > 0

    def set_store(self, store: Store | None) -> None:
        """Use a different store for new changes; changes pending in the previous store are still made."""
        # Commands for the old database must not touch runs with the same numbers in the new one.
        self._stack.clear()
        self._store = store

    def make(self, text: str, do: Change, undo: Change, then: Callable[[HistoryCommand], None] | None = None) -> None:
        """Make a change, which becomes an undo step unless the database refuses it.

        Args:
            text: description of the change.
            do: makes the change; called in a worker.
            undo: undoes the change; called in a worker.
            then: called with the undo step after a successful change.
        """
        if self._store is None:
            return
        command = HistoryCommand(text, do, undo, self)
        is_over: list[bool] = []

        def on_end(is_made: bool) -> None:
            is_over.append(is_made)
            if is_made and then is not None:
                then(command)

        self._start(command, True, on_end)
        # A pending change is pushed as well; undoing it takes effect after the change has been made.
        if is_over != [False]:
            self._stack.push(command)

    def bring(self, command: HistoryCommand, is_wanted: bool) -> None:
        """Make or undo a change, unless it is already in this state."""
        if self.is_busy or command.is_done is not is_wanted:
            self._start(command, is_wanted, lambda _is_made: None)

    def _start(self, command: HistoryCommand, is_wanted: bool, on_end: Callable[[bool], None]) -> None:
        store = self._store
        if store is None:
            return
        self._count += 1

        def on_made(_none: None) -> None:
            self._count -= 1
            if store is self._store:
                self.changed.emit()
                on_end(True)
            self._tell_end()

        def on_failed(error: Exception) -> None:
            self._count -= 1
            self._was_refused = True
            if store is self._store:
                on_end(False)
                self.changed.emit()
            self.failed.emit(error)
            self._tell_end()

        task = self._workers.start(
            "change runs",
            lambda: command.work(store, is_wanted),
            succeeded=on_made,
            failed=on_failed,
            patience_ms=self.patience_ms,
            in_turn=True,
        )
        if not task.isFinished():
            self.waiting.emit()

    def _tell_end(self) -> None:
        if self.is_busy:
            return
        was_refused, self._was_refused = self._was_refused, False
        if was_refused:
            # Delayed, because the stack may be in the middle of calling a command.
            QTimer.singleShot(0, self, self._mend_stack)
        self.all_done.emit(not was_refused)

    def _mend_stack(self) -> None:
        """Move the undo stack to match the state of the runs, and remove changes that were never made."""
        stack = self._stack
        while not self.is_busy and isinstance(command := stack.command(stack.index() - 1), HistoryCommand):
            if command.is_done:
                break
            command.setObsolete(not command.was_done)
            stack.undo()
        while not self.is_busy and isinstance(command := stack.command(stack.index()), HistoryCommand):
            if not command.is_done:
                break
            stack.redo()


def change_tags(store: Store, added: Sequence[tuple[int, str]], removed: Sequence[tuple[int, str]]) -> None:
    """Add and remove tags of runs."""
    for run_id, tag in added:
        store.add_tag(run_id, tag)
    for run_id, tag in removed:
        store.remove_tag(run_id, tag)
