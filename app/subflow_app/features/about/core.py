"""Licences of Subflow and of all parts that ship with it, read from files.

The About dialog therefore lists the parts that are actually installed. The packaged program contains the licence texts
and their list, ``licenses/index.json``, both written by the packaging. In a source tree, the list is derived from the
metadata of the installed Python packages.
"""

from __future__ import annotations

import json
import platform
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from subflow_app import __version__
from subflow_app.distribution import DISTRIBUTION
from subflow_app.foundation.errors import ResourceError
from subflow_app.foundation.paths import bundle_folder
from subflow_sim.gate import is_file

INDEX = "index.json"
# Optional dependencies of Subflow that the window uses if they are installed.
_EXTRAS = ("train", "pcap")
_LGPL_NOTE = "Qt and its bindings are separate shared libraries: other builds of the same version may replace them."
_NOTES = {
    "pyside6-essentials": _LGPL_NOTE,
    "shiboken6": _LGPL_NOTE,
    "pyside6-qtads": "A separate shared library: another build for the same Qt may replace it.",
}
# Licences of packages whose metadata name no licence.
_LICENCES = {"pyside6-qtads": "LGPL-2.1-or-later"}
_TEXT_NAMES = re.compile(r"^(licen[cs]e|copying|notice|authors|copyright)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST_LICENCE = 80  # some packages put the full text into the name field


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the program that has a licence.

    Attributes:
        name: name as written by the authors of the part.
        version: version number; may be empty.
        licence: SPDX expression or name of the licence; may be empty.
        homepage: address of the homepage; may be empty.
        note: further conditions, e.g. that the library may be replaced; may be empty.
        files: paths of the licence texts.
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
        """Title, licence, homepage and note, followed by the licence texts.

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
    """All parts: Subflow first, the others sorted by name.

    Raises:
        ResourceError: if the index of the packaged program is missing or damaged.
    """
    bundle = bundle_folder()
    parts = read_index(bundle / "licenses") if bundle else tuple(_installed())
    return tuple(sorted(parts, key=lambda part: (part.name.lower() != "subflow", part.name.lower())))


def read_index(folder: Path) -> tuple[Part, ...]:
    """Parts listed in the index of a folder of licences.

    Raises:
        ResourceError: if the index is missing or damaged, or names missing files.
    """
    index = folder / INDEX
    try:
        entries = json.loads(index.read_text(encoding="utf-8"))
        parts = tuple(_part(folder, entry) for entry in entries)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        raise ResourceError(f"{index} cannot be read ({reason}): install Subflow again") from error
    missing = [str(file) for part in parts for file in part.files if not is_file(file)]
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
    top = Path(__file__).resolve().parents[4] / "LICENSE"
    yield Part("Subflow", __version__, "MIT", "", "", (top,) if is_file(top) else ())
    python = Path(sysconfig.get_path("stdlib"), "LICENSE.txt")
    yield Part(
        "Python",
        platform.python_version(),
        "PSF-2.0",
        "https://docs.python.org/3/license.html",
        "",
        (python,) if is_file(python) else (),
    )
    seen = {DISTRIBUTION}
    waiting = list(_requirements(metadata.distribution(DISTRIBUTION), _EXTRAS))
    while waiting:
        name = _normal(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # required only on another system, or by an extra that is not installed
        yield _part_of(name, distribution)
        waiting += _requirements(distribution, ())


def _requirements(distribution: metadata.Distribution, extras: tuple[str, ...]) -> Iterator[str]:
    """Names of the packages that a package requires, including those of the given extras."""
    for requirement in distribution.requires or ():
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", requirement)
        name = _NAME.match(requirement)
        if name and (extra is None or extra.group(1) in extras):
            yield name.group()


def _part_of(name: str, distribution: metadata.Distribution) -> Part:
    # `distribution.files` would create an object for each of PyTorch's fifteen thousand files.
    lines = (distribution.read_text("RECORD") or "").splitlines()
    names = [line.partition(",")[0] for line in lines if ".dist-info/" in line]
    texts = [name for name in names if _TEXT_NAMES.match(name.rpartition("/")[2])]
    files = [Path(str(distribution.locate_file(name))) for name in texts]
    return Part(
        distribution.name,
        distribution.version,
        licence_of(distribution) or _LICENCES.get(name, ""),
        homepage_of(distribution),
        _NOTES.get(name, ""),
        tuple(sorted(file for file in files if is_file(file))),
    )


def licence_of(distribution: metadata.Distribution) -> str:
    """Licence named in the metadata of an installed package; empty if the metadata contain no short name."""
    told = distribution.metadata.json
    expression = told.get("license_expression")
    if expression:
        return str(expression)
    stated = str(told.get("license") or "").strip()
    if stated and "\n" not in stated and len(stated) <= _LONGEST_LICENCE and not stated.startswith("="):
        return stated
    classifiers = [str(each) for each in told.get("classifier", ())]
    return ", ".join(each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License ::"))


def homepage_of(distribution: metadata.Distribution) -> str:
    """Homepage of an installed package; empty if the metadata name none."""
    told = distribution.metadata.json
    urls = dict(str(each).split(", ", 1) for each in told.get("project_url", ()))
    by_name = {name.lower(): url for name, url in urls.items()}
    named = next((by_name[name] for name in ("homepage", "source", "repository") if name in by_name), "")
    return named or str(told.get("home_page") or next(iter(urls.values()), ""))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
