"""Try the distributions for pip: each is installed in an environment of its own, then used.

smoke.py FOLDER              the wheels of the folder that fit this Python
smoke.py FOLDER --sources    the archives of sources, which pip compiles

Dependencies come from the package index. Uses only the standard library.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = ("subflow-simulator", "subflow-workbench")
_HELPER = "subflow-kernel-helper"
# The folder of the compiled core, printed by the tried Python.
_WHERE = "from subflow_sim.shipped import native_folder; print(native_folder())"


class SmokeError(Exception):
    """A distribution cannot be installed or does not work; the text names it and gives the reason."""


def main(words: list[str]) -> int:
    """Runs the command line; returns the exit code."""
    if not words or words[1:] not in ([], ["--sources"]):
        sys.stderr.write(f"{__doc__}")
        return 2
    for name in DISTRIBUTIONS:
        try:
            with tempfile.TemporaryDirectory(prefix="subflow-smoke-") as folder:
                sys.stdout.write(f"{name}: {attempt(name, Path(words[0]), Path(folder), bool(words[1:]))}\n")
        except SmokeError as error:
            sys.stderr.write(f"{name}: {error}\n")
            return 1
    return 0


def attempt(name: str, made: Path, folder: Path, is_from_sources: bool) -> str:
    """Installs a distribution and uses it; returns the last line of its output.

    Args:
        name: of the distribution.
        made: folder with the distributions.
        folder: empty; takes the environment and all files of the user.
        is_from_sources: compile the archive of sources instead of taking the wheel.

    Raises:
        SmokeError: if a step fails.
    """
    environment = folder / "environment"
    _run([sys.executable, "-m", "venv", environment], folder)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    pip: list[str | Path] = [python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    if is_from_sources:
        found = sorted(made.glob(f"{name.replace('-', '_')}-*.tar.gz"))
        if len(found) != 1:
            raise SmokeError(f"{made} contains {len(found)} archives of its sources: must be one")
        _run([*pip, found[0].resolve()], folder)
    else:
        # Without the index, so that a version that is published already does not take the place of the wheel.
        own: list[str | Path] = ["--no-index", "--no-deps", "--only-binary=:all:", "--find-links", made.resolve()]
        _run([*pip, *own, name], folder)
        _run([*pip, name], folder)
    if name == "subflow-simulator":
        return _run([python, ROOT / "packaging" / "try_wheel.py", ROOT / "assets" / "signatures.json"], folder)
    helper = Path(_run([python, "-c", _WHERE], folder), _HELPER)
    if sys.platform == "linux" and not os.access(helper, os.X_OK):
        raise SmokeError(f"{helper} is missing, or not a program")
    _run([programs / "subflow", "run", "demo", "--db", folder / "runs.db"], folder)
    return _run([programs / "subflow", "--selftest"], folder)


def _run(words: list[str | Path], folder: Path) -> str:
    """The last line that a program prints.

    Raises:
        SmokeError: if it fails; the text ends with its output.
    """
    command = [str(word) for word in words]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=folder, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0:
        raise SmokeError(f"{' '.join(command)} ended with exit code {done.returncode}:\n{text}")
    return text.rpartition("\n")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
