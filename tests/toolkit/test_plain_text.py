"""Names, notes and file names from outside appear unchanged in places where Qt would treat them as HTML."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

import subflow_app
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.widgets.shorthand import Label, as_written
from subflow_app.toolkit.widgets.tables import TableModel
from subflow_app.vocabulary.tables import Column

MARKUP = "<b>bold</b><img src='/etc/hostname'>"


def test_a_label_shows_markup_as_it_is(qtbot: QtBot) -> None:
    assert Label(MARKUP).textFormat() is Qt.TextFormat.PlainText
    assert Label(textFormat=Qt.TextFormat.RichText).textFormat() is Qt.TextFormat.RichText


@pytest.mark.parametrize("text", ["plain", "a < b & c", ""])
def test_what_qt_shows_as_it_is_stays(text: str) -> None:
    assert as_written(text) == text


def test_what_looks_like_markup_is_spelled_out() -> None:
    assert "&lt;b&gt;bold&lt;/b&gt;&lt;img" in as_written(MARKUP)


def test_tool_tips_of_tables_are_spelled_out(qtbot: QtBot) -> None:
    model: TableModel[str] = TableModel([Column("Name", str)], tip=lambda row: row)
    model.show_rows([MARKUP])
    assert model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == as_written(MARKUP)


def test_messages_are_plain(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    box = Dialogs(parent)._message_box("A title")
    assert isinstance(box, QMessageBox)
    assert box.textFormat() is Qt.TextFormat.PlainText


def test_no_part_of_the_window_has_a_label_that_guesses() -> None:
    folder = Path(subflow_app.__file__).parent
    guessing = [
        f"{path.relative_to(folder)}:{node.lineno}"
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "QLabel"
    ]
    assert guessing == []
