"""System packages that the bundle depends on, derived from its libraries: a fixed list would become outdated."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from linux.archive import is_elf

# Data that a bundled library reads from the system.
_DATA_OF = {
    "libfontconfig.so.1": "fontconfig-config",  # locations of fonts; it depends on a package with a font
    "libxkbcommon.so.0": "xkb-data",  # keyboard layouts
}
_LIBC = "libc6"
# Files per command line, far below the limit of Linux.
_AT_ONCE = 500


class UnknownLibraryError(Exception):
    """A required library is neither in the bundle nor on this machine."""


def depends(bundle: Path) -> list[str]:
    """Required packages as in the field Depends, sorted.

    Raises:
        UnknownLibraryError: if a file in the bundle needs a library that this system lacks.
        OSError: if readelf (package binutils), ldconfig or dpkg is not installed.
    """
    binaries = [path for path in sorted(bundle.rglob("*")) if path.is_file() and not path.is_symlink() and is_elf(path)]
    needed_by, glibc = read_binaries(binaries)
    inside = {path.name for path in bundle.rglob("*")}
    outside = {name: user for name, user in needed_by.items() if name not in inside}
    packages = _packages(outside)
    packages |= {package for library, package in _DATA_OF.items() if library in inside}
    if glibc:
        packages.discard(_LIBC)
        packages.add(f"{_LIBC} (>= {'.'.join(map(str, glibc))})")
    return sorted(packages)


def read_binaries(binaries: list[Path]) -> tuple[dict[str, str], tuple[int, ...]]:
    """Required libraries, each with a file that needs it, and the newest version of glibc required."""
    needed_by: dict[str, str] = {}
    glibc: tuple[int, ...] = ()
    for start in range(0, len(binaries), _AT_ONCE):
        command = ["readelf", "--wide", "--dynamic", "--version-info", *map(str, binaries[start : start + _AT_ONCE])]
        told = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout
        # readelf prints no file name if it reads only one file.
        user = str(binaries[start])
        for line in told.splitlines():
            if line.startswith("File: "):
                user = line.removeprefix("File: ")
            elif library := re.search(r"\(NEEDED\).*\[(.+)\]", line):
                needed_by.setdefault(library[1], user)
            elif (version := re.search(r"Name: GLIBC_([0-9.]+)\s", line)) is not None:
                glibc = max(glibc, tuple(map(int, version[1].split("."))))
    return needed_by, glibc


def _packages(libraries: dict[str, str]) -> set[str]:
    """Packages that contain libraries of this system.

    Args:
        libraries: names of libraries, each with a file that needs it.
    """
    if not libraries:
        return set()
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    places: dict[str, str] = {}
    for name, place in re.findall(r"^\s+(\S+) \(libc6,[^)]*\) => (\S+)$", listed, re.MULTILINE):
        places.setdefault(name, place)
    missing = sorted(library for library in libraries if library not in places)
    if missing:
        lines = [f"  {library}, needed by {libraries[library]}" for library in missing]
        raise UnknownLibraryError(
            "\n".join(["neither in the bundle nor on this machine; install them before freezing:", *lines])
        )
    files = {Path(places[library]) for library in libraries}
    packages = packages_of(files)
    if of_none := sorted(str(file) for file in files if file not in packages):
        raise UnknownLibraryError(f"these belong to no package of this system: {', '.join(of_none)}")
    return set(packages.values())


def packages_of(files: Iterable[Path]) -> dict[Path, str]:
    """Packages that contain files of this system; leaves out files of no package.

    Raises:
        OSError: if dpkg is not installed.
    """
    ways: dict[str, list[Path]] = {}
    for file in files:
        for way in _ways_to(file):
            ways.setdefault(way, []).append(file)
    # One call for all files: dpkg reads the lists of all packages at each call.
    command = ["dpkg", "-S", *ways]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout if ways else ""
    found = {}
    for line in told.splitlines():
        package, _, path = line.rpartition(": ")
        for file in ways.get(path, ()):
            found[file] = package.partition(":")[0].partition(",")[0]
    return found


def _ways_to(file: Path) -> set[str]:
    """Paths under which dpkg may list a file: /lib is a link to /usr/lib, but older packages list files in /lib."""
    known = {str(file), str(file.resolve())}
    return known | {path.removeprefix("/usr") if path.startswith("/usr/") else f"/usr{path}" for path in known}
