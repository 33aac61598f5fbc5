"""Every edit of a scenario as a step that can be undone.

A command makes its edit when it is constructed, so that an edit that is refused raises there and never reaches the undo
stack; the `redo` that pushing causes does nothing the first time. Undoing puts the text from before back, byte for
byte: a scenario is a few kilobytes, and the inverse of each kind of edit could not promise as much for comments and
spacing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtGui import QUndoCommand, QUndoStack

from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.core.scenario_edits import Edited
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.language import tr, trn

_EDIT_ID = 1


class EditCommand(QUndoCommand):
    """One edit of a document, or several of the same thing in a row.

    Args:
        doc: what is edited.
        text: what the undo menu calls it, e.g. `change wifi rate`.
        edit: calls one mutator of the document.
        session: commands with the same text and the same session other than 0 become one step. A session is as long as
            one gesture: from the moment a field gets the focus until it loses it, or one run of arrow keys.
    """

    def __init__(self, doc: ScenarioDoc, text: str, edit: Callable[[], Change], session: int = 0) -> None:
        super().__init__(text)
        self._doc = doc
        self._session = session
        self._before = doc.text
        self._change = edit()
        self._after = doc.text
        self._is_done = True
        # Typing back what was there is not a step.
        self.setObsolete(self._after == self._before)

    def redo(self) -> None:
        """Make the edit again."""
        if self._is_done:
            self._is_done = False
            return
        self._doc.restore(self._after, self._change)

    def undo(self) -> None:
        """Put the text from before back."""
        self._doc.restore(self._before, self._change)

    def id(self) -> int:
        """Have Qt offer this command's successors to `mergeWith`."""
        return _EDIT_ID if self._session else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take in the next command if it continues this one."""
        if not isinstance(other, EditCommand) or other._doc is not self._doc or other._session != self._session:
            return False
        if other.text() != self.text() or other._change.kind != self._change.kind:
            return False
        self._after = other._after
        self._change = Change(self._change.kind, tuple(dict.fromkeys(self._change.keys + other._change.keys)))
        self.setObsolete(self._after == self._before)
        return True


def set_value(stack: QUndoStack, doc: ScenarioDoc, key: str, value: TomlValue | None, session: int = 0) -> None:
    """Set a value or, with None, go back to its default.

    Raises:
        TomlEditError: as `ScenarioDoc.set_value`; nothing has changed then.
    """
    what = key.rpartition(".")[2].replace("_", " ")
    owner = key.split(".")[1] if key.count(".") >= 2 and not key.startswith(("events.", "notes.")) else ""
    what = f"{owner} {what}".strip()
    text = tr("Reset {what}", what=what) if value is None else tr("Change {what}", what=what)
    stack.push(EditCommand(doc, text, lambda: doc.set_value(key, value), session))


def move_nodes(
    stack: QUndoStack, doc: ScenarioDoc, places: Mapping[str, tuple[float, float]], session: int = 0
) -> None:
    """Move nodes and notes on the canvas.

    Raises:
        TomlEditError: as `ScenarioDoc.move_nodes`; nothing has changed then.
    """
    notes = sum(name.startswith("notes.") for name in places)
    if len(places) == 1:
        what = tr("note") if notes else next(iter(places))
    elif notes:
        what = trn("{count} part", "{count} parts", len(places))
    else:
        what = trn("{count} node", "{count} nodes", len(places))
    stack.push(EditCommand(doc, tr("Move {what}", what=what), lambda: doc.move_nodes(places), session))


def add_event(stack: QUndoStack, doc: ScenarioDoc, values: Mapping[str, TomlValue]) -> None:
    """Add a timed event.

    Raises:
        TomlEditError: as `ScenarioDoc.add_event`; nothing has changed then.
    """
    stack.push(EditCommand(doc, tr("Add event"), lambda: doc.add_event(values)))


def remove_event(stack: QUndoStack, doc: ScenarioDoc, index: int) -> None:
    """Remove the timed event with this number, from 0.

    Raises:
        TomlEditError: as `ScenarioDoc.remove_event`; nothing has changed then.
    """
    stack.push(EditCommand(doc, tr("Remove event"), lambda: doc.remove_event(index)))


def edit_parts(stack: QUndoStack, doc: ScenarioDoc, text: str, edit: Callable[[str], Edited]) -> tuple[str, ...]:
    """Add, remove or rename parts by one of the functions of `scenario_edits`.

    Args:
        stack: gets the step.
        doc: what is edited.
        text: what the undo menu calls it.
        edit: makes a new text of the present one.

    Returns:
        Keys of what was made or changed.

    Raises:
        AppError: as `edit`; nothing has changed then.
    """
    edited = edit(doc.text)
    stack.push(EditCommand(doc, text, lambda: doc.apply(edited)))
    return edited.keys


def set_text(stack: QUndoStack, doc: ScenarioDoc, text: str, session: int = 0) -> None:
    """Replace the text of the file, as typed in the text editor."""
    stack.push(EditCommand(doc, tr("Edit text"), lambda: doc.set_text(text), session))
