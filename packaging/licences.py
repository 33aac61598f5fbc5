"""Licences of everything in the bundle, derived from its files: texts on disk, and a list for the About page.

``licenses/index.json`` is a list of parts: ``{"name", "version", "licence", "homepage", "kind", "files", "note"}``.
``kind`` is "program", "python" (a package), "library" (compiled, by others) or "data"; ``files`` are paths of licence
texts below the folder ``licenses``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

from linux.needs import packages_of
from subflow_app.distribution import DISTRIBUTION
from subflow_app.features.about.core import INDEX, homepage_of, licence_of

TEXTS = Path(__file__).parent / "licence_texts"

_LICENCE_FILE = re.compile(r"(^|/)(licen[cs]e|copying|notice|authors)[^/]*$|/licenses?/", re.IGNORECASE)
_REPLACEABLE = (
    "It is a library of its own in the folder {folder} of the program: put a build of yours with the same interface in "
    "its place, and the program uses that."
)
_QT_NOTE = (
    "Qt is used under the LGPL, version 3; its sources are at https://download.qt.io/official_releases/. "
    + _REPLACEABLE.format(folder="PySide6")
    + " Third-party parts of Qt are listed at https://doc.qt.io/qt-6/licenses-used-in-qt.html."
)
_ADS_NOTE = (
    "Used under the LGPL, version 2.1; its sources are at "
    "https://github.com/githubuser0xFFFF/Qt-Advanced-Docking-System. " + _REPLACEABLE.format(folder="PySide6QtAds")
)
_CONTAINED = {"subflow-kernel-helper": "libc6"}
"""Programs of ours that contain a library of the system, with the library's Debian package."""


class LicenceError(Exception):
    """The bundle contains a file of unknown origin, or a part without a licence text."""


@dataclass
class Part:
    """A part of the bundle with its own copyright.

    Attributes:
        name: the authors' spelling.
        version: empty if unknown.
        licence: an SPDX expression, or else the authors' wording.
        homepage: address of the project.
        kind: see the docstring of the module.
        texts: files with its licence on this machine, by their names in the bundle.
        note: a further notice, such as the conditions of the LGPL.
    """

    name: str
    version: str
    licence: str
    homepage: str
    kind: str
    texts: dict[str, Path] = field(default_factory=dict)
    note: str = ""


def collect(sources: Iterable[str | Path], folder: Path, root: Path) -> list[Part]:
    """Writes the licence texts of all parts and their list into a new folder.

    Args:
        sources: source paths of the bundle's files and modules.
        folder: replaced if it exists.
        root: the source tree; its files belong to Subflow.

    Returns:
        The parts, the program first, the others by kind and name.

    Raises:
        LicenceError: if a file belongs to no known part, or a part lacks a licence text.
    """
    sources = list(sources)
    parts = {"Subflow": _own_part(root), "Python": _python_part(), "PyInstaller": _bootloader_part()}
    others = []
    for source in sorted({Path(source) for source in sources if source and source != "-"}):
        name = _distribution_of(source)
        if name is not None:
            if name not in parts:
                parts[name] = _distribution_part(name)
        elif source.is_file() and not _is_ours(source, root) and not _is_of_python(source):
            others.append(source)
    packages = _system_packages(others)
    if unknown := [str(source) for source in others if source not in packages]:
        raise LicenceError(f"the origin of these files of the bundle is unknown: {', '.join(unknown)}")
    parts |= {package: _system_part(package) for package in sorted(set(packages.values()))}
    for program in sorted(_CONTAINED.keys() & {Path(source).name for source in sources if source}):
        part = parts[_CONTAINED[program]] = _system_part(_CONTAINED[program])
        part.note = f"Part of the program {program}, whose source is Subflow's. {part.note}"
    ordered = sorted(parts.values(), key=lambda part: (_KINDS.index(part.kind), part.name.lower()))
    if without := [part.name for part in ordered if not part.texts]:
        raise LicenceError(f"no licence text was found for {', '.join(without)}")
    _write(ordered, folder)
    return ordered


_WINDOWS_RUNTIME = "Microsoft Visual C++ runtime"
_KINDS = ("program", "python", "library", "data")


def _write(parts: list[Part], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    index = []
    for part in parts:
        files = []
        for name, source in sorted(part.texts.items()):
            file = f"{re.sub(r'[^A-Za-z0-9.+_-]+', '-', part.name)}/{name}"
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(source.read_bytes())
            files.append(file)
        described = {key: value for key, value in asdict(part).items() if key != "texts"}
        index.append({**described, "files": files})
    text = json.dumps(index, indent=1, ensure_ascii=False) + "\n"
    (folder / INDEX).write_text(text, encoding="utf-8")


def _own_part(root: Path) -> Part:
    about = metadata.metadata(DISTRIBUTION)
    texts = {"LICENSE": root / "LICENSE"}
    return Part("Subflow", str(about["Version"]), "MIT", "", "program", texts)


def _python_part() -> Part:
    library = Path(sysconfig.get_path("stdlib"))
    candidates = (
        library / "LICENSE.txt",
        Path(sys.base_prefix) / "LICENSE.txt",
        Path(f"/usr/share/doc/python{sysconfig.get_python_version()}/copyright"),
    )
    text = next((path for path in candidates if path.is_file()), None)
    texts = {} if text is None else {"LICENSE.txt": text}
    return Part("Python", platform.python_version(), "PSF-2.0", "https://www.python.org", "program", texts)


def _bootloader_part() -> Part:
    part = _distribution_part("pyinstaller")
    part.name, part.kind = "PyInstaller", "program"
    part.licence = "GPL-2.0-or-later WITH Bootloader-exception"
    part.note = "Only its bootloader, which starts the program, is part of it; the exception allows that."
    return part


def _distribution_part(name: str) -> Part:
    distribution = metadata.distribution(name)
    texts = {
        _short_name(str(file)): Path(str(distribution.locate_file(file)))
        for file in distribution.files or ()
        if _LICENCE_FILE.search(str(file)) and file.suffix not in (".py", ".pyc")
    }
    part = Part(
        distribution.name,
        distribution.version,
        licence_of(distribution) or "see its text",
        homepage_of(distribution),
        "python",
        texts,
    )
    if name.lower().startswith(("pyside6_essentials", "shiboken6")):
        part.texts = {path.name: path for path in (TEXTS / "LGPL-3.0.txt", TEXTS / "GPL-3.0.txt")}
        part.kind, part.note = "library", _QT_NOTE
        if part.name.lower().startswith("pyside6"):
            part.name = "Qt and PySide6"
            part.texts |= {path.name: path for path in sorted(TEXTS.glob("ICU*.txt"))}
    elif name.lower() == "pyside6-qtads":
        part.kind, part.note, part.licence = "library", _ADS_NOTE, "LGPL-2.1-or-later"
    elif name.lower() == "qtawesome":
        part.kind = "data"
        part.note = "Of it only two icon fonts: Phosphor (MIT) and Material Design Icons (Apache-2.0)."
    return part


def _short_name(file: str) -> str:
    """Path of a licence text below its part's folder, without the metadata folder."""
    return re.sub(r"^.*?\.dist-info/(licenses/)?", "", file).removeprefix("./")


@cache
def _distributions() -> Mapping[str, str]:
    """Distribution of each installed file, by its real path."""
    found = {}
    for distribution in metadata.distributions():
        name = distribution.name  # a property that reads a file at each access
        # outside the inner loop: distributions have tens of thousands of files
        folder = os.path.realpath(str(distribution.locate_file("")))
        for file in distribution.files or ():
            found[os.path.normpath(f"{folder}/{file}")] = name
    return found


def _distribution_of(source: Path) -> str | None:
    name = _distributions().get(os.path.realpath(source))
    return None if name == DISTRIBUTION else name


def _is_ours(source: Path, root: Path) -> bool:
    inside = source.resolve().is_relative_to(root.resolve()) and "site-packages" not in source.parts
    return inside or _distributions().get(os.path.realpath(source)) == DISTRIBUTION


def _is_of_python(source: Path) -> bool:
    prefix = Path(sys.base_prefix).resolve()
    paths = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]
    if prefix not in (Path("/usr"), Path("/")):
        paths.append(prefix)
    return any(source.resolve().is_relative_to(path) for path in paths) or source.name.startswith("libpython")


def _system_packages(sources: list[Path]) -> dict[Path, str]:
    """Debian packages of system libraries; on Windows the only system library is Microsoft's runtime."""
    if sys.platform == "win32":
        runtime = re.compile(r"(vcruntime|msvcp|ucrtbase|api-ms-win)")
        return {source: _WINDOWS_RUNTIME for source in sources if runtime.match(source.name.lower())}
    with suppress(OSError):  # a system without dpkg
        return packages_of(sources)
    return {}


def _system_part(package: str) -> Part:
    if sys.platform == "win32":
        licence = "Redistributable part of Microsoft Visual Studio"
        text = TEXTS / "Microsoft-Visual-C++-runtime.txt"
        return Part(package, "", licence, "https://visualstudio.microsoft.com", "library", {text.name: text})
    text = Path("/usr/share/doc") / package / "copyright"
    version = _output("dpkg-query", "-W", "-f", "${Version}\n", package).splitlines()[:1]
    homepage = _output("dpkg-query", "-W", "-f", "${Homepage}\n", package).splitlines()[:1]
    named = re.findall(r"^License: *(\S.*)$", text.read_text(errors="replace"), re.MULTILINE) if text.is_file() else []
    return Part(
        package,
        "".join(version),
        ", ".join(sorted(set(named))) or "see its text",
        "".join(homepage),
        "library",
        {"copyright": text} if text.is_file() else {},
        "As Debian ships it; its sources are in Debian's archive.",
    )


def _output(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
