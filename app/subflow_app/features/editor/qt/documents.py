"""The scenario that the window edits: new, open, save, recent files, and the question before changes are lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from subflow_app.features.editor.core.recovery import UnsavedText
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.core.scenario_source import with_contents
from subflow_app.features.editor.qt.commands import EditCommand
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.file_kinds import SCENARIO_FILE_SUFFIX
from subflow_app.foundation.resources import SCENARIO_SUFFIX, resource_path, scenario_names
from subflow_app.toolkit.dialogs import SCENARIO_FILTER, Dialogs
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences

_UNTITLED = translatable("untitled")
_OF_EXAMPLE = " (example)"


class Documents(QObject):
    """Holds one document and its undo stack; the stack stays the same object when the document is replaced."""

    replaced = Signal(object)  # ScenarioDoc
    edited = Signal()  # text or file name changed
    settling = Signal()  # the text is about to be saved or given up: what is typed but not entered has to count now

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
        """Whether somebody else keeps the document, with its changes, when it is replaced."""
        self.guards: list[Callable[[], bool]] = []
        """Ask about what would be lost with the document; False: leave everything as it is."""
        self.doc = ScenarioDoc.new()  # the document
        self._name = _UNTITLED
        # A document that was never saved and never edited has nothing to lose, an edited one has.
        self._unsubscribe = self.doc.subscribe(self._on_change)

    @property
    def name(self) -> str:
        """What titles call the document: its file, the example it came from, or "untitled"."""
        return self.doc.path.name if self.doc.path else self._name

    @property
    def shown_name(self) -> str:
        """The same in the language of the window; :attr:`name` is also stored, with trainings."""
        if self.doc.path is None and self._name.endswith(_OF_EXAMPLE):
            return tr("{name} (example)", name=self._name.removesuffix(_OF_EXAMPLE))
        return tr(_UNTITLED) if self.name == _UNTITLED else self.name

    @property
    def is_modified(self) -> bool:
        """Whether there are changes that no file has."""
        return not self.undo_stack.isClean()

    # ---- replacing the document ----

    def new(self) -> bool:
        """Starts a new document; False if the person would rather keep the present one."""
        if not self.may_discard():
            return False
        self._replace(ScenarioDoc.new(), _UNTITLED)
        return True

    def new_empty(self) -> bool:
        """Starts a drawing from nothing; False if the person would rather keep the present document."""
        if not self.may_discard():
            return False
        self._replace(ScenarioDoc.empty(), _UNTITLED)
        return True

    def ask_open(self) -> bool:
        """Asks for a file and opens it."""
        path = self.dialogs.open_path(tr("Open scenario"), tr(SCENARIO_FILTER), self._folder())
        return path is not None and self.open(path)

    def open(self, path: str | Path) -> bool:
        """Opens a file; a shipped scenario opens as a copy without a file, so that it stays as it was shipped.

        Returns:
            False if the person would rather keep the present document, or the file cannot be read.
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
        """Opens the file that was used last; False if there is none, or it cannot be read, which is told."""
        recent = self._preferences.settings.recent_files
        return bool(recent) and self.open(recent[0])

    def open_example(self, name: str) -> bool:
        """Opens a copy of a shipped scenario."""
        if not self.may_discard():
            return False
        try:
            doc = ScenarioDoc.open(resource_path(f"scenarios/{name}{SCENARIO_SUFFIX}"))
        except AppError as error:
            self._notices.file_failed(str(error))
            return False
        # The copy can be saved anywhere, so it brings the delivery traces along.
        text = doc.text if doc.scenario is None else with_contents(doc.text, doc.scenario)
        self._replace(ScenarioDoc(text), f"{name}{_OF_EXAMPLE}")
        return True

    def ask_template(self) -> bool:
        """Offers topologies to start from; False if the person would rather keep the present document."""
        from subflow_app.features.editor.qt.template_gallery import TemplateGallery

        choice = self.dialogs.ask(TemplateGallery)
        return choice is not None and self.open_text(*choice)

    def open_text(self, text: str, name: str) -> bool:
        """Opens a scenario that has no file, e.g. that of a stored run."""
        if not self.may_discard():
            return False
        self._replace(ScenarioDoc(text), name)
        return True

    def recover(self, unsaved: UnsavedText) -> bool:
        """Opens what an earlier session did not save: its file, with the changes as one step that undo takes back.

        Returns:
            False if the person would rather keep the present document.
        """
        if not self.may_discard():
            return False
        try:
            doc = ScenarioDoc(unsaved.base) if unsaved.path is None else ScenarioDoc.open(unsaved.path)
        except AppError:
            # The file is gone: saving makes it anew.
            doc = ScenarioDoc(unsaved.base, unsaved.path)
        self._replace(doc, unsaved.name)
        self.undo_stack.push(EditCommand(doc, tr("Recover changes"), lambda: doc.set_text(unsaved.text)))
        return True

    def may_discard(self) -> bool:
        """Asks what to do with unsaved changes, if there are any; False means: leave everything as it is."""
        self.settling.emit()
        if not all(may_leave() for may_leave in self.guards):
            return False
        if not self.is_modified or self.keeps():
            return True
        answer = self.dialogs.ask_save_changes(self.name)
        return answer == "discard" or (answer == "save" and self.save())

    # ---- saving ----

    def save(self) -> bool:
        """Saves to the document's file, asking for one if it has none; False if it is not saved."""
        self.settling.emit()
        return self.save_as() if self.doc.path is None else self._save(self.doc.path)

    def save_as(self) -> bool:
        """Asks for a file and saves to it; False if it is not saved."""
        self.settling.emit()
        stem = self._name.removesuffix(_OF_EXAMPLE).removesuffix(SCENARIO_SUFFIX)
        suggested = self.doc.path or (self._folder() or Path.home()) / f"{stem}{SCENARIO_FILE_SUFFIX}"
        path = self.dialogs.save_path(tr("Save scenario"), tr(SCENARIO_FILTER), suggested)
        return path is not None and self._save(path)

    # ---- inside ----

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
        # Commands of the old document must be gone before anybody can undo them in the new one.
        self.undo_stack.clear()
        # Qt leaves an empty stack as it is, and one whose last command came to nothing is not clean.
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
