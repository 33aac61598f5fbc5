"""The script in the editor: opening, saving, recovery after a crash, and the question about unsaved changes.

A dialog asks for the name of a new script and the flow that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QFormLayout, QLineEdit, QWidget

from subflow_app.features.editor.core.recovery import RecoveryFile, UnsavedText
from subflow_app.features.editor.core.scripts import (
    ScriptPlace,
    flows_for,
    free_name,
    new_place,
    new_script_text,
    scripts_of,
    with_new_script,
)
from subflow_app.features.editor.qt.documents import EditCommand
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.banner import Way
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, named, timer, v_box
from subflow_app.vocabulary.language import tr
from subflow_sim.parameter import MAX_NAME_LENGTH
from subflow_sim.scenario_model import ScriptKind
from subflow_sim.script import kind_of
from subflow_sim.script_reader import SUFFIX, shipped_scripts

if TYPE_CHECKING:
    from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
    from subflow_app.features.script.qt.panel import ScriptPanel
    from subflow_app.features.script.qt.ports import ScriptPorts


class NewScript(NamedTuple):
    """Answer of `NewScriptDialog`.

    Attributes:
        name: name by which flows choose the script.
        flows: flows that use the script from now on.
    """

    name: str
    flows: tuple[str, ...]


class NewScriptDialog(QDialog):
    """Asks for the name and the flows of a new script, and reports an invalid name while the user types."""

    def __init__(
        self,
        kind: ScriptKind,
        name: str,
        flows: Sequence[str],
        check: Callable[[str], object],
        parent: QWidget | None = None,
    ) -> None:
        """Suggests a name.

        Args:
            kind: kind of the script.
            name: suggested name.
            flows: flows that could use the script.
            check: raises InputError for an impossible name.
            parent: owner of the dialog.
        """
        super().__init__(parent)
        self.setObjectName("new_script_dialog")
        is_controller = kind == "controller"
        self.setWindowTitle(tr("New controller") if is_controller else tr("New scheduler"))
        self._check_name = check
        self.name = named(QLineEdit(name, self), "new_script_name")
        self.name.setMaxLength(MAX_NAME_LENGTH)
        self.name.selectAll()
        choices: list[tuple[object, str]] = [((flow,), flow) for flow in flows]
        if len(flows) > 1:
            choices.append((tuple(flows), tr("all flows")))
        choices.append(((), tr("none for now")))
        self.flows = Choice("new_script_flows", choices, self)
        self.problem = named(Label(self, wordWrap=True), "new_script_problem")
        self.problem.setStyleSheet(f"color: {current_tokens().error};")
        # Space is reserved for the message, so that the dialog keeps its height while the user types.
        self.problem.setMinimumHeight(2 * self.fontMetrics().height())
        form = QFormLayout()
        form.addRow(tr("&Name:"), self.name)
        form.addRow("", self.problem)
        form.addRow(tr("&For the flow:"), self.flows)
        buttons, self.add = accept_buttons(self, tr("Add"))
        v_box(self, form, buttons)
        self.resize(420, self.sizeHint().height())
        self.name.textChanged.connect(self._check)
        self._check(name)

    @property
    def answer(self) -> NewScript:
        """The entered name and the chosen flows."""
        return NewScript(self.name.text().strip(), tuple(self.flows.currentData()))

    def _check(self, text: str) -> None:
        problem = ""
        try:
            self._check_name(text.strip())
        except InputError as error:
            problem = problem_text(str(error))
        self.problem.setText(problem)
        self.add.setEnabled(not problem)


T = TypeVar("T")

_KEEP_MS = 500
_BANNER = "script_changed"
_FILTER = "*.py"


class ScriptDesk(QObject):
    """Holds one script of the open scenario, or a draft outside of it.

    Attributes:
        place: location of the script; None for a draft, or if no script is open.
        kind: kind of the script.
        draft: name of the draft; empty if the script is not a draft.
    """

    changed = Signal()  # the script, its name or its saved state has changed
    saved = Signal()

    def __init__(self, ports: ScriptPorts, panel: ScriptPanel, parent: QObject) -> None:
        """Opens the first script of the scenario in ``panel``, if the scenario has scripts."""
        super().__init__(parent)
        self._ports = ports
        self._documents = ports.documents
        self._panel = panel
        self._editor = panel.editor
        self.place: ScriptPlace | None = None
        self.kind: ScriptKind = "controller"
        self.draft = ""
        self._saved = ""  # text in the file or in the scenario
        self._is_saving = False
        self.recovery = RecoveryFile(ports.recovery.failed.emit, ports.recovery.folder)
        self._keep_timer = timer(self, self._keep, _KEEP_MS, is_single=True)
        self._editor.textChanged.connect(self._on_text_changed)
        self._editor.entered.connect(self.look_at_file)
        panel.chosen.connect(self._on_chosen)
        ports.documents.replaced.connect(self._on_document_replaced)
        ports.documents.edited.connect(self._on_document_edited)
        ports.documents.settling.connect(self._settle)
        ports.documents.guards.append(self.may_leave)
        self._open_first()

    # ---- state ----

    @property
    def is_open(self) -> bool:
        """True if the editor shows a script or a draft."""
        return self.place is not None or bool(self.draft)

    @property
    def is_modified(self) -> bool:
        """True if the editor contains unsaved changes."""
        return self.is_open and (self._editor.text != self._saved or (bool(self.draft) and bool(self._editor.text)))

    @property
    def name(self) -> str:
        """Name of the script or draft."""
        return self.place.name if self.place is not None else self.draft

    @property
    def places(self) -> tuple[ScriptPlace, ...]:
        """The scripts of the open scenario."""
        return scripts_of(self._doc.data, self._folder)

    @property
    def _doc(self) -> ScenarioDoc:
        return self._documents.doc

    @property
    def _folder(self) -> Path | None:
        return self._doc.path.parent if self._doc.path is not None else None

    # ---- opening ----

    def open(self, place: ScriptPlace) -> bool:
        """Opens a script of the scenario; False if the user chose to stay with the current script.

        Raises:
            InputError: if the script cannot be read.
        """
        if self.place is not None and place.key == self.place.key:
            return True
        if not self.may_leave():
            return False
        text = place.read()
        self._show(place, place.kind, text, text)
        return True

    def ask_new(self, kind: ScriptKind) -> bool:
        """Asks for a name and a flow, and adds a script with a skeleton; False if the user cancelled."""
        wanted = "my-controller" if kind == "controller" else "my-scheduler"
        return self.may_leave() and self._ask_add(kind, wanted, None)

    def ask_copy(self) -> bool:
        """Asks for a shipped script to copy into the scenario; False if the user cancelled.

        Raises:
            InputError: if the installation has no scripts, or the script cannot be read.
        """
        known = shipped_scripts()
        if not known:
            raise InputError(tr("This installation has no scripts."))
        label = tr("A copy of this script becomes part of the scenario:")
        name = self._ports.dialogs.choice(tr("Open a copy"), label, list(known), 0)
        if name is None or not self.may_leave():
            return False
        text = ScriptPlace("controller", name, name).read()
        return self._ask_add(kind_of(text), f"my-{name}", text)

    def recover(self, unsaved: UnsavedText) -> bool:
        """Restores unsaved changes from an earlier session; False if the user chose to stay with the current script."""
        if not self.may_leave():
            return False
        place = next((each for each in self.places if unsaved.path is not None and each.path == unsaved.path), None)
        kind = kind_of(unsaved.text)
        if place is None and unsaved.path is not None:
            place = ScriptPlace(kind, unsaved.path.stem, unsaved.path.name, unsaved.path.parent)
        if place is None:
            self._show(None, kind, unsaved.text, "", draft=unsaved.name.removesuffix(SUFFIX))
        else:
            try:
                saved = place.read()
            except AppError:
                saved = unsaved.base  # the file was deleted; saving creates it again
            self._show(place, kind, saved, saved)
            self._editor.put_text(unsaved.text)
        return True

    # ---- saving ----

    def save(self) -> bool:
        """Saves the script to its file or its scenario; False if it was not saved.

        A draft, or a changed copy of a shipped script, is added to the scenario under a name that the user chooses.

        Raises:
            AppError: if the script cannot be written.
        """
        if not self.is_open or (self.place is not None and not self._may_overwrite()):
            return False
        text = self._editor.text
        if self.place is None:
            return self._ask_add(self.kind, self.draft, text)
        if self.place.is_shipped:
            return self._ask_add(self.kind, f"my-{self.place.name}", text)
        self._write(self.place, text)
        return True

    def ask_save_as(self) -> bool:
        """Asks for a file and writes the text there; False if it was not saved.

        If the file is in the scenario's folder or a subfolder, it becomes the file of the script. A file elsewhere, or
        that of a draft, is only a copy.

        Raises:
            AppError: if the file cannot be written.
        """
        if not self.is_open:
            return False
        folder = self._folder or Path.home()
        title, filters = tr("Save script"), tr("Scripts ({pattern})", pattern=_FILTER)
        path = self._ports.dialogs.save_path(title, filters, folder / f"{self.name}{SUFFIX}")
        if path is None:
            return False
        text, place = self._editor.text, self.place
        target = ScriptPlace(self.kind, path.stem, path.name, path.parent)
        target.write(text)
        is_within = self._folder is not None and path.resolve().is_relative_to(self._folder.resolve())
        if place is None or not is_within or place.key not in {each.key for each in self.places}:
            self._ports.tell(tr("A copy of the script is in {path}.", path=path))
            return True
        assert self._folder is not None
        file = path.resolve().relative_to(self._folder.resolve()).as_posix()
        self._edit(tr("Change file of {name}", name=place.name), lambda: self._refer(place, file))
        moved = next(each for each in self.places if each.key == place.key)
        self._show(moved, self.kind, text, text)
        return True

    def may_leave(self) -> bool:
        """Asks whether to save unsaved changes; False if the user cancelled or the script was not saved."""
        if not self.is_modified:
            return True
        answer = self._ports.dialogs.ask_save_changes(f"{self.name}{SUFFIX}")
        if answer == "save":
            return self._without_a_word(self.save)
        if answer == "discard":
            if self.place is not None:
                self._editor.put_text(self._saved)
            else:
                self._show_nothing()
            self.recovery.drop()
        return answer == "discard"

    def put_text(self, text: str) -> None:
        """Replaces the text, as one undoable step."""
        self._editor.put_text(text)

    def look_at_file(self) -> None:
        """Loads changes that other programs made to the file; asks first if the editor has unsaved changes."""
        if self.place is None or self._is_saving:
            return
        try:
            text = self.place.read()
        except AppError:
            return  # the file was deleted; saving creates it again
        if text == self._saved:
            return
        if not self.is_modified or text == self._editor.text:
            self._saved = text
            if text != self._editor.text:
                self._editor.put_text(text)
            self.changed.emit()
            return
        ways = [Way(tr("Load it"), partial(self._load, text)), Way(tr("Keep mine"), partial(self._keep_mine, text))]
        message = tr("{name} was changed by another program, and here as well.", name=self.place.file)
        self._ports.banners.show_banner(_BANNER, "warning", message, ways)

    def close(self, *, keeps_changes: bool) -> None:
        """Stops writing the recovery file; ``keeps_changes`` keeps it for the next start."""
        self._keep_timer.stop()
        if keeps_changes:
            self._keep()
        self.recovery.close(keeps_file=keeps_changes)

    # ---- internals ----

    def _show(self, place: ScriptPlace | None, kind: ScriptKind, text: str, saved: str, *, draft: str = "") -> None:
        self.place, self.kind, self.draft, self._saved = place, kind, draft, saved
        self._ports.banners.close_banner(_BANNER)
        self._editor.open_text(kind, text)
        self._editor.setReadOnly(False)
        self._keep_timer.start()
        self._list()

    def _show_nothing(self) -> None:
        self._show(None, "controller", "", "")

    def _open_first(self) -> None:
        for place in self.places:
            try:
                text = place.read()
            except AppError:
                continue
            self._show(place, place.kind, text, text)
            return
        self._show_nothing()

    def _ask_add(self, kind: ScriptKind, wanted: str, text: str | None) -> bool:
        data, folder = self._doc.data, self._folder
        check = partial(new_place, kind, data=data, folder=folder)
        name = free_name(kind, wanted, data, folder)
        answer = self._ports.dialogs.ask(
            partial(NewScriptDialog, kind, name, flows_for(data), lambda typed: check(typed))
        )
        if answer is None:
            return False
        place = check(answer.name)
        if text is None:
            text = new_script_text(kind, answer.name)
        edited = with_new_script(self._doc.text, place, text, answer.flows)
        what = tr("Add {name}", name=answer.name)
        # Cleared before the edit, because the edit of the scenario calls `_on_document_edited` immediately.
        self.place, self.draft, self._saved = None, "", ""
        self._edit(what, lambda: self._doc.apply(edited))
        added = next(each for each in self.places if each.key == place.key)
        self._show(added, kind, text, text)
        self.saved.emit()
        self._ports.tell(tr("{name} is now part of the scenario, which has unsaved changes.", name=answer.name))
        return True

    def _write(self, place: ScriptPlace, text: str) -> None:
        self._is_saving = True
        try:
            if place.path is not None:
                place.write(text)
                self._saved = text
                self._doc.set_script(place.key, None)
            else:
                self._saved = text
                self._edit(tr("Edit {name}", name=place.name), lambda: self._doc.set_script(place.key, text))
        finally:
            self._is_saving = False
        # Look up the place again, because for an embedded script it contains the text, which has changed.
        self.place = next((each for each in self.places if each.key == place.key), place)
        self._list()
        self.recovery.drop()
        self.saved.emit()

    def _edit(self, what: str, edit: Callable[[], Change]) -> None:
        self._ports.document_stack.push(EditCommand(self._doc, what, edit))

    def _refer(self, place: ScriptPlace, file: str) -> Change:
        self._doc.set_value(f"{place.key}.script", file)
        return self._doc.set_value(f"{place.key}.content", None)

    def _may_overwrite(self) -> bool:
        """Asks for confirmation if another program has changed the file since it was read."""
        assert self.place is not None
        if self.place.path is None:
            return True
        try:
            now = self.place.read()
        except AppError:
            return True
        return now in (self._saved, self._editor.text) or self._ports.dialogs.confirm(
            tr("The file was changed"),
            tr("{name} was changed by another program since.", name=self.place.file),
            tr("Saving overwrites the other program's changes."),
            tr("Save anyway"),
        )

    def _load(self, text: str) -> None:
        self._saved = text
        self._editor.put_text(text)
        self.changed.emit()

    def _keep_mine(self, text: str) -> None:
        self._saved = text
        self.changed.emit()

    def _keep(self) -> None:
        if self.is_modified and self._ports.preferences.settings.autosave:
            path = self.place.path if self.place is not None else None
            self.recovery.keep(UnsavedText(f"{self.name}{SUFFIX}", path, self._editor.text, self._saved))
        else:
            self.recovery.drop()

    def _list(self) -> None:
        self._panel.show_places(self.places, self.place, self.draft)
        self.changed.emit()

    def _settle(self) -> None:
        """Writes unsaved text of an embedded script into the scenario before the scenario is saved or discarded."""
        place = self.place
        if place is not None and place.content is not None and self.is_modified and not self._is_saving:
            self._without_a_word(partial(self._write, place, self._editor.text))

    def _without_a_word(self, save: Callable[[], T]) -> T:
        """Saves without emitting `saved`, because leaving a script must not start a run."""
        blocked = self.blockSignals(True)
        try:
            return save()
        finally:
            self.blockSignals(blocked)
            self.changed.emit()

    def _on_text_changed(self) -> None:
        self._keep_timer.start()
        self.changed.emit()

    def _on_chosen(self, place: ScriptPlace | None) -> None:
        try:
            if place is not None:
                self.open(place)
        except AppError as error:
            self._ports.tell_failure(error)
        self._list()

    def _on_document_replaced(self, _doc: object) -> None:
        # The guard has already asked about unsaved changes.
        self._open_first()

    def _on_document_edited(self) -> None:
        if self._is_saving:
            return
        place = self.place
        if place is not None:
            now = next((each for each in self.places if each.key == place.key), None)
            if now is None and not self._is_foreign(place):
                self._lose(place)
            elif now is not None and now != place:
                self.place = now
                self.look_at_file()
        elif not self.draft:
            self._open_first()
        self._list()

    def _is_foreign(self, place: ScriptPlace) -> bool:
        """True for a recovered file outside of the scenario."""
        return place.path is not None and place.path.parent != self._folder

    def _lose(self, place: ScriptPlace) -> None:
        """Keeps unsaved changes as a draft after the script was removed from the scenario."""
        if self.is_modified:
            self.place, self.draft = None, place.name
        else:
            self._open_first()
