"""Inserts and changes rows, given by column name, and converts values to their stored form.

Names, notes and tags may come from files of other people, so they are stored as plain text. Documents are stored as
strict JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from sqlite3 import Connection
from typing import Any

# Terminal controls, surrogates, and characters that change the writing direction.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_LINES = re.compile(rf"[{CONTROLS}]")
_IN_A_LINE = re.compile(rf"[{CONTROLS}\t\n\u2028\u2029]+")


def plain_line(text: str) -> str:
    """The text on one line, with a space for each group of unprintable characters."""
    return _IN_A_LINE.sub(" ", text).strip()


def plain_lines(text: str) -> str:
    """The text without unprintable characters, but with its line breaks and tabs."""
    return _IN_LINES.sub("", text.replace("\r\n", "\n"))


_SEEDS = 1 << 64

_WITH_WORDS = ("run", "sweep", "training")
_WORDS = {"name": plain_line, "note": plain_lines}


def insert(connection: Connection, table: str, row: Mapping[str, Any]) -> int:
    """Insert a row, with names and notes as plain text; returns its number."""
    cursor = connection.execute(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", _plain(table, row)
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def upsert(table: str, keys: str, values: str) -> str:
    """A statement that inserts rows, or changes the `values` columns of rows with equal `keys` columns."""
    n = f"{keys}, {values}".count(",") + 1
    changes = ", ".join(f"{name} = excluded.{name}" for name in values.split(", "))
    return (
        f"INSERT INTO {table} ({keys}, {values}) VALUES ({', '.join('?' * n)})"
        f" ON CONFLICT ({keys}) DO UPDATE SET {changes}"
    )


def update(connection: Connection, table: str, number: int, values: Mapping[str, Any]) -> None:
    """Change columns of the row with this `id`; names and notes become plain text."""
    changes = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE {table} SET {changes} WHERE id = ?", (*_plain(table, values), number))


def _plain(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values, with names and notes as plain text."""
    if table not in _WITH_WORDS:
        return tuple(row.values())
    return tuple(_WORDS[name](value) if name in _WORDS and value is not None else value for name, value in row.items())


def signed(seed: int) -> int:
    """Convert a seed, an unsigned 64-bit number, to the signed number with the same bits for storage.

    Raises:
        ValueError: if the seed does not fit in 64 bits.
    """
    if not 0 <= seed < _SEEDS:
        raise ValueError(f"seed {seed} is not from 0 to 2**64 - 1")
    return seed - _SEEDS if seed >= _SEEDS // 2 else seed


def unsigned(stored: int) -> int:
    """The seed of a stored signed number."""
    return stored % _SEEDS


def now_text() -> str:
    """The current time in the form of stored times: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat()


def time_of(stored: str | None) -> datetime | None:
    """The point in time in a stored text; None for None."""
    return None if stored is None else datetime.fromisoformat(stored)


def age_s(now: datetime, heartbeat_at: object) -> float:
    """Seconds since a heartbeat; infinite if its text is damaged."""
    try:
        return (now - datetime.fromisoformat(str(heartbeat_at))).total_seconds()
    except (ValueError, TypeError):
        return math.inf


def strict_json(document: Mapping[str, Any]) -> str:
    """A document as strict JSON: NaN and infinities become null."""
    return json.dumps(_finite(document), allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value
