"""Start of the window: application object, log, theme, language, and reports of bugs.

Qt aborts the process if it finds no display, so the program ends first, with a clear message. The language is chosen
before any widget of the window is created.
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
    QProcess,
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
from subflow_app.foundation.paths import log_path, own_command
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

# Texts of the docking system on the tabs of panels; the library has no translations of its own.
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
    """From now on, show all texts, including those of Qt's own dialogs, in the language of the setting.

    Args:
        application: receives Qt's translations.
        setting: one of `LANGUAGE_CHOICES`.
    """
    code = language_for(setting, QLocale.system().uiLanguages())
    use_language(code)
    for before in application.findChildren(QTranslator, options=Qt.FindChildOption.FindDirectChildrenOnly):
        application.removeTranslator(before)
        before.deleteLater()
    # Qt's input fields use a decimal point like all other numbers, see `vocabulary.language`.
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
    """Translates the texts of the docking system with our catalogue."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """Translate texts of the docking system; returns None for all others, which leaves them to Qt."""
        is_docking = context.startswith("ads::") or context == "QObject"
        return tr(source) if is_docking and source in DOCKING_TEXTS else None

    def isEmpty(self) -> bool:
        """False, because Qt skips an empty translator."""
        return False


_EXIT_CODE = 1  # equal to `terminal.failures.FAILED`

MessageHandler = Callable[[QtMsgType, QMessageLogContext, str], None]


class Application(QApplication):
    """The application object, which also receives requests from the system to open a file."""

    file_wanted = Signal(object)  # Path; on macOS, the running program is notified of double-clicked files in this way

    def event(self, event: QEvent) -> bool:
        """Emit `file_wanted` if the system asks to open a file."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_wanted.emit(Path(event.file()))
            return True
        return super().event(event)


def application_or_end(arguments: list[str], handler: MessageHandler) -> Application:
    """Create the application object; without a display, the process ends with a one-line message.

    Args:
        arguments: arguments of the program.
        handler: receives all messages of Qt, including the earlier ones from the search for a display.
    """
    heard: list[tuple[QtMsgType, str]] = []

    def hear(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        # Qt calls abort() after a fatal message, and an exception cannot pass through Qt's stack frames.
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
    # A program without a console has no stderr, so the message is only in the log.
    if sys.stderr is not None:
        sys.stderr.write(f"subflow: {text}\n")
        sys.stderr.flush()
    logging.shutdown()
    end_watch()
    os._exit(_EXIT_CODE)


_LOG_BYTES = 1_000_000
_LOG_FILES_KEPT = 3
# Qt prints these messages for each resize, dialog and menu on platforms without a window manager.
_HARMLESS = tuple(
    f"This plugin does not support {what}" for what in ("propagateSizeHints", "raise()", "grabbing the keyboard")
)


def main(file: str | None = None, *, prepared: Callable[[MainWindow], object] | None = None) -> int:
    """Open the window and return when it is closed.

    Args:
        file: scenario or database to open; None: the latest file if enabled in the settings, else the shipped demo.
        prepared: called with the window just before it is shown; its result lives as long as the window.

    Returns:
        Exit code of the program.
    """
    # Objects created at startup live as long as the window, so garbage collection would free nothing.
    gc.disable()
    _start_log()
    # Qt reads this variable when the application object is created, i.e. before the preferences exist.
    scale = load_settings().scale_percent
    is_scaled_here = scale != 100 and "QT_SCALE_FACTOR" not in os.environ
    if is_scaled_here:
        os.environ["QT_SCALE_FACTOR"] = str(scale / 100)
    application = make_application(sys.argv[:1])
    # Imported after the application object is created, because its icon should appear before these slow imports.
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
    if window.restarts:
        if is_scaled_here:
            del os.environ["QT_SCALE_FACTOR"]  # the new process reads its own setting
        opened = window.documents.doc.path
        program, *words = own_command(*([] if opened is None else [str(opened)]))
        QProcess.startDetached(program, words)
    gc.unfreeze()
    del watcher
    bugs.release()
    return code


def make_application(arguments: list[str]) -> QApplication:
    """The application object with its name, icon and log handler; an existing object is returned unchanged.

    Without a display, the process ends.
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
    """The program's icon, also for menus and task bars."""
    return QIcon(str(resource_path("icon.svg")))  # packaging/icons.py makes the icons of installers from it, too


class _AfterFirstPaint(QObject):
    """Loads the plots, and the database in the background, after the first paint."""

    def __init__(self, window: MainWindow, *, welcomes: bool) -> None:
        super().__init__(window)
        self._window = window
        self._welcomes = welcomes
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """After the first paint, schedule the loading and remove this filter."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._load)
        return False

    def _load(self) -> None:
        if not self._window.isVisible():
            return  # closed after its first paint, so start no thread for the database
        for settled in (self._window.database.opened, self._window.database.failed):
            settled.connect(_spare_collector)
        self._window.load()
        if self._welcomes:
            self._window.window_dialogs.show_welcome_once()


def _spare_collector(_told: object = None) -> None:
    """Start garbage collection after startup, and exempt all objects loaded by then.

    Scanning the exempted objects would take a tenth of a second each time. Objects created later are collected
    normally; most of the earlier ones live as long as the window.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


class _Signals(QObject):
    """Closes the window without questions on Ctrl-C, SIGHUP or SIGTERM; a run is stopped and kept.

    Python runs signal handlers between bytecodes, and an idle event loop executes none. Therefore a signal also writes
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
        """Reset the signal handlers, except that SIGHUP is ignored from now on, and close the sockets."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN if number not in (signal.SIGINT, signal.SIGTERM) else signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _on_woken(self) -> None:
        self._reader.recv(64)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        # Do not close immediately, because the interrupted code continues and needs its window.
        QTimer.singleShot(0, self._window, self._window.close_at_once)


def _start_log() -> None:
    """Log messages of level INFO and above to the user's log file, and warnings also to stderr."""
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
    """The log file; a write error, as on a full disk, is reported once. The window keeps its log in memory."""

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:
        """Report a write error once; by default, Python prints a traceback on stderr for each message."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_failed:
            self._has_failed = True
            _log.warning("the log %s cannot be written: %s", self.baseFilename, error.strerror)


def _log_qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    if text.startswith(_HARMLESS) or (text.startswith("Detected locale") and "has switched to" in text):
        return  # the second message appears on systems without a UTF-8 locale, where Qt selects a different one
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
    }
    logging.getLogger("qt").log(levels.get(kind, logging.ERROR), "%s", text)
