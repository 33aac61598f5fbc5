"""Notices when the process as a whole dies of a fault: a damaged memory access, an abort in a library.

Python can do nothing then, except that `faulthandler` writes the stacks of its threads to a file that is open already.
Each process has such a file while it lives, locked, and removes it when it ends. One that is left behind with stacks in
it becomes a crash report at the next start; one without was ended from outside, or lost its power, and just goes.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO
from uuid import uuid4

from subflow_app.foundation.crash_reports import LOG_LINES, CrashReport, text_in, versions_text, write_report
from subflow_app.foundation.paths import crash_directory, log_path

_log = logging.getLogger(__name__)

_PREFIX, _SUFFIX = "running-", ".txt"
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
        file = (folder / f"{_PREFIX}{os.getpid()}-{uuid4().hex[:12]}{_SUFFIX}").open("x", encoding="utf-8")
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
    for file in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            # One that has just begun may not have locked its file yet.
            is_ended = time.time() - file.stat().st_mtime > _YOUNG_S and not _is_in_use(file)
            if is_ended and _FATAL.search(text_in(file).partition(_HEADER_END)[2]) is None:
                file.unlink()


def forget_process(pid: int) -> None:
    """Remove what a process of ours has left that was ended on purpose."""
    for file in crash_directory().glob(f"{_PREFIX}{pid}-*{_SUFFIX}"):
        with suppress(OSError):
            file.unlink()


def collect_crashes() -> tuple[CrashReport, ...]:
    """Make reports of what processes that died have left behind; each is returned once, by whoever comes first."""
    made = []
    try:
        files = sorted(crash_directory().glob(f"{_PREFIX}*{_SUFFIX}"))
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
