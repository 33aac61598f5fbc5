"""The editor of a script: colours, checks, completion, and keys for indents and comments.

Hooks and keywords have the strongest colours, fields and functions one colour each, and comments are faint. The
functions for indents, comments and matching brackets work on text alone, without a widget.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QCompleter, QListView, QTextEdit, QToolTip, QWidget

from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.theme import Tokens, current_tokens, mixed
from subflow_app.toolkit.widgets.code_editor import CodeEditor
from subflow_app.toolkit.widgets.shorthand import as_written, named, timer
from subflow_app.toolkit.widgets.tables import ROW_ROLE, ListModel
from subflow_app.vocabulary.language import tr
from subflow_sim.scenario_model import ScriptKind
from subflow_sim.script import Completion, ScriptProblem, check_script, completions, vocabulary

_DOCSTRING = re.compile(r'"""|\'\'\'')
_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)
      | (?P<number>(?<![\w.])(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<field>(?<=\.)[A-Za-z_]\w*)
      | (?P<word>[A-Za-z_]\w*)""",
    re.VERBOSE,
)
_BOLD = 600


class ScriptHighlighter(QSyntaxHighlighter):
    """Colours the script in one document."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._words: dict[str, str] = {}

    def set_kind(self, kind: ScriptKind) -> None:
        """Uses the vocabulary of controllers, or of schedulers, from now on."""
        self._words = dict.fromkeys(keyword.kwlist, "keyword")
        self._words |= dict.fromkeys(vocabulary.SETTINGS, "keyword")
        for each in (*vocabulary.FUNCTIONS, *vocabulary.DECLARATIONS):
            self._words[each.name] = "function"
        for hook in vocabulary.HOOKS:
            if hook.kind == kind:
                self._words[hook.name] = "hook"
        self.rehighlight()

    def recolour(self, tokens: Tokens) -> None:
        """Uses the colours of a theme."""
        colours = {
            "comment": tokens.muted_text,
            "string": tokens.ok,
            "number": tokens.warning,
            "keyword": tokens.accent,
            "hook": mixed(tokens.accent, tokens.error, 0.5),
            "function": tokens.link,
            "field": mixed(tokens.text, tokens.link, 0.55),
        }
        for kind, colour in colours.items():
            text_format = QTextCharFormat()
            text_format.setForeground(QColor(colour))
            text_format.setFontItalic(kind == "comment")
            if kind in ("keyword", "hook"):
                text_format.setFontWeight(_BOLD)
            self._formats[kind] = text_format
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colours a line; the state of the block records the triple quotes that are still open."""
        start = 0
        quotes = ("", '"""', "'''")
        self.setCurrentBlockState(0)
        opened = quotes[max(0, self.previousBlockState())]
        while True:
            if opened:
                close = text.find(opened, start)
                end = len(text) if close < 0 else close + 3
                begin = start - 3 if start else 0
                self.setFormat(begin, end - begin, self._formats["string"])
                if close < 0:
                    self.setCurrentBlockState(quotes.index(opened))
                    return
                start, opened = end, ""
            found = self._colour_code(text, start)
            if found is None:
                return
            opened, start = text[found : found + 3], found + 3

    def _colour_code(self, text: str, start: int) -> int | None:
        """Colours code up to the next triple quotes; returns their position, or None at the end of the line."""
        position = start
        while (match := _TOKEN.search(text, position)) is not None:
            if match.lastgroup == "string" and _DOCSTRING.match(text, match.start()):
                return match.start()
            kind = match.lastgroup or ""
            kind = self._words.get(match[0], "") if kind == "word" else kind
            if kind:
                self.setFormat(match.start(), match.end() - match.start(), self._formats[kind])
            position = match.end()
        return None


INDENT = 4
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_BACK = {close: open_ for open_, close in _PAIRS.items()}
_ENDS_BLOCK = re.compile(r"\s*(return|pass)\b")
_STRING_OR_COMMENT = re.compile(r'"""(?:.|\n)*?(?:"""|\Z)|"[^"\n]*"?|\'[^\'\n]*\'?|#[^\n]*')


def indent_of(line: str) -> int:
    """Number of leading spaces."""
    return len(line) - len(line.lstrip(" "))


def indent_after(line: str) -> int:
    """Number of leading spaces of the next line, given the text of this line before the cursor."""
    code = _STRING_OR_COMMENT.sub("", line).rstrip()
    indent = indent_of(line)
    if code.endswith(":"):
        return indent + INDENT
    return max(0, indent - INDENT) if _ENDS_BLOCK.match(line) else indent


def indented(lines: Sequence[str]) -> list[str]:
    """The lines indented to the next multiple of `INDENT` spaces; empty lines are unchanged."""
    return [" " * (INDENT - indent_of(line) % INDENT) + line if line.strip() else line for line in lines]


def dedented(lines: Sequence[str]) -> list[str]:
    """The lines dedented to the previous multiple of `INDENT` spaces."""
    return [line[(indent_of(line) - 1) % INDENT + 1 :] if indent_of(line) else line for line in lines]


def commented(lines: Sequence[str]) -> list[str]:
    """The lines commented out, or uncommented if every line is a comment."""
    written = [line for line in lines if line.strip()]
    if written and all(line.lstrip().startswith("#") for line in written):
        return [re.sub(r"^(\s*)# ?", r"\1", line) for line in lines]
    least = min(map(indent_of, written), default=0)
    return [f"{line[:least]}# {line[least:]}" if line.strip() else line for line in lines]


def other_bracket(text: str, position: int) -> int | None:
    """Position of the matching bracket; None if none matches, or if the bracket is in a string or comment."""
    if position >= len(text) or text[position] not in (*_PAIRS, *_BACK):
        return None
    # Spaces replace strings and comments, so that positions remain valid.
    code = _STRING_OR_COMMENT.sub(lambda match: " " * len(match[0]), text)
    own = code[position]
    if own == " ":
        return None
    other, step = (_PAIRS[own], 1) if own in _PAIRS else (_BACK[own], -1)
    depth = 0
    for place in range(position, len(code) if step > 0 else -1, step):
        depth += (code[place] == own) - (code[place] == other)
        if depth == 0:
            return place
    return None


_CHECK_MS = 250  # pause in typing before a check, because half-typed code mostly has problems
_REST_OF_NAME = re.compile(r"\w*")
_OFFERED_FROM = 2  # number of typed characters that opens the completion; after a dot, it opens immediately
_MOST_SHOWN = 12

_Keys = Qt.KeyboardModifier
_COMMANDS = {
    (Qt.Key.Key_S, _Keys.ControlModifier): "save",
    (Qt.Key.Key_F, _Keys.ControlModifier): "find",
    (Qt.Key.Key_Slash, _Keys.ControlModifier): "comment",
    # On German keyboards, the slash is Shift+7.
    (Qt.Key.Key_Slash, _Keys.ControlModifier | _Keys.ShiftModifier): "comment",
}
"""Keys that have a different meaning elsewhere in the window."""


class ScriptEditor(CodeEditor):
    """Edits one script. Tab indents, so Escape moves the focus to the next widget."""

    commanded = Signal(str)  # "save", "find" or "comment"
    checked = Signal(object)  # tuple[ScriptProblem, ...]: problems of the current text
    entered = Signal()  # the editor received the focus

    shades_problems = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("scriptEditor", tr("Text of the script"), parent)
        self.kind: ScriptKind = "controller"
        self.problems: tuple[ScriptProblem, ...] = ()
        self.sought = ""  # text whose occurrences are marked
        self.moment: int | None = None  # line number, from 1, of the explained decision
        self.setTabStopDistance(INDENT * self.fontMetrics().horizontalAdvance(" "))
        self._highlighter = ScriptHighlighter(self.document())
        self._names: ListModel[Completion] = ListModel(_offer, self, tip=lambda each: each.help)
        self._completer = QCompleter(self._names, self)
        self._completer.setWidget(self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setMaxVisibleItems(_MOST_SHOWN)
        # Qt's own list would use the font of the window.
        self._popup = named(QListView(), "scriptCompletions", tr("Names that fit here"))
        self._popup.setFont(self.font())
        self._completer.setPopup(self._popup)
        self._completer.activated[QModelIndex].connect(self._take)  # type: ignore[index] # overloaded signal
        self._pause = timer(self, self.check, _CHECK_MS, is_single=True)
        self.textChanged.connect(self._pause.start)
        self.colour_by(self._highlighter.recolour)

    # ---- text ----

    @property
    def text(self) -> str:
        return self.toPlainText()

    def open_text(self, kind: ScriptKind, text: str) -> None:
        """Shows a different script and clears the undo history."""
        self.kind = kind
        self._highlighter.set_kind(kind)
        self.setPlainText(text)
        self.check()

    def put_text(self, text: str) -> None:
        """Replaces the text, as one undoable step."""
        line, column = self.textCursor().blockNumber(), self.textCursor().columnNumber()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()
        self.place_cursor(line, column)
        self.check()

    def check(self) -> None:
        """Checks the text immediately, marks its problems and emits `checked`."""
        self._pause.stop()
        self.problems = check_script(self.text, self.kind) if self.text.strip() or self.problems else ()
        self.mark_problems({problem.line: problem_line(problem) for problem in reversed(self.problems)})
        self.checked.emit(self.problems)

    def seek(self, sought: str) -> None:
        """Marks all occurrences of a text; an empty text removes the marks."""
        self.sought = sought
        self.mark_lines()

    def mark_moment(self, line: int | None) -> None:
        """Marks the line, from 1, of a decision; None removes the mark."""
        if line != self.moment:
            self.moment = line
            self.mark_lines()

    # ---- marks ----

    def more_marks(self) -> Iterable[QTextEdit.ExtraSelection]:
        """Marks for the line of the decision, search results, matching brackets and problems."""
        tokens = current_tokens()
        if self.moment is not None and (block := self.document().findBlockByNumber(self.moment - 1)).isValid():
            whole = QTextCharFormat()
            whole.setBackground(QColor(mixed(tokens.base, tokens.accent, 0.25)))
            whole.setProperty(QTextFormat.Property.FullWidthSelection, True)
            yield _selection(QTextCursor(block), whole)
        if self.sought:
            found = QTextCursor(self.document())
            ground = QTextCharFormat()
            ground.setBackground(QColor(tokens.warning_fill))
            while not (found := self.document().find(self.sought, found)).isNull():
                yield _selection(found, ground)
        cursor = self.textCursor()
        if not cursor.hasSelection():
            for position in (cursor.position(), cursor.position() - 1):
                other = other_bracket(self.text, position) if position >= 0 else None
                if other is None:
                    continue
                pair = QTextCharFormat()
                pair.setBackground(QColor(mixed(tokens.base, tokens.accent, 0.3)))
                pair.setFontWeight(700)
                yield from (_selection(self._part(place, place + 1), pair) for place in (position, other))
                break
        wave = QTextCharFormat()
        wave.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        wave.setUnderlineColor(QColor(tokens.error))
        for problem in self.problems:
            block = self.document().findBlockByNumber(problem.line - 1)
            if not block.isValid():
                continue
            last = block.position() + block.length() - 1
            start = min(block.position() + problem.column - 1, last)
            end = min(max(block.position() + problem.end_column - 1, start + 1), last)
            # A problem at the end of a line is marked under the last character.
            yield _selection(self._part(start if start < end else max(block.position(), last - 1), end), wave)

    # ---- Qt ----

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Emits `entered`, because another program may have changed the file."""
        super().focusInEvent(event)
        self.entered.emit()

    def event(self, event: QEvent) -> bool:
        """Claims keys that have a different meaning elsewhere in the window, and shows tool tips."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if _command(event):
                event.accept()
                return True
            if event.key() == Qt.Key.Key_K and event.modifiers() == _Keys.ControlModifier:
                # On some systems, Qt would delete the rest of the line. Here, Ctrl+K opens the palette instead.
                event.ignore()
                return False
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            point = self.viewport().mapFrom(self, event.pos())
            tip = self.tip_at(self.cursorForPosition(point))
            QToolTip.showText(event.globalPos(), as_written(tip), self)
            return True
        return super().event(event)

    def tip_at(self, cursor: QTextCursor) -> str:
        """The problem at a position, or the meaning of the name there; empty if neither exists."""
        line, column = cursor.blockNumber() + 1, cursor.columnNumber() + 1
        for problem in self.problems:
            if problem.line == line and problem.column <= column <= max(problem.end_column, problem.column + 1):
                return problem_line(problem)
        text = cursor.block().text()
        # The text up to the end of the name at the position.
        rest = _REST_OF_NAME.match(text, cursor.columnNumber())
        end = rest.end() if rest is not None else cursor.columnNumber()
        word = _begun(text[:end])
        if not word:
            return ""
        meant = [each for each in completions(self.text, line, end + 1) if each.name == word]
        return "\n".join(_explained(each) for each in meant[:1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles the keys that complete, indent and comment; all other keys type text."""
        popup = self._popup
        key = Qt.Key(event.key())
        if popup.isVisible():
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
                index = popup.currentIndex()
                popup.hide()
                self._take(index if index.isValid() else self._completer.completionModel().index(0, 0))
                return
            if key == Qt.Key.Key_Escape:
                popup.hide()
                return
        command = _command(event)
        if command:
            self.commanded.emit(command)
        elif key == Qt.Key.Key_Escape and not event.modifiers():
            # Escape leaves the editor, because Tab indents. Qt finds the next widget only while Tab changes the focus.
            self.setTabChangesFocus(True)
            self.focusNextChild()
            self.setTabChangesFocus(False)
        elif key == Qt.Key.Key_Tab and not event.modifiers() & ~_Keys.ShiftModifier:
            self._indent()
        elif key == Qt.Key.Key_Backtab:
            self.change_lines(dedented)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self._break_line()
        elif key == Qt.Key.Key_Backspace and not event.modifiers() and self._is_in_indent():
            cursor = self.textCursor()
            steps = (cursor.columnNumber() - 1) % INDENT + 1
            cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, steps)
            cursor.removeSelectedText()
        else:
            super().keyPressEvent(event)
            if event.text().isprintable() and event.text():
                self.offer()
            elif popup.isVisible():
                self.offer() if key == Qt.Key.Key_Backspace else popup.hide()

    # ---- lines ----

    def toggle_comment(self) -> None:
        """Comments the selected lines out, or uncomments them."""
        self.change_lines(commented)

    def change_lines(self, change: Callable[[Sequence[str]], list[str]]) -> None:
        """Changes the selected lines, or the line of the cursor, as one undoable step."""
        cursor = self.textCursor()
        document = self.document()
        first = document.findBlock(cursor.selectionStart())
        last = document.findBlock(max(cursor.selectionStart(), cursor.selectionEnd() - 1))
        lines = self.text.split("\n")[first.blockNumber() : last.blockNumber() + 1]
        new = change(lines)
        has_selection, column = cursor.hasSelection(), cursor.columnNumber() + len(new[0]) - len(lines[0])
        start, end = first.position(), last.position() + last.length() - 1
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText("\n".join(new))
        if has_selection:
            self.setTextCursor(self._part(start, start + len("\n".join(new))))
        else:
            self.place_cursor(first.blockNumber(), column)

    def _indent(self) -> None:
        cursor = self.textCursor()
        if "\u2029" in cursor.selectedText():
            self.change_lines(indented)
        else:
            column = cursor.selectionStart() - self.document().findBlock(cursor.selectionStart()).position()
            cursor.insertText(" " * (INDENT - column % INDENT))

    def _break_line(self) -> None:
        cursor = self.textCursor()
        cursor.removeSelectedText()
        before = cursor.block().text()[: cursor.columnNumber()]
        cursor.insertText("\n" + " " * indent_after(before))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _is_in_indent(self) -> bool:
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.columnNumber()]
        return not cursor.hasSelection() and bool(before) and indent_of(before) == len(before)

    # ---- completion ----

    def offer(self, *, is_asked: bool = False) -> None:
        """Offers names that fit at the cursor: after enough characters, after a dot, or on request."""
        popup = self._popup
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.columnNumber()]
        begun = _begun(before)
        is_field = before[: len(before) - len(begun)].endswith(".")
        found: Sequence[Completion] = ()
        if is_asked or is_field or len(begun) >= _OFFERED_FROM:
            found = completions(self.text, cursor.blockNumber() + 1, cursor.columnNumber() + 1)
            found = [each for each in found if each.name.startswith(begun)]
        if not found or (not is_asked and [each.name for each in found] == [begun]):
            popup.hide()
            return
        self._names.show_rows(found)
        rect = self.cursorRect()
        rect.translate(self.viewport().pos())
        rect.setWidth(popup.sizeHintForColumn(0) + popup.verticalScrollBar().sizeHint().width() + 12)
        self._completer.complete(rect)
        popup.setCurrentIndex(self._completer.completionModel().index(0, 0))

    def _take(self, index: QModelIndex) -> None:
        chosen = index.data(ROW_ROLE)
        if chosen is None:
            return
        cursor = self.textCursor()
        begun = _begun(cursor.block().text()[: cursor.columnNumber()])
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(begun))
        cursor.insertText(chosen.name)
        self.setTextCursor(cursor)

    def _part(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor


def problem_line(problem: ScriptProblem) -> str:
    """The problem, followed by the allowed values if it has any."""
    what = problem_text(problem.message)
    if problem.allowed:
        return tr("{problem}; allowed: {what}", problem=what, what=problem_text(problem.allowed))
    return what


def _command(event: QKeyEvent) -> str:
    return _COMMANDS.get((Qt.Key(event.key()), event.modifiers()), "")


def _selection(cursor: QTextCursor, text_format: QTextCharFormat) -> QTextEdit.ExtraSelection:
    made = QTextEdit.ExtraSelection()
    made.cursor = cursor
    made.format = text_format
    return made


def _begun(before: str) -> str:
    """The partly typed name at the end of a text."""
    end = len(before)
    while end and (before[end - 1].isalnum() or before[end - 1] == "_"):
        end -= 1
    return before[end:]


def _offer(each: Completion) -> str:
    """A line of the list: name, unit, and the beginning of the help."""
    return "  ".join(filter(None, (f"{each.name:<16}", f"{each.unit:<6}" if each.unit else "", each.help[:60])))


def _explained(each: Completion) -> str:
    name = f"{each.name} ({each.unit})" if each.unit else each.name
    return tr("{name}: {help}", name=name, help=each.help)
