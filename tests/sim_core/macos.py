"""Compile and link the program `signatures` for macOS, arm64 and x86_64, by the compiler that `dev.py web` fetches.

The programs are not run here. The C++ library is newer than that of the oldest Mac; linking shows that the core needs
no function of Linux.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.web import SOURCES_AT_ONCE, compiler

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "macos"
TARGETS = ("aarch64-macos.14.0", "x86_64-macos.14.0")
OPTIONS = ("-std=c++20", "-O0", "-ffp-contract=off", "-fno-sanitize=all", "-I.", "-Isim/core", "-Itests/sim_core")
PROGRAM = ("signatures", "random_scenario", "scenarios")


def main() -> int:
    """Returns the exit code; fails at a target that does not compile or link."""
    zig = compiler()
    for target in TARGETS:
        program = linked(zig, target)
        sys.stdout.write(f"{target}: {program.stat().st_size / 1e6:.1f} MB, {kind(program)}\n")
    return 0


def kind(program: Path) -> str:
    """Kind of a Mach-O file by its header.

    Raises:
        ValueError: if it is not a 64-bit executable.
    """
    magic, processor, _, file_type = struct.unpack("<4I", program.read_bytes()[:16])
    if magic != 0xFEEDFACF or file_type != 2:
        raise ValueError(f"{program} begins with {magic:#x} and has the type {file_type}: it cannot be run on a Mac")
    return {0x0100000C: "arm64", 0x01000007: "x86_64"}[processor]


def linked(zig: list[str], target: str) -> Path:
    """The program for a target, from objects of several sources each."""
    folder = BUILD / target
    folder.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "cache"), "ZIG_LOCAL_CACHE_DIR": str(BUILD / "cache")}
    core = sorted((ROOT / "sim" / "core").rglob("*.cpp"))
    units = [core[first : first + SOURCES_AT_ONCE] for first in range(0, len(core), SOURCES_AT_ONCE)]
    units += [[ROOT / "tests" / "sim_core" / f"{name}.cpp" for name in PROGRAM]]

    def compile_one(number: int) -> Path:
        source = folder / f"unit_{number}.cpp"
        lines = [f'#include "{path.relative_to(ROOT).as_posix()}"\n' for path in units[number]]
        source.write_text("".join(lines), encoding="utf-8")
        made = source.with_suffix(".o")
        words = [*zig, "c++", "-target", target, *OPTIONS, "-c", str(source), "-o", str(made)]
        subprocess.run(words, check=True, cwd=ROOT, env=env)
        return made

    with ThreadPoolExecutor(2) as threads:
        objects = list(threads.map(compile_one, range(len(units))))
    program = folder / "signatures"
    words = [*zig, "c++", "-target", target, *map(str, objects), "-o", str(program)]
    subprocess.run(words, check=True, cwd=ROOT, env=env)
    return program


if __name__ == "__main__":
    sys.exit(main())
