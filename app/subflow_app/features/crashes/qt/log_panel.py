"""The log of the session, with a filter by level and a search."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QColor, QDesktopServices, QFontDatabase, QGuiApplication, QShowEvent, QTextCharFormat
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QToolButton, QWidget

from subflow_app.foundation.paths import log_path
from subflow_app.foundation.session_log import MOST_KEPT, SESSION_LOG, LogMessage, SessionLog
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import Tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import Choice, h_box, named, v_box
from subflow_app.vocabulary.language import tr, translatable

_LEVELS = {
    logging.INFO: translatable("Everything"),
    logging.WARNING: translatable("Warnings and errors"),
    logging.ERROR: translatable("Errors"),
}


class LogPanel(QWidget):
    """Shows messages logged by any thread; the widgets are updated in the GUI thread."""

    _came = Signal()
    unseen_changed = Signal(int)  # warnings and errors since the panel was last visible

    def __init__(self, log: SessionLog = SESSION_LOG, parent: QWidget | None = None) -> None:
        """Shows the messages in ``log``."""
        super().__init__(parent)
        self.setObjectName("log_panel")
        self._log = log
        self._next = 0
        self._messages: list[LogMessage] = []
        self.unseen = 0  # warnings and errors since the panel was last visible
        levels = ((level, tr(text)) for level, text in _LEVELS.items())
        self.level = Choice("log_level", levels, self, text=tr("Messages from this level on"))
        self.search = named(QLineEdit(self, placeholderText=tr("Search the log…")), "log_search", tr("Search the log"))
        self.search.setClearButtonEnabled(True)
        copy = self._button("database_copy", tr("Copy"), tr("Copy the messages that are shown"), self.copy)
        open_file = self._button(
            "scenario", tr("Open file"), tr("Open the log file, which has earlier sessions too"), _open_file
        )
        self.text = named(QPlainTextEdit(self, readOnly=True), "log_text", tr("Messages"))
        self.text.setMaximumBlockCount(2 * MOST_KEPT)
        self.text.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setPlaceholderText(tr("No message yet."))
        bar = h_box(None, self.level, self.search, copy, open_file, margins=(6, 4, 6, 4))
        bar.setStretchFactor(self.search, 1)
        v_box(self, bar, self.text, margins=0, spacing=0)
        self.setFocusProxy(self.search)
        self.level.currentIndexChanged.connect(self._show_all)
        self.search.textChanged.connect(self._show_all)
        self._came.connect(self.refresh, Qt.ConnectionType.QueuedConnection)
        self._unsubscribe = log.subscribe(self._came.emit)
        self.destroyed.connect(self._unsubscribe)
        follow_theme(self._recolour)

    def refresh(self) -> None:
        """Adds new messages; while the panel is hidden, counts the warnings and errors among them."""
        if self._log.count == self._next:
            return
        new = self._log.since(self._next)
        self._next = self._log.count
        self._messages = [*self._messages, *new][-MOST_KEPT:]
        for message in new:
            if self._matches(message):
                self._add(message)
        if self.isVisible():
            self._see()
        else:
            serious = sum(message.level >= logging.WARNING for message in new)
            if serious:
                self.unseen += serious
                self.unseen_changed.emit(self.unseen)

    def copy(self) -> None:
        """Copies the visible messages."""
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def close_log(self) -> None:
        """Ends the subscription to the log."""
        self._unsubscribe()

    def showEvent(self, event: QShowEvent) -> None:
        """Marks the warnings as seen."""
        super().showEvent(event)
        self._see()

    def _see(self) -> None:
        if self.unseen:
            self.unseen = 0
            self.unseen_changed.emit(0)

    def _matches(self, message: LogMessage) -> bool:
        words = self.search.text().lower().split()
        content = f"{message.text} {message.source}".lower()
        return message.level >= self.level.currentData() and all(word in content for word in words)

    def _recolour(self, tokens: Tokens) -> None:
        self._colours = {logging.INFO: tokens.text, logging.WARNING: tokens.warning, logging.ERROR: tokens.error}
        self._show_all()

    def _show_all(self) -> None:
        self.text.clear()
        for message in self._messages:
            if self._matches(message):
                self._add(message)

    def _add(self, message: LogMessage) -> None:
        look = QTextCharFormat()
        level = max((level for level in self._colours if level <= message.level), default=logging.INFO)
        look.setForeground(QColor(self._colours[level]))
        bar = self.text.verticalScrollBar()
        was_at_end = bar.value() == bar.maximum()
        cursor = self.text.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        if not self.text.document().isEmpty():
            cursor.insertBlock()
        clock = time.strftime("%H:%M:%S", time.localtime(message.time_s))
        cursor.insertText(f"{clock} {logging.getLevelName(message.level):<8} {message.text}", look)
        if was_at_end:
            bar.setValue(bar.maximum())

    def _button(self, icon_name: str, text: str, tip: str, press: Callable[[], None]) -> QToolButton:
        button = QToolButton(self, autoRaise=True, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIcon(icon(icon_name))
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(press)
        return button


def _open_file() -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_path())))
