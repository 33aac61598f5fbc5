"""The core on Windows: compiled by mingw-w64 and run under Wine. A missing tool is reported.

windows.py NATIVE           compare the output of `signatures` there with that of the native program NATIVE
windows.py NATIVE --full    also run all C++ tests there
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "windows"
TOOLCHAIN = Path(__file__).resolve().parent / "windows.cmake"
COMPILER = "x86_64-w64-mingw32-g++"
GOOGLETEST = Path("/usr/src/googletest")


def main(words: list[str]) -> int:
    """Returns the exit code: 1 if something differs or a test fails."""
    wine = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
    missing = [name for name, there in (("wine64", wine), (COMPILER, shutil.which(COMPILER))) if not there]
    missing += [] if GOOGLETEST.is_dir() else ["googletest"]
    if missing or wine is None:
        sys.stdout.write(f"not compared: {', '.join(missing)} not installed\n")
        return 0
    native, is_full = words[0], "--full" in words[1:]
    configure = ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", "-DSUBFLOW_TESTS=ON"]
    # No test measures time there, and -O3 takes a fifth more to compile.
    configure += ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1"]
    # Some tests need the checks, which signatures run without.
    configure += [f"-DSUBFLOW_VALIDATE={'ON' if is_full else 'OFF'}", f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}"]
    targets = ["signatures", *(["subflow_core_tests"] if is_full else [])]
    for command in (configure, ["cmake", "--build", str(BUILD), "--target", *targets]):
        subprocess.run(command, check=True)
    expected = subprocess.run([native], capture_output=True, text=True, check=True).stdout
    found = under_wine(wine, "signatures.exe").stdout.decode().replace("\r\n", "\n")
    if found != expected or not expected:
        sys.stdout.write(f"{native} prints\n{expected}\nand under Wine it is\n{found}\n")
        return 1
    sys.stdout.write(f"{len(expected.splitlines())} signatures are those of Windows\n")
    if is_full:
        tests = under_wine(wine, "subflow_core_tests.exe", "--gtest_brief=1", is_shown=True)
        return 1 if tests.returncode else 0
    return 0


def under_wine(wine: str, program: str, *words: str, is_shown: bool = False) -> subprocess.CompletedProcess[bytes]:
    """Runs a program of the build in a private Windows of Wine, which is created once, in ten seconds."""
    # Outside the user's home, where Wine would add menus and file types.
    home = BUILD / "wine"
    home.mkdir(exist_ok=True)
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env |= {"HOME": str(home), "WINEPREFIX": str(home), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
    try:
        output = None if is_shown else subprocess.PIPE
        return subprocess.run([wine, BUILD / program, *words], env=env, stdout=output, check=False)
    finally:
        server = shutil.which("wineserver") or "/usr/lib/wine/wineserver"
        subprocess.run([server, "-k"], env=env, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
