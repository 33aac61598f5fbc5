"""The start of the window: application object, log, theme, language, and the report of a bug.

Where Qt finds no display, it aborts the process, so the program ends earlier with a clear message. The language is
chosen before any widget of the window is made.
"""

from __future__ import annotations

import gc
import logging
import logging.handlers
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QLibraryInfo,
    QLocale,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    Qt,
    QTimer,
    QtMsgType,
    QTranslator,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

from subflow_app.features.crashes.qt.feature import BugReports
from subflow_app.foundation.crash_reports import end_watch
from subflow_app.foundation.file_kinds import is_database_file
from subflow_app.foundation.interruption import stopping_signals
from subflow_app.foundation.paths import log_path
from subflow_app.foundation.resources import DEMO_SCENARIO, resource_path, use_language
from subflow_app.foundation.session_log import SESSION_LOG
from subflow_app.foundation.settings import load_settings
from subflow_app.foundation.surroundings import no_display_text
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.theme import MODES, ThemeMode
from subflow_app.vocabulary.language import ENGLISH, language_for, tr, translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


_log = logging.getLogger(__name__)

# What the docking system says on the tabs of panels; it brings no translations of its own.
DOCKING_TEXTS = (
    translatable("Close"),
    translatable("Close Active Tab"),
    translatable("Close Group"),
    translatable("Close Other Groups"),
    translatable("Close Others"),
    translatable("Close Tab"),
    translatable("Detach"),
    translatable("Detach Group"),
    translatable("List All Tabs"),
    translatable("Pin"),
    translatable("Pin Active Tab (Press Ctrl to Pin Group)"),
    translatable("Pin Group"),
    translatable("Pin Group To..."),
    translatable("Pin To..."),
    translatable("Show View"),
    translatable("Top"),
    translatable("Bottom"),
    translatable("Left"),
    translatable("Right"),
    translatable("Unpin (Dock)"),
)


def choose_language(application: QApplication, setting: str) -> None:
    """Shows everything from now on in the language of the setting, the texts of Qt's own dialogs included.

    Args:
        application: gets Qt's translations.
        setting: one of `core.settings.LANGUAGE_CHOICES`.
    """
    code = language_for(setting, QLocale.system().uiLanguages())
    use_language(code)
    for before in application.findChildren(QTranslator, options=Qt.FindChildOption.FindDirectChildrenOnly):
        application.removeTranslator(before)
        before.deleteLater()
    # Fields that Qt reads and writes have a decimal point as all others, see `vocabulary.language`.
    QLocale.setDefault(QLocale.c())
    if code == ENGLISH:
        return
    application.installTranslator(_DockingTexts(application))
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{code}", folder):
        application.installTranslator(translator)
    else:
        _log.warning("dialogs of Qt stay English: no qtbase_%s in %s", code, folder)


class _DockingTexts(QTranslator):
    """Translates what the docking system says by our catalogue."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """Qt asks for everything here; what is not the docking system's is left to the others."""
        is_docking = context.startswith("ads::") or context == "QObject"
        return tr(source) if is_docking and source in DOCKING_TEXTS else None

    def isEmpty(self) -> bool:
        """Not empty: Qt would not ask."""
        return False


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


_LOG_BYTES = 1_000_000
_LOG_FILES_KEPT = 3
# Said by platforms without a window manager about every resize, every dialog and every menu; nothing is wrong.
_HARMLESS = tuple(
    f"This plugin does not support {what}" for what in ("propagateSizeHints", "raise()", "grabbing the keyboard")
)


def main(file: str | None = None, *, prepared: Callable[[MainWindow], object] | None = None) -> int:
    """Opens the window and returns when it is closed.

    Args:
        file: scenario or database to open; the shipped demo and the user's own database if left out.
        prepared: told the window just before it is shown; what it returns lives as long as the window.

    Returns:
        Exit code of the program.
    """
    # What is made while the window starts stays, and looking through it again and again finds nothing to free.
    gc.disable()
    _start_log()
    # Read by Qt when the application is made, hence before there are preferences.
    scale = load_settings().scale_percent
    if scale != 100:
        os.environ.setdefault("QT_SCALE_FACTOR", str(scale / 100))
    application = make_application(sys.argv[:1])
    # Imported here: building the window's modules costs more than the application, which has an icon to show first.
    from subflow_app.shell.actions import ACTIONS
    from subflow_app.shell.main_window import MainWindow

    preferences = Preferences(parent=application)
    choose_language(application, preferences.settings.language)
    mode: ThemeMode = next((mode for mode in MODES if mode == preferences.settings.theme), "system")
    path = None if file is None else Path(file)
    is_scenario = path is not None and not is_database_file(path)
    reopens = path is None and preferences.settings.reopens_last and bool(preferences.settings.recent_files)
    example = None if is_scenario or reopens else DEMO_SCENARIO
    window = MainWindow(Theme(application, mode, application), preferences, ACTIONS, example=example)
    bugs = BugReports(window.dialogs, window)
    bugs.hear()
    if reopens and not window.documents.reopen_last():
        window.documents.open_example(DEMO_SCENARIO)
    if path is not None and is_scenario:
        window.documents.open(path)
    elif path is not None:
        window.database.start_on(path)
        window.docks.set_open("history", True)
    if isinstance(application, Application):
        application.file_wanted.connect(lambda path: window.drops.open([path]))
    watcher = prepared(window) if prepared is not None else None
    window.show()
    signals = _Signals(window)
    _AfterFirstPaint(window, welcomes=path is None)
    code = application.exec()
    signals.release()
    gc.unfreeze()
    del watcher
    bugs.release()
    return code


def make_application(arguments: list[str]) -> QApplication:
    """The application object, with its name, icon and log; the one that exists, if there is one.

    Where there is no display, the process ends.
    """
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    application = application_or_end(arguments, _log_qt_message)
    application.setApplicationName("subflow")
    application.setApplicationDisplayName("Subflow")
    application.setDesktopFileName("subflow")
    application.setWindowIcon(window_icon())
    return application


def window_icon() -> QIcon:
    """The program's icon, also in menus and task bars."""
    return QIcon(str(resource_path("icon.svg")))  # installers draw theirs from it too: packaging/icons.py


class _AfterFirstPaint(QObject):
    """Lets the window load the rest once it has been painted: the plots, and the database in the background."""

    def __init__(self, window: MainWindow, *, welcomes: bool) -> None:
        super().__init__(window)
        self._window = window
        self._welcomes = welcomes
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Waits for the first paint, then is not asked any more."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._load)
        return False

    def _load(self) -> None:
        if not self._window.isVisible():
            return  # closed right after its first paint: nobody would wait for the thread that opens the database
        for settled in (self._window.database.opened, self._window.database.failed):
            settled.connect(_spare_collector)
        self._window.load()
        if self._welcomes:
            self._window.window_dialogs.show_welcome_once()


def _spare_collector(_told: object = None) -> None:
    """Begins garbage collection, which waits for the end of the start, and leaves out what is loaded by then.

    Going through all of that takes a tenth of a second each time.
    What is made from now on is collected as ever; most of what there is lives as long as the window.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


class _Signals(QObject):
    """Ctrl-C in the terminal, its end and SIGTERM close the window as a person would: a run is stopped and kept.

    Python runs its signal handlers between bytecodes, and an idle event loop has none: a signal therefore also writes
    to a socket that the event loop watches.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_woken)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.getsignal(number) for number in stopping_signals()}
        for number in self._before:
            signal.signal(number, self._on_signal)

    def release(self) -> None:
        """Gives the signals back, before the sockets go."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN if number not in (signal.SIGINT, signal.SIGTERM) else signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _on_woken(self) -> None:
        self._reader.recv(64)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        # What it interrupts goes on afterwards, and shall not find its window closed.
        QTimer.singleShot(0, self._window, self._window.close_at_once)


def _start_log() -> None:
    """Everything from "info" on goes to the user's log file, warnings to stderr too."""
    root = logging.getLogger()
    if root.handlers:
        return
    root.setLevel(logging.INFO)
    root.addHandler(SESSION_LOG)
    to_screen = logging.StreamHandler()
    to_screen.setLevel(logging.WARNING)
    to_screen.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    root.addHandler(to_screen)
    path = log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        to_file = _LogFile(path, maxBytes=_LOG_BYTES, backupCount=_LOG_FILES_KEPT, encoding="utf-8", delay=True)
    except OSError as error:
        _log.warning("no log is written to %s: %s", path, error.strerror)
        return
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(to_file)


class _LogFile(logging.handlers.RotatingFileHandler):
    """The log file. Where it cannot be written, on a full disk say, that is said once; the window has its own log."""

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:
        """Says it; Python's own way is a traceback on stderr for each message."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_failed:
            self._has_failed = True
            _log.warning("the log %s cannot be written: %s", self.baseFilename, error.strerror)


def _log_qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    if text.startswith(_HARMLESS) or (text.startswith("Detected locale") and "has switched to" in text):
        return  # the second is that of systems without a locale of UTF-8, where Qt has found one of its own
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
    }
    logging.getLogger("qt").log(levels.get(kind, logging.ERROR), "%s", text)
