"""The scenario as text: line numbers, quiet colours for TOML, and the lines that have problems."""

from __future__ import annotations

import itertools
import re

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontDatabase,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from subflow_app.core.language import tr
from subflow_app.core.scenarios.problem_texts import problem_text
from subflow_app.core.scenarios.scenario_doc import ScenarioDoc
from subflow_app.qt.theme import Tokens, current_tokens, follow_theme
from subflow_app.qt.widgets.shorthand import named, timer

_PAUSE_MS = 300
_SESSIONS = itertools.count(2_000_000)  # apart from those of fields and canvas


class SourceEditor(QPlainTextEdit):
    """Edits the whole text. What is typed is committed after a short pause, and at once when the focus leaves."""

    committed = Signal(str, int)  # text, session

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._problem_lines: dict[int, str] = {}
        self._shown = ""
        self._newline = "\n"
        self._session = 0
        named(self, "sourceEditor", tr("Scenario text"))
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        # Undo is the document's: one history for forms, canvas and text.
        self.setUndoRedoEnabled(False)
        self._gutter = _Gutter(self)
        self._highlighter = _TomlHighlighter(self.document())
        self._pause = timer(self, self.commit, _PAUSE_MS, is_single=True)
        self.textChanged.connect(self._on_text_changed)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._on_update_request)
        self.cursorPositionChanged.connect(self._mark_lines)
        follow_theme(self._recolour)
        self._make_room()

    def show_document(self, doc: ScenarioDoc) -> None:
        """Show the document's text and problems; the cursor stays in its line."""
        self._problem_lines = {}
        for problem in doc.problems:
            if problem.line is not None:
                what = problem_text(problem.message)
                if problem.allowed:
                    what = tr("{problem}; allowed: {what}", problem=what, what=problem_text(problem.allowed))
                self._problem_lines.setdefault(problem.line, what)
        if doc.text != self._full_text():
            self._newline = "\r\n" if "\r\n" in doc.text else "\n"
            self._pause.stop()
            line, column = self.textCursor().blockNumber(), self.textCursor().columnNumber()
            scroll = self.verticalScrollBar().value()
            blocked = self.blockSignals(True)
            self._show_text(doc.text.replace("\r\n", "\n"))
            self.blockSignals(blocked)
            self._make_room()
            self._place_cursor(line, column)
            self.verticalScrollBar().setValue(scroll)
        self._shown = doc.text
        self._mark_lines()
        self._gutter.update()

    def _show_text(self, text: str) -> None:
        """Replace the lines that differ: laying out and colouring a long text anew takes a while."""
        old, new = self.toPlainText().split("\n"), text.split("\n")
        shorter = min(len(old), len(new))
        head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
        tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
        if not head or not tail:
            self.setPlainText(text)
            return
        # Between the end of the last line that stays and the end of the last that goes.
        cursor = QTextCursor(self.document().findBlockByNumber(head - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        end = self.document().findBlockByNumber(len(old) - tail - 1)
        cursor.setPosition(end.position() + end.length() - 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText("".join("\n" + line for line in new[head : len(new) - tail]))

    def show_line(self, number: int) -> None:
        """Put the cursor on a line, counted from 1, and show it in the middle."""
        self._place_cursor(number - 1, 0)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def commit(self) -> None:
        """Report what is typed, if it is not in the document yet."""
        self._pause.stop()
        text = self._full_text()
        if text != self._shown and not self.isReadOnly():
            self._shown = text
            self.committed.emit(text, self._session)

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin a session: what is typed until the focus leaves is one step to undo."""
        self._session = next(_SESSIONS)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Commit."""
        super().focusOutEvent(event)
        self.commit()

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window, and let all its shortcuts find what is typed."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().event(event)
        key = Qt.Key(event.key())
        with_control = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier == Qt.KeyboardModifier.ControlModifier
        if with_control and key in (Qt.Key.Key_Z, Qt.Key.Key_Y):
            self.commit()
            event.ignore()
            return False
        handled = super().event(event)
        is_command = (with_control and key != Qt.Key.Key_Control) or Qt.Key.Key_F1 <= key <= Qt.Key.Key_F12
        if is_command and not event.isAccepted():
            self.commit()
        return handled

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter as high as the text."""
        super().resizeEvent(event)
        rect = self.contentsRect()
        self._gutter.setGeometry(QRect(rect.left(), rect.top(), self.gutter_width(), rect.height()))

    def gutter_width(self) -> int:
        """Return the room that line numbers need."""
        return self.fontMetrics().horizontalAdvance("9" * max(len(str(self.blockCount())), 2)) + 20

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Draw line numbers, and a dot before lines with problems."""
        painter = QPainter(self._gutter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = current_tokens()
        painter.fillRect(event.rect(), QColor(tokens.alternate_base))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            is_wrong = number in self._problem_lines
            painter.setPen(QColor(tokens.error if is_wrong else tokens.muted_text))
            rect = QRect(0, round(top), self._gutter.width() - 8, round(height))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number))
            if is_wrong:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(tokens.error))
                painter.drawEllipse(4, round(top + height / 2 - 3), 6, 6)
            block = block.next()
            top += height

    def problem_at(self, y: int) -> str:
        """Return what is wrong with the line at a height of the viewport; empty if nothing is."""
        number = self.cursorForPosition(QPoint(0, y)).blockNumber() + 1
        return self._problem_lines.get(number, "")

    # --- inside -----------------------------------------------------------------------------------------------------

    def _full_text(self) -> str:
        text = self.toPlainText()
        return text.replace("\n", "\r\n") if self._newline == "\r\n" else text

    def _on_text_changed(self) -> None:
        self._pause.start()

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)

    def _on_update_request(self, rect: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def _place_cursor(self, line: int, column: int) -> None:
        block = self.document().findBlockByNumber(min(max(line, 0), self.blockCount() - 1))
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(column, max(block.length() - 1, 0)))
        self.setTextCursor(cursor)

    def _recolour(self, tokens: Tokens) -> None:
        self._highlighter.recolour(tokens)
        self._mark_lines()

    def _mark_lines(self) -> None:
        """Shade the line of the cursor and the lines with problems."""
        selections = []
        current, tokens = self.textCursor().blockNumber(), current_tokens()
        for line, colour in [(current, tokens.alternate_base)] + [
            (number - 1, tokens.error_fill) for number in self._problem_lines
        ]:
            block = self.document().findBlockByNumber(line)
            if not block.isValid():
                continue
            selection = QTextEdit.ExtraSelection()
            selection.format.setBackground(QColor(colour))
            selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            selection.cursor = QTextCursor(block)
            selections.append(selection)
        self.setExtraSelections(selections)


class _Gutter(QWidget):
    """The strip with line numbers."""

    def __init__(self, editor: SourceEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._editor.problem_at(event.pos().y()), self)
            return True
        return super().event(event)


class _TomlHighlighter(QSyntaxHighlighter):
    """Headers stand out, keys are plain, values are coloured, comments step back."""

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
