"""A program on a copy of the core to which a test has added something, compiled as quickly as it can be."""

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
    """A copy of the core's sources; skips the test where there is no compiler for them."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    return shutil.copytree(ROOT / "sim" / "core", folder / "core")


def said_by(folder: Path, core: Path, program: str, helpers: Sequence[Path] = ()) -> str:
    """What a program prints that is compiled with the core, without optimisation: it runs for a moment.

    Args:
        folder: for what is made.
        core: the copy.
        program: text of its file with `main`.
        helpers: further sources, whose headers lie beside them.
    """
    (folder / "program.cpp").write_text(program, encoding="utf-8")
    units: list[Path] = []
    # A folder at once: each source alone would read the same headers and make the same templates again; all together
    # would have names twice that each has for itself.
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
