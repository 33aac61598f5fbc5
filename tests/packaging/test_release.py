"""The release workflows, which run on other machines: checked by linters, and by the file names of our scripts."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import freezing
import locked
from linux import deb, needs, tarball
from subflow_sim import _core

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    return _read("release.yml")


def _read(name: str) -> dict[str, Any]:
    return dict(YAML(typ="safe").load(ROOT / ".github" / "workflows" / name))


def _faults(*words: object) -> str:
    """Output of a failed checker; empty if it passes."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=ROOT, check=False)
    return f"exit code {done.returncode}: {done.stdout}{done.stderr}" if done.returncode else ""


def _steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_github_understands_them() -> None:
    schema = "vendor.github-workflows"
    assert _faults(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *WORKFLOWS) == ""


def test_nobody_else_gets_into_a_release() -> None:
    # Actions are pinned to commits, no cache is shared, no credentials stay, no external text is put into a script.
    (zizmor,) = (file.locate() for file in metadata.files("zizmor") or () if file.stem == "zizmor")
    assert _faults(zizmor, "--offline", "--no-progress", "--persona=auditor", *WORKFLOWS) == ""


def test_actionlint_finds_nothing() -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("needs actionlint: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7")
    assert _faults(actionlint, *WORKFLOWS) == ""


def test_the_scripts_of_its_steps_are_clean(workflow: dict[str, Any], tmp_path: Path) -> None:
    scripts = [step["run"] for step in _steps(workflow) if "run" in step and step.get("shell", "bash") == "bash"]
    assert len(scripts) > 5
    files = []
    for number, script in enumerate(scripts):
        files.append(tmp_path / f"step-{number}.sh")
        # Expressions are replaced before a shell reads the script.
        files[-1].write_text(f"#!/bin/bash\n{re.sub(r'[$]{{.*?}}', 'filled in', script)}", encoding="utf-8")
        assert _faults("bash", "-n", files[-1]) == ""
    if shutil.which("shellcheck") is None:
        pytest.skip("needs shellcheck of the package shellcheck")
    assert _faults("shellcheck", *files) == ""


def test_each_system_has_an_installer_and_is_tried_before_and_after_it(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["installer"]["strategy"]["matrix"]["include"]
    systems = {"ubuntu": "Linux", "windows": "Windows", "macos": "macOS"}
    assert {system for start, system in systems.items() for one in matrix if one["os"].startswith(start)} == {
        *systems.values()
    }
    steps = _steps(workflow)
    assert {step["with"]["python-version"] for step in steps if "python-version" in step.get("with", {})} == {
        ".".join(map(str, locked.PYTHON))  # the version whose packages are locked
    }
    (frozen,) = (step["run"] for step in steps if step.get("name") == "Self-test of the frozen program")
    for system in systems.values():
        assert f"{system}) program=" in frozen
        (installed,) = (step["run"] for step in steps if step.get("name") == f"Install, self-test, remove ({system})")
        assert "--selftest" in installed


def test_what_is_made_is_what_is_uploaded(workflow: dict[str, Any], small_bundle: Path, tmp_path: Path) -> None:
    (upload,) = (
        step["with"]["path"]
        for step in workflow["jobs"]["installer"]["steps"]
        if step.get("with", {}).get("compression-level") == 0
    )
    patterns = upload.split()
    made = [
        deb.make(small_bundle, tmp_path, version="0.1.0").name,
        tarball.make(small_bundle, tmp_path, version="0.1.0", compression="xz").name,
        "Subflow-0.1.0-Setup.exe",  # tests/packaging/test_windows.py
        "Subflow-0.1.0-macos-arm64.dmg",  # tests/packaging/test_macos.py
    ]
    for name in made:
        assert [pattern for pattern in patterns if fnmatch.fnmatch(f"build/package/{name}", pattern)], name
    assert len(patterns) == len(made)


SYSTEMS = {"Debian 12": (2, 36), "Ubuntu 22.04": (2, 35), "Ubuntu 24.04": (2, 39)}
"""Version of the C library of each system."""


INSTALLATION = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")


def test_what_people_are_told_about_installers_is_true() -> None:
    rows = dict(re.findall(r"^\| ([^|]+?) \| `([^`]+)` \|", INSTALLATION, re.MULTILINE))
    (promised,) = (tuple(map(int, found)) for found in re.findall(r"glibc (\d+)\.(\d+)", "\n".join(rows)))
    # Every named system has the C library that the package needs: at most the version of the build system.
    (debian,) = (system for system, file in rows.items() if file.endswith(".deb"))
    named = re.findall(r"(?:Debian|Ubuntu) [\d.]+", debian)
    assert len(named) == 2
    assert min(SYSTEMS[system] for system in named) >= promised
    # The image has the name from our script, and the systems are those of its content.
    (mac,) = (system for system, file in rows.items() if file == "Subflow-VERSION-macos-arm64.dmg")
    assert (
        mac
        == f"macOS {str(freezing.MAC_PROPERTIES['LSMinimumSystemVersion']).partition('.')[0]} and later, Apple silicon"
    )


def test_the_package_asks_for_no_newer_c_library_than_people_are_told(tmp_path: Path) -> None:
    told = re.search(r"glibc (\d+)\.(\d+)", INSTALLATION)
    assert told is not None
    promised = tuple(map(int, told.groups()))
    if tuple(map(int, str(os.confstr("CS_GNU_LIBC_VERSION")).split()[1].split("."))) > promised:
        pytest.skip("packages are made on a system with the stated C library, or an older one")
    for made_here in (Path(sys.executable).resolve(), Path(_core.__file__)):
        shutil.copyfile(made_here, tmp_path / made_here.name)
    _, asked = needs.read_binaries(sorted(tmp_path.iterdir()))
    assert (2, 17) < asked <= promised


def test_what_takes_long_is_made_each_night() -> None:
    checks = _read("checks.yml")
    assert any(step.get("run", "").endswith("dev.py test --full") for step in _steps(checks))
    assert "schedule" in checks["on"]


def test_the_wheels_of_the_simulator_are_made_for_three_systems_and_tried(workflow: dict[str, Any]) -> None:
    job = workflow["jobs"]["wheels"]
    assert {one["name"] for one in job["strategy"]["matrix"]["include"]} == {"linux", "windows", "macos"}
    assert any("build --sdist sim" in step.get("run", "") for step in job["steps"])
    told = tomllib.loads((ROOT / "sim" / "pyproject.toml").read_text(encoding="utf-8"))
    settings, own = told["tool"]["cibuildwheel"], told["project"]
    assert {"linux", "macos", "windows"} < set(settings)
    tried = re.findall(r"{project}/(\S+)", settings["test-command"])
    assert len(tried) == 2
    assert all((ROOT / path).is_file() for path in tried)
    # The versions of Python and numpy are those of the workbench, which contains it.
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert own["requires-python"] == whole["project"]["requires-python"]
    assert own["dependencies"] == [one for one in whole["project"]["dependencies"] if one.startswith("numpy")]
    assert own["optional-dependencies"]["envs"] == whole["project"]["optional-dependencies"]["envs"]
    assert told["build-system"] == whole["build-system"]


def test_a_change_is_tried_on_three_systems_before_it_lands() -> None:
    ci = _read("ci.yml")
    assert {"push", "pull_request"} <= set(ci["on"])
    runs = [step.get("run", "") for step in ci["jobs"]["linux"]["steps"]]
    assert any(run.endswith("python dev.py test") for run in runs)
    assert {one["name"] for one in ci["jobs"]["others"]["strategy"]["matrix"]["include"]} == {"Windows", "macOS"}
    (tried,) = (step["run"] for step in ci["jobs"]["others"]["steps"] if "dev.py" in step.get("run", ""))
    assert all((ROOT / word).exists() for word in tried.split() if "/" in word)


def test_every_file_that_it_names_is_there(workflow: dict[str, Any]) -> None:
    scripts = "\n".join(step.get("run", "") for step in _steps(workflow))
    assert "python dev.py package" in scripts
    assert (ROOT / "dev.py").is_file()
    version = re.search(r"sed -n '(.+)' pyproject\.toml", scripts)
    assert version is not None
    told = subprocess.check_output(["sed", "-n", version[1], ROOT / "pyproject.toml"], text=True).split()
    assert told == [re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)[0]]
