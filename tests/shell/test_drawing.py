"""Drawing in the window: the canvas together with the inspector, the dialog of flows, and the lock of nodes."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QToolButton
from tests.helpers.present import child
from tests.helpers.window import ScriptedDialogs

from subflow_app.shell.main_window import MainWindow


def test_several_selected_parts_stay_selected_while_the_inspector_shows_the_latest(window: MainWindow) -> None:
    window.topology.scene.choose(["nodes.client", "links.wifi"])

    assert list(window.topology.scene.chosen) == ["nodes.client", "links.wifi"]
    assert window.inspector.key == "links.wifi"
    window.inspector.show_key("links.lte")
    assert list(window.topology.scene.chosen) == ["links.lte"]


def test_a_part_is_renamed_where_its_properties_are(window: MainWindow) -> None:
    before = window.documents.doc.text
    window.activateWindow()
    window.topology.scene.choose(["links.wifi"])
    window.bar.trigger("topology.rename")
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    assert (editor.text(), editor.selectedText()) == ("wifi", "wifi")
    QTest.keyClicks(editor, "wlan")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert window.inspector.key == "links.wlan"
    assert window.documents.doc.value("flows.download.paths") == [["wlan"], ["lte"]]
    assert window.topology.scene.chosen == ("links.wlan",)
    window.bar.trigger("edit.undo")
    assert window.documents.doc.text == before


def test_a_double_click_on_a_node_edits_its_name(window: MainWindow) -> None:
    window.activateWindow()
    at = window.topology.canvas.mapFromScene(window.topology.scene.node_positions()["client"])
    QTest.mouseDClick(window.topology.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    assert editor.selectedText() == "client"


def test_the_paths_of_a_flow_are_chosen_from_the_inspector(window: MainWindow) -> None:
    window.inspector.show_key("flows.download.paths")
    button = window.inspector.form.row("flows.download.paths")
    assert button is not None
    assert isinstance(button.editor, QPushButton)
    assert button.editor.text() == "wifi, lte"
    button.editor.click()
    dialog = window.drawing.flows.dialog
    assert dialog is not None
    assert dialog.draft.wanted == [("wifi",), ("lte",)]
    dialog.reject()


def test_a_double_click_edits_a_note(window: MainWindow, dialogs: ScriptedDialogs) -> None:
    dialogs.answer("paragraph", "here", "there")
    window.drawing._place("note", QPointF(0, -200))
    window.activateWindow()
    at = window.topology.canvas.mapFromScene(QPointF(0, -200)) + QPoint(8, 8)
    QTest.mouseDClick(window.topology.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert window.documents.doc.value("notes.0.text") == "there"


def test_the_dialog_of_a_flow_goes_with_its_scenario(window: MainWindow) -> None:
    window.drawing.flows.ask_new("client", "server")
    assert window.drawing.flows.dialog is not None
    window.bar.trigger("file.new_empty")
    assert window.drawing.flows.dialog is None
    QApplication.processEvents()


def test_the_button_beside_locked_nodes_unlocks_them(window: MainWindow) -> None:
    window.bar.trigger("arrange.lock")
    button = child(window.topology, QToolButton, "unlockButton")
    button.click()
    assert not window.bar["arrange.lock"].isChecked()
    assert window.topology.canvas.can_move_nodes
