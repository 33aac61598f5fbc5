"""Crash reports in the window: the dialog that lists them, and a word at the start after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale

from subflow_app.core.crash_reports import CrashReport
from subflow_app.core.crash_watch import collect_crashes
from subflow_app.qt.dialogs import open_dialog
from subflow_app.qt.feature import Feature
from subflow_app.qt.widgets.banner import Way
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.qt.main_window import MainWindow

_BANNER = "crash"


class CrashFeature(Feature):
    """Reports crashes once."""

    def __init__(self, window: MainWindow) -> None:
        """Nothing to report yet."""
        super().__init__()
        self.window = window

    def connect_parts(self) -> None:
        """Looks for what processes that crashed have left once the window is there."""
        self.window.loaded.connect(self._look)

    def show(self, report: CrashReport | None = None) -> None:
        """Lists the reports, with this one selected."""
        from subflow_app.qt.crash_dialog import CrashDialog

        dialog = CrashDialog(self.window.documents.doc.text, self.window)
        if report is not None:
            dialog.show_report(report)
        open_dialog(dialog)

    def _look(self) -> None:
        self.window.workers.start("crashes", collect_crashes, succeeded=self._tell, failed=_raise)

    def _tell(self, reports: tuple[CrashReport, ...]) -> None:
        if not reports:
            return
        latest = max(reports, key=lambda report: report.happened_at_s)
        time = QLocale().toString(
            QDateTime.fromSecsSinceEpoch(int(latest.happened_at_s)), QLocale.FormatType.ShortFormat
        )
        text = trn(
            "Subflow crashed on {time}. A report was written to this computer; nothing was sent.",
            "Subflow crashed {count} times, the last time on {time}. Reports were written to this computer; nothing "
            "was sent.",
            len(reports),
            time=time,
        )
        ways = [Way(tr("Show report…"), lambda: self.show(latest))]
        self.window.banners.show_banner(_BANNER, "warning", text, ways)


def _raise(error: Exception) -> None:
    raise error
