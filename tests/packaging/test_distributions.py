"""Distributions for pip: source archives of the simulator and of the workbench, and packages built from them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"simulator": ROOT / "sim", "workbench": ROOT}
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
HOME = {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "somebody/subflow"}


def _python(code: str, folder: Path, **environment: str) -> str:
    """Output of a Python that starts in a folder."""
    return _output([sys.executable, "-c", code], folder, **environment)


def _output(words: list[object], folder: Path, **environment: str) -> str:
    env = {**os.environ, **environment}
    done = subprocess.run([*map(str, words)], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _unpacked(name: str, folder: Path) -> Path:
    """The unpacked source archive, built as pip builds it."""
    call = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    _python(call, FOLDERS[name], **HOME)
    with tarfile.open(folder / f"subflow_{name}-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"subflow_{name}-{VERSION}"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _unpacked("simulator", tmp_path_factory.mktemp("sdist"))


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _sources(folder: str) -> set[str]:
    return {f"{folder}/{name}" for name in _files(ROOT / folder) if "__pycache__/" not in name}


def test_the_simulators_archive_has_what_it_is_built_of_and_nothing_else(simulator: Path) -> None:
    recipe = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    compiled = sorted(set(re.findall(r"GLOB\w* \w+ CONFIGURE_DEPENDS (sim/\w+)/", recipe)))
    assert {"sim/core", "sim/bindings"} < set(compiled)
    beside = (*compiled, "assets/agents", "assets/controllers", "assets/scenarios")
    assert _files(simulator) == {
        *("LICENSE", "PKG-INFO", "PYPI.md", "project_metadata.py", "pyproject.toml", "tree/CMakeLists.txt"),
        *(path.removeprefix("sim/") for path in _sources("sim/subflow_sim")),
        *(f"tree/{path}" for folder in beside for path in _sources(folder)),
    }


def test_it_knows_its_version_and_its_home_without_what_lies_above_it(simulator: Path) -> None:
    told = HeaderParser().parsestr((simulator / "PKG-INFO").read_text(encoding="utf-8"))
    assert told["Version"] == VERSION
    assert f"Homepage, {HOME['GITHUB_SERVER_URL']}/{HOME['GITHUB_REPOSITORY']}" in told.get_all("Project-URL", [])
    code = "import project_metadata; print(project_metadata.dynamic_metadata({}, {}))"
    found = _python(code, simulator, GITHUB_REPOSITORY="")
    assert f"'version': '{VERSION}'" in found
    assert "'Homepage': 'https://example.org/somebody/subflow'" in found


@pytest.mark.full("compiles the core")
@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("simulator", [ROOT / "packaging" / "try_wheel.py", ROOT / "assets" / "signatures.json"]),
        ("workbench", ["bin/subflow", "run", "demo", "--db", "runs.db"]),
    ],
)
def test_a_wheel_of_the_archive_does_what_it_is_for(name: str, program: list[object], tmp_path: Path) -> None:
    source = _unpacked(name, tmp_path)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    _output([*pip, "wheel", "--no-build-isolation", "--no-deps", source], tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    _output([*pip, "install", "--no-deps", "--target", ".", wheel], tmp_path)
    # Its dependencies come from this path; -S leaves out the checkout's packages, which .venv would find.
    paths = os.pathsep.join([str(tmp_path), sysconfig.get_path("purelib")])
    assert _output([sys.executable, "-S", *program], tmp_path, PYTHONPATH=paths)
    helper = tmp_path / "subflow_sim" / "subflow-kernel-helper"
    assert os.access(helper, os.X_OK) == (name == "workbench" and sys.platform == "linux")
    # The helper contains parts of the C library, whose licence asks for its text.
    texts = {path.name for path in tmp_path.glob("*.dist-info/licenses/**/*") if path.is_file()}
    assert texts == {"LICENSE"} | ({"glibc.txt", "LGPL-2.1.txt"} if name == "workbench" else set())
