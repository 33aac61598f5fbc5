"""Drawing a topology: actions, gestures, and undo of every byte."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.topology import LEFT, drag_on, pixel_of
from tests.helpers.window import TWO_PATHS, ScriptedDialogs

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.features.editor.qt.topology.tools import PART_MIME
from subflow_app.shell.actions.file import file_rows


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(Drawing, actions=file_rows())


CONTROL = Qt.KeyboardModifier.ControlModifier


def doc_of(desk: Desk) -> ScenarioDoc:
    return desk.documents.doc


def test_new_empty_scenario_says_how_to_begin(desk: Desk) -> None:
    desk.bar.trigger("file.new_empty")

    assert doc_of(desk).data.keys() == {"format", "name", "duration", "seed"}
    assert "Drag a host" in desk.topology.notice
    assert not desk.bar["run.toggle"].isEnabled()


def test_deleting_takes_what_hangs_on_it_along_and_comes_back_to_the_byte(desk: Desk) -> None:
    desk.topology.scene.choose(["links.wifi"])
    desk.bar.trigger("topology.delete")

    assert doc_of(desk).value("flows.download.paths") == [["lte"]]
    assert desk.document_stack.undoText() == "Delete wifi"
    assert doc_of(desk).is_valid
    desk.topology.scene.choose(["nodes.client"])
    desk.bar.trigger("topology.delete")
    assert "flows" not in doc_of(desk).data
    desk.document_stack.setIndex(0)
    assert doc_of(desk).text == TWO_PATHS


def test_copy_and_paste_go_through_text_on_the_clipboard(desk: Desk) -> None:
    desk.bar.trigger("topology.select_all")
    desk.bar.trigger("topology.copy")
    desk.bar.trigger("topology.paste")

    assert "[links.wifi]" in QGuiApplication.clipboard().text()
    assert set(doc_of(desk).data["nodes"]) == {"client", "server", "client-2", "server-2"}
    assert doc_of(desk).value("flows.download-2.paths") == [["wifi-2"], ["lte-2"]]
    assert set(desk.topology.scene.chosen) == {"nodes.client-2", "nodes.server-2", "links.wifi-2", "links.lte-2"}
    # Pasting into another document.
    desk.document_stack.setClean()
    desk.bar.trigger("file.new_empty")
    desk.bar.trigger("topology.paste")
    assert doc_of(desk).is_valid


def test_cut_parts_come_back_by_paste_and_by_undo(desk: Desk) -> None:
    desk.topology.scene.choose(["links.lte"])
    desk.bar.trigger("topology.cut")
    assert "lte" not in doc_of(desk).data["links"]
    desk.bar.trigger("topology.paste")
    assert doc_of(desk).value("links.lte.rate") == "4Mbit/s"
    desk.document_stack.setIndex(0)
    assert doc_of(desk).text == TWO_PATHS


def test_pasting_what_is_no_part_says_so(desk: Desk) -> None:
    QGuiApplication.clipboard().setText("dear reader")
    desk.bar.trigger("topology.paste")

    assert "holds no parts of a scenario" in desk.banners.text("action")
    assert doc_of(desk).text == TWO_PATHS


def test_duplicating_a_link_makes_a_parallel_one(desk: Desk) -> None:
    desk.topology.scene.choose(["links.wifi"])
    desk.bar.trigger("topology.duplicate")

    assert doc_of(desk).value("links.wifi-2.ends") == ["client", "server"]
    assert desk.topology.scene.chosen == ("links.wifi-2",)


def test_renaming_leads_to_the_name_of_the_selected_part(desk: Desk, qtbot: QtBot) -> None:
    desk.topology.scene.choose(["links.wifi"])
    with qtbot.waitSignal(desk.features[Drawing].name_wanted) as wanted:
        desk.bar.trigger("topology.rename")
    assert wanted.args == ["links.wifi"]


def test_two_selected_nodes_are_connected(desk: Desk) -> None:
    assert not desk.bar["topology.connect"].isEnabled()
    desk.topology.scene.choose(["nodes.client", "nodes.server"])
    desk.bar.trigger("topology.connect")

    assert doc_of(desk).value("links.l1.ends") == ["client", "server"]
    assert desk.topology.scene.chosen == ("links.l1",)


def test_right_click_offers_what_fits(desk: Desk) -> None:
    for key in ("", "nodes.client", "links.wifi", "flows.download"):
        desk.topology.select(key)
        names = [action.objectName() for action in desk.topology.build_menu(key).actions()]
        assert ("topology.paste" in names, "topology.delete" in names) == (key == "", key != ""), key


def test_text_that_is_no_toml_cannot_be_drawn_in(desk: Desk) -> None:
    doc_of(desk).set_text("not TOML [")
    desk.topology.scene.choose(["nodes.client"])

    names = ("paste", "delete", "copy", "rename", "tool_host")
    assert not any(desk.bar[f"topology.{name}"].isEnabled() for name in names)
    assert not desk.topology.canvas.tool


# --- gestures -------------------------------------------------------------------------------------------------------


def pixel(desk: Desk, x: float, y: float) -> QPoint:
    return desk.topology.canvas.mapFromScene(QPointF(x, y))


def click(desk: Desk, *places: QPoint) -> None:
    for at in places:
        QTest.mouseClick(desk.topology.canvas.viewport(), LEFT, pos=at)


def press(desk: Desk, *keys: Qt.Key, control: bool = False) -> None:
    for key in keys:
        QTest.keyClick(desk.topology.canvas, key, CONTROL if control else Qt.KeyboardModifier.NoModifier)


@pytest.fixture
def empty(desk: Desk) -> Desk:
    """A desk with an empty scenario, and the focus on its canvas."""
    desk.bar.trigger("file.new_empty")
    desk.topology.canvas.setFocus()
    return desk


def test_escape_gives_up_a_drag_first_and_the_tool_then(empty: Desk) -> None:
    viewport, at = empty.topology.canvas.viewport(), pixel(empty, 0, 0)
    empty.bar.trigger("topology.tool_host")
    QTest.mousePress(viewport, LEFT, pos=at)
    press(empty, Qt.Key.Key_Escape)
    QTest.mouseRelease(viewport, LEFT, pos=at)

    assert "nodes" not in doc_of(empty).data
    assert empty.features[Drawing].tool == "host"
    press(empty, Qt.Key.Key_Escape)
    assert empty.features[Drawing].tool == "select"


def test_a_part_is_dragged_from_the_palette(empty: Desk) -> None:
    canvas, at = empty.topology.canvas, QPointF(pixel(empty, 40, 60))
    how = (Qt.DropAction.CopyAction, LEFT, Qt.KeyboardModifier.NoModifier)

    def enters(data: QMimeData) -> bool:
        event = QDragEnterEvent(at.toPoint(), how[0], data, *how[1:])
        canvas.dragEnterEvent(event)
        return event.isAccepted()

    part, file = QMimeData(), QMimeData()
    part.setData(PART_MIME, b"router")
    file.setUrls([QUrl("file:///a.toml")])
    assert enters(part)
    canvas.dropEvent(QDropEvent(at, how[0], part, *how[1:]))
    assert doc_of(empty).data["nodes"] == {"r1": {"kind": "router", "at": [40, 60]}}
    assert not enters(file), "files are for the window to take"


def test_the_keyboard_draws_alone(empty: Desk) -> None:
    press(empty, Qt.Key.Key_H, Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_L)
    press(empty, Qt.Key.Key_A, control=True)
    press(empty, Qt.Key.Key_Return)
    press(empty, Qt.Key.Key_A, Qt.Key.Key_L, control=True)

    assert [link["ends"] for link in doc_of(empty).data["links"].values()] == [["h1", "h2"], ["h1", "h2"]]


def test_shift_and_arrows_select_one_more(desk: Desk) -> None:
    desk.topology.canvas.setFocus()
    desk.topology.select("nodes.server")
    QTest.keyClick(desk.topology.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)

    assert len(desk.topology.scene.chosen) == 2


# --- notes ----------------------------------------------------------------------------------------------------------


def test_a_note_is_placed_moved_edited_and_deleted(empty: Desk, dialogs: ScriptedDialogs) -> None:
    before = doc_of(empty).text
    empty.topology.activated.connect(empty.features[Drawing].edit_note)
    dialogs.answer("paragraph", "Both lines\nshare a router", "Only one does", "")
    empty.bar.trigger("topology.tool_note")
    click(empty, pixel(empty, -60, -30))
    assert empty.bar["topology.tool_select"].isChecked()  # the next click adds no other note
    assert doc_of(empty).data["notes"] == [{"at": [-60, -30], "text": "Both lines\nshare a router"}]
    assert empty.topology.scene.chosen == ("notes.0",)
    assert empty.document_stack.undoText() == "Add note"

    at = pixel(empty, -50, -20)
    drag_on(empty.topology, at, at + QPoint(40, 30))
    assert doc_of(empty).value("notes.0.at") == [-20, 0]
    assert empty.document_stack.undoText() == "Move note"
    QTest.mouseDClick(empty.topology.canvas.viewport(), LEFT, pos=at + QPoint(40, 30))
    assert doc_of(empty).value("notes.0.text") == "Only one does"
    # An empty answer keeps the note.
    empty.bar.trigger("topology.rename")
    assert doc_of(empty).value("notes.0.text") == "Only one does"
    empty.bar.trigger("topology.duplicate")
    assert doc_of(empty).value("notes.1.at") == [20, 40]
    empty.topology.scene.choose(["notes.0", "notes.1"])
    empty.bar.trigger("topology.delete")
    assert "notes" not in doc_of(empty).data
    empty.document_stack.setIndex(0)
    assert doc_of(empty).text == before


def test_notes_and_nodes_move_together_as_one_step(empty: Desk, dialogs: ScriptedDialogs) -> None:
    dialogs.answer("paragraph", "here")
    empty.bar.trigger("topology.tool_host")
    click(empty, pixel(empty, -150, 0))
    empty.bar.trigger("topology.tool_note")
    click(empty, pixel(empty, 0, -100))
    empty.topology.scene.choose(["nodes.h1", "notes.0"])
    press(empty, Qt.Key.Key_Down, control=True)

    assert doc_of(empty).value("notes.0.at") == [0, -90]
    assert empty.document_stack.undoText() == "Move 2 parts"
    empty.document_stack.undo()
    assert empty.topology.scene.places()["notes.0"] == QPointF(0, -100)


def test_two_paths_with_a_flow_are_drawn_by_mouse_from_nothing_and_undone_to_the_byte(empty: Desk) -> None:
    before, drawing, view = doc_of(empty).text, empty.features[Drawing], empty.topology
    press(empty, Qt.Key.Key_H)
    click(empty, pixel(empty, -150, 0), pixel(empty, 150, 0))
    press(empty, Qt.Key.Key_R)
    click(empty, pixel(empty, 0, -80))
    assert "connect nodes" in view.notice
    press(empty, Qt.Key.Key_L)
    for name in ("h2", "r1"):
        drag_on(view, pixel_of(view, "nodes.h1"), pixel_of(view, f"nodes.{name}"))
    # A click on each node draws a link too.
    click(empty, pixel_of(view, "nodes.r1"), pixel_of(view, "nodes.h2"))
    press(empty, Qt.Key.Key_Escape)

    nodes, links = doc_of(empty).data["nodes"], doc_of(empty).data["links"]
    assert {name: node["at"] for name, node in nodes.items()} == {"h1": [-150, 0], "h2": [150, 0], "r1": [0, -80]}
    assert [link["ends"] for link in links.values()] == [["h1", "h2"], ["h1", "r1"], ["r1", "h2"]]
    assert (drawing.tool, empty.bar["topology.tool_select"].isChecked()) == ("select", True)
    assert empty.document_stack.count() == 6

    press(empty, Qt.Key.Key_T)
    drag_on(view, pixel_of(view, "nodes.h1"), pixel_of(view, "nodes.h2"))
    present(drawing.flows.dialog).accept()
    assert set(present(doc_of(empty).scenario).flows["f1"].paths) == {("l1",), ("l2", "l3")}
    assert empty.bar["run.toggle"].isEnabled()
    assert (view.notice, len(view.legend.entries)) == ("", 2)
    empty.document_stack.setIndex(0)
    assert doc_of(empty).text == before
