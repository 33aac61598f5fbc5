"""The traces of a process that dies of a fault become one report; any other end leaves no files."""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers.present import present

from subflow_app.foundation.crash_reports import collect_crashes, crash_reports, end_watch, watch_process
from subflow_app.foundation.paths import crash_directory, log_path

# Prints a line once it is watched, then runs the given program text.
WATCHED = """
import os, signal, sys
from subflow_app.foundation.crash_reports import watch_process
watch_process("subflow train")
print("watched", flush=True)
sys.stdin.readline()
{end}
"""


@pytest.fixture
def start() -> Callable[[str], subprocess.Popen[str]]:
    def start_process(end: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", WATCHED.format(end=end)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert present(process.stdout).readline() == "watched\n"
        return process

    return start_process


def files() -> list[Path]:
    return sorted(crash_directory().iterdir())


def test_a_crash_is_reported_by_the_next_start_once(start: Callable[[str], subprocess.Popen[str]]) -> None:
    log_path().parent.mkdir(parents=True, exist_ok=True)
    log_path().write_text("2001-01-01 12:00:00,000 INFO x: long before\n2999-01-01 12:00:00,000 INFO x: later\n")
    process = start("os.abort()")
    assert collect_crashes() == ()  # the process is alive
    assert len(files()) == 1

    process.communicate("\n", timeout=60)
    (report,) = collect_crashes()

    assert report.title == "Fatal Python error: Aborted"
    assert "Where:    subflow train" in report.text()
    assert 'File "<string>", line 7 in <module>' in report.text()
    assert "long before" in report.text()
    assert "later" not in report.text()
    assert collect_crashes() == ()
    assert files() == [report.file]
    assert crash_reports() == (report,)


def test_an_end_from_outside_is_no_crash(start: Callable[[str], subprocess.Popen[str]]) -> None:
    process = start("os.kill(os.getpid(), signal.SIGKILL)")
    process.communicate("\n", timeout=60)
    assert len(files()) == 1

    assert collect_crashes() == ()
    assert files() == []


def test_what_ended_processes_left_goes_with_the_next_command(start: Callable[[str], subprocess.Popen[str]]) -> None:
    for end in ("os.kill(os.getpid(), signal.SIGKILL)", "os.abort()"):
        start(end).communicate("\n", timeout=60)
    process = start("sys.stdin.read()")
    killed, crashed, living = sorted(files(), key=lambda file: file.stat().st_mtime)
    for file in (killed, crashed, living):
        os.utime(file, (0, 0))

    start("os._exit(0)").communicate("\n", timeout=60)

    assert killed not in files()
    assert {crashed, living} <= set(files())
    process.communicate("\n", timeout=60)


def test_a_process_that_ends_as_it_should_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulthandler, "is_enabled", lambda: False)
    monkeypatch.setattr(faulthandler, "enable", lambda _file: None)
    monkeypatch.setattr(faulthandler, "disable", lambda: None)
    watch_process("subflow run")
    watch_process("subflow run")
    assert len(files()) == 1
    assert collect_crashes() == ()

    end_watch()
    end_watch()

    assert files() == []


def test_where_nothing_can_be_written_nothing_is_watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(faulthandler, "is_enabled", lambda: False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    watch_process("subflow run")
    end_watch()

    assert collect_crashes() == ()
