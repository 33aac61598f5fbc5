"""The application object, or a clear end: Qt aborts the process where it finds no display."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMessageLogContext, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from subflow_app.foundation.crash_watch import end_watch
from subflow_app.foundation.display import no_display_text

_EXIT_CODE = 1  # as `exit_codes.FAILED`, which belongs to the command line above

MessageHandler = Callable[[QtMsgType, QMessageLogContext, str], None]


class Application(QApplication):
    """The application object of the program."""

    file_wanted = Signal(object)  # Path: macOS tells a running program so which file was double-clicked

    def event(self, event: QEvent) -> bool:
        """Hears of files that are to be opened."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_wanted.emit(Path(event.file()))
            return True
        return super().event(event)


def application_or_end(arguments: list[str], handler: MessageHandler) -> Application:
    """Makes the application object; where there is no display, the process ends with a line that says so.

    Args:
        arguments: of the program.
        handler: hears what Qt says from then on, and what it said while it was looking for a display.
    """
    heard: list[tuple[QtMsgType, str]] = []

    def hear(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        # What comes after a fatal message is abort(): nothing can be raised through Qt's own frames.
        if kind == QtMsgType.QtFatalMsg:
            _end([text for _kind, text in heard])
        heard.append((kind, text))

    qInstallMessageHandler(hear)
    application = Application(arguments)
    qInstallMessageHandler(handler)
    for kind, text in heard:
        handler(kind, QMessageLogContext(), text)
    return application


def _end(said: list[str]) -> None:
    text = no_display_text(said, os.environ)
    logging.getLogger(__name__).info("%s; message of Qt: %s", text, said)
    # A program without a console has no stderr, and then the log alone.
    if sys.stderr is not None:
        sys.stderr.write(f"subflow: {text}\n")
        sys.stderr.flush()
    logging.shutdown()
    end_watch()
    os._exit(_EXIT_CODE)
