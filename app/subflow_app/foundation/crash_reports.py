"""Crash reports: text files about bugs in Subflow and crashes of its processes, in a folder next to the log.

A report contains the versions, the system, the traceback, and the last messages of the log. It contains no scenario, no
user name and no path of a home folder. Subflow never sends anything: the user reads a report and sends it.

Unexpected exceptions are reported when they occur. When the whole process dies of a fault, such as an invalid memory
access or an abort in a library, Python can only let `faulthandler` write the stacks of its threads to an open file.
Each process keeps this file locked while it runs and removes it at exit. At the next start of Subflow, a remaining file
with stacks becomes a crash report. A remaining file without stacks is removed, because its process was killed or the
machine lost power.
"""

from __future__ import annotations

import faulthandler
import getpass
import logging
import os
import platform
import re
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO
from uuid import uuid4

import subflow_app
from subflow_app.foundation.expected_errors import is_expected
from subflow_app.foundation.paths import crash_directory, is_frozen, log_path, numbered
from subflow_app.foundation.session_log import SESSION_LOG

_log = logging.getLogger(__name__)

REPORTS_KEPT = 20
MOST_REPORT_BYTES = 10_000_000
LOG_LINES = 50
_PREFIX, _SUFFIX = "crash-", ".txt"
_WHAT = "What:     "
_PROMISE = (
    "This file stays on this computer: Subflow sends nothing. To report the bug, read it, change it if needed,\n"
    "and send it by hand. It holds no scenario; your name and home folder are replaced."
)
# Without this set, a bug in a timer would write sixty reports per second and crowd out the reports of other bugs.
_told: set[tuple[str, str]] = set()
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class CrashReport:
    """A crash report on disk.

    Attributes:
        file: path of the report.
        happened_at_s: time of the crash, seconds since 1970.
        title: the error in one line.
    """

    file: Path
    happened_at_s: float
    title: str

    def text(self) -> str:
        """The content of the report.

        Raises:
            OSError: if the file is missing or cannot be read.
        """
        return text_in(self.file)


class CrashReportHandler(logging.Handler):
    """Writes crash reports for bugs that are only logged, such as an exception in a thread or in a failed run."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)

    def emit(self, record: logging.LogRecord) -> None:
        """Report the exception of a log record if it is unexpected."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Exception) and not is_expected(error):
            report_error(error, record.name)


def report_error(error: BaseException, where: str) -> CrashReport | None:
    """Write a report on an unexpected exception.

    Args:
        error: the exception with its traceback.
        where: the part of the program, e.g. ``"the window"``.

    Returns:
        The report; None if this process has already reported the same bug, or if no file can be written (logged).
    """
    key = _key(error)
    with _guard:
        if key in _told:
            return None
        _told.add(key)
    trace = "".join(traceback.format_exception(error))
    return write_report(title_of(error), where, trace, recent_messages())


def report_text(
    title: str,
    where: str,
    trace: str,
    messages: Iterable[str],
    *,
    versions: str | None = None,
    happened_at_s: float | None = None,
) -> str:
    """The text of a whole report, without private data.

    Args:
        title: the error in one line.
        where: the part of the program.
        trace: the traceback.
        messages: log messages, oldest first.
        versions: result of `versions_text` in the crashed process; default: the versions in this process.
        happened_at_s: seconds since 1970; default: now.
    """
    happened = _moment(happened_at_s).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
    parts = (
        "Crash report of Subflow",
        _PROMISE,
        f"{_WHAT}{title}\nWhere:    {where}\nWhen:     {happened}\n{versions or versions_text()}",
        trace.rstrip(),
        "Last messages of the log:\n" + ("\n".join(messages) or "(none)"),
    )
    return without_private("\n\n".join(parts)) + "\n"


def write_report(
    title: str,
    where: str,
    trace: str,
    messages: Iterable[str],
    *,
    versions: str | None = None,
    happened_at_s: float | None = None,
) -> CrashReport | None:
    """Write a report, with the same arguments as `report_text`, and keep only the latest `REPORTS_KEPT` reports.

    Returns:
        The report; None if no file can be written (logged).
    """
    text = report_text(title, where, trace, messages, versions=versions, happened_at_s=happened_at_s)
    folder = crash_directory()
    moment = _moment(happened_at_s)
    stem = f"{_PREFIX}{moment.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    try:
        # Only the owner may read the folder and the reports in it.
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in numbered(stem, 999):
            file = folder / f"{name}{_SUFFIX}"
            try:
                handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as out:
                out.write(text)
            os.utime(file, (moment.timestamp(), moment.timestamp()))
            break
        else:
            return None
    except OSError as error:
        _log.warning("no crash report can be written to %s: %s", folder, error.strerror or error)
        return None
    reports = crash_reports()
    for old in reports[REPORTS_KEPT:]:
        remove_report(old)
    return next((report for report in reports if report.file == file), None)


def crash_reports() -> tuple[CrashReport, ...]:
    """All reports on disk, latest first."""
    found = []
    with suppress(OSError):
        for file in crash_directory().glob(f"{_PREFIX}*{_SUFFIX}"):
            with suppress(OSError):
                found.append(CrashReport(file, file.stat().st_mtime, _title_in(file)))
    return tuple(sorted(found, key=lambda report: (-report.happened_at_s, report.file.name)))


def remove_report(report: CrashReport) -> None:
    """Remove a report; a missing file is not an error."""
    with suppress(OSError):
        report.file.unlink()


def title_of(error: BaseException) -> str:
    """The exception in one line."""
    return " ".join("".join(traceback.format_exception_only(error)).split())


def recent_messages() -> list[str]:
    """The last `LOG_LINES` messages in the log of this process, oldest first; a message may have several lines."""
    return [
        f"{datetime.fromtimestamp(message.time_s).strftime('%H:%M:%S')} {logging.getLevelName(message.level)} "
        f"{message.source}: {message.text}"
        for message in SESSION_LOG.since(SESSION_LOG.count - LOG_LINES)
    ]


def versions_text() -> str:
    """Versions of Subflow, Python, Qt (if loaded) and the system, and the desktop's environment variables."""
    kind = "installed program" if is_frozen() else "Python package"
    lines = [
        f"Subflow:  {subflow_app.__version__} ({kind})",
        f"Python:   {platform.python_version()}",
        f"System:   {platform.platform()}, {os.cpu_count()} processors",
    ]
    qt = sys.modules.get("PySide6.QtCore")
    if qt is not None:
        lines.insert(2, f"Qt:       {qt.qVersion()}, PySide {sys.modules['PySide6'].__version__}")
    names = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "QT_QPA_PLATFORM", "LANG", "LC_ALL")
    desktop = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    return "\n".join([*lines, f"Desktop:  {', '.join(desktop) or '(unknown)'}"])


def without_private(text: str) -> str:
    """The text with the home folder replaced by ``~``, and the user name in paths by ``USER``."""
    homes = {str(Path.home()), os.path.expanduser("~"), os.path.realpath(Path.home())}  # noqa: PTH111 # not normalised
    for home in sorted((home for home in homes if len(home) > 1), key=len, reverse=True):
        for written in (home, home.replace("\\", "\\\\"), home.replace("\\", "/")):
            text = re.sub(rf"{re.escape(written)}(?![\w.-])", "~", text)
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return text
    # Replace only whole components of paths, because a user may be called "subflow" and the text is full of that word.
    # The name "root" identifies no person.
    return text if name == "root" else re.sub(rf"(?<=[/\\]){re.escape(name)}(?![\w.-])", "USER", text)


def with_scenario(text: str, scenario: str) -> str:
    """The text of a report, followed by a scenario that the user chose to add, with its private data replaced."""
    return f"{text.rstrip()}\n\nScenario, added by hand:\n{without_private(scenario)}"


def _moment(time_s: float | None) -> datetime:
    return datetime.now() if time_s is None else datetime.fromtimestamp(time_s)


def _key(error: BaseException) -> tuple[str, str]:
    """Type and place of an exception, which identify the bug."""
    frames = traceback.extract_tb(error.__traceback__)
    return (type(error).__name__, f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(error))


def text_in(file: Path) -> str:
    """The text of a file that this program or a crashed process has written.

    Raises:
        OSError: if the file cannot be read, or is too large.
    """
    from subflow_sim.gate import read_file  # late: `subflow --help` does not need it

    return read_file(file, MOST_REPORT_BYTES).decode("utf-8", errors="replace")


def _title_in(file: Path) -> str:
    for line in text_in(file).splitlines():
        if line.startswith(_WHAT):
            return line.removeprefix(_WHAT).strip()
    return file.stem


_WATCH_PREFIX, _WATCH_SUFFIX = "running-", ".txt"
_HEADER_END = "----\n"
# First line of faulthandler's output; on Windows "Windows fatal exception: access violation".
_FATAL = re.compile(r"^(?:Fatal Python error|Windows fatal exception): .*$", re.MULTILINE)
_LOG_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_LOG_TAIL_BYTES = 64_000
_YOUNG_S = 60.0

_file: IO[str] | None = None


def watch_process(where: str) -> None:
    """Let `faulthandler` write the stacks of this process to a file if it crashes.

    Also removes the files that killed processes left behind. Does nothing if no file can be written (logged), or if
    `faulthandler` is already enabled.

    Args:
        where: activity of the process, e.g. ``"subflow train"``.
    """
    global _file
    if _file is not None or faulthandler.is_enabled():
        return
    folder = crash_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (folder / f"{_WATCH_PREFIX}{os.getpid()}-{uuid4().hex[:12]}{_WATCH_SUFFIX}").open("x", encoding="utf-8")
        Path(file.name).chmod(0o600)
        _lock(file)
        file.write(f"{where}\n{versions_text()}\n{_HEADER_END}")
        file.flush()
    except OSError as error:
        _log.info("crashes of this process leave no report in %s: %s", folder, error.strerror or error)
        return
    _file = file
    faulthandler.enable(file)
    _forget_ended(folder)


def end_watch() -> None:
    """Disable `faulthandler` and remove the crash file; for a process that ends normally or has reported its error."""
    global _file
    if _file is None:
        return
    faulthandler.disable()
    file, _file = _file, None
    file.close()
    with suppress(OSError):
        Path(file.name).unlink()


@contextmanager
def watched(where: str) -> Iterator[None]:
    """Context that calls `watch_process` on entry and `end_watch` on exit."""
    watch_process(where)
    try:
        yield
    finally:
        end_watch()


def _forget_ended(folder: Path) -> None:
    """Remove the files of killed processes, which contain no stacks."""
    for file in folder.glob(f"{_WATCH_PREFIX}*{_WATCH_SUFFIX}"):
        with suppress(OSError):
            # A process that has just begun may not have locked its file yet.
            is_ended = time.time() - file.stat().st_mtime > _YOUNG_S and not _is_in_use(file)
            if is_ended and _FATAL.search(text_in(file).partition(_HEADER_END)[2]) is None:
                file.unlink()


def forget_process(pid: int) -> None:
    """Remove the crash file of a Subflow process that was ended on purpose."""
    for file in crash_directory().glob(f"{_WATCH_PREFIX}{pid}-*{_WATCH_SUFFIX}"):
        with suppress(OSError):
            file.unlink()


def collect_crashes() -> tuple[CrashReport, ...]:
    """Turn the crash files of dead processes into reports, and return the new reports.

    If several processes call this at the same time, only one of them receives each report.
    """
    made = []
    try:
        files = sorted(crash_directory().glob(f"{_WATCH_PREFIX}*{_WATCH_SUFFIX}"))
    except OSError:
        return ()
    for file in files:
        with suppress(OSError):
            if _is_in_use(file):
                continue
            # If two windows start together, only one can rename the file.
            taken = file.rename(file.with_suffix(f".{uuid4().hex[:8]}"))
            report = _report_on(taken)
            taken.unlink()
            if report is not None:
                made.append(report)
    return tuple(made)


def _report_on(file: Path) -> CrashReport | None:
    died = file.stat().st_mtime
    header, _, stacks = text_in(file).partition(_HEADER_END)
    fatal = _FATAL.search(stacks)
    if fatal is None:
        return None
    where, _, versions = header.strip().partition("\n")
    messages = _messages_until(died)
    return write_report(fatal.group(), where, stacks, messages, versions=versions, happened_at_s=died)


def _messages_until(time_s: float) -> list[str]:
    """The last lines written to the log file up to a time; later lines come from other processes."""
    try:
        with log_path().open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    limit = datetime.fromtimestamp(time_s + 1).strftime("%Y-%m-%d %H:%M:%S")
    later = next((at for at, line in enumerate(lines) if _LOG_TIME.match(line) and line[:19] > limit), len(lines))
    return lines[max(0, later - LOG_LINES) : later]


def _lock(file: IO[str]) -> None:
    """Lock a file to mark its process as alive. The system releases the lock however the process ends.

    Does nothing on Windows.
    """
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_in_use(file: Path) -> bool:
    """True if the process that locked a file is alive.

    Always False on Windows, which refuses to rename an open file anyway.
    """
    if sys.platform != "win32":
        import fcntl

        with file.open(encoding="utf-8") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False
