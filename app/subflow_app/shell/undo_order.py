"""What Undo and Redo mean in a window with more than one thing that changes."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack


class UndoOrder(QObject):
    """Undo takes back the last change, wherever the focus is; redo makes it again.

    Of its stacks, that of the scenario and that of the history, the one counts that changed last, and the other once
    there is nothing left in it. A stack chosen by the focus would be silent: after a click in the history there seemed
    to be nothing to undo. Fields in which text is being edited keep the keys for that text.
    """

    changed = Signal()  # another change is the next to be taken back or made again, or there is none

    def __init__(self, *stacks: QUndoStack, parent: QObject | None = None) -> None:
        """Of these, none of which has changed yet."""
        super().__init__(parent)
        self._stacks = list(stacks)  # the one that changed last comes first
        for stack in stacks:
            stack.indexChanged.connect(partial(self._on_changed, stack))
            for signal in (stack.undoTextChanged, stack.redoTextChanged):
                signal.connect(self._tell)

    @property
    def undo_text(self) -> str | None:
        """What would be taken back; None if there is nothing."""
        stack = self._next_to_undo()
        return stack.undoText() if stack is not None else None

    @property
    def redo_text(self) -> str | None:
        """What would be made again; None if there is nothing."""
        stack = self._next_to_redo()
        return stack.redoText() if stack is not None else None

    def undo(self) -> None:
        """Takes the last change back."""
        stack = self._next_to_undo()
        if stack is not None:
            stack.undo()

    def redo(self) -> None:
        """Makes the change again that was taken back last."""
        stack = self._next_to_redo()
        if stack is not None:
            stack.redo()

    def _next_to_undo(self) -> QUndoStack | None:
        return next((stack for stack in self._stacks if stack.canUndo()), None)

    def _next_to_redo(self) -> QUndoStack | None:
        return next((stack for stack in self._stacks if stack.canRedo()), None)

    def _on_changed(self, stack: QUndoStack, _index: int) -> None:
        self._stacks.sort(key=lambda each: each is not stack)
        self.changed.emit()

    def _tell(self, _text: str) -> None:
        self.changed.emit()
