"""What Subflow is made of, and under which licences: read from the disk, so that the window shows what really is there.

The packaged program has the texts of all its parts in ``licenses/`` with ``licenses/index.json``, which is made when it
is packaged. In a source tree the Python packages that are installed tell by their own metadata.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from subflow_app import __version__
from subflow_app.core.errors import ResourceError

INDEX = "index.json"
# Of Subflow's extras, what works in the window when it is there.
_EXTRAS = ("train", "pcap", "parquet")
_LGPL_NOTE = "Qt and its bindings are shared libraries of their own: other builds of the same version may replace them."
_NOTES = {
    "pyside6-essentials": _LGPL_NOTE,
    "shiboken6": _LGPL_NOTE,
    "pyside6-qtads": "A shared library of its own: another build for the same Qt may replace it.",
}
# Where a package's metadata leave it to the text.
_LICENCES = {"torch": "BSD-3-Clause", "pyside6-qtads": "LGPL-2.1-or-later"}
_TEXT_NAMES = re.compile(r"^(licen[cs]e|copying|notice|authors|copyright)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST_LICENCE = 80  # some packages give the whole text where a name belongs


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the program that has a licence.

    Attributes:
        name: as its makers call it.
        version: empty if it has none.
        licence: its SPDX expression, or its name.
        homepage: empty if there is none.
        note: anything else that has to be known, e.g. that it may be replaced.
        files: with the texts of the licence.
    """

    name: str
    version: str
    licence: str
    homepage: str
    note: str
    files: tuple[Path, ...]

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".rstrip()

    def text(self) -> str:
        """All there is to say, with the texts of the licence.

        Raises:
            ResourceError: if one of the files cannot be read.
        """
        head = [self.title, self.licence, self.homepage]
        parts = ["\n".join(line for line in head if line)]
        if self.note:
            parts.append(self.note)
        for file in self.files:
            try:
                text = file.read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise ResourceError(f"{file} cannot be read ({error.strerror}): install Subflow again") from error
            parts.append(f"---- {'/'.join(file.parts[-2:])} ----\n\n{text.strip()}")
        return "\n\n".join(parts) + "\n"


def licence_parts() -> tuple[Part, ...]:
    """All parts, Subflow itself first, then by name.

    Raises:
        ResourceError: if the index of the packaged program is missing or damaged.
    """
    bundle = getattr(sys, "_MEIPASS", None)
    parts = read_index(Path(bundle) / "licenses") if bundle else tuple(_installed())
    return tuple(sorted(parts, key=lambda part: (part.name.lower() != "subflow", part.name.lower())))


def read_index(folder: Path) -> tuple[Part, ...]:
    """The parts that a folder of licences lists.

    Raises:
        ResourceError: if its index is missing or damaged, or names files that are not there.
    """
    index = folder / INDEX
    try:
        entries = json.loads(index.read_text(encoding="utf-8"))
        parts = tuple(_part(folder, entry) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        raise ResourceError(f"{index} cannot be read ({reason}): install Subflow again") from error
    missing = [str(file) for part in parts for file in part.files if not file.is_file()]
    if missing:
        raise ResourceError(f"texts of licences are missing: {', '.join(missing[:3])}; install Subflow again")
    return parts


def _part(folder: Path, entry: dict[str, Any]) -> Part:
    name, version, licence, homepage, note = (
        str(entry[key] or "") for key in ("name", "version", "licence", "homepage", "note")
    )
    return Part(name, version, licence, homepage, note, tuple(folder / str(file) for file in entry["files"]))


# ---- a source tree ----


def _installed() -> Iterator[Part]:
    top = Path(__file__).resolve().parents[3] / "LICENSE"
    yield Part("Subflow", __version__, "MIT", "", "", (top,) if top.is_file() else ())
    python = Path(sysconfig.get_path("stdlib"), "LICENSE.txt")
    yield Part(
        "Python",
        platform.python_version(),
        "PSF-2.0",
        "https://docs.python.org/3/license.html",
        "",
        (python,) if python.is_file() else (),
    )
    seen = {"subflow"}
    waiting = list(_requirements(metadata.distribution("subflow"), _EXTRAS))
    while waiting:
        name = _normal(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another system, or of an extra that is not installed
        yield _part_of(name, distribution)
        waiting += _requirements(distribution, ())


def _requirements(distribution: metadata.Distribution, extras: tuple[str, ...]) -> Iterator[str]:
    """Names of what a package needs, with what it needs for some of its extras."""
    for requirement in distribution.requires or ():
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", requirement)
        name = _NAME.match(requirement)
        if name and (extra is None or extra.group(1) in extras):
            yield name.group()


def _part_of(name: str, distribution: metadata.Distribution) -> Part:
    told = distribution.metadata
    # Not `distribution.files`: it makes an object of each of PyTorch's fifteen thousand.
    lines = (distribution.read_text("RECORD") or "").splitlines()
    names = [line.partition(",")[0] for line in lines if ".dist-info/" in line]
    texts = [name for name in names if _TEXT_NAMES.match(name.rpartition("/")[2])]
    files = [Path(str(distribution.locate_file(name))) for name in texts]
    return Part(
        told["Name"],
        distribution.version,
        _licence(told) or _LICENCES.get(name, ""),
        _homepage(told),
        _NOTES.get(name, ""),
        tuple(sorted(file for file in files if file.is_file())),
    )


def _licence(told: metadata.PackageMetadata) -> str:
    classifiers = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line.startswith("License ::")
    ]
    for name in (_first(told, "License-Expression"), " or ".join(classifiers), _first(told, "License")):
        if name and len(name) <= _LONGEST_LICENCE and "\n" not in name:
            return name
    return ""


def _homepage(told: metadata.PackageMetadata) -> str:
    urls = dict(line.split(", ", 1) for line in told.get_all("Project-URL") or () if ", " in line)
    by_name = {name.lower(): url for name, url in urls.items()}
    found = _first(told, "Home-page") or by_name.get("homepage") or by_name.get("source") or by_name.get("repository")
    return found or next(iter(urls.values()), "")


def _first(told: metadata.PackageMetadata, name: str) -> str:
    return str((told.get_all(name) or [""])[0])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
