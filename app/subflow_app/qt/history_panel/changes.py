"""Changes of stored runs, each of which can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

if TYPE_CHECKING:
    from subflow_store import Store


class HistoryCommand(QUndoCommand):
    """A change of stored runs, made when the command is; a database that refuses leaves it as it is."""

    def __init__(self, text: str, do: Callable[[], bool], undo: Callable[[], bool]) -> None:
        """Makes the change; ``do`` and ``undo`` tell whether they succeeded."""
        super().__init__(text)
        self._do = do
        self._undo = undo
        self.is_done = do()
        self._is_first = True

    def redo(self) -> None:
        """Makes the change again."""
        if self._is_first:
            self._is_first = False
        elif not self.is_done:
            self.is_done = self._do()

    def undo(self) -> None:
        """Takes the change back."""
        if self.is_done:
            self.is_done = not self._undo()


def change_tags(store: Store, added: Sequence[tuple[int, str]], removed: Sequence[tuple[int, str]]) -> None:
    """Puts tags on runs and takes others off."""
    for run_id, tag in added:
        store.add_tag(run_id, tag)
    for run_id, tag in removed:
        store.remove_tag(run_id, tag)
