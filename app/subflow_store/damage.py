"""Detection of damage in a database: rows with impossible content, and errors that indicate damage.

SQLite detects damage of the file structure, and texts that are not UTF-8; blobs have checksums. Other effects of a
flipped byte on a row (another type, half a document, an impossible time) are detected when the row is converted to
values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from subflow_store.codec import CodecError

R = TypeVar("R", bound=Sequence[Any])


class Damage(NamedTuple):
    """A damaged or missing object.

    Attributes:
        table: its table in the database; empty: the file as a whole.
        kind: its owner, "run", "training" or "sweep"; empty if unknown.
        number: number of the owner; 0 if unknown.
        problem: the problem, as a clause without a full stop.
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
        """Kind and number of the owner, e.g. ``run 5``; empty if unknown."""
        return f"{self.kind} {self.number}" if self.kind else ""


class RowError(Exception):
    """A row has content that the program cannot have written."""

    def __init__(self, damage: Damage) -> None:
        """Use the damage as message."""
        super().__init__(str(damage))
        self.damage = damage


def is_damage(error: BaseException) -> bool:
    """True if an error indicates that data are damaged.

    SQLITE_ERROR is excluded, because a mistake in one of our statements would also cause it.
    """
    if isinstance(error, RowError | CodecError | UnicodeDecodeError):
        return True
    # A row with text that is not UTF-8 raises an error of the sqlite3 module without a result code. A name in a damaged
    # schema that is not UTF-8 raises UnicodeDecodeError.
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
    """SQLite's primary result code, without the extension in the high bytes; None for other errors."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


@contextmanager
def row_of(table: str, kind: str = "", number: int = 0) -> Iterator[None]:
    """Raise RowError for errors in the conversion of rows to values, because such rows must be damaged.

    Args:
        table: table of the rows.
        kind: owner of the rows, "run", "training" or "sweep"; empty if unknown.
        number: number of the owner.

    Raises:
        RowError: if the rows cannot be converted.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, CodecError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise RowError(Damage(table, kind, number, what)) from error


def typed(rows: Iterable[R], *kinds: type | tuple[type, ...]) -> list[R]:
    """The rows, after a check that each value has the type of its column; to be called within `row_of`.

    Raises:
        TypeError: if a value has another type.
    """
    known: set[tuple[type, ...]] = set()
    checked = []
    for row in rows:
        shape = tuple(map(type, row))
        if shape not in known:
            for value, kind in zip(row, kinds, strict=True):
                if not isinstance(value, kind):
                    raise TypeError(f"{type(value).__name__} {str(value)[:40]!r} does not have the type of its column")
            known.add(shape)
        checked.append(row)
    return checked
