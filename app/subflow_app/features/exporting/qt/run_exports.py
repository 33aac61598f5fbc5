"""Whole runs as files: asks what is wanted, has it written, and verifies bundles that come from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

import subflow_app
from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import file_stem
from subflow_app.toolkit.dialogs import Dialogs, is_accepted
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.exporting.core.run_export import ExportedRun, RunExport
    from subflow_app.features.exporting.core.verification import Verification
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.running.core.runs import RunJob
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.workers import Workers
    from subflow_store import RunRow, Store

_OUTCOMES = {
    Confirmation.CONFIRMED: translatable("Confirmed: the same run."),
    Confirmation.CONTRADICTED: translatable("Contradicted: NOT the same run."),
    Confirmation.NOT_CONFIRMED: translatable(
        "Not confirmed: some of it could not be repeated and compared in version {version}."
    ),
}
_VERDICTS = {
    "same": translatable("same"),
    "different": translatable("DIFFERENT"),
    "not compared": translatable("not compared"),
}


class RunExports(QObject):
    """Those of one window."""

    def __init__(
        self,
        exports: Exports,
        database: DatabaseControl,
        workers: Workers,
        dialogs: Dialogs,
        tell: Callable[[str], object],
        parent: QWidget,
    ) -> None:
        """Exports runs of the open database; its dialogs belong to ``parent``."""
        super().__init__(parent)
        self._exports = exports
        self._database = database
        self._workers = workers
        self.dialogs = dialogs
        self._tell = tell
        self._parent = parent
        self.patience_ms = 60  # what is read quicker than this is asked about at once

    def ask_run(self, row: RunRow) -> None:
        """Asks what of the run is wanted, then for a folder, and has it written."""
        store = self._database.store
        if store is None:
            return

        def read() -> tuple[str, ...]:
            from subflow_app.features.capture.core.packet_capture import flow_names
            from subflow_app.features.explain.core.origin import StoredOrigin

            try:
                return flow_names(StoredOrigin.read(store, row.id).scenario)
            except InputError:
                return ()  # measured, or made by a version whose scenarios are strange to this one

        self._workers.start(
            "look at run",
            read,
            succeeded=lambda flows: self._ask(row, store, flows),
            failed=self._on_failed,
            patience_ms=self.patience_ms,
        )

    def _ask(self, row: RunRow, store: Store, flows: Sequence[str]) -> None:
        # Imported here: a start needs no exports.
        from subflow_app.features.exporting.qt.run_export_dialog import RunExportDialog

        if store is not self._database.store:
            return  # a database that was opened meanwhile has other runs under this number
        dialog = RunExportDialog(row, flows, self._parent)
        if not is_accepted(dialog):
            return
        folder = self.dialogs.folder(tr("Export run to a new folder in"), self._exports.folder)
        if folder is not None:
            self.export_run(store, row, folder / f"{file_stem(row.name)}-run{row.id}", dialog.wanted)

    def export_run(self, store: Store, row: RunRow, folder: Path, wanted: RunExport) -> None:
        """Has it written into the folder; tells how it went."""
        from subflow_app.features.exporting.core.run_export import export_stored_run

        is_cancelled = False

        def cancel() -> None:
            nonlocal is_cancelled
            is_cancelled = True

        def export() -> ExportedRun:
            summary = store.run(row.id).summary or {}
            return export_stored_run(store, row.id, folder, wanted, summary=summary, is_cancelled=lambda: is_cancelled)

        def succeeded(done: ExportedRun) -> None:
            self._tell("\n".join(done.notices))
            self._exports.take(folder)

        self._tell(tr("Exporting {name}…", name=row.name))
        self._workers.start("export run", export, succeeded=succeeded, failed=self._on_failed, cancel=cancel)

    def ask_verify(self) -> None:
        """Asks for a bundle, simulates its run again, and shows what was compared."""
        path = self.dialogs.open_path(tr("Verify bundle"), tr("Bundles of runs (*.zip)"), self._exports.folder)
        if path is not None:
            self.verify(path)

    def verify(self, path: Path) -> None:
        """Verifies the bundle, and shows what came of it."""
        running: list[RunJob] = []

        def work() -> Verification:
            from subflow_app.features.exporting.core.verification import verify_bundle

            return verify_bundle(path, on_start=running.append)

        def cancel() -> None:
            for job in running:
                job.stop()

        self._tell(tr("Simulating the run of {name} again…", name=path.name))
        self._workers.start("verify bundle", work, succeeded=self._show, failed=self._on_failed, cancel=cancel)

    # ---- inside ----

    def _show(self, found: Verification) -> None:
        self._tell("")
        verdict = tr(_OUTCOMES[found.outcome], version=subflow_app.__version__)
        about = tr(
            "{name}: seed {seed}, made by version {version}", name=found.name, seed=found.seed, version=found.made_with
        )
        checks = (f"{tr(_VERDICTS[check.verdict]):16}{check.what}: {check.told}" for check in found.checks)
        self.dialogs.report(tr("Verify bundle"), "\n".join((verdict, "", about, "", *checks)))

    def _on_failed(self, error: Exception) -> None:
        self._tell("")
        self._exports.refuse(error)
