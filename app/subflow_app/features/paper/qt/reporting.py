"""Reports in the window: dialogs for content and file, writing in a worker thread, and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from subflow_app.features.plots.core import PLOTS, PlotSpec
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.paths import file_stem
from subflow_app.toolkit.action_bar import STORE, ActionSpec, Need
from subflow_app.toolkit.dialogs import is_accepted
from subflow_app.vocabulary.language import tr, translatable
from subflow_store import RunRow

if TYPE_CHECKING:
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.workers import Workers


class Reports(QObject):
    """Writes reports on runs of the database that a window has opened."""

    def __init__(
        self,
        exports: Exports,
        database: DatabaseControl,
        workers: Workers,
        tell: Callable[[str], object],
        parent: QWidget,
    ) -> None:
        """The dialogs belong to ``parent``; ``tell`` shows progress."""
        super().__init__(parent)
        self._exports = exports
        self._database = database
        self._workers = workers
        self._tell = tell
        self._parent = parent
        self.patience_ms = 60  # if the data are read within this time, the dialog opens before `ask_report` returns
        self._is_reading = False

    def ask_report(self, numbers: Sequence[int]) -> None:
        """Opens the dialogs for the content and the file of a report on these runs, then writes the report."""
        store = self._database.store
        if store is None or not numbers:
            self._exports.failed.emit(
                tr("A report needs stored runs: select some in the history, or wait until this one is stored.")
            )
            return

        def read() -> tuple[list[RunRow], list[PlotSpec]]:
            rows = [store.run(number) for number in numbers]
            traces = [StoredTraces(store, number) for number in numbers]
            return rows, [spec for spec in PLOTS if any(spec.is_in(each) for each in traces)]

        def ask(found: tuple[list[RunRow], list[PlotSpec]]) -> None:
            self._is_reading = False
            # If a different database has been opened meanwhile, these numbers belong to other runs.
            if store is self._database.store:
                self._ask(numbers, *found)

        if not self._is_reading:
            self._is_reading = True
            self._workers.start(
                "look at runs", read, succeeded=ask, failed=self._on_failed, patience_ms=self.patience_ms
            )

    def _ask(self, numbers: Sequence[int], rows: Sequence[RunRow], plots: Sequence[PlotSpec]) -> None:
        # Imported here to keep reports out of the program start.
        from subflow_app.features.paper.qt.report_dialog import FORMATS, ReportDialog

        dialog = ReportDialog(rows, plots, self._parent)
        if not is_accepted(dialog):
            return
        suffix = f".{dialog.chosen_kind}"
        name = FORMATS[dialog.chosen_kind].split(" ")[0]
        suggested = f"{file_stem(rows[0].name)}-report{suffix}"
        path = self._exports.ask_path(tr("Export report"), f"{name} (*{suffix})", suggested)
        if path is not None:
            self.export_report(
                path, numbers, dialog.chosen_plots, title=dialog.heading.text().strip(), page=dialog.chosen_page
            )

    def export_report(
        self, path: Path, numbers: Sequence[int], plots: Sequence[PlotSpec], *, title: str = "", page: str = "a4"
    ) -> None:
        """Writes the report in a worker thread, and shows the outcome."""
        store = self._database.store
        if store is None:
            return
        from subflow_app.features.paper.core.figure_process import FigureProcess

        process = FigureProcess()

        def export() -> Path:
            from subflow_app.features.paper.core.report import build_report, page_size, read_runs, report_kind
            from subflow_app.foundation.files import write_file

            try:
                kind = report_kind(path)
                process.start()  # the process loads matplotlib while the runs are read
                report = build_report(read_runs(store, numbers), plots=plots, title=title)
                return write_file(path, process.draw(replace(report, kind=kind, page=page_size(page))))
            finally:
                process.close()

        self._tell(tr("Writing the report…"))
        self._workers.start(
            "export report", export, succeeded=self._on_written, failed=self._on_failed, cancel=process.close
        )

    def _on_written(self, path: Path) -> None:
        self._tell("")
        self._exports.take(path)

    def _on_failed(self, error: Exception) -> None:
        self._is_reading = False
        self._tell("")
        self._exports.refuse(error)


class ReportHolder(Protocol):
    """Parts of the window used by the action of reports."""

    history: History
    reports: Reports
    shown: ShownRuns


def rows() -> Iterator[ActionSpec[ReportHolder]]:
    """The action of reports in the File menu."""
    yield ActionSpec(
        "file.export_report",
        "Export &report…",
        "Write a report on the selected runs, or those shown: setup, figures, tables, seeds, how to run them again",
        "export_report",
        ("Ctrl+Shift+R",),
        lambda w, _: w.reports.ask_report([row.id for row in w.history.selected()] or sorted(w.shown.ids)),
        (
            STORE,
            Need(
                lambda s: s.runs_selected > 0 or s.runs_shown > 0,
                translatable("no run is shown or selected in the history"),
            ),
        ),
    )
