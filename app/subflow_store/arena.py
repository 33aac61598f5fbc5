"""Outcomes of the arena in the store: the result of each entrant in a network.

An outcome is written once and never changed. It is small, and can be reproduced within a second, so salvaging a
database does not copy outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from sqlite3 import Connection
from types import NoneType
from typing import Any, NamedTuple

from subflow_store.damage import row_of, typed
from subflow_store.database import Database
from subflow_store.outcome_rows import INSERT_OUTCOME, SELECT_OUTCOMES, OutcomeRows, key_of, result_of, time_text
from subflow_store.rows import now_text, plain_line
from subflow_store.writer import Writer


class ArenaOutcome(NamedTuple):
    """Result of an entrant in a network.

    Attributes:
        key: key of the outcome; outcomes with the same key are equal.
        entrant: displayed name of the entrant.
        entry: hash of the entry: controller, options and policy.
        network: name of the network.
        version: version of the simulator.
        result: numbers and strings by name; numbers that are not finite are stored as null.
        made_at: time of the result, ISO 8601, UTC; empty: the time of storing it.
    """

    key: str
    entrant: str
    entry: str
    network: str
    version: str
    result: Mapping[str, Any]
    made_at: str = ""


class ArenaStore:
    """The outcomes of a store, as `Store.arena`. All methods may be called from any thread."""

    def __init__(self, database: Database, writing: Callable[[], Writer]) -> None:
        """Use the database of the store; ``writing`` returns its writer, or raises StoreReadOnly."""
        self._database = database
        self._writing = writing

    def outcomes(self) -> dict[str, ArenaOutcome]:
        """All outcomes by key, oldest first.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            rows = reader.execute(SELECT_OUTCOMES).fetchall()
            with row_of("arena_outcome"):
                typed(rows, (bytes, str), str, str, str, str, str, bytes, (str, NoneType), (int, str))
                found = [
                    ArenaOutcome(key_of(key), who, entry, network, by, result_of(names, numbers, words), time_text(at))
                    for key, who, entry, network, by, names, numbers, words, at in rows
                ]
        return {each.key: each for each in sorted(found, key=lambda each: (each.made_at, each.key))}

    def add(self, outcomes: Iterable[ArenaOutcome]) -> None:
        """Write outcomes; existing ones are not changed.

        Raises:
            StoreError: if the outcomes cannot be written.
        """
        rows = [
            (each.key, plain_line(each.entrant), *each[2:5], each.result, each.made_at or now_text())
            for each in outcomes
        ]

        def insert(connection: Connection) -> None:
            into = OutcomeRows(connection)
            connection.executemany(INSERT_OUTCOME, [into.row(*row) for row in rows])

        self._writing().call(insert)
