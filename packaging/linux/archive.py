"""Trees of installed files, and byte-for-byte reproducible archives of them.

No staging folder is needed: archives are written directly from the bundle. This module sets the owner, permissions and
time of each entry, independent of umask and clock.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[2]

# With several threads xz cuts its input into blocks, which changes its output: the count must not depend on the
# machine.
# The filter for x86 rewrites the addresses in jumps, so that equal code repeats: with the larger dictionary, 5 % less.
_XZ = ("xz", "--threads=2", "--x86", "--lzma2=preset=6,dict=64MiB", "--stdout")
_ZSTD_LEVEL = 10

COMPRESSIONS = {"xz": "xz", "zstd": "zst"}
"""Compressions of archives, with the suffix of each."""


@dataclass(frozen=True)
class Entry:
    """A file or a symbolic link of a tree.

    Attributes:
        content: the file's bytes, or the path to read them from; None for a link.
        mode: permission bits.
        link: target of a link, relative to the link's folder; empty for a file.
    """

    content: Path | bytes | None
    mode: int = 0o644
    link: str = ""

    def size_bytes(self) -> int:
        """Size of a file's content; 0 for a link."""
        if isinstance(self.content, Path):
            return self.content.stat().st_size
        return len(self.content or b"")

    def open(self) -> io.BufferedIOBase:
        """Opens the content of a file for reading."""
        return self.content.open("rb") if isinstance(self.content, Path) else io.BytesIO(self.content or b"")


@dataclass
class Tree:
    """Files and links by their paths, which are relative with forward slashes."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, path: str, content: Path | bytes | str, mode: int = 0o644) -> None:
        """Adds a file.

        Raises:
            ValueError: if the path exists already.
        """
        self._add(path, Entry(content.encode() if isinstance(content, str) else content, mode))

    def add_link(self, path: str, target: str) -> None:
        """Adds a symbolic link.

        Raises:
            ValueError: if the path exists already.
        """
        self._add(path, Entry(None, 0o777, target))

    def add_folder(self, prefix: str, folder: Path) -> None:
        """Adds everything in a folder of the disk; only programs become executable.

        Raises:
            ValueError: if a link in it leads outside or is broken.
        """
        for path in sorted(folder.rglob("*")):
            name = f"{prefix}{path.relative_to(folder).as_posix()}"
            if path.is_symlink():
                target = path.readlink()
                if target.is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
                    raise ValueError(f"{path} points to {target}: must be a file inside {folder}, as a relative path")
                if not path.exists():
                    raise ValueError(f"{path} points to {target}, which does not exist: leave out both or include both")
                self.add_link(name, target.as_posix())
            elif path.is_file():
                self.add(name, path, 0o755 if is_program(path) else 0o644)

    def folders(self) -> list[str]:
        """Every folder of the tree, parents first."""
        found = {parent.as_posix() for path in self.entries for parent in Path(path).parents}
        return sorted(found - {"."})

    def _add(self, path: str, entry: Entry) -> None:
        if path in self.entries:
            raise ValueError(f"the archive contains {path} already")
        self.entries[path] = entry


def is_program(path: Path) -> bool:
    """True if a file of the bundle is an executable program; libraries often have the permission without need."""
    # Scripts of libraries would need an interpreter that the bundle does not contain.
    return os.access(path, os.X_OK) and ".so" not in path.suffixes and is_elf(path)


def is_elf(path: Path) -> bool:
    """True if a file is an ELF program or library."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def release_time_s() -> int:
    """Time of every entry in an archive: the time of the release, not of the build.

    SOURCE_DATE_EPOCH if set, else the time of the commit, else the modification time of pyproject.toml.

    Raises:
        ValueError: if SOURCE_DATE_EPOCH is not a number of seconds.
    Source: https://reproducible-builds.org/specs/source-date-epoch/
    """
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is not None:
        if not told.isdecimal():
            raise ValueError(f"SOURCE_DATE_EPOCH is {told!r}: must be seconds since 1970, such as 1767225600")
        return int(told)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        answer = None
    if answer is not None and answer.returncode == 0 and answer.stdout.strip():
        return int(answer.stdout)
    return int((ROOT / "pyproject.toml").stat().st_mtime)


def write_tar(out: IO[bytes], tree: Tree, time_s: int, prefix: str = "") -> None:
    """Writes a tree as a tar archive, owned by root."""
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        for folder in ([prefix.rstrip("/")] if prefix else []) + [f"{prefix}{name}" for name in tree.folders()]:
            tar.addfile(_header(folder, tarfile.DIRTYPE, 0o755, time_s))
        for path, entry in sorted(tree.entries.items()):
            if entry.content is None:
                header = _header(f"{prefix}{path}", tarfile.SYMTYPE, entry.mode, time_s)
                header.linkname = entry.link
                tar.addfile(header)
                continue
            header = _header(f"{prefix}{path}", tarfile.REGTYPE, entry.mode, time_s)
            header.size = entry.size_bytes()
            with entry.open() as content:
                tar.addfile(header, content)


@contextmanager
def compressed(path: Path, compression: str) -> Iterator[IO[bytes]]:
    """Opens a file for writing through a compressor whose output is the same on every machine.

    Args:
        path: file to write.
        compression: one of :data:`COMPRESSIONS`; xz makes the program a quarter smaller than zstd and takes two
            minutes.

    Raises:
        ValueError: if the compression is unknown.
        OSError: if the file cannot be written.
    """
    if compression not in COMPRESSIONS:
        raise ValueError(f"the compression is {compression!r}: must be one of {', '.join(COMPRESSIONS)}")
    with path.open("wb") as file:
        if compression == "zstd":
            import zstandard

            with zstandard.ZstdCompressor(_ZSTD_LEVEL, threads=2).stream_writer(file, closefd=False) as out:
                yield out
            return
        with subprocess.Popen(_XZ, stdin=subprocess.PIPE, stdout=file) as packer:
            assert packer.stdin is not None
            with packer.stdin:
                yield packer.stdin
        if packer.returncode != 0:
            raise OSError(f"{path} could not be written: xz ended with {packer.returncode}")


def _header(path: str, kind: bytes, mode: int, time_s: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(path)
    header.type, header.mode, header.mtime = kind, mode, time_s
    header.uname = header.gname = "root"
    return header
