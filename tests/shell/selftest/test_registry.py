"""The list of checks, and the command that runs them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from tests.helpers.command_line import call_subflow

from subflow_app.shell.selftest import checks, runner, worker
from subflow_app.shell.selftest.check import Check, CheckError, NotHereError, Place, is_to_be_here
from subflow_app.shell.selftest.checks import runs
from subflow_app.shell.selftest.checks.parts import modules_of
from subflow_app.shell.selftest.outcome import Outcome, State

QUICK = ("store", "policies", "scripts")


def test_every_check_of_the_folder_is_in_the_list() -> None:
    folder = Path(checks.__path__[0])
    modules = [importlib.import_module(f"{checks.__name__}.{path.stem}") for path in folder.glob("[!_]*.py")]
    made = [each for module in modules for each in vars(module).values() if isinstance(each, Check)]

    names = [check.name for check in worker.CHECKS]
    assert sorted(check.name for check in made) == sorted(set(names)) == sorted(names)


def test_a_library_in_c_beside_the_modules_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tried_package"
    folder.mkdir()
    for name in ("__init__.py", "__main__.py", "part.py", "libtried-sockets.so"):
        (folder / name).touch()
    monkeypatch.syspath_prepend(tmp_path)

    assert modules_of("tried_package") == ["tried_package.part"]


def test_checks_pass_in_the_source_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The other checks take longer, and other tests cover each of them.
    monkeypatch.setattr(worker, "CHECKS", tuple(check for check in worker.CHECKS if check.name in QUICK))
    out = tmp_path / "report.json"

    answer = call_subflow("--selftest", "--out", out)

    assert answer.code == 0, answer.out + answer.err
    assert [line.split()[0] for line in answer.out.splitlines()] == ["ok", "ok", "ok", "3"]
    assert "3 checks, all is well" in answer.out
    report = json.loads(out.read_text())
    assert report["passed"] is True
    assert [check["name"] for check in report["checks"]] == list(QUICK)


def test_a_check_that_fails_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run_checks(_checks: object, tell: object) -> list[Outcome]:
        return [
            Outcome("core", State.FAILED, "another signature", 1.0, details="a traceback"),
            Outcome("display", State.SKIPPED, "not here", 1.0),
        ]

    monkeypatch.setattr(runner, "run_checks", run_checks)
    out = tmp_path / "report.json"

    answer = call_subflow("--selftest", "--out", out)

    assert answer.code == 1
    assert "2 checks, 1 left out, FAILED: core" in answer.out
    assert "a traceback" in answer.err
    assert json.loads(out.read_text())["passed"] is False


def test_optional_parts_are_left_out_where_they_are_not_installed_but_never_in_the_packaged_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(NotHereError, match=r'^torch is not installed: pip install "subflow-workbench\[train\]"$'):
        runs._check_training(Place(tmp_path))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert is_to_be_here("torch")


def test_a_report_that_cannot_be_written_is_told_before_anything_is_tried(tmp_path: Path) -> None:
    call_subflow("--selftest", "--out", tmp_path).check_refusal(f"--out {tmp_path} cannot be written")


@pytest.mark.parametrize(
    ("words", "why"), [(("--out", "report.json"), "works only with --selftest"), (("--selftest", "scenarios"), "alone")]
)
def test_options_that_do_not_go_together_are_refused(words: tuple[str, ...], why: str) -> None:
    call_subflow(*words).check_refusal(why)


def test_a_process_of_the_program_that_fails_or_talks_fails_the_check(tmp_path: Path) -> None:
    place = Place(tmp_path)

    with pytest.raises(CheckError, match=r"`subflow show 1` ended with 2, not 0: subflow: .* unknown run 1"):
        place.subflow("show", 1)
    with pytest.raises(CheckError, match=r"`subflow show 1` printed on stderr: "):
        place.subflow("show", 1, code=2)
