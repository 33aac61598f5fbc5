"""The inspector, driven by keyboard and mouse; what counts is what the document says afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from subflow_app.core.outline import outline
from subflow_app.core.scenario_doc import ScenarioDoc
from subflow_app.qt.inspector import Inspector
from subflow_app.qt.inspector.editors import ChoiceEditor, FlagEditor, PairEditor, TextEditor
from subflow_app.qt.inspector.field_row import FieldRow
from subflow_app.qt.inspector.outline_model import KEY_ROLE
from subflow_app.qt.theme import DARK, LIGHT
from subflow_sim.catalog import catalog

SCENARIOS = sorted((Path(__file__).parents[2] / "assets" / "scenarios").glob("*.toml"))

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


@pytest.fixture
def stack(qapp: QApplication) -> QUndoStack:
    return QUndoStack()


@pytest.fixture
def make(qtbot: QtBot, stack: QUndoStack) -> Callable[..., Inspector]:
    def build(text: str = DEMO) -> Inspector:
        inspector = Inspector(ScenarioDoc(text), stack, catalog(), LIGHT)
        qtbot.addWidget(inspector)
        inspector.resize(360, 800)
        with qtbot.waitActive(inspector):
            inspector.show()
            inspector.activateWindow()
        return inspector

    return build


@pytest.fixture
def inspector(make: Callable[..., Inspector]) -> Inspector:
    return make()


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
    """Pick a value as a click into the list would."""
    index = editor.findData(value)
    assert index >= 0, value
    editor.setCurrentIndex(index)
    editor.activated.emit(index)


# --- values -----------------------------------------------------------------------------------------------------------


def test_enter_commits_and_undo_takes_it_back(inspector: Inspector, stack: QUndoStack) -> None:
    editor = type_text(inspector, "links.wifi.rate", "9Mbit/s")

    assert doc_of(inspector).text == DEMO.replace("8Mbit/s", "9Mbit/s")
    assert stack.undoText() == "Change wifi rate"
    stack.undo()
    assert doc_of(inspector).text == DEMO
    assert editor.text() == "8Mbit/s"


def test_leaving_a_field_commits(inspector: Inspector, stack: QUndoStack) -> None:
    type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)
    assert doc_of(inspector).text == DEMO

    QTest.keyClick(inspector.form.row("links.wifi.rate").editor, Qt.Key.Key_Tab)  # type: ignore[union-attr]

    assert 'rate = "9Mbit/s"' in doc_of(inspector).text
    assert stack.count() == 1


def test_selecting_another_part_commits(inspector: Inspector) -> None:
    type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)

    inspector.show_key("links.wire")

    assert 'rate = "9Mbit/s"' in doc_of(inspector).text


def test_saving_can_ask_for_what_is_only_typed(inspector: Inspector) -> None:
    type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)

    inspector.commit_pending()

    assert 'rate = "9Mbit/s"' in doc_of(inspector).text


@pytest.mark.parametrize("shortcut", ["Ctrl+S", "F5"])
def test_shortcuts_of_the_window_find_what_is_only_typed(inspector: Inspector, shortcut: str) -> None:
    found: list[str] = []
    action = QAction(inspector)
    action.setShortcut(shortcut)
    action.triggered.connect(lambda: found.append(doc_of(inspector).text))
    inspector.addAction(action)
    editor = type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)

    QTest.keySequence(editor, QKeySequence(shortcut))

    assert found == [DEMO.replace("8Mbit/s", "9Mbit/s")]


def test_shortcuts_of_the_window_find_the_typed_text(inspector: Inspector) -> None:
    found: list[str] = []
    action = QAction(inspector)
    action.setShortcut("Ctrl+S")
    action.triggered.connect(lambda: found.append(doc_of(inspector).text))
    inspector.addAction(action)
    inspector.show_text()

    QTest.keyClicks(inspector.source, "# ")
    QTest.keySequence(inspector.source, QKeySequence("Ctrl+S"))

    assert found == ["# " + DEMO]


def test_copying_does_not_commit(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.rate", "9Mb", enter=False)

    QTest.keySequence(editor, QKeySequence("Ctrl+A"))
    QTest.keySequence(editor, QKeySequence("Ctrl+C"))

    assert doc_of(inspector).text == DEMO


def test_escape_takes_back_what_is_typed(inspector: Inspector, stack: QUndoStack) -> None:
    editor = type_text(inspector, "links.wifi.loss", "120%", enter=False)
    assert not row(inspector, "links.wifi.loss").message.isHidden()

    QTest.keyClick(editor, Qt.Key.Key_Escape)
    QTest.keyClick(editor, Qt.Key.Key_Return)

    assert editor.text() == "2%"
    assert row(inspector, "links.wifi.loss").message.isHidden()
    assert stack.count() == 0


def test_commits_while_the_cursor_stays_are_one_step(inspector: Inspector, stack: QUndoStack) -> None:
    for text in ("9Mbit/s", "10Mbit/s", "11Mbit/s"):
        type_text(inspector, "links.wifi.rate", text)
    assert stack.count() == 1

    type_text(inspector, "links.wifi.loss", "3%")
    type_text(inspector, "links.wifi.rate", "12Mbit/s")
    assert stack.count() == 3
    while stack.canUndo():
        stack.undo()
    assert doc_of(inspector).text == DEMO


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("links.wifi.rate", "9e6", "rate = 9000000\n"),
        ("links.wifi.rate", '{steps=[["0s","1Mbit/s"]]}', 'rate = { steps = [["0s", "1Mbit/s"]] }\n'),
        ("links.wifi.delay", "5ms", 'delay = "5ms"\n'),
        ("links.wifi.reverse.rate", "1Mbit/s", 'reverse = { rate = "1Mbit/s" }\n'),
        ("nodes.client.at", "10, 20", "at = [10, 20]\n"),
        ("flows.download.count", "5", "count = 5\n"),
        ("flows.download.paths", '[["wire", "wifi"]]', 'paths = [["wire", "wifi"]]\n'),
        ("seed", "7", "seed = 7\n"),
        ("name", "7", 'name = "7"\n'),
        ("events.0.at", "31s", 'at = "31s"\n'),
    ],
)  # fmt: skip
def test_what_is_typed_is_written_as_it_should_be(
    inspector: Inspector, stack: QUndoStack, key: str, text: str, expected: str
) -> None:
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
    assert not row(inspector, "links.wifi.rate").reset.isEnabled()  # required: there is no default


def test_bare_numbers_are_said_in_words_and_empty_fields_show_their_unit(inspector: Inspector) -> None:
    assert text_editor(inspector, "links.wire.rate").suffix == "= 1 Gbit/s"
    type_text(inspector, "links.wire.rate", "8e6", enter=False)
    assert text_editor(inspector, "links.wire.rate").suffix == "= 8 Mbit/s"
    assert text_editor(inspector, "flows.download.stop").suffix == "s"


# --- wrong values -----------------------------------------------------------------------------------------------------


def test_a_wrong_value_is_told_while_it_is_typed(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.loss", "120%", enter=False)
    message = row(inspector, "links.wifi.loss").message

    assert message.isVisible()
    assert "too large" in message.text().lower()
    assert "Allowed: a ratio from 0 to" in message.text()
    assert editor.accessibleDescription() == message.text()
    assert doc_of(inspector).text == DEMO
    QTest.keyClick(editor, Qt.Key.Key_Home)
    QTest.keyClick(editor, Qt.Key.Key_Delete)  # 20%
    assert message.isHidden()


def test_a_wrong_value_is_kept_and_listed_and_can_be_undone(inspector: Inspector, stack: QUndoStack) -> None:
    editor = type_text(inspector, "links.wifi.loss", "120%")

    assert 'loss = "120%"  # Bernoulli' in doc_of(inspector).text
    assert editor.text() == "120%"
    assert row(inspector, "links.wifi.loss").message.isVisible()
    assert inspector.problem_list.isVisible()
    assert inspector.problem_list.model.rowCount() == 1
    stack.undo()
    assert row(inspector, "links.wifi.loss").message.isHidden()
    assert inspector.problem_list.isHidden()


def test_a_name_that_does_not_fit_is_told_while_it_is_typed(inspector: Inspector) -> None:
    type_text(inspector, "flows.download.paths", '[["wire", "nowhere"]]', enter=False)

    assert "nowhere" in row(inspector, "flows.download.paths").message.text()


def test_a_problem_leads_to_its_field(make: Callable[..., Inspector]) -> None:
    inspector = make(DEMO.replace('"2%"', '"120%"').replace('at = "30s"', 'at = "99s"'))
    assert inspector.problem_list.model.rowCount() == 2
    view = inspector.problem_list.view

    view.clicked.emit(view.model().index(1, 0))

    assert inspector.key == "events.0"
    assert inspector.form.row("events.0.at").editor.hasFocus()  # type: ignore[union-attr]
    inspector.focus_problem(inspector.problem_list.model.problem(0))
    assert inspector.key == "links.wifi"
    assert inspector.form.row("links.wifi.loss").editor.hasFocus()  # type: ignore[union-attr]


def test_a_problem_without_a_field_leads_to_its_line(make: Callable[..., Inspector]) -> None:
    inspector = make(DEMO.replace('rate = "8Mbit/s"', 'rate = "8Mbit/s'))

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
    # Its option appears as a field of its own.
    base = choice_editor(inspector, "flows.download.controller.base")
    choose(base, "newreno")
    assert 'controller = { name = "uncoupled", base = "newreno" }\n' in doc_of(inspector).text
    assert stack.count() == 2
    stack.undo()
    stack.undo()
    assert doc_of(inspector).text == DEMO


def test_a_choice_that_is_none_is_shown_as_it_is(inspector: Inspector) -> None:
    doc_of(inspector).set_value("flows.download.controller", "cubicc")

    editor = choice_editor(inspector, "flows.download.controller")

    assert editor.currentText() == "cubicc"
    assert row(inspector, "flows.download.controller").message.isVisible()
    choose(editor, None)
    assert doc_of(inspector).value("flows.download.controller") is None


def test_the_kind_of_flow_changes_the_form(inspector: Inspector) -> None:
    choose(choice_editor(inspector, "flows.download.kind"), "cbr")

    assert inspector.form.row("flows.download.rate") is not None
    assert inspector.form.row("flows.download.scheduler") is None


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


def test_the_wheel_changes_no_choice(inspector: Inspector, qtbot: QtBot) -> None:
    editor = choice_editor(inspector, "flows.download.kind")
    editor.setFocus()

    QTest.keyClick(editor, Qt.Key.Key_Tab)
    from PySide6.QtCore import QPoint, QPointF
    from PySide6.QtGui import QWheelEvent

    centre = QPointF(editor.rect().center())
    event = QWheelEvent(
        centre, editor.mapToGlobal(centre), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(editor, event)

    assert doc_of(inspector).text == DEMO


# --- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DEMO, *(path.read_text() for path in SCENARIOS)])
def test_looking_at_everything_changes_nothing(make: Callable[..., Inspector], stack: QUndoStack, text: str) -> None:
    inspector = make(text)

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
def test_odd_files_can_be_looked_at_and_edited(make: Callable[..., Inspector], stack: QUndoStack, text: str) -> None:
    inspector = make(text)
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

    inspector.setFocus()

    assert inspector.form.row("events.0.at").editor.hasFocus()  # type: ignore[union-attr]
    inspector.show_key("links")
    inspector.setFocus()
    assert inspector.outline_view.hasFocus()


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
    assert inspector.form.row("events.1.at").editor.hasFocus()  # type: ignore[union-attr]
    scenario = doc_of(inspector).scenario
    assert scenario is not None
    assert [(event.at_s, event.link) for event in scenario.events] == [(30.0, "wifi"), (30.0, "wifi")]

    inspector.form.remove_event_wanted.emit(1)
    assert doc_of(inspector).text == DEMO
    assert inspector.key == "events.0"
    inspector.form.remove_event_wanted.emit(0)
    assert inspector.key == "events"
    while stack.canUndo():
        stack.undo()
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
    assert inspector.source.textCursor().blockNumber() == 10  # the line that was edited, from 0


def test_typed_text_counts_after_a_pause(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.show_text()
    inspector.source.selectAll()

    QTest.keyClicks(inspector.source, "oh")

    qtbot.waitUntil(lambda: doc_of(inspector).text == "oh")
    assert not doc_of(inspector).is_toml
    assert inspector.problem_list.isVisible()


def test_leaving_the_text_commits_it(inspector: Inspector) -> None:
    inspector.show_text()
    inspector.source.selectAll()
    QTest.keyClicks(inspector.source, "seed = 3")

    inspector.show_form()

    assert doc_of(inspector).text == "seed = 3"


def test_windows_line_ends_survive_the_text_editor(make: Callable[..., Inspector]) -> None:
    inspector = make(DEMO.replace("\n", "\r\n"))
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


def test_nothing_can_be_edited_while_a_run_goes(inspector: Inspector, stack: QUndoStack) -> None:
    type_text(inspector, "links.wifi.rate", "9Mbit/s", enter=False)
    inspector.set_read_only(True, "A run is going: stop it to edit.")
    assert stack.count() == 1  # what was typed before counts

    editor = text_editor(inspector, "links.wifi.rate")
    QTest.keyClicks(editor, "1")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    inspector.show_key("flows.download")
    inspector.show_text()
    QTest.keyClicks(inspector.source, "x")
    inspector.commit_pending()

    assert stack.count() == 1
    assert not row(inspector, "flows.download.kind").editor.isEnabled()
    inspector.set_read_only(False)
    type_text(inspector, "links.wifi.rate", "10Mbit/s")
    assert stack.count() == 2


def test_what_is_being_typed_survives_an_edit_elsewhere(inspector: Inspector) -> None:
    editor = type_text(inspector, "links.wifi.rate", "9Mb", enter=False)

    doc_of(inspector).move_node("client", (1, 2))

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


def test_a_theme_reaches_the_form_that_is_shown(inspector: Inspector) -> None:
    inspector.show_key("links.wifi")

    inspector.apply_palette(DARK)

    assert DARK.muted_text in row(inspector, "links.wifi.rate").label.styleSheet()
