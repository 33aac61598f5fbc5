"""The editor of scripts on its own: keys, completion, colours, and marked errors."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.scripts import CONTROLLER

from subflow_app.features.script.qt.editor import ScriptEditor, commented, other_bracket
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.code_editor import FindBar

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def editor(qtbot: QtBot) -> ScriptEditor:
    made = ScriptEditor()
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    made.setFocus()
    return made


def write(editor: ScriptEditor, text: str) -> None:
    """Shows a text, with the cursor at its ``|``."""
    at = text.index("|")
    editor.open_text("controller", text.replace("|", ""))
    cursor = editor.textCursor()
    cursor.setPosition(at)
    editor.setTextCursor(cursor)


def written(editor: ScriptEditor) -> str:
    at = editor.textCursor().position()
    return f"{editor.text[:at]}|{editor.text[at:]}"


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("def on_ack(w, ack):|", Qt.Key.Key_Return, "def on_ack(w, ack):\n    |"),
        ("    if x:  # why:|", Qt.Key.Key_Return, "    if x:  # why:\n        |"),
        ("    x = 'a:'|", Qt.Key.Key_Return, "    x = 'a:'\n    |"),
        ("    return|", Qt.Key.Key_Return, "    return\n|"),
        ("|    x", Qt.Key.Key_Return, "\n|    x"),
        ("a|", Qt.Key.Key_Tab, "a   |"),
        ("    |", Qt.Key.Key_Tab, "        |"),
        ("        |x", Qt.Key.Key_Backspace, "    |x"),
        ("     |x", Qt.Key.Key_Backspace, "    |x"),
        ("ab|", Qt.Key.Key_Backspace, "a|"),
        ("      x|", Qt.Key.Key_Backtab, "    x|"),
        ("x|", Qt.Key.Key_Backtab, "x|"),
    ],
)
def test_keys_keep_the_indent(editor: ScriptEditor, before: str, key: Qt.Key, after: str) -> None:
    write(editor, before)
    QTest.keyClick(editor, key)
    assert written(editor) == after
    editor.undo()
    assert editor.text == before.replace("|", "")


def test_lines_are_indented_and_commented_together(editor: ScriptEditor) -> None:
    write(editor, "|a\n\n  b\n")
    editor.selectAll()
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text == "    a\n\n    b\n"
    editor.toggle_comment()
    assert editor.text == "    # a\n\n    # b\n"
    editor.toggle_comment()
    assert editor.text == "    a\n\n    b\n"
    editor.undo()
    editor.undo()
    editor.undo()
    assert editor.text == "a\n\n  b\n"


def test_commenting_keeps_what_is_a_comment_already() -> None:
    assert commented(["x", "# y"]) == ["# x", "# # y"]
    assert commented(["# x", "# # y"]) == ["x", "# y"]


@pytest.mark.parametrize(
    ("text", "position", "other"),
    [
        ("f(a[1])", 1, 6),
        ("f(a[1])", 6, 1),
        ("f(a[1])", 3, 5),
        ("(')')", 0, 4),
        ('("""(""")', 0, 8),
        ("(  # )\n)", 0, 7),
        ("(", 0, None),
        ("abc", 1, None),
        ("')'", 1, None),
        ("", 0, None),
    ],
)
def test_brackets_find_each_other(text: str, position: int, other: int | None) -> None:
    assert other_bracket(text, position) == other


def marks(editor: ScriptEditor) -> list[tuple[str, str]]:
    """The marked texts other than lines, with the kind of mark."""
    found = []
    for each in editor.more_marks():
        wave = each.format.underlineStyle() == each.format.UnderlineStyle.WaveUnderline
        found.append((each.cursor.selectedText(), "problem" if wave else each.format.background().color().name()))
    return found


def test_what_is_wrong_is_underlined_while_one_types(editor: ScriptEditor, qtbot: QtBot) -> None:
    write(editor, CONTROLLER.replace("gain * left", "gain * |left"))
    assert not editor.problems
    with qtbot.waitSignal(editor.checked):
        QTest.keyClicks(editor, "un")
    assert [problem.line for problem in editor.problems] == [7]
    assert ("unleft", "problem") in marks(editor)
    cursor = editor.document().find("unleft")
    assert "unleft" in editor.tip_at(cursor)
    assert editor.problem_at(editor.cursorRect(cursor).center().y()) == editor.tip_at(cursor)
    with qtbot.waitSignal(editor.checked):
        editor.undo()
    assert not editor.problems
    assert marks(editor) == []


def test_a_problem_at_the_end_of_a_line_is_marked_all_the_same(editor: ScriptEditor) -> None:
    write(editor, "def on_ack(w, ack):\n    w.cwnd = (|\n")
    assert editor.problems
    assert [text for text, kind in marks(editor) if kind == "problem" and text]


def test_brackets_are_marked_and_what_is_sought(editor: ScriptEditor) -> None:
    write(editor, "w.cwnd = max(1, 2)|")
    assert [text for text, kind in marks(editor) if kind != "problem"] == [")", "("]
    editor.seek("w")
    assert [text for text, kind in marks(editor) if kind == current_tokens().warning_fill] == ["w", "w"]


def test_names_are_offered_with_units_and_taken_by_enter_or_tab(editor: ScriptEditor) -> None:
    write(editor, "def on_ack(w, ack):\n    w.cwnd += ack|\n")
    popup = editor._popup
    QTest.keyClicks(editor, ".")
    assert popup.isVisible()
    offered = [popup.model().index(row, 0).data() for row in range(popup.model().rowCount())]
    assert any(line.startswith("acked") and " pkt " in line for line in offered)
    QTest.keyClicks(editor, "mi")
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert not popup.isVisible()
    assert written(editor) == "def on_ack(w, ack):\n    w.cwnd += ack.min_rtt|\n"
    editor.undo()
    QTest.keyClicks(editor, " sq")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert "sqrt|" in written(editor)


def test_escape_closes_the_list_and_then_leaves_the_text(editor: ScriptEditor, qtbot: QtBot) -> None:
    write(editor, "def on_ack(w, ack):\n    |\n")
    editor.offer(is_asked=True)
    assert editor._popup.isVisible()
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor._popup.isVisible()
    assert editor.text == "def on_ack(w, ack):\n    \n"


def test_in_a_comment_nothing_is_offered(editor: ScriptEditor) -> None:
    write(editor, "# |\n")
    QTest.keyClicks(editor, "sqrt w.")
    assert not editor._popup.isVisible()


def test_a_name_explains_itself(editor: ScriptEditor) -> None:
    write(editor, "|def on_ack(w, ack):\n    w.cwnd += ack.acked * sqrt(4)\n")
    tip = editor.tip_at(editor.document().find("acked"))
    assert tip.startswith("acked (pkt): ")
    assert editor.tip_at(editor.document().find("sqrt")).startswith("sqrt")
    assert editor.tip_at(editor.document().find("4")) == ""


def test_text_from_a_script_is_no_markup(editor: ScriptEditor) -> None:
    write(editor, "def on_ack(w, ack):\n    w.cwnd = <b>bold|\n")
    assert editor.problems
    from subflow_app.toolkit.widgets.shorthand import as_written

    tip = as_written(editor.problem_at(editor.cursorRect().center().y()))
    assert "<b>" not in tip


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_each_kind_of_word_has_a_colour(editor: ScriptEditor, qapp: QApplication, mode: str) -> None:
    Theme(qapp, mode)  # type: ignore[arg-type]  # one of its modes
    text = '"""Two\nlines."""\ndef on_ack(w, ack):  # why\n    w.cwnd = sqrt(1.5)\n    other = "text"'
    write(editor, text + "|")
    colours: dict[str, QColor] = {}
    for word in ("Two", "lines", "def", "on_ack", "# why", "cwnd", "sqrt", "1.5", '"text"'):
        cursor = editor.document().find(word)
        block, place = cursor.block(), cursor.selectionStart() - cursor.block().position()
        spans = [f for f in block.layout().formats() if f.start <= place < f.start + f.length]
        assert spans, word
        colours[word] = spans[0].format.foreground().color()
    assert colours["Two"] == colours["lines"] == colours['"text"']
    kinds = [colours[word].name() for word in ("Two", "def", "on_ack", "# why", "cwnd", "sqrt", "1.5")]
    assert len(set(kinds)) >= 6
    assert QColor(current_tokens().base).name() not in kinds


def test_a_new_text_can_be_undone_when_it_was_put_there(editor: ScriptEditor) -> None:
    write(editor, "a|")
    editor.put_text("b\nc")
    assert editor.text == "b\nc"
    editor.undo()
    assert editor.text == "a"


def test_keys_of_the_window_that_mean_the_script_here(editor: ScriptEditor, qtbot: QtBot) -> None:
    write(editor, "a|")
    for key, command in ((Qt.Key.Key_S, "save"), (Qt.Key.Key_F, "find"), (Qt.Key.Key_Slash, "comment")):
        with qtbot.waitSignal(editor.commanded) as told:
            QTest.keyClick(editor, key, CONTROL)
        assert told.args == [command]
    assert editor.text == "a"


def test_finding_goes_round_and_replacing_all_is_one_step(editor: ScriptEditor, qtbot: QtBot) -> None:
    bar = FindBar(editor)
    qtbot.addWidget(bar)
    bar.sought.connect(editor.seek)
    write(editor, "|cwnd = cwnd + 1\nCWND")
    cursor = editor.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    bar.start()
    assert (bar.line.text(), bar.count.text()) == ("cwnd", "3 places")
    places = []
    for _ in range(3):
        QTest.keyClick(bar.line, Qt.Key.Key_Return)
        places.append(editor.textCursor().selectionStart())
    assert places == [7, 16, 0]
    QTest.keyClick(bar.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert editor.textCursor().selectionStart() == 16
    bar.instead.setText("w.cwnd")
    bar.replace_all()
    assert editor.text == "w.cwnd = w.cwnd + 1\nw.cwnd"
    editor.undo()
    assert editor.text == "cwnd = cwnd + 1\nCWND"
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    bar.go_on()
    bar.replace()
    assert editor.text == "w.cwnd = cwnd + 1\nCWND"
    assert editor.textCursor().selectionStart() == 9
    QTest.keyClick(bar.line, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert editor.sought == ""
