"""The search field of the history: completes names and values, and says below what it does not understand."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from subflow_app.features.history.core.run_query import (
    Completion,
    QueryError,
    Vocabulary,
    complete_query,
    help_lines,
    parse_query,
)
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named, timer, v_box
from subflow_app.vocabulary.language import tr
from subflow_store.conditions import Condition

# A search goes to the database when the person stops typing for this long.
_SEARCH_DELAY_MS = 150
# What is half written is mostly wrong: it is said only once the person seems to have stopped.
_ERROR_DELAY_MS = 700
_COMPLETIONS = 40  # more nobody reads; typing on narrows them down


class SearchField(QWidget):
    """A line for a query, and room below for what is wrong with it."""

    asked = Signal()  # another query is due; `conditions` has it
    confirmed = Signal()  # by Return
    left_downwards = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty query."""
        super().__init__(parent)
        self.conditions: list[Condition] = []
        self.vocabulary: Vocabulary | None = None
        self.line = named(QLineEdit(self, clearButtonEnabled=True), "history_search", tr("Search runs"), help_html())
        self.line.setPlaceholderText(tr("Search: words, tag:paper, goodput>5Mbit/s, links.wifi.loss>0…  (Ctrl+F)"))
        self.line.addAction(icon("search", "muted_text"), QLineEdit.ActionPosition.LeadingPosition)
        self.error = named(Label(self, wordWrap=True), "history_search_error")
        self.error.setForegroundRole(QPalette.ColorRole.BrightText)
        self.error.hide()
        v_box(self, self.line, self.error, margins=0, spacing=2)
        self._texts = QStringListModel(self)
        self._found: list[Completion] = []
        self._completer = QCompleter(self._texts, self)
        self._completer.setWidget(self.line)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.activated[str].connect(self._on_completion_chosen)  # type: ignore[index] # overloaded signal
        self._search_timer = timer(self, self._search, _SEARCH_DELAY_MS, is_single=True)
        self._error_timer = timer(self, self._show_error, _ERROR_DELAY_MS, is_single=True)
        self._problem: QueryError | None = None
        self.line.textChanged.connect(self._on_text_changed)
        self.line.textEdited.connect(self._complete)
        self.line.returnPressed.connect(self._on_return)
        self.line.installEventFilter(self)
        self.setFocusProxy(self.line)
        follow_theme(self._recolour)

    @property
    def text(self) -> str:
        """What is written."""
        return self.line.text()

    def set_text(self, text: str) -> None:
        """Writes a query and asks it at once."""
        self.line.setText(text)
        self._search()

    def parse(self) -> bool:
        """Understands what is written; False if it cannot be, and the conditions stay those from before."""
        self._search_timer.stop()
        try:
            self.conditions = parse_query(self.text, self.vocabulary.keys if self.vocabulary is not None else None)
        except QueryError as error:
            self._problem = error
            return False
        self._problem = None
        self._show_error()
        return True

    def start(self) -> None:
        """Puts the cursor here."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Down leaves for the list; Escape empties the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.left_downwards.emit()
                return True
            if event.key() == Qt.Key.Key_Escape and self.text:
                self.set_text("")
                return True
        return False

    # ---- inside ----

    def _on_text_changed(self) -> None:
        self._search_timer.start()
        self._error_timer.stop()

    def _search(self) -> None:
        if self.parse():
            self.asked.emit()
        else:
            self._error_timer.start()

    def _on_return(self) -> None:
        if self.parse():
            self.asked.emit()
            self.confirmed.emit()
        else:
            self._show_error()

    def _show_error(self) -> None:
        self._error_timer.stop()
        problem = self._problem
        told = "" if problem is None else problem_text(str(problem))
        self.error.setText(told)
        self.error.setVisible(problem is not None)
        # What assistive technology reads on the field itself.
        self.line.setAccessibleDescription(told)
        self._recolour(current_tokens())

    def _recolour(self, tokens: Tokens) -> None:
        border, focused = (tokens.border, tokens.accent) if self.error.isHidden() else (tokens.error, tokens.error)
        self.line.setStyleSheet(
            f"#history_search {{ border: 1px solid {border}; border-radius: 5px; padding: 3px 4px;"
            f" background: {tokens.base}; }} #history_search:focus {{ border-color: {focused}; }}"
        )

    def _complete(self, text: str) -> None:
        cursor = self.line.cursorPosition()
        found = complete_query(text, cursor, self.vocabulary or Vocabulary())[:_COMPLETIONS]
        self._found = found
        popup = self._completer.popup()
        assert popup is not None
        # Values are offered at once, names when two letters of them are there.
        if not found or (cursor - found[0].start < 2 and not text[: found[0].start].endswith((":", "="))):
            popup.hide()
            return
        self._texts.setStringList([each.text for each in found])
        rectangle = self.line.rect()
        rectangle.setWidth(min(rectangle.width(), 420))
        self._completer.complete(rectangle)

    def _on_completion_chosen(self, chosen: str) -> None:
        completion = next((each for each in self._found if each.text == chosen), None)
        if completion is None:
            return
        text = self.text
        # A value is complete, and another term may follow.
        gap = "" if chosen.endswith((":", ">")) or chosen in (self.vocabulary or Vocabulary()).keys else " "
        self.line.setText(text[: completion.start] + chosen + gap + text[completion.end :])
        self.line.setCursorPosition(completion.start + len(chosen) + len(gap))


def help_html() -> str:
    """The query language as a table."""
    rows = "".join(
        f"<tr><td style='padding-right: 12px'><b>{escape(form)}</b></td><td>{escape(tr(tip))}</td></tr>"
        for form, tip in help_lines()
    )
    return f"<p>{escape(tr('All words and conditions must hold.'))}</p><table>{rows}</table>"
