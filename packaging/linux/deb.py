"""The Debian package: the bundle in /usr/lib/subflow, and the files for the desktop.

A .deb is an ar archive of three members: the format's version, a tar archive about the package, and a tar archive of
its files. This module writes it directly, which needs neither root nor debhelper and is reproducible. Maintainer
scripts are not needed: triggers of other packages update menus, file types and icons.

Source: deb(5), deb-control(5), Debian Policy 4.6.2.
"""

from __future__ import annotations

import hashlib
import io
import platform
import re
import tempfile
import textwrap
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import IO

from linux import needs, share
from linux.archive import COMPRESSIONS, ROOT, Tree, compressed, release_time_s, write_tar

HOME = "usr/lib/subflow/"
LICENCES = "_internal/licenses"
# The format requires an address; RFC 2606 reserves ".invalid" for addresses that receive no mail.
_MAINTAINER = "Subflow contributors <contributors@subflow.invalid>"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_DESCRIPTION = """\
workbench for multipath congestion control
 Subflow lets you draw a topology, pick congestion controllers, classic or
 learned, run them on an embedded packet-level simulator, train agents in it,
 and read throughput, congestion windows and round-trip times.
 .
 Python, Qt and PyTorch (for the CPU) are part of the package. Nothing is
 fetched from a network."""
# Without these packages the program works, but the desktop does not register its files and icons, or links do not open.
_RECOMMENDS = ("desktop-file-utils", "hicolor-icon-theme", "shared-mime-info", "xdg-utils")


def make(bundle: Path, output: Path, *, version: str, compression: str = "zstd") -> Path:
    """Makes ``subflow_VERSION_ARCHITECTURE.deb``.

    Args:
        bundle: folder of the frozen program, with the executable ``subflow`` and the licences of all parts.
        output: folder for the package.
        version: version of the program, such as ``0.1.0``.
        compression: ``zstd``, which takes seconds, or ``xz``, which is smaller and takes minutes.

    Returns:
        The package.

    Raises:
        ValueError: if the bundle, the version or the compression is invalid.
        UnknownLibraryError: if a file in the bundle needs a library that this system lacks.
    """
    check(bundle, version)
    time_s = release_time_s()
    tree = files(bundle, version, time_s)
    package = output / f"subflow_{version}_{_architecture()}.deb"
    output.mkdir(parents=True, exist_ok=True)
    suffix = COMPRESSIONS.get(compression, compression)
    with tempfile.TemporaryDirectory(dir=output, prefix=".deb-") as folder:
        data = Path(folder) / f"data.tar.{suffix}"
        with compressed(data, compression) as out:
            write_tar(out, tree, time_s, prefix="./")
        about = Tree()
        about.add("control", control(tree, needs.depends(bundle), version))
        about.add("md5sums", md5sums(tree))
        control_archive = Path(folder) / f"control.tar.{suffix}"
        with compressed(control_archive, compression) as out:
            write_tar(out, about, time_s, prefix="./")
        unfinished = Path(folder) / package.name
        with unfinished.open("wb") as out:
            out.write(b"!<arch>\n")
            _add_member(out, "debian-binary", io.BytesIO(b"2.0\n"), 4, time_s)
            for member in (control_archive, data):
                with member.open("rb") as content:
                    _add_member(out, member.name, content, member.stat().st_size, time_s)
        unfinished.replace(package)
    return package


def check(bundle: Path, version: str) -> None:
    """Refuses an invalid bundle or version before anything is written.

    Raises:
        ValueError: naming the problem and the allowed values.
    """
    if not re.fullmatch(r"[0-9][0-9A-Za-z.+~]*", version):
        raise ValueError(f"the version is {version!r}: must be a digit, then digits, letters and . + ~")
    for part, made_by in (("subflow", "the freezing"), (f"{LICENCES}/index.json", "the collection of licences")):
        if not (bundle / part).is_file():
            raise ValueError(f"{bundle / part} does not exist: run {made_by} first (python3 dev.py package)")


def files(bundle: Path, version: str, time_s: int) -> Tree:
    """Everything that the package installs."""
    tree = Tree()
    tree.add_folder(HOME, bundle)
    tree.add_link("usr/bin/subflow", "../lib/subflow/subflow")
    share.add(tree, "usr/share/", version, time_s)
    tree.add("usr/share/doc/subflow/copyright", _copyright())
    tree.add("usr/share/doc/subflow/changelog.gz", share.packed(changelog(version, time_s)))
    tree.add_link("usr/share/doc/subflow/licenses", f"../../../lib/subflow/{LICENCES}")
    return tree


def control(tree: Tree, depends: list[str], version: str) -> str:
    """Fields of the package: its description and dependencies."""
    # dpkg counts each file in whole KiB, and 1 KiB for each folder and link.
    sizes_kib = sum(max(1, -(-entry.size_bytes() // 1024)) for entry in tree.entries.values())
    fields = {
        "Package": "subflow",
        "Version": version,
        "Architecture": _architecture(),
        "Maintainer": _MAINTAINER,
        "Installed-Size": str(sizes_kib + len(tree.folders())),
        "Depends": ", ".join(depends),
        "Recommends": ", ".join(_RECOMMENDS),
        "Section": "science",
        "Priority": "optional",
        "Description": _DESCRIPTION,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def md5sums(tree: Tree) -> str:
    """MD5 sums for `dpkg --verify`."""
    lines = []
    for path, entry in sorted(tree.entries.items()):
        if entry.content is not None:
            with entry.open() as content:
                lines.append(f"{hashlib.file_digest(content, 'md5').hexdigest()}  {path}\n")
    return "".join(lines)


def changelog(version: str, time_s: int) -> str:
    """The newest part of CHANGELOG.md in Debian's format.

    Args:
        version: of the package; a test compares it with the newest part.
        time_s: time of the release in seconds since 1970.

    Raises:
        ValueError: if the file contains no part.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = re.split(r"^## \[.+$", text, flags=re.MULTILINE)
    if len(parts) < 2:
        raise ValueError("CHANGELOG.md has no part such as ## [0.1.0] - unreleased")
    without_headings = re.sub(r"^###.*$", "", parts[1], flags=re.MULTILINE)
    bullets = [" ".join(one.split()) for one in re.split(r"^- ", without_headings, flags=re.MULTILINE)]
    lines = [
        textwrap.fill(one, 80, initial_indent="  * ", subsequent_indent="    ", break_on_hyphens=False)
        for one in bullets
        if one
    ]
    date = format_datetime(datetime.fromtimestamp(time_s, UTC))
    return "\n".join([f"subflow ({version}) stable; urgency=medium", "", *lines, "", f" -- {_MAINTAINER}  {date}", ""])


def _copyright() -> str:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    copyright_line = re.search(r"^Copyright \(c\) (.+)$", licence, re.MULTILINE)
    assert copyright_line is not None
    terms = licence.partition(copyright_line[0])[2].strip()
    indented = "\n".join(f" {line}" if line else " ." for line in terms.splitlines())
    return f"""\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Subflow
Comment:
 The package holds parts of others: Python, Qt, PyTorch and more. All of them,
 their licences and where they come from are listed in
 /{HOME}{LICENCES}/index.json, with the texts beside it; the program shows them
 in About. Qt, PySide6 and QtAds are under the LGPL: they are shared
 libraries in files of their own in /{HOME}_internal, which may be
 replaced by others of the same interface.

Files: *
Copyright: {copyright_line[1]}
License: Expat

License: Expat
{indented}
"""


def _architecture() -> str:
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def _add_member(out: IO[bytes], name: str, content: IO[bytes], size_bytes: int, time_s: int) -> None:
    """Adds a member to an ar(1) archive: a header of 60 characters, then the content, aligned to even offsets."""
    out.write(f"{name:<16}{time_s:<12}{0:<6}{0:<6}{'100644':<8}{size_bytes:<10}`\n".encode())
    while chunk := content.read(1 << 20):
        out.write(chunk)
    if size_bytes % 2:
        out.write(b"\n")
