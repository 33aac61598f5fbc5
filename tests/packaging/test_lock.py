"""packaging/requirements.lock: installers contain the requirements of pyproject.toml, each file fixed by its hash."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dev
import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import locked

WINDOWS = {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"}
MAC = {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"}
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"}
SYSTEMS = [
    pytest.param(
        {**default_environment(), "python_version": "3.11", "python_full_version": "3.11.9", **system}, id=name
    )
    for name, system in {"Linux": LINUX, "Windows": WINDOWS, "macOS": MAC}.items()
]


def entries() -> Iterator[tuple[Requirement, list[str]]]:
    """The entries: each requirement with its hashes."""
    text = locked.LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in (line for line in text.splitlines() if line and not line.lstrip().startswith("#")):
        pin, *hashes = re.split(r"\s+--hash=", line.strip())
        yield Requirement(pin), hashes


def asked() -> list[Requirement]:
    """Requirements in pyproject.toml of the parts and of the builder of an installer."""
    table = dev.project()
    extras = table["project"]["optional-dependencies"]
    lists = [table["build-system"]["requires"], table["project"]["dependencies"]]
    return [Requirement(one) for some in [*lists, *(extras[extra] for extra in locked.EXTRAS)] for one in some]


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_requirement_is_pinned_within_its_range_on_each_system(system: dict[str, str]) -> None:
    pins: dict[str, str] = {}
    for requirement, _ in entries():
        if requirement.marker is None or requirement.marker.evaluate(system):
            (one,) = requirement.specifier
            assert one.operator == "==", requirement
            assert canonicalize_name(requirement.name) not in pins, "pinned twice"
            pins[canonicalize_name(requirement.name)] = one.version
    wrong = [
        f"{requirement}: {pins.get(canonicalize_name(requirement.name), 'not locked')}"
        for requirement in asked()
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"), prereleases=True)
    ]
    assert wrong == [], "python3 dev.py lock"
    assert pins["torch"].endswith("+cpu") == (system["sys_platform"] == "linux")
    assert [name for name in pins if name.startswith(("nvidia", "cuda", "triton"))] == []


def test_every_entry_has_hashes() -> None:
    without = [str(pin) for pin, hashes in entries() if not hashes]
    assert without == []
    malformed = [each for _, hashes in entries() for each in hashes if not re.fullmatch(r"sha256:[0-9a-f]{64}", each)]
    assert malformed == []


def test_the_lock_is_that_of_pyproject() -> None:
    """The lock has no superfluous entries either."""
    assert locked.differences() == []


# Use of the lock by `dev.py package`

ASKED = {
    "build-system": {"requires": ["nanobind==3.1.0"]},
    "project": {
        "dependencies": ["numpy>=2,<3"],
        "optional-dependencies": {
            **{extra: [] for extra in locked.EXTRAS},
            "train": ["safetensors==0.8.0", "torch==2.13.0"],
        },
    },
}
LOCKED = """\
# Made by `python3 dev.py lock` for these lines of pyproject.toml:
#   nanobind==3.1.0
#   numpy>=2,<3
#   safetensors==0.8.0
#   torch==2.13.0+cpu; sys_platform == 'linux'
#   torch==2.13.0; sys_platform != 'linux'
numpy==2.4.6 --hash=sha256:00
    # via pyproject (pyproject.toml)
"""


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The commands that make the environment, by the name of their log; they are recorded and not run."""
    done: dict[str, list[str]] = {}

    def note(what: str, log_name: str, command: list[Any]) -> None:
        done[log_name] = [str(word) for word in command]
        dev.VENV.mkdir(exist_ok=True)

    for name in ("VENV", "BIN", "PYTHON"):  # monkeypatch restores them
        monkeypatch.setattr(dev, name, getattr(dev, name))
    monkeypatch.setattr(dev, "provide_system_packages", lambda *packages: None)
    monkeypatch.setattr(dev, "project", lambda: ASKED)
    monkeypatch.setattr(dev, "do", note)
    monkeypatch.setattr(locked, "_ENVIRONMENT", tmp_path / "venv")
    monkeypatch.setattr(locked, "PYTHON", sys.version_info[:2])
    monkeypatch.setattr(locked, "LOCK", tmp_path / "requirements.lock")
    locked.LOCK.write_text(LOCKED, encoding="utf-8")
    locked.use_own_environment()
    return done


def test_what_is_frozen_is_installed_by_hash_into_an_environment_of_its_own(
    steps: dict[str, list[str]], tmp_path: Path
) -> None:
    locked.set_up()
    fetching = ["fetch-torch"] if sys.platform == "linux" else []
    assert list(steps) == ["package-venv", *fetching, "package-pip", "package-core"]
    assert all(command[0].startswith(str(tmp_path / "venv")) for log, command in steps.items() if log != "package-venv")
    assert {"--require-hashes", "--only-binary=:all:", str(locked.LOCK)} <= set(steps["package-pip"])
    assert {"--no-build-isolation", "--no-deps"} <= set(steps["package-core"])

    steps.clear()
    locked.set_up()
    assert steps == {}
    locked.LOCK.write_text(LOCKED.replace("2.4.6", "2.4.7"), encoding="utf-8")
    locked.set_up()
    assert "package-pip" in steps


def test_a_lock_for_something_else_is_refused_and_what_differs_is_named(steps: dict[str, list[str]]) -> None:
    locked.LOCK.write_text(LOCKED.replace("numpy>=2,<3", "numpy>=1,<2"), encoding="utf-8")
    with pytest.raises(dev.SetUpError) as told:
        locked.set_up()
    assert str(told.value).splitlines() == [
        "packaging/requirements.lock does not fit pyproject.toml. Make it anew: python3 dev.py lock",
        "  asked for, not locked: numpy>=2,<3",
        "  locked, not asked for: numpy>=1,<2",
    ]
    assert steps == {}


def test_another_python_than_that_of_the_installers_makes_none(
    steps: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked, "PYTHON", (3, 10))
    with pytest.raises(dev.SetUpError, match=r"An installer is made with Python .*, whose packages are locked"):
        locked.set_up()
    assert steps == {}
