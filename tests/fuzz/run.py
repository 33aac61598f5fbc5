"""Feeds made-up input to the core (libFuzzer) or to the loader of scenarios (Atheris): `python3 dev.py fuzz [WHAT]`.

An input that fails stays in build/fuzz as a file crash-...
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from typing import Any

import dev

FOLDER = dev.BUILD / "fuzz"


def main() -> int:
    """Runs a fuzzer for some time; returns its exit code."""
    parser = argparse.ArgumentParser("dev.py fuzz", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("core", "loader"), default="core", help="left out: core")
    parser.add_argument("--seconds", type=int, default=300, help="how long; left out: 300")
    options = parser.parse_args()
    corpus = FOLDER / f"corpus-{options.what}"
    corpus.mkdir(parents=True, exist_ok=True)
    try:
        fuzzer, seeds = core() if options.what == "core" else loader()
    except dev.SetUpError as stop:
        sys.stderr.write(f"{stop}\n")
        return 1
    words = [*fuzzer, f"-max_total_time={options.seconds}", corpus, dev.ROOT / seeds]
    return subprocess.call([str(word) for word in words], cwd=FOLDER, env=dev.child_environment())


def core() -> tuple[list[Any], str]:
    """Builds the fuzzer of the core; returns its command and the folder of inputs to begin with.

    Raises:
        dev.SetUpError: if it cannot be built.
    """
    options = ["-DSUBFLOW_FUZZ=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DCMAKE_CXX_COMPILER={clang()}"]
    configure = [dev.BIN / "cmake", "-S", dev.ROOT, "-B", FOLDER / "core", "-G", "Ninja", *options]
    dev.do("Building the fuzzer", "fuzz-core", configure, [dev.BIN / "cmake", "--build", FOLDER / "core"])
    return [FOLDER / "core" / "fuzz_scenario", "-max_len=2000"], "tests/sim_core/corpus"


def loader() -> tuple[list[Any], str]:
    """Installs what fuzzes Python; returns the command and the folder of inputs to begin with.

    Raises:
        dev.SetUpError: if it cannot be installed.
    """
    atheris = dev.project()["project"]["optional-dependencies"]["fuzz"]
    dev.do("Installing Atheris", "fuzz-loader", [dev.PYTHON, "-m", "pip", "install", "--quiet", *atheris])
    return [dev.PYTHON, dev.ROOT / "tests/fuzz/fuzz_loader.py", "-max_len=4000"], "assets/scenarios"


def clang() -> str:
    """A clang++ that is new enough, installed where apt-get and root allow.

    Raises:
        dev.SetUpError: if there is none and none can be installed.
    """
    names = [f"clang++-{major}" for major in range(21, dev.OLDEST_CLANG, -1)]
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        install = [*dev.APT_GET, "install", "-y", "--no-install-recommends", "clang-16", "libclang-rt-16-dev"]
        dev.do("Installing clang-16", "apt-clang", [*dev.APT_GET, "update"], install)
        found = shutil.which("clang++-16")
    if found is None:
        raise dev.SetUpError("The fuzzer of the core needs clang 16 or newer: sudo apt-get install clang-16")
    return found


if __name__ == "__main__":
    sys.exit(main())
