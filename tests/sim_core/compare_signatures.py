"""Run builds of the program `signatures` and compare their output: optimised and checked code must give the same.

compare_signatures.py PROGRAM PROGRAM ...    compare existing builds
compare_signatures.py --build FOLDER         build with gcc and clang, at -O0 and -O3, and compare

The newest installed version of each compiler builds at both levels, the oldest one only at -O0: it must compile.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVELS = ("-O0", "-O3")
# The lower bounds are those of the core (OLDEST_GCC and OLDEST_CLANG in dev.py).
COMPILERS = {"gcc": ("g++", 12, 16), "clang": ("clang++", 15, 22)}


def main(words: list[str]) -> int:
    """Returns the exit code: 1 if the texts differ or are empty."""
    programs = built(Path(words[1])) if words[0] == "--build" else words
    first, *others = (subprocess.run([one], capture_output=True, text=True, check=True).stdout for one in programs)
    for program, other in zip(programs[1:], others, strict=True):
        pairs = zip(first.splitlines(), other.splitlines(), strict=True)
        different = [f"{one}  {two}" for one, two in pairs if one != two]
        if different or not first:
            sys.stdout.write("\n".join([f"{programs[0]} and {program} differ:", *different, ""]))
            return 1
    sys.stdout.write(f"{len(first.splitlines())} signatures are the same in {len(programs)} builds\n")
    return 0


def built(folder: Path) -> list[str]:
    """The program of each compiler at each level; prints the missing compilers."""
    programs = []
    for name, (program, oldest, newest) in COMPILERS.items():
        compilers = found(program, oldest, newest)
        if not compilers:
            sys.stdout.write(f"not compared: {name}, as no {program} from version {oldest} on is installed\n")
            continue
        last, first = max(compilers), min(compilers)
        cases = [(last, level) for level in LEVELS] + [(first, LEVELS[0])] * (first != last)
        for version, level in cases:
            compiler = compilers[version]
            build = folder / f"{name}-{version}{level}"
            configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DSUBFLOW_TESTS=ON"]
            configure += [f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={level}"]
            configure += ["-DSUBFLOW_VALIDATE=OFF", "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF"]
            for command in (configure, ["cmake", "--build", str(build), "--target", "signatures"]):
                subprocess.run(command, check=True)
            programs.append(str(build / "signatures"))
    return programs


def found(program: str, oldest: int, newest: int) -> dict[int, str]:
    """The installed compilers of that name, by version."""
    compilers: dict[int, str] = {}
    for name in (program, *(f"{program}-{version}" for version in range(newest, oldest - 1, -1))):
        path = shutil.which(name)
        if path is None:
            continue
        told = subprocess.run([path, "-dumpversion"], capture_output=True, text=True, check=False).stdout
        major = re.match(r"\d+", told)
        if major and int(major[0]) >= oldest:
            compilers.setdefault(int(major[0]), path)
    return compilers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
