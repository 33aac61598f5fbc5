"""An editor for line-based text, with a bar to find and replace.

The editor shows line numbers beside the text, shades the line of the cursor, and marks lines with problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QTextEdit, QToolButton, QToolTip, QWidget

from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, muted
from subflow_app.toolkit.widgets.shorthand import Label, as_written, h_box, named
from subflow_app.vocabulary.language import tr, trn


class CodeEditor(QPlainTextEdit):
    """An editor for text with a grammar; subclasses highlight the text and report its problems.

    Attributes:
        shades_problems: whether whole lines with problems are shaded.
    """

    shades_problems = True

    def __init__(self, name: str, spoken: str, parent: QWidget | None = None) -> None:
        """Make an editor without text.

        Args:
            name: object name.
            spoken: accessible name for screen readers.
            parent: owner of the editor.
        """
        super().__init__(parent)
        self._problem_lines: Mapping[int, str] = {}
        named(self, name, spoken)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._gutter = _Gutter(self)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._on_update_request)
        self.cursorPositionChanged.connect(self.mark_lines)
        self._make_room()

    def show_line(self, number: int, column: int = 1) -> None:
        """Put the cursor at a line and column, both counted from 1, and centre the view there."""
        self.place_cursor(number - 1, column - 1)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def place_cursor(self, line: int, column: int) -> None:
        """Put the cursor at the nearest existing position; line and column are counted from 0."""
        block = self.document().findBlockByNumber(min(max(line, 0), self.blockCount() - 1))
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(max(column, 0), max(block.length() - 1, 0)))
        self.setTextCursor(cursor)

    def mark_problems(self, lines: Mapping[int, str]) -> None:
        """Mark the lines with problems; ``lines`` maps their numbers, from 1, to messages."""
        self._problem_lines = lines
        self.mark_lines()
        self._gutter.update()

    def problem_at(self, y: int) -> str:
        """Return the message for the line at height ``y``, px, in the viewport; empty if the line has no problem."""
        number = self.cursorForPosition(QPoint(0, y)).blockNumber() + 1
        return self._problem_lines.get(number, "")

    def replace_lines(self, text: str) -> None:
        """Replace only the lines that differ, or the whole text if the first or the last line differs.

        Equal lines are kept, because laying out and highlighting a long text takes a while.
        """
        old, new = self.toPlainText().split("\n"), text.split("\n")
        shorter = min(len(old), len(new))
        head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
        tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
        if not head or not tail:
            self.setPlainText(text)
            return
        # Select from the end of the unchanged line before the changes to the end of the last replaced line.
        cursor = QTextCursor(self.document().findBlockByNumber(head - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        end = self.document().findBlockByNumber(len(old) - tail - 1)
        cursor.setPosition(end.position() + end.length() - 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText("".join("\n" + line for line in new[head : len(new) - tail]))

    def colour_by(self, recolour: Callable[[Tokens], None]) -> None:
        """Call ``recolour`` and update the marks, now and at each change of the theme."""
        follow_theme(recolour)
        follow_theme(self._on_theme)

    # --- for subclasses
    # -------------------------------------------------------------------------------------------------

    def more_marks(self) -> Iterable[QTextEdit.ExtraSelection]:
        """Further marks to show on top of the shaded lines; later marks cover earlier ones."""
        return ()

    def mark_lines(self) -> None:
        """Shade the line of the cursor and, with `shades_problems`, the lines with problems; then add `more_marks`."""
        selections = []
        current, tokens = self.textCursor().blockNumber(), current_tokens()
        wrong = self._problem_lines if self.shades_problems else ()
        for line, colour in [(current, tokens.alternate_base), *((number - 1, tokens.error_fill) for number in wrong)]:
            block = self.document().findBlockByNumber(line)
            if not block.isValid():
                continue
            selection = QTextEdit.ExtraSelection()
            selection.format.setBackground(QColor(colour))
            selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            selection.cursor = QTextCursor(block)
            selections.append(selection)
        self.setExtraSelections([*selections, *self.more_marks()])

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the gutter as high as the text."""
        super().resizeEvent(event)
        rect = self.contentsRect()
        self._gutter.setGeometry(QRect(rect.left(), rect.top(), self.gutter_width(), rect.height()))

    def gutter_width(self) -> int:
        """Return the width, px, that line numbers need."""
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

    # --- internals --------------------------------------------------------------------------------------------------

    def _on_theme(self, _tokens: Tokens) -> None:
        self.mark_lines()

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)

    def _on_update_request(self, rect: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())


class _Gutter(QWidget):
    """The strip with line numbers."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_written(self._editor.problem_at(event.pos().y())), self)
            return True
        return super().event(event)


class FindBar(QWidget):
    """A search bar, hidden until requested; Return finds the next match, Shift+Return the previous, Escape hides it."""

    sought = Signal(str)  # the current search text; empty: no search

    def __init__(self, editor: QPlainTextEdit, parent: QWidget | None = None) -> None:
        """Search in ``editor``."""
        super().__init__(parent)
        self.setObjectName("find_bar")
        self._editor = editor
        self.line = named(QLineEdit(self, clearButtonEnabled=True), "find_line", tr("Find"))
        self.line.setPlaceholderText(tr("Find"))
        self.instead = named(QLineEdit(self), "find_instead", tr("Replace by"))
        self.instead.setPlaceholderText(tr("Replace by"))
        self.count = named(muted(Label(self)), "find_count")
        replace, every, close = QToolButton(self), QToolButton(self), QToolButton(self, autoRaise=True)
        named(replace, "find_replace").setText(tr("Replace"))
        named(every, "find_replace_all", tr("Replace all"), tr("Replace all")).setText(tr("All"))
        named(close, "find_close", tr("Close")).setText("×")
        self.line.textChanged.connect(self._on_text_changed)
        replace.clicked.connect(self.replace)
        every.clicked.connect(self.replace_all)
        close.clicked.connect(self.leave)
        h_box(
            self, (self.line, 2), self.count, (self.instead, 2), replace, every, close, margins=(6, 2, 6, 2), spacing=4
        )
        self.setFocusProxy(self.line)
        self.hide()

    def start(self) -> None:
        """Show the bar; a selection within one line becomes the search text."""
        selected = self._editor.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self.line.setText(selected)
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        self._on_text_changed()

    def leave(self) -> None:
        """Hide the bar and return to the text."""
        self.hide()
        self.sought.emit("")
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def go_on(self, *, is_back: bool = False) -> bool:
        """Select the next match, or the previous one, wrapping around at the ends; False if nothing matches."""
        wanted, document, cursor = self.line.text(), self._editor.document(), self._editor.textCursor()
        if not wanted:
            return False
        flags = QTextDocument.FindFlag.FindBackward if is_back else QTextDocument.FindFlag(0)
        found = document.find(wanted, cursor, flags)
        if found.isNull():
            cursor.movePosition(QTextCursor.MoveOperation.End if is_back else QTextCursor.MoveOperation.Start)
            found = document.find(wanted, cursor, flags)
        if not found.isNull():
            self._editor.setTextCursor(found)
        return not found.isNull()

    def replace(self) -> None:
        """Replace the selected text if it is a match, and select the next match."""
        cursor = self._editor.textCursor()
        if self.line.text() and cursor.selectedText().casefold() == self.line.text().casefold():
            cursor.insertText(self.instead.text())
        self.go_on()
        self._on_text_changed()

    def replace_all(self) -> None:
        """Replace all matches in one undo step."""
        wanted, document = self.line.text(), self._editor.document()
        if not wanted:
            return
        step = QTextCursor(document)
        step.beginEditBlock()
        found = document.find(wanted, QTextCursor(document))
        while not found.isNull():
            found.insertText(self.instead.text())
            found = document.find(wanted, found)
        step.endEditBlock()
        self._on_text_changed()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hide on Escape; find or replace on Return."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Line edits pass the key on to their parent.
            if self.instead.hasFocus():
                self.replace()
            else:
                self.go_on(is_back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)

    def _on_text_changed(self) -> None:
        wanted = self.line.text()
        count = self._editor.toPlainText().casefold().count(wanted.casefold()) if wanted else 0
        self.count.setText(trn("{count} place", "{count} places", count) if wanted else "")
        self.sought.emit(wanted)
