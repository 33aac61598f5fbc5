"""Runs that exist only in memory, because no database was open or because it failed, until they are saved."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.features.exporting.core.exports import ExportPlan, export_run, save_rescue_copy
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.file_kinds import DATABASE_SUFFIXES
from subflow_app.foundation.paths import default_database, file_stem
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.workers import Workers

_log = logging.getLogger(__name__)


class UnsavedRuns(QObject):
    """Keeps runs that no database contains, until they are saved or exported."""

    unsafe = Signal(object, object)  # RunJob, StoreError: a run to report to the person now
    saved = Signal(object, int, object)  # RunJob, its number in the database, Path of the database
    exported = Signal(object)  # Path of the folder

    def __init__(self, workers: Workers, dialogs: Dialogs, parent: QObject) -> None:
        super().__init__(parent)
        self._workers = workers
        self.dialogs = dialogs
        self._runs: dict[RunJob, RunResult] = {}

    @property
    def jobs(self) -> tuple[RunJob, ...]:
        """The runs that have been neither saved nor exported, oldest first."""
        return tuple(self._runs)

    def add(self, job: RunJob, result: RunResult) -> None:
        """Keeps an ended run; emits `unsafe` if its store has failed."""
        self._runs[job] = result
        self._tell(job)

    def ask_save(self, job: RunJob) -> None:
        """Asks for a database and stores the run in it."""
        suggested = default_database().with_name(f"subflow-2{DATABASE_SUFFIXES[0]}")
        path = self.dialogs.database_path(tr("Save the run to a database"), suggested)
        if path is None:
            return

        def save() -> int:
            from subflow_store import open_store

            with open_store(path) as store:
                return job.save_to(store)

        self._workers.start("save run", save, succeeded=lambda run_id: self._on_saved(job, run_id, path))

    def ask_export(self, job: RunJob) -> None:
        """Asks for a folder, and writes all data of the run to a new subfolder."""
        folder = self.dialogs.folder(tr("Export run to a new folder in"), None)
        if folder is None:
            return
        target = folder / file_stem(job.name)

        def export() -> Path:
            plan = ExportPlan(figures=(), figure_formats=())
            summary = self._runs[job].summary
            export_run(job.traces, target, plan, summary=summary, scenario_text=job.scenario_text)
            return target

        self._workers.start("export run", export, succeeded=lambda path: self._on_exported(job, path))

    def make_safe(self, *, asks: bool, waits: bool = True) -> bool:
        """Writes the data of each run to a separate folder before the window closes, and reports the folders.

        Args:
            asks: whether to ask the person about runs that cannot be written.
            waits: whether to report the folders in a dialog; False if a signal ends the program.

        Returns:
            False if a run cannot be written and the person chose to keep the window open.
        """
        reasons = self._rescue_all(waits=waits)
        if not reasons or not asks:
            return True
        text = trn(
            "A run cannot be saved anywhere, and is lost when the program closes.",
            "{count} runs can be saved nowhere, and are lost when the window closes.",
            len(reasons),
        )
        return self.dialogs.confirm(tr("Runs would be lost"), text, "\n".join(reasons), tr("Close and lose them"))

    def _rescue_all(self, *, waits: bool) -> list[str]:
        """Writes all runs and reports the folders; returns the reason for each run that could not be written."""
        folders, reasons = [], []
        for job, result in list(self._runs.items()):
            try:
                folders.append(save_rescue_copy(job.traces, result.summary, job.scenario_text))
            except AppError as error:
                _log.error("run %s cannot be saved: %s", job.name, error)
                reasons.append(str(error))
            else:
                del self._runs[job]
        for folder in folders:
            _log.warning("a run that is in no database was written to %s", folder)
        if folders and waits:
            listed = "\n".join(map(str, folders))
            self.dialogs.tell(tr("Runs saved as files"), tr("Runs that are in no database were written to:"), listed)
        return reasons

    def _on_saved(self, job: RunJob, run_id: int, path: Path) -> None:
        self._runs.pop(job, None)
        self.saved.emit(job, run_id, path)
        self._tell_next()

    def _on_exported(self, job: RunJob, path: Path) -> None:
        self._runs.pop(job, None)
        self.exported.emit(path)
        self._tell_next()

    def _tell_next(self) -> None:
        """Reports the latest of the remaining runs, after one run was saved or exported."""
        if self._runs:
            self._tell(self.jobs[-1])

    def _tell(self, job: RunJob) -> None:
        error = self._runs[job].store_error
        if error is not None:
            self.unsafe.emit(job, error)
