"""Exports from the window: figures and data, whole runs, and the verification of bundles.

Each export opens a dialog for the file or folder, writes the files, and reports where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

import subflow_app
from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.foundation.file_kinds import PAGE_SUFFIX
from subflow_app.foundation.paths import file_stem
from subflow_app.toolkit.dialogs import CSV_FILTER, PAGE_FILTER, Dialogs, is_accepted, open_dialog
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_sim.gate import is_folder, is_there
from subflow_store import StoreError

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from subflow_app.features.exporting.core.run_export import ExportedRun, RunExport
    from subflow_app.features.exporting.core.verification import Verification
    from subflow_app.features.exporting.qt.export_dialog import FigureDialog, Format
    from subflow_app.features.paper.core.exported_figure import ExportedFigure
    from subflow_app.features.paper.core.figure_process import FigureProcess
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.core.runs import RunJob
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences
    from subflow_app.toolkit.workers import Workers
    from subflow_store import RunRow, Store


class Exports(QObject):
    """Exports of one window."""

    written = Signal(object)  # path of the written file or folder (Path)
    failed = Signal(str)  # reason for the failure, and a remedy

    def __init__(
        self,
        plots: PlotView,
        shown: ShownRuns,
        database: DatabaseControl,
        preferences: Preferences,
        workers: Workers,
        dialogs: Dialogs,
        notices: Notices,
        parent: QWidget,
        figures_in_front: Callable[[], Iterable[QAction]] = tuple,
    ) -> None:
        """Export figures and data.

        Args:
            plots: the plots, which offer their figure and their data.
            shown: the runs of the plots.
            database: the database with the stored runs of web pages.
            preferences: settings, which keep the choices of the last export.
            workers: threads that draw and write.
            dialogs: questions to the user.
            notices: banners that report written files and failures.
            parent: parent of the dialogs.
            figures_in_front: returns the actions that export the figures of panels in front of the plots.
        """
        super().__init__(parent)
        self.dialog: FigureDialog | None = None
        self._plots = plots
        self._shown = shown
        self._database = database
        self._figures_in_front = figures_in_front
        self._preferences = preferences
        self._workers = workers
        self._dialogs = dialogs
        self._parent = parent
        self.written.connect(notices.exported)
        self.failed.connect(notices.export_failed)

    # ---- common to all exports ----

    @property
    def folder(self) -> Path:
        """Folder of the last export, or the home folder."""
        last = self._preferences.settings.last_export_directory
        return Path(last) if last and is_folder(Path(last)) else Path.home()

    def ask_path(self, title: str, filters: str, name: str) -> Path | None:
        """Ask for a file and suggest ``name``; None if cancelled."""
        return self._dialogs.save_path(title, filters, self.folder / name)

    def write(self, path: Path, write: Callable[[], object]) -> None:
        """Write a file now, and report the result."""
        try:
            write()
        except (AppError, StoreError) as error:
            self.refuse(error)
        else:
            self.take(path)

    def write_later(self, name: str, write: Callable[[], Path]) -> None:
        """Write a file in the background, and report the result; ``name`` names the task."""
        self._workers.start(name, write, succeeded=self.take, failed=self.refuse)

    def ask_page(self, name: str, write: Callable[[Path], Path]) -> None:
        """Ask for the file of a web page and write it in the background; ``name`` is the suggestion."""
        path = self.ask_path(tr("Save as web page"), tr(PAGE_FILTER), f"{name}{PAGE_SUFFIX}")
        if path is not None:
            self.write_later("web page", lambda: write(path))

    def take(self, path: Path, folder: Path | None = None) -> None:
        """Report a written file, and suggest a folder, by default that of the file, for the next export."""
        self._preferences.change(self._preferences.settings.with_export_directory(folder or path.parent))
        self.written.emit(path)

    def refuse(self, error: Exception) -> None:
        """Report the reason for a failure."""
        self.failed.emit(str(error))

    # ---- figures ----

    def ask_figure(self) -> None:
        """Export the figure of the panel in front: the plots, unless another panel offers its figure."""
        for action in self._figures_in_front():
            if action.isEnabled():
                action.trigger()
                return
        if self._shown.count == 0:
            raise InputError(tr("The plots show no run, and no other panel in front has a figure."))
        self.export(self.plots_figure())

    def export(self, figure: ExportedFigure, first: Format | None = None) -> None:
        """Open the dialog for a figure; the dialog stays until the file is written.

        Args:
            figure: the figure.
            first: format to begin with; None: that of the last export.
        """
        # Imported here, because figures are not needed at program start.
        from subflow_app.features.exporting.qt.export_dialog import FigureDialog
        from subflow_app.features.paper.core.figure_plan import FigureChoice
        from subflow_app.features.paper.core.figure_process import FigureProcess

        process = FigureProcess()
        try:
            process.start()  # early, so that the process is ready for the first preview
        except AppError as error:
            self.refuse(error)
            return
        choice = FigureChoice.from_entries(self._preferences.settings.figure)
        dialog = self.dialog = FigureDialog(figure, choice, process, self._workers, self._parent, first)

        def closed() -> None:
            process.close()
            self._preferences.change(self._preferences.settings.with_figure(asdict(dialog.choice)))
            if self.dialog is dialog:
                self.dialog = None

        dialog.export_wanted.connect(lambda: self._write_figure(dialog, process))
        dialog.finished.connect(closed)
        open_dialog(dialog)

    def plots_figure(self) -> ExportedFigure:
        """The figure of the plots, as visible now."""
        from subflow_app.features.exporting.qt.plots_figure import shown_plan
        from subflow_app.features.paper.core.exported_figure import ExportedFigure

        write_page, no_page = self._page_of_plots()
        return ExportedFigure(
            self._suggested(""),
            shown_plan(self._plots.stack),
            shown_plan(self._plots.stack, has_all=True),
            self._write_data,
            write_page,
            no_page,
        )

    def _page_of_plots(self) -> tuple[Callable[[Path], object] | None, str]:
        from subflow_app.features.exporting.core.web_page import is_offered, write_page

        shown, store = self._shown, self._database.store
        ids = [run_id for run_id in map(shown.id_of, range(shown.count)) if run_id is not None]
        if not is_offered():
            return None, tr("This installation has no core for web pages.")
        if store is None or not ids or len(ids) < shown.count:
            return None, tr("A web page needs stored runs: wait for the end of the run.")
        return lambda path: write_page(store, ids, path), ""

    def _write_figure(self, dialog: FigureDialog, process: FigureProcess) -> None:
        """Ask for the file, draw in the background, write the files once all are drawn, and close the dialog."""
        try:
            write = self._writer(dialog, process)
        except AppError as error:
            dialog.say(str(error))
            return
        if write is None:
            return

        def succeeded(path: Path) -> None:
            if self.dialog is dialog:
                dialog.accept()
            self.take(path, path if is_folder(path) else None)

        def failed(error: Exception) -> None:
            if self.dialog is dialog:
                dialog.set_busy(False)
                dialog.say(str(error))

        dialog.say("")
        dialog.set_busy(True)
        self._workers.start("export figure", write, succeeded=succeeded, failed=failed, cancel=process.close)

    def _writer(self, dialog: FigureDialog, process: FigureProcess) -> Callable[[], Path] | None:
        """Ask for the file; returns the function that writes it, or None if cancelled."""
        figure = dialog.figure
        if dialog.format == "page":
            return self._file_writer(tr("Save as web page"), tr(PAGE_FILTER), figure, PAGE_SUFFIX, figure.write_page)
        if dialog.format == "csv":
            return self._file_writer(tr("Export data"), tr(CSV_FILTER), figure, ".csv", figure.write_data)
        return self._picture_writer(dialog, process)

    def _file_writer(
        self, title: str, filters: str, figure: ExportedFigure, suffix: str, write: Callable[[Path], object] | None
    ) -> Callable[[], Path] | None:
        path = self.ask_path(title, filters, f"{figure.name}{suffix}")
        if path is None or write is None:
            return None

        def write_it() -> Path:
            write(path)
            return path

        return write_it

    def _picture_writer(self, dialog: FigureDialog, process: FigureProcess) -> Callable[[], Path] | None:
        from subflow_app.features.paper.core.figure_plan import figure_kind
        from subflow_app.foundation.files import write_file

        choice, plan = dialog.choice, dialog.plan
        suffix = f".{choice.kind}"
        parts = [part for part, _ in plan.parts]
        is_part = len(parts) == 1 and len(dialog.figure.plan.parts) > 1
        name = f"{dialog.figure.name}{f'-{parts[0]}' if is_part else ''}{suffix}"
        path = self.ask_path(tr("Export figure"), f"{choice.kind.upper()} (*{suffix})", name)
        if path is None:
            return None
        kind = figure_kind(path)
        plans = {
            path if not part else path.with_name(f"{path.stem}-{part}{path.suffix}"): replace(each, kind=kind)
            for part, each in choice.pages(plan).items()
        }
        others = [each for each in plans if each != path and is_there(each)]
        if others and not self._dialogs.confirm(
            tr("Export figure"),
            trn(
                "{count} file there has the name of a figure.",
                "{count} files there have names of figures.",
                len(others),
            ),
            "\n".join(each.name for each in others),
            tr("Replace"),
        ):
            return None
        write_data = dialog.figure.write_data if choice.has_data else None

        def write() -> Path:
            contents = [process.draw(each) for each in plans.values()]
            for target, content in zip(plans, contents, strict=True):
                write_file(target, content)
            if write_data is not None:
                write_data(path.with_suffix(".csv"))
            return path if len(plans) == 1 else path.parent

        return write

    # ---- data of the plots ----

    def ask_data(self) -> None:
        """Ask for a file and write the data of the visible curves."""
        path = self.ask_path(tr("Export data"), tr(CSV_FILTER), self._suggested(".csv"))
        if path is not None:
            self.export_data(path)

    def export_data(self, path: Path) -> None:
        """Write the data of the visible curves in SI units."""
        self.write(path, lambda: self._write_data(path))

    # ---- internals ----

    def _write_data(self, path: Path) -> None:
        from subflow_app.features.exporting.core.exports import export_shown

        stack = self._plots.stack
        # Export the samples, not the drawn bins or means.
        export_shown(
            [
                (spec, stack.sampled_curves(spec), [each for plot in plots for each in plot.shown_bars()])
                for spec, plots in stack.plots_by_spec()
            ],
            path,
            stack.runs,
        )

    def _suggested(self, suffix: str) -> str:
        return f"{file_stem(self._plots.runs[0].title if self._plots.runs else 'figure')}{suffix}"


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
    """Exports runs of one window and verifies bundles."""

    def __init__(
        self,
        exports: Exports,
        database: DatabaseControl,
        workers: Workers,
        dialogs: Dialogs,
        tell: Callable[[str], object],
        parent: QWidget,
    ) -> None:
        """Export runs of the open database; ``parent`` is the parent of the dialogs."""
        super().__init__(parent)
        self._exports = exports
        self._database = database
        self._workers = workers
        self.dialogs = dialogs
        self._tell = tell
        self._parent = parent
        self.patience_ms = 60  # if the run is read within this time, the dialog opens before `ask_run` returns

    def ask_run(self, row: RunRow) -> None:
        """Ask for the parts of a run and for a folder, and export the run."""
        store = self._database.store
        if store is None:
            return

        def read() -> tuple[str, ...]:
            from subflow_app.features.capture.core.packet_capture import flow_names
            from subflow_app.features.explain.core.origin import StoredOrigin

            try:
                return flow_names(StoredOrigin.read(store, row.id).scenario)
            except InputError:
                return ()  # a measured run, or a scenario of an incompatible version

        self._workers.start(
            "look at run",
            read,
            succeeded=lambda flows: self._ask(row, store, flows),
            failed=self._on_failed,
            patience_ms=self.patience_ms,
        )

    def _ask(self, row: RunRow, store: Store, flows: Sequence[str]) -> None:
        # Imported here, because exports are not needed at program start.
        from subflow_app.features.exporting.qt.run_export_dialog import RunExportDialog

        if store is not self._database.store:
            return  # in a different database, the number identifies a different run
        dialog = RunExportDialog(row, flows, self._parent)
        if not is_accepted(dialog):
            return
        folder = self.dialogs.folder(tr("Export run to a new folder in"), self._exports.folder)
        if folder is not None:
            self.export_run(store, row, folder / f"{file_stem(row.name)}-run{row.id}", dialog.wanted)

    def export_run(self, store: Store, row: RunRow, folder: Path, wanted: RunExport) -> None:
        """Export a run to a folder in the background, and report the result."""
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
        """Ask for a bundle, verify it, and show the comparison."""
        path = self.dialogs.open_path(tr("Verify bundle"), tr("Bundles of runs (*.zip)"), self._exports.folder)
        if path is not None:
            self.verify(path)

    def verify(self, path: Path) -> None:
        """Verify a bundle in the background, and show the result."""
        running: list[RunJob] = []

        def work() -> Verification:
            from subflow_app.features.exporting.core.verification import verify_bundle

            return verify_bundle(path, on_start=running.append)

        def cancel() -> None:
            for job in running:
                job.stop()

        self._tell(tr("Simulating the run of {name} again…", name=path.name))
        self._workers.start("verify bundle", work, succeeded=self._show, failed=self._on_failed, cancel=cancel)

    # ---- internals ----

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
