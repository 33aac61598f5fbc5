"""Questions to the person at the screen, behind one class, so that tests answer them without a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from PySide6.QtCore import Qt
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

# Translated by whoever shows them.
SCENARIO_FILTER = translatable("Scenarios (*.toml);;All files (*)")
DATABASE_FILTER = translatable("Databases (*.subflow *.db);;All files (*)")
CSV_FILTER = translatable("CSV tables (*.csv)")
PAGE_FILTER = translatable("Web pages (*.html)")

_FRAME_BUTTONS = 120  # px that a window's icon and buttons take beside its title, at most

SaveAnswer = Literal["save", "discard", "cancel"]
TrainingAnswer = Literal["background", "stop", "cancel"]

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class Asking(Protocol[A_co]):
    """A dialog that asks for something of its own."""

    @property
    def answer(self) -> A_co:
        """What was answered; asked for after it was accepted."""

    def exec(self) -> int:
        """Shows it until it is closed; see `QDialog`."""

    def deleteLater(self) -> None:
        """It is not needed any more; see `QObject`."""


def is_accepted(dialog: QDialog | Asking[A]) -> bool:
    """Asks what a dialog asks, which is gone then but for its answers."""
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    dialog.deleteLater()
    return accepted


def open_dialog(dialog: QDialog) -> None:
    """Shows a dialog until it is closed; what lies behind it waits, the program does not."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


class Dialogs:
    """Modal questions of one window."""

    def __init__(self, parent: QWidget) -> None:
        """All dialogs belong to ``parent``."""
        self._parent = parent

    def ask_save_changes(self, name: str) -> SaveAnswer:
        """Whether to keep the changes of a scenario that is about to be closed."""
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
        """What is to become of trainings that go on while the window closes."""
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
        """What a dialog was answered, or None if it was not accepted.

        Args:
            make: the dialog, a `functools.partial` that leaves its parent open.
        """
        dialog = make(self._parent)
        return dialog.answer if is_accepted(dialog) else None

    def confirm(self, title: str, text: str, details: str, do_it: str) -> bool:
        """Whether to go on with something that cannot be undone; ``do_it`` is the button that says so."""
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
        """An existing file, or None."""
        name, _ = QFileDialog.getOpenFileName(self._parent, title, str(folder or ""), filters)
        return Path(name) if name else None

    def save_path(self, title: str, filters: str, suggested: Path) -> Path | None:
        """A file to write, or None; its suffix is that of ``suggested`` if none is typed.

        Whether an existing file may be replaced has been asked.
        """
        return self._ask_for_file(title, filters, suggested, confirms=True)

    def database_path(self, title: str, suggested: Path) -> Path | None:
        """A database to open or to make, or None; one that exists is not replaced, so nothing is asked about it."""
        return self._ask_for_file(title, tr(DATABASE_FILTER), suggested, confirms=False)

    def _message_box(self, title: str) -> QMessageBox:
        """An empty message under a title, at least so wide that the title is not cut."""
        box = QMessageBox(self._parent)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(title)
        # Qt leaves room for the title alone, not for the program's name after it and the buttons of the frame.
        label = box.findChild(QLabel, "qt_msgbox_label")
        assert isinstance(label, QLabel)
        whole = f"{title} — {QGuiApplication.applicationDisplayName()}"
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance(whole) + _FRAME_BUTTONS)
        return box

    def _ask_for_file(self, title: str, filters: str, suggested: Path, *, confirms: bool) -> Path | None:
        # Not the static function: it asks about the name that was typed, which is not yet the one with the suffix.
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
        """An existing folder, or None."""
        name = QFileDialog.getExistingDirectory(self._parent, title, str(start or ""))
        return Path(name) if name else None

    def line(self, title: str, label: str, text: str) -> str | None:
        """A line of text, or None."""
        answer, has_answer = QInputDialog.getText(
            self._parent, title, as_written(label), QLineEdit.EchoMode.Normal, text
        )
        return answer.strip() if has_answer else None

    def tags(self, title: str, label: str, text: str, known: Sequence[str]) -> str | None:
        """Tags, separated by commas, or None; those that are known are offered while one is typed."""
        dialog = QInputDialog(self._parent)
        dialog.setWindowTitle(title)
        dialog.setLabelText(as_written(label))
        dialog.setTextValue(text)
        line = dialog.findChild(QLineEdit)
        assert isinstance(line, QLineEdit)
        TagLine(line, known)
        return dialog.textValue().strip() if is_accepted(dialog) else None

    def show_text(self, title: str, html: str) -> None:
        """Shows an explanation; the person works on beside it."""
        box = self._message_box(title)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.RichText)
        box.setText(html)
        box.setModal(False)
        box.show()

    def paragraph(self, title: str, label: str, text: str) -> str | None:
        """Several lines of text, or None."""
        dialog = QInputDialog(self._parent)
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
        dialog.setWindowTitle(title)
        dialog.setLabelText(as_written(label))
        dialog.setTextValue(text)
        # Qt names the field of a single line by its label, but not this one.
        field = dialog.findChild(QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setAccessibleName(label)
        return dialog.textValue().rstrip() if is_accepted(dialog) else None

    def choice(self, title: str, label: str, options: Sequence[str], current: int) -> str | None:
        """One of several texts, or None."""
        answer, has_answer = QInputDialog.getItem(self._parent, title, label, list(options), current, False)
        return answer if has_answer else None

    def report(self, title: str, text: str) -> None:
        """Shows a text of many lines, to read and to copy."""
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
        """Says that something did not work, why, and what to do."""
        box = self._message_box(title)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(text)
        box.setInformativeText(details)
        box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        box.exec()
        box.deleteLater()

    def tell_bug(self, report: str, file: Path | None) -> None:
        """Says that Subflow has a bug, and offers its report to copy, which is kept in ``file`` if anywhere."""
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
        # A button of a message box closes it; this one only copies.
        copy.clicked.disconnect()
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report))
        box.addButton(QMessageBox.StandardButton.Close)
        box.exec()
        box.deleteLater()
