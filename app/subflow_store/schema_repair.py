"""A copy of a damaged database that SQLite can open again: header and schema are those of a sound one.

A file begins with its header and the list of its tables, which says where each begins. Without these nothing in it can
be found, but they are the same in every database of a version; and whether a table does begin where it should, the page
there tells. File format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import IO

from subflow_store import upgrade
from subflow_store.errors import StoreCorrupt, StoreError

PAGE_BYTES = 4096
"""What SQLite has made pages of since before our first version."""

MOST_VERSIONS = 64
"""A header that tells of more versions of the schema than this is damaged."""

_HEADER_BYTES = 100
_TABLE_PAGES, _INDEX_PAGES = (0x05, 0x0D), (0x02, 0x0A)
_INTERIOR_TABLE = 0x05
_SEARCHED_BYTES = 1 << 20


def repair(path: Path, copy: Path, problem: str) -> None:
    """Make the copy.

    Args:
        path: the damaged file.
        copy: the new one.
        problem: what is wrong with it.

    Raises:
        StoreCorrupt: if nothing in it is like a database of ours.
        StoreError: if it cannot be copied.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_SEARCHED_BYTES)
            pages = -(-path.stat().st_size // PAGE_BYTES)
            with tempfile.TemporaryDirectory(prefix="subflow-") as folder:
                pattern = _fitting(file, pages, start, Path(folder))
                if pattern is None:
                    raise StoreCorrupt(
                        problem, path=str(path), way_on="Choose another file with --db; this one is left as it is."
                    )
                shutil.copyfile(path, copy)
                with copy.open("r+b") as copied:
                    _give_schema(copied, pages, pattern)
    except OSError as error:
        raise StoreError(f"the file cannot be read ({error.strerror})", path=str(path)) from error


def _fitting(file: IO[bytes], pages: int, start: bytes, folder: Path) -> bytes | None:
    """An empty database whose tables begin where those of the file do; None: that is none of ours."""
    application_id = upgrade.APPLICATION_ID.to_bytes(4, "big")
    if start[68:72] != application_id and b"CREATE TABLE run" not in start:
        return None
    told = int.from_bytes(start[60:64], "big")
    versions = sorted(range(1, upgrade.head() + 1), key=lambda version: (version != told, -version))
    best: tuple[float, bytes] | None = None
    for version in versions:
        for pattern, roots in _patterns(version, folder):
            fits = sum(_begins(file, page, pages) in kinds for page, kinds in roots)
            # Of several that fit wholly, the first: that of the version which the header tells.
            if best is None or fits / len(roots) > best[0]:
                best = (fits / len(roots), pattern)
    return None if best is None or best[0] < 0.5 else best[1]


def _patterns(version: int, folder: Path) -> list[tuple[bytes, list[tuple[int, tuple[int, int]]]]]:
    """Empty databases of a version, as they are made and as a copy is: bytes, first page and kind of each tree."""
    made, compact = folder / f"{version}.db", folder / f"{version}-copy.db"
    found = []
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        upgrade.make(connection, version)
        connection.execute("VACUUM INTO ?", (str(compact),))
    for each in (made, compact):
        with contextlib.closing(sqlite3.connect(each)) as connection:
            rows = connection.execute("SELECT rootpage, type FROM sqlite_master WHERE rootpage > 0").fetchall()
        # A table WITHOUT ROWID is a tree like that of an index.
        with each.open("rb") as file:
            roots = []
            for page, _ in rows:
                kind = _begins(file, page, page)
                roots.append((page, _INDEX_PAGES if kind in _INDEX_PAGES else _TABLE_PAGES))
        found.append((each.read_bytes(), roots))
    return found


def _begins(file: IO[bytes], page: int, pages: int) -> int:
    """What kind of page it is."""
    if page > pages:
        return 0
    file.seek((page - 1) * PAGE_BYTES)
    return next(iter(file.read(1)), 0)


def _give_schema(file: IO[bytes], pages: int, pattern: bytes) -> None:
    """Put the header and the tree of the schema of another database into a file; what does not fit goes to its end."""
    added: list[bytes] = []

    def placed(page: int) -> int:
        content = relocated(bytearray(pattern[(page - 1) * PAGE_BYTES : page * PAGE_BYTES]), 0)
        added.append(bytes(content))
        return pages + len(added)

    def relocated(content: bytearray, header: int) -> bytearray:
        if content[header] == _INTERIOR_TABLE:
            count = int.from_bytes(content[header + 3 : header + 5], "big")
            pointers = [
                int.from_bytes(content[at : at + 2], "big") for at in range(header + 12, header + 12 + 2 * count, 2)
            ]
            for at in (*pointers, header + 8):
                content[at : at + 4] = placed(int.from_bytes(content[at : at + 4], "big")).to_bytes(4, "big")
        return content

    first = relocated(bytearray(pattern[:PAGE_BYTES]), _HEADER_BYTES)
    first[18:20] = b"\x01\x01"  # no write-ahead log: that of the damaged file belongs to another header
    first[28:32] = (pages + len(added)).to_bytes(4, "big")
    first[32:40] = bytes(8)  # no free pages: what is free does not matter to a reader
    first[92:96] = first[24:28]  # the number of pages counts
    file.seek(0)
    file.write(first)
    file.seek(pages * PAGE_BYTES)
    file.write(b"".join(added))
