"""Obstacles that users meet cost a message of one line and no data: full disks, read-only homes, no display."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packaging import obstacles

from subflow_app.shell.selftest.runner import own_surroundings


@pytest.fixture(params=[pytest.param("source", marks=pytest.mark.full("starts the program a dozen times")), "bundle"])
def program(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "source":
        return [sys.executable, "-m", "subflow_app"]
    return [str(request.getfixturevalue("bundle") / "subflow")]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", obstacles.CHECKS)
def test_the_program_copes(program: list[str], name: str, tmp_path: Path) -> None:
    (work := tmp_path / "work").mkdir()
    root = Path(obstacles.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.packaging.obstacles", name, work, *program],
        env=own_surroundings(os.environ, tmp_path / "user"),
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )

    if done.returncode == obstacles.NOT_HERE:
        pytest.skip(done.stdout.strip())
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
