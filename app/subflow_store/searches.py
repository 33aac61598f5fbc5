"""Searches in the store: the networks tried, one generation at a time, and the counterexamples found.

A search continues from its stored state. It can be repeated within minutes, so salvaging a database does not copy
searches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any, NamedTuple

from subflow_store.damage import row_of, typed
from subflow_store.database import Database
from subflow_store.queries import json_object
from subflow_store.rows import now_text, plain_line, strict_json
from subflow_store.writer import Writer

_COLUMNS = 'search_id, "key", claim, space, entrant, version, made_at, elapsed_s, document'


class SearchRecord(NamedTuple):
    """A search for networks in which a claim fails.

    Attributes:
        id: number of the search.
        key: key of the search; searches with the same key are equal.
        claim: displayed name of the claim.
        space: displayed name of the space of networks.
        entrant: displayed name of the entrant.
        version: version of the simulator.
        made_at: start time, ISO 8601, UTC.
        elapsed_s: total search time, s.
        document: claim and space as written, further ranges, a script under test, and the seed.
    """

    id: int
    key: str
    claim: str
    space: str
    entrant: str
    version: str
    made_at: str
    elapsed_s: float
    document: Mapping[str, Any]


class Generation(NamedTuple):
    """Networks that were tried together.

    Attributes:
        number: number of the generation, from 0.
        points: 64-bit floats, little-endian: one row of numbers per network.
        margins: 64-bit floats: one per network.
        niches: bytes: one row per network.
    """

    number: int
    points: bytes
    margins: bytes
    niches: bytes


class SearchStore:
    """The searches of a store, as `Store.searches`. Any thread may call its methods."""

    def __init__(self, database: Database, writing: Callable[[], Writer]) -> None:
        """Use the database of the store; ``writing`` returns its writer, or raises StoreReadOnly."""
        self._database = database
        self._writing = writing

    def all(self) -> list[SearchRecord]:
        """All searches, newest first.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            rows = reader.execute(f"SELECT {_COLUMNS} FROM search ORDER BY search_id DESC").fetchall()
            return [_record(row) for row in rows]

    def of_key(self, key: str) -> SearchRecord | None:
        """The search with this key; None if the key is unknown.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = reader.execute(f'SELECT {_COLUMNS} FROM search WHERE "key" = ?', (key,)).fetchone()
            return None if row is None else _record(row)

    def begin(
        self, key: str, claim: str, space: str, entrant: str, version: str, document: Mapping[str, Any]
    ) -> SearchRecord:
        """A new search, or the existing one with the same key, whose document is replaced.

        Raises:
            StoreError: if the search cannot be written.
        """
        names = tuple(map(plain_line, (claim, space, entrant)))

        def insert(connection: Connection) -> None:
            connection.execute(
                'INSERT INTO search ("key", claim, space, entrant, version, made_at, elapsed_s, document)'
                ' VALUES (?, ?, ?, ?, ?, ?, 0.0, ?) ON CONFLICT ("key") DO UPDATE SET document = excluded.document',
                (key, *names, version, now_text(), strict_json(document)),
            )

        self._writing().call(insert)
        record = self.of_key(key)
        assert record is not None
        return record

    def generations(self, search_id: int) -> list[Generation]:
        """The generations tried, in order.

        Raises:
            StoreError: if the file cannot be read.
        """
        query = "SELECT number, points, margins, niches FROM search_generation WHERE search_id = ? ORDER BY number"
        with self._database.reading() as reader:
            rows = reader.execute(query, (search_id,)).fetchall()
            with row_of("search_generation"):
                return [Generation(*row) for row in typed(rows, int, bytes, bytes, bytes)]

    def add(self, search_id: int, generations: Sequence[Generation], elapsed_s: float) -> None:
        """Store generations and the search time; a generation replaces an earlier one of the same number.

        Args:
            search_id: number of the search.
            generations: the new generations.
            elapsed_s: total search time, s.

        Raises:
            StoreError: if the generations cannot be written.
        """

        def insert(connection: Connection) -> None:
            connection.executemany(
                "INSERT INTO search_generation (search_id, number, points, margins, niches) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (search_id, number)"
                " DO UPDATE SET points = excluded.points, margins = excluded.margins, niches = excluded.niches",
                [(search_id, *each) for each in generations],
            )
            connection.execute("UPDATE search SET elapsed_s = ? WHERE search_id = ?", (elapsed_s, search_id))

        self._writing().call(insert)

    def found(self, search_id: int) -> list[Mapping[str, Any]]:
        """The counterexamples found, in the order given to `put_found`.

        Raises:
            StoreError: if the file cannot be read.
        """
        query = "SELECT document FROM search_find WHERE search_id = ? ORDER BY number"
        with self._database.reading() as reader:
            rows = reader.execute(query, (search_id,)).fetchall()
            with row_of("search_find"):
                return [json_object(document) for (document,) in typed(rows, str)]

    def put_found(self, search_id: int, documents: Sequence[Mapping[str, Any]]) -> None:
        """Replace the counterexamples of a search, worst first.

        Raises:
            StoreError: if the counterexamples cannot be written.
        """

        def insert(connection: Connection) -> None:
            connection.execute("DELETE FROM search_find WHERE search_id = ?", (search_id,))
            connection.executemany(
                "INSERT INTO search_find (search_id, number, document) VALUES (?, ?, ?)",
                [(search_id, number, strict_json(document)) for number, document in enumerate(documents)],
            )

        self._writing().call(insert)

    def remove(self, search_id: int) -> None:
        """Delete a search with all its data.

        Raises:
            StoreError: if the search cannot be deleted.
        """

        def delete(connection: Connection) -> None:
            for table in ("search_find", "search_generation", "search"):
                connection.execute(f"DELETE FROM {table} WHERE search_id = ?", (search_id,))

        self._writing().call(delete)


def _record(row: Sequence[Any]) -> SearchRecord:
    with row_of("search"):
        (checked,) = typed([tuple(row)], int, str, str, str, str, str, str, float, str)
        return SearchRecord._make((*checked[:-1], json_object(checked[-1])))
