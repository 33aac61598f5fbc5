"""The inspector, driven by keyboard and mouse: its parts, its text, and other changes of the document."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCursor, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from tests.helpers.inspector import DEMO, doc_of, row, show_inspector, text_editor, type_text
from tests.helpers.present import present

from subflow_app.features.editor.core.form import outline
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.inspector import Inspector
from subflow_app.features.editor.qt.inspector.editors import TextEditor
from subflow_app.features.editor.qt.inspector.inspector import KEY_ROLE
from subflow_app.features.editor.qt.inspector.source_editor import SourceEditor
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.theme import DARK

SCENARIOS = sorted((Path(__file__).parents[4] / "assets" / "scenarios").glob("*.toml"))


@pytest.fixture
def inspector(qtbot: QtBot, stack: QUndoStack) -> Inspector:
    return show_inspector(qtbot, stack)


# --- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DEMO, *(path.read_text() for path in SCENARIOS)])
def test_looking_at_everything_changes_nothing(qtbot: QtBot, stack: QUndoStack, text: str) -> None:
    inspector = show_inspector(qtbot, stack, text)

    for entry in outline(doc_of(inspector)):
        for part in (entry, *entry.children):
            inspector.show_key(part.key)
            assert inspector.key == part.key
            for each in inspector.form.rows():
                each.set_focus()
    inspector.show_text()
    inspector.show_form()

    assert doc_of(inspector).text == text
    assert stack.count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nodes = 3\nlinks = []\nflows = 'x'\nevents = {}",
        "events = [1, 'x', {}]",
        "nodes.a = 1\nlinks.b = []\nflows.c = {}",
        "[nodes.a]\nat = 5\n[links.l]\nends = 'a'\nrate = true\nreverse = 3\n[flows.f]\nkind = 7\npaths = 'x'",
        "[flows.f]\ncontroller = { base = 1, odd = 2 }\n[flows.g]\ncontroller = 3\nscheduler = []\ncount = 'many'",
        "duration = 2026-01-01\nname = 07:30:00\nseed = inf\nmss = nan",
        "[links.l]\nends = ['a', 'b', 'c']\nrate = { steps = 3 }\nqueue = { limit = {} }",
        '"odd key" = 1\n[nodes."a.b"]\n[nodes."ü"]',
    ],
)
def test_odd_files_can_be_looked_at_and_edited(qtbot: QtBot, stack: QUndoStack, text: str) -> None:
    inspector = show_inspector(qtbot, stack, text)
    assert inspector.problem_list.isVisible()

    for entry in outline(doc_of(inspector)):
        for part in (entry, *entry.children):
            inspector.show_key(part.key)
    for problem in doc_of(inspector).problems:
        inspector.focus_problem(problem)
    type_text(inspector, "seed", "5")

    assert doc_of(inspector).value("seed") == 5
    stack.undo()
    assert doc_of(inspector).text == text


def test_the_list_selects_and_is_told(inspector: Inspector) -> None:
    told: list[str] = []
    inspector.key_changed.connect(told.append)
    view = inspector.outline_view
    model = view.model()
    links = model.index(2, 0)
    assert links.data(KEY_ROLE) == "links"

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(model.index(1, 0, links)).center())
    QTest.keyClick(view, Qt.Key.Key_Up)

    assert told == ["links.wire", "links.wifi"]
    inspector.show_key("nodes.hub")
    assert view.currentIndex().data(KEY_ROLE) == "nodes.hub"


def test_the_focus_goes_to_the_first_field(inspector: Inspector) -> None:
    inspector.show_key("links.wifi")
    inspector.show_key("events.0")

    inspector.start_editing()

    assert row(inspector, "events.0.at").editor.hasFocus()
    inspector.show_key("links")
    inspector.start_editing()
    assert inspector.outline_button.hasFocus()


def test_a_name_is_edited_and_a_taken_one_is_refused_in_place(inspector: Inspector) -> None:
    inspector.show_key("links.wifi")
    QTest.keyClick(inspector.outline_view, Qt.Key.Key_F2)
    name = row(inspector, "links.wifi.@name")
    assert name.editor.hasFocus()
    QTest.keyClicks(name.editor, "wire")
    assert "another link is called wire" in name.message.text().lower()
    QTest.keyClick(name.editor, Qt.Key.Key_Escape)
    assert not name.message.isVisible()
    QTest.keyClick(name.editor, Qt.Key.Key_F2)
    QTest.keyClicks(name.editor, "wlan")
    QTest.keyClick(name.editor, Qt.Key.Key_Return)
    assert inspector.key == "links.wlan"
    assert doc_of(inspector).value("events.0.link") == "wlan"
    assert row(inspector, "links.wlan.@name").editor.hasFocus()
    inspector._undo_stack.undo()
    assert doc_of(inspector).text == DEMO


def test_a_queue_is_typed_in_bandwidth_delay_products(inspector: Inspector) -> None:
    doc_of(inspector).set_value("links.wifi.delay", "30ms")
    inspector.show_key("links.wifi")
    queue = row(inspector, "links.wifi.queue")
    # 8 Mbit/s over 60 ms there and back are 60 000 bytes: 40 packets of 1 500 bytes.
    assert queue.message.text().endswith("1 BDP is 40 packets: 8Mbit/s, RTT 60ms")
    assert isinstance(queue.editor, TextEditor)
    queue.editor.setFocus()
    queue.editor.selectAll()
    QTest.keyClicks(queue.editor, "0.5 BDP")
    assert not queue.editor.accessibleDescription()
    QTest.keyClick(queue.editor, Qt.Key.Key_Return)
    assert doc_of(inspector).value("links.wifi.queue") == "20pkt"
    assert row(inspector, "links.wifi.queue").message.text().startswith("0.5 BDP; ")


def test_a_part_that_is_gone_gives_way_to_the_scenario(inspector: Inspector) -> None:
    inspector.show_key("links.wifi")

    doc_of(inspector).set_text(DEMO.replace("wifi", "wlan"))

    assert inspector.key == ""
    inspector.show_key("links.wifi")
    assert inspector.key == ""


def test_events_are_added_and_removed(inspector: Inspector, stack: QUndoStack) -> None:
    inspector.show_key("events")
    inspector.form.add_event_wanted.emit()

    assert inspector.key == "events.1"
    assert row(inspector, "events.1.at").editor.hasFocus()
    events = present(doc_of(inspector).scenario).events
    assert [(event.at_s, event.link) for event in events] == [(30.0, "wifi"), (30.0, "wifi")]

    inspector.form.remove_event_wanted.emit(1)
    assert doc_of(inspector).text == DEMO
    assert inspector.key == "events.0"
    inspector.form.remove_event_wanted.emit(0)
    assert inspector.key == "events"
    stack.setIndex(0)
    assert doc_of(inspector).text == DEMO


# --- text -------------------------------------------------------------------------------------------------------------


def test_the_text_is_edited_through_the_same_history(inspector: Inspector, stack: QUndoStack) -> None:
    inspector.show_text()
    cursor = inspector.source.textCursor()
    cursor.setPosition(DEMO.index("8Mbit/s"))
    inspector.source.setTextCursor(cursor)

    QTest.keyClicks(inspector.source, "1")
    inspector.source.commit()
    QTest.keyClicks(inspector.source, "2")
    inspector.source.commit()

    assert doc_of(inspector).text == DEMO.replace("8Mbit/s", "128Mbit/s")
    assert stack.count() == 1
    stack.undo()
    assert doc_of(inspector).text == inspector.source.toPlainText() == DEMO
    assert inspector.source.textCursor().blockNumber() == 10  # the edited line, counted from 0


def test_typed_text_counts_after_a_pause(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.show_text()
    inspector.source.selectAll()

    QTest.keyClicks(inspector.source, "oh")

    qtbot.waitUntil(lambda: doc_of(inspector).text == "oh")
    assert not doc_of(inspector).is_toml
    assert inspector.problem_list.isVisible()


def test_a_field_of_a_long_recording_gives_it_back_as_it_is(qtbot: QtBot) -> None:
    recording = "packed:" + "0123456789" * 10_000
    value = f'{{ trace = "lte.up", content = "{recording}" }}'
    editor = TextEditor()
    qtbot.addWidget(editor)
    editor.show_value(value)
    assert not editor.is_changed
    typed: list[str] = []
    editor.committed.connect(typed.append)
    editor.commit()
    assert typed == []
    QTest.keyClick(editor, Qt.Key.Key_End)
    QTest.keyClicks(editor, " ")
    editor.commit()
    assert typed == [f"{value} "]


def test_a_long_recording_is_shown_by_its_hash_and_stays(qtbot: QtBot) -> None:
    recording = "packed:" + "0123456789" * 200
    doc = ScenarioDoc(f'{DEMO}\n# "{recording}"\n')
    editor = SourceEditor()
    qtbot.addWidget(editor)
    editor.show_document(doc)
    assert recording not in editor.toPlainText()
    typed: list[str] = []
    editor.committed.connect(lambda text, _session: typed.append(text))
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    QTest.keyClicks(editor, "#")
    editor.commit()
    assert typed == [f"#{doc.text}"]


def test_leaving_the_text_commits_it(inspector: Inspector) -> None:
    inspector.show_text()
    inspector.source.selectAll()
    QTest.keyClicks(inspector.source, "seed = 3")

    inspector.show_form()

    assert doc_of(inspector).text == "seed = 3"


def test_windows_line_ends_survive_the_text_editor(qtbot: QtBot, stack: QUndoStack) -> None:
    inspector = show_inspector(qtbot, stack, DEMO.replace("\n", "\r\n"))
    inspector.show_text()

    QTest.keyClicks(inspector.source, "# ")
    inspector.commit_pending()

    assert doc_of(inspector).text == ("# " + DEMO).replace("\n", "\r\n")


def test_a_form_comes_back_when_the_text_is_repaired(inspector: Inspector) -> None:
    inspector.show_key("links.wifi")
    doc_of(inspector).set_text("broken [")
    assert not inspector.form.isEnabled()

    doc_of(inspector).set_text(DEMO.replace("8Mbit/s", "5Mbit/s"))

    assert inspector.form.isEnabled()
    assert text_editor(inspector, "links.wifi.rate").text() == "5Mbit/s"


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_what_is_being_typed_survives_an_edit_elsewhere(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.rate", "9Mb", enter=False)

    doc_of(inspector).move_nodes({"client": (1, 2)})

    assert editor.text() == "9Mb"
    assert editor.hasFocus()


def test_another_document_takes_the_place(inspector: Inspector) -> None:
    old = doc_of(inspector)
    inspector.show_key("links.wifi")

    inspector.set_document(ScenarioDoc(DEMO.replace("wifi", "wlan")))
    old.set_value("links.wifi.loss", "120%")

    assert inspector.key == ""
    assert inspector.problem_list.isHidden()
    assert text_editor(inspector, "links.wlan.rate").text() == "8Mbit/s"
    assert "wlan" in inspector.source.toPlainText()


def test_another_document_does_not_get_what_was_typed_for_the_old_one(inspector: Inspector, stack: QUndoStack) -> None:
    type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)
    old = doc_of(inspector)

    inspector.set_document(ScenarioDoc(DEMO))

    assert doc_of(inspector).text == DEMO
    assert old.text == DEMO
    assert stack.count() == 0


def test_every_field_has_a_name_for_tests_and_screen_readers(inspector: Inspector) -> None:
    inspector.show_key("flows.download")

    for each in inspector.form.rows():
        assert each.editor.objectName() == f"field_{each.key.replace('.', '_')}"
        assert each.editor.accessibleName()
        assert each.field.param.help in each.editor.toolTip()
        assert each.label.buddy() is each.editor


def test_a_theme_reaches_the_form_that_is_shown(inspector: Inspector, qapp: QApplication) -> None:
    inspector.show_key("links.wifi")

    Theme(qapp, "dark")
    qapp.processEvents()

    label = row(inspector, "links.wifi.rate").label
    assert label.palette().color(label.foregroundRole()) == QColor(DARK.muted_text)


def test_an_empty_canvas_is_a_beginning_and_nothing_is_wrong_with_it(qtbot: QtBot, stack: QUndoStack) -> None:
    inspector = show_inspector(qtbot, stack, 'format = 1\nduration = "60s"\n')
    title = present(inspector.problem_list.findChild(QLabel, "problemCount"))
    assert "add two hosts and a link" in title.text()
    assert not inspector.problem_list.view.isVisible()

    inspector.set_document(ScenarioDoc('format = 1\nduration = "60s"\n[nodes.a]\n[nodes.b]\n'))
    assert "connect the hosts by a link" in title.text()

    inspector.set_document(ScenarioDoc('format = 1\nduration = "soon"\n[nodes.a]\n[nodes.b]\n'))
    assert title.text() == "3 problems"
    assert inspector.problem_list.view.isVisible()
