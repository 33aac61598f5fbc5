"""Crash reports in the window: the dialog that lists them, and a word at the start after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QDateTime, QLocale

from subflow_app.foundation.crash_reports import CrashReport
from subflow_app.foundation.crash_watch import collect_crashes
from subflow_app.toolkit.dialogs import open_dialog
from subflow_app.toolkit.feature import Feature
from subflow_app.toolkit.widgets.banner import Banners, Way
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.toolkit.workers import Workers

_BANNER = "crash"


class CrashPorts(Protocol):
    """Parts of the window that crash reports use."""

    loaded: Any  # Signal()
    documents: Documents
    banners: Banners
    workers: Workers


class CrashFeature(Feature):
    """Reports crashes once."""

    def __init__(self, ports: CrashPorts) -> None:
        """Nothing to report yet."""
        super().__init__()
        self.ports = ports

    def connect_parts(self) -> None:
        """Looks for what processes that crashed have left once the window is there."""
        self.ports.loaded.connect(self._look)

    def show(self, report: CrashReport | None = None) -> None:
        """Lists the reports, with this one selected."""
        from subflow_app.features.crashes.qt.crash_dialog import CrashDialog

        dialog = CrashDialog(self.ports.documents.doc.text, self.ports.banners.window())
        if report is not None:
            dialog.show_report(report)
        open_dialog(dialog)

    def _look(self) -> None:
        self.ports.workers.start("crashes", collect_crashes, succeeded=self._tell, failed=_raise)

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
        self.ports.banners.show_banner(_BANNER, "warning", text, ways)


def _raise(error: Exception) -> None:
    raise error
