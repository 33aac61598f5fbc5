"""Surroundings in which a command cannot do its work: it ends with a sentence that names the reason."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.machine_limits import fill, make_read_only, small_disk

from subflow_app.foundation.expected_errors import is_expected, message_of
from subflow_app.foundation.interruption import stopping_signals

SHORT_OF_MEMORY = "not enough memory: close other programs, or ask for less"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("run", "SCENARIO", "--db", "relative.db"), 1, "the folder in which this program works was removed"),
        (("run", "SCENARIO", "--export", "here"), 1, "here cannot be written: No such file or directory"),
        (("sweeps", "--db", "relative.db"), 1, "the folder in which this program works was removed"),
        (("labs", "begin", "1"), 1, "the folder in which this program works was removed"),
        (("import", "graph.graphml"), 2, "graph.graphml"),
    ],
)
def test_a_working_folder_that_was_removed_is_named(
    subflow: Subflow,
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    code: int,
    told: str,
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    answer = subflow(*(str(scenario) if word == "SCENARIO" else word for word in words))

    monkeypatch.chdir(tmp_path)
    assert (answer.code, told in answer.err) == (code, True), answer.err


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(make_read_only, "Read-only file system"), (fill, "No space left on device")],
    ids=["read-only", "full"],
)
def test_a_folder_that_takes_no_file_is_told_by_the_name_of_the_file(
    subflow: Subflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None], reason: str
) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        spoil(disk)
        monkeypatch.chdir(disk)
        answer = subflow("labs", "begin", "1")
        monkeypatch.chdir(tmp_path)

    assert (answer.code, answer.out) == (1, "")
    assert reason in answer.err
    assert ".part" not in answer.err


def test_each_way_in_which_memory_is_short_is_told_in_the_same_words() -> None:
    for error in (
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libscipy_openblas64_.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ):
        assert is_expected(error)
        assert message_of(error) == SHORT_OF_MEMORY
    assert not is_expected(ImportError("no module named subflow"))


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v limits memory on Linux alone")
@pytest.mark.parametrize("limit_kb", [70_000, 150_000])
def test_little_memory_ends_in_a_sentence(tmp_path: Path, limit_kb: int) -> None:
    line = f"ulimit -v {limit_kb} && exec {sys.executable} -m subflow_app run demo --db runs.db"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    # the second message comes from OpenBLAS
    assert SHORT_OF_MEMORY in done.stderr or "Memory allocation still failed" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGHUP")
def test_the_end_of_a_terminal_stops_work_unless_nohup_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stopping_signals() == (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert stopping_signals() == (signal.SIGINT, signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before)
