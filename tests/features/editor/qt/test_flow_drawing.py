"""Flows drawn on the canvas: the dialog with proposed paths, ribbons, and paths assembled by clicks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.topology import LEFT, drag_on, pixel_of

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.features.editor.qt.topology.flow_drawing import FlowDialog
from subflow_app.features.editor.qt.topology.items import PreviewItem

# Two ways from a to b, one of them with two parallel links.
NETWORK = """\
format = 1
name = "Two ways"
duration = "2s"
[nodes]
a = { at = [-200, 0] }
b = { at = [200, 0] }
top = { kind = "router", at = [0, -80] }
low = { kind = "router", at = [0, 80] }
[links]
a-top = { ends = ["a", "top"], rate = "10Mbit/s" }
top-b = { ends = ["top", "b"], rate = "5Mbit/s" }
a-low = { ends = ["a", "low"], rate = "10Mbit/s" }
low-b = { ends = ["low", "b"], rate = "8Mbit/s", delay = "20ms" }
low-b-2 = { ends = ["low", "b"], rate = "1Mbit/s", delay = "90ms" }
"""


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(Drawing)


@pytest.fixture
def network(desk: Desk) -> Iterator[Desk]:
    desk.documents.open_text(NETWORK, "network")
    desk.topology.canvas.setFocus()
    yield desk
    desk.features[Drawing].flows.close()


def doc_of(desk: Desk) -> ScenarioDoc:
    return desk.documents.doc


def dialog_of(desk: Desk) -> FlowDialog:
    return present(desk.features[Drawing].flows.dialog)


def ask(desk: Desk, *hosts: str) -> FlowDialog:
    """The dialog for a flow from the first host to the second."""
    desk.topology.scene.choose([f"nodes.{host}" for host in hosts])
    desk.bar.trigger("topology.add_flow")
    return dialog_of(desk)


def check(dialog: FlowDialog, is_wanted: bool, *rows: int) -> None:
    state = Qt.CheckState.Checked if is_wanted else Qt.CheckState.Unchecked
    for row in rows:
        dialog.paths.setData(dialog.paths.index(row, 0), state, Qt.ItemDataRole.CheckStateRole)


def pull(desk: Desk, first: str, second: str) -> None:
    view = desk.topology
    drag_on(view, pixel_of(view, f"nodes.{first}"), pixel_of(view, f"nodes.{second}"))


def has_preview(desk: Desk) -> bool:
    (preview,) = (item for item in desk.topology.scene.items() if isinstance(item, PreviewItem))
    return not preview.boundingRect().isEmpty()


def test_a_flow_is_pulled_from_host_to_host_with_disjoint_paths_chosen(network: Desk) -> None:
    QTest.keyClick(network.topology.canvas, Qt.Key.Key_T)
    pull(network, "a", "b")
    dialog = dialog_of(network)
    shown = [str(dialog.paths.index(row, 0).data()) for row in range(dialog.paths.rowCount())]
    assert "a-low → low-b\n8 Mbit/s  ·  20 ms  ·  2 links  ·  disjoint" in shown
    assert len(shown) == 3
    assert has_preview(network)

    dialog.accept()

    paths = doc_of(network).value("flows.f1.paths")
    assert {tuple(path) for path in paths} == {("a-top", "top-b"), ("a-low", "low-b")}
    assert doc_of(network).value("flows.f1.controller") == "lia"
    assert doc_of(network).is_valid
    assert network.topology.scene.chosen == ("flows.f1",)
    assert not has_preview(network)
    network.document_stack.undo()
    assert doc_of(network).text == NETWORK


def test_kind_algorithms_count_and_paths_are_chosen_in_the_dialog(network: Desk) -> None:
    dialog = ask(network, "b", "a")
    dialog.kind.setCurrentText("tcp")
    dialog.kind.activated.emit(dialog.kind.currentIndex())
    assert not dialog.scheduler.isEnabled()
    dialog.controller.setCurrentText("cubic")
    dialog.controller.activated.emit(dialog.controller.currentIndex())
    dialog.count.setValue(4)
    check(dialog, True, 2)
    dialog.accept()

    flow = doc_of(network).value("flows.f1")
    wanted = {"kind": "tcp", "from": "b", "to": "a", "controller": "cubic", "count": 4}
    assert flow == wanted | {"paths": [list(dialog.draft.paths[2].links)]}
    assert doc_of(network).is_valid


def test_a_new_flow_has_the_size_that_is_typed(network: Desk) -> None:
    dialog = ask(network, "a", "b")
    QTest.keyClicks(dialog.flow_size, "5 apples")
    assert not dialog.accept_button.isEnabled()
    assert "5 apples" in dialog.told.text()
    dialog.flow_size.clear()
    QTest.keyClicks(dialog.flow_size, "50")
    dialog.accept_button.click()
    assert doc_of(network).value("flows.f1.size") == "50MB"
    assert doc_of(network).is_valid


def test_a_path_is_put_together_by_clicking_links_and_wrong_ones_are_refused(network: Desk) -> None:
    dialog = ask(network, "a", "b")
    check(dialog, False, 0, 1, 2)
    assert not dialog.accept_button.isEnabled()
    assert "at least one path" in dialog.told.text()

    dialog.pick.click()
    viewport = network.topology.canvas.viewport()
    QTest.mouseClick(viewport, LEFT, pos=pixel_of(network.topology, "links.top-b"))
    assert dialog.told.text() == "The path has reached a, where top-b does not start."
    for link in ("a-low", "low-b-2"):
        QTest.mouseClick(viewport, LEFT, pos=pixel_of(network.topology, f"links.{link}"))

    assert dialog.draft.wanted == [("a-low", "low-b-2")]
    assert network.topology.canvas.tool is None
    dialog.accept()
    assert doc_of(network).value("flows.f1.paths") == [["a-low", "low-b-2"]]


def test_escape_on_the_canvas_ends_the_picking_and_leaves_the_dialog(network: Desk) -> None:
    ask(network, "a", "b").pick.click()
    QTest.keyClick(network.topology.canvas, Qt.Key.Key_Escape)

    assert dialog_of(network).draft.picked is None
    assert network.topology.canvas.tool is None


def test_paths_of_a_flow_are_edited_later(network: Desk) -> None:
    ask(network, "a", "b").accept()
    network.topology.select("flows.f1")
    names = [action.objectName() for action in network.topology.build_menu("flows.f1").actions()]
    assert "topology.edit_paths" in names

    network.bar.trigger("topology.edit_paths")
    dialog = dialog_of(network)
    check(dialog, False, 0)
    dialog.accept()

    assert len(doc_of(network).value("flows.f1.paths")) == 1
    assert network.document_stack.undoText() == "Set paths of f1"


def test_routers_and_unconnected_hosts_are_refused_with_the_reason(network: Desk) -> None:
    network.bar.trigger("topology.tool_flow")
    pull(network, "top", "b")
    assert "top is a router" in network.banners.text("action")
    assert network.features[Drawing].flows.dialog is None

    network.topology.scene.choose(["links.top-b", "links.a-low"])
    network.bar.trigger("topology.delete")
    network.features[Drawing].flows.ask_new("a", "b")
    assert not dialog_of(network).accept_button.isEnabled()
    assert "No path leads from a to b" in dialog_of(network).told.text()


def test_the_dialog_goes_when_the_network_changes(network: Desk) -> None:
    network.features[Drawing].flows.ask_new("a", "b")
    doc_of(network).move_nodes({"a": (-210, 0)})
    assert network.features[Drawing].flows.dialog is not None
    network.topology.scene.choose(["links.top-b"])
    network.bar.trigger("topology.delete")
    assert network.features[Drawing].flows.dialog is None
    QApplication.processEvents()
