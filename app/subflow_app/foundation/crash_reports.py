"""Crash reports on bugs of Subflow and on crashes of its processes, as text files beside the log.

A report holds versions, system, traceback, and the last messages of the log. It names neither the person nor their
folders, and holds no scenario. Subflow itself never sends anything: people read a report, and send it by hand.

Unexpected exceptions are written as they happen. When the whole process dies of a fault, such as a damaged memory
access or an abort in a library, Python can do nothing more, except that `faulthandler` writes the stacks of its threads
to a file that is open already. Each process has such a file while it lives, locked, and removes it when it ends. A file
that is left behind with stacks becomes a crash report at the next start. One without stacks is removed: its process was
ended from outside, or lost its power.
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
# The same bug in a timer would otherwise write sixty reports a second, over those of other bugs.
_told: set[tuple[str, str]] = set()
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class CrashReport:
    """One report.

    Attributes:
        file: where it is.
        happened_at_s: when it happened, s since 1970.
        title: what went wrong, in a line.
    """

    file: Path
    happened_at_s: float
    title: str

    def text(self) -> str:
        """What it says.

        Raises:
            OSError: if it is gone or cannot be read.
        """
        return text_in(self.file)


class CrashReportHandler(logging.Handler):
    """Reports the bugs that a part of the program survives, and only logs: a run that fails, a thread that goes on."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)

    def emit(self, record: logging.LogRecord) -> None:
        """Report the exception of a message, if it is one that nobody expected."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Exception) and not is_expected(error):
            report_error(error, record.name)


def report_error(error: BaseException, where: str) -> CrashReport | None:
    """Write a report on an exception that nobody expected.

    Args:
        error: with its traceback.
        where: the part of the program, e.g. ``"the window"``.

    Returns:
        None if this process has reported the same already, or no file can be written, which the log then says.
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
    """A whole report, without what is private.

    Args:
        title: what went wrong, in a line.
        where: the part of the program.
        trace: the traceback.
        messages: of the log, oldest first.
        versions: as `versions_text` gave it to the process that crashed; those of this process if left out.
        happened_at_s: s since 1970; now if left out.
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
    """Write a report, arguments as of `report_text`; the oldest ones make room.

    Returns:
        None if no file can be written, which the log then says.
    """
    text = report_text(title, where, trace, messages, versions=versions, happened_at_s=happened_at_s)
    folder = crash_directory()
    moment = _moment(happened_at_s)
    stem = f"{_PREFIX}{moment.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    try:
        # Only its owner shall read it, like the log's folder as a whole.
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
    """All that are kept, the latest first."""
    found = []
    with suppress(OSError):
        for file in crash_directory().glob(f"{_PREFIX}*{_SUFFIX}"):
            with suppress(OSError):
                found.append(CrashReport(file, file.stat().st_mtime, _title_in(file)))
    return tuple(sorted(found, key=lambda report: (-report.happened_at_s, report.file.name)))


def remove_report(report: CrashReport) -> None:
    """Remove it; one that is gone already is not an error."""
    with suppress(OSError):
        report.file.unlink()


def title_of(error: BaseException) -> str:
    """What went wrong, in a line."""
    return " ".join("".join(traceback.format_exception_only(error)).split())


def recent_messages() -> list[str]:
    """The last messages of this process's log, a line or more each."""
    return [
        f"{datetime.fromtimestamp(message.time_s).strftime('%H:%M:%S')} {logging.getLevelName(message.level)} "
        f"{message.source}: {message.text}"
        for message in SESSION_LOG.since(SESSION_LOG.count - LOG_LINES)
    ]


def versions_text() -> str:
    """What this process runs on: Subflow, Python, Qt if it is loaded, and the system."""
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
    """The text with the home folder as ``~``, and the person's name in paths as ``USER``."""
    homes = {str(Path.home()), os.path.expanduser("~"), os.path.realpath(Path.home())}  # noqa: PTH111 # as it is written
    for home in sorted((home for home in homes if len(home) > 1), key=len, reverse=True):
        for written in (home, home.replace("\\", "\\\\"), home.replace("\\", "/")):
            text = re.sub(rf"{re.escape(written)}(?![\w.-])", "~", text)
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return text
    # A word of its own between separators only: "subflow" may be a name, too. "root" is nobody's.
    return text if name == "root" else re.sub(rf"(?<=[/\\]){re.escape(name)}(?![\w.-])", "USER", text)


def with_scenario(text: str, scenario: str) -> str:
    """A report with the scenario that the person adds to it."""
    return f"{text.rstrip()}\n\nScenario, added by hand:\n{without_private(scenario)}"


def _moment(time_s: float | None) -> datetime:
    return datetime.now() if time_s is None else datetime.fromtimestamp(time_s)


def _key(error: BaseException) -> tuple[str, str]:
    """Type and place of an exception: what makes two of them the same bug."""
    frames = traceback.extract_tb(error.__traceback__)
    return (type(error).__name__, f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(error))


def text_in(file: Path) -> str:
    """What a file says that this program or a crashed one has written.

    Raises:
        OSError: if it cannot be read, or is too large.
    """
    from subflow_sim.gate import read_file  # late: `subflow --help` needs nothing of the simulator

    return read_file(file, MOST_REPORT_BYTES).decode("utf-8", errors="replace")


def _title_in(file: Path) -> str:
    for line in text_in(file).splitlines():
        if line.startswith(_WHAT):
            return line.removeprefix(_WHAT).strip()
    return file.stem


_WATCH_PREFIX, _WATCH_SUFFIX = "running-", ".txt"
_HEADER_END = "----\n"
# What faulthandler begins with; on Windows "Windows fatal exception: access violation".
_FATAL = re.compile(r"^(?:Fatal Python error|Windows fatal exception): .*$", re.MULTILINE)
_LOG_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_LOG_TAIL_BYTES = 64_000
_YOUNG_S = 60.0

_file: IO[str] | None = None


def watch_process(where: str) -> None:
    """Begin for this process; does nothing where no file can be written, or somebody else wants to see the stacks.

    Args:
        where: what the process does, e.g. ``"subflow train"``.
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
    """End it: the process ends as it should, or has said itself why not."""
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
    """From `watch_process` to `end_watch`."""
    watch_process(where)
    try:
        yield
    finally:
        end_watch()


def _forget_ended(folder: Path) -> None:
    """Remove what processes have left that were ended from outside: there is nothing in it to report."""
    for file in folder.glob(f"{_WATCH_PREFIX}*{_WATCH_SUFFIX}"):
        with suppress(OSError):
            # One that has just begun may not have locked its file yet.
            is_ended = time.time() - file.stat().st_mtime > _YOUNG_S and not _is_in_use(file)
            if is_ended and _FATAL.search(text_in(file).partition(_HEADER_END)[2]) is None:
                file.unlink()


def forget_process(pid: int) -> None:
    """Remove what a process of ours has left that was ended on purpose."""
    for file in crash_directory().glob(f"{_WATCH_PREFIX}{pid}-*{_WATCH_SUFFIX}"):
        with suppress(OSError):
            file.unlink()


def collect_crashes() -> tuple[CrashReport, ...]:
    """Make reports of what processes that died have left behind; each is returned once, by whoever comes first."""
    made = []
    try:
        files = sorted(crash_directory().glob(f"{_WATCH_PREFIX}*{_WATCH_SUFFIX}"))
    except OSError:
        return ()
    for file in files:
        with suppress(OSError):
            if _is_in_use(file):
                continue
            # Of two windows that start together only one gets it.
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
    """The last lines of the log file that were written by then; another process may have gone on writing."""
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
    """Mark a file as that of a living process: the system takes the lock back however the process ends."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_in_use(file: Path) -> bool:
    """Whether its process lives; Windows refuses to rename a file that is open, which is answer enough there."""
    if sys.platform != "win32":
        import fcntl

        with file.open(encoding="utf-8") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False
