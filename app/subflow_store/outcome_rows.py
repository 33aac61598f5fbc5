"""Rows of outcomes of the arena: numbers as bytes, and repeated names in tables of their own."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection
from typing import Any

from subflow_store.rows import strict_json

INSERT_OUTCOME = (
    'INSERT INTO arena_outcome ("key", entry_id, network_id, names_id, made_at, numbers, words)'
    ' VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT ("key") DO NOTHING'
)
SELECT_OUTCOMES = (
    'SELECT "key", entrant, entry, arena_network.name, version, names, numbers, words, made_at FROM arena_outcome'
    " JOIN arena_entry ON arena_entry.id = entry_id JOIN arena_network ON arena_network.id = network_id"
    " JOIN arena_names ON arena_names.id = names_id"
)

_HEX = re.compile(r"(?:[0-9a-f]{2})+\Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = 6  # a number of at most six digits survives a float of 32 bits


class OutcomeRows:
    """Converts outcomes to rows, and inserts the names that the rows refer to."""

    def __init__(self, connection: Connection) -> None:
        """Insert into the database of a connection, in which the caller has begun a transaction."""
        self._connection = connection
        self._known: dict[tuple[str, ...], int] = {}

    def row(
        self, key: str, entrant: str, entry: str, network: str, version: str, result: Mapping[str, Any], made_at: str
    ) -> tuple[Any, ...]:
        """The values for `INSERT_OUTCOME`."""
        numbers = {name: value for name, value in result.items() if _is_number(value)}
        words = {name: value for name, value in result.items() if name not in numbers}
        return (
            bytes.fromhex(key) if _HEX.match(key) else key,
            self._number("arena_entry", {"entrant": entrant, "entry": entry, "version": version}),
            self._number("arena_network", {"name": network}),
            self._number("arena_names", {"names": json.dumps(list(numbers))}),
            _microseconds(made_at),
            _bytes_of(list(numbers.values())),
            strict_json(words) if words else None,
        )

    def _number(self, table: str, row: Mapping[str, str]) -> int:
        """The number of a row, which is inserted if it is missing."""
        place = (table, *row.values())
        if place not in self._known:
            where = " AND ".join(f"{name} = ?" for name in row)
            values = tuple(row.values())
            self._connection.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) ON CONFLICT DO NOTHING",
                values,
            )
            (self._known[place],) = self._connection.execute(f"SELECT id FROM {table} WHERE {where}", values).fetchone()
        return self._known[place]


def result_of(names: str, numbers: bytes, words: str | None) -> dict[str, Any]:
    """The result of a stored outcome: numbers and strings by name.

    Raises:
        ValueError: if the numbers are more or fewer than the names.
    """
    keys: Sequence[str] = json.loads(names)
    width = len(numbers) // max(1, len(keys))
    if len(numbers) != width * len(keys) or (keys and width not in (4, 8)):
        raise ValueError(f"{len(numbers)} bytes for {len(keys)} numbers")
    values = struct.unpack(f"<{len(keys)}{'f' if width == 4 else 'd'}", numbers)
    if width == 4:
        values = tuple(float(f"{value:.{_DIGITS}g}") for value in values)
    found: dict[str, Any] = {name: value if value == value else None for name, value in zip(keys, values, strict=True)}
    others = {} if words is None else json.loads(words)
    if not isinstance(others, dict):
        raise ValueError("the words of an outcome are not a JSON object")
    return found | others


def key_of(stored: bytes | str) -> str:
    """The key of a stored outcome."""
    return stored.hex() if isinstance(stored, bytes) else stored


def time_text(stored: int | str) -> str:
    """The time of a stored outcome, ISO 8601.

    Raises:
        ValueError: if the number is not a time.
    """
    if isinstance(stored, str):
        return stored
    try:
        return (_EPOCH + timedelta(microseconds=stored)).isoformat()
    except OverflowError as error:
        raise ValueError(f"{stored} is not a time") from error


def _microseconds(text: str) -> int | str:
    """A time as microseconds since 1970; the text itself if `time_text` would not restore it."""
    try:
        moment = datetime.fromisoformat(text)
        number = (moment - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, TypeError):
        return text
    return number if time_text(number) == text else text


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _bytes_of(values: Sequence[float | None]) -> bytes:
    """The numbers as floats of 32 bits if these keep all digits, else of 64 bits; NaN for None and infinities."""
    plain = [float("nan") if value is None or value - value != 0 else float(value) for value in values]
    is_short = all(value != value or float(f"{value:.{_DIGITS}g}") == value for value in plain)
    if is_short and all(value != value or value == 0 or 1e-30 < abs(value) < 1e30 for value in plain):
        return struct.pack(f"<{len(plain)}f", *plain)
    return struct.pack(f"<{len(plain)}d", *plain)
