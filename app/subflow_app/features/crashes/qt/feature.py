"""Crash reports in the window.

Each unexpected exception is logged and reported in a file. A dialog lists the reports and shows their text. After a
crash, the next start shows a short notice.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QDateTime, QLocale, QObject, Signal

from subflow_app.foundation.crash_reports import (
    CrashReport,
    CrashReportHandler,
    collect_crashes,
    report_error,
    report_text,
    title_of,
)
from subflow_app.toolkit.action_bar import ActionSpec
from subflow_app.toolkit.dialogs import Dialogs, open_dialog
from subflow_app.toolkit.feature import Feature, FeatureHolder
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
    """Collects the reports of crashed processes after the start and offers to show them."""

    def __init__(self, ports: CrashPorts) -> None:
        super().__init__()
        self.ports = ports

    def connect_parts(self) -> None:
        """Collects the reports of crashed processes once the window is shown."""
        self.ports.loaded.connect(self._look)

    def show(self, report: CrashReport | None = None) -> None:
        """Opens the list of reports and selects `report`; None selects the latest one."""
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


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions of crash reports in the Help menu."""
    yield ActionSpec(
        "help.crash_reports",
        "&Crash reports…",
        "Read what was written when Subflow crashed or showed a bug, to send it by hand",
        "crash",
        (),
        lambda w, _: w.features[CrashFeature].show(),
    )


_log = logging.getLogger(__name__)


class BugReports(QObject):
    """Reports exceptions of the window and its threads, with at most one open dialog."""

    _happened = Signal(str, object)  # text of the report, and its file or None; emitted in the thread of the exception

    def __init__(self, dialogs: Dialogs, parent: QObject) -> None:
        """Creates reports only after :meth:`hear` is called."""
        super().__init__(parent)
        self._dialogs = dialogs
        self._is_shown = False
        self._handler = CrashReportHandler()
        self._happened.connect(self._show)

    def hear(self) -> None:
        """Installs hooks for uncaught exceptions of the event loop and of threads, and for logged errors."""
        sys.excepthook = self.on_exception
        threading.excepthook = self._on_thread_exception
        logging.getLogger().addHandler(self._handler)

    def release(self) -> None:
        """Restores Python's default hooks and removes the handler of logged errors."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        logging.getLogger().removeHandler(self._handler)

    def on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None, where: str = "the window"
    ) -> None:
        """Reports an uncaught exception except KeyboardInterrupt; installed as ``sys.excepthook``."""
        if issubclass(kind, KeyboardInterrupt):
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        report = report_error(error, where)
        _log.critical("bug: %s", text)
        # A repeated bug does not get a new file.
        shown = report_text(title_of(error), where, text, ()) if report is None else report.text()
        self._happened.emit(shown, None if report is None else report.file)

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
            name = args.thread.name if args.thread is not None else "?"
            self.on_exception(args.exc_type, args.exc_value, args.exc_traceback, f"the thread {name}")

    def _show(self, report: str, file: Path | None) -> None:
        # A repeated bug in a timer would open dialogs faster than a person can close them.
        if not self._is_shown:
            self._is_shown = True
            self._dialogs.tell_bug(report, file)
            self._is_shown = False
