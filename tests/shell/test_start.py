"""The arguments before any command: help, version, and arguments that open the window."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.raising import raising

from subflow_app import __main__, __version__
from subflow_app.foundation.crash_reports import crash_reports
from subflow_app.terminal import failures


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The scenarios of windows to open; no window opens."""
    opened: list[str | None] = []

    def window_main(scenario: str | None) -> int:
        opened.append(scenario)
        return 0

    replace_window(monkeypatch, window_main)
    return opened


def replace_window(monkeypatch: pytest.MonkeyPatch, window_main: Callable[[str | None], int]) -> None:
    module = ModuleType("subflow_app.shell.app")
    module.main = window_main  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "subflow_app.shell.app", module)


def test_the_window_opens_on_a_file_or_alone(subflow: Subflow, windows: list[str | None], tmp_path: Path) -> None:
    there = [tmp_path / name for name in ("run", "Übung 2.subflow", "runs.db")]
    for path in there:
        path.write_bytes(b"")
    # The window itself reports a missing scenario, and the user can open another.
    missing = [tmp_path / name for name in ("two.toml", "not there.toml", "Übung 2.subflow.toml")]
    for file in (None, *there, *missing):
        words = [] if file is None else [str(file)]
        assert subflow(*words).code == 0
        assert windows.pop() == (words[0] if words else None)


def test_a_database_that_is_not_there_is_not_made(subflow: Subflow, windows: list[str | None], tmp_path: Path) -> None:
    answer = subflow(tmp_path / "typo.subflow")

    assert answer.code == failures.BAD_INPUT
    assert "typo.subflow: no such database file" in answer.err
    assert windows == []


def test_exit_code_of_the_window_is_that_of_the_command(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_window(monkeypatch, lambda scenario: 3)

    assert subflow().code == 3


def test_version_is_that_of_the_package(subflow: Subflow) -> None:
    assert subflow("--version").out == f"subflow {__version__}\n"


@pytest.mark.parametrize(
    ("words", "expected", "n_windows"),
    [
        ([], failures.OK, 1),
        (["no-such-file.toml"], failures.OK, 1),
        (["no-such-file.db"], failures.BAD_INPUT, 0),
        (["--version"], 7, 0),
        (["run", "no-such-file.toml"], 7, 0),
    ],
)
def test_the_window_opens_without_reading_the_commands(
    monkeypatch: pytest.MonkeyPatch, windows: list[str | None], words: list[str], expected: int, n_windows: int
) -> None:
    commands = ModuleType("subflow_app.shell.commands")
    commands.main = lambda: 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, commands.__name__, commands)
    monkeypatch.setattr(sys, "argv", ["subflow", *words])

    assert __main__.carry_out() == expected
    assert len(windows) == n_windows


def test_a_bug_leaves_with_a_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        "subflow_app.foundation.resources.scenario_names", raising(ZeroDivisionError("ours, of a command"))
    )
    monkeypatch.setattr(sys, "argv", ["subflow", "scenarios", "--json"])

    with pytest.raises(ZeroDivisionError):
        __main__.carry_out()

    (report,) = crash_reports()
    assert "Where:    subflow scenarios\n" in report.text()
    assert f"the report is kept in {report.file}, and nothing is sent" in capsys.readouterr().err
