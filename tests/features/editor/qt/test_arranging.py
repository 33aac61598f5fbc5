"""Aligning, spacing, laying out, the grid, the lock and the overview map, through their actions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.topology import drag_on, grid, pixel_of
from tests.helpers.window import TWO_PATHS
from tools.measure.canvas import mesh_text

from subflow_app.features.editor.core.layout import EDGES
from subflow_app.features.editor.qt.topology.drawing import Drawing
from subflow_app.features.editor.qt.topology.labels import LabelItem
from subflow_app.shell.actions.view import arrange_rows

PLACED = TWO_PATHS.replace("[nodes.client]", "[nodes.client]\nat = [0, 0]").replace(
    "[nodes.server]", "[nodes.server]\nat = [613, 90]\n[nodes.third]\nat = [211, 300] # here"
)


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(Drawing, actions=arrange_rows())


@pytest.fixture
def placed(desk: Desk) -> Desk:
    desk.documents.open_text(PLACED, "placed")
    QApplication.processEvents()
    return desk


def places(desk: Desk) -> dict[str, tuple[float, float]]:
    return desk.documents.doc.positions()


def choose(desk: Desk, *names: str) -> None:
    desk.topology.scene.choose([f"nodes.{name}" for name in names])


def test_nothing_is_arranged_without_a_selection(placed: Desk) -> None:
    assert not any(placed.bar[f"arrange.align_{edge}"].isEnabled() for edge in EDGES)
    choose(placed, "client", "server")
    assert all(placed.bar[f"arrange.align_{edge}"].isEnabled() for edge in EDGES)
    assert not placed.bar["arrange.distribute_x"].isEnabled(), "two nodes have but one distance"


def test_aligning_is_one_step_that_keeps_comments(placed: Desk) -> None:
    choose(placed, "client", "server", "third")
    placed.bar.trigger("arrange.align_top")
    assert {y for _, y in places(placed).values()} == {0}
    assert "# here" in placed.documents.doc.text
    placed.bar.trigger("arrange.distribute_x")
    assert places(placed)["third"][0] == 306
    placed.document_stack.setIndex(0)
    assert placed.documents.doc.text == PLACED


def test_everything_is_laid_out_where_nothing_is_selected(placed: Desk) -> None:
    placed.bar.trigger("arrange.lay_out")
    assert places(placed)["server"][0] < places(placed)["client"][0]
    assert placed.document_stack.count() == 1
    placed.document_stack.undo()
    assert placed.documents.doc.text == PLACED


def test_only_the_selection_is_laid_out_where_there_is_one(placed: Desk) -> None:
    choose(placed, "client", "server")
    placed.bar.trigger("arrange.lay_out")
    assert places(placed)["third"] == (211, 300)
    assert places(placed)["server"][0] < places(placed)["client"][0]


def test_a_drag_snaps_to_the_grid(placed: Desk) -> None:
    placed.bar.trigger("arrange.grid")
    start = pixel_of(placed.topology, "nodes.server")
    drag_on(placed.topology, start, start + QPoint(-31, -17))
    x, y = places(placed)["server"]
    assert (x % 20, y % 20) == (0, 0)
    assert (x, y) != (613, 90)


def test_locked_nodes_stay_and_the_panel_says_so(qtbot: QtBot, placed: Desk) -> None:
    placed.bar.trigger("arrange.lock")
    choose(placed, "client", "server")
    start = pixel_of(placed.topology, "nodes.server")
    drag_on(placed.topology, start, start + QPoint(-40, -20))
    assert not placed.bar["arrange.align_left"].isEnabled()
    QTest.keyClick(placed.topology.canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert placed.documents.doc.text == PLACED
    button = present(placed.topology.findChild(QToolButton, "unlockButton"))
    assert button.isVisible()
    with qtbot.waitSignal(placed.topology.unlock_wanted):
        button.click()
    placed.bar.trigger("arrange.lock")
    assert not placed.bar["arrange.lock"].isChecked()
    assert placed.topology.canvas.can_move_nodes


def test_the_map_is_there_while_the_picture_is_larger_than_the_view(desk: Desk) -> None:
    desk.topology.resize(600, 500)
    desk.documents.open_text(grid(5), "grid")
    QApplication.processEvents()
    canvas, minimap = desk.topology.canvas, desk.topology.minimap
    canvas.resize(600, 400)
    canvas.fit()
    assert not minimap.isVisible()
    canvas.set_zoom(1.0)
    assert minimap.isVisible()
    before = canvas.mapToScene(canvas.viewport().rect().center())
    QTest.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=QPoint(30, 30))
    after = canvas.mapToScene(canvas.viewport().rect().center())
    assert after.x() < before.x()
    assert after.y() < before.y()
    minimap.grab()
    desk.bar.trigger("arrange.minimap")
    assert not minimap.isVisible()


def test_labels_of_a_large_picture_are_placed_where_they_are_in_view(desk: Desk) -> None:
    desk.documents.open_text(grid(8), "grid")
    canvas, scene = desk.topology.canvas, desk.topology.scene
    canvas.resize(500, 400)
    canvas.set_zoom(1.0)
    scene.end_zooming()
    canvas.centerOn(scene.node_positions()["n0-0"])
    labels = [item for item in scene.items() if isinstance(item, LabelItem)]
    view = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
    shown = [label for label in labels if not label.is_crowded_out]
    assert 0 < len(shown) < len(labels)
    assert any(view.intersects(label.sceneBoundingRect()) for label in shown)
    # The other labels appear when they come into view.
    canvas.centerOn(scene.node_positions()["n7-7"])
    assert len([label for label in labels if not label.is_crowded_out]) > len(shown)
    canvas.grab()


def test_a_large_picture_is_laid_out_while_the_window_goes_on(qtbot: QtBot, desk: Desk) -> None:
    desk.documents.open_text(mesh_text(120, 200), "mesh")
    before = desk.documents.doc.text
    desk.bar.trigger("arrange.lay_out")
    assert not desk.bar["arrange.lay_out"].isEnabled()
    assert desk.documents.doc.text == before
    qtbot.waitUntil(lambda: desk.bar["arrange.lay_out"].isEnabled(), timeout=30_000)
    assert desk.document_stack.count() == 1
    assert desk.documents.doc.text != before
    desk.document_stack.undo()
    assert desk.documents.doc.text == before


def test_new_places_of_a_picture_that_changed_are_dropped(qtbot: QtBot, desk: Desk) -> None:
    desk.documents.open_text(mesh_text(120, 200), "mesh")
    said: list[str] = []
    desk.topology.arranging.dropped.connect(said.append)
    desk.bar.trigger("arrange.lay_out")
    desk.documents.doc.set_value("seed", 7)
    changed = desk.documents.doc.text
    qtbot.waitUntil(lambda: bool(said), timeout=30_000)
    assert desk.documents.doc.text == changed
    assert "Lay it out again" in said[0]
