"""Drawing in the window: the canvas together with the inspector, the dialog of flows, and the lock of nodes."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from tests.helpers.present import child
from tests.helpers.window import ScriptedDialogs

from subflow_app.shell.main_window import MainWindow


def test_several_selected_parts_stay_selected_while_the_inspector_shows_the_latest(window: MainWindow) -> None:
    window.topology.scene.choose(["nodes.client", "links.wifi"])

    assert list(window.topology.scene.chosen) == ["nodes.client", "links.wifi"]
    assert window.inspector.key == "links.wifi"
    window.inspector.show_key("links.lte")
    assert list(window.topology.scene.chosen) == ["links.lte"]


def test_the_inspector_shows_a_part_under_its_new_name(window: MainWindow, dialogs: ScriptedDialogs) -> None:
    window.topology.scene.choose(["links.wifi"])
    dialogs.answer("line", "wlan")
    window.bar.trigger("topology.rename")
    assert window.inspector.key == "links.wlan"


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
