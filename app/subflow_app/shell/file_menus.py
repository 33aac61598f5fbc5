"""The submenus that list files: the shipped examples, and what was opened last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from subflow_app.features.editor.qt.documents import Documents
from subflow_app.foundation.resources import scenario_names
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr
from subflow_sim.gate import is_there

# The titles that `menus` places them with.
EXAMPLES = "Open &example"
RECENT = "Open &recent"


class FileMenus(QObject):
    """Filled each time they open."""

    def __init__(self, documents: Documents, preferences: Preferences, parent: QWidget) -> None:
        """Empty menus of the window ``parent``."""
        super().__init__(parent)
        self._documents = documents
        self._preferences = preferences
        self._examples = self._make(EXAMPLES, "example", self._fill_examples, parent)
        self._recent = self._make(RECENT, "recent", self._fill_recent, parent)

    def by_title(self) -> dict[str, QMenu]:
        """The menus by the titles that ``menus`` places them with."""
        return {EXAMPLES: self._examples, RECENT: self._recent}

    def _make(self, title: str, name: str, fill: Callable[[], None], parent: QWidget) -> QMenu:
        menu = named(QMenu(tr(title), parent), f"menu_{name}")
        menu.setIcon(icon(name))
        menu.aboutToShow.connect(fill)
        return menu

    def _fill_examples(self) -> None:
        self._fill(self._examples, [(name, name, self._documents.open_example) for name in scenario_names()])

    def _fill_recent(self) -> None:
        files = self._preferences.settings.recent_files
        self._fill(self._recent, [(Path(file).name, file, self._documents.open) for file in files])
        for action, file in zip(self._recent.actions(), files, strict=False):
            if not is_there(Path(file)):
                action.setEnabled(False)
                action.setText(tr("{file} (gone)", file=action.text()))
        if files:
            self._recent.addSeparator()
            clear = self._recent.addAction(icon("clear"), tr("&Clear list"))
            clear.setObjectName("clear_recent")
            clear.setStatusTip(tr("Forget the files that were opened last; the files stay"))
            clear.triggered.connect(self._clear_recent)

    def _clear_recent(self) -> None:
        self._preferences.change(self._preferences.settings.without_recent_files())

    def _fill(self, menu: QMenu, entries: Sequence[tuple[str, str, Callable[[str], bool]]]) -> None:
        menu.clear()
        for text, argument, go in entries:
            action = menu.addAction(text.replace("&", "&&"))
            action.setStatusTip(tr("Open {file}", file=argument))
            action.triggered.connect(lambda _checked=False, go=go, argument=argument: go(argument))
        if not entries:
            menu.addAction(tr("None yet")).setEnabled(False)
