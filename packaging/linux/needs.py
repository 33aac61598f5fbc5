"""Which packages of the system the bundle needs: read from its own libraries, not from a list that grows old."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

# Data that a library reads from the system although it is itself in the bundle.
_DATA_OF = {
    "libfontconfig.so.1": "fontconfig-config",  # where fonts are; it brings a font as well
    "libxkbcommon.so.0": "xkb-data",  # keyboard layouts
}
_LIBC = "libc6"
# Files that a command line takes at once; Linux allows many more.
_AT_ONCE = 500


class UnknownLibraryError(Exception):
    """A library is needed that is neither in the bundle nor on this machine."""


def depends(bundle: Path) -> list[str]:
    """The packages that have to be there, as in the field Depends, sorted.

    Raises:
        UnknownLibraryError: if something in the bundle needs a library that nobody here has.
        OSError: if readelf (package binutils), ldconfig or dpkg is not there.
    """
    binaries = [path for path in sorted(bundle.rglob("*")) if path.is_file() and not path.is_symlink() and is_elf(path)]
    needed_by, glibc = _read(binaries)
    inside = {path.name for path in bundle.rglob("*")}
    outside = {name: user for name, user in needed_by.items() if name not in inside}
    packages = _packages(outside)
    packages |= {package for library, package in _DATA_OF.items() if library in inside}
    if glibc:
        packages.discard(_LIBC)
        packages.add(f"{_LIBC} (>= {'.'.join(map(str, glibc))})")
    return sorted(packages)


def is_elf(path: Path) -> bool:
    """Whether a file is a program or a library of Linux."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _read(binaries: list[Path]) -> tuple[dict[str, str], tuple[int, ...]]:
    """The libraries that are needed, each with a file that needs it, and the newest glibc that is asked for."""
    needed_by: dict[str, str] = {}
    glibc: tuple[int, ...] = ()
    for start in range(0, len(binaries), _AT_ONCE):
        command = ["readelf", "--wide", "--dynamic", "--version-info", *map(str, binaries[start : start + _AT_ONCE])]
        told = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout
        # With one file alone, readelf does not say its name.
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
    """The packages that hold libraries of this system.

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
    return {_package_of(Path(places[library])) for library in libraries}


def _package_of(library: Path) -> str:
    for name in _names(library):
        answer = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.partition(":")[0]
    raise UnknownLibraryError(f"{library} belongs to no package of this system")


def _names(library: Path) -> Iterable[str]:
    """What dpkg may call a file: /lib is a link to /usr/lib today, but packages were made before that."""
    for path in (library, library.resolve()):
        yield str(path)
        yield str(path).removeprefix("/usr") if str(path).startswith("/usr/") else f"/usr{path}"
