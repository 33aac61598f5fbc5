"""Examines a damaged database, repairs a copy so that SQLite can open it, and salvages all sound data.

A file begins with its header and the list of its tables with their first pages. Without these parts, no data can be
located. They are the same in every database of a version, so the copy gets the parts of a sound database. To find
the version, the pages at which the tables of each version begin are compared with the file.
File format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import IO, Any

from subflow_store import upgrade
from subflow_store.copies import Changes, Rows, Taking
from subflow_store.damage import Damage
from subflow_store.database import BUSY_TIMEOUT_S, COPY_PAGE_BYTES, Database, provide_folder
from subflow_store.errors import StoreCorrupt, StoreError, StoreForeign, StoreFull, StoreNewer
from subflow_store.files import is_there, unused_sibling
from subflow_store.rows import insert
from subflow_store.soundness import OF_RUN, OF_SERIES, OF_SWEEP, OF_TRAINING, SoundRows
from subflow_store.store import Store

MOST_VERSIONS = 64
"""A header with a higher schema version is considered damaged."""

_HEADER_BYTES = 100
_TABLE_PAGES, _INDEX_PAGES = (0x05, 0x0D), (0x02, 0x0A)
_INTERIOR_TABLE = 0x05
_SEARCHED_BYTES = 1 << 20


def repair(path: Path, copy: Path, problem: str) -> None:
    """Make a copy of a damaged file with a sound header and schema.

    Args:
        path: the damaged file.
        copy: path of the copy.
        problem: description of the damage.

    Raises:
        StoreCorrupt: if the file does not resemble a Subflow database.
        StoreError: if it cannot be copied.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_SEARCHED_BYTES)
            size = path.stat().st_size
            with tempfile.TemporaryDirectory(prefix="subflow-") as folder:
                pattern = _fitting(file, size, start, Path(folder))
                if pattern is None:
                    raise StoreCorrupt(
                        problem, path=str(path), way_on="Choose another file with --db; this one is left as it is."
                    )
                shutil.copyfile(path, copy)
                with copy.open("r+b") as copied:
                    _give_schema(copied, size, pattern)
    except OSError as error:
        raise StoreError(f"the file cannot be read ({error.strerror})", path=str(path)) from error


@dataclass(frozen=True, slots=True)
class _Pattern:
    """An empty database.

    Attributes:
        content: bytes of the file.
        page_bytes: size of its pages; SQLite's default, or that of the store's copies.
        roots: first page of each tree, with the kinds of pages that it may have.
    """

    content: bytes
    page_bytes: int
    roots: tuple[tuple[int, tuple[int, int]], ...]

    def page(self, number: int) -> bytes:
        return self.content[(number - 1) * self.page_bytes : number * self.page_bytes]


def _fitting(file: IO[bytes], size: int, start: bytes, folder: Path) -> _Pattern | None:
    """The empty database whose tables match the pages of the file best.

    None if less than half of the tables match, or for a file of another kind.
    """
    application_id = upgrade.APPLICATION_ID.to_bytes(4, "big")
    if start[68:72] != application_id and b"CREATE TABLE run" not in start:
        return None
    told = int.from_bytes(start[60:64], "big")
    versions = sorted(range(1, upgrade.head() + 1), key=lambda version: (version != told, -version))
    best: tuple[float, _Pattern] | None = None
    for version in versions:
        for pattern in _patterns(version, folder):
            fits = sum(_begins(file, size, page, pattern.page_bytes) in kinds for page, kinds in pattern.roots)
            # Among equally good matches the first one wins, so the version in the header takes precedence.
            if best is None or fits / len(pattern.roots) > best[0]:
                best = (fits / len(pattern.roots), pattern)
    return None if best is None or best[0] < 0.5 else best[1]


def _patterns(version: int, folder: Path) -> list[_Pattern]:
    """Empty databases of a version: new, compacted, and copied with the larger pages of copies."""
    made, compact, copied = (folder / f"{version}{name}.db" for name in ("", "-compact", "-copy"))
    found = []
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        upgrade.make(connection, version)
        connection.execute("VACUUM INTO ?", (str(compact),))
        connection.execute(f"PRAGMA page_size = {COPY_PAGE_BYTES}")
        connection.execute("VACUUM INTO ?", (str(copied),))
    for each in (made, compact, copied):
        with contextlib.closing(sqlite3.connect(each)) as connection:
            rows = connection.execute("SELECT rootpage, type FROM sqlite_master WHERE rootpage > 0").fetchall()
            (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        # A table WITHOUT ROWID has the same tree as an index.
        with each.open("rb") as file:
            roots = []
            for page, _ in rows:
                kind = _begins(file, each.stat().st_size, page, page_bytes)
                roots.append((page, _INDEX_PAGES if kind in _INDEX_PAGES else _TABLE_PAGES))
        found.append(_Pattern(each.read_bytes(), page_bytes, tuple(roots)))
    return found


def _begins(file: IO[bytes], size: int, page: int, page_bytes: int) -> int:
    """Type byte of a page; 0 beyond the end of the file, which has ``size`` bytes."""
    if (page - 1) * page_bytes >= size:
        return 0
    file.seek((page - 1) * page_bytes)
    return next(iter(file.read(1)), 0)


def _give_schema(file: IO[bytes], size: int, pattern: _Pattern) -> None:
    """Put the header and the schema tree of another database into a file; pages without a place go to its end."""
    added: list[bytes] = []
    pages = -(-size // pattern.page_bytes)

    def placed(page: int) -> int:
        content = relocated(bytearray(pattern.page(page)), 0)
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

    first = relocated(bytearray(pattern.page(1)), _HEADER_BYTES)
    first[18:20] = b"\x01\x01"  # no write-ahead log, because that of the damaged file belongs to another header
    first[28:32] = (pages + len(added)).to_bytes(4, "big")
    first[32:40] = bytes(8)  # no free pages, which do not matter to a reader
    first[92:96] = first[24:28]  # SQLite trusts the number of pages only if these counters are equal
    file.seek(0)
    file.write(first)
    file.seek(pages * pattern.page_bytes)
    file.write(b"".join(added))


Progress = Callable[[int, int], object]
"""Called with the number of finished runs, trainings and sweeps and their total. An exception ends the work."""

_KINDS = ("sweep", "run", "training")


@dataclass(frozen=True, slots=True)
class Findings:
    """Content of a database, and its damage.

    Attributes:
        runs: numbers of the runs found.
        trainings: numbers of the trainings found.
        sweeps: numbers of the sweeps found.
        damage: the damage; empty for a sound database.
    """

    runs: tuple[int, ...]
    trainings: tuple[int, ...]
    sweeps: tuple[int, ...]
    damage: tuple[Damage, ...]


def check(path: Path, on_progress: Progress = lambda _done, _of: None) -> Findings:
    """Read every row of a database without changing it, and list its damage.

    Raises:
        StoreError: if the file does not exist, or is not a Subflow database.
    """
    found = _Found()
    with _readable(path, found.note) as (connection, rows, is_repaired):
        if not is_repaired:
            _check_structure(connection, found.note)
        numbers = {kind: rows.numbers(kind) for kind in _KINDS}
        done, of = 0, sum(map(len, numbers.values()))
        for kind, each in numbers.items():
            for number in each:
                on_progress(done, of)
                _read_all(rows, kind, number)
                done += 1
        on_progress(done, of)
    return found.findings(numbers)


def salvage(
    path: Path, target: Path, *, overwrite: bool = False, on_progress: Progress = lambda _done, _of: None
) -> Findings:
    """Copy all sound data of a database into a new one, which is complete or not created.

    Numbers, names, notes, tags and deletion marks are preserved.

    Args:
        path: the damaged database, which is not changed.
        target: path of the new database.
        overwrite: whether an existing file is replaced.
        on_progress: called with the progress.

    Returns:
        The copied records, and the damage.

    Raises:
        StoreError: if no data can be read, or the new database cannot be written.
    """
    target = target.expanduser().absolute()
    if target == path.expanduser().absolute() or (is_there(target) and target.samefile(path)):
        raise StoreError("the salvaged database cannot take the place of its original", path=str(target))
    if is_there(target) and not overwrite:
        raise StoreError("the file exists already", path=str(target), way_on="Choose another name.")
    provide_folder(target)
    found = _Found()
    part = unused_sibling(target)
    try:
        with _readable(path, found.note) as (_, rows, _is_repaired), Store(part) as store:
            taken = _bring(rows, store, found.note, on_progress)
            # Copied instead of renamed: if the last changes cannot be moved out of the -wal file, closing reports no
            # error.
            store.save_copy(target, overwrite=overwrite)
    except StoreFull as error:
        if error.path == os.fspath(path.expanduser().absolute()):
            raise
        raise StoreFull(error.problem, path=str(target), way_on="Choose another place.") from error
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                part.with_name(part.name + suffix).unlink(missing_ok=True)
    return found.findings(taken)


class _Found:
    """The damage found so far, each item once."""

    def __init__(self) -> None:
        self._damage: dict[Damage, None] = {}

    def note(self, damage: Damage) -> None:
        self._damage[damage] = None

    def findings(self, numbers: Mapping[str, list[int]]) -> Findings:
        return Findings(tuple(numbers["run"]), tuple(numbers["training"]), tuple(numbers["sweep"]), tuple(self._damage))


def _read_all(rows: SoundRows, kind: str, number: int) -> None:
    """Read all rows of a run, training or sweep."""
    if not rows.rows(kind, "id", number):
        return
    if kind == "run":
        for series in rows.rows("series", "run_id", number):
            for table in OF_SERIES:
                rows.rows(table, "series_id", series["id"])
    for table in {"run": OF_RUN, "training": OF_TRAINING, "sweep": OF_SWEEP}[kind]:
        if table != "series":
            rows.rows(table, f"{kind}_id", number)


def _bring(
    rows: SoundRows, store: Store, note: Callable[[Damage], None], on_progress: Progress
) -> dict[str, list[int]]:
    """Copy all records, one by one."""
    numbers = {kind: rows.numbers(kind) for kind in _KINDS}
    done, of = 0, sum(map(len, numbers.values()))
    taken: dict[str, dict[int, int]] = {kind: {} for kind in _KINDS}

    def bring(connection: Connection, *, kind: str, number: int) -> None:
        taking = _Bringing(rows.rows, connection, note)
        here = taking.one(kind, number, taken["run"], taken["sweep"])
        if here is not None:
            taken[kind][number] = here

    def link(connection: Connection) -> None:
        _Bringing(rows.rows, connection, note).link(taken["run"], taken["sweep"])

    for kind, each in numbers.items():
        for number in each:
            on_progress(done, of)
            store.copies.transaction(partial(bring, kind=kind, number=number))
            done += 1
    store.copies.transaction(link)
    on_progress(done, of)
    return {kind: sorted(each) for kind, each in taken.items()}


class _Bringing(Taking):
    """Copies records one by one into a new database."""

    def __init__(self, rows: Rows, connection: Connection, note: Callable[[Damage], None]) -> None:
        super().__init__(rows, connection, Changes(is_whole=True))
        self._note = note

    def one(self, kind: str, number: int, runs: Mapping[int, int], sweeps: Mapping[int, int]) -> int | None:
        """Copy a run, training or sweep; returns its new number, None if it was not copied."""
        if kind == "run":
            return self._run(number, runs, sweeps)
        return self._sweep(number) if kind == "sweep" else self._training(number)

    def link(self, runs: Mapping[int, int], sweeps: Mapping[int, int]) -> None:
        """Link runs to their sweeps."""
        for there, here in sweeps.items():
            self._link(there, here, runs)

    def _put(self, table: str, row: Mapping[str, Any]) -> int | None:
        try:
            return insert(self._into, table, row)
        except sqlite3.IntegrityError as error:
            # Because of damage, the row belongs to another record, is duplicated, or has a value of another type.
            self._note(Damage(table, "", 0, f"a row does not fit ({error})"))
            return None


# Structure


def _check_structure(connection: Connection, note: Callable[[Damage], None]) -> None:
    """Record problems found by SQLite, table by table with its indexes."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
    is_sound = True
    for table in (*tables, ""):
        if not table and not is_sound:
            continue  # checking the whole file would repeat the problems
        try:
            question = f"PRAGMA integrity_check('{table}')" if table else "PRAGMA integrity_check"
            told = [text for (text,) in connection.execute(question).fetchall() if text != "ok"]
        except (sqlite3.Error, UnicodeDecodeError) as error:
            told = [str(error)]
        is_sound = is_sound and not told
        for text in told:
            for line in text.splitlines():
                if not line.startswith("***"):
                    note(Damage(table, "", 0, line))
    try:
        for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
            note(Damage(table, "", 0, f"a row belongs to a {parent} that is not there"))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        note(Damage("", "", 0, str(error)))


@contextlib.contextmanager
def _readable(path: Path, note: Callable[[Damage], None]) -> Iterator[tuple[Connection, SoundRows, bool]]:
    """A connection to a database, or to a copy with a repaired schema; the flag is True for a copy.

    Raises:
        StoreError: if the file does not exist, or is not a Subflow database.
    """
    with tempfile.TemporaryDirectory(prefix="subflow-") as folder:
        database, problem = _opened(path)
        if database is None:
            note(Damage("sqlite_schema", "", 0, problem))
            copy = Path(folder, "copy.db")
            repair(path, copy, problem)
            database = Database(copy, read_only=True, busy_timeout_s=BUSY_TIMEOUT_S, any_version=True)
        try:
            with database.reading() as connection:
                connection.execute("BEGIN")
                yield connection, SoundRows(connection, note), bool(problem)
        finally:
            database.close()


def _opened(path: Path) -> tuple[Database | None, str]:
    """A database with a sound schema; or None and the problem."""
    database = None
    try:
        database = Database(path, read_only=True, busy_timeout_s=BUSY_TIMEOUT_S, any_version=True)
        with database.reading() as connection:
            if upgrade.has_schema(connection):
                return database, ""
        problem = "its tables are not those that were made"
    except (StoreCorrupt, StoreForeign, StoreNewer) as error:
        if isinstance(error, StoreNewer) and _big(path, 60) < MOST_VERSIONS:
            raise
        problem = error.problem
    if database is not None:
        database.close()
    return None, problem


def _big(path: Path, offset: int) -> int:
    """A 32-bit number in the file's header, at an offset in bytes."""
    with path.open("rb") as file:
        file.seek(offset)
        return int.from_bytes(file.read(4), "big")
