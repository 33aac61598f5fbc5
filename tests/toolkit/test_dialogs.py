"""Questions: the confirmations of file dialogs, and the conversion of their answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.present import child

from subflow_app.toolkit.dialogs import CSV_FILTER, SCENARIO_FILTER, Dialogs


@pytest.fixture
def dialogs(qtbot: QtBot) -> Dialogs:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = Dialogs(parent)
    made.kept_parent = parent  # type: ignore[attr-defined] # the dialogs do not own it
    return made


def test_existing_database_opens_unasked(dialogs: Dialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bool, str]] = []

    def accept(dialog: QFileDialog) -> int:
        seen.append((dialog.testOption(QFileDialog.Option.DontConfirmOverwrite), dialog.defaultSuffix()))
        return int(QFileDialog.DialogCode.Accepted)

    monkeypatch.setattr(QFileDialog, "exec", accept)

    assert dialogs.database_path("Open", tmp_path / "runs.db") == tmp_path / "runs.db"
    assert dialogs.save_path("Export", CSV_FILTER, tmp_path / "data.csv") == tmp_path / "data.csv"
    dialogs.save_path("Save", SCENARIO_FILTER, tmp_path / "lab.subflow.toml")
    # A CSV file would be replaced, which requires confirmation; a missing suffix is added before.
    assert seen == [(True, "db"), (False, "csv"), (False, "subflow.toml")]


def test_cancelled_file_dialog_is_no_file(dialogs: Dialogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "exec", lambda _dialog: int(QFileDialog.DialogCode.Rejected))

    assert dialogs.save_path("Export", CSV_FILTER, tmp_path / "data.csv") is None


def test_unsaved_changes(dialogs: Dialogs, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in ("save", "discard", "cancel"):
        button = getattr(QMessageBox.StandardButton, answer.title())
        asked: list[str] = []
        monkeypatch.setattr(QMessageBox, "exec", lambda box, b=button, told=asked: told.append(box.text()) or b)
        assert dialogs.ask_save_changes("demo.toml") == answer
        assert "demo.toml" in asked[0]


@pytest.mark.parametrize("is_meant", [True, False])
def test_confirmation_names_what_it_does(dialogs: Dialogs, monkeypatch: pytest.MonkeyPatch, is_meant: bool) -> None:
    def press(box: QMessageBox) -> int:
        wanted = "Remove for good" if is_meant else "Cancel"
        next(b for b in box.buttons() if b.text().replace("&", "") == wanted).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", press)

    assert dialogs.confirm("Remove", "Remove all?", "Gone then.", "Remove for good") is is_meant


def test_a_typed_line_has_no_blanks_around_it(dialogs: Dialogs, monkeypatch: pytest.MonkeyPatch) -> None:
    for typed, answer in ((("  new ", True), "new"), (("new", False), None)):
        monkeypatch.setattr(QInputDialog, "getText", lambda *_arguments, typed=typed: typed)
        assert dialogs.line("Rename", "Name:", "old") == answer


@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_paragraph_has_a_field_by_name(dialogs: Dialogs, monkeypatch: pytest.MonkeyPatch, is_accepted: bool) -> None:
    named = []

    def answer(dialog: QInputDialog) -> int:
        field = child(dialog, QPlainTextEdit)
        named.append((field.accessibleName(), field.toPlainText()))
        field.setPlainText("a\nb\n")
        return int(is_accepted)

    monkeypatch.setattr(QInputDialog, "exec", answer)

    assert dialogs.paragraph("Note", "Note:", "old") == ("a\nb" if is_accepted else None)
    assert named == [("Note:", "old")]
