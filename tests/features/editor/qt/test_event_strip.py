"""The lanes of timed events, driven by mouse and keys; the tests check the resulting document."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QUndoStack
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.desk import MakeDesk
from tests.helpers.present import present
from tests.helpers.topology import LEFT, drag
from tests.helpers.window import TWO_PATHS

from subflow_app.features.editor.core.event_strip import StripBar, StripMark
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.topology import TopologyView
from subflow_app.features.editor.qt.topology.event_strip import EventStrip
from subflow_app.features.playhead.qt.feature import PlayheadFeature

EVENTS = """
[[events]]
at = "0.5s" # goes
link = "wifi"
up = false

[[events]]
at = "0.9s" # comes
link = "wifi"
up = true

[[events]]
at = "1.5s"
link = "wifi"
rate = "2Mbit/s"
"""


class Panel:
    """A topology panel and its lanes of events, with helpers to operate them."""

    def __init__(self, qtbot: QtBot, stack: QUndoStack, text: str) -> None:
        self.doc = ScenarioDoc(text)
        self.stack = stack
        self.view = TopologyView(self.doc, stack)
        self.strip = EventStrip(self.doc, stack)
        self.view.selection_changed.connect(self.strip.set_selected)
        self.strip.row_chosen.connect(self.view.select)
        for widget in (self.view, self.strip):
            qtbot.addWidget(widget)
        self.strip.resize(700, self.strip.sizeHint().height())
        self.strip.resized.connect(lambda: self.strip.resize(700, self.strip.sizeHint().height()))
        self.strip.show()
        qtbot.waitExposed(self.strip)

    def at(self, time_s: float, row: int = 0) -> QPoint:
        layout = self.strip.strip_layout
        return QPoint(round(layout.x_of(time_s)), round(layout.row_rect(row).center().y()))

    def drag(self, start: QPoint, end: QPoint) -> None:
        drag(self.strip.viewport(), start, end)

    def events(self) -> list[dict[str, Any]]:
        return list(self.doc.data.get("events", []))

    def times(self) -> list[str]:
        return [event["at"] for event in self.events()]


@pytest.fixture
def panel(qtbot: QtBot, stack: QUndoStack) -> Panel:
    return Panel(qtbot, stack, TWO_PATHS + EVENTS)


@pytest.fixture
def quiet(qtbot: QtBot, stack: QUndoStack) -> Panel:
    return Panel(qtbot, stack, TWO_PATHS)


def test_what_changes_has_a_row_and_what_is_selected_too_in_the_same_room(panel: Panel) -> None:
    before = panel.strip.sizeHint()
    assert [row.key for row in panel.strip.rows] == ["links.wifi"]
    panel.view.select("links.lte")
    assert [row.key for row in panel.strip.rows] == ["links.wifi", "links.lte"]
    assert panel.strip.sizeHint() == before


def test_the_time_of_a_run_is_drawn_until_it_is_taken_away(panel: Panel) -> None:
    before = panel.strip.grab().toImage()
    panel.strip.set_position(1.2)
    assert panel.strip.grab().toImage() != before
    panel.strip.set_position(None)
    assert panel.strip.grab().toImage() == before


def test_a_drag_moves_an_outage_one_of_its_ends_or_a_mark_in_one_step(panel: Panel) -> None:
    before = panel.doc.text
    for start, end, times in (
        (panel.at(0.7), panel.at(1.0), ["0.8s", "1.2s", "1.5s"]),
        # beyond the end of the run
        (panel.at(0.9) - QPoint(1, 0), panel.at(1.9) + QPoint(900, 0), ["0.5s", "2s", "1.5s"]),
        (panel.at(1.5), panel.at(1.2), ["0.5s", "0.9s", "1.2s"]),
    ):
        panel.drag(start, end)
        assert panel.times() == times
        assert "# goes" in panel.doc.text
        assert panel.stack.count() == 1
        panel.stack.undo()
        assert panel.doc.text == before


def test_a_click_moves_nothing(panel: Panel) -> None:
    QTest.mouseClick(panel.strip.viewport(), LEFT, pos=panel.at(1.5))
    assert isinstance(panel.strip.chosen, StripMark)
    assert panel.stack.count() == 0


def test_escape_gives_a_drag_up(panel: Panel) -> None:
    viewport = panel.strip.viewport()
    QTest.mousePress(viewport, LEFT, pos=panel.at(1.5))
    QTest.mouseMove(viewport, panel.at(1.0))
    QTest.keyClick(panel.strip, Qt.Key.Key_Escape)
    QTest.mouseRelease(viewport, LEFT, pos=panel.at(1.0))
    assert panel.stack.count() == 0


def test_keys_choose_move_and_remove(panel: Panel) -> None:
    before = panel.doc.text
    QTest.keyClick(panel.strip, Qt.Key.Key_Right)
    assert isinstance(panel.strip.chosen, StripBar)
    assert "0.5 s" in panel.strip.accessibleDescription() or "500 ms" in panel.strip.accessibleDescription()
    for _ in range(3):
        QTest.keyClick(panel.strip, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert panel.stack.count() == 1, "key presses in a row are one step"
    assert panel.times() != ["0.5s", "0.9s", "1.5s"]
    QTest.keyClick(panel.strip, Qt.Key.Key_Delete)
    assert panel.times() == ["1.5s"]
    panel.stack.setIndex(0)
    assert panel.doc.text == before


def test_double_click_on_an_empty_row_takes_the_link_down(quiet: Panel) -> None:
    quiet.view.select("links.lte")
    QTest.mouseDClick(quiet.strip.viewport(), LEFT, pos=quiet.at(1.0))
    assert quiet.events() == [{"at": "1s", "link": "lte", "up": False}, {"at": "1.2s", "link": "lte", "up": True}]
    assert quiet.doc.is_valid
    quiet.stack.undo()
    assert quiet.doc.text == TWO_PATHS


def test_a_drag_on_a_free_lane_takes_the_link_down_for_as_long(quiet: Panel) -> None:
    quiet.view.select("links.lte")
    quiet.drag(quiet.at(0.5), quiet.at(1.1))
    assert quiet.events() == [{"at": "0.5s", "link": "lte", "up": False}, {"at": "1.1s", "link": "lte", "up": True}]
    assert quiet.stack.count() == 1
    # Backwards is the same, and Escape gives it up.
    quiet.stack.undo()
    quiet.drag(quiet.at(1.1), quiet.at(0.5))
    assert [event["at"] for event in quiet.events()] == ["0.5s", "1.1s"]
    quiet.stack.undo()
    viewport = quiet.strip.viewport()
    QTest.mousePress(viewport, LEFT, pos=quiet.at(0.5))
    QTest.mouseMove(viewport, quiet.at(1.0))
    QTest.keyClick(quiet.strip, Qt.Key.Key_Escape)
    QTest.mouseRelease(viewport, LEFT, pos=quiet.at(1.0))
    assert quiet.events() == []


def test_events_of_a_stored_run_cannot_be_changed(panel: Panel) -> None:
    panel.strip.set_document(panel.doc, is_read_only=True)
    before = panel.doc.text
    panel.drag(panel.at(0.7), panel.at(1.0))
    panel.drag(panel.at(1.6), panel.at(1.9))
    QTest.mouseDClick(panel.strip.viewport(), LEFT, pos=panel.at(1.8))
    assert panel.doc.text == before
    assert panel.strip.editor is None


def test_one_lane_is_in_view_until_they_are_unfolded(panel: Panel) -> None:
    panel.view.select("links.lte")
    height = panel.strip.height()
    assert panel.strip.can_unfold
    assert panel.strip.verticalScrollBar().value() == height  # the lane of the selected link
    panel.strip.set_unfolded(True)
    assert panel.strip.height() == 2 * height
    panel.strip.set_unfolded(False)
    assert panel.strip.height() == height


def test_a_rate_step_from_the_menu_asks_for_its_value(quiet: Panel) -> None:
    quiet.view.select("links.lte")
    row = quiet.strip.rows[0]
    menu = quiet.strip.build_menu(row, None, 1.0)
    next(action for action in menu.actions() if action.text().startswith("Rate step")).trigger()
    editor = present(quiet.strip.editor)
    assert editor.text() == "4Mbit/s"
    editor.selectAll()
    QTest.keyClicks(editor, "1Mbit/s")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert quiet.events() == [{"at": "1s", "link": "lte", "rate": "1Mbit/s"}]


def test_a_value_that_cannot_be_is_explained_and_nothing_is_changed(panel: Panel) -> None:
    QTest.mouseDClick(panel.strip.viewport(), LEFT, pos=panel.at(1.5))
    editor = present(panel.strip.editor)
    editor.setText("fast")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert panel.strip.editor is editor
    assert "number with a unit" in panel.strip.message
    assert panel.stack.count() == 0
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert panel.strip.editor is None


def test_an_outage_is_edited_in_the_inspector(panel: Panel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.strip.activated) as asked:
        QTest.mouseDClick(panel.strip.viewport(), LEFT, pos=panel.at(0.7))
    assert asked.args == ["events.0"]


def test_a_click_on_a_name_selects_the_link(panel: Panel) -> None:
    QTest.mouseClick(panel.strip.viewport(), LEFT, pos=QPoint(12, panel.at(0.0).y()))
    assert panel.view.selected == "links.wifi"


def test_an_empty_drawing_has_its_own_duration(make_desk: MakeDesk) -> None:
    desk = make_desk(PlayheadFeature)
    strip = desk.features[PlayheadFeature].lanes
    desk.documents.open_example("demo")
    assert strip.strip_layout.duration_s == 60.0
    desk.documents.new_empty()
    assert strip.strip_layout.duration_s == 30.0
    documents.set_value(desk.document_stack, desk.documents.doc, "duration", "12s")
    assert strip.strip_layout.duration_s == 12.0
