"""Figures and data of the window as files: asks where to, writes, and says where it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget

from subflow_app.core.errors import AppError
from subflow_app.core.exports import ExportPlan, export_plots, export_run
from subflow_app.core.paths import file_stem
from subflow_app.core.traces import StoredTraces
from subflow_app.qt.database import DatabaseControl
from subflow_app.qt.dialogs import CSV_FILTER, Dialogs
from subflow_app.qt.export_dialog import FORMATS, FigureDialog
from subflow_app.qt.history import History
from subflow_app.qt.plot_view import PlotView
from subflow_app.qt.preferences import Preferences
from subflow_app.qt.workers import Workers
from subflow_store import StoreError


class Exports(QObject):
    """Exports of one window."""

    written = Signal(object)  # Path of the file or folder
    failed = Signal(str)  # why, and what to do

    def __init__(
        self,
        plots: PlotView,
        history: History,
        database: DatabaseControl,
        preferences: Preferences,
        dialogs: Dialogs,
        workers: Workers,
        parent: QWidget,
    ) -> None:
        """Exports what ``plots`` shows and what ``history`` has selected."""
        super().__init__(parent)
        self._plots = plots
        self._history = history
        self._database = database
        self._preferences = preferences
        self.dialogs = dialogs
        self._workers = workers
        self._window = parent

    def ask_figure(self) -> None:
        """Asks for format, size and file, and writes the visible figure."""
        dialog = FigureDialog(len(self._plots.specs), self._window)
        is_accepted = dialog.exec() == QDialog.DialogCode.Accepted
        dialog.deleteLater()
        if not is_accepted:
            return
        suffix = dialog.suffix
        name = FORMATS[suffix].split(" ")[0]
        path = self.dialogs.save_path("Export figure", f"{name} (*{suffix})", self._suggested(suffix))
        if path is not None:
            self.export_figure(path, dialog.width_mm.value(), dialog.height_mm.value(), dialog.dpi.value())

    def export_figure(self, path: Path, width_mm: float, height_mm: float, dpi: int) -> None:
        """Writes the visible figure; on the GUI thread, because it is drawn with widgets, in well under a second."""
        from subflow_app.qt.plotting.figure import FigureSize, save_figure

        self._write(path, lambda: save_figure(self._plots.stack, path, FigureSize(width_mm, height_mm, dpi)))

    def ask_data(self) -> None:
        """Asks for a file and writes the data of the visible curves to it."""
        path = self.dialogs.save_path("Export data", CSV_FILTER, self._suggested(".csv"))
        if path is not None:
            self.export_data(path)

    def export_data(self, path: Path) -> None:
        """Writes the data of the visible curves, in SI units."""
        drawn = [(plot.spec, plot.shown_curves()) for plot in self._plots.stack.plots]
        self._write(path, lambda: export_plots(drawn, path))

    def ask_run(self) -> None:
        """Asks for a folder and writes all data of the selected run to it."""
        rows, store = self._history.selected(), self._database.store
        if len(rows) != 1 or store is None:
            return
        row = rows[0]
        folder = self.dialogs.folder("Export run to a new folder in", self._folder())
        if folder is None:
            return
        target = folder / f"{file_stem(row.name)}-run{row.id}"

        def export() -> Path:
            run = store.run(row.id)
            plan = ExportPlan(figures=(), figure_formats=())
            export_run(StoredTraces(store, row.id), target, plan, summary=run.summary, scenario_text=run.scenario_text)
            return target

        self._workers.start("export run", export, succeeded=self._on_written, failed=self._on_failed)

    # ---- inside ----

    def _write(self, path: Path, write: Callable[[], object]) -> None:
        try:
            write()
        except (AppError, StoreError) as error:
            self.failed.emit(str(error))
        else:
            self._on_written(path)

    def _on_written(self, path: Path) -> None:
        settings = self._preferences.settings
        self._preferences.change(settings.with_export_directory(path.parent))
        self.written.emit(path)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, AppError | StoreError):
            raise error
        self.failed.emit(str(error))

    def _suggested(self, suffix: str) -> Path:
        title = self._plots.runs[0].title if self._plots.runs else "figure"
        return (self._folder() or Path.home()) / f"{file_stem(title)}{suffix}"

    def _folder(self) -> Path | None:
        last = self._preferences.settings.last_export_directory
        return Path(last) if last and Path(last).is_dir() else None
