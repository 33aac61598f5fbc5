"""The release workflows, which run on other machines: checked by linters, and by the file names of our scripts."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import dev
import pytest
from ruamel.yaml import YAML
from tests.packaging.test_bare_system import SUITES

import freezing
import locked
import project_urls
import release
import smoke
from linux import deb, needs, tarball
from subflow_app.foundation import citation
from subflow_sim import _core

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = (ROOT / "pyproject.toml", ROOT / "sim" / "pyproject.toml")
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
    steps = workflow["jobs"]["installer"]["steps"]
    (python,) = (step["with"]["python-version"] for step in steps if "python-version" in step.get("with", {}))
    assert python == ".".join(map(str, locked.PYTHON))  # the version whose packages are locked
    (frozen,) = (step["run"] for step in steps if step.get("name") == "Self-test of the frozen program")
    for system in systems.values():
        assert f"{system}) program=" in frozen
        (installed,) = (step["run"] for step in steps if step.get("name") == f"Install, self-test, remove ({system})")
        assert installed.count("--selftest") == (2 if system == "Linux" else 1)  # the package, and the tarball


def test_programs_for_macos_run_on_the_oldest_system_that_they_name(workflow: dict[str, Any]) -> None:
    oldest = freezing.MAC_PROPERTIES["LSMinimumSystemVersion"]
    assert workflow["jobs"]["installer"]["env"]["MACOSX_DEPLOYMENT_TARGET"] == oldest
    for folder in (ROOT, ROOT / "sim"):
        settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
        assert settings["macos"]["environment"] == {"MACOSX_DEPLOYMENT_TARGET": oldest}


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

DEBIANS = {"bookworm": "12", "trixie": "13"}


INSTALLATION = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")


def test_what_people_are_told_about_installers_is_true() -> None:
    rows = dict(re.findall(r"^\| ([^|]+?) \| `([^`]+)` \|", INSTALLATION, re.MULTILINE))
    (promised,) = (tuple(map(int, found)) for found in re.findall(r"glibc (\d+)\.(\d+)", "\n".join(rows)))
    # Every named system has the C library that the package needs: at most the version of the build system.
    (debian,) = (system for system, file in rows.items() if file.endswith(".deb"))
    named = re.findall(r"(?:Debian|Ubuntu) [\d.]+", debian)
    assert len(named) == 2
    # The releases of Debian that need no mark are those on which the package is tried.
    assert debian.startswith(f"Debian {' and '.join(DEBIANS[suite] for suite in SUITES)};")
    assert min(SYSTEMS[system] for system in named) >= promised
    # The image has the name from our script, and the systems are those of its content.
    (mac,) = (system for system, file in rows.items() if file == "Subflow-VERSION-macos-arm64.dmg")
    assert (
        mac
        == f"macOS {str(freezing.MAC_PROPERTIES['LSMinimumSystemVersion']).partition('.')[0]} and later, Apple silicon"
        " (not tried)"
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
    matrix = job["strategy"]["matrix"]
    assert {one["name"] for one in matrix["system"]} == {"linux", "windows", "macos"}
    assert {(one["name"], one["folder"]) for one in matrix["package"]} == {("simulator", "sim"), ("workbench", ".")}
    assert any("build --sdist" in step.get("run", "") for step in job["steps"])
    told = tomllib.loads((ROOT / "sim" / "pyproject.toml").read_text(encoding="utf-8"))
    settings, own = told["tool"]["cibuildwheel"], told["project"]
    assert {"linux", "macos", "windows"} < set(settings)
    tried = re.findall(r"{project}/(\S+)", settings["test-command"])
    assert len(tried) == 2
    assert all((ROOT / path).is_file() for path in tried)
    # The versions of Python and numpy are those of the workbench, which contains it.
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert own["requires-python"] == whole["project"]["requires-python"]
    # The newest Python is the newest that Qt's bindings take, and each version has its wheels and is tried.
    oldest, beyond = map(int, re.findall(r"3\.(\d+)", own["requires-python"]))
    assert f"<3.{beyond}" in str(metadata.metadata("PySide6_Essentials")["Requires-Python"]).split(",")
    versions = range(oldest, beyond)
    for table in (told, whole):
        of_table = table["tool"]["cibuildwheel"]
        assert of_table["build"].split() == [f"cp3{minor}-*" for minor in versions]
        assert of_table["skip"] == settings["skip"]
        listed = [f"Programming Language :: Python :: 3.{minor}" for minor in versions]
        assert [each for each in table["project"]["classifiers"] if ":: Python ::" in each] == listed
    smoke = workflow["jobs"]["smoke"]["strategy"]["matrix"]
    assert smoke["python"] == [f"3.{minor}" for minor in versions]
    assert {one.partition("-")[0] for one in smoke["os"]} == {"ubuntu", "windows", "macos"}
    (libraries,) = (step["run"] for step in workflow["jobs"]["smoke"]["steps"] if "apt-get" in step.get("run", ""))
    assert set(dev.QT_PACKAGES) <= set(libraries.split())
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
    named = set(re.findall(r"python3? (\S+\.py)", scripts))
    assert named >= {"dev.py", "packaging/release.py", "packaging/smoke.py"}
    assert [file for file in named if not (ROOT / file).is_file()] == []


@pytest.fixture
def smoked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands of a smoke test, which are not run; the core lies in the folder of the test."""
    commands: list[list[str]] = []

    def run(words: list[str | Path], folder: Path) -> str:
        commands.append([str(word) for word in words])
        return str(tmp_path)

    monkeypatch.setattr(smoke, "_run", run)
    return commands


def test_a_wheel_is_installed_without_the_index_and_used(
    smoked: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert smoke.main([str(tmp_path)]) == 1
    assert f"{tmp_path / 'subflow-kernel-helper'} is missing" in capsys.readouterr().err
    (tmp_path / "subflow-kernel-helper").touch(mode=0o755)
    smoked.clear()
    assert smoke.main([str(tmp_path)]) == 0
    installs = [words[words.index("install") + 1 :] for words in smoked if "install" in words]
    for name, (own, others) in zip(smoke.DISTRIBUTIONS, zip(installs[::2], installs[1::2], strict=True), strict=True):
        assert {"--no-index", "--no-deps", str(tmp_path), name} <= set(own)
        assert (others[-1], "--no-index" in others) == (name, False)
    used = [" ".join(words) for words in smoked]
    for end in ("signatures.json", "runs.db", "subflow --selftest"):
        assert any(command.endswith(end) for command in used)


def test_an_archive_of_sources_is_compiled_if_it_is_the_only_one(
    smoked: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert smoke.main([str(tmp_path), "--wheels"]) == 2
    assert smoke.main([str(tmp_path), "--sources"]) == 1
    assert f"{tmp_path} contains 0 archives" in capsys.readouterr().err
    for name in smoke.DISTRIBUTIONS:
        (tmp_path / f"{name.replace('-', '_')}-0.1.0.tar.gz").touch()
    (tmp_path / "subflow-kernel-helper").touch(mode=0o755)
    assert smoke.main([str(tmp_path), "--sources"]) == 0
    assert [words[-1] for words in smoked if "install" in words] == [
        str(tmp_path / f"{name.replace('-', '_')}-0.1.0.tar.gz") for name in smoke.DISTRIBUTIONS
    ]


def test_nothing_is_published_that_was_not_tried_and_attested(workflow: dict[str, Any]) -> None:
    jobs = workflow["jobs"]
    assert set(jobs["publish"]["needs"]) == {"installer", "smoke"}
    steps = jobs["publish"]["steps"]
    attested = [step["with"] for step in steps if step.get("uses", "").startswith("actions/attest@")]
    assert attested == [{"subject-checksums": "installers/SHA256SUMS"}, {"subject-path": "installers/SHA256SUMS"}]
    assert "gh release create" in steps[-1]["run"]  # after the attestations


def test_pypi_gets_nothing_until_a_person_wants_it(workflow: dict[str, Any]) -> None:
    job = workflow["jobs"]["pypi"]
    assert job["needs"] == "publish"
    assert job["if"] == "github.ref_type == 'tag' && vars.PUBLISH_TO_PYPI == 'true'"
    # Trusted publishing: without a password, from an environment with a name at PyPI.
    assert [*job["permissions"]] == ["id-token"]
    assert "secrets." not in str(job)
    built = [f"subflow-{one['name']}" for one in workflow["jobs"]["wheels"]["strategy"]["matrix"]["package"]]
    assert [f"subflow-{one}" for one in job["strategy"]["matrix"]["package"]] == built == [*smoke.DISTRIBUTIONS]
    names = {tomllib.loads(path.read_text(encoding="utf-8"))["project"]["name"] for path in PROJECTS}
    assert names == set(built)
    page = (ROOT / "packaging" / "README.md").read_text(encoding="utf-8")
    for word in ("PUBLISH_TO_PYPI", *(f"pypi-{name}" for name in built)):
        assert f"`{word}`" in page


def test_a_tag_is_compared_with_all_files_that_name_version_and_day(tmp_path: Path) -> None:
    files = [*release.stated(ROOT)]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / file).read_text(encoding="utf-8").replace(citation.RELEASED, "2027-01-02")
        (tmp_path / file).write_text(text.replace("] - unreleased", "] - 2027-01-02"), encoding="utf-8")
    version = freezing.version(ROOT)
    assert release.differences(tmp_path, f"v{version}", "2027-01-02") == []
    later = release.differences(tmp_path, "v9.9.9", "2027-01-03")
    versions = [line.partition(":")[0] for line in later if line.endswith(f"is {version}, but the tag is v9.9.9")]
    days = [
        line.partition(":")[0]
        for line in later
        if line.endswith("is 2027-01-02, but the tagged commit is of 2027-01-03")
    ]
    assert versions == [file for file in files if not file.endswith("citation.py")]
    assert days == [file for file in files if file != "pyproject.toml"]
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(changelog.read_text(encoding="utf-8").replace(f"[{version}] - 2027-01-02", f"[{version}]"))
    (missing, _) = release.differences(tmp_path, f"v{version}", "2027-01-02")
    assert missing == f"CHANGELOG.md: the version is missing, but the tag is v{version}"


def test_the_citation_of_a_release_names_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/subflow")
    cited, described = release.cite(tmp_path)
    schema = "vendor.citation-file-format"
    assert _faults(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, cited) == ""
    home = "https://example.org/somebody/subflow"
    assert f'repository-code: "{home}"' in cited.read_text(encoding="utf-8")
    told = json.loads(described.read_text(encoding="utf-8"))
    assert told["codeRepository"] == home
    assert told["downloadUrl"] == f"{home}/releases/tag/v{freezing.version(ROOT)}"
    pages = [value.partition("/blob/main/")[2] for value in told.values() if "/blob/main/" in str(value)]
    assert len(pages) == 3
    assert [page for page in pages if not (ROOT / page).is_file()] == []
    monkeypatch.setattr(project_urls, "urls", dict)
    with pytest.raises(ValueError, match="GITHUB_REPOSITORY"):
        release.cite(tmp_path)
