"""A line below a text to find and replace in it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QToolButton, QWidget

from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import h_box, named
from subflow_app.vocabulary.language import tr, trn


class FindBar(QWidget):
    """Hidden until it is asked for; Return goes on, Shift+Return back, Escape hides it."""

    sought = Signal(str)  # what is looked for now; empty: nothing

    def __init__(self, editor: QPlainTextEdit, parent: QWidget | None = None) -> None:
        """Looks in ``editor``."""
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
        """Shows it; what is selected in the text is looked for."""
        selected = self._editor.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self.line.setText(selected)
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        self._on_text_changed()

    def leave(self) -> None:
        """Hides it, and goes back to the text."""
        self.hide()
        self.sought.emit("")
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def go_on(self, *, is_back: bool = False) -> bool:
        """Selects the next place, or the one before; after the last comes the first. False if there is none."""
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
        """Replaces what is selected, if that is it, and goes on to the next."""
        cursor = self._editor.textCursor()
        if self.line.text() and cursor.selectedText().casefold() == self.line.text().casefold():
            cursor.insertText(self.instead.text())
        self.go_on()
        self._on_text_changed()

    def replace_all(self) -> None:
        """Replaces all, as one step that undo takes back."""
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
        """Escape hides it, Shift+Return goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Fields leave the key to whoever they are in.
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
