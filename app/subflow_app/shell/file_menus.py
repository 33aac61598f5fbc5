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
from subflow_app.features.exporting.qt.topology_files import TopologyFiles, is_graph_file
from subflow_app.foundation.file_kinds import DATABASE_SUFFIXES, PAGE_SUFFIX
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
        topology_files: TopologyFiles,
        notices: Notices,
        preferences: Preferences,
        parent: QObject,
    ) -> None:
        """Keep the parts of the window that open files."""
        super().__init__(parent)
        self._documents = documents
        self._database = database
        self._topology_files = topology_files
        self._notices = notices
        self._preferences = preferences
        self._trace_opener: Callable[[Path], object] | None = None

    def set_trace_opener(self, opener: Callable[[Path], object]) -> None:
        """Set the function that opens measured traces; until then, the window refuses them."""
        self._trace_opener = opener

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
        """Open the first scenario or graph, the first database and the first trace.

        Further scenarios are added to the recent files, and a notice names files that cannot be opened.
        """
        refused = [file for file in files if self._opener(file) is None]
        usable = [file for file in files if file not in refused]
        databases = [file for file in usable if file.suffix.lower() in DATABASE_SUFFIXES]
        traces = [file for file in usable if _is_trace(file)]
        drawings = [file for file in usable if file not in databases and file not in traces]
        further = [file for file in drawings[1:] if not is_graph_file(file)]
        for file in reversed(further):
            self._preferences.change(self._preferences.settings.with_recent_file(file))
        for file in (*drawings[:1], *databases[:1], *traces[:1]):
            opener = self._opener(file)
            if opener is not None:
                opener(file)
        said = [self._refusal(file) for file in refused[:3]]
        if further:
            said.append(
                trn(
                    "{count} further scenario is under File › Open recent.",
                    "{count} further scenarios are under File › Open recent.",
                    len(further),
                )
            )
        graphs_left = len(drawings) - 1 - len(further) if drawings else 0
        if graphs_left > 0 or len(databases) > 1 or len(traces) > 1:
            said.append(tr("Only the first file was opened: drop graphs, databases and traces one at a time."))
        if said:
            self._notices.file_failed(" ".join(said))

    def _opener(self, file: Path) -> Callable[[Path], object] | None:
        if is_folder(file):
            return None
        if is_graph_file(file):
            return self._topology_files.import_file
        if file.suffix.lower() == PAGE_SUFFIX:
            return self._topology_files.import_page
        if file.suffix.lower() in DATABASE_SUFFIXES:
            return self._database.open
        if _is_trace(file):
            return self._trace_opener
        return self._documents.open if file.suffix.lower() == SCENARIO_SUFFIX else None

    def _refusal(self, file: Path) -> str:
        if is_folder(file):
            return tr("{name} is a folder: drop a scenario, a graph or a database from it.", name=file.name)
        return tr(
            "{name} cannot be opened here: drop scenarios (.toml), graphs (.graphml, .gml), web pages of runs"
            " (.html), databases (.subflow, .db) or measured traces (.csv, .log, .pcap).",
            name=file.name,
        )


def _is_trace(file: Path) -> bool:
    from subflow_app.features.measured.core.trace_formats import TRACE_SUFFIXES

    return file.suffix.lower() in TRACE_SUFFIXES


def _files(event: QDropEvent) -> list[Path]:
    """The dragged files on this computer."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
