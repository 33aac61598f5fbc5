"""The topology panel, driven by mouse and keys; the tests check the resulting document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QKeyEvent, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.topology import LEFT, drag_on, grid, pixel_of

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.topology import TopologyView
from subflow_app.features.editor.qt.topology.geometry import crosses
from subflow_app.features.editor.qt.topology.items import CanvasItem, LinkItem, NodeItem
from subflow_app.features.editor.qt.topology.labels import LabelItem, describe_link, label_scale, link_caption
from subflow_app.foundation.resources import resource_path
from subflow_app.toolkit.theme import DARK, LIGHT, set_current

ItemT = TypeVar("ItemT", bound=CanvasItem)
CONTROL = Qt.KeyboardModifier.ControlModifier
SCENARIOS = sorted((Path(__file__).parents[4] / "assets" / "scenarios").glob("*.toml"))

DEMO = """\
format = 1
duration = "60s"
[nodes]
client = { at = [0, 0] }
server = { at = [600, 0] }
[links]
wifi = { ends = ["client", "server"], rate = "8Mbit/s", delay = "50ms", queue = "67pkt", loss = "2%" }
lte = { ends = ["client", "server"], rate = "8Mbit/s", reverse = { rate = "1Mbit/s" } }
[flows]
download = { kind = "mptcp", from = "server", to = "client", paths = [["wifi"], ["lte"]], count = 5 }
cross = { kind = "cbr", rate = "1Mbit/s", from = "client", to = "server", paths = [["wifi"]] }
[[events]]
at = "30s"
link = "wifi"
up = false
"""


@pytest.fixture
def make(qtbot: QtBot, stack: QUndoStack) -> Callable[[str], TopologyView]:
    def build(text: str) -> TopologyView:
        view = TopologyView(ScenarioDoc(text), stack)
        qtbot.addWidget(view)
        view.resize(1000, 650)
        with qtbot.waitActive(view):
            view.show()
            view.activateWindow()
        view.canvas.setFocus()
        return view

    return build


@pytest.fixture
def view(make: Callable[[str], TopologyView]) -> TopologyView:
    return make(DEMO)


def items(view: TopologyView, kind: type[ItemT]) -> dict[str, ItemT]:
    return {item.key.partition(".")[2]: item for item in view.scene.items() if isinstance(item, kind)}


def test_everything_is_drawn_once(view: TopologyView) -> None:
    assert set(items(view, NodeItem)) == {"client", "server"}
    assert set(items(view, LinkItem)) == set(items(view, LabelItem)) == {"wifi", "lte"}
    assert [entry.text for entry in view.legend.entries] == ["download · wifi  ×5", "download · lte  ×5", "cross"]
    assert view.notice == ""


def test_captions_say_all_and_tell_directions_apart() -> None:
    links = present(ScenarioDoc(DEMO).scenario).links
    wifi, lte = (link_caption(links[name], "→", "←") for name in ("wifi", "lte"))
    assert (wifi.name, wifi.speed, wifi.buffer) == ("wifi", "8 Mbit/s  ·  50 ms", "queue 67 pkt  ·  loss 2 %")
    assert (lte.speed, lte.buffer) == ("→ 8 Mbit/s  ← 1 Mbit/s", "queue 100 pkt")


@pytest.mark.parametrize("text", [DEMO, *(path.read_text() for path in SCENARIOS)])
def test_labels_cover_neither_links_nor_nodes_nor_each_other(make: Callable[[str], TopologyView], text: str) -> None:
    view = make(text)
    labels = {name: QRectF(label.pos(), label.size) for name, label in items(view, LabelItem).items()}
    curves = {name: link.curve for name, link in items(view, LinkItem).items()}
    nodes = {name: node.outline().boundingRect().translated(node.pos()) for name, node in items(view, NodeItem).items()}

    for name, rect in labels.items():
        assert [other for other, curve in curves.items() if curve and crosses(curve, rect)] == [], name
        assert [other for other, box in labels.items() if other != name and box.intersects(rect)] == [], name
        assert [other for other, box in nodes.items() if box.intersects(rect)] == [], name


@pytest.mark.parametrize("size", [(420, 300), (260, 200)])
def test_labels_stay_readable_in_a_small_panel(view: TopologyView, size: tuple[int, int]) -> None:
    view.resize(*size)
    QApplication.processEvents()

    for label in items(view, LabelItem).values():
        # Labels keep about the same size on the screen at every zoom; labels without room for values keep their names.
        assert 0.9 <= label.scale() * view.canvas.zoom <= 1.2
        assert not label.is_crowded_out
    assert shows_all(view)


def test_labels_without_room_appear_when_pointed_at(make: Callable[[str], TopologyView]) -> None:
    view = make(grid(8))
    labels = items(view, LabelItem)
    crowded = [label for label in labels.values() if label.is_crowded_out]
    assert crowded
    before = image(view)

    view.select(crowded[0].key)

    assert image(view) != before
    # At a closer zoom, all labels in view have room after the end of the zooming.
    view.canvas.reset_zoom()
    assert crowded[0].is_crowded_out
    view.scene.end_zooming()
    shown = view.canvas.mapToScene(view.canvas.viewport().rect()).boundingRect()
    links = items(view, LinkItem)
    inside = [name for name, link in links.items() if link.curve and shown.contains(link.curve.bounds.center())]
    assert inside
    assert not any(labels[name].is_crowded_out for name in inside)


def test_labels_grow_in_few_steps() -> None:
    assert label_scale(1.0) == label_scale(0.9) == label_scale(3.0) == 1.0
    assert label_scale(0.5) == 2.0  # 0.9 / 0.5 = 1.8, rounded up to quarters
    assert label_scale(0.1) == 6.0


def test_dragging_a_node_is_one_step(view: TopologyView, stack: QUndoStack) -> None:
    start = pixel_of(view, "nodes.client")

    drag_on(view, start, start + QPoint(60, 40))

    zoom = view.canvas.zoom
    assert view.doc.positions()["client"] == pytest.approx((60 / zoom, 40 / zoom), abs=1)
    assert stack.count() == 1
    assert stack.text(0) == "Move client"
    assert view.selected == "nodes.client"
    stack.undo()
    assert view.doc.text == DEMO
    assert view.scene.node_positions()["client"] == QPointF(0, 0)


def test_a_click_moves_nothing(view: TopologyView, stack: QUndoStack) -> None:
    QTest.mouseClick(view.canvas.viewport(), LEFT, pos=pixel_of(view, "nodes.server"))

    assert view.selected == "nodes.server"
    assert stack.count() == 0


def test_escape_gives_a_drag_up(view: TopologyView, stack: QUndoStack) -> None:
    start, viewport = pixel_of(view, "nodes.client"), view.canvas.viewport()
    QTest.mousePress(viewport, LEFT, pos=start)
    QTest.mouseMove(viewport, start + QPoint(80, 80))
    assert view.scene.node_positions()["client"] != QPointF(0, 0)

    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    QTest.mouseRelease(viewport, LEFT, pos=start + QPoint(80, 80))

    assert view.scene.node_positions()["client"] == QPointF(0, 0)
    assert stack.count() == 0


def test_several_nodes_move_together(view: TopologyView, stack: QUndoStack) -> None:
    viewport = view.canvas.viewport()
    drag_on(view, QPoint(4, 4), QPoint(viewport.width() - 5, viewport.height() - 5))
    assert set(view.scene.chosen) == {"nodes.client", "nodes.server", "links.wifi", "links.lte"}

    start = pixel_of(view, "nodes.client")
    drag_on(view, start, start + QPoint(0, 50))

    positions = view.doc.positions()
    assert positions["client"][1] == positions["server"][1] > 0
    assert stack.count() == 1
    assert stack.text(0) == "Move 2 nodes"


def test_arrow_keys_with_control_move_in_one_step(view: TopologyView, stack: QUndoStack) -> None:
    view.select("nodes.client")

    for _ in range(3):
        QTest.keyClick(view.canvas, Qt.Key.Key_Right, CONTROL)
    QTest.keyClick(view.canvas, Qt.Key.Key_Down, CONTROL | Qt.KeyboardModifier.ShiftModifier)

    assert view.doc.positions()["client"] == (30.0, 1.0)
    assert stack.count() == 1
    view.select("nodes.server")
    QTest.keyClick(view.canvas, Qt.Key.Key_Left, CONTROL)
    view.select("nodes.client")
    QTest.keyClick(view.canvas, Qt.Key.Key_Left, CONTROL)
    assert stack.count() == 3
    stack.setIndex(0)
    assert view.doc.text == DEMO


def test_selection_is_told_once(view: TopologyView) -> None:
    told: list[str] = []
    view.selection_changed.connect(told.append)

    QTest.mouseClick(view.canvas.viewport(), LEFT, pos=pixel_of(view, "links.wifi"))
    view.select("links.wifi")
    view.select("flows.download")
    view.select("links.lte.reverse.rate")
    QTest.mouseClick(view.canvas.viewport(), LEFT, pos=QPoint(5, 5))

    assert told == ["links.wifi", "flows.download", "links.lte", ""]


def test_tab_walks_through_everything_and_leaves(view: TopologyView) -> None:
    told: list[str] = []
    view.selection_changed.connect(told.append)

    for _ in range(4):
        QTest.keyClick(view.canvas, Qt.Key.Key_Tab)

    assert told[:2] == ["nodes.client", "nodes.server"]
    assert set(told[2:]) == {"links.wifi", "links.lte"}
    assert view.canvas.hasFocus()
    QTest.keyClick(view.canvas, Qt.Key.Key_Tab)
    assert not view.canvas.hasFocus()
    assert view.legend.hasFocus()


def test_arrows_walk_to_the_neighbour(view: TopologyView) -> None:
    view.select("nodes.client")

    QTest.keyClick(view.canvas, Qt.Key.Key_Right)
    assert view.selected in ("links.wifi", "links.lte")
    QTest.keyClick(view.canvas, Qt.Key.Key_Right)
    assert view.selected == "nodes.server"
    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert view.selected == ""


def test_what_is_selected_is_said_to_screen_readers(view: TopologyView) -> None:
    view.select("links.lte")

    said = view.canvas.accessibleDescription()
    assert "Link lte, client to server" in said
    assert "client → server: 8 Mbit/s" in said
    assert "server → client: 1 Mbit/s" in said


def test_enter_and_double_click_ask_for_the_properties(view: TopologyView) -> None:
    asked: list[str] = []
    view.activated.connect(asked.append)
    view.select("links.wifi")

    QTest.keyClick(view.canvas, Qt.Key.Key_Return)
    QTest.mouseDClick(view.canvas.viewport(), LEFT, pos=pixel_of(view, "nodes.server"))

    assert asked == ["links.wifi", "nodes.server"]


def turn(view: TopologyView, at: QPoint, notches: int) -> None:
    viewport = view.canvas.viewport()
    QTest.wheelEvent(view.windowHandle(), QPointF(viewport.mapTo(view, at)), QPoint(0, notches * 120))


def test_the_wheel_zooms_at_the_cursor(view: TopologyView) -> None:
    at = QPoint(200, 150)
    before, zoom = view.canvas.mapToScene(at), view.canvas.zoom

    turn(view, at, 3)

    assert view.canvas.zoom == pytest.approx(zoom * 1.25**3)
    drift = view.canvas.mapToScene(at) - before
    # Scrolling moves by whole pixels, and the cursor position has whole pixels too.
    assert drift.manhattanLength() * view.canvas.zoom <= 3
    for _ in range(30):
        turn(view, at, -3)
    assert view.canvas.zoom == pytest.approx(0.08)


def test_the_middle_button_and_space_pan(view: TopologyView, stack: QUndoStack) -> None:
    taps: list[bool] = []
    view.space_tapped.connect(lambda: taps.append(True))
    start = pixel_of(view, "nodes.client")

    drag_on(view, start, start + QPoint(50, 20), Qt.MouseButton.MiddleButton)
    assert pixel_of(view, "nodes.client") - start == QPoint(50, 20)

    QTest.keyPress(view.canvas, Qt.Key.Key_Space)
    drag_on(view, start + QPoint(50, 20), start)
    QTest.keyRelease(view.canvas, Qt.Key.Key_Space)
    assert pixel_of(view, "nodes.client") == start
    assert stack.count() == 0
    assert taps == []
    # A tap without a drag triggers the run key.
    QTest.keyClick(view.canvas, Qt.Key.Key_Space)
    assert taps == [True]


def shows_all(view: TopologyView) -> bool:
    visible = view.canvas.mapToScene(view.canvas.viewport().rect()).boundingRect()
    return visible.contains(view.scene.content_rect())


def test_the_view_keeps_fitting_until_the_person_zooms(view: TopologyView) -> None:
    assert shows_all(view)
    view.resize(500, 300)
    assert shows_all(view)
    QTest.keyClick(view.canvas, Qt.Key.Key_0, CONTROL)
    view.resize(400, 300)
    assert view.canvas.zoom == 1.0
    QTest.keyClick(view.canvas, Qt.Key.Key_F)
    assert shows_all(view)


def test_a_problem_leaves_the_last_picture_and_says_so(view: TopologyView) -> None:
    doc = view.doc

    doc.set_value("links.wifi.loss", "120%")
    assert view.notice == "1 problem: affected parts are drawn in their last valid state"
    assert set(items(view, LinkItem)) == {"wifi", "lte"}
    # Nodes can still be moved while another value is invalid.
    doc.move_nodes({"client": (-50, 0)})
    assert view.scene.node_positions()["client"] == QPointF(-50, 0)

    doc.set_value("links.wifi.loss", "12%")
    assert view.notice == ""


@pytest.mark.parametrize("text", ["not TOML [", 'format = 1\nduration = "soon"\n'])
def test_a_file_that_was_never_valid_shows_why_nothing_is_drawn(make: Callable[[str], TopologyView], text: str) -> None:
    view = make(text)

    assert "The picture appears when" in view.notice
    assert items(view, NodeItem) == {}
    view.fit()
    view.doc.set_text(DEMO)
    assert view.notice == ""
    assert set(items(view, NodeItem)) == {"client", "server"}


def test_edits_keep_selection_and_view(view: TopologyView) -> None:
    view.select("links.wifi")
    turn(view, QPoint(300, 200), 2)
    zoom, centre = view.canvas.zoom, view.canvas.mapToScene(view.canvas.viewport().rect().center())

    view.doc.set_value("links.wifi.rate", "9Mbit/s")

    assert view.selected == "links.wifi"
    assert view.canvas.zoom == zoom
    assert view.canvas.mapToScene(view.canvas.viewport().rect().center()) == centre
    view.doc.set_text(DEMO.replace("wifi", "wlan"))
    assert view.selected == ""


def test_the_legend_selects_the_flow_and_its_lanes_stand_out(view: TopologyView) -> None:
    told: list[str] = []
    view.selection_changed.connect(told.append)
    plain = image(view)

    QTest.mouseClick(view.legend, LEFT, pos=QPoint(10, 10))

    assert told == ["flows.download"]
    assert image(view) != plain
    view.select("")
    assert image(view) == plain


def image(view: TopologyView) -> QImage:
    QApplication.processEvents()
    return view.canvas.viewport().grab().toImage()


def test_a_running_link_is_tinted_and_calms_down_again(view: TopologyView) -> None:
    idle = image(view)
    wifi = items(view, LinkItem)["wifi"]

    view.set_link_state("wifi/forward", 0.9, 60.0, True)
    busy = image(view)
    view.set_link_state("wifi/forward", 0.9, 0.0, False)
    down = image(view)
    view.set_link_state("gone/forward", 0.9, 0.0, True)

    assert busy != idle
    assert down != busy
    # The queue holds 60 of at most 67 packets.
    assert wifi.queue_share == 0.0
    view.set_link_state("wifi/forward", 0.9, 60.0, True)
    assert wifi.queue_share == pytest.approx(60 / 67)
    view.clear_link_states()
    assert image(view) == idle


def test_small_changes_of_a_running_link_paint_nothing(view: TopologyView) -> None:
    wifi = items(view, LinkItem)["wifi"]
    assert wifi.set_live("forward", 0.500, 0.1, True)
    assert not wifi.set_live("forward", 0.505, 0.1, True)


def test_a_theme_reaches_every_corner(view: TopologyView) -> None:
    assert image(view).pixelColor(3, 3) == QColor(LIGHT.base)

    set_current(DARK)

    assert image(view).pixelColor(3, 3) == QColor(DARK.base)


def trigger(view: TopologyView, key: str, text: str) -> None:
    next(action for action in view.build_menu(key).actions() if text in action.text()).trigger()


def test_the_menu_of_a_link_adds_a_timed_change(view: TopologyView, stack: QUndoStack) -> None:
    asked: list[str] = []
    view.activated.connect(asked.append)

    trigger(view, "links.lte", "timed")

    events = present(view.doc.scenario).events
    assert [(event.link, event.at_s) for event in events] == [("wifi", 30.0), ("lte", 30.0)]
    assert asked == ["events.1"]
    stack.undo()
    assert view.doc.text == DEMO


def test_the_menu_of_a_node_gives_its_place_back(view: TopologyView, stack: QUndoStack) -> None:
    trigger(view, "nodes.client", "automatically")

    assert "client" not in view.doc.positions()
    stack.undo()
    assert view.doc.text == DEMO


def test_another_document_takes_the_place(view: TopologyView) -> None:
    old = view.doc
    view.select("links.wifi")

    view.set_document(ScenarioDoc(grid(2)))
    old.set_value("links.wifi.loss", "120%")  # the view has disconnected from the old document

    assert view.selected == ""
    assert view.notice == ""
    assert set(items(view, NodeItem)) == {"n0-0", "n0-1", "n1-0", "n1-1", "s", "d"}


def test_moving_one_of_sixty_nodes_keeps_the_items_of_all_others(make: Callable[[str], TopologyView]) -> None:
    # A drag moves items and does not rebuild the scene, which keeps a large picture fluid.
    view = make(grid(8))  # 66 nodes, 114 links
    before = {name: id(item) for name, item in items(view, NodeItem).items()}
    place = items(view, NodeItem)["n4-4"].pos()

    view.scene.move_nodes({"n4-4": QPointF(1000, 600)})

    after = items(view, NodeItem)
    assert len(after) == 66
    assert {name: id(item) for name, item in after.items()} == before
    assert after["n4-4"].pos() != place


def test_the_space_key_reaches_the_canvas_before_shortcuts(view: TopologyView) -> None:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(view.canvas, event)
    assert event.isAccepted()


def test_a_view_that_is_gone_is_not_told(stack: QUndoStack) -> None:
    view = TopologyView(ScenarioDoc(DEMO), stack)
    view.set_document(ScenarioDoc(DEMO))
    doc = view.doc

    shiboken6.delete(view)
    doc.move_nodes({"client": (1, 1)})

    assert doc.positions()["client"] == (1.0, 1.0)


def test_a_value_that_could_never_be_read_is_a_question_mark(make: Callable[[str], TopologyView]) -> None:
    """The label does not show the reader's placeholder, which for a queue has no limit."""
    text = resource_path("scenarios/demo.toml").read_text(encoding="utf-8")
    view = make(text.replace('queue = "40pkt"', 'queue = "50 packets"', 1))
    assert view.doc.last_valid is None

    def buffer(name: str) -> str:
        drawn = present(view.scene.picture).links[name]
        assert f"queue {'?' if drawn.unread else drawn.link.forward.queue.limit_pkts}" in describe_link(drawn)
        return link_caption(drawn.link, "→", "←", drawn.unread).buffer

    assert buffer("wifi").startswith("queue ?")
    assert buffer("lte") == "queue 100 pkt"
    assert view.notice == "1 problem: unreadable values are shown as ?"

    view.doc.set_value("links.wifi.queue", "50pkt")
    view.doc.set_value("links.wifi.queue", "50 packets")
    assert buffer("wifi").startswith("queue 50 pkt")
    assert view.notice == "1 problem: affected parts are drawn in their last valid state"
