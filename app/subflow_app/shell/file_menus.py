"""Submenus that list files, and the opening of files that are dropped on the window.

The submenu lists the recent files. A dropped file opens according to its kind, and the message
for any other file lists the accepted kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMenu, QWidget

from subflow_app.features.editor.qt.documents import Documents
from subflow_app.foundation.file_kinds import DATABASE_SUFFIXES
from subflow_app.foundation.resources import SCENARIO_SUFFIX
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr, trn
from subflow_sim.gate import is_folder, is_there

if TYPE_CHECKING:
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.notices import Notices


# Titles by which `menus` places these submenus.
RECENT = "Open &recent"


class FileMenus(QObject):
    """Submenus of files, filled each time they open."""

    def __init__(self, documents: Documents, preferences: Preferences, parent: QWidget) -> None:
        """Create empty menus for the window ``parent``."""
        super().__init__(parent)
        self._documents = documents
        self._preferences = preferences
        self._recent = self._make(RECENT, "recent", self._fill_recent, parent)

    def by_title(self) -> dict[str, QMenu]:
        """The menus by their titles in ``menus``."""
        return {RECENT: self._recent}

    def _make(self, title: str, name: str, fill: Callable[[], None], parent: QWidget) -> QMenu:
        menu = named(QMenu(tr(title), parent), f"menu_{name}")
        menu.setIcon(icon(name))
        menu.aboutToShow.connect(fill)
        return menu

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


class FileDrops(QObject):
    """Opens files that are dropped on a window."""

    def __init__(
        self,
        documents: Documents,
        database: DatabaseControl,
        notices: Notices,
        preferences: Preferences,
        parent: QObject,
    ) -> None:
        """Keep the parts of the window that open files."""
        super().__init__(parent)
        self._documents = documents
        self._database = database
        self._notices = notices
        self._preferences = preferences
        self._importer: Callable[[Path], object] | None = None

    def set_importer(self, importer: Callable[[Path], object]) -> None:
        """Set the function that imports files of other programs; until then, the window refuses them."""
        self._importer = importer

    def enter(self, event: QDragEnterEvent) -> None:
        """Accept files of any kind, because a message that explains a refusal helps more than a cursor."""
        if _files(event):
            event.acceptProposedAction()

    def drop(self, event: QDropEvent) -> None:
        """Accept the drop, and open the files later, once the program from which they come has received the reply."""
        files = _files(event)
        if files:
            event.acceptProposedAction()
            # The question about unsaved changes, which opening may cause, must not block that program.
            QTimer.singleShot(0, self, lambda: self.open(files))

    def open(self, files: Sequence[Path]) -> None:
        """Open the first scenario, the first database and the first file of another program.

        Further scenarios are added to the recent files, and a notice names files that cannot be opened.
        """
        folders = [file for file in files if is_folder(file)]
        usable = [file for file in files if file not in folders]
        databases = [file for file in usable if file.suffix.lower() in DATABASE_SUFFIXES]
        scenarios = [file for file in usable if file.suffix.lower() == SCENARIO_SUFFIX]
        others = [file for file in usable if file not in databases and file not in scenarios]
        for file in reversed(scenarios[1:]):
            self._preferences.change(self._preferences.settings.with_recent_file(file))
        for first, opener in (
            (scenarios[:1], self._documents.open),
            (databases[:1], self._database.open),
            (others[:1], self._importer),
        ):
            if first and opener is not None:
                opener(first[0])
        said = [tr("{name} is a folder: drop a file from it.", name=folder.name) for folder in folders[:3]]
        if len(scenarios) > 1:
            said.append(
                trn(
                    "{count} further scenario is under File › Open recent.",
                    "{count} further scenarios are under File › Open recent.",
                    len(scenarios) - 1,
                )
            )
        if len(databases) > 1 or len(others) > 1:
            said.append(tr("Only the first file was opened: drop databases and files to import one at a time."))
        if said:
            self._notices.file_failed(" ".join(said))


def _files(event: QDropEvent) -> list[Path]:
    """The dragged files on this computer."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
