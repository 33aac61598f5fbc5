"""Text in which lines count: their numbers beside it, the line of the cursor shaded, and those with problems marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named


class CodeEditor(QPlainTextEdit):
    """An editor of a text with a grammar; whoever derives from it colours it, and says what is wrong with it.

    Attributes:
        shades_problems: whether whole lines with problems are shaded.
    """

    shades_problems = True

    def __init__(self, name: str, spoken: str, parent: QWidget | None = None) -> None:
        """Without text.

        Args:
            name: of the object.
            spoken: what it is, for screen readers.
            parent: its owner.
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
        """Put the cursor into a line, both counted from 1, and show it in the middle."""
        self.place_cursor(number - 1, column - 1)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def place_cursor(self, line: int, column: int) -> None:
        """Put the cursor somewhere, both counted from 0, as near as there is text."""
        block = self.document().findBlockByNumber(min(max(line, 0), self.blockCount() - 1))
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(max(column, 0), max(block.length() - 1, 0)))
        self.setTextCursor(cursor)

    def mark_problems(self, lines: Mapping[int, str]) -> None:
        """Mark lines, counted from 1, with what is wrong with each."""
        self._problem_lines = lines
        self.mark_lines()
        self._gutter.update()

    def problem_at(self, y: int) -> str:
        """Return what is wrong with the line at a height of the viewport; empty if nothing is."""
        number = self.cursorForPosition(QPoint(0, y)).blockNumber() + 1
        return self._problem_lines.get(number, "")

    def replace_lines(self, text: str) -> None:
        """Replace the lines that differ: laying out and colouring a long text anew takes a while."""
        old, new = self.toPlainText().split("\n"), text.split("\n")
        shorter = min(len(old), len(new))
        head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
        tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
        if not head or not tail:
            self._replace_all(text)
            return
        # Between the end of the last line that stays and the end of the last that goes.
        cursor = QTextCursor(self.document().findBlockByNumber(head - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        end = self.document().findBlockByNumber(len(old) - tail - 1)
        cursor.setPosition(end.position() + end.length() - 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText("".join("\n" + line for line in new[head : len(new) - tail]))

    def _replace_all(self, text: str) -> None:
        self.setPlainText(text)

    def colour_by(self, recolour: Callable[[Tokens], None]) -> None:
        """Have the text coloured in each theme, the present one to begin with, and the marks with it."""
        follow_theme(recolour)
        follow_theme(self._on_theme)

    # --- for whoever derives from it --------------------------------------------------------------------------------

    def more_marks(self) -> Iterable[QTextEdit.ExtraSelection]:
        """What is marked besides lines; later ones lie over earlier ones."""
        return ()

    def mark_lines(self) -> None:
        """Shade the line of the cursor and the lines with problems."""
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

    # --- inside -----------------------------------------------------------------------------------------------------

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
