"""Outcomes of the arena: written once, and read as they were written."""

from __future__ import annotations

import math

from tests.store.examples import OUTCOME

from subflow_store import Store


def test_outcomes_are_read_as_they_were_written(store: Store) -> None:
    later = OUTCOME._replace(key="another", network="lossy/test/4", made_at="2026-11-26T11:00:01")
    store.arena.add([later, OUTCOME])
    store.arena.add([OUTCOME._replace(result={"utility": 0.0})])  # existing outcomes stay
    assert list(store.arena.outcomes().items()) == [("a key", OUTCOME), ("another", later)]


def test_what_is_not_finite_is_null_and_the_time_is_now(store: Store) -> None:
    store.arena.add([OUTCOME._replace(result={"friendliness": math.nan}, made_at="")])
    found = store.arena.outcomes()["a key"]
    assert found.result == {"friendliness": None}
    assert found.made_at.startswith("20")
