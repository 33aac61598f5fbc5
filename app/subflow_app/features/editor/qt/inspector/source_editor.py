"""Text editor of the scenario, with TOML highlighting and marks on lines with problems."""

from __future__ import annotations

import itertools
import re

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QColor, QFocusEvent, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QWidget

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.inspector.editors import commit_before_shortcut
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.theme import Tokens
from subflow_app.toolkit.widgets.code_editor import CodeEditor
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr
from subflow_store.recording_texts import folded, unfolded

_PAUSE_MS = 300
_SESSIONS = itertools.count(2_000_000)  # distinct from the sessions of fields and canvas


class SourceEditor(CodeEditor):
    """Edits the whole text. Typed text is committed after a short pause, and immediately on loss of focus.

    A long recording is shown as its hash: the layout of a line with millions of characters needs gigabytes of memory.
    """

    committed = Signal(str, int)  # text, session

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sourceEditor", tr("Scenario text"), parent)
        self._shown = ""
        self._newline = "\n"
        self._session = 0
        self._recordings: dict[str, str] = {}  # contents of the recordings whose hashes are shown
        self.setTabChangesFocus(True)
        # Undo is left to the document, which keeps one history for forms, canvas and text.
        self.setUndoRedoEnabled(False)
        self._highlighter = _TomlHighlighter(self.document())
        self._pause = timer(self, self.commit, _PAUSE_MS, is_single=True)
        self.textChanged.connect(self._pause.start)
        self.colour_by(self._highlighter.recolour)

    def show_document(self, doc: ScenarioDoc) -> None:
        """Show the document's text and problems; the cursor stays on its line."""
        problem_lines: dict[int, str] = {}
        for problem in doc.problems:
            if problem.line is not None:
                what = problem_text(problem.message)
                if problem.allowed:
                    what = tr("{problem}; allowed: {what}", problem=what, what=problem_text(problem.allowed))
                problem_lines.setdefault(problem.line, what)
        if doc.text != self._full_text():
            self._newline = "\r\n" if "\r\n" in doc.text else "\n"
            self._pause.stop()
            line, column = self.textCursor().blockNumber(), self.textCursor().columnNumber()
            scroll = self.verticalScrollBar().value()
            blocked = self.blockSignals(True)
            shown, self._recordings = folded(doc.text.replace("\r\n", "\n"))
            self.replace_lines(shown)
            self.blockSignals(blocked)
            self._make_room()
            self.place_cursor(line, column)
            self.verticalScrollBar().setValue(scroll)
        self._shown = doc.text
        self.mark_problems(problem_lines)

    def commit(self) -> None:
        """Emit the typed text, unless it is already committed or the editor is read-only."""
        self._pause.stop()
        text = self._full_text()
        if text != self._shown and not self.isReadOnly():
            self._shown = text
            self.committed.emit(text, self._session)

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Start a session: text typed until the editor loses the focus forms one undo step."""
        self._session = next(_SESSIONS)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Commit the typed text."""
        super().focusOutEvent(event)
        self.commit()

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window, and commit before other shortcuts of the window."""
        return commit_before_shortcut(event, super().event, self.commit, leaves_undo=True)

    # --- internals --------------------------------------------------------------------------------------------------

    def _full_text(self) -> str:
        text = unfolded(self.toPlainText(), self._recordings)
        return text.replace("\n", "\r\n") if self._newline == "\r\n" else text


class _TomlHighlighter(QSyntaxHighlighter):
    """Highlights headers and values, and mutes comments."""

    _TOKEN = re.compile(
        r"""(?P<comment>\#.*)
          | (?P<header>^\s*\[\[?[^\]]*\]\]?)
          | (?P<string>"(?:[^"\\]|\\.)*"|'[^']*')
          | (?P<value>\b(?:true|false)\b|(?<![\w"])[-+]?\d[\d_.eE+-]*\b)""",
        re.VERBOSE,
    )

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}

    def recolour(self, tokens: Tokens) -> None:
        colours = {"comment": tokens.muted_text, "header": tokens.accent, "string": tokens.ok, "value": tokens.warning}
        for kind, colour in colours.items():
            text_format = QTextCharFormat()
            text_format.setForeground(QColor(colour))
            if kind == "comment":
                text_format.setFontItalic(True)
            if kind == "header":
                text_format.setFontWeight(600)
            self._formats[kind] = text_format
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        for match in self._TOKEN.finditer(text):
            kind = match.lastgroup
            if kind is not None:
                self.setFormat(match.start(), match.end() - match.start(), self._formats[kind])
