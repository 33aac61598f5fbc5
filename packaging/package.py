"""Freezes the program and makes the installer of this platform: what `dev.py package` runs."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import dataclass_code
import freezing
import guided_core
import icons
import sizes

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "build" / "package"
PREPARED = OUTPUT / "prepared"
BUNDLE = OUTPUT / "dist" / "subflow"


class PackageError(Exception):
    """The program cannot be packaged; the text contains the reason."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="dev.py package", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="compress Linux packages in seconds, into larger files")
    parser.add_argument("--bundle-only", action="store_true", help="freeze and check, make no installer")
    options = parser.parse_args(arguments)
    try:
        prepare()
        freeze(guided_core.build(OUTPUT / "core", _step))
        check(BUNDLE)
        packages = [] if options.bundle_only else make_installers(is_quick=options.quick)
    except PackageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(sizes.report(BUNDLE, packages, OUTPUT), end="")
    return 0


def prepare() -> None:
    """Prepares files for the bundle that the sources lack: the built guide, and icons for other systems."""
    shutil.rmtree(PREPARED, ignore_errors=True)
    PREPARED.mkdir(parents=True)
    words: list[str | Path] = [sys.executable, "-m", "sphinx", "-b", "html", "-E", "-W", "--keep-going"]
    words += ["-d", OUTPUT / "doctrees", ROOT / "docs", PREPARED / "guide"]
    _step("Building the guide", "guide", words)
    # Sphinx writes its sources and notes beside the pages.
    for name in ("_sources", "objects.inv", ".buildinfo"):
        path = PREPARED / "guide" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    icons.write(PREPARED)
    words = [sys.executable, ROOT / "packaging" / "dataclass_code.py", PREPARED / dataclass_code.FILE]
    _step("Compiling data classes", "dataclasses", words, {"QT_QPA_PLATFORM": "offscreen"})


def freeze(core: Path | None) -> None:
    """Makes the bundle anew with PyInstaller.

    Removes the old bundle first, because modules and libraries of earlier versions would stay in it.

    Args:
        core: compiled for the bundle; None for the installed one.
    """
    shutil.rmtree(BUNDLE.parent, ignore_errors=True)
    words: list[str | Path] = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--distpath", BUNDLE.parent]
    words += ["--workpath", OUTPUT / "work", ROOT / "packaging" / "subflow.spec"]
    environment = {"SUBFLOW_PREPARED": str(PREPARED)} | ({} if core is None else {"SUBFLOW_CORE": str(core)})
    _step("Freezing the program", "freeze", words, environment)


def check(bundle: Path) -> None:
    """Runs the bundle's self-test.

    Raises:
        PackageError: if the self-test fails.
    """
    program = freezing.program_file(bundle)
    _step("Self-test of the frozen program", "selftest", [program, "--selftest", "--out", OUTPUT / "selftest.json"])


def make_installers(*, is_quick: bool) -> list[Path]:
    """Makes the installers of this platform and returns their paths.

    Args:
        is_quick: fast compression into larger files.
    """
    version = freezing.version(ROOT)
    if sys.platform == "win32":
        from windows import installer

        return [installer.make(BUNDLE, OUTPUT, version=version)]
    if sys.platform == "darwin":
        from macos import image

        return [image.make(OUTPUT / "dist" / "Subflow.app", OUTPUT, version=version)]
    from linux import deb, tarball

    compression = "zstd" if is_quick else "xz"
    made = []
    for name, maker in (("Debian package", deb.make), ("tarball", tarball.make)):
        started = time.monotonic()
        made.append(maker(BUNDLE, OUTPUT, version=version, compression=compression))
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    return made


def _step(what: str, log_name: str, words: Sequence[str | Path], environment: dict[str, str] | None = None) -> None:
    """Runs a program, writes its output to a log, and prints the elapsed time.

    Raises:
        PackageError: if it fails; the text contains the end of the log.
    """
    log = OUTPUT / "logs" / f"{log_name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"{what} ...", end=" ", flush=True)
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    print(f"{time.monotonic() - started:.0f} s", flush=True)
    if done.returncode != 0:
        last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        raise PackageError(f"{what.lower()} failed with exit code {done.returncode}; {log} ends with:\n{last}")


if __name__ == "__main__":
    sys.exit(main())
