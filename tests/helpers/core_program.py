"""A program on a copy of the core with additions of a test, compiled as quickly as possible."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")


def copied_core(folder: Path) -> Path:
    """A copy of the core's sources; skips the test without a C++ compiler."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    return shutil.copytree(ROOT / "sim" / "core", folder / "core")


def said_by(folder: Path, core: Path, program: str, helpers: Sequence[Path] = ()) -> str:
    """Output of a program compiled with the core, without optimisation because it runs only for a moment.

    Args:
        folder: for the object files and the program.
        core: the copy of the core.
        program: text of the file with `main`.
        helpers: further sources, with their headers beside them.
    """
    (folder / "program.cpp").write_text(program, encoding="utf-8")
    units: list[Path] = []
    # One unit per folder: separate sources would parse the same headers and templates again, and a single unit would
    # contain duplicate names of different sources.
    for inside in sorted({source.parent for source in core.rglob("*.cpp")}):
        unit = folder / f"unit{len(units)}.cpp"
        lines = [f'#include "{source}"\n' for source in sorted(inside.glob("*.cpp"))]
        unit.write_text("".join(lines), encoding="utf-8")
        units.append(unit)
    includes = [f"-I{each}" for each in (core, *sorted({helper.parent for helper in helpers}))]
    command = [COMPILER, "-std=c++20", "-O0", "-ffp-contract=off", *includes, *helpers, folder / "program.cpp", *units]
    made = folder / "program"
    done = subprocess.run(
        [*(str(word) for word in command), "-o", str(made)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(made)], capture_output=True, text=True, check=True, timeout=120).stdout
