"""The frozen program passes its self-test, and all its parts work as in the source tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from tests.helpers.members import for_each
from tests.packaging import conftest
from tests.packaging.test_lock import entries

import freezing
from subflow_app.shell.selftest.checks.parts import KERNEL
from subflow_app.shell.selftest.worker import CHECKS


@for_each(
    ("reason", "is_packaged", "outcome"),
    [
        ("needs makensis of the package nsis", True, "failed"),
        ("a bare system can be made by root alone", True, "failed"),
        ("needs makensis of the package nsis", False, "skipped"),
        ("starts the program a dozen times: --full", True, "skipped"),
    ],
)
def test_a_trial_of_packages_fails_where_something_is_missing(reason: str, is_packaged: bool, outcome: str) -> None:
    item: Any = SimpleNamespace(config=SimpleNamespace(getoption={"--packaged": is_packaged}.get))
    report: Any = SimpleNamespace(skipped=True, outcome="skipped", longrepr=("test.py", 1, f"Skipped: {reason}"))
    hook = conftest.pytest_runtest_makereport(item)
    next(hook)
    with pytest.raises(StopIteration):
        hook.send(report)
    assert report.outcome == outcome


@pytest.fixture(scope="module")
def told(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Any]:
    """Output and report of the self-test, run without the environment variables of `dev.py` and pytest."""
    folder = tmp_path_factory.mktemp("selftest")
    program = bundle / ("subflow-cli.exe" if sys.platform == "win32" else "subflow")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    words = [str(program), "--selftest", "--out", str(folder / "report.json")]
    options: dict[str, Any] = {"env": environment, "cwd": folder, "timeout": 600, "text": True}
    done = subprocess.run(words, capture_output=True, check=False, **options)
    return done, json.loads((folder / "report.json").read_text(encoding="utf-8"))


@pytest.mark.timeout(700)
def test_the_frozen_program_passes_its_self_test(told: tuple[subprocess.CompletedProcess[str], Any]) -> None:
    done, report = told

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert report["frozen"] is True
    assert report["passed"] is True
    # No check is missing, and each has a line in the output.
    assert [check["name"] for check in report["checks"]] == [check.name for check in CHECKS]
    # The answer of the kernel check depends on the machine and on the user.
    skipped = {check["name"] for check in report["checks"] if check["state"] == "skipped"}
    assert skipped <= {KERNEL.name}
    lines = done.stdout.splitlines()
    assert len(lines) == len(CHECKS) + 1
    assert all(line[8:].startswith(check.name) for line, check in zip(lines, CHECKS, strict=False))


def test_every_package_in_the_bundle_is_the_locked_one(bundle: Path) -> None:
    parts = json.loads((bundle / "_internal" / "licenses" / "index.json").read_text(encoding="utf-8"))
    shipped = {canonicalize_name(part["name"]): part["version"] for part in parts if part["kind"] == "python"}
    pins = {canonicalize_name(pin.name): {each.version for each in pin.specifier} for pin, _ in entries()}
    assert {name: version for name, version in shipped.items() if version not in pins.get(name, ())} == {}
    assert "numpy" in shipped


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has programs beside the core")
def test_programs_and_libraries_beside_the_core_are_in_the_bundle(bundle: Path) -> None:
    inside = bundle / "_internal"
    wanted = {Path(folder) / Path(path).name for path, folder in freezing.own_binaries()}
    missing = [str(file) for file in sorted(wanted) if not (inside / file).is_file()]
    assert missing == []
    # Started without words, the helper explains itself: it is whole, and needs no library of the system.
    helper = inside / "subflow_sim" / "subflow-kernel-helper"
    done = subprocess.run([helper], env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.split()[:2]) == (2, ["usage:", helper.name])
