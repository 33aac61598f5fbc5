"""Outcomes of the arena: written once, and read as they were written."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.store.examples import OUTCOME

from subflow_store import Store


def test_outcomes_are_read_as_they_were_written(store: Store) -> None:
    later = OUTCOME._replace(key="another", network="lossy/test/4", made_at="2026-11-26T11:00:01")
    store.arena.add([later, OUTCOME])
    store.arena.add([OUTCOME._replace(result={"utility": 0.0})])  # existing outcomes stay
    assert list(store.arena.outcomes().items()) == [("a key", OUTCOME), ("another", later)]


def test_numbers_keep_every_digit_in_as_few_bytes_as_they_need(file_store: Store, path: Path) -> None:
    results: list[dict[str, Any]] = [
        {"utility": -0.00927837, "loss": 0.000670128, "cpu": 123456.0, "zero": 0, "reason": ""},
        {"utility": 1 / 3, "loss": 1e-40, "friendliness": None},
        {"utility": -1e300, "reason": "the run failed: ä"},
        {},
    ]
    keys = ["00ff", "A key", "0f", "f"]
    file_store.arena.add(OUTCOME._replace(key=key, result=result) for key, result in zip(keys, results, strict=True))
    found = file_store.arena.outcomes()
    assert [found[key].result for key in keys] == results
    file_store.close()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT length(numbers), typeof(key) FROM arena_outcome").fetchall()
    assert sorted(rows) == [(0, "text"), (8, "blob"), (16, "blob"), (24, "text")]


def test_what_is_not_finite_is_null_and_the_time_is_now(store: Store) -> None:
    store.arena.add([OUTCOME._replace(result={"friendliness": math.nan}, made_at="")])
    found = store.arena.outcomes()["a key"]
    assert found.result == {"friendliness": None}
    assert found.made_at.startswith("20")
