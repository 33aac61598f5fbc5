"""Outcomes of the arena: written once, read as they were written, and damaged ones are told."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.examples import OUTCOME

from subflow_store import Store, StoreCorrupt, open_store


def test_outcomes_are_read_as_they_were_written(store: Store) -> None:
    later = OUTCOME._replace(key="another", network="lossy/test/4", made_at="2026-11-26T11:00:01")
    store.arena.add([later, OUTCOME])
    assert list(store.arena.outcomes().items()) == [("a key", OUTCOME), ("another", later)]


def test_an_outcome_is_never_changed(store: Store) -> None:
    store.arena.add([OUTCOME])
    store.arena.add([OUTCOME._replace(result={"utility": 0.0})])
    assert store.arena.outcomes()["a key"] == OUTCOME


def test_what_is_not_finite_is_null_and_the_time_is_now(store: Store) -> None:
    store.arena.add([OUTCOME._replace(result={"friendliness": math.nan}, made_at="")])
    found = store.arena.outcomes()["a key"]
    assert found.result == {"friendliness": None}
    assert found.made_at.startswith("20")


def test_a_damaged_outcome_is_told(path: Path) -> None:
    with open_store(path) as store:
        store.arena.add([OUTCOME])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE arena_outcome SET result = 'no JSON'")
    with open_store(path) as store, pytest.raises(StoreCorrupt, match="arena_outcome"):
        store.arena.outcomes()
