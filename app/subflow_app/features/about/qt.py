"""The About dialog: version, paths of the files, and the licences of all parts."""

from __future__ import annotations

import html
import platform
from pathlib import Path

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QSplitter,
    QTabWidget,
    QWidget,
)

from subflow_app import __version__
from subflow_app.features.about.core import Part, licence_parts
from subflow_app.foundation.errors import ResourceError
from subflow_app.foundation.paths import crash_directory, log_path, settings_path
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, close_button, named, split, v_box
from subflow_app.toolkit.widgets.tables import ListModel, sorting
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr, translatable

_ABOUT = translatable(
    "A desktop workbench for multipath congestion control: draw a topology, pick algorithms, run them on a "
    "packet-level simulator, and read the throughput, cwnd and round-trip time of every subflow."
)


class AboutDialog(QDialog):
    """A page with the version and the paths of files, and a page with the licences."""

    def __init__(self, database: Path | None, workers: Workers, parent: QWidget | None = None) -> None:
        """``database`` is the file in use; ``workers`` read the licences when their page is shown."""
        super().__init__(parent)
        self.setObjectName("about_dialog")
        self.setWindowTitle(tr("About Subflow"))
        self.resize(760, 540)
        self.licences = LicencesPage(workers)
        self.tabs = QTabWidget(self, documentMode=True)
        self.tabs.setAccessibleName(tr("About Subflow"))
        self.tabs.addTab(_about(database), tr("About"))
        self.tabs.addTab(self.licences, tr("Licences"))
        self.tabs.currentChanged.connect(lambda _page: self.licences.load() if self._shows_licences() else None)
        buttons = close_button(self)
        self.finished.connect(self.licences.give_up)
        v_box(self, self.tabs, buttons)

    def _shows_licences(self) -> bool:
        return self.tabs.currentWidget() is self.licences


def _about(database: Path | None) -> QLabel:
    muted = current_tokens().muted_text
    text = Label(textFormat=Qt.TextFormat.RichText, wordWrap=True, margin=12, alignment=Qt.AlignmentFlag.AlignTop)
    text.setMinimumWidth(440)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
    files = (
        tr("Database: {path}", path=database or tr("not open")),
        tr("Settings: {path}", path=settings_path()),
        tr("Log: {path}", path=log_path()),
        tr("Crash reports: {path}", path=crash_directory()),
    )
    promise = tr("Subflow sends nothing anywhere: runs, settings, logs and crash reports stay on this computer.")
    about = (
        f"<h2>Subflow {__version__}</h2><p>{tr(_ABOUT)}</p>"
        f"<p style='color:{muted}'>Python {platform.python_version()} · Qt {qVersion()} · {platform.system()} "
        f"{platform.machine()}</p>"
        f"<p><b>{tr('Files')}</b><br>{'<br>'.join(map(html.escape, files))}</p><p>{promise}</p>"
    )
    text.setText(about)
    # On a small screen, the layout would otherwise cut the text in half.
    text.setMinimumHeight(text.heightForWidth(text.minimumWidth()))
    return text


class LicencesPage(QWidget):
    """The parts of the program in a list with a filter, and the licence text of the selected part."""

    def __init__(self, workers: Workers) -> None:
        """Creates the page without parts; :meth:`load` reads them."""
        super().__init__()
        self._workers = workers
        self._is_asked = self._is_closed = False
        intro = Label(
            tr(
                "Subflow is free software under the MIT licence. It contains these parts; libraries under the LGPL, "
                "such as Qt, are separate files that you may replace."
            ),
            self,
        )
        intro.setWordWrap(True)
        self.filter = QLineEdit(self, placeholderText=tr("Filter…"), clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter of the parts"))
        self._parts = ListModel(_line, self, tip=_line)
        self.model = sorting(self._parts, self)
        self.list = named(QListView(self), "licence_list", tr("Parts of Subflow"))
        self.list.setModel(self.model)
        self.text = named(QPlainTextEdit(self, readOnly=True), "licence_text", tr("Licence"))
        parts = split(QSplitter(Qt.Orientation.Horizontal, self), self.list, self.text, sizes=[290, 460])
        v_box(self, intro, self.filter, (parts, 1))
        self.filter.textChanged.connect(self._filter)
        self.list.selectionModel().currentChanged.connect(self._show)

    def load(self) -> None:
        """Reads the list of parts in a worker thread, on the first call only."""
        if not self._is_asked:
            self._is_asked = True
            self.text.setPlainText(tr("Reading…"))
            self._workers.start("licences", licence_parts, succeeded=self._on_read, failed=self._on_failed)

    def give_up(self) -> None:
        """Ignores a result that arrives after the dialog is closed."""
        self._is_closed = True

    def _on_read(self, parts: tuple[Part, ...]) -> None:
        if not self._is_closed:
            self._parts.show_rows(parts)
            self._select_first()

    def _on_failed(self, error: Exception) -> None:
        if not self._is_closed:
            self.text.setPlainText(str(error))

    def _filter(self, words: str) -> None:
        self.model.setFilterFixedString(words)
        self._select_first()

    def _select_first(self) -> None:
        self.list.setCurrentIndex(self.model.index(0, 0))
        self._show()

    def _show(self) -> None:
        index = self.list.currentIndex()
        if not index.isValid():
            if self._parts.rows:
                self.text.setPlainText(tr("Nothing matches."))
            return
        try:
            self.text.setPlainText(self._parts.rows[self.model.mapToSource(index).row()].text())
        except ResourceError as error:
            self.text.setPlainText(str(error))


def _line(part: Part) -> str:
    return f"{part.title} · {part.licence}" if part.licence else part.title
