"""Bar above the list of runs: search, saved searches, grouping, columns, and the number of runs.

The search field completes names and values, and reports errors below. Recorded values have hundreds of names, so they
are chosen in a dialog with a filter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from html import escape

from PySide6.QtCore import QEvent, QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListView,
    QMenu,
    QToolButton,
    QWidget,
)

from subflow_app.features.history.core.run_columns import COLUMNS, GROUPINGS, MORE_COLUMNS, NAME
from subflow_app.features.history.core.run_query import (
    Completion,
    QueryError,
    Vocabulary,
    complete_query,
    help_lines,
    parse_query,
)
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, muted
from subflow_app.toolkit.widgets.shorthand import Choice, Label, as_written, h_box, named, timer, v_box
from subflow_app.toolkit.widgets.tables import sorting
from subflow_app.vocabulary.language import tr
from subflow_store.conditions import Condition

# A search starts when typing pauses for this long.
_SEARCH_DELAY_MS = 150
# An unfinished query is often invalid, so its error appears only after a longer pause.
_ERROR_DELAY_MS = 700
_COMPLETIONS = 40  # maximum number of completions; typing more characters narrows a longer list


class SearchField(QWidget):
    """A line for a query, with its errors below."""

    asked = Signal()  # the query changed; `conditions` is set
    confirmed = Signal()  # after Return
    left_downwards = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty query."""
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
        """The text of the query."""
        return self.line.text()

    def set_text(self, text: str) -> None:
        """Set a query and search immediately."""
        self.line.setText(text)
        self._search()

    def parse(self) -> bool:
        """Parse the query. If it is invalid, keep the previous conditions and return False."""
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
        """Focus the field and select its text."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Emit `left_downwards` on Down, and clear the query on Escape."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.left_downwards.emit()
                return True
            if event.key() == Qt.Key.Key_Escape and self.text:
                self.set_text("")
                return True
        return False

    # ---- internals ----

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
        text = "" if problem is None else problem_text(str(problem))
        self.error.setText(text)
        self.error.setVisible(problem is not None)
        # Screen readers read the description of the field.
        self.line.setAccessibleDescription(text)
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
        # Offer values immediately, and names after two characters.
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
        # A value ends the term, and another term may follow.
        gap = "" if chosen.endswith((":", ">")) or chosen in (self.vocabulary or Vocabulary()).keys else " "
        self.line.setText(text[: completion.start] + chosen + gap + text[completion.end :])
        self.line.setCursorPosition(completion.start + len(chosen) + len(gap))


def help_html() -> str:
    """The query language as an HTML table."""
    rows = "".join(
        f"<tr><td style='padding-right: 12px'><b>{escape(form)}</b></td><td>{escape(tr(tip))}</td></tr>"
        for form, tip in help_lines()
    )
    return f"<p>{escape(tr('All words and conditions must hold.'))}</p><table>{rows}</table>"


class ListBar(QWidget):
    """Controls that choose the runs, groups and columns of the list."""

    grouping_chosen = Signal(str)
    columns_chosen = Signal(list)  # keys

    def __init__(self, dialogs: Dialogs, preferences: Preferences, parent: QWidget) -> None:
        """Create an empty search without groups, with the columns of a new list."""
        super().__init__(parent)
        self._dialogs = dialogs
        self._preferences = preferences
        self._columns: list[str] = [each.key for each in COLUMNS]
        self.search = SearchField(self)
        self.saved_menu = QMenu(self)
        self.saved_menu.aboutToShow.connect(self._fill_saved)
        saved = self._button("saved", tr("Saved searches"), "saved_search", self.saved_menu)
        groupings = ((by, tr(title)) for by, title in GROUPINGS.items())
        self.grouping = Choice("history_grouping", groupings, self, text=tr("Group runs"))
        self.grouping.setToolTip(tr("Group runs, with the mean of their measures and its 95 % confidence interval"))
        self.grouping.currentIndexChanged.connect(lambda _: self.grouping_chosen.emit(self.grouping.currentData()))
        self.columns_menu = QMenu(self)
        self.columns_menu.aboutToShow.connect(self._fill_columns)
        columns = self._button("columns", tr("Columns"), "columns", self.columns_menu)
        self.count = named(muted(Label(self)), "history_count")
        self.count.setMinimumHeight(self.search.line.sizeHint().height())
        choices = ((widget, 0, Qt.AlignmentFlag.AlignTop) for widget in (saved, self.grouping, columns))
        count = (self.count, 0, Qt.AlignmentFlag.AlignTop)
        h_box(self, (self.search, 1), *choices, 4, count, margins=(6, 5, 10, 5), spacing=6)

    def show_columns(self, keys: Sequence[str]) -> None:
        """Tick these columns in the menu."""
        self._columns = list(keys)

    def show_grouping(self, by: str) -> None:
        """Show a grouping without emitting `grouping_chosen`."""
        with QSignalBlocker(self.grouping):
            self.grouping.choose(by)

    # ---- internals ----

    def _button(self, name: str, text: str, icon_name: str, menu: QMenu) -> QToolButton:
        button = named(QToolButton(self, autoRaise=True), f"history_{name}", text, text)
        button.setIcon(icon(icon_name))
        button.setText(text)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _fill_saved(self) -> None:
        menu, saved = self.saved_menu, self._preferences.settings.saved_searches
        menu.clear()
        for name, query in saved.items():
            action = menu.addAction(name.replace("&", "&&"))
            action.setToolTip(as_written(query))
            action.triggered.connect(lambda _=False, query=query: self.search.set_text(query))
        if not saved:
            menu.addAction(tr("No saved searches yet")).setEnabled(False)
        menu.addSeparator()
        save = menu.addAction(tr("Save this search…"))
        save.setEnabled(bool(self.search.text.strip()))
        save.triggered.connect(self.save_search)
        forget = menu.addMenu(tr("Forget"))
        forget.setEnabled(bool(saved))
        for name in saved:
            forget.addAction(name.replace("&", "&&")).triggered.connect(
                lambda _=False, name=name: self._preferences.change(
                    self._preferences.settings.without_saved_search(name)
                )
            )
        menu.addSeparator()
        menu.addAction(tr("Search terms…")).triggered.connect(self._show_help)

    def save_search(self) -> None:
        """Ask for a name and save the query."""
        query = self.search.text.strip()
        name = self._dialogs.line(tr("Save search"), tr("Name of the search “{query}”:", query=query), query)
        if name:
            self._preferences.change(self._preferences.settings.with_saved_search(name, query))

    def _show_help(self) -> None:
        self._dialogs.show_text(tr("Search terms"), help_html())

    def _fill_columns(self) -> None:
        menu = self.columns_menu
        menu.clear()
        known = [each for each in (*COLUMNS, *MORE_COLUMNS) if each.key != NAME]
        for each in known:
            self._add_column(menu, each.key, tr(each.title))
        recorded = [key for key in self._columns if key not in {each.key for each in (*COLUMNS, *MORE_COLUMNS)}]
        if recorded:
            menu.addSeparator()
        for key in recorded:
            self._add_column(menu, key, key)
        menu.addSeparator()
        menu.addAction(tr("Any recorded value…")).triggered.connect(self._ask_keys)
        menu.addAction(tr("Columns of a new list")).triggered.connect(
            lambda: self.columns_chosen.emit([each.key for each in COLUMNS])
        )

    def _add_column(self, menu: QMenu, key: str, title: str) -> None:
        action = menu.addAction(title.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(key in self._columns)
        action.toggled.connect(lambda is_on, key=key: self._switch(key, is_on))

    def _switch(self, key: str, is_on: bool) -> None:
        self.columns_chosen.emit([each for each in self._columns if each != key] + [key] * is_on)

    def _ask_keys(self) -> None:

        vocabulary = self.search.vocabulary
        keys = vocabulary.keys if vocabulary is not None else ()
        known = [key for key in self._columns if key in keys]
        chosen = self._dialogs.ask(partial(KeyDialog, tr("Recorded values as columns"), keys, known))
        if chosen is not None:
            self.columns_chosen.emit([key for key in self._columns if key not in keys] + list(chosen))


class KeyDialog(QDialog):
    """A list of keys with check boxes."""

    def __init__(self, title: str, keys: Sequence[str], chosen: Collection[str], parent: QWidget | None) -> None:
        """List ``keys``, and check those in ``chosen``."""
        super().__init__(parent)
        self.setObjectName("key_dialog")
        self.setWindowTitle(title)
        self.resize(460, 520)
        self._model = QStandardItemModel(self)
        for key in keys:
            item = QStandardItem(key)
            item.setCheckable(True)
            item.setEditable(False)
            item.setCheckState(Qt.CheckState.Checked if key in chosen else Qt.CheckState.Unchecked)
            self._model.appendRow(item)
        narrowed = sorting(self._model, self)
        self.line = named(QLineEdit(self, clearButtonEnabled=True), "key_filter", tr("Part of the name"))
        self.line.setPlaceholderText(tr("Part of the name, e.g. loss"))
        self.line.textChanged.connect(narrowed.setFilterFixedString)
        view = named(QListView(self), "key_list", title)
        view.setModel(narrowed)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setUniformItemSizes(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        v_box(self, self.line, view, buttons)

    @property
    def answer(self) -> list[str]:
        """The checked keys."""
        items = (self._model.item(number) for number in range(self._model.rowCount()))
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]
