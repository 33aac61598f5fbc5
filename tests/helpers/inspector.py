"""The inspector on a small scenario, with helpers that type and choose."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QUndoStack
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.inspector import Inspector
from subflow_app.features.editor.qt.inspector.editors import ChoiceEditor, TextEditor
from subflow_app.features.editor.qt.inspector.param_form import FieldRow
from subflow_sim.catalog import catalog

DEMO = """\
format = 1
duration = "60s"  # a minute

[nodes.client]
[nodes.hub]
kind = "router"
[nodes.server]

[links.wifi]
ends = ["client", "hub"]
rate = "8Mbit/s"
loss = "2%"  # Bernoulli
[links.wire]
ends = ["hub", "server"]
rate = 1e9

[flows.download]
kind = "mptcp"
from = "server"
to = "client"

[[events]]
at = "30s"
link = "wifi"
up = false
"""


def show_inspector(qtbot: QtBot, stack: QUndoStack, text: str = DEMO) -> Inspector:
    """An active inspector whose changes are pushed onto this stack."""
    inspector = Inspector(ScenarioDoc(text), stack, catalog())
    qtbot.addWidget(inspector)
    inspector.resize(360, 800)
    with qtbot.waitActive(inspector):
        inspector.show()
        inspector.activateWindow()
    return inspector


def doc_of(inspector: Inspector) -> ScenarioDoc:
    return inspector._doc


def row(inspector: Inspector, key: str) -> FieldRow:
    inspector.show_key(key)
    found = inspector.form.row(key)
    assert found is not None, key
    return found


def text_editor(inspector: Inspector, key: str) -> TextEditor:
    editor = row(inspector, key).editor
    assert isinstance(editor, TextEditor)
    return editor


def choice_editor(inspector: Inspector, key: str) -> ChoiceEditor:
    editor = row(inspector, key).editor
    assert isinstance(editor, ChoiceEditor)
    return editor


def type_text(inspector: Inspector, key: str, text: str, *, enter: bool = True) -> TextEditor:
    editor = text_editor(inspector, key)
    editor.selectAll()
    if text:
        QTest.keyClicks(editor, text)
    else:
        QTest.keyClick(editor, Qt.Key.Key_Delete)
    if enter:
        QTest.keyClick(editor, Qt.Key.Key_Return)
    return editor


def choose(editor: ChoiceEditor, value: str | None) -> None:
    """Chooses a value like a click into the list."""
    index = editor.findData(value)
    assert index >= 0, value
    editor.setCurrentIndex(index)
    editor.activated.emit(index)
