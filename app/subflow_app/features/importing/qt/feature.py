"""The import in the window: files that users choose or drop become runs and scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QWidget

from subflow_app.features.measured.core.measured_table import UNNAMED_FLOW
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit.action_bar import ActionSpec
from subflow_app.toolkit.dialogs import Dialogs, open_dialog
from subflow_app.toolkit.feature import Feature, FeatureHolder
from subflow_app.toolkit.ports import StudyPorts
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.exporting.qt.topology_files import TopologyFiles
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.widgets.banner import Banners
    from subflow_app.toolkit.workspaces import Workspaces


class ImportPorts(FeatureHolder, StudyPorts, Protocol):
    """Parts of the window that imports use."""

    banners: Banners
    dialogs: Dialogs
    documents: Documents
    exports: Exports
    history: History
    notices: Notices
    shown: ShownRuns
    topology_files: TopologyFiles
    workspaces: Workspaces

    def window(self) -> QWidget:
        """The window on which dialogs open."""


class ImportFeature(Feature):
    """Recognises files, and imports each in its way."""

    def __init__(self, ports: ImportPorts) -> None:
        """Keeps the parts of the window; imports nothing."""
        super().__init__()
        self.ports = ports

    def ask_import(self) -> None:
        """Opens a file dialog, and imports the chosen file."""
        from subflow_app.features.importing.core.door import import_suffixes

        filters = tr(
            "Measurements and networks ({suffixes});;All files (*)",
            suffixes=" ".join(f"*{each}" for each in import_suffixes()),
        )
        path = self.ports.dialogs.open_path(tr("Import a file"), filters, self.ports.exports.folder)
        if path is not None:
            self.import_file(path)

    def import_file(self, path: Path) -> None:
        """Imports a measurement through a dialog, and a graph or web page as a scenario."""
        from subflow_app.features.importing.core.door import Way, recognise

        try:
            found = recognise(path)
        except AppError as error:
            self.ports.banners.show_banner("import", "error", str(error))
            return
        if found.way is Way.PAGE:
            self.ports.topology_files.import_page(path)
        elif found.way is Way.GRAPH:
            self.ports.topology_files.import_file(path)
        elif found.way is Way.RECORDING:
            self._import_recording(path)
        else:
            self._import_measurement(path)

    def _import_recording(self, path: Path) -> None:
        """Shows the values of a recording, then opens a scenario whose link follows it."""
        from subflow_app.features.importing.core.recordings import read_link_recording

        ports = self.ports
        try:
            found = read_link_recording(path)
            text = found.text_in(None)
        except AppError as error:
            ports.banners.show_banner("import", "error", str(error))
            return
        about = "\n".join(f"{key}: {value}" for key, value in found.values.items())
        if ports.dialogs.confirm(
            tr("Import a recording"),
            tr("Open a scenario whose link follows {file}?", file=path.name),
            about,
            tr("Open"),
        ) and ports.documents.open_text(text, path.stem):
            ports.banners.show_banner("import", "info", found.summary)

    def _import_measurement(self, path: Path) -> None:
        from subflow_app.features.importing.qt.import_dialog import ImportDialog

        store = self.ports.database.writable
        if store is None:
            self.ports.notices.file_failed(
                tr("{file} cannot be imported: no writable database is open.", file=path.name)
            )
            return
        dialog = ImportDialog(path, store, self.ports.workers, self.ports.window())
        dialog.imported.connect(self._on_imported)
        open_dialog(dialog)

    def _on_imported(self, run_id: int, flow: str, notices: Sequence[str]) -> None:
        """Shows the run: over the shown ones if its flow was named after one of theirs, else alone."""
        ports = self.ports
        ports.history.reload()
        ports.history.select([run_id])
        if ports.database.store is not None:
            show = ports.shown.overlay if flow != UNNAMED_FLOW and ports.shown.count else ports.shown.show_stored
            show(ports.database.store, [run_id])
            ports.workspaces.show("run")
        text = tr("Imported as run {number}, with the tag measured.", number=run_id)
        ports.banners.show_banner("imported", "info", "\n".join((text, *notices[:6])))


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """The import in the File menu."""
    yield ActionSpec(
        "file.import",
        "&Import…",
        "Make a run of a measurement (ss, iperf3, pcap, qlog, tshark, CSV), or a scenario of a topology or a web "
        "page; dropping the file does the same",
        "import",
        ("Ctrl+Shift+I",),
        lambda w, _: w.features[ImportFeature].ask_import(),
    )
