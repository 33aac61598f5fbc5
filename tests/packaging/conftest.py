"""Scripts of packaging/ as modules, and the output of `dev.py package`.

The folder packaging/ is not a Python package: PyPI has a package of that name.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "package"

sys.path.insert(0, str(ROOT / "packaging"))

# Reasons that dev.py cannot remove: a choice of the user, the system, and a program without a package.
_MAY_BE_SKIPPED = re.compile(r"--full$|needs actionlint|the stated C library|^asks dpkg|only Linux")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With --packaged, a test fails that lacks a program, a package or a right: `dev.py test-package` provides them."""
    report = yield
    if item.config.getoption("--packaged") and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not _MAY_BE_SKIPPED.search(reason):
            report.outcome, report.longrepr = "failed", f"nothing was tried: {reason}"
    return report


@pytest.fixture(scope="session")
def bundle(pytestconfig: pytest.Config) -> Path:
    """The folder of the frozen program; skips without --packaged, and fails with it if the folder is missing."""
    if not pytestconfig.getoption("--packaged"):
        pytest.skip("needs the frozen program: python3 dev.py test-package")
    folder = OUTPUT / "dist" / "subflow"
    if not folder.is_dir():
        pytest.fail(f"{folder} is not there: python3 dev.py package", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def small_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stand-in for the frozen program with the files that installers need; it prints its arguments and ends."""
    folder = tmp_path_factory.mktemp("bundle") / "subflow"
    inside = folder / "_internal"
    (inside / "licenses").mkdir(parents=True)
    (inside / "licenses" / "index.json").write_text("[]\n", encoding="utf-8")
    shutil.copyfile("/bin/echo", folder / "subflow")
    (folder / "subflow").chmod(0o700)
    (inside / "module.py").write_text("#!/usr/bin/env python3\n", encoding="utf-8")
    shutil.copyfile("/bin/echo", inside / "library.so.1")
    (inside / "library.so.1").chmod(0o775)
    (inside / "module.py").chmod(0o755)
    (inside / "library.so").symlink_to("library.so.1")
    (inside / "data ü.txt").write_text("data", encoding="utf-8")
    os.utime(inside / "data ü.txt", (0, 0))
    return folder
