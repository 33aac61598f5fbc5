"""All questions to the user in one class, which tests replace with prepared answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from subflow_app.foundation.file_kinds import SCENARIO_FILE_SUFFIX
from subflow_app.toolkit.widgets.shorthand import TagLine, as_written, close_button, named, v_box
from subflow_app.vocabulary.language import tr, translatable, trn

# Translated where they are shown.
SCENARIO_FILTER = translatable("Scenarios (*.toml);;All files (*)")
DATABASE_FILTER = translatable("Databases (*.subflow *.db);;All files (*)")
CSV_FILTER = translatable("CSV tables (*.csv)")
PAGE_FILTER = translatable("Web pages (*.html)")

_FRAME_BUTTONS = 120  # px, upper limit for the icon and the buttons beside the title of a window

SaveAnswer = Literal["save", "discard", "cancel"]
TrainingAnswer = Literal["background", "stop", "cancel"]

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class Asking(Protocol[A_co]):
    """A dialog with a typed answer."""

    @property
    def answer(self) -> A_co:
        """The user's answer; valid after the dialog was accepted."""

    def exec(self) -> int:
        """Show the dialog until it is closed; see `QDialog`."""

    def deleteLater(self) -> None:
        """Delete the dialog; see `QObject`."""


def is_accepted(dialog: QDialog | Asking[A]) -> bool:
    """Run a dialog and delete its widgets; True if the user accepted. Its answers remain readable."""
    if isinstance(dialog, QDialog):
        fit_dialog(dialog)
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    dialog.deleteLater()
    return accepted


_FRAME = QSize(8, 36)  # guess at the frame of a dialog, which Qt does not know before the dialog is shown, px


def fit_dialog(dialog: QDialog) -> None:
    """Make a dialog that would be larger than its screen as large as the screen, but no smaller than it can be."""
    dialog.ensurePolished()
    if not dialog.testAttribute(Qt.WidgetAttribute.WA_Resized):
        dialog.adjustSize()
    room = dialog.screen().availableSize() - _FRAME
    size = dialog.size().boundedTo(room)
    if size != dialog.size():
        dialog.resize(size)


def open_dialog(dialog: QDialog) -> None:
    """Show a dialog that blocks its window but not the caller."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    fit_dialog(dialog)
    dialog.open()


class Dialogs:
    """Modal questions of one window."""

    def __init__(self, parent: QWidget) -> None:
        """Make ``parent`` the parent of all dialogs."""
        self._parent = parent

    def ask_save_changes(self, name: str) -> SaveAnswer:
        """Ask if the changes of a scenario or script should be saved before it is closed."""
        box = named(self._message_box(tr("Unsaved changes")), "ask_save_changes")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(tr("Save the changes to {name}?", name=name))
        box.setInformativeText(tr("They are lost if you do not save them."))
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        box.setDefaultButton(buttons.Save)
        answer = box.exec()
        box.deleteLater()
        if answer == buttons.Save:
            return "save"
        return "discard" if answer == buttons.Discard else "cancel"

    def ask_trainings(self, count: int) -> TrainingAnswer:
        """Ask if running trainings should continue or stop when the window closes."""
        box = named(self._message_box(tr("Trainings are in progress")), "ask_trainings")
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(trn("A training is not finished yet.", "{count} trainings are not finished yet.", count))
        box.setInformativeText(
            tr(
                "It can continue without the window and is listed again when Subflow opens, or end now with a "
                "checkpoint from which it can be continued."
            )
        )
        keep = box.addButton(tr("Keep training"), QMessageBox.ButtonRole.AcceptRole)
        stop = box.addButton(tr("Stop with a checkpoint"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(keep)
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        if clicked is keep:
            return "background"
        return "stop" if clicked is stop else "cancel"

    def ask(self, make: Callable[[QWidget], Asking[A]]) -> A | None:
        """The answer of a dialog, or None if it was cancelled.

        Args:
            make: creates the dialog with the given parent, e.g. a `functools.partial`.
        """
        dialog = make(self._parent)
        return dialog.answer if is_accepted(dialog) else None

    def confirm(self, title: str, text: str, details: str, do_it: str) -> bool:
        """True if the user confirms an action. ``do_it`` labels the confirming button; the default is Cancel."""
        box = self._message_box(title)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(text)
        box.setInformativeText(details)
        yes = box.addButton(do_it, QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        box.exec()
        is_confirmed = box.clickedButton() is yes
        box.deleteLater()
        return is_confirmed

    def open_path(self, title: str, filters: str, folder: Path | None) -> Path | None:
        """Ask for an existing file; None if cancelled."""
        name, _ = QFileDialog.getOpenFileName(self._parent, title, str(folder or ""), filters)
        return Path(name) if name else None

    def save_path(self, title: str, filters: str, suggested: Path) -> Path | None:
        """Ask for a file to write, with the suffix of ``suggested`` by default; None if cancelled.

        The dialog asks before accepting an existing file.
        """
        return self._ask_for_file(title, filters, suggested, confirms=True)

    def database_path(self, title: str, suggested: Path) -> Path | None:
        """Ask for a new or existing database; None if cancelled.

        An existing file needs no confirmation, because it is not replaced.
        """
        return self._ask_for_file(title, tr(DATABASE_FILTER), suggested, confirms=False)

    def _message_box(self, title: str) -> QMessageBox:
        """An empty message box, wide enough to show the whole title."""
        box = QMessageBox(self._parent)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(title)
        # Qt reserves space only for the title, not for the program's name after it and the buttons of the frame.
        label = box.findChild(QLabel, "qt_msgbox_label")
        assert isinstance(label, QLabel)
        whole = f"{title} — {QGuiApplication.applicationDisplayName()}"
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance(whole) + _FRAME_BUTTONS)
        return box

    def _ask_for_file(self, title: str, filters: str, suggested: Path, *, confirms: bool) -> Path | None:
        # The static function is unsuitable, because it checks the typed name before it adds the suffix.
        dialog = QFileDialog(self._parent, title, str(suggested.parent), filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        is_scenario = suggested.name.endswith(SCENARIO_FILE_SUFFIX)
        suffix = SCENARIO_FILE_SUFFIX if is_scenario else suggested.suffix
        dialog.setDefaultSuffix(suffix.removeprefix("."))
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not confirms)
        dialog.selectFile(suggested.name)
        names = dialog.selectedFiles() if is_accepted(dialog) else []
        return Path(names[0]) if names else None

    def folder(self, title: str, start: Path | None) -> Path | None:
        """Ask for an existing folder; None if cancelled."""
        name = QFileDialog.getExistingDirectory(self._parent, title, str(start or ""))
        return Path(name) if name else None

    def line(self, title: str, label: str, text: str) -> str | None:
        """Ask for a line of text; None if cancelled."""
        answer, has_answer = QInputDialog.getText(
            self._parent, title, as_written(label), QLineEdit.EchoMode.Normal, text
        )
        return answer.strip() if has_answer else None

    def tags(self, title: str, label: str, text: str, known: Sequence[str]) -> str | None:
        """Ask for tags, separated by commas, with completion from the known tags; None if cancelled."""
        dialog = QInputDialog(self._parent)
        dialog.setWindowTitle(title)
        dialog.setLabelText(as_written(label))
        dialog.setTextValue(text)
        line = dialog.findChild(QLineEdit)
        assert isinstance(line, QLineEdit)
        TagLine(line, known)
        return dialog.textValue().strip() if is_accepted(dialog) else None

    def show_text(self, title: str, html: str) -> None:
        """Show an explanation in a window that blocks no other."""
        box = self._message_box(title)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.RichText)
        box.setText(html)
        box.setModal(False)
        box.show()

    def paragraph(self, title: str, label: str, text: str) -> str | None:
        """Ask for several lines of text; None if cancelled."""
        dialog = QInputDialog(self._parent)
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
        dialog.setWindowTitle(title)
        dialog.setLabelText(as_written(label))
        dialog.setTextValue(text)
        # Qt sets an accessible name for single-line fields, but not for this one.
        field = dialog.findChild(QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setAccessibleName(label)
        return dialog.textValue().rstrip() if is_accepted(dialog) else None

    def choice(self, title: str, label: str, options: Sequence[str], current: int) -> str | None:
        """Ask for one of several options; None if cancelled."""
        answer, has_answer = QInputDialog.getItem(self._parent, title, label, list(options), current, False)
        return answer if has_answer else None

    def report(self, title: str, text: str) -> None:
        """Show a long text for reading and copying."""
        dialog = named(QDialog(self._parent), "report")
        dialog.setWindowTitle(title)
        field = QPlainTextEdit(text, dialog, readOnly=True)
        field.setAccessibleName(title)
        buttons = close_button(dialog)
        v_box(dialog, field, buttons)
        dialog.resize(720, 480)
        dialog.exec()
        dialog.deleteLater()

    def tell(self, title: str, text: str, details: str = "") -> None:
        """Show a warning with its details."""
        box = self._message_box(title)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(text)
        box.setInformativeText(details)
        box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        box.exec()
        box.deleteLater()

    def tell_bug(self, report: str, file: Path | None) -> None:
        """Show that Subflow has a bug, and offer the crash report for copying; ``file`` is None if it was not saved."""
        box = named(self._message_box(tr("Subflow has a bug")), "bug")
        box.setIcon(QMessageBox.Icon.Critical)
        box.setText(tr("Something went wrong that should not have. Your scenario and your runs are still there."))
        texts = [tr("Please save your work and report this; the report describes where it happened. Nothing is sent.")]
        if file is not None:
            texts.append(tr("The report is kept: Help › Crash reports lists it."))
        box.setInformativeText(" ".join(texts))
        box.setDetailedText(report)
        copy = QPushButton(tr("Copy report"), box)
        box.addButton(copy, QMessageBox.ButtonRole.ActionRole)
        # A button of a message box normally closes it; this one only copies.
        copy.clicked.disconnect()
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report))
        box.addButton(QMessageBox.StandardButton.Close)
        box.exec()
        box.deleteLater()
