"""The window's document: new, open, save, recent files, and edits with undo.

Unsaved changes are discarded only after the user confirms.

A command makes its edit when it is constructed. An edit that is refused thereby raises an error and never reaches the
undo stack. The first `redo`, which Qt calls when the command is pushed, does nothing. Undo restores the previous text
byte for byte. Commands keep whole texts, because a scenario is only a few kilobytes long and inverse edits could not
restore comments and spacing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from subflow_app.features.editor.core.recovery import UnsavedText
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.core.scenario_edits import Edited
from subflow_app.features.editor.core.scenario_source import with_contents
from subflow_app.features.editor.core.templates import OF_EXAMPLE
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.file_kinds import SCENARIO_FILE_SUFFIX
from subflow_app.foundation.resources import SCENARIO_SUFFIX, resource_path, scenario_names
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit.dialogs import SCENARIO_FILTER, Dialogs
from subflow_app.vocabulary.language import tr, translatable, trn

if TYPE_CHECKING:
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences


_EDIT_ID = 1


class EditCommand(QUndoCommand):
    """An edit of a document, or several consecutive edits of the same value.

    Args:
        doc: document to edit.
        text: text in the undo menu, e.g. `change wifi rate`.
        edit: calls one mutator of the document.
        session: consecutive commands with equal text and session become one step, unless the session is 0. A
            session covers one gesture, such as a series of arrow keys or all typing while a field has the focus.
    """

    def __init__(self, doc: ScenarioDoc, text: str, edit: Callable[[], Change], session: int = 0) -> None:
        super().__init__(text)
        self._doc = doc
        self._session = session
        self._before = doc.text
        self._change = edit()
        self._after = doc.text
        self._is_done = True
        # An edit that changes nothing, such as typing the original text again, is not an undo step.
        self.setObsolete(self._after == self._before)

    def redo(self) -> None:
        """Repeat the edit; the first call does nothing, because the constructor has made the edit."""
        if self._is_done:
            self._is_done = False
            return
        self._doc.restore(self._after, self._change)

    def undo(self) -> None:
        """Restore the previous text."""
        self._doc.restore(self._before, self._change)

    def id(self) -> int:
        """Return the same identifier for all commands in a session, so that Qt tries to merge them with `mergeWith`."""
        return _EDIT_ID if self._session else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Merge the next command into this one if it continues the same edit; False otherwise."""
        if not isinstance(other, EditCommand) or other._doc is not self._doc or other._session != self._session:
            return False
        if other.text() != self.text() or other._change.kind != self._change.kind:
            return False
        self._after = other._after
        self._change = Change(self._change.kind, tuple(dict.fromkeys(self._change.keys + other._change.keys)))
        self.setObsolete(self._after == self._before)
        return True


def set_value(stack: QUndoStack, doc: ScenarioDoc, key: str, value: TomlValue | None, session: int = 0) -> None:
    """Set a value, or restore its default if `value` is None.

    Raises:
        TomlEditError: see `ScenarioDoc.set_value`; the document stays unchanged.
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
        TomlEditError: see `ScenarioDoc.move_nodes`; the document stays unchanged.
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
        TomlEditError: see `ScenarioDoc.add_event`; the document stays unchanged.
    """
    stack.push(EditCommand(doc, tr("Add event"), lambda: doc.add_event(values)))


def remove_event(stack: QUndoStack, doc: ScenarioDoc, index: int) -> None:
    """Remove the timed event with this number, counted from 0.

    Raises:
        TomlEditError: see `ScenarioDoc.remove_event`; the document stays unchanged.
    """
    stack.push(EditCommand(doc, tr("Remove event"), lambda: doc.remove_event(index)))


def edit_parts(stack: QUndoStack, doc: ScenarioDoc, text: str, edit: Callable[[str], Edited]) -> tuple[str, ...]:
    """Add, remove or rename parts with a function of `scenario_edits`.

    Args:
        stack: undo stack that receives the step.
        doc: document to edit.
        text: text in the undo menu.
        edit: computes the new text from the current text.

    Returns:
        Keys of the added or changed parts.

    Raises:
        AppError: raised by `edit`; the document is unchanged.
    """
    edited = edit(doc.text)
    stack.push(EditCommand(doc, text, lambda: doc.apply(edited)))
    return edited.keys


def set_text(stack: QUndoStack, doc: ScenarioDoc, text: str, session: int = 0) -> None:
    """Replace the text of the file, as typed in the text editor."""
    stack.push(EditCommand(doc, tr("Edit text"), lambda: doc.set_text(text), session))


_UNTITLED = translatable("untitled")


class Documents(QObject):
    """Holds one document and its undo stack; the stack object is kept when the document is replaced."""

    replaced = Signal(object)  # ScenarioDoc
    edited = Signal()  # text or file name changed
    settling = Signal()  # the text is about to be saved, discarded or simulated: commit pending input now

    def __init__(
        self, undo_stack: QUndoStack, preferences: Preferences, dialogs: Dialogs, notices: Notices, parent: QObject
    ) -> None:
        """Starts with a new document."""
        super().__init__(parent)
        self.undo_stack = undo_stack
        self._preferences = preferences
        self._notices = notices
        self.dialogs = dialogs
        self.keeps: Callable[[], bool] = lambda: False
        """Returns True if another object preserves the changes when the document is replaced."""
        self.guards: list[Callable[[], bool]] = []
        """Functions that offer to save what would be lost with the document; a result of False cancels replacing it."""
        self.doc = ScenarioDoc.new()
        self._name = _UNTITLED
        self._unsubscribe = self.doc.subscribe(self._on_change)

    @property
    def name(self) -> str:
        """Title of the document: the name of its file or of its example, or "untitled"."""
        return self.doc.path.name if self.doc.path else self._name

    @property
    def shown_name(self) -> str:
        """The title in the window's language; :attr:`name` is always English, because the store keeps it."""
        if self.doc.path is None and self._name.endswith(OF_EXAMPLE):
            return tr("{name} (example)", name=self._name.removesuffix(OF_EXAMPLE))
        return tr(_UNTITLED) if self.name == _UNTITLED else self.name

    @property
    def is_modified(self) -> bool:
        """True if the document has unsaved changes."""
        return not self.undo_stack.isClean()

    # ---- replacing the document ----

    def new(self) -> bool:
        """Starts a new document; False if the user keeps the current document."""
        if not self.may_discard():
            return False
        self._replace(ScenarioDoc.new(), _UNTITLED)
        return True

    def new_empty(self) -> bool:
        """Starts an empty drawing; False if the user keeps the current document."""
        if not self.may_discard():
            return False
        self._replace(ScenarioDoc.empty(), _UNTITLED)
        return True

    def ask_open(self) -> bool:
        """Opens a file dialog, then the chosen file; False if no file was opened."""
        path = self.dialogs.open_path(tr("Open scenario"), tr(SCENARIO_FILTER), self._folder())
        return path is not None and self.open(path)

    def open(self, path: str | Path) -> bool:
        """Opens a file. A shipped scenario is opened as a copy without a file, so that the original is never changed.

        Returns:
            False if the user keeps the current document, or the file cannot be read.
        """
        path = Path(path)
        if _is_shipped(path):
            return self.open_example(path.stem)
        if not self.may_discard():
            return False
        try:
            doc = ScenarioDoc.open(path)
        except AppError as error:
            self._preferences.change(self._preferences.settings.without_recent_file(path))
            self._notices.file_failed(str(error))
            return False
        self._replace(doc, path.name)
        self._preferences.change(self._preferences.settings.with_recent_file(path))
        return True

    def reopen_last(self) -> bool:
        """Opens the most recent file; False if the list of recent files is empty or the file was not opened."""
        recent = self._preferences.settings.recent_files
        return bool(recent) and self.open(recent[0])

    def open_example(self, name: str) -> bool:
        """Opens a copy of a shipped scenario; False if the user keeps the current document or reading fails."""
        if not self.may_discard():
            return False
        try:
            doc = ScenarioDoc.open(resource_path(f"scenarios/{name}{SCENARIO_SUFFIX}"))
        except AppError as error:
            self._notices.file_failed(str(error))
            return False
        # The copy can be saved anywhere, so it embeds the recordings and scripts.
        text = doc.text if doc.scenario is None else with_contents(doc.text, doc.scenario)
        self._replace(ScenarioDoc(text), f"{name}{OF_EXAMPLE}")
        return True

    def ask_template(self) -> bool:
        """Offers template topologies; False if the user cancels or keeps the current document."""
        from subflow_app.features.editor.qt.template_gallery import TemplateGallery

        choice = self.dialogs.ask(TemplateGallery)
        return choice is not None and self.open_text(*choice)

    def open_text(self, text: str, name: str) -> bool:
        """Opens a scenario without a file, e.g. that of a stored run; False if the user keeps the current document."""
        if not self.may_discard():
            return False
        self._replace(ScenarioDoc(text), name)
        return True

    def recover(self, unsaved: UnsavedText) -> bool:
        """Opens the scenario as last saved, then applies the unsaved changes of an earlier session as one undo step.

        Returns:
            False if the user keeps the current document.
        """
        if not self.may_discard():
            return False
        try:
            doc = ScenarioDoc(unsaved.base) if unsaved.path is None else ScenarioDoc.open(unsaved.path)
        except AppError:
            # If the file was deleted, saving creates it again.
            doc = ScenarioDoc(unsaved.base, unsaved.path)
        self._replace(doc, unsaved.name)
        self.undo_stack.push(EditCommand(doc, tr("Recover changes"), lambda: doc.set_text(unsaved.text)))
        return True

    def may_discard(self) -> bool:
        """Offers to save unsaved changes, if any; False if the user cancels, a guard refuses, or saving fails."""
        self.settling.emit()
        if not all(may_leave() for may_leave in self.guards):
            return False
        if not self.is_modified or self.keeps():
            return True
        answer = self.dialogs.ask_save_changes(self.name)
        return answer == "discard" or (answer == "save" and self.save())

    # ---- saving ----

    def save(self) -> bool:
        """Saves to the document's file, or to a file chosen in a dialog; False if nothing was saved."""
        self.settling.emit()
        return self.save_as() if self.doc.path is None else self._save(self.doc.path)

    def save_as(self) -> bool:
        """Opens a file dialog, then saves to the chosen file; False if nothing was saved."""
        self.settling.emit()
        stem = self._name.removesuffix(OF_EXAMPLE).removesuffix(SCENARIO_SUFFIX)
        suggested = self.doc.path or (self._folder() or Path.home()) / f"{stem}{SCENARIO_FILE_SUFFIX}"
        path = self.dialogs.save_path(tr("Save scenario"), tr(SCENARIO_FILTER), suggested)
        return path is not None and self._save(path)

    # ---- internals ----

    def _save(self, path: Path) -> bool:
        try:
            self.doc.save(path)
        except AppError as error:
            self._notices.file_failed(str(error))
            return False
        self.undo_stack.setClean()
        self._preferences.change(self._preferences.settings.with_recent_file(path))
        self.edited.emit()
        return True

    def _replace(self, doc: ScenarioDoc, name: str) -> None:
        self._unsubscribe()
        self.doc = doc
        self._name = name
        self._unsubscribe = doc.subscribe(self._on_change)
        # Commands of the old document must not be undone in the new one.
        self.undo_stack.clear()
        # `clear` does nothing on an empty stack, which may count as modified after its last command became obsolete.
        self.undo_stack.setClean()
        self.replaced.emit(doc)
        self.edited.emit()

    def _on_change(self, _change: Change) -> None:
        self.edited.emit()

    def _folder(self) -> Path | None:
        if self.doc.path is not None:
            return self.doc.path.parent
        recent = self._preferences.settings.recent_files
        return Path(recent[0]).parent if recent else None


def _is_shipped(path: Path) -> bool:
    try:
        shipped = resource_path("scenarios")
    except AppError:
        return False
    return path.resolve().parent == shipped.resolve() and path.stem in scenario_names()
