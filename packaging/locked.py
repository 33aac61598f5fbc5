"""Locked packages for installers, each with its hash: the commands `dev.py package` and `dev.py lock`.

Uses only the standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dev  # noqa: E402 - from the folder above, which a script does not look into

PYTHON = (3, 11)  # version in the installers
LOCK = ROOT / "packaging" / "requirements.lock"
EXTRAS = ("build", "train", "pcap", "docs", "package")
"""Extras of the project that an installer contains, or that build its core, guide and bundle."""

_ENVIRONMENT = dev.BUILD / "package-venv"
_DOTTED = ".".join(map(str, PYTHON))


def main(words: list[str]) -> int:
    """Runs the command given after `dev.py`; returns the exit code."""
    try:
        if words[0] == "lock":
            lock(words[1:])
            return 0
        use_own_environment()
        set_up()
    except dev.SetUpError as stop:
        sys.stderr.write(f"{stop}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    dev.hand_over(dev.PYTHON, ROOT / "packaging" / "package.py", *words[1:])


def requirements() -> list[str]:
    """Requirements of the installers and their build from pyproject.toml, with PyTorch for Linux without CUDA."""
    table = dev.project()
    extras = table["project"]["optional-dependencies"]
    wanted = [*table["build-system"]["requires"], *table["project"]["dependencies"]]
    for one in (requirement for extra in EXTRAS for requirement in extras[extra]):
        is_torch = one.startswith("torch==")
        wanted += [f"{one}+cpu; sys_platform == 'linux'", f"{one}; sys_platform != 'linux'"] if is_torch else [one]
    return sorted(wanted)


def lock(uv_arguments: list[str]) -> None:
    """Pins all requirements with their dependencies in packaging/requirements.lock.

    One file for Linux, Windows and macOS, with the hashes of all files that PyPI offers of each version. Pins that
    still fit stay, unless uv is given --upgrade. PyTorch for Linux has one hash: that of the wheel that pip finds here.

    Raises:
        dev.SetUpError: if a package cannot be downloaded, or no versions fit together.
    """
    dev.set_up()
    folder = dev.BUILD / "lock"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    dev.do("Installing uv", "uv", dev.pip_install(*dev.project()["project"]["optional-dependencies"]["lock"]))
    fetch_torch(folder)
    asked = (
        f'[project]\nname = "pyproject"\nversion = "0"\ndependencies = {json.dumps(requirements())}\n'
        f"[tool.uv]\nenvironments = [\"python_version == '{_DOTTED}'\"]\n"
    )
    (folder / "pyproject.toml").write_text(asked, encoding="utf-8")
    pins = folder / LOCK.name
    pins.write_text(dev.read_text(LOCK), encoding="utf-8")  # uv keeps these pins
    words = [dev.BIN / "uv", "pip", "compile", "--directory", folder, "pyproject.toml", "--output-file", pins.name]
    words += ["--universal", "--python-version", _DOTTED, "--generate-hashes", "--find-links", "."]
    words += ["--only-binary=:all:", "--no-header", "--annotation-style=line"]
    # otherwise its hash would stay, even if another wheel of the same version is available
    words += ["--upgrade-package=torch"]
    dev.do("Choosing versions", "lock", [*words, *uv_arguments])
    head = "# Made by `python3 dev.py lock` for these lines of pyproject.toml:\n"
    head += "".join(f"#   {one}\n" for one in requirements())
    LOCK.write_text(head + pins.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")


def fetch_torch(folder: Path) -> None:
    """Downloads the wheel of PyTorch for Linux, x86-64, into a folder; its index is used for no other package.

    The lock has the hash of the wheel that pip found when the lock was made, in PyTorch's index or in a folder given to
    pip there: pip refuses a wheel with other content under the same name. PyPI offers no build for Linux without CUDA.
    Its builds for Windows and macOS do not contain CUDA, so their hashes come from PyPI.
    """
    (torch,) = (one.partition(";")[0] for one in requirements() if "+cpu" in one)
    words = [dev.PYTHON, "-m", "pip", "download", "--no-input", "--disable-pip-version-check", *dev.FROM_TORCH_INDEX]
    words += ["--no-deps", "--only-binary=:all:", "--python-version", _DOTTED]
    dev.do(f"Fetching {torch}", "fetch-torch", [*words, "--platform", "manylinux_2_28_x86_64", "--dest", folder, torch])


def use_own_environment() -> None:
    """Makes this process install and build in a separate environment for the bundle."""
    dev.BIN = _ENVIRONMENT / dev.BIN.relative_to(dev.VENV)
    dev.VENV, dev.PYTHON = _ENVIRONMENT, dev.BIN / "python"


def differences() -> list[str]:
    """Differences between the requirements in packaging/requirements.lock and those in pyproject.toml, a line each."""
    locked = set(re.findall(r"^#   (.+)$", dev.read_text(LOCK), re.MULTILINE))
    asked = set(requirements())
    lines = [f"  asked for, not locked: {one}" for one in sorted(asked - locked)]
    return lines + [f"  locked, not asked for: {one}" for one in sorted(locked - asked)]


def refuse_another_lock() -> None:
    """Stops if packaging/requirements.lock was made for other requirements than those in pyproject.toml.

    Raises:
        dev.SetUpError: naming the differences.
    """
    lines = differences()
    if lines:
        text = "packaging/requirements.lock does not fit pyproject.toml. Make it anew: python3 dev.py lock"
        raise dev.SetUpError("\n".join((text, *lines)))


def set_up() -> None:
    """Makes the environment for freezing: the pinned packages, each file checked against its hash, and the core.

    Installs only wheels: the build requirements of a source distribution would come without a hash.

    Raises:
        dev.SetUpError: if this is another version of Python than that of the installers, or a hash differs.
    """
    if sys.version_info[:2] != PYTHON:
        found = sys.version.split()[0]
        raise dev.SetUpError(f"An installer is made with Python {_DOTTED}, whose packages are locked. This is {found}.")
    refuse_another_lock()
    dev.provide_system_packages(dev.PACKAGE_PACKAGES)
    with dev.only_one():
        stamp, core_stamp = dev.VENV / "subflow-locked.stamp", dev.VENV / "subflow-core.stamp"
        locked = hashlib.sha256(f"{dev.read_text(LOCK)}\0{sys.version}\0{dev.VENV}".encode()).hexdigest()
        if not dev.is_current(stamp, locked):
            shutil.rmtree(dev.VENV, ignore_errors=True)
            dev.do("Making an environment of its own", "package-venv", [dev.BASE_PYTHON, "-m", "venv", dev.VENV])
            options = ["--require-hashes", "--only-binary=:all:", "--requirement", LOCK]
            with tempfile.TemporaryDirectory() as folder:
                if sys.platform == "linux":
                    fetch_torch(Path(folder))
                    options += ["--find-links", folder]
                dev.do("Installing what is locked", "package-pip", dev.pip_install(*options))
            stamp.write_text(locked, encoding="utf-8")
        core = dev.core_digest()
        if not dev.is_current(core_stamp, core):
            core_stamp.unlink(missing_ok=True)
            options = ["--config-settings", f"build-dir={dev.BUILD / 'package-core'}"]  # not the developers' build
            install = dev.pip_install("--no-build-isolation", "--no-deps", *options, "--editable", ROOT)
            dev.do("Building the core", "package-core", install)
            core_stamp.write_text(core, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
