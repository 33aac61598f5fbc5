"""The core for installers: built with profile-guided optimisation, it gives the same results as the installed core."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import guided_core
from subflow_sim import _core

ROOT = Path(__file__).resolve().parents[2]


def _run(_what: str, log_name: str, words: Sequence[str | Path], folder: Path) -> None:
    with (folder / f"{log_name}.log").open("w", encoding="utf-8") as log:
        subprocess.run([str(word) for word in words], cwd=ROOT, check=True, stdout=log, stderr=subprocess.STDOUT)


def test_a_compiler_without_profiles_is_said_and_builds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "CMakeFiles" / "3.30.0"
    made.mkdir(parents=True)
    (made / "CMakeCXXCompiler.cmake").write_text('set(CMAKE_CXX_COMPILER_ID "MSVC")\n', encoding="utf-8")
    steps: list[str] = []
    assert guided_core.build(tmp_path, lambda what, _log, _words: steps.append(what)) is None
    assert steps == ["Asking the compiler"]
    assert "without a profile" in capsys.readouterr().out


@pytest.mark.full("builds the core twice")
def test_a_core_that_was_built_by_its_profile_does_the_same(tmp_path: Path) -> None:
    core = guided_core.build(tmp_path, lambda what, log, words: _run(what, log, words, tmp_path))
    assert core is not None
    signatures = guided_core.signatures_of(core)
    assert len(signatures) == 6
    assert signatures == guided_core.signatures_of(Path(_core.__file__))
    assert b"release, profile-guided" in core.read_bytes()
