"""The fields of the inspector: typing, committing, invalid values, choices and flags."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import shiboken6
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QKeySequence, QUndoStack
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.inspector import DEMO, choice_editor, choose, doc_of, row, show_inspector, text_editor, type_text
from tests.helpers.members import for_each
from tests.helpers.window import at_rest

from subflow_app.features.editor.qt.inspector import Inspector
from subflow_app.features.editor.qt.inspector.editors import FlagEditor, PairEditor, TextEditor


@pytest.fixture
def inspector(qtbot: QtBot, stack: QUndoStack) -> Inspector:
    return show_inspector(qtbot, stack)


# --- units ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "shown"),
    [
        ("links.wifi.rate", "30", "30Mbit/s"),  # replaces 8Mbit/s
        ("links.wifi.rate", "8", "8Mbit/s"),  # the same value as before
        ("links.wifi.delay", "30", "30ms"),  # no value before, default 0ms
        ("links.wifi.loss", "2", "2%"),  # no value before, default 0%
        ("links.wifi.reverse.rate", "2", "2Mbit/s"),  # no value before, default 8Mbit/s of forward
        ("duration", "30", "30s"),
        ("warmup", "5", "5s"),
        ("mss", "1200", "1200B"),
    ],
)
def test_a_bare_number_keeps_the_unit_that_was_there(inspector: Inspector, key: str, text: str, shown: str) -> None:
    editor = type_text(inspector, key, text)

    assert editor.text() == shown
    assert f'= "{shown}"' in doc_of(inspector).text


def test_where_the_file_has_a_bare_number_another_one_is_in_si_units_too(inspector: Inspector) -> None:
    type_text(inspector, "links.wifi.rate", "9e6")

    editor = type_text(inspector, "links.wifi.rate", "30")

    assert (editor.text(), editor.suffix) == ("30", "= 30 bit/s")
    assert "rate = 30\n" in doc_of(inspector).text


def test_the_unit_of_a_bare_number_is_seen_while_it_is_typed(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.rate", "30", enter=False)

    assert editor.suffix == "Mbit/s"


def test_a_narrow_choice_leaves_out_that_its_value_is_the_default(inspector: Inspector) -> None:
    editor = choice_editor(inspector, "profile")
    editor.setMinimumWidth(300)
    assert editor.shown_text == "linux (default)"
    editor.setMinimumWidth(0)
    editor.setFixedWidth(90)
    assert editor.shown_text == "linux"


# --- values -----------------------------------------------------------------------------------------------------------


def test_enter_commits_and_undo_takes_it_back(inspector: Inspector, stack: QUndoStack) -> None:
    editor = type_text(inspector, "links.wifi.rate", "9Mbit/s")

    assert doc_of(inspector).text == DEMO.replace("8Mbit/s", "9Mbit/s")
    assert stack.undoText() == "Change wifi rate"
    stack.undo()
    assert doc_of(inspector).text == DEMO
    assert editor.text() == "8Mbit/s"


@for_each(
    "leave",
    [
        lambda inspector: QTest.keyClick(text_editor(inspector, "links.wifi.rate"), Qt.Key.Key_Tab),
        lambda inspector: inspector.show_key("links.wire"),
        lambda inspector: inspector.commit_pending(),
    ],
    ids=["the next field", "another part", "saving"],
)
def test_leaving_a_field_commits(inspector: Inspector, stack: QUndoStack, leave: Callable[[Inspector], object]) -> None:
    type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)
    assert doc_of(inspector).text == DEMO

    leave(inspector)

    assert 'rate = "9Mbit/s"' in doc_of(inspector).text
    assert stack.count() == 1
    stack.undo()


@pytest.mark.parametrize("shortcut", ["Ctrl+S", "F5"])
def test_shortcuts_of_the_window_find_what_is_only_typed(inspector: Inspector, shortcut: str) -> None:
    found: list[str] = []
    action = QAction(inspector)
    action.setShortcut(shortcut)
    action.triggered.connect(lambda: found.append(doc_of(inspector).text))
    inspector.addAction(action)
    editor = type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)
    QTest.keySequence(editor, QKeySequence(shortcut))
    inspector.show_text()
    QTest.keyClicks(inspector.source, "# ")
    QTest.keySequence(inspector.source, QKeySequence(shortcut))

    typed = DEMO.replace("8Mbit/s", "9Mbit/s")
    assert found == [typed, f"# {typed}"]


def test_copying_does_not_commit(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.rate", "9Mb", enter=False)

    QTest.keySequence(editor, QKeySequence("Ctrl+A"))
    QTest.keySequence(editor, QKeySequence("Ctrl+C"))

    assert doc_of(inspector).text == DEMO


def test_escape_takes_back_what_is_typed(inspector: Inspector, stack: QUndoStack) -> None:
    message = row(inspector, "links.wifi.loss").message
    note = message.text()
    editor = type_text(inspector, "links.wifi.loss", "120%", enter=False)
    assert message.text() != note

    QTest.keyClick(editor, Qt.Key.Key_Escape)
    QTest.keyClick(editor, Qt.Key.Key_Return)

    assert editor.text() == "2%"
    assert message.text() == note
    assert stack.count() == 0


def test_commits_while_the_cursor_stays_are_one_step(inspector: Inspector, stack: QUndoStack) -> None:
    for text in ("9Mbit/s", "10Mbit/s", "11Mbit/s"):
        type_text(inspector, "links.wifi.rate", text)
    assert stack.count() == 1

    type_text(inspector, "links.wifi.loss", "3%")
    type_text(inspector, "links.wifi.rate", "12Mbit/s")
    assert stack.count() == 3
    stack.setIndex(0)
    assert doc_of(inspector).text == DEMO


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("links.wifi.rate", '{steps=[["0s","1Mbit/s"]]}', 'rate = { steps = [["0s", "1Mbit/s"]] }\n'),
        ("links.wifi.reverse.rate", "1Mbit/s", 'reverse = { rate = "1Mbit/s" }\n'),
        ("nodes.client.at", "10, 20", "at = [10, 20]\n"),
        ("name", "7", 'name = "7"\n'),
        ("events.0.at", "31s", 'at = "31s"\n'),
    ],
)  # fmt: skip
def test_what_is_typed_is_written(inspector: Inspector, stack: QUndoStack, key: str, text: str, expected: str) -> None:
    type_text(inspector, key, text)

    assert expected in doc_of(inspector).text
    assert doc_of(inspector).is_valid
    stack.undo()
    assert doc_of(inspector).text == DEMO


def test_an_emptied_field_goes_back_to_the_default(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.loss", "")

    assert "loss" not in doc_of(inspector).text
    assert "# Bernoulli" in doc_of(inspector).text
    assert editor.placeholderText() == "0%"


def test_the_reset_button_goes_back_to_the_default(inspector: Inspector) -> None:
    loss = row(inspector, "links.wifi.loss")
    assert loss.reset.isEnabled()

    QTest.mouseClick(loss.reset, Qt.MouseButton.LeftButton)

    assert doc_of(inspector).value("links.wifi.loss") is None
    assert not loss.reset.isEnabled()
    assert not row(inspector, "links.wifi.rate").reset.isEnabled()  # required: no default


def test_bare_numbers_are_said_in_words_and_empty_fields_show_their_unit(inspector: Inspector) -> None:
    assert text_editor(inspector, "links.wire.rate").suffix == "= 1 Gbit/s"
    type_text(inspector, "links.wire.rate", "8e6", enter=False)
    assert text_editor(inspector, "links.wire.rate").suffix == "= 8 Mbit/s"
    assert text_editor(inspector, "flows.download.stop").suffix == "s"


# --- wrong values -----------------------------------------------------------------------------------------------------


def test_a_wrong_value_is_told_while_it_is_typed(inspector: Inspector) -> None:
    message = row(inspector, "links.wifi.loss").message
    note = message.text()
    editor = type_text(inspector, "links.wifi.loss", "120%", enter=False)

    assert message.isVisible()
    assert "too large" in message.text().lower()
    assert "Allowed: a ratio from 0 to" in message.text()
    assert editor.accessibleDescription() == message.text()
    assert doc_of(inspector).text == DEMO
    QTest.keyClick(editor, Qt.Key.Key_Home)
    QTest.keyClick(editor, Qt.Key.Key_Delete)  # 20%
    assert message.text() == note


def test_a_wrong_value_is_kept_and_listed_and_can_be_undone(inspector: Inspector, stack: QUndoStack) -> None:
    note = row(inspector, "links.wifi.loss").message.text()
    editor = type_text(inspector, "links.wifi.loss", "120%")

    assert 'loss = "120%"  # Bernoulli' in doc_of(inspector).text
    assert editor.text() == "120%"
    assert row(inspector, "links.wifi.loss").message.text() != note
    assert inspector.problem_list.isVisible()
    assert inspector.problem_list.model.rowCount() == 1
    stack.undo()
    assert row(inspector, "links.wifi.loss").message.text() == note
    assert inspector.problem_list.isHidden()


def test_rows_stay_where_they_are_under_a_pressed_mouse_button(inspector: Inspector, qtbot: QtBot) -> None:
    message, below = row(inspector, "links.wifi.delay").message, row(inspector, "links.wifi.loss").label
    editor = type_text(inspector, "links.wifi.delay", "-5ms", enter=False)

    def place() -> QPoint:
        return below.mapTo(inspector, QPoint(0, 0))

    qtbot.waitUntil(at_rest(place))
    before = place()
    assert message.isVisible()
    QTest.mousePress(below, Qt.MouseButton.LeftButton)
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(at_rest(place))
    assert message.isVisible()
    assert place() == before
    QTest.mouseRelease(below, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: place().y() < before.y())
    assert message.isHidden()


def test_a_problem_leads_to_its_field(qtbot: QtBot, stack: QUndoStack) -> None:
    inspector = show_inspector(qtbot, stack, DEMO.replace('"2%"', '"120%"').replace('at = "30s"', 'at = "99s"'))
    assert inspector.problem_list.model.rowCount() == 2
    view = inspector.problem_list.view

    view.clicked.emit(view.model().index(1, 0))

    assert inspector.key == "events.0"
    assert row(inspector, "events.0.at").editor.hasFocus()
    inspector.focus_problem(inspector.problem_list.model.rows[0])
    assert inspector.key == "links.wifi"
    assert row(inspector, "links.wifi.loss").editor.hasFocus()


def test_a_problem_without_a_field_leads_to_its_line(qtbot: QtBot, stack: QUndoStack) -> None:
    inspector = show_inspector(qtbot, stack, DEMO.replace('rate = "8Mbit/s"', 'rate = "8Mbit/s'))

    assert not inspector.form.isEnabled()
    inspector.focus_problem(doc_of(inspector).problems[0])

    assert inspector.source.isVisible()
    assert inspector.source.textCursor().blockNumber() + 1 == doc_of(inspector).problems[0].line == 11


# --- choices and flags ------------------------------------------------------------------------------------------------


def test_a_choice_commits_at_once(inspector: Inspector, stack: QUndoStack) -> None:
    editor = choice_editor(inspector, "flows.download.controller")
    assert editor.currentText() == "lia (default)"

    choose(editor, "uncoupled")

    assert 'controller = "uncoupled"\n' in doc_of(inspector).text
    # The option of the chosen value gets its own field.
    base = choice_editor(inspector, "flows.download.controller.base")
    choose(base, "newreno")
    assert 'controller = { name = "uncoupled", base = "newreno" }\n' in doc_of(inspector).text
    assert stack.count() == 2
    stack.setIndex(0)
    assert doc_of(inspector).text == DEMO


def test_a_choice_that_is_none_is_shown_as_it_is(inspector: Inspector) -> None:
    doc_of(inspector).set_value("flows.download.controller", "cubicc")

    editor = choice_editor(inspector, "flows.download.controller")

    assert editor.currentText() == "cubicc"
    assert row(inspector, "flows.download.controller").message.isVisible()
    choose(editor, None)
    assert doc_of(inspector).value("flows.download.controller") is None


def test_a_flag_is_a_check_box(inspector: Inspector, stack: QUndoStack) -> None:
    editor = row(inspector, "events.0.up").editor
    assert isinstance(editor, FlagEditor)
    assert not editor.isChecked()

    editor.click()

    assert "up = true\n" in doc_of(inspector).text
    stack.undo()
    assert not editor.isChecked()


def test_the_ends_of_a_link_are_two_choices(inspector: Inspector) -> None:
    editor = row(inspector, "links.wifi.ends").editor
    assert isinstance(editor, PairEditor)

    choose(editor.choices[1], "server")

    assert 'ends = ["client", "server"]\nrate = "8Mbit/s"' in doc_of(inspector).text


def test_the_wheel_changes_no_choice(inspector: Inspector) -> None:
    editor = choice_editor(inspector, "flows.download.kind")
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    at = QPointF(editor.mapTo(inspector, editor.rect().center()))
    QTest.wheelEvent(inspector.windowHandle(), at, QPoint(0, -120))

    assert doc_of(inspector).text == DEMO


def test_in_a_narrow_field_the_value_goes_before_the_suffix(qtbot: QtBot) -> None:
    editor = TextEditor()
    qtbot.addWidget(editor)
    editor.setPlaceholderText("0.000001")
    editor.resize(300, 24)
    editor.show()
    editor.set_suffix("default")
    assert editor.textMargins().right() > 0
    editor.resize(60, 24)
    assert editor.textMargins().right() == 0


def test_what_waits_for_the_mouse_button_goes_with_its_form(qtbot: QtBot, inspector: Inspector) -> None:
    inspector.show_key("links.wifi")
    gone = row(inspector, "links.wifi.loss")
    QTest.mousePress(inspector, Qt.MouseButton.LeftButton)
    type_text(inspector, "links.wifi.loss", "120%", enter=False)

    inspector.show_key("flows.download")

    qtbot.waitUntil(lambda: not shiboken6.isValid(gone))
    QTest.mouseRelease(inspector, Qt.MouseButton.LeftButton)
