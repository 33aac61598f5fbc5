"""Trees of files as they will lie on somebody's disk, and archives of them that come out the same byte for byte.

Nothing is copied or linked into a staging folder: an archive is written from the bundle as it is, and owner, permission
and time of each entry are decided here, whatever umask and clock the files were made under.
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

# With several threads xz cuts its input into blocks, and the cut shows in the output: the count is not the machine's.
_XZ = ("xz", "--threads=2", "-6", "--stdout")
_ZSTD_LEVEL = 10

COMPRESSIONS = {"xz": "xz", "zstd": "zst"}
"""What archives can be compressed with, and the last part of their names then."""


@dataclass(frozen=True)
class Entry:
    """A file or a symbolic link of a tree.

    Attributes:
        content: the file's bytes or where they are; None for a link.
        mode: permission bits.
        link: what a link points to, relative to where it lies; empty for a file.
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
        """The content of a file, to be read."""
        return self.content.open("rb") if isinstance(self.content, Path) else io.BytesIO(self.content or b"")


@dataclass
class Tree:
    """Files and links by their paths, which are relative and have forward slashes."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, path: str, content: Path | bytes | str, mode: int = 0o644) -> None:
        """Adds a file.

        Raises:
            ValueError: if there is something of that name.
        """
        self._add(path, Entry(content.encode() if isinstance(content, str) else content, mode))

    def add_link(self, path: str, target: str) -> None:
        """Adds a symbolic link.

        Raises:
            ValueError: if there is something of that name.
        """
        self._add(path, Entry(None, 0o777, target))

    def add_folder(self, prefix: str, folder: Path) -> None:
        """Adds all that is in a folder of the disk; programs may be run, all else is only read.

        Raises:
            ValueError: if a link in it leads out of it or to nothing.
        """
        for path in sorted(folder.rglob("*")):
            name = f"{prefix}{path.relative_to(folder).as_posix()}"
            if path.is_symlink():
                target = path.readlink()
                if target.is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
                    raise ValueError(f"{path} points to {target}: must be a file inside {folder}, as a relative path")
                if not path.exists():
                    raise ValueError(f"{path} points to {target}, which is not there: leave out both or none")
                self.add_link(name, target.as_posix())
            elif path.is_file():
                self.add(name, path, 0o755 if is_program(path) else 0o644)

    def folders(self) -> list[str]:
        """Every folder of the tree, parents first."""
        found = {parent.as_posix() for path in self.entries for parent in Path(path).parents}
        return sorted(found - {"."})

    def _add(self, path: str, entry: Entry) -> None:
        if path in self.entries:
            raise ValueError(f"{path} is there twice")
        self.entries[path] = entry


def is_program(path: Path) -> bool:
    """Whether a file of the bundle may and can be run; libraries often carry the permission without need."""
    # Scripts of libraries would need a Python that is not there.
    return os.access(path, os.X_OK) and ".so" not in path.suffixes and is_elf(path)


def is_elf(path: Path) -> bool:
    """Whether a file is a program or a library of Linux."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def release_time_s() -> int:
    """The time that everything in an archive is given: of the release, not of the build.

    SOURCE_DATE_EPOCH if it is set, else the time of the commit, else that of pyproject.toml.

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
    """A file to be written that is compressed on the way, the same on every machine.

    Args:
        path: the file.
        compression: one of :data:`COMPRESSIONS`: xz is a quarter smaller and takes two minutes for the whole program.

    Raises:
        ValueError: if the compression is none of them.
        OSError: if the file cannot be written.
    """
    if compression not in COMPRESSIONS:
        raise ValueError(f"the compression {compression!r} is none of these: {', '.join(COMPRESSIONS)}")
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
