"""The bar above the list of runs: search, saved searches, grouping, columns, and how many runs there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from subflow_app.features.history.core.run_columns import COLUMNS, MORE_COLUMNS, NAME
from subflow_app.features.history.core.run_groups import GROUPINGS
from subflow_app.features.history.qt.search_field import SearchField, help_html
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import Label, as_written
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.shorthand import h_box, named
from subflow_app.vocabulary.language import tr


class ListBar(QWidget):
    """What is listed, and how."""

    grouping_chosen = Signal(str)
    columns_chosen = Signal(list)  # keys

    def __init__(self, dialogs: Dialogs, preferences: Preferences, parent: QWidget) -> None:
        """Nothing written, no groups, the columns of a new list."""
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
        self.grouping.setToolTip(tr("Group runs, with the mean of their figures and its 95 % confidence interval"))
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
        """Ticks these columns in the menu."""
        self._columns = list(keys)

    def show_grouping(self, by: str) -> None:
        """Shows a grouping without choosing it."""
        with QSignalBlocker(self.grouping):
            self.grouping.choose(by)

    # ---- inside ----

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
        """Asks for a name and keeps the query under it."""
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
        from subflow_app.features.history.qt.key_dialog import KeyDialog

        vocabulary = self.search.vocabulary
        keys = vocabulary.keys if vocabulary is not None else ()
        known = [key for key in self._columns if key in keys]
        chosen = self._dialogs.ask(partial(KeyDialog, tr("Recorded values as columns"), keys, known))
        if chosen is not None:
            self.columns_chosen.emit([key for key in self._columns if key not in keys] + list(chosen))
