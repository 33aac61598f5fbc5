"""Undo and redo in a window with several undo stacks."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack


class UndoOrder(QObject):
    """Undo reverts the last change, wherever the focus is; redo repeats the change.

    Undo uses the stack that changed last, either the scenario's or the history's, and the other stack once the first is
    empty. Choosing the stack by the focus was confusing: after a click in the history, undo seemed to have no change to
    revert. Text fields keep the keys for their own text.
    """

    changed = Signal()  # undo_text or redo_text may have changed

    def __init__(self, *stacks: QUndoStack, parent: QObject | None = None) -> None:
        """Use these stacks, none of which has changed yet."""
        super().__init__(parent)
        self._stacks = list(stacks)  # in order of their last change, latest first
        for stack in stacks:
            stack.indexChanged.connect(partial(self._on_changed, stack))
            for signal in (stack.undoTextChanged, stack.redoTextChanged):
                signal.connect(self._tell)

    @property
    def undo_text(self) -> str | None:
        """Text of the change that undo would revert; None if no change can be undone."""
        stack = self._next_to_undo()
        return stack.undoText() if stack is not None else None

    @property
    def redo_text(self) -> str | None:
        """Text of the change that redo would repeat; None if no change can be redone."""
        stack = self._next_to_redo()
        return stack.redoText() if stack is not None else None

    def undo(self) -> None:
        """Revert the last change."""
        stack = self._next_to_undo()
        if stack is not None:
            stack.undo()

    def redo(self) -> None:
        """Repeat the last reverted change."""
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
