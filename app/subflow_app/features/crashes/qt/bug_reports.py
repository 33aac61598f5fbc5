"""What happens with an exception that nobody expected: a report on disk, a dialog to read it in, and the log."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.foundation.crash_reports import CrashReportHandler, report_error, report_text, title_of

if TYPE_CHECKING:
    from subflow_app.toolkit.dialogs import Dialogs

_log = logging.getLogger(__name__)


class BugReports(QObject):
    """Reports those of the window and its threads; each is shown, but never one dialog over another."""

    _happened = Signal(str, object)  # report, Path | None: from the thread where it did

    def __init__(self, dialogs: Dialogs, parent: QObject) -> None:
        """Hears nothing before :meth:`hear`."""
        super().__init__(parent)
        self._dialogs = dialogs
        self._is_shown = False
        self._handler = CrashReportHandler()
        self._happened.connect(self._show)

    def hear(self) -> None:
        """Begins: with what leaves the event loop or a thread, and with what is logged as an error."""
        sys.excepthook = self.on_exception
        threading.excepthook = self._on_thread_exception
        logging.getLogger().addHandler(self._handler)

    def release(self) -> None:
        """Ends it."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        logging.getLogger().removeHandler(self._handler)

    def on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None, where: str = "the window"
    ) -> None:
        """Stands in for ``sys.excepthook``."""
        if issubclass(kind, KeyboardInterrupt):
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        report = report_error(error, where)
        _log.critical("bug: %s", text)
        # The same bug again has no file of its own.
        shown = report_text(title_of(error), where, text, ()) if report is None else report.text()
        self._happened.emit(shown, None if report is None else report.file)

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
            name = args.thread.name if args.thread is not None else "?"
            self.on_exception(args.exc_type, args.exc_value, args.exc_traceback, f"the thread {name}")

    def _show(self, report: str, file: Path | None) -> None:
        # The same bug in a timer would pile up dialogs faster than anybody can close them.
        if not self._is_shown:
            self._is_shown = True
            self._dialogs.tell_bug(report, file)
            self._is_shown = False
