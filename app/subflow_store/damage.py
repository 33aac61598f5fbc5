"""What a damaged file looks like from here: rows that cannot have been written so, and errors that say as much.

SQLite notices damage of its own structure, and texts that are not UTF-8; blobs have checksums. What else a flipped byte
makes of a row - another type, half a document, an impossible time - is noticed where the row is turned into values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from subflow_store.codec import CodecError

R = TypeVar("R", bound=Sequence[Any])


class Damage(NamedTuple):
    """One thing that is damaged or missing.

    Attributes:
        table: of the database; empty: the file as a whole.
        kind: what it belongs to, "run", "training" or "sweep"; empty where that is not known.
        number: which of these; 0 where that is not known.
        problem: what is wrong, as a clause without a full stop.
    """

    table: str
    kind: str
    number: int
    problem: str

    def __str__(self) -> str:
        """E.g. ``run 5: chunk: damaged data in a block``."""
        return ": ".join(part for part in (self.owner, self.table, self.problem) if part)

    @property
    def owner(self) -> str:
        """E.g. ``run 5``; empty where it is not known."""
        return f"{self.kind} {self.number}" if self.kind else ""


class RowError(Exception):
    """What a row says cannot have been written so."""

    def __init__(self, damage: Damage) -> None:
        """With what is known of it."""
        super().__init__(str(damage))
        self.damage = damage


def is_damage(error: BaseException) -> bool:
    """Whether an error says that what was read is damaged.

    SQLITE_ERROR is not among them: it is also what a mistake in a statement of ours would give.
    """
    if isinstance(error, RowError | CodecError | UnicodeDecodeError):
        return True
    # Texts that are not UTF-8 are told without a code of SQLite: in rows by an error of the driver, in names of a
    # damaged schema by one of Python.
    return primary_code(error) in _CODES or str(error).startswith("Could not decode to UTF-8")


_CODES = frozenset(
    (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_INTERNAL,
        sqlite3.SQLITE_FORMAT,
    )
)


def primary_code(error: BaseException) -> int | None:
    """SQLite's primary result code, without the extension in the high bytes."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


@contextmanager
def row_of(table: str, kind: str = "", number: int = 0) -> Iterator[None]:
    """Around what turns rows into values: if that cannot be done, they are damaged.

    Args:
        table: where they stand.
        kind: what they belong to, "run", "training" or "sweep"; empty where that is not known.
        number: which of these.

    Raises:
        RowError: that says so.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, CodecError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise RowError(Damage(table, kind, number, what)) from error


def typed(rows: Iterable[R], *kinds: type | tuple[type, ...]) -> list[R]:
    """The rows, each value of which is of the kind that its column has; to be called within `row_of`.

    Raises:
        TypeError: if one is not.
    """
    known: set[tuple[type, ...]] = set()
    checked = []
    for row in rows:
        shape = tuple(map(type, row))
        if shape not in known:
            for value, kind in zip(row, kinds, strict=True):
                if not isinstance(value, kind):
                    raise TypeError(f"{type(value).__name__} {str(value)[:40]!r} where another kind of value is due")
            known.add(shape)
        checked.append(row)
    return checked
